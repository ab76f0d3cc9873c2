"""Keeping all of a mechanism in sight where the picture is narrower than high: the camera sees as far sideways then."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import viser


def keep_fitted(server: viser.ViserServer) -> None:
    """Widen the view of everyone whose picture is narrower than high, so that what fitted upwards fits sideways too."""
    field = float(server.initial_camera.fov)

    async def look(camera: Any) -> None:
        wanted = fitted(field, camera.image_width, camera.image_height)
        if abs(camera.fov - wanted) > 1e-6:
            camera.fov = wanted

    @server.on_client_connect
    async def _(client: viser.ClientHandle) -> None:
        await look(client.camera)
        client.camera.on_update(look)


def fitted(field: float, width: float, height: float) -> float:
    """Return the vertical field of view (rad) with which a picture sees at least the given field both ways.

    Examples
    --------
    >>> [round(math.degrees(fitted(math.radians(45.0), width, 800)), 1) for width in (400, 800, 1600)]
    [79.3, 45.0, 45.0]
    """
    return field if width >= height or width <= 0 else 2.0 * math.atan(math.tan(field / 2.0) * height / width)
