"""Names and frames of SDF models: scopes, ``::`` names, poses relative to frames, links that frames are attached to.

The rules are those of "Pose Frame Semantics" of SDFormat 1.7 and later: a link or frame is posed relative to its model,
a joint to its child, a frame with ``attached_to`` to that, unless ``relative_to`` names another frame of the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from linkwise.errors import LinkwiseError, choices, shown
from linkwise.files.formats.sdf.document import Document, Values
from linkwise.files.report import some
from linkwise.files.xml_tree import Element
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import inverse

#: The frame of the model itself, and the ground.
MODEL, WORLD = "__model__", "world"

#: Greatest number of names in a message.
MOST = 10


class FrameError(LinkwiseError, ValueError):
    """A frame that cannot be resolved; `element` is its origin in the file."""

    def __init__(self, element: Element, message: str) -> None:
        self.element, self.message = element, message
        super().__init__(message)

    def __reduce__(self) -> tuple[type[FrameError], tuple[Element, str]]:
        return type(self), (self.element, self.message)


class Scope:
    """The names of a model, or of the world: links, joints, frames and models in it.

    Parameters
    ----------
    values : Values
        Where problems go.
    document : Document
        The files that the elements come from.
    element : Element
        The ``<model>``, ``<world>`` or ``<sdf>``.
    name : str
        Its name in the scope around it; empty for the world.
    outer : Scope, optional
        The scope around it.
    prefix : str
        What its names begin with in the mechanism.
    """

    def __init__(
        self, values: Values, document: Document, element: Element, name: str, outer: Scope | None, prefix: str
    ) -> None:
        self.values, self.element, self.name, self.outer, self.prefix = values, element, name, outer, prefix
        self.file, self.version = document.origins[id(element)]
        self.item = f"model {name!r}" if outer else "the world"
        static = id(element) not in document.merged and values.flag(self.item, element, "static")
        self.static: bool = outer is not None and (outer.static or static)
        self.elements: dict[str, Element] = {}
        self.models: dict[str, Scope] = {}
        self.merged: list[Scope] = []
        for child in element.children:
            if child.tag in {"link", "joint", "frame", "model"}:
                self._add(document, child)
        self._poses: dict[str, FloatArray] = {}
        self._pending: set[tuple[str, str]] = set()

    def _add(self, document: Document, child: Element) -> None:
        self.element.asked_tags.add(child.tag)
        name = (child.get("name") or "").strip()
        merged = bool(name) and id(child) in document.merged
        if merged:  # (the frame that represents the model in SDFormat)
            name = f"_merged__{name}__model__"
        first = next((scope.elements[name] for scope in (self, *self.merged) if name in scope.elements), None)
        reserved = name in {MODEL, WORLD} and (self.version >= (1, 7) or child.tag != "joint")
        if not name or reserved:
            self.values.report(
                child, f"{self.item}: a {child.tag} has {f'the name {name!r}' if name else 'no name'}; expected another"
            )
        elif first is not None and (self.version >= (1, 7) or first.tag == child.tag):
            places = f"occurs twice, first as a {first.tag} in line {first.line}"
            self.values.report(child, f"{self.item}: the name {name!r} {places}")
        else:
            shared = first is not None or name == WORLD  # (before 1.7 a joint may have the name of a link)
            key = f"{child.tag} {name}" if shared else name
            self.elements[key] = child
            if child.tag == "model":
                alone = self.outer is None and self.element.tag == "sdf" and len(self.element.all("model")) == 1
                prefix = self.prefix if merged else "" if alone else f"{self.prefix}{name}::"
                self.models[name] = Scope(self.values, document, child, name, self, prefix)
                self.merged += [self.models[name]] if merged else []
                for twice in (self.elements.keys() & self.models[name].elements.keys()) if merged else ():
                    self.values.report(child, f"{self.item}: the name {twice!r} occurs twice, also in the merged model")

    def all(self, tag: str) -> Iterator[tuple[Scope, str, Element]]:
        """The elements with a tag by their keys in their scopes, those of this one, then those of the models in it."""
        for key, child in self.elements.items():
            if child.tag == tag:
                yield self, key, child
        for model in self.models.values():
            yield from model.all(tag)

    def full_name(self, element: Element) -> str:
        """Return the full name in the mechanism of a link or joint of this scope."""
        return self.prefix + (element.get("name") or "").strip()

    # ── poses ─────────────────────────────────────────────────────────────────────────────────────

    @property
    def world_pose(self) -> FloatArray:
        """T_world_model."""
        return np.eye(4) if self.outer is None else self.outer.world_pose @ self.outer.pose(self.name, self.element)

    def pose(self, name: str, asking: Element) -> FloatArray:
        """Return T_model_frame of a name in this scope; `asking` is the element that refers to it."""
        if name == (WORLD if self.outer is None else MODEL):
            return np.eye(4)
        if name not in self._poses:
            if name in self.elements:
                with self._visit("pose", name):
                    self._poses[name] = self._own_pose(name, self.elements[name])
            else:
                model, inner = self._inside(name, asking)
                self._poses[name] = self.pose(model.name, asking) @ model.pose(inner, asking)
        return self._poses[name]

    def _own_pose(self, name: str, element: Element) -> FloatArray:
        item, tag = f"{element.tag} {element.get('name')!r}", element.tag
        child = element.find("pose")
        relative = (child.get("relative_to") if child else None) or ""
        if child and self.version < (1, 7):
            relative = relative or child.get("frame") or ""
        frame = self.values.pose(item, element)
        home = WORLD if self.outer is None else MODEL
        if tag == "frame":
            home = element.get("attached_to") or home
        elif tag == "joint" and not relative:
            return self.pose(self.end(element, "child"), element) @ frame
        outer = self.pose(relative or home, child or element)
        if tag == "model" and (placed := element.get("placement_frame")):
            frame = frame @ inverse(self.models[name].pose(placed, element))
        return np.asarray(outer @ frame, dtype=float)

    def end(self, joint: Element, tag: str) -> str:
        """Read the name of a joint's parent or child."""
        item = f"joint {joint.get('name')!r}"
        name = self.values.text(item, joint, tag)
        if name is None:
            raise FrameError(joint, f"{item}: it has no <{tag}>")
        return name

    def _inside(self, name: str, asking: Element) -> tuple[Scope, str]:
        """The model that a name with ``::`` begins with, and the name in it; or the merged model that has the name."""
        for model in self.merged:
            if model.holds(name):
                return model, name
        first, separator, inner = name.partition("::")
        while separator and first not in self.models:  # (a model's own name may have ::)
            more, separator, inner = inner.partition("::")
            first = f"{first}::{more}"
        if not separator:
            names = [*self.elements, *([MODEL] if self.outer else [WORLD])]
            hint = self.values.suggestion(name[:60], names)
            known = hint or f"; the names are {some(names, MOST, choices)}"
            raise FrameError(asking, f"{self.item}: there is no link, joint, frame or model {shown(name)}{known}")
        return self.models[first], inner

    def holds(self, name: str) -> bool:
        """True if a name, or its leading part, is in this scope."""
        begins = name in self.elements or any(name.startswith(f"{model}::") for model in self.models)
        return begins or any(model.holds(name) for model in self.merged)

    @contextmanager
    def _visit(self, kind: str, name: str) -> Iterator[None]:
        if (kind, name) in self._pending:
            raise FrameError(self.elements[name], f"{self.elements[name].tag} {name!r}: its {kind} depends on itself")
        self._pending.add((kind, name))
        try:
            yield
        finally:
            self._pending.discard((kind, name))

    # ── links ─────────────────────────────────────────────────────────────────────────────────────

    def body(self, name: str, asking: Element) -> str:
        """Return the link of a name, as the mechanism calls it; `WORLD` for the ground."""
        if name == WORLD:
            return WORLD
        if name == MODEL and self.outer is not None:
            return self._canonical(asking)
        if name not in self.elements:
            model, inner = self._inside(name, asking)
            return model.body(inner, asking)
        element = self.elements[name]
        if element.tag == "link":
            return self.full_name(element)
        with self._visit("link", name):
            if element.tag == "model":
                return self.models[name]._canonical(asking)
            home = MODEL if self.outer else WORLD
            attached = self.end(element, "child") if element.tag == "joint" else element.get("attached_to") or home
            return self.body(attached, element)

    def _canonical(self, asking: Element) -> str:
        """The link that the frame of the model is attached to: the first, unless it names another."""
        if named := self.element.get("canonical_link"):
            return self.body(named, self.element)
        merged = {id(scope.element): scope for scope in self.merged}
        for child in self.element.children:  # (a merged model has its links among those of this one)
            if child.tag == "link" and child in self.elements.values():  # (not one that is refused)
                return self.full_name(child)
            if id(child) in merged and next(merged[id(child)].all("link"), None):
                return merged[id(child)]._canonical(asking)
        for scope, _, link in self.all("link"):
            return scope.full_name(link)
        raise FrameError(asking, f"{self.item} has no link")
