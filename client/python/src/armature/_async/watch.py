"""The changes of a table as they are made."""

from __future__ import annotations

import time
from collections import deque
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, AsyncIterator, Deque, Generic, Optional, TypeVar

import grpc

from armature.api.v1 import streams_pb2

from .. import values
from .._methods import method_of
from .._retry import is_transient
from ..errors import ArmatureError, Cancelled, Unavailable, from_rpc
from ..models import Model
from ..results import Change
from . import runtime

if TYPE_CHECKING:
    from .client import Client

T = TypeVar("T")

# A daemon that has sent nothing for so many heartbeats is lost.
_HEARTBEATS_MISSED = 3

# The network, or its limits, have ended the call.
_NETWORK = frozenset(
    [
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.UNAVAILABLE,
    ]
)


class Watch(Generic[T]):
    """The changes of a table, in the order in which they were made. Iterates without an end; a context manager.

        async with users.watch() as watch:
            async for change in watch:
                ...
                save(watch.position)

    When the connection is lost, or the daemon is restarted, it watches again behind the last change: none is lost and
    none comes twice. A program that is restarted gives the position that it has saved as `after`.

    Errors: NotFound without a table or stream; ChangesTrimmed if changes are no longer kept; Unavailable if the daemon
    was not reached for `reconnect_for` seconds.
    """

    def __init__(
        self,
        client: Client,
        request: streams_pb2.WatchRequest,
        model: Model[T],
        reconnect_for: Optional[float],
    ) -> None:
        self._client = client
        self._request = request
        self._model = model
        self._reconnect_for = reconnect_for
        self._call: Any = None
        self._has_watched = False
        self._closed = False
        self._changes: Deque[streams_pb2.ChangeRecord] = deque()
        self._position: Optional[str] = request.after_sequence_number or None

    def __repr__(self) -> str:
        return f"Watch({self._request.table_name!r}, {self._client!r})"

    @property
    def position(self) -> Optional[str]:
        """Behind the last change that was returned; None before the watch has begun without one."""
        return self._position

    async def start(self) -> Watch[T]:
        """Connects. Returns when the daemon watches, so that no later change is missed."""
        if not self._has_watched:
            await self._receive()
        return self

    async def next(self) -> Change[T]:
        """Waits for the next change."""
        while not self._changes:
            await self._receive()
        record = self._changes.popleft()
        self._position = record.dynamodb.sequence_number if self._changes else self._request.after_sequence_number
        return self._change(record)

    async def _receive(self) -> None:
        """Waits for the next response."""
        lost = time.monotonic()
        attempts = 0
        while True:
            try:
                response = await self._read()
            except ArmatureError as error:
                await self._drop()
                attempts += 1
                pause = self._client.retry.pause_after(attempts)
                waited = time.monotonic() + pause - lost
                too_long = self._reconnect_for is not None and waited > self._reconnect_for
                if self._closed or too_long or not self._may_reconnect(error):
                    raise
                await runtime.sleep(pause)
                continue
            self._has_watched = True
            self._request.ClearField("start")
            self._request.after_sequence_number = response.position
            self._changes.extend(response.records)
            if not self._changes:
                self._position = response.position
            return

    async def _read(self) -> Any:
        if self._closed:
            raise Cancelled("the watch is closed", code=grpc.StatusCode.CANCELLED)
        transport = self._client.transport
        address = transport.current
        if self._call is None:
            self._call = transport.responses(method_of(self._request), self._request)
        patience = _HEARTBEATS_MISSED * self._request.heartbeat_ms / 1000 + self._client.timeout
        try:
            response = await self._call.read(patience)
        except grpc.RpcError as error:
            transport.leave(address)
            raise await self._client.explained(from_rpc(error), self._request, address) from None
        except TimeoutError:
            transport.leave(address)
            raise Unavailable("the daemon sends no heartbeats", code=grpc.StatusCode.UNAVAILABLE) from None
        if response is None:
            raise Unavailable("the daemon has ended the watch", code=grpc.StatusCode.UNAVAILABLE)
        return response

    def _may_reconnect(self, error: ArmatureError) -> bool:
        if is_transient(error):
            return True
        # The daemon may not know yet that the connection of the watch was lost, whose place is taken so long.
        if error.exception == "LimitExceededException":
            return self._has_watched
        return not error.exception and error.code in _NETWORK and not error._is_lasting

    def _change(self, record: streams_pb2.ChangeRecord) -> Change[T]:
        data = record.dynamodb
        from_item = self._model.from_item
        return Change(
            kind=streams_pb2.EventName.Name(record.event_name)[len("EVENT_NAME_") :],
            key=values.to_dict(data.keys),
            new=from_item(values.to_dict(data.new_image)) if data.HasField("new_image") else None,
            old=from_item(values.to_dict(data.old_image)) if data.HasField("old_image") else None,
            position=data.sequence_number,
            time=datetime.fromtimestamp(data.approximate_creation_date_time_ms / 1000, timezone.utc),
            expired=record.HasField("user_identity"),
        )

    async def _drop(self) -> None:
        if self._call is not None:
            self._call.cancel()
            self._call = None

    async def close(self) -> None:
        """Ends the watch."""
        self._closed = True
        await self._drop()

    async def __aenter__(self) -> Watch[T]:
        return await self.start()

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    async def __aiter__(self) -> AsyncIterator[Change[T]]:
        while True:
            yield await self.next()
