"""Many puts and deletes in few calls, and reads of many keys."""

from __future__ import annotations

import functools
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple, Union

from armature.api.v1 import items_pb2

from .. import values
from .._requests import Key, project
from .._retry import Retry
from ..errors import (
    AccessDenied,
    ArmatureError,
    BatchFailed,
    FailedWrite,
    InvalidArgument,
    LimitExceeded,
    NotFound,
    OutcomeUnknown,
    Throttled,
    ValidationError,
)
from ..expressions import Projection
from . import runtime

if TYPE_CHECKING:
    from .client import Client

_WRITES_MAX = 25
_KEYS_MAX = 100

# One write, or one table, of a batch may be the reason for these.
_DIVISIBLE = (ValidationError, NotFound, AccessDenied, LimitExceeded)


class _Write(NamedTuple):
    table: str
    request: items_pb2.WriteRequest


def _failed(write: _Write, error: ArmatureError) -> FailedWrite:
    if write.request.HasField("put_request"):
        return FailedWrite(write.table, values.to_dict(write.request.put_request.item), None, error)
    return FailedWrite(write.table, None, values.to_dict(write.request.delete_request.key), error)


def _hashable(value: Any) -> Any:
    if isinstance(value, float):
        return Decimal(repr(value))
    return bytes(value) if isinstance(value, (bytearray, memoryview)) else value


class BatchWriter:
    """Collects writes and sends them 25 at a time, several batches at once. A context manager. Tasks and threads may
    share it.

        async with client.batch_writer() as writer:
            for item in items:
                await writer.put("users", item)

    Unprocessed writes are repeated with pauses. Writes of different items have no order. The later one
    of two writes of the same item counts: it replaces a waiting one, and waits for one that is on its way.

    Errors: the end of the context, or `flush`, raises BatchFailed with the writes that the daemon refuses every time or
    has not done after all retries; all others are done. A write without the table's key attributes raises
    InvalidArgument at once, and so does every write behind the end of the context. After an exception in the context
    nothing more is sent.
    """

    def __init__(
        self,
        client: Client,
        concurrency: int = 4,
        timeout: Optional[float] = None,
        keys: Optional[Mapping[str, Sequence[str]]] = None,
    ) -> None:
        self._client = client
        self._timeout = timeout
        self._group = runtime.Group(concurrency)
        self._keys: Dict[str, Tuple[str, ...]] = {table: tuple(names) for table, names in (keys or {}).items()}
        self._waiting: Dict[Any, _Write] = {}
        self._under_way: Set[Any] = set()
        self._failed: List[FailedWrite] = []
        # Held while a write is added, and while batches are started and collected.
        self._lock = runtime.Lock()
        self._closed = False

    async def put(self, table: str, item: Mapping[str, Any]) -> None:
        """Adds a put."""
        request = items_pb2.WriteRequest()
        values.fill(request.put_request.item.attributes, item)
        await self._add(table, item, request)

    async def delete(self, table: str, key: Key) -> None:
        """Adds a delete."""
        request = items_pb2.WriteRequest()
        values.fill(request.delete_request.key.attributes, key)
        await self._add(table, key, request)

    async def _add(self, table: str, item: Mapping[str, Any], request: items_pb2.WriteRequest) -> None:
        names = self._keys.get(table)
        if names is None:
            description = await self._client.describe_table_message(table)
            names = self._keys[table] = tuple(part.attribute_name for part in description.key_schema)
        try:
            key = (table, *[_hashable(item[name]) for name in names])
            hash(key)
        except (KeyError, TypeError):
            raise InvalidArgument(f"a write of the table {table} has the key attributes {', '.join(names)}") from None
        async with self._lock:
            if self._closed:
                raise InvalidArgument("the batch writer is closed")
            self._waiting[key] = _Write(table, request)
            if len(self._waiting) >= _WRITES_MAX:
                await self._send_some(_WRITES_MAX)

    async def _send_some(self, least: int) -> None:
        """Sends a batch if so many writes are ready: their items have no other write under way. If none is ready, waits
        for the end of a batch that is under way.
        """
        if self._under_way:
            ready = [key for key in self._waiting if key not in self._under_way][:_WRITES_MAX]
        else:
            ready = list(self._waiting)[:_WRITES_MAX]
        if not ready:
            await self._collect()
        elif len(ready) >= least or len(self._waiting) >= 2 * _WRITES_MAX:
            if self._group.is_full:
                await self._collect()
            batch = [self._waiting.pop(key) for key in ready]
            self._under_way.update(ready)
            self._group.start(functools.partial(self._send, ready, batch))

    async def _collect(self) -> None:
        errors: List[Exception] = []
        for keys, outcome in await self._group.take():
            self._under_way.difference_update(keys)
            if isinstance(outcome, Exception):
                errors.append(outcome)
            else:
                self._failed.extend(outcome)
        if errors:
            raise errors[0]

    async def _send(
        self, keys: List[Any], batch: List[_Write]
    ) -> Tuple[List[Any], Union[List[FailedWrite], Exception]]:
        try:
            return keys, await self._do(batch)
        except Exception as error:  # no failure of a call: the client is closed, or a fault of an interceptor
            return keys, error

    async def _do(self, pending: List[_Write]) -> List[FailedWrite]:
        """Does the writes. Those that failed."""
        retry: Retry = self._client.retry
        fruitless = 0
        while pending:
            request = items_pb2.BatchWriteItemRequest()
            for table, write in pending:
                request.request_items[table].requests.append(write)
            try:
                response = await self._client.call(request, timeout=self._timeout)
            except ArmatureError as error:
                cause = error.__cause__ if isinstance(error, OutcomeUnknown) else error
                if len(pending) == 1 or not isinstance(cause, _DIVISIBLE):
                    return [_failed(write, error) for write in pending]
                half = len(pending) // 2
                return await self._do(pending[:half]) + await self._do(pending[half:])
            left = [
                _Write(table, write)
                for table, writes in response.unprocessed_items.items()
                for write in writes.requests
            ]
            fruitless = fruitless + 1 if len(left) == len(pending) else 0
            if left and fruitless >= retry.attempts:
                throttled = Throttled("the daemon has left the write unprocessed in each attempt")
                return [_failed(write, throttled) for write in left]
            if left:
                await runtime.sleep(retry.pause_after(max(fruitless, 1)))
            pending = left
        return []

    async def flush(self) -> None:
        """Sends all waiting writes and waits for their ends."""
        async with self._lock:
            await self._send_all()

    async def _send_all(self) -> None:
        while self._waiting or not self._group.is_empty:
            if self._waiting:
                await self._send_some(1)
            else:
                await self._collect()
        if self._failed:
            failed, self._failed = self._failed, []
            raise BatchFailed(failed)

    async def __aenter__(self) -> BatchWriter:
        return self

    async def __aexit__(self, kind: Any, *_: Any) -> None:
        async with self._lock:
            self._closed = True
            try:
                if kind is None:
                    await self._send_all()
            finally:
                await self._group.close()


async def get_many(
    client: Client,
    tables: Mapping[str, Iterable[Key]],
    consistent: bool,
    projection: Optional[Projection],
    names: Optional[Mapping[str, str]],
    timeout: Optional[float],
) -> Dict[str, List[Any]]:
    """The items with the keys, as messages, by table. Keys without an item give nothing."""
    wanted = [(table, values.to_message(key)) for table, keys in tables.items() for key in keys]
    found: Dict[str, List[Any]] = {table: [] for table in tables}
    fruitless = 0
    while wanted:
        now, wanted = wanted[:_KEYS_MAX], wanted[_KEYS_MAX:]
        request = _get_request(now, consistent, projection, names)
        response = await client.call(request, timeout=timeout)
        for table, items in response.responses.items():
            found[table].extend(items.items)
        left = [(table, key) for table, part in response.unprocessed_keys.items() for key in part.keys]
        wanted = left + wanted
        fruitless = fruitless + 1 if len(left) == len(now) else 0
        if fruitless >= client.retry.attempts:
            raise Throttled("the daemon has left all keys unprocessed in each attempt")
        if fruitless:
            await runtime.sleep(client.retry.pause_after(fruitless))
    return found


def _get_request(
    keys: Sequence[Tuple[str, Any]],
    consistent: bool,
    projection: Optional[Projection],
    names: Optional[Mapping[str, str]],
) -> items_pb2.BatchGetItemRequest:
    request = items_pb2.BatchGetItemRequest()
    for table, key in keys:
        part = request.request_items[table]
        if not part.keys:
            project(part, projection, names)
            if consistent:
                part.consistent_read = True
        part.keys.append(key)
    return request
