"""Import modules of people from the working folder or from installed packages."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

__all__ = ["import_first_here"]


def import_first_here(module: str) -> ModuleType:
    """Return a module by its name; the working folder comes before installed packages.

    Afterwards the folder is the last entry of the path: if it stayed first, any file there could
    replace a library that is imported later. A package that is loaded knows where its modules are,
    so the folder is not searched for them.
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
