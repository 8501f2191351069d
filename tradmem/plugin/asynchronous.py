"""The memory for asynchronous programs: each call runs the same code in a thread of its own.

memory = AsyncMemory(Memory.open("logs/memory.md"))
seen = await memory.recall("NVDA")
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from tradmem.memory import Memory

P = ParamSpec("P")
T = TypeVar("T")


class _Twin(Generic[P, T]):
    """A method of a memory as one to be awaited."""

    def __init__(self, method: Callable[Concatenate[Memory, P], T]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    @overload
    def __get__(self, owner: None, kind: type[Any]) -> "_Twin[P, T]": ...
    @overload
    def __get__(self, owner: "AsyncMemory", kind: type[Any]) -> Callable[P, Awaitable[T]]: ...
    def __get__(
        self, owner: "AsyncMemory | None", kind: type[Any]
    ) -> "_Twin[P, T] | Callable[P, Awaitable[T]]":
        if owner is None:
            return self
        memory, method = owner.memory, self._method

        def twin(*args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
            return asyncio.to_thread(method, memory, *args, **kwargs)

        return twin


class AsyncMemory:
    """A memory whose methods are awaited; each does what that of :class:`Memory` does.

    A call that is cancelled goes on in its thread: what it stores is stored.

    Args:
        memory: what does the work.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    recall = _Twin(Memory.recall)
    record = _Twin(Memory.record)
    note = _Twin(Memory.note)
    resolve = _Twin(Memory.resolve)
    forget = _Twin(Memory.forget)
    expire = _Twin(Memory.expire)
    supersede = _Twin(Memory.supersede)
    undo = _Twin(Memory.undo)
    consolidate = _Twin(Memory.consolidate)
    get = _Twin(Memory.get)
    entries = _Twin(Memory.entries)
    search = _Twin(Memory.search)
    track = _Twin(Memory.track)
    history = _Twin(Memory.history)
    audit = _Twin(Memory.audit)
    frame = _Twin(Memory.frame)

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(Memory, name, None)
        if name.startswith("_") or not inspect.isfunction(method):
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        return _Twin(method).__get__(self, type(self))
