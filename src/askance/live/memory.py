"""What the libraries take at the start and the service never needs: not loaded, or given back."""

from __future__ import annotations

import ctypes
import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

MADV_DONTNEED = 4
COMPILER = "libllvmlite"


class Later(ModuleType):
    """Stands for a module until something in it is wanted."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


def load_less() -> None:
    """Before scikit-learn is imported, which loads both of these: 140 MB and a second for nothing."""
    sys.modules.setdefault("pandas", None)  # type: ignore[arg-type]
    sys.modules.setdefault("scipy.stats", Later("scipy.stats"))


def give_back() -> None:
    """After the start: free pages of the heap, and the pages of the compiler's code. These are read from its file again
    if something is compiled later. Does nothing where this is not Linux."""
    try:
        libc = ctypes.CDLL("libc.so.6")
        mappings = Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        return
    libc.malloc_trim(0)
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for line in mappings:
        place, rights, *_ = line.split()
        if COMPILER in line and rights == "r-xp":  # code is never written to, so nothing is lost
            first, last = (int(end, 16) for end in place.split("-"))
            libc.madvise(first, last - first, MADV_DONTNEED)
