"""Several calls at once, their results in order."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(work: Callable[[Item], Result], items: Sequence[Item], width: int) -> Iterator[Result]:
    """The result of each item, in the order of the items, each as soon as it is there.

    Args:
        work: called for each item, in one of the threads.
        items: what to work on.
        width: how many are worked on at once.

    Each thread works in the caller's context. Nothing new is begun once the iterator is
    closed. The threads are daemons: work in flight does not keep a process alive that was
    told to end.
    """
    waiting = [(item, Future[Result]()) for item in items]
    todo = iter(waiting)
    taking, stop = threading.Lock(), threading.Event()

    def run() -> None:
        while not stop.is_set():
            with taking:
                taken = next(todo, None)
            if taken is None:
                return
            item, future = taken
            try:
                future.set_result(work(item))
            except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
                future.set_exception(error)

    for n in range(min(max(1, width), len(waiting))):
        context = copy_context()
        threading.Thread(target=context.run, args=(run,), name=f"tradmem-{n}", daemon=True).start()
    try:
        for _, future in waiting:
            yield future.result()
    finally:
        stop.set()
