"""Kernels as plain Python functions, which run at once while the kernels are being compiled.

A kernel finds its callees through its module or closure, where they are compiled kernels. Its
interpreted form is the same code with all of them replaced, down to the last.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

__all__ = ["Interpreter"]


class Interpreter:
    """Makes and keeps the interpreted forms of kernels.

    `calls` counts the interpreted calls from Python.
    """

    def __init__(
        self,
        kind: type,
        reached: Callable[[types.FunctionType], dict[str, Any]],
        replaced: Iterable[tuple[Any, Any]],
    ) -> None:
        """Take the class of kernels, what a function reaches by name, and what to replace."""
        self.calls = 0
        self._kind = kind
        self._reached = reached
        self._replaced = {id(old): new for old, new in replaced}
        self._functions: dict[int, types.FunctionType] = {}
        self._entries: dict[int, Callable[..., Any]] = {}

    def interpreted(self, kernel: Any) -> Callable[..., Any]:
        """Return a function that does what a kernel does and returns Python's own numbers."""
        found = self._entries.get(id(kernel))
        if found is None:
            function = self._plain(kernel)

            def found(*args: Any) -> Any:
                self.calls += 1
                with np.errstate(all="ignore"):  # as in compiled code
                    value = function(*args)
                return value.item() if isinstance(value, np.generic) else value

            self._entries[id(kernel)] = found
        return found

    def _plain(self, kernel: Any) -> types.FunctionType:
        known = self._functions.get(id(kernel))
        if known is not None:
            return known
        source = kernel.py_func
        reached = self._reached(source)
        cells = tuple(types.CellType() for _ in source.__code__.co_freevars)
        names: dict[str, Any] = {"__builtins__": builtins, "__name__": source.__module__}
        made = types.FunctionType(
            source.__code__, names, source.__name__, source.__defaults__, cells
        )
        made.__kwdefaults__ = source.__kwdefaults__
        made.__dict__["kernel"] = kernel  # lives as long as its id is a key here
        self._functions[id(kernel)] = made  # before its callees: a kernel may call itself
        free = dict(zip(source.__code__.co_freevars, cells, strict=True))
        for name, value in reached.items():
            if name in free:
                free[name].cell_contents = self._replace(value)
            else:
                names[name] = self._replace(value)
        return made

    def _replace(self, value: Any) -> Any:
        if isinstance(value, self._kind):
            return self._plain(value)
        if type(value) in (tuple, list):
            return type(value)(self._replace(item) for item in value)
        return self._replaced.get(id(value), value)
