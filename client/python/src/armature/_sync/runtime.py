"""Concurrency of the synchronous client."""

from __future__ import annotations

import queue
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Callable, Iterator, List, Optional, Sequence, Set, TypeVar

T = TypeVar("T")

sleep = time.sleep
Lock = threading.Lock


def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """The result of a function that waits."""
    return function(*arguments)


# Longest time in seconds that a thread of an abandoned `merge` takes to notice it.
_ABANDONED_CHECK = 0.1


class Group:
    """Functions that run at the same time, at most `limit` of them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._futures: Set["Future[Any]"] = set()
        self._threads: Optional[ThreadPoolExecutor] = None

    @property
    def is_full(self) -> bool:
        return len(self._futures) >= self._limit

    @property
    def is_empty(self) -> bool:
        return not self._futures

    def start(self, function: Callable[[], Any]) -> None:
        """Runs the function. The group must not be full."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._limit)
        self._futures.add(self._threads.submit(function))

    def take(self) -> List[Any]:
        """Waits for at least one function. The results of those that have ended, or an error of one of them."""
        done, self._futures = wait(self._futures, return_when=FIRST_COMPLETED)
        return [future.result() for future in done]

    def close(self) -> None:
        """Waits until all functions have ended; drops their results."""
        if self._threads is not None:
            self._threads.shutdown(wait=True)
            self._threads = None
        self._futures = set()


def gather(functions: Sequence[Callable[[], T]], limit: int) -> List[T]:
    """The results of all functions, in their order; at most `limit` run at once. Raises the first error."""
    if len(functions) == 1:
        return [functions[0]()]
    with ThreadPoolExecutor(min(limit, max(len(functions), 1))) as threads:
        futures = [threads.submit(function) for function in functions]
        try:
            return [future.result() for future in futures]
        finally:
            for future in futures:
                future.cancel()


def merge(sources: Sequence[Iterator[T]]) -> Iterator[T]:
    """The elements of all sources as they come. Each source is at most one element ahead."""
    elements: "queue.Queue[Any]" = queue.Queue(maxsize=1)
    abandoned = threading.Event()

    def put(element: Any) -> bool:
        while not abandoned.is_set():
            try:
                elements.put(element, timeout=_ABANDONED_CHECK)
                return True
            except queue.Full:
                continue
        return False

    def drain(source: Iterator[T]) -> None:
        try:
            for element in source:
                if not put((element, None)):
                    return
            put((None, StopIteration))
        except Exception as error:
            put((None, error))

    threads = [threading.Thread(target=drain, args=(source,), daemon=True) for source in sources]
    for thread in threads:
        thread.start()
    try:
        open_sources = len(threads)
        while open_sources:
            element, error = elements.get()
            if error is StopIteration:
                open_sources -= 1
            elif error is not None:
                raise error
            else:
                yield element
    finally:
        abandoned.set()
        for thread in threads:
            thread.join()
