"""The stream of a pipeline, for the synchronous client."""

from __future__ import annotations

import queue
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, NamedTuple, Optional

import grpc

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
    """Sends operations and gives each its answer. Thread-safe."""

    def __init__(self, client: Client, in_flight: int, lifetime: Optional[float]) -> None:
        self._client = client
        self._slots = threading.Semaphore(in_flight)
        self._lifetime = lifetime
        self._lock = threading.Lock()
        self._requests: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
        self._call: Any = None
        self._reader: Optional[threading.Thread] = None
        self._outstanding: Dict[int, _Outstanding] = {}
        self._count = 0
        self._closed = False

    def ask(self, request: Any, read: Callable[[Any], Any]) -> "Future[Any]":
        """Sends a request. The future has what `read` makes of the response."""
        message = _pipelining.pack(0, request)
        self._slots.acquire()
        future: "Future[Any]" = Future()
        with self._lock:
            if self._closed:
                self._slots.release()
                raise _pipelining.not_sent()
            if self._call is None:
                requests: Iterator[Any] = iter(self._requests.get, None)
                self._call = self._client.transport.duplex(_pipelining.PIPELINE, requests, self._lifetime)
                self._reader = threading.Thread(target=self._read_all, daemon=True)
                self._reader.start()
            self._count += 1
            message.id = self._count
            self._outstanding[message.id] = _Outstanding(future, request, read)
            self._requests.put(message)
        return future

    def _read_all(self) -> None:
        error = _pipelining.ended()
        try:
            for response in self._call:
                self._answer(response)
        except grpc.RpcError as failure:
            error = from_rpc(failure)
        with self._lock:
            self._closed = True
            numbers = list(self._outstanding)
        self._requests.put(None)
        for number in numbers:
            self._finish(number, None, error)

    def _answer(self, response: Any) -> None:
        try:
            self._finish(response.id, _pipelining.unpack(response), None)
        except ArmatureError as error:
            self._finish(response.id, None, error)

    def _finish(self, number: int, response: Any, error: Optional[ArmatureError]) -> None:
        with self._lock:
            one = self._outstanding.pop(number, None)
        if one is None:
            return
        self._slots.release()
        if error is not None:
            one.future.set_exception(_pipelining.error_of(one.request, error))
            return
        if self._client._session is not None:
            self._client._session.after(one.request, response)
        one.future.set_result(one.read(response))

    def close(self) -> None:
        """Waits for all answers and ends the stream."""
        with self._lock:
            self._closed = True
        if self._reader is not None:
            self._requests.put(None)
            self._reader.join()

    def cancel(self) -> None:
        """Ends the stream at once. Outstanding operations fail."""
        with self._lock:
            self._closed = True
        if self._reader is not None:
            self._call.cancel()
            self._requests.put(None)
            self._reader.join()
