"""The client of a daemon."""

from __future__ import annotations

import time
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar, Union, overload

import grpc
from google.protobuf.message import Message

from armature.admin.v1 import admin_pb2
from armature.api.v1 import items_pb2, statements_pb2, tables_pb2, types_pb2

from .. import values
from .._connecting import explain
from .._hints import hint_of
from .._methods import Method, method_of
from .._requests import (
    Index,
    Key,
    KeyTypes,
    add_index_request,
    create_table_request,
    drop_index_request,
    project,
    with_token,
)
from .._retry import NO_RETRIES, Attempts, Retry, time_of
from .._session import Session
from .._settings import Tls, make_settings
from ..errors import (
    ArmatureError,
    DeadlineExceeded,
    NotFound,
    Unavailable,
    from_rpc,
    of_connection,
    of_operation,
)
from ..expressions import Projection
from ..models import model_of
from ..results import TableInfo
from ..telemetry import Observer, table_of
from . import runtime
from .batch import BatchWriter, get_many
from .pipeline import Pipeline
from .table import Table
from .transaction import Transaction
from .transport import Transport

T = TypeVar("T")

_PAUSE_INITIAL = 0.005
_PAUSE_MAX = 0.5


class Client:
    """All operations of a daemon. A context manager, which closes its connections at the end. `connect` makes one.

    Calls that failed for a passing reason are repeated if that does no harm: reads, puts and deletes without condition
    and return values, batches, transactions, and every call that certainly was not applied. A write whose answer was
    lost and that may not be repeated raises OutcomeUnknown.
    """

    def __init__(
        self,
        transport: Transport,
        retry: Retry,
        timeout: float,
        observer: Optional[Observer],
        session: Optional[Session] = None,
    ) -> None:
        self.transport = transport
        self.retry = retry
        self.timeout = timeout
        self._observer = observer
        self._session = session

    # -- Calls.

    async def call(self, request: Message, *, timeout: Optional[float] = None, idempotent: bool = False) -> Any:
        """Makes the call of any operation with the request and response messages of the API, such as
        TagResourceRequest.

        timeout: seconds for all attempts. idempotent: a repeat does no harm.
        """
        method = method_of(request)
        seconds = self.timeout if timeout is None else time_of(timeout, 0)
        sent = with_token(request) if self._session is None else self._session.before(with_token(request))
        if self._observer is None:
            response = await self._send(method, sent, seconds, idempotent)
        else:
            with self._observer.call(method.name, table_of(request)) as observed:
                response = await self._send(method, sent, seconds, idempotent, observed)
        if self._session is not None:
            self._session.after(request, response)
        self.transport.schemas.learn(response)
        return response

    async def _send(
        self, method: Method, request: Any, seconds: float, idempotent: bool, observed: Optional[Any] = None
    ) -> Any:
        deadline = time.monotonic() + seconds
        left = seconds
        attempts: Optional[Attempts] = None
        while True:
            address = self.transport.current
            try:
                return await self.transport.unary(method, request, left)
            except grpc.RpcError as failure:
                error = of_operation(await self.explained(from_rpc(failure), request, address), method.name)
            if isinstance(error, Unavailable):
                self.transport.leave(address)
            if attempts is None:
                attempts = Attempts(method, request, self.retry, idempotent)
            pause = attempts.pause_after(error, deadline - time.monotonic())
            if observed is not None:
                observed.retried(error)
            await runtime.sleep(pause)
            left = deadline - time.monotonic()
            if left <= 0 or self.transport.is_closed:
                raise attempts.final(error)

    async def explained(self, error: ArmatureError, request: Any, address: int) -> ArmatureError:
        """The error, with the reason why the address of this number cannot be reached, or with a hint."""
        if isinstance(error, Unavailable) and error.certainly_not_applied and not error.exception:
            settings = self.transport.settings
            reason = await runtime.in_thread(explain, error.message, settings.addresses[address], settings.tls)
            return of_connection(error, *reason)
        if error.code is grpc.StatusCode.DEADLINE_EXCEEDED and not error.exception:
            error.message = f"{self.transport.settings.addresses[address]} has not answered in time"
        error.hint = hint_of(error, request, self.transport.schemas)
        return error

    # -- Items.

    @overload
    def table(self, name: str) -> Table[Dict[str, Any]]: ...

    @overload
    def table(self, name: str, model: Type[T]) -> Table[T]: ...

    def table(self, name: str, model: Optional[Type[Any]] = None) -> Table[Any]:
        """A table whose items are dicts, or instances of a dataclass or a pydantic model. Makes no call."""
        return Table(self, name, model_of(model))

    def session(self, after: int = 0) -> Client:
        """A client over the same connections that reads its own writes on global indexes.

        Its queries and scans of an index wait until the index holds all writes that were made through it. after: a
        `change_sequence`, or the `position` of another session, whose writes are seen, too. Not promised: writes of
        others.
        """
        return Client(self.transport, self.retry, self.timeout, self._observer, Session(after))

    @property
    def position(self) -> int:
        """The highest change sequence of the writes of this session. 0: none, or this client is no session."""
        return 0 if self._session is None else self._session.position

    def batch_writer(
        self,
        *,
        concurrency: int = 4,
        timeout: Optional[float] = None,
        keys: Optional[Mapping[str, Sequence[str]]] = None,
    ) -> BatchWriter:
        """Many puts and deletes in few calls.

        timeout: seconds of each batch. keys: the key attributes of tables by name, for programs without the right to
        DescribeTable.
        """
        return BatchWriter(self, concurrency, timeout, keys)

    async def batch_get(
        self,
        tables: Mapping[str, Iterable[Key]],
        *,
        consistent: bool = False,
        projection: Optional[Projection] = None,
        names: Optional[Mapping[str, str]] = None,
        timeout: Optional[float] = None,
    ) -> Dict[str, List[Dict[str, Any]]]:
        """The items with any number of keys of several tables, in no particular order. Missing ones are left out."""
        found = await get_many(self, tables, consistent, projection, names, timeout)
        return {table: [values.to_dict(item) for item in items] for table, items in found.items()}

    def transaction(self, *, token: Optional[str] = None, timeout: Optional[float] = None) -> Transaction:
        """Writes that are applied all or not at all."""
        return Transaction(self, token, timeout)

    async def transact_get(
        self,
        keys: Iterable[Tuple[str, Key]],
        *,
        projection: Optional[Projection] = None,
        names: Optional[Mapping[str, str]] = None,
        timeout: Optional[float] = None,
    ) -> List[Optional[Dict[str, Any]]]:
        """Up to 100 items, given by table and key, as of one moment; None for those that are missing."""
        request = items_pb2.TransactGetItemsRequest()
        for table, key in keys:
            get = request.transact_items.add().get
            get.table_name = table
            values.fill(get.key.attributes, key)
            project(get, projection, names)
        response = await self.call(request, timeout=timeout)
        return [values.to_dict(one.item) if one.HasField("item") else None for one in response.responses]

    def pipeline(
        self, *, in_flight: int = 256, lifetime: Optional[float] = None, timeout: Optional[float] = None
    ) -> Pipeline:
        """Many operations at once over one stream.

        in_flight: maximum number without an answer. lifetime: seconds until the stream ends. timeout: seconds until an
        operation without an answer fails.
        """
        return Pipeline(self, in_flight, lifetime, time_of(timeout, self.timeout))

    async def statement(
        self,
        text: str,
        parameters: Sequence[Any] = (),
        *,
        consistent: bool = False,
        timeout: Optional[float] = None,
    ) -> List[Dict[str, Any]]:
        """Executes a PartiQL statement. parameters: the values of its question marks. All items of its pages."""
        request = statements_pb2.ExecuteStatementRequest(statement=text)
        request.parameters.extend([values.to_value(value) for value in parameters])
        if consistent:
            request.consistent_read = True
        items: List[Dict[str, Any]] = []
        while True:
            response = await self.call(request, timeout=timeout)
            items.extend(values.to_dict(item) for item in response.items)
            if not response.next_token:
                return items
            request.next_token = response.next_token

    # -- Tables.

    async def create_table(
        self,
        name: str,
        *,
        partition: KeyTypes,
        sort: Optional[KeyTypes] = None,
        indexes: Iterable[Index] = (),
        stream: Optional[str] = None,
        capacity: Optional[Tuple[int, int]] = None,
        wait: bool = True,
        timeout: Optional[float] = None,
    ) -> None:
        """Creates a table, and waits until it can be used.

        partition, sort: key attributes with their types: `partition={"id": str}`. stream: NEW_AND_OLD_IMAGES,
        NEW_IMAGE, OLD_IMAGE or KEYS_ONLY; records changes for watches. capacity: provisioned read and write units a
        second of the table and of each index.
        """
        request = create_table_request(name, partition, sort, indexes, stream, capacity)
        await self.call(request, timeout=timeout)
        if wait:
            await self.wait_for_table(name, timeout=timeout)

    async def delete_table(self, name: str, *, wait: bool = True, timeout: Optional[float] = None) -> None:
        """Deletes a table, and waits until it is gone."""
        await self.call(tables_pb2.DeleteTableRequest(table_name=name), timeout=timeout)
        deadline = time.monotonic() + time_of(timeout, self.timeout)
        pause = _PAUSE_INITIAL
        while wait:
            try:
                await self.describe_table_message(name, timeout=_left(deadline))
            except NotFound:
                return
            pause = await _pause(pause, deadline, f"the table {name} is being deleted")

    async def add_index(
        self,
        table: str,
        index: Index,
        *,
        capacity: Optional[Tuple[int, int]] = None,
        wait: bool = True,
        timeout: Optional[float] = None,
    ) -> None:
        """Adds a global index to a table in use, and waits until it has all items.

        capacity: as of `create_table`, for a table that has one. timeout: of each of the two.
        """
        await self.call(add_index_request(table, index, capacity), timeout=timeout)
        if wait:
            await self.wait_for_table(table, timeout=timeout)

    async def drop_index(
        self, table: str, index: str, *, wait: bool = True, timeout: Optional[float] = None
    ) -> None:
        """Removes a global index of a table in use, and waits until it is gone."""
        await self.call(drop_index_request(table, index), timeout=timeout)
        if wait:
            await self.wait_for_table(table, timeout=timeout)

    async def describe_table_message(
        self, name: str, *, timeout: Optional[float] = None
    ) -> tables_pb2.TableDescription:
        """The whole description of a table, as the message of the API."""
        response = await self.call(tables_pb2.DescribeTableRequest(table_name=name), timeout=timeout)
        description: tables_pb2.TableDescription = response.table
        return description

    async def describe_table(self, name: str, *, timeout: Optional[float] = None) -> TableInfo:
        """State, keys and sizes of a table."""
        table = await self.describe_table_message(name, timeout=timeout)

        def part(role: Any) -> List[str]:
            return [key.attribute_name for key in table.key_schema if key.key_type == role]

        indexes = {index.index_name: "ACTIVE" for index in table.local_secondary_indexes}
        for index in table.global_secondary_indexes:
            indexes[index.index_name] = tables_pb2.IndexStatus.Name(index.index_status)[len("INDEX_STATUS_") :]
        return TableInfo(
            name=table.table_name,
            status=tables_pb2.TableStatus.Name(table.table_status)[len("TABLE_STATUS_") :],
            partition=part(types_pb2.KEY_TYPE_HASH),
            sort=part(types_pb2.KEY_TYPE_RANGE),
            item_count=table.item_count,
            size_bytes=table.table_size_bytes,
            indexes=indexes,
        )

    async def list_tables(self) -> List[str]:
        """The names of all tables, sorted."""
        request = tables_pb2.ListTablesRequest()
        names: List[str] = []
        while True:
            response = await self.call(request)
            names.extend(response.table_names)
            if not response.last_evaluated_table_name:
                return names
            request.exclusive_start_table_name = response.last_evaluated_table_name

    async def wait_for_table(self, name: str, *, timeout: Optional[float] = None) -> None:
        """Waits until the table and its indexes are ACTIVE. Errors: DeadlineExceeded."""
        deadline = time.monotonic() + time_of(timeout, self.timeout)
        pause = _PAUSE_INITIAL
        while True:
            table = await self.describe_table(name, timeout=_left(deadline))
            if table.status == "ACTIVE" and all(state == "ACTIVE" for state in table.indexes.values()):
                return
            pause = await _pause(pause, deadline, f"the table {name} or an index of it is not ACTIVE")

    async def wait_for_indexes(self, name: str, *, timeout: Optional[float] = None) -> None:
        """Waits until the global indexes have applied all writes so far; needs the right to the admin service.

        Errors: DeadlineExceeded.
        """
        deadline = time.monotonic() + time_of(timeout, self.timeout)
        pause = _PAUSE_INITIAL
        wanted: Dict[str, int] = {}
        while True:
            request = admin_pb2.ListIndexStatusRequest(table_name=name)
            response = await self.call(request, timeout=_left(deadline))
            indexes = [index for index in response.indexes if index.kind == admin_pb2.INDEX_KIND_GLOBAL]
            for index in indexes:
                wanted.setdefault(index.index_name, index.log_sequence)
            if all(index.applied_sequence >= wanted[index.index_name] for index in indexes):
                return
            pause = await _pause(pause, deadline, f"an index of the table {name} lags behind")

    # -- Life.

    def __repr__(self) -> str:
        return f"Client({', '.join(self.transport.settings.addresses)})"

    async def close(self) -> None:
        """Ends all calls and closes the connections, also those of sessions."""
        await self.transport.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()


def _left(deadline: float) -> float:
    """Seconds for a call until the deadline, which may have just passed."""
    return max(deadline - time.monotonic(), _PAUSE_INITIAL)


async def _pause(pause: float, deadline: float, state: str) -> float:
    if time.monotonic() + pause >= deadline:
        raise DeadlineExceeded(state)
    await runtime.sleep(pause)
    return min(pause * 2, _PAUSE_MAX)


def connect(
    target: Union[str, Sequence[str]] = "localhost:7700",
    *,
    tls: Union[bool, Tls] = False,
    access_key: Optional[Tuple[str, str]] = None,
    timeout: float = 10.0,
    retry: Optional[Retry] = Retry(),
    observer: Optional[Observer] = None,
    metadata: Sequence[Tuple[str, str]] = (),
    interceptors: Sequence[Any] = (),
) -> Client:
    """A client of the daemon at `target`: "host:port", "unix:/path", or several addresses, of which one is used until
    it cannot be reached. The first call connects; lost connections are made again.

    tls: True, or a `Tls` with files. access_key: id and secret; needs TLS or a Unix socket. timeout: default in
    seconds of each call with all its attempts. retry: None for one attempt. observer: see `armature.telemetry`.
    interceptors: of gRPC. Errors: InvalidArgument.
    """
    settings = make_settings(target, tls, access_key, metadata, interceptors)
    return Client(Transport(settings), retry or NO_RETRIES, time_of(timeout, 0), observer)
