"""What a notebook shows of a value; the code for it is imported when a notebook asks.

Notebooks call `_repr_svg_` and `_repr_html_`. Pictures and tables are in layers above the engine,
so these methods find them by name.
"""

from __future__ import annotations

from importlib import import_module
from typing import ClassVar

__all__ = ["ShownAsHtml", "ShownAsPicture"]


class ShownAsPicture:
    """A value that notebooks show as a picture of the table."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(import_module("cardlab.show.pictures").picture_of(self))


class ShownAsHtml:
    """A value that notebooks show as an HTML table, made by `html_of` of a module."""

    __slots__ = ()
    html_module: ClassVar[str] = "cardlab.show.notebook"

    def _repr_html_(self) -> str:
        return str(import_module(self.html_module).html_of(self))
