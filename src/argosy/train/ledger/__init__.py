"""Where the time of a training run went, and what it learned by then."""

from __future__ import annotations

from argosy.train.ledger.ledger import Ledger
from argosy.train.ledger.phases import PHASES
from argosy.train.ledger.record import Record

__all__ = ["PHASES", "Ledger", "Record"]
