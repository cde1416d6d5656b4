"""Plain data about machines: what we were given, what a task asks for, what it gets."""

from argosy.resources.allocation import Allocation, Node
from argosy.resources.asked import Asked, judge
from argosy.resources.need import Need
from argosy.resources.slots import Slots

__all__ = ["Allocation", "Asked", "Need", "Node", "Slots", "judge"]
