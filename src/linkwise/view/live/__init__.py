"""A served chain in the browser as it runs, by a process of its own: `LiveView`."""

from linkwise.view.live.live_view import LiveView

__all__ = ["LiveView"]
