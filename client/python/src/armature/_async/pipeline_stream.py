"""The stream of a pipeline, for the asyncio client."""

from __future__ import annotations

import asyncio
import time
from asyncio import Future
from typing import TYPE_CHECKING, Any, Callable, Dict, NamedTuple, Optional

import grpc
import grpc.aio

from armature.api.v1 import items_pb2

from .. import _pipelining
from ..errors import ArmatureError, from_rpc

if TYPE_CHECKING:
    from .client import Client

__all__ = ["Future", "PipelineStream"]


class _Outstanding(NamedTuple):
    future: "Future[Any]"
    request: Any
    read: Callable[[Any], Any]
    deadline: float


class PipelineStream:
    """Sends operations and gives each its answer, or an error when its time is over."""

    def __init__(self, client: Client, in_flight: int, lifetime: Optional[float], timeout: float) -> None:
        self._client = client
        self._slots = asyncio.Semaphore(in_flight)
        self._lifetime = lifetime
        self._timeout = timeout
        self._call: Any = None
        self._tasks: "Optional[asyncio.Future[Any]]" = None
        self._outstanding: Dict[int, _Outstanding] = {}  # in the order of their deadlines
        self._count = 0
        self._sent = 0  # number of the last message that was given to gRPC
        self._broken: Optional[ArmatureError] = None
        self._closed = False
        # Messages to be written; None ends the stream. A task of its own writes them, because gRPC cancels the whole
        # stream when the task of a write is cancelled.
        self._requests: "asyncio.Queue[Any]" = asyncio.Queue()

    async def ask(self, request: Any, read: Callable[[Any], Any]) -> "Future[Any]":
        """Sends a request. The future has what `read` makes of the response."""
        message = _pipelining.pack(self._count, request)
        await self._slots.acquire()
        if self._closed:
            self._slots.release()
            raise _pipelining.not_sent()
        if self._call is None:
            try:
                self._call = self._client.transport.duplex(_pipelining.PIPELINE, self._lifetime)
            except BaseException:
                self._slots.release()
                raise
            self._tasks = asyncio.ensure_future(self._run())
        self._count += 1
        message.id = self._count
        future: "Future[Any]" = asyncio.get_running_loop().create_future()
        self._outstanding[message.id] = _Outstanding(future, request, read, time.monotonic() + self._timeout)
        self._requests.put_nowait(message)
        return future

    async def _run(self) -> None:
        """Lasts as long as the stream."""
        helpers = [asyncio.ensure_future(self._write_all()), asyncio.ensure_future(self._expire())]
        try:
            await self._read_all()
        finally:
            for helper in helpers:
                helper.cancel()
            await asyncio.gather(*helpers, return_exceptions=True)

    async def _write_all(self) -> None:
        try:
            while True:
                message = await self._requests.get()
                if message is None:
                    await self._call.done_writing()
                    return
                if message.id in self._outstanding:
                    self._sent = message.id
                    await self._call.write(message)
        except (grpc.RpcError, asyncio.InvalidStateError):
            pass  # The reader learns the reason and fails all operations.

    async def _expire(self) -> None:
        """Fails operations whose time is over. A stream that has not even taken one of them is broken."""
        pause = self._timeout
        while True:
            await asyncio.sleep(pause)
            now = time.monotonic()
            for number, one in list(self._outstanding.items()):
                if one.deadline > now:
                    break
                if number > self._sent:
                    self._broken = _pipelining.stalled()
                self._finish(number, None, _pipelining.unanswered(number <= self._sent))
            if self._broken is not None:
                self._call.cancel()
                return
            first = next(iter(self._outstanding.values()), None)
            pause = self._timeout if first is None else max(first.deadline - now, 0)

    async def _read_all(self) -> None:
        error = _pipelining.ended()
        try:
            while True:
                response = await self._call.read()
                if response is grpc.aio.EOF:
                    break
                self._answer(response)
        except grpc.RpcError as failure:
            request = items_pb2.PipelineRequest()
            error = await self._client.explained(from_rpc(failure), request, self._client.transport.current)
        except asyncio.CancelledError:
            self._call.cancel()
        self._closed = True
        for number in list(self._outstanding):
            self._finish(number, None, (self._broken or error) if number <= self._sent else _pipelining.not_sent())

    def _answer(self, response: Any) -> None:
        try:
            self._finish(response.id, _pipelining.unpack(response), None)
        except ArmatureError as error:
            self._finish(response.id, None, error)

    def _finish(self, number: int, response: Any, error: Optional[ArmatureError]) -> None:
        one = self._outstanding.pop(number, None)
        if one is None:
            return
        self._slots.release()
        if error is None and self._client._session is not None:
            self._client._session.after(one.request, response)
        if one.future.done():
            return
        if error is not None:
            one.future.set_exception(_pipelining.error_of(one.request, error, self._client.transport.schemas))
            one.future.exception()  # A future that nobody awaits is no reason for a message of asyncio.
            return
        try:
            one.future.set_result(one.read(response))
        except Exception as failure:
            one.future.set_exception(failure)

    async def close(self) -> None:
        """Waits for all answers, as long as an operation has time for its own, and ends the stream."""
        self._closed = True
        if self._tasks is None:
            return
        self._requests.put_nowait(None)
        done, _ = await asyncio.wait({self._tasks}, timeout=self._timeout)
        if not done:
            await self.cancel()

    async def cancel(self) -> None:
        """Ends the stream at once. Outstanding operations fail."""
        self._closed = True
        if self._call is not None and self._tasks is not None:
            self._call.cancel()
            await asyncio.wait({self._tasks})
