"""What tells one variant of a study from another: a short hash over all that makes it."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from hashlib import sha256
from types import CodeType, FunctionType, MethodType
from typing import Any

DIGITS = 12
_DEEP = 5  # levels of what a function holds, or an object, that are looked at
_NO_WORDS: Any = object.__repr__  # of what does not say what it holds
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def digest_of(parts: Mapping[str, Any]) -> str:
    """The hash, the same from one process to the next.

    A function counts with its code, its defaults, what it closes over and what it names in its
    module; an object with what it holds: another threshold makes another variant, wherever it
    stands.
    """
    told = {name: _told(value, _DEEP) for name, value in sorted(parts.items())}
    return _hash(json.dumps(told, sort_keys=True))


def _told(value: Any, deep: int) -> str:
    """A value in words."""
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    if not deep:
        return type(value).__qualname__
    deep -= 1
    if isinstance(value, Mapping):
        items = sorted((_told(key, deep), _told(each, deep)) for key, each in value.items())
        return f"{{{', '.join(f'{key}: {each}' for key, each in items)}}}"
    if isinstance(value, list | tuple | set | frozenset):
        found = [_told(each, deep) for each in value]
        return f"[{', '.join(found if isinstance(value, list | tuple) else sorted(found))}]"
    held = list(_held(value))
    if not held and type(value).__repr__ is not _NO_WORDS:
        return _ADDRESS.sub("", repr(value))
    name = getattr(value, "__qualname__", type(value).__qualname__)
    module = getattr(value, "__module__", type(value).__module__)
    return f"{module}.{name}({', '.join(_told(each, deep) for each in held)})"


def _held(value: Any) -> Iterator[Any]:
    """What makes a callable or an object what it is; nothing of what its words tell whole."""
    code = getattr(value, "__code__", None)
    if isinstance(value, partial):
        yield from (value.func, value.args, value.keywords)
    elif isinstance(value, MethodType):
        yield from (value.__func__, value.__self__)
    elif isinstance(code, CodeType):
        yield _hash("\n".join(_code(code)))
        yield from (getattr(value, "__defaults__", None), getattr(value, "__kwdefaults__", None))
        yield dict(_named(code, value))
        for cell in getattr(value, "__closure__", None) or ():
            try:
                yield cell.cell_contents
            except ValueError:  # it is not filled yet
                yield None
    elif callable(value) or type(value).__repr__ is _NO_WORDS:
        slots = (name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ()))
        yield {name: getattr(value, name) for name in slots if hasattr(value, name)}
        yield getattr(value, "__dict__", {})


def _named(code: CodeType, function: Any) -> Iterator[tuple[str, Any]]:
    """The plain values and the functions of its own module that a function names."""
    found = getattr(function, "__globals__", {})
    for name in code.co_names:
        value = found.get(name)
        if isinstance(value, str | int | float | tuple):
            yield name, value
        elif isinstance(value, FunctionType) and value.__module__ == function.__module__:
            yield name, _hash("\n".join(_code(value.__code__)))


def _code(code: CodeType) -> Iterator[str]:
    """What a function's code does, the functions within it too."""
    yield code.co_code.hex()
    yield repr(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        elif isinstance(constant, frozenset):
            yield repr(sorted(map(repr, constant)))
        else:
            yield repr(constant)


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:DIGITS]
