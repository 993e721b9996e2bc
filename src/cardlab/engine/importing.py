"""Modules that people wrote, from the folder they are in or installed."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

__all__ = ["import_first_here"]


def import_first_here(module: str) -> ModuleType:
    """Return a module by its name; one in the working folder comes before an installed one.

    Afterwards the folder is the last of the path: were it first for good, any file there might
    stand in for a library that is imported later. A package that is loaded knows where its modules
    are: the folder is not looked at for them, nor for the libraries that they import.
    """
    if module.partition(".")[0] in sys.modules:
        return import_module(module)  # waits where another thread is still loading it
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        return import_module(module)
    finally:
        sys.path.remove(here)
        if here not in sys.path:
            sys.path.append(here)
