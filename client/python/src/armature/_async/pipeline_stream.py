"""The stream of a pipeline, for the asyncio client."""

from __future__ import annotations

import asyncio
from asyncio import Future
from typing import TYPE_CHECKING, Any, Callable, Dict, NamedTuple, Optional

import grpc
import grpc.aio

from .. import _pipelining
from ..errors import ArmatureError, from_rpc

if TYPE_CHECKING:
    from .client import Client

__all__ = ["Future", "PipelineStream"]


class _Outstanding(NamedTuple):
    future: "Future[Any]"
    request: Any
    read: Callable[[Any], Any]


class PipelineStream:
    """Sends operations and gives each its answer."""

    def __init__(self, client: Client, in_flight: int, lifetime: Optional[float]) -> None:
        self._client = client
        self._slots = asyncio.Semaphore(in_flight)
        self._lifetime = lifetime
        self._call: Any = None
        self._reader: Optional["asyncio.Task[None]"] = None
        self._outstanding: Dict[int, _Outstanding] = {}
        self._count = 0
        self._closed = False
        self._writing = asyncio.Lock()

    async def ask(self, request: Any, read: Callable[[Any], Any]) -> "Future[Any]":
        """Sends a request. The future has what `read` makes of the response."""
        message = _pipelining.pack(self._count, request)
        await self._slots.acquire()
        if self._closed:
            self._slots.release()
            raise _pipelining.not_sent()
        if self._call is None:
            self._call = self._client.transport.duplex(_pipelining.PIPELINE, self._lifetime)
            self._reader = asyncio.ensure_future(self._read_all())
        self._count += 1
        message.id = self._count
        future: "Future[Any]" = asyncio.get_running_loop().create_future()
        self._outstanding[message.id] = _Outstanding(future, request, read)
        try:
            async with self._writing:
                await self._call.write(message)
        except (grpc.RpcError, asyncio.InvalidStateError):
            pass  # The reader learns the reason and fails all operations.
        return future

    async def _read_all(self) -> None:
        error = _pipelining.ended()
        try:
            while True:
                response = await self._call.read()
                if response is grpc.aio.EOF:
                    break
                self._answer(response)
        except grpc.RpcError as failure:
            error = from_rpc(failure)
        except asyncio.CancelledError:
            pass
        self._closed = True
        for number in list(self._outstanding):
            self._finish(number, None, error)

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
        if one.future.done():
            return
        if error is not None:
            one.future.set_exception(_pipelining.error_of(one.request, error))
            one.future.exception()  # A future that nobody awaits is no reason for a message of asyncio.
            return
        if self._client._session is not None:
            self._client._session.after(one.request, response)
        one.future.set_result(one.read(response))

    async def close(self) -> None:
        """Waits for all answers and ends the stream."""
        self._closed = True
        if self._call is None or self._reader is None:
            return
        try:
            async with self._writing:
                await self._call.done_writing()
        except (grpc.RpcError, asyncio.InvalidStateError):
            pass
        await self._reader

    async def cancel(self) -> None:
        """Ends the stream at once. Outstanding operations fail."""
        self._closed = True
        if self._call is not None and self._reader is not None:
            self._call.cancel()
            await self._reader
