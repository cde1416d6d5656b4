"""What is known of functions and methods: what they change, what they share memory with, whom they call.

behaviour                                          what calling a function does, as far as order matters
builtin, numpy_functions, ufuncs, random_functions what is known, table by table
functions                                          looked up by the function itself
methods, containers, random_functions              looked up by the name of a method or an attribute

What is not known is None, and then anything may happen. What is known holds for plain data only: see `Behaviour`.
"""

from argosy.tree.knowledge.behaviour import Behaviour
from argosy.tree.knowledge.containers import of_container_method
from argosy.tree.knowledge.functions import of_function
from argosy.tree.knowledge.methods import of_attribute, of_method
from argosy.tree.knowledge.random_functions import of_generator_method

__all__ = [
    "Behaviour",
    "of_attribute",
    "of_container_method",
    "of_function",
    "of_generator_method",
    "of_method",
]
