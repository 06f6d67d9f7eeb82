"""From ordinary functions to machine code: the only file that knows numba.

Kernels are plain Python functions that call other plain functions by name. ``specialise`` takes a function, puts others
into its slots, and compiles the whole, callees inlined, into one function as fast as if it had been written by hand.

Three things follow from doing it here rather than with decorators:

- importing the package compiles nothing and does not even import numba;
- with ``NUMBA_DISABLE_JIT=1`` the very same functions run as Python, which is how to step through an algorithm;
- the machine code is kept on disk under a digest of every function that went into it, so that a second process
  finds it, and an edit to any of them, in this package or in a user's own rule, never runs as its old self.
  (Numba on its own watches only the file of the outermost function.)
"""

from __future__ import annotations

import atexit
import contextlib
import dis
import functools
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from askance.errors import InvalidKernel, InvalidParameter

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

Function = Callable[..., Any]
NO_SLOTS: frozenset[tuple[Function, Function]] = frozenset()


def prefetch(table: np.ndarray, row: int | np.uint64) -> None:
    """Ask the processor to bring the beginning of ``table[row]`` into its cache. Changes nothing else.

    There need not be such a row: nothing is read by the program."""


def no_inline(function: Function) -> Function:
    """Mark a kernel that is compiled once and called, not inlined: one that is large, or that makes arrays.

    Everything else is compiled without reference counts, which cost more than the arithmetic of a short event; such
    code may use arrays and views of them, but make none.
    """
    function.no_inline = True  # type: ignore[attr-defined]
    return function


def specialise(function: Function, slots: Mapping[Function, Function] | None = None) -> Function:
    """The compiled form of ``function``, in which each key of ``slots`` is replaced by its value."""
    if not slots:
        return _specialise(function, NO_SLOTS, "")
    # A user may redefine what a kernel of his calls, or the kernel itself, in a running session.
    meaning = "" if all(map(is_ours, slots.values())) else _digest(function, dict(slots))
    return _specialise(function, frozenset(slots.items()), meaning)


def is_compiler_loaded() -> bool:
    """Whether compiled functions cost nothing but their own time: to load numba takes half a second."""
    return "numba" in sys.modules


def explain_failures(function: Function, rules: str) -> Function:
    """A compiled function of a user's rules whose failures are explained in one sentence."""
    from numba.core.errors import NumbaError

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except IndexError:
            raise InvalidKernel(
                f"a kernel of {rules} used an index that is out of bounds; earlier events may have been learned."
            ) from None
        except NumbaError as error:
            lines = [line.strip() for line in str(error).splitlines()]
            reason = next((line for line in lines if line and not line.startswith("Failed in ")), lines[0])
            raise InvalidKernel(
                f"the kernels of {rules} cannot be compiled: {reason} "
                "(With NUMBA_DISABLE_JIT=1 they run as plain Python, which shows where.)"
            ) from error

    return call


def is_ours(function: Function) -> bool:
    """Whether a function comes with the package."""
    return (function.__module__ or "").startswith("askance.")


@functools.cache
def _specialise(function: Function, slots: frozenset[tuple[Function, Function]], meaning: str) -> Function:
    replaced = dict(slots)
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return _interpret(_link(function, replaced, lambda original, linked: linked, {}))
    return _compile(function, replaced)


def _interpret(function: Function) -> Function:
    """Compiled code divides and overflows silently; so does this."""

    @functools.wraps(function)
    def quiet(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return quiet


def _compile(function: Function, slots: dict[Function, Function]) -> Function:
    import numba

    # Nobody calls these from C, and the inlined ones not from Python either: the wrappers would double the work.
    plain: dict[str, Any] = {"error_model": "numpy", "nogil": True, "_nrt": False, "no_cfunc_wrapper": True}
    called = plain | {"_nrt": True}
    inlined = plain | {"forceinline": True, "no_cpython_wrapper": True}

    def compile_inner(original: Function, linked: Function) -> Function:
        assert isinstance(original, FunctionType)
        assert isinstance(linked, FunctionType)
        if not is_ours(original):  # it may be edited in a running session
            return compile_part(original, linked)
        key = original, tuple(linked.__globals__[name] for name, _ in _functions_called(original))
        if key not in _parts:
            _parts[key] = compile_part(original, linked)
        return _parts[key]

    def compile_part(original: Function, linked: Function) -> Function:
        # A slip of an index in a user's rule is an error, not somebody else's memory.
        checks = {"boundscheck": not is_ours(original)}
        if hasattr(original, "no_inline"):
            return compile_outer(original, linked, called | checks)
        return numba.njit(**inlined | checks)(linked)

    def compile_outer(original: Function, linked: Function, options: dict[str, Any]) -> Function:
        digest = _digest(original, slots)
        linked.__qualname__ = linked.__name__ = f"{original.__name__}_{digest[:24]}"
        dispatcher = numba.njit(**options)(linked)
        dispatcher._cache = _cache_for(linked, digest)
        dispatcher.compile = _lock_compiling(dispatcher.compile, digest)
        return dispatcher

    built = {prefetch: _prefetch_intrinsic()}
    linked = _link(function, slots, compile_inner, built)
    options = called if hasattr(function, "no_inline") else plain
    return compile_outer(function, linked, options)


_parts: dict[tuple[Function, tuple[Function, ...]], Function] = {}
"""Functions of ours that were compiled to be part of something larger, by what they call: most serve many times."""


# --- linking ---------------------------------------------------------------------------------------------


def _callees(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The global names a function refers to, with what they stand for."""
    for name in _global_names(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]


def _functions_called(function: FunctionType) -> Iterator[tuple[str, FunctionType]]:
    """Those of them that are Python functions."""
    return ((name, value) for name, value in _callees(function) if isinstance(value, FunctionType))


@functools.cache  # many functions share what they call, and to read their instructions takes long
def _global_names(code: CodeType) -> tuple[str, ...]:
    own = [
        instruction.argval
        for instruction in dis.get_instructions(code)
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    ]
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            own += _global_names(constant)
    return tuple(own)


def _not_built_yet() -> None:
    """Stands for a function that is being linked: to meet it again means that it calls itself."""


def _link(
    function: Function,
    slots: dict[Function, Function],
    compile_inner: Callable[[Function, Function], Function],
    built: dict[Function, Function],
) -> Function:
    """A copy of ``function`` that calls compiled copies of whatever Python functions it calls."""
    assert isinstance(function, FunctionType)
    names = dict(function.__globals__)
    for name, value in _functions_called(function):
        callee = slots.get(value, value)
        if callee not in built:
            built[callee] = _not_built_yet
            built[callee] = compile_inner(callee, _link(callee, slots, compile_inner, built))
        if built[callee] is _not_built_yet:
            raise InvalidParameter(f"{callee.__qualname__} calls itself; kernels cannot: use a loop.")
        names[name] = built[callee]
    copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    # Cached code names the module it came from and imports it again: this one is always there, and kernels typed into
    # a notebook have none. The name keeps functions of the same name apart.
    copy.__module__ = __name__
    copy.__qualname__ = f"{function.__module__}.{function.__qualname__}"
    return copy


# --- the cache on disk -----------------------------------------------------------------------------------


def cache_directory() -> Path:
    """Where machine code is kept: ``ASKANCE_CACHE_DIR``, else the user's cache folder."""
    chosen = os.environ.get("ASKANCE_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen) / "kernels"
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "askance" / "kernels"


def _writable(directory: Path) -> Path:
    """The directory, or a private temporary one where it cannot be written (a read-only home, say)."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=directory).close()
    except OSError:
        directory = Path(tempfile.mkdtemp(prefix="askance-kernels-"))
        atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory


@functools.cache
def _writable_cache_directory(directory: Path) -> Path:
    return _writable(directory)


COMPILED_AS = "3"
"""Changes when the way of compiling changes, so that machine code made the old way is not used."""


class Reference(NamedTuple):
    """A name that a kernel looked up, where, and what it stood for."""

    namespace: dict[str, Any]
    name: str
    value: Any

    @property
    def is_stale(self) -> bool:
        return self.namespace.get(self.name) is not self.value


class FunctionParts(NamedTuple):
    """What a user's function was made of: IPython's autoreload, for one, puts an edit into the function there was."""

    function: FunctionType
    code: CodeType
    defaults: tuple[Any, ...] | None

    @property
    def is_stale(self) -> bool:
        return self.function.__code__ is not self.code or self.function.__defaults__ is not self.defaults


def references(function: Function, slots: Mapping[Function, Function]) -> list[Reference | FunctionParts]:
    """Everything that the meaning of a function depends on."""
    found: list[Reference | FunctionParts] = []
    _digest(function, dict(slots), found)
    return found


def _digest(
    function: Function, slots: dict[Function, Function], found: list[Reference | FunctionParts] | None = None
) -> str:
    """A name for the meaning of a function: its code, its callees' code, and the values they refer to."""
    found = [] if found is None else found
    parts = [COMPILED_AS]
    seen: set[Any] = set()

    def visit(function: Function) -> None:
        function = slots.get(function, function)
        if function in seen:
            return
        seen.add(function)
        assert isinstance(function, FunctionType)
        parts.append(_describe_code(function.__code__))
        if not is_ours(function):
            found.append(FunctionParts(function, function.__code__, function.__defaults__))
        for value in (*(function.__defaults__ or ()), *(cell.cell_contents for cell in function.__closure__ or ())):
            describe(value)
        for name, value in _callees(function):
            parts.append(name)
            found.append(Reference(function.__globals__, name, value))
            if isinstance(value, ModuleType):
                look_into(value, function.__code__.co_names)
            else:
                describe(value)

    def look_into(module: ModuleType, names: tuple[str, ...]) -> None:
        """What of a module, and of the modules in it, may be meant."""
        for name in names:
            value = getattr(module, name, None)
            if name in vars(module):
                found.append(Reference(vars(module), name, value))
            if isinstance(value, ModuleType) and value not in seen:
                seen.add(value)
                look_into(value, names)
            else:
                describe(value)

    def describe(value: Any) -> None:
        value = getattr(value, "py_func", value)  # a function that a user compiled himself
        if isinstance(value, FunctionType):
            visit(value)
        elif isinstance(value, np.ndarray):
            parts.append(f"{value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}")
        elif isinstance(value, bool | int | float | complex | str | bytes | tuple | np.generic):
            parts.append(repr(value))
        elif isinstance(value, np.dtype):
            parts.append(repr((value.descr, value.itemsize)))
        else:  # classes, built-in functions, modules: known by name, and a NamedTuple by its fields, too
            name = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__qualname__)}"
            parts.append(f"{name}{getattr(value, '_fields', '')}")

    visit(function)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _describe_code(code: CodeType) -> str:
    constants = [_describe_code(item) if isinstance(item, CodeType) else repr(item) for item in code.co_consts]
    return repr((code.co_code.hex(), constants, code.co_names, code.co_varnames, code.co_freevars))


def _cache_for(function: Function, digest: str) -> Any:
    """Numba's cache, told where to look and that the digest, not a file's time, says what is fresh."""
    from numba.core import caching

    directory = str(_writable_cache_directory(cache_directory()))

    class Locator(caching._CacheLocator):
        def get_cache_path(self) -> str:
            return directory

        def get_source_stamp(self) -> str:
            return digest

        def get_disambiguator(self) -> str:
            return "0"

        @classmethod
        def from_function(cls, py_func: Function, py_file: str) -> Locator:
            return cls()

    class Implementation(caching.CompileResultCacheImpl):
        _locator_classes: list[Any] = [Locator]  # noqa: RUF012

    class Files(caching.IndexDataCacheFile):
        """Files named after what they were compiled for. Numba numbers them, so that of two processes which compile for
        different types at the same time one could find the other's code under its number."""

        def save(self, key: Any, data: Any) -> None:
            kind = hashlib.sha256(repr((self._version, key)).encode()).hexdigest()[:16]
            name = f"{self._index_name.removesuffix('.nbi')}.{kind}.nbc"
            self._save_data(name, data)
            self._save_index({**self._load_index(), key: name})

    class Cache(caching.FunctionCache):
        _impl_class = Implementation

        def __init__(self, py_func: Function) -> None:
            super().__init__(py_func)
            self._cache_file = Files(self._cache_path, self._impl.filename_base, digest)

        def _index_key(self, sig: Any, codegen: Any) -> Any:
            """Numba's key, and the fields of the NamedTuples among the arguments: it knows only what these are called,
            and would take them for unchanged when their fields change places."""
            return *super()._index_key(sig, codegen), _fields_in(getattr(sig, "args", sig))

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                return super().load_overload(sig, target_context)
            except Exception:  # a damaged file, say: compile again, and overwrite it
                return None

        def save_overload(self, sig: Any, data: Any) -> None:
            try:
                super().save_overload(sig, data)
            except Exception:  # a damaged index, a full disk: start the index anew, or do without
                with contextlib.suppress(Exception):
                    self.flush()
                    super().save_overload(sig, data)

    return Cache(function)


def _lock_compiling(compile_for: Function, digest: str) -> Function:
    """A dispatcher's ``compile``, of which one process at a time works on the same function for the same types. Those
    that come meanwhile wait, and find its machine code on disk: processes that start together on a new machine compile
    once between them."""

    @functools.wraps(compile_for)
    def compile_under_lock(types: Any) -> Any:
        place = int.from_bytes(hashlib.sha256(f"{digest}{types}".encode()).digest()[:5], "big")
        with _compile_lock(place):
            return compile_for(types)

    return compile_under_lock


LONGEST_WAIT = 120.0
"""Seconds that a process waits for others in all; then it compiles itself: another one may have been stopped."""
_waited = 0.0
"""Seconds that this process has waited."""


@contextlib.contextmanager
def _compile_lock(place: int) -> Iterator[None]:
    """While no other process has this place: a byte of a file that is locked, until the process ends at the latest."""
    file = _lock_file(_writable_cache_directory(cache_directory()))
    if file is None or not _wait_for_lock(file, place):
        yield
        return
    try:
        yield
    finally:
        fcntl.lockf(file, fcntl.LOCK_UN, 1, place)


def _wait_for_lock(file: int, place: int) -> bool:
    """Whether the lock was had before this process had waited for ``LONGEST_WAIT``."""
    global _waited
    while _waited <= LONGEST_WAIT:
        began = time.monotonic()
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
            return True
        except (BlockingIOError, PermissionError):  # another process has it
            time.sleep(0.02)
            _waited += time.monotonic() - began
        except OSError:  # a file system without locks
            break
    return False


@functools.cache
def _lock_file(directory: Path) -> int | None:
    """It stays open: to close it would free all locks of this process. None where there are no locks."""
    if fcntl is None:
        return None
    try:
        return os.open(directory / "compile.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError:  # another user's file, say
        return None


def _fields_in(arguments: Any) -> tuple[Any, ...]:
    """The fields of the NamedTuples among the types of a function's arguments, and of those within them."""
    return tuple((getattr(kind, "fields", ()), _fields_in(getattr(kind, "types", ()))) for kind in arguments)


# --- a hint to the processor -----------------------------------------------------------------------------


@functools.cache
def _prefetch_intrinsic() -> Any:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def hint(typing_context: Any, table: Any, row: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, arguments[0])
            stride = cgutils.unpack_tuple(builder, array.strides)[0]
            row_index = context.cast(builder, arguments[1], signature.args[1], types.intp)
            address = cgutils.pointer_add(builder, array.data, builder.mul(row_index, stride))
            pointer, flag = cgutils.voidptr_t, ir.IntType(32)  # of one type, as numba 0.61 has a type for each pointer
            callee = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(ir.VoidType(), [pointer, flag, flag, flag]), "llvm.prefetch.p0"
            )
            # read (0), into the second-level cache (2), data rather than instructions (1). The first level (3) can wait
            # for few lines at a time: hints beyond those stall, which made the loops 1.5 times slower on 115 non-zeros.
            builder.call(callee, [builder.bitcast(address, pointer), flag(0), flag(2), flag(1)])
            return context.get_dummy_value()

        return types.void(table, row), generate

    return hint
