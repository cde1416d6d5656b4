"""Containers written out, comprehensions, and what iterating over a value gives."""

from __future__ import annotations

import ast

from argosy.tree.effects.expressions import Expressions
from argosy.tree.effects.values import ATOM_SKETCH, Sketch
from argosy.tree.kinds import ARRAY, ATOM, NEVER, RESULT, VALUE, AnyKind, Box, boxed, is_still, join
from argosy.tree.names import Comprehension


class Elements(Expressions):
    def on_tuple(self, node: ast.Tuple) -> Sketch:
        return self._display(node, "tuple", node.elts)

    def on_list(self, node: ast.List) -> Sketch:
        return self._display(node, "list", node.elts)

    def on_set(self, node: ast.Set) -> Sketch:
        for element in node.elts:
            self.plain(element)
        return self._display(node, "set", node.elts)

    def _display(self, node: ast.expr, tag: str, elements: list[ast.expr]) -> Sketch:
        held = [self._element(element) for element in elements]
        item: AnyKind = NEVER
        for sketch in held:
            item = join(item, sketch.kind)
        return self.made(node, boxed(tag, item), *held)

    def _element(self, node: ast.expr) -> Sketch:
        if isinstance(node, ast.Starred):
            return self.item_of(self.evaluate(node.value), node)
        return self.evaluate(node)

    def on_dict(self, node: ast.Dict) -> Sketch:
        item: AnyKind = NEVER
        held = []
        for key, value in zip(node.keys, node.values, strict=True):
            sketch = self.evaluate(value)
            if key is None:
                if not isinstance(sketch.kind, Box) or sketch.kind.tag != "dict":
                    raise self.refuse(node, "** of a kind that is not known")
                self.read(sketch)
                sketch = Sketch(sketch.kind.item, sketch.origins)
            elif not is_still(self.plain(key).kind):
                raise self.refuse(key, "a key that may change")
            item = join(item, sketch.kind)
            held.append(sketch)
        return self.made(node, boxed("dict", item), *held)

    def item_of(self, sketch: Sketch, node: ast.AST) -> Sketch:
        """An element of it, as iteration gives it."""
        kind = sketch.kind
        if kind is ATOM or kind is NEVER:
            return ATOM_SKETCH
        if kind in (ARRAY, VALUE, RESULT):
            self.read(sketch)
            return Sketch(kind if kind is RESULT else VALUE, sketch.origins, sketch.via)
        if isinstance(kind, Box):
            self.read(sketch)
            if kind.tag == "dict":
                return ATOM_SKETCH
            return Sketch(kind.item, frozenset() if is_still(kind.item) else sketch.origins)
        raise self.refuse(node, f"iterating over a kind that is not known ({kind})", kind)

    def comprehension(self, node: Comprehension) -> Sketch:
        before = dict(self.inner)
        for generator in node.generators:
            if generator.is_async:
                raise self.refuse(node, "async for")
            self.bind(generator.target, self.item_of(self.evaluate(generator.iter), generator.iter), self.inner)
            for condition in generator.ifs:
                self.plain(condition)
        if isinstance(node, ast.DictComp):
            if not is_still(self.plain(node.key).kind):
                raise self.refuse(node.key, "a key that may change")
            element, tag = self.evaluate(node.value), "dict"
        else:
            element, tag = self.evaluate(node.elt), "set" if isinstance(node, ast.SetComp) else "list"
        self.inner = before
        return self.made(node, boxed(tag, element.kind), element)

    on_listcomp = on_setcomp = on_dictcomp = comprehension

    def on_generatorexp(self, node: ast.GeneratorExp) -> Sketch:
        raise self.refuse(node, "a generator expression runs as it is read")
