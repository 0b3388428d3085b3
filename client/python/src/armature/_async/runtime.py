"""Concurrency of the asyncio client."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, AsyncIterator, Awaitable, Callable, List, Sequence, Set, TypeVar

from ..errors import Cancelled

T = TypeVar("T")

sleep = asyncio.sleep
Lock = asyncio.Lock
in_thread = asyncio.to_thread


class Group:
    """Functions that run at the same time, at most `limit` of them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._tasks: Set["asyncio.Task[Any]"] = set()

    @property
    def is_full(self) -> bool:
        return len(self._tasks) >= self._limit

    @property
    def is_empty(self) -> bool:
        return not self._tasks

    def start(self, function: Callable[[], Awaitable[Any]]) -> None:
        """Runs the function. The group must not be full."""
        self._tasks.add(asyncio.ensure_future(function()))

    async def take(self) -> List[Any]:
        """Waits for at least one function. The results of those that have ended, or an error of one of them."""
        done, self._tasks = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        return [task.result() for task in done]

    async def close(self) -> None:
        """Waits until all functions have ended; drops their results."""
        if self._tasks:
            await asyncio.wait(self._tasks)
        for task in self._tasks:
            if not task.cancelled():
                task.exception()
        self._tasks = set()


async def gather(functions: Sequence[Callable[[], Awaitable[T]]], limit: int) -> List[T]:
    """The results of all functions, in their order; at most `limit` run at once. Raises the first error."""
    gate = asyncio.Semaphore(limit)

    async def run(function: Callable[[], Awaitable[T]]) -> T:
        async with gate:
            return await function()

    tasks = [asyncio.ensure_future(run(function)) for function in functions]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def merge(sources: Sequence[AsyncIterator[T]]) -> AsyncIterator[T]:
    """The elements of all sources as they come. Each source is at most one element ahead.

    Errors: that of the first source that fails; Cancelled if a source is cancelled.
    """
    queue: "asyncio.Queue[Any]" = asyncio.Queue(maxsize=1)
    cancelled = asyncio.Event()

    async def drain(source: AsyncIterator[T]) -> None:
        try:
            async for element in source:
                await queue.put((element, None))
            await queue.put((None, StopAsyncIteration))
        except asyncio.CancelledError:
            # Must not wait. If the queue is full, its reader does not wait either, and looks at the event.
            cancelled.set()
            with contextlib.suppress(asyncio.QueueFull):
                queue.put_nowait((None, Cancelled("a part of the read was cancelled")))
            raise
        except Exception as error:
            await queue.put((None, error))

    tasks = [asyncio.ensure_future(drain(source)) for source in sources]
    try:
        open_sources = len(tasks)
        while open_sources:
            if cancelled.is_set() and queue.empty():
                raise Cancelled("a part of the read was cancelled")
            element, error = await queue.get()
            if error is StopAsyncIteration:
                open_sources -= 1
            elif error is not None:
                raise error
            else:
                yield element
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
