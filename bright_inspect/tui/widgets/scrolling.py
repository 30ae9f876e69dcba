"""Tells a scrolling widget how tall its contents are without laying out the whole screen again.

``virtual_size`` is declared to need a layout, because scrollbars may come and go with it; that costs 20 ms on a full
screen. The widgets here always show their scrollbar (blank while everything fits), so nothing moves.
"""

from __future__ import annotations

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.widget import Widget


def set_contents_height(view: ScrollView, height: int) -> None:
    """Set the height of the contents in lines; the caller scrolls to where it wants to be."""
    if view.virtual_size.height == height:
        return
    view.set_reactive(Widget.virtual_size, Size(1, height))
    if view.container_size.height:
        view.vertical_scrollbar.window_virtual_size = height
        view.vertical_scrollbar.window_size = view.container_size.height
        view.vertical_scrollbar.refresh()
