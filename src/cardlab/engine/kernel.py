"""Rules written in Python that run at compiled speed: `@kernel` and its disk cache.

A kernel is a plain function over one record, a few arrays and numbers. It runs interpreted when
`NUMBA_DISABLE_JIT=1` is set (debugger, coverage, bounds checks) and compiled otherwise. A kernel
factory is an ordinary function that defines kernels over other kernels, for instance a search over
the rules of one game.

The cache replaces Numba's own, which misses kernels made by factories, serves stale callers when a
callee changes, keeps a shared index that concurrent starts can corrupt, and gives functions of two
processes the same linker symbols, so that a third process may run the code of one game on the
records of another. Here

- every specialisation is one file, named by a digest of the kernel's code, of everything that it
  reaches (callees, constants, closure values, recursively), the signature with all record layouts,
  the versions of Python and Numba and the CPU; whatever changes behaviour changes the name;
- files are written under a temporary name and renamed, so that readers see whole files only, and
  contain a digest of their content (`engine/kernel_cache.py`);
- function symbols are numbered from a random start in every process, so that code compiled in
  different processes never shares a symbol.

This is the only module that touches Numba's private names.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import hashlib
import itertools
import os
import pickle
import re
import sys
import time
import types
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numba
import numpy as np
from numba.core import bytecode, config, serialize
from numba.core import dispatcher as numba_dispatcher
from numba.core import types as numba_types
from numba.core.compiler import CompileResult
from numba.core.errors import NumbaError, UnsupportedBytecodeError
from numba.core.extending import intrinsic

from cardlab.engine.errors import CardlabError, suggest
from cardlab.engine.kernel_cache import (
    Turnstile,
    cache_folder,
    prune_cache,
    read_kernel,
    write_kernel,
)
from cardlab.engine.kernel_interpreter import Interpreter

__all__ = [
    "JIT",
    "KernelError",
    "bit",
    "cache_folder",
    "compiled",
    "count_bits",
    "global_names",
    "int64",
    "kernel",
    "lowest_bit",
    "on_compile",
    "prune_cache",
]

P = ParamSpec("P")
R = TypeVar("R")

JIT: bool = not config.DISABLE_JIT
FORMAT = "3"
OUTSIDE_MODULES = ("numpy", "math", "numba")
HOUSE = "cardlab."  # rules in these modules are tested to give the same results interpreted
LOOK_SECONDS = 0.1  # between two looks whether a kernel that runs interpreted is compiled

compiled: list[str] = []
"""The specialisations that this process has compiled rather than loaded, in order."""

expected: set[str] = set()
"""The names of the kernels that this process needs and had to compile, or still has to."""

_listeners: list[Callable[[str], None]] = []
_conditions: list[Callable[[], bool]] = []
_turnstile = Turnstile()


class KernelError(CardlabError):
    """A kernel that cannot be compiled, or that uses something that cannot be compiled."""


class _UnsupportedValue(KernelError):
    """A value that a kernel reaches and cannot use; the caller adds which kernel it is."""


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Return `function` compiled on first use and cached on disk, or as it is without JIT."""
    if not JIT:
        return function
    dispatcher = numba.njit(nogil=True, error_model="numpy")(function)
    dispatcher._cache = _Cache(dispatcher)
    dispatcher._compile_for_args = functools.partial(_compile, dispatcher)
    return dispatcher  # type: ignore[no-any-return]


def short_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Return a kernel of which a call is short, so that it may run interpreted at first."""
    made = kernel(function)
    if JIT:
        made._cache.short = True  # type: ignore[attr-defined]
    return made


@contextlib.contextmanager
def interpret_while(condition: Callable[[], bool]) -> Iterator[None]:
    """Interpret short kernels of cardlab that are not in the cache, while `condition()` is true.

    Meanwhile somebody else compiles them; what appears in the cache is used from then on.
    """
    _conditions.append(condition)
    try:
        yield
    finally:
        _conditions.remove(condition)


def slow_calls() -> int:
    """Return how often this process has compiled or interpreted a kernel, for honest timings."""
    return len(compiled) + _interpreter.calls


@contextlib.contextmanager
def on_compile(listener: Callable[[str], None]) -> Iterator[None]:
    """Call `listener` with a kernel's name before each compilation.

    While another process compiles the kernel, it is called again and again.
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


# Symbols


def _number_symbols_afresh() -> None:
    """Let this process number its functions from a random start, shared with no other process."""
    start = int.from_bytes(os.urandom(7), "big") << 8
    bytecode.FunctionIdentity._unique_ids = itertools.count(start)


if JIT:
    _number_symbols_afresh()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_number_symbols_afresh)


# Digests


def digest(dispatcher: Any) -> str:
    """Return the digest of a kernel's code and of everything that it reaches."""
    return str(_describe(dispatcher, ())[1])


def _describe(value: Any, above: tuple[Any, ...]) -> Any:
    """Return a nested tuple that is equal for two values only if they compile alike."""
    dispatcher_type: Any = numba_dispatcher.Dispatcher
    if isinstance(value, dispatcher_type):
        if any(value is caller for caller in above):
            if value is not above[-1]:
                raise _UnsupportedValue(
                    "kernels that call each other in a circle cannot be compiled"
                )
            return ("recursion",)
        if not isinstance(value._cache, _Cache):
            raise _UnsupportedValue("it is compiled by numba; write @kernel instead")
        if value._cache.digest is None:
            function = value.py_func
            parts = (function.__name__, _describe_code(function, (*above, value)))
            value._cache.digest = hashlib.sha256(repr(parts).encode()).hexdigest()
        return ("kernel", value._cache.digest)
    if isinstance(value, np.ndarray):
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return ("array", value.dtype.descr, value.shape, content)
    if isinstance(value, (np.generic, np.dtype)):
        return (type(value).__name__, repr(value))
    if isinstance(value, (bool, int, float, str, bytes, type(None))):
        return (type(value).__name__, repr(value))
    if isinstance(value, (tuple, list)):
        return (type(value).__name__, tuple(_describe(item, above) for item in value))
    if isinstance(value, frozenset):
        return ("frozenset", tuple(sorted(repr(_describe(item, above)) for item in value)))
    if isinstance(value, types.CodeType):
        return _describe_constants(value)
    if isinstance(value, types.ModuleType) and value.__name__.split(".")[0] in OUTSIDE_MODULES:
        return ("module", value.__name__, getattr(value, "__version__", ""))
    if isinstance(value, (type, types.BuiltinFunctionType)) and (
        value.__module__.split(".")[0] in ("builtins", *OUTSIDE_MODULES)
    ):
        return ("builtin", value.__module__, value.__name__)
    if isinstance(value, np.ufunc):
        return ("ufunc", value.__name__)
    if type(value).__name__ == "_Intrinsic" and value._defn.__module__ == __name__:
        return ("intrinsic", value._defn.__module__, value._defn.__name__, FORMAT)
    if isinstance(value, types.FunctionType):
        raise KernelError(
            f"{value.__name__} ({_place(value)}) is a plain function, which a kernel cannot call; "
            "write @kernel above it"
        )
    raise _UnsupportedValue(
        f"{value!r} is neither a kernel nor a constant; pass it as an argument, or import the "
        "kernel or constant itself"
    )


def _describe_constants(code: types.CodeType) -> Any:
    constants = tuple(
        _describe(found, ()) for found in code.co_consts if found is not code.co_consts[0]
    )
    first = code.co_consts[:1]
    if first and not isinstance(first[0], str):  # a string in the first place is the docstring
        constants = (_describe(first[0], ()), *constants)
    return (code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars)


def _describe_code(function: types.FunctionType, above: tuple[Any, ...]) -> Any:
    """Describe a function's code and each value that it reaches from outside, by name."""
    parts = []
    for name, value in _reached(function).items():
        try:
            parts.append((name, _describe(value, above)))
        except _UnsupportedValue as error:
            raise KernelError(
                f"kernel {function.__module__}.{function.__name__} uses {name}: {error}"
            ) from None
    defaults = _describe(
        (function.__defaults__ or (), *(function.__kwdefaults__ or {}).items()), ()
    )
    return (_describe_constants(function.__code__), defaults, tuple(parts))


def _reached(function: types.FunctionType) -> dict[str, Any]:
    """Return each value that a function reaches from outside, by name."""
    reached: dict[str, Any] = {}
    for name in sorted(global_names(function.__code__)):
        if name in function.__globals__:
            reached[name] = function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        reached[name] = cell.cell_contents
    return reached


def global_names(code: types.CodeType) -> set[str]:
    """Return the names that a function looks up in its module."""
    names = {
        str(step.argval)
        for step in dis.get_instructions(code)
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= global_names(constant)
    return names


# What does not compile

COLOURS = re.compile(r"\x1b\[\d*m")
RECORDS = re.compile(r"Record\(\[.*?\], \d+, \w+\)")
PLACES = re.compile(r'(?: at| from) (.+?) \((\d+)\)$|File "(.+?)", line (\d+)', re.MULTILINE)
LIBRARY_PATHS = (str(Path(__file__).parents[1]), str(Path(numba.__file__).parent))
CALLEES = re.compile(r"CPUDispatcher\(<function (\w+) at")


def _compile(dispatcher: Any, *args: Any, **kws: Any) -> Any:
    """Compile for arguments as Numba's dispatcher does; an error becomes one sentence.

    Numba calls what this returns: compiled code, or a Python function.
    """
    if _conditions and _is_interpreted(dispatcher, args):
        return _interpreter.interpreted(dispatcher)
    mark = _turnstile.mark()
    try:
        return type(dispatcher)._compile_for_args(dispatcher, *args, **kws)
    except KernelError as error:
        raise error.with_traceback(None) from None
    except (NumbaError, UnsupportedBytecodeError, KeyError) as error:
        if config.FULL_TRACEBACKS:
            raise
        message = _missing_field_text(error) or _compile_error_text(dispatcher, error)
    finally:
        _turnstile.leave(mark)
    raise KernelError(message)


def _is_interpreted(dispatcher: Any, args: tuple[Any, ...]) -> bool:
    """Return whether a call runs interpreted because its kernel is still being compiled."""
    cache = dispatcher._cache
    if not cache.short:
        return False
    now = time.monotonic()
    if now < cache.look_at:
        return True
    if cache.of_the_house is None:
        modules = (one.py_func.__module__ for one in _kernels(dispatcher))
        cache.of_the_house = all(module.startswith(HOUSE) for module in modules)
    if not cache.of_the_house or not any(condition() for condition in _conditions):
        return False
    signature = tuple(dispatcher.typeof_pyval(value) for value in args)
    path = cache.path(signature, dispatcher.targetctx)
    if path is None or path.exists():
        return False
    cache.look_at = now + LOOK_SECONDS
    return True


def _kernels(dispatcher: Any, seen: set[int] | None = None) -> Iterator[Any]:
    """Yield a kernel and all that it reaches, callees first, each once."""
    seen = set() if seen is None else seen
    seen.add(id(dispatcher))
    for value in _reached(dispatcher.py_func).values():
        if isinstance(value, type(dispatcher)) and id(value) not in seen:
            yield from _kernels(value, seen)
    yield dispatcher


def _name_of(dispatcher: Any) -> str:
    return f"{dispatcher.py_func.__module__}.{dispatcher.py_func.__name__}"


def _misses_return(function: types.FunctionType, kind: Any) -> bool:
    """Return whether a kernel returns a value on some paths only, or never but is annotated."""
    promises = function.__annotations__.get("return") not in (None, "None")
    sometimes: Any = numba_types.Optional  # type: ignore[attr-defined]  # not in its annotations
    return isinstance(kind, sometimes) or (promises and kind == numba_types.none)


def _refuse_missing_return(dispatcher: Any, signature: Any) -> None:
    """Raise for a kernel that Numba compiles, but that may return None at run time."""
    if _misses_return(dispatcher.py_func, dispatcher.overloads[signature].signature.return_type):
        del dispatcher.overloads[signature]
        dispatcher._reset_overloads()
        raise KernelError(
            f"{_kernel_text(dispatcher)} does not return a value on every path; end each path with "
            "`return` and a number"
        )


def _missing_field_text(error: BaseException) -> str:
    """Return a sentence about a field that a record does not have, or ''.

    Numba raises a bare KeyError for it; the place can be found in its frames only.
    """
    frames_self = []
    trace = error.__traceback__
    while trace:
        frames_self.append(trace.tb_frame.f_locals.get("self"))
        trace = trace.tb_next
    places = [place for found in frames_self if (place := getattr(found, "loc", None))]
    record = frames_self[-1]
    if not isinstance(error, KeyError) or not isinstance(record, numba_types.Record) or not places:
        return ""
    message = suggest("field", error.args[0], record.fields)
    return f"{_shorten(places[-1].filename, places[-1].line)}: {message}"


def _compile_error_text(dispatcher: Any, error: Exception) -> str:
    """Return Numba's error in one sentence, with the innermost place that is not cardlab's."""
    text = RECORDS.sub("record", COLOURS.sub("", str(error)))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("Failed in nopython")] or [text]
    reason = " ".join(lines[: 2 if lines[0].endswith(":") else 1]).partition(". Raised from")[0]
    where = _kernel_text(dispatcher)
    for callee in _kernels(dispatcher):
        if callee.py_func.__name__ in CALLEES.findall(text)[:1]:
            where = _kernel_text(callee)
    for path, line, other_path, other_line in PLACES.findall(text):
        if not os.path.abspath(path or other_path).startswith(LIBRARY_PATHS):
            where = _shorten(path or other_path, int(line or other_line))
            break
    return (
        f"{where} cannot be compiled ({reason}); kernels can use numbers, arrays, records and "
        "other kernels; NUMBA_FULL_TRACEBACKS=1 shows Numba's full message"
    )


def _kernel_text(dispatcher: Any) -> str:
    function = dispatcher.py_func
    return f"kernel {function.__module__}.{function.__name__} ({_place(function)})"


def _place(function: types.FunctionType) -> str:
    return _shorten(function.__code__.co_filename, function.__code__.co_firstlineno)


def _shorten(path: str, line: int) -> str:
    """Return a place in a file, relative to the working folder if the file is there."""
    full, here = Path(path).absolute(), Path.cwd()
    return f"{full.relative_to(here) if full.is_relative_to(here) else full}:{line}"


# The cache


class _Cache:
    """The compiled specialisations of one kernel on disk, with the methods that Numba calls."""

    cache_path = ""

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher
        self.digest: str | None = None
        self.short = False  # a call may run interpreted
        self.of_the_house: bool | None = None  # None: not known yet
        self.look_at = 0.0  # when to look in the cache again, by `time.monotonic`

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the specialisation for `signature` from disk, or None if it must be compiled."""
        target.refresh()
        path = self.path(signature, target)
        result = self._read(path, target)
        if result is None:
            if self._name() not in expected:
                expected.update(_name_of(one) for one in _kernels(self._dispatcher))
            self._tell()
            if path and _turnstile.enter(path, self._tell):  # another process has had it in work
                result = self._read(path, target)
                if result:
                    _turnstile.leave_one(path)
        return result

    def _read(self, path: Path | None, target: Any) -> Any:
        data = read_kernel(path) if path else None
        result = None
        if data is not None:
            with contextlib.suppress(Exception):  # what cannot be rebuilt is compiled again
                result = CompileResult._rebuild(target, *pickle.loads(data))
        if result and _misses_return(self._dispatcher.py_func, result.signature.return_type):
            return None  # an earlier version kept it: compiling says what is wrong
        return result

    def save_overload(self, signature: Any, result: Any) -> None:
        """Write a specialisation to disk; if that fails, warn once and continue."""
        compiled.append(f"{self._name()}{signature}")
        _refuse_missing_return(self._dispatcher, result.signature.args)
        path = self.path(signature, result.target_context)
        if path:
            write_kernel(path, serialize.dumps(result._reduce()))
            _turnstile.leave_one(path)

    def flush(self) -> None:
        """Do nothing: files with other digests belong to other code."""

    def _name(self) -> str:
        return _name_of(self._dispatcher)

    def _tell(self) -> None:
        for listener in tuple(_listeners):
            listener(self._name())

    def path(self, signature: Any, target: Any) -> Path | None:
        """Return the file of a specialisation, or None without a cache."""
        folder = cache_folder()
        if folder is None:
            return None
        key = (digest(self._dispatcher), str(signature), _versions(target))
        name = hashlib.sha256(repr(key).encode()).hexdigest()[:40]
        return folder / f"{self._dispatcher.py_func.__name__}-{name}.kernel"


def _versions(target: Any) -> tuple[Any, ...]:
    """Return what compiled code depends on beside its source."""
    return (
        FORMAT,
        sys.version,
        numba.__version__,
        np.__version__,
        target.codegen().magic_tuple(),
        (config.BOUNDSCHECK, str(config.OPT), config.DEBUGINFO_DEFAULT),
    )


def versions(kernels: Iterable[Any]) -> str:
    """Return a digest of kernels, compiler and processor: the same code compiles alike."""
    found = [digest(one) for one in kernels]
    target = bit.targetctx  # type: ignore[attr-defined]
    return hashlib.sha256(repr((found, _versions(target))).encode()).hexdigest()


# Bits of card sets. Sets are signed 64-bit masks: mixing signed and unsigned silently widens.


def _count_bits(mask: int) -> int:
    """Return the number of cards in a set."""
    return (int(mask) & 0xFFFFFFFFFFFFFFFF).bit_count()


def _lowest_bit(mask: int) -> int:
    """Return the lowest card of a set that is not empty."""
    return (int(mask) & -int(mask)).bit_length() - 1


if TYPE_CHECKING:

    def int64(value: Any) -> int:
        """Widen a small field before arithmetic."""

    def count_bits(mask: int) -> int:
        """Return the number of cards in a set."""

    def lowest_bit(mask: int) -> int:
        """Return the lowest card of a set that is not empty."""

elif JIT:
    int64 = np.int64

    @intrinsic
    def count_bits(typing_context: Any, mask: Any) -> Any:
        """Return the number of cards in a set."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return numba_types.int64(numba_types.int64), generate

    @intrinsic
    def lowest_bit(typing_context: Any, mask: Any) -> Any:
        """Return the lowest card of a set that is not empty."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            from llvmlite import ir

            return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

        return numba_types.int64(numba_types.int64), generate

else:
    int64, count_bits, lowest_bit = np.int64, _count_bits, _lowest_bit

_interpreter = Interpreter(
    numba_dispatcher.Dispatcher,
    _reached,
    [(count_bits, _count_bits), (lowest_bit, _lowest_bit)],
)


@short_kernel
def bit(card: int) -> int:
    """Return the set that holds only this card."""
    return int64(1) << int64(card)
