"""Which memory a value stands for: one token for all that may share it, with who is about to read or write it.

A token stands for an array with all its views, a list with what it holds, a generator. Tokens of values that may come
to hold one another are united. Values made by expressions get their token from how they were made, before they are
there; others are looked up by the object that owns their memory, and by its addresses where they tell.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from argosy.tree.kinds import UNKNOWN, Declared, holds_only_atoms, is_still, kind_of
from argosy.tree.owners import Span, is_mapped_once, root_of, span_of, spans_within
from argosy.tree.regions import Region, overlap
from argosy.tree.states import DONE

_FEW = 16
_NOBODY: list[Any] = []
"""Shared, so never added to."""

if TYPE_CHECKING:
    from argosy.tree.expression import Expression


class Token:
    """Readers and writers are kept with the region they touch; those that have ended are dropped now and then."""

    parent: Token | None = None
    readers: list[tuple[Expression, Region | None]] = _NOBODY
    writers: list[tuple[Expression, Region | None]] = _NOBODY
    _most_readers = _FEW
    outside = False
    """Its memory may have other addresses that nobody knows of: it is written in turn."""

    def root(self) -> Token:
        token = self
        while token.parent is not None:
            token = token.parent
        return token

    def unite(self, other: Token) -> Token:
        one, two = self.root(), other.root()
        if one is not two:
            two.parent = one
            one.readers = [*one.readers, *two.readers]
            one.writers = [*one.writers, *two.writers]
            two.readers = two.writers = _NOBODY
            one.outside = one.outside or two.outside
        return one

    def waits_for(self, writes: bool, region: Region | None) -> list[Expression]:
        """The expressions before that touch the same memory, where one of the two writes."""
        found: list[Expression] = []
        if self.writers:
            self.writers = [access for access in self.writers if access[0].state != DONE]
            found = [expression for expression, other in self.writers if overlap(region, other)]
        if writes and self.readers:
            self.readers = [access for access in self.readers if access[0].state != DONE]
            found += [expression for expression, other in self.readers if overlap(region, other)]
        return found

    def add(self, expression: Expression, writes: bool, region: Region | None) -> None:
        if not writes:
            if not self.readers:
                self.readers = [(expression, region)]
                return
            self.readers.append((expression, region))
            if len(self.readers) > self._most_readers:
                self.readers = [access for access in self.readers if access[0].state != DONE]
                self._most_readers = _FEW + 2 * len(self.readers)
        elif region is None:  # it waits for all before it, so who waits for it need not look further back
            self.readers, self.writers = _NOBODY, [(expression, None)]
        else:
            self.writers = [*self.writers, (expression, region)]


class Memory:
    """The tokens of one call, until something opaque runs: after that, memory is looked at anew."""

    def __init__(self) -> None:
        self._tokens: dict[int, tuple[Token, Any]] = {}
        self._owners: list[tuple[Span, Token]] = []
        """Of arrays that own their memory: no two of them overlap."""
        self._foreign: list[tuple[list[Span], Token]] = []
        """Of arrays over memory of other objects, and of tables: whose it is is told by the addresses alone."""
        self._anywhere: Token | None = None
        """Of values of which nobody knows what memory they hold: one with all the others."""
        self.states: dict[str, Token] = {}

    def state(self, name: str) -> Token:
        return self.states.setdefault(name, Token())

    def token_of(self, value: Any) -> Token | None:
        cls = type(value)
        if cls is np.ndarray:
            return self._array_token(root_of(value))
        kind = kind_of(value)
        if kind is UNKNOWN or is_still(kind):  # what is not known is touched in turn only, and not kept from ending
            return None
        if cls is list or cls is tuple or cls is dict or cls is set:
            return self._holder(value, value.values() if cls is dict else value)
        if cls is FunctionType:
            return self._holder(
                value, [cell.cell_contents for cell in value.__closure__ or () if cell.cell_contents is not value]
            )
        if isinstance(kind, Declared):
            return self._declared_token(value)
        return self._token(value.bit_generator if cls is np.random.Generator else value)

    def _array_token(self, root: Any) -> Token:
        if id(root) in self._tokens:
            return self._token(root)
        token, span = self._token(root), span_of(root)
        if root.base is None and root.flags.owndata:
            token = self._united(token, [span], self._foreign)
            self._owners.append((span, token))
            return token
        token.outside = not is_mapped_once(root)
        return self._placed(token, [span])

    def _declared_token(self, value: Any) -> Token:
        if id(value) in self._tokens:
            return self._token(value)
        token, spans = self._token(value), spans_within(value)
        if spans is not None:
            return self._placed(token, spans)
        if self._anywhere is None:
            self._anywhere = token
            for _, other in [*self._owners, *self._foreign]:
                token = token.unite(other)
        return token.unite(self._anywhere)

    def _placed(self, token: Token, spans: list[Span]) -> Token:
        """One with all that lies at these addresses."""
        if not spans:
            return token
        token = self._united(token, spans, self._foreign)
        for span, other in self._owners:
            if _meets(span, spans):
                token = token.unite(other)
        self._foreign.append((spans, token))
        return token

    def _united(self, token: Token, spans: list[Span], others: list[tuple[list[Span], Token]]) -> Token:
        if self._anywhere is not None:
            token = token.unite(self._anywhere)
        for theirs, other in others:
            if any(_meets(span, theirs) for span in spans):
                token = token.unite(other)
        return token

    def _token(self, value: Any) -> Token:
        known = self._tokens.get(id(value))
        if known is None:
            known = self._tokens[id(value)] = (Token(), value)
        return known[0].root()

    def _holder(self, value: Any, held: Any) -> Token:
        if id(value) in self._tokens:
            return self._token(value)
        token = self._token(value)
        if holds_only_atoms(held):
            return token
        for element in held:
            inner = self.token_of(element)
            if inner is not None:
                token = token.unite(inner)
        return token


def _meets(span: Span, spans: list[Span]) -> bool:
    """Whether it overlaps one of these, which are in the order of their first bytes but may overlap one another."""
    start, stop = span
    return any(first < stop and start < last for first, last in spans)
