"""Filter of incoming messages: only those that the viewer's own page sends, with valid values, are admitted."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import logging
import math
import typing
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import viser

LARGEST = 1 << 16
"""Bytes of the largest message: those of the page have some hundred."""

KNOWN = frozenset(
    {
        "GuiUpdateMessage",
        "SceneNodeClickMessage",
        "TransformControlsUpdateMessage",
        "TransformControlsDragStartMessage",
        "TransformControlsDragEndMessage",
        "ViewerCameraMessage",
    }
)
"""What the page says: a control was set, a link clicked on, the target dragged, the camera moved."""


class MessageGate:
    """Decides which messages viser sees.

    Attributes
    ----------
    server : viser.ViserServer or None
        Whose controls are set; None until it is there.
    """

    def __init__(self) -> None:
        self.server: viser.ViserServer | None = None

    def admits(self, raw: object) -> bool:
        """Whether a message is one that the page sends."""
        try:
            return isinstance(raw, bytes) and self._fits(raw)
        except Exception:  # (whatever decoding bytes that are no message raises: the libraries define it nowhere)
            return False

    def _fits(self, raw: bytes) -> bool:
        import msgspec
        from viser import _messages

        fields = msgspec.msgpack.decode(raw)
        name = fields.pop("type")
        if name not in KNOWN:
            return False
        kind = getattr(_messages, name)
        # every field by its type, none that is unknown
        message = msgspec.convert(fields, _strict(kind))
        if not _finite(fields):
            return False
        return name != "GuiUpdateMessage" or (
            self.server is not None and _settable(self.server, message.uuid, message.updates)
        )


class Filtered:
    """A connection from which nothing but what is admitted is received; the first that is not is logged.

    Parameters
    ----------
    connection : websockets.asyncio.server.ServerConnection
        The connection; all else is as of it.
    gate : MessageGate
        What is admitted.
    log : logging.Logger
        Where it is logged.
    """

    def __init__(self, connection: Any, gate: MessageGate, log: logging.Logger) -> None:
        self._connection, self._gate, self._log = connection, gate, log
        self._dropped = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def recv(self) -> bytes:
        """Receive the next message that is admitted."""
        while True:
            raw = await self._connection.recv()
            if self._gate.admits(raw):
                return bytes(raw)
            if not self._dropped:
                self._log.warning(
                    "a page at %s sends what is no message of the viewer; dropped", self._connection.remote_address
                )
            self._dropped = True
            await asyncio.sleep(0)  # (others have their turn, however much of it comes)


@functools.cache
def _strict(kind: type[Any]) -> type[Any]:
    """A record with the fields that a message has when it is sent, and no others."""
    import msgspec

    hints = typing.get_type_hints(kind)
    fields: list[Any] = []
    for field in dataclasses.fields(kind):
        if field.init:
            default = () if field.default is dataclasses.MISSING else (field.default,)
            fields.append((field.name, hints[field.name], *default))
    return msgspec.defstruct(kind.__name__, fields, forbid_unknown_fields=True)


def _finite(value: Any) -> bool:
    """Whether no number in a message is infinite or NaN."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(_finite, value.values()))
    return all(map(_finite, value)) if isinstance(value, list) else True


def _settable(server: viser.ViserServer, uuid: str, updates: dict[str, Any]) -> bool:
    """Whether a control may be set so: its value alone, to one of its kind, within its ends or among its options."""
    handle: Any = server.gui._gui_input_handle_from_uuid.get(uuid)
    if handle is None:  # (removed meanwhile; viser takes no notice)
        return True
    if updates.keys() != {"value"}:
        return False
    value, now = updates["value"], handle.value
    if isinstance(now, bool) or isinstance(value, bool):
        return isinstance(now, bool) and isinstance(value, bool)
    if isinstance(now, (int, float)):
        low, high = getattr(handle, "min", -math.inf), getattr(handle, "max", math.inf)
        return isinstance(value, (int, float)) and low <= value <= high
    return isinstance(now, str) and isinstance(value, str) and value in getattr(handle, "options", (value,))
