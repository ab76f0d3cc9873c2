"""Live view of a served chain in the browser, by a separate process: `LiveView`."""

from linkwise.view.live.live_view import LiveView

__all__ = ["LiveView"]
