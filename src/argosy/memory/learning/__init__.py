"""A policy for runs whose phases are not known beforehand, learnt on others.

phases                       runs made up from a seed, to learn on and to be judged on
forecast, mixture            what the past of a run says about the windows to come
prices, features             what that makes of each object
foresight, lessons           networks that correct the forecasts, and how they are taught
rehearsal, policy            a schedule for what is expected, and what decides in the end
swaps, environment           who comes in and who leaves; the same as a Gymnasium environment
network, replay, dqn         deep Q-learning, to compare with; the network runs without torch, too
tabular                      Q-learning with a table, the baseline
weights, training, train     making the weights, and their file
judge, gap                   how good they are, and why not better
phased, apply                a program whose phases change, and a policy at work in a real store

Each name is loaded when it is first used; deciding needs neither torch nor Gymnasium, teaching needs both.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME_OF = {
    "PlacementEnv": "environment",
    "follow": "apply",
    "learned_policy": "policy",
    "train": "training",
}
_EXTRA_OF = {"gymnasium": "memory", "torch": "train"}

__all__ = ["PlacementEnv", "follow", "learned_policy", "train"]

if TYPE_CHECKING:
    from argosy.memory.learning.apply import follow
    from argosy.memory.learning.environment import PlacementEnv
    from argosy.memory.learning.policy import learned_policy
    from argosy.memory.learning.training import train


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'argosy.memory.learning' has no attribute {name!r}")
    try:
        value = getattr(import_module(f"argosy.memory.learning.{_HOME_OF[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name not in _EXTRA_OF:
            raise
        hint = f"{name} needs {error.name}; install it: pip install 'argosy[{_EXTRA_OF[error.name]}]'"
        raise ModuleNotFoundError(hint, name=error.name) from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})
