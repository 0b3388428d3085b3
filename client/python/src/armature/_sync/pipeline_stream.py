"""The stream of a pipeline, for the synchronous client."""

from __future__ import annotations

import queue
import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, NamedTuple, Optional

import grpc

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
    has_slot: bool


class PipelineStream:
    """Sends operations and gives each its answer, or an error when its time is over. Thread-safe.

    Callbacks of the futures run on threads of the stream. They may ask, which never waits there: the answer that would
    free a slot comes by the same thread.
    """

    def __init__(self, client: Client, in_flight: int, lifetime: Optional[float], timeout: float) -> None:
        self._client = client
        self._slots = threading.Semaphore(in_flight)
        self._lifetime = lifetime
        self._timeout = timeout
        self._lock = threading.Lock()
        self._requests: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
        self._call: Any = None
        self._threads: List[threading.Thread] = []
        self._outstanding: Dict[int, _Outstanding] = {}  # in the order of their deadlines
        self._count = 0
        self._sent = 0  # number of the last message that was given to gRPC
        self._broken: Optional[ArmatureError] = None
        self._closed = False
        self._ended = threading.Event()

    def ask(self, request: Any, read: Callable[[Any], Any]) -> "Future[Any]":
        """Sends a request. The future has what `read` makes of the response."""
        message = _pipelining.pack(0, request)
        has_slot = self._slots.acquire(blocking=threading.current_thread() not in self._threads)
        future: "Future[Any]" = Future()
        try:
            with self._lock:
                if self._closed:
                    raise _pipelining.not_sent()
                if self._call is None:
                    self._start()
                self._count += 1
                message.id = self._count
                deadline = time.monotonic() + self._timeout
                self._outstanding[message.id] = _Outstanding(future, request, read, deadline, has_slot)
                self._requests.put(message)
        except BaseException:
            if has_slot:
                self._slots.release()
            raise
        return future

    def _start(self) -> None:
        self._call = self._client.transport.duplex(_pipelining.PIPELINE, self._messages(), self._lifetime)
        self._threads = [threading.Thread(target=run, daemon=True) for run in (self._read_all, self._expire)]
        for thread in self._threads:
            thread.start()

    def _messages(self) -> Iterator[Any]:
        for message in iter(self._requests.get, None):
            with self._lock:
                if message.id not in self._outstanding:
                    continue
                self._sent = message.id
            yield message

    def _read_all(self) -> None:
        error = _pipelining.ended()
        try:
            for response in self._call:
                self._answer(response)
        except grpc.RpcError as failure:
            request = items_pb2.PipelineRequest()
            error = self._client.explained(from_rpc(failure), request, self._client.transport.current)
        with self._lock:
            self._closed = True
            numbers = list(self._outstanding)
            sent = self._sent
            error = self._broken or error
        self._requests.put(None)
        for number in numbers:
            self._finish(number, None, error if number <= sent else _pipelining.not_sent())
        self._ended.set()

    def _expire(self) -> None:
        """Fails operations whose time is over. A stream that has not even taken one of them is broken."""
        pause = self._timeout
        while not self._ended.wait(pause):
            now = time.monotonic()
            pause = self._timeout
            late = {}
            with self._lock:
                for number, one in self._outstanding.items():
                    if one.deadline > now:
                        pause = one.deadline - now
                        break
                    late[number] = one
                for number in late:
                    del self._outstanding[number]
                sent = self._sent
                if late and max(late) > sent:
                    self._broken = _pipelining.stalled()
            if self._broken is not None:
                self._call.cancel()
            for number, one in late.items():
                self._settle(one, None, _pipelining.unanswered(number <= sent))

    def _answer(self, response: Any) -> None:
        try:
            self._finish(response.id, _pipelining.unpack(response), None)
        except ArmatureError as error:
            self._finish(response.id, None, error)

    def _finish(self, number: int, response: Any, error: Optional[ArmatureError]) -> None:
        with self._lock:
            one = self._outstanding.pop(number, None)
        if one is not None:
            self._settle(one, response, error)

    def _settle(self, one: _Outstanding, response: Any, error: Optional[ArmatureError]) -> None:
        if one.has_slot:
            self._slots.release()
        if error is None and self._client._session is not None:
            self._client._session.after(one.request, response)
        if not one.future.set_running_or_notify_cancel():
            return  # The program has cancelled it.
        if error is not None:
            one.future.set_exception(_pipelining.error_of(one.request, error, self._client.transport.schemas))
            return
        try:
            result = one.read(response)
        except Exception as failure:
            one.future.set_exception(failure)
        else:
            one.future.set_result(result)

    def close(self) -> None:
        """Waits for all answers, as long as an operation has time for its own, and ends the stream."""
        with self._lock:
            self._closed = True
        if self._call is not None:
            self._requests.put(None)
            is_callback = threading.current_thread() in self._threads
            if not is_callback and not self._ended.wait(self._timeout):
                self._call.cancel()
            self._join()

    def cancel(self) -> None:
        """Ends the stream at once. Outstanding operations fail."""
        with self._lock:
            self._closed = True
        if self._call is not None:
            self._call.cancel()
            self._requests.put(None)
            self._join()

    def _join(self) -> None:
        if threading.current_thread() not in self._threads:
            for thread in self._threads:
                thread.join()
