"""Which memory a value stands for: one token for all that may share it, with who is about to read or write it.

A token stands for an array with all its views, a list with what it holds, a generator. Tokens of values that may come
to hold one another are united. Values made by expressions get their token from how they were made, before they are
there; others are looked up by the object that owns their memory.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from argosy.tree.kinds import is_still, kind_of
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
        self._owners: list[tuple[Any, Token]] = []
        """Arrays that own their memory, or seem to."""
        self._foreign: list[tuple[Any, Token]] = []
        """Arrays over memory of other objects: whose it is is told by its address alone."""
        self.states: dict[str, Token] = {}

    def state(self, name: str) -> Token:
        return self.states.setdefault(name, Token())

    def token_of(self, value: Any) -> Token | None:
        cls = type(value)
        if cls is np.ndarray:
            owner = value
            while type(owner.base) is np.ndarray:
                owner = owner.base
            return self._array_token(owner)
        if cls is list or cls is tuple or cls is dict or cls is set:
            if is_still(kind_of(value)):
                return None
            return self._holder(value, value.values() if cls is dict else value)
        if cls is FunctionType:
            return self._holder(
                value, [cell.cell_contents for cell in value.__closure__ or () if cell.cell_contents is not value]
            )
        if is_still(kind_of(value)):
            return None
        return self._token(value.bit_generator if cls is np.random.Generator else value)

    def _array_token(self, owner: Any) -> Token:
        if id(owner) in self._tokens:
            return self._token(owner)
        token = self._token(owner)
        is_foreign = owner.base is not None
        for other, its in [*self._foreign, *(self._owners if is_foreign else [])]:
            if np.may_share_memory(owner, other):
                token = token.unite(its)
        (self._foreign if is_foreign else self._owners).append((owner, token))
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
        for element in held:
            inner = self.token_of(element)
            if inner is not None:
                token = token.unite(inner)
        return token
