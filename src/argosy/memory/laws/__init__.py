"""Laws: from measured placements to the costs of any placement, and the choice between them."""

from __future__ import annotations

from argosy.memory.laws.choose import LAWS, Fitted, fit

__all__ = ["LAWS", "Fitted", "fit"]
