"""Operations on the items of one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Generic, Iterable, List, Mapping, Optional, TypeVar, Union

from armature.api.v1 import items_pb2

from .. import values as conversion
from .._requests import (
    Expressions,
    Key,
    ReadOptions,
    check_segments,
    get_request,
    query_request,
    scan_request,
    watch_request,
    write_request,
)
from .._sharding import Shards
from ..expressions import Condition, Projection, Update
from ..models import Model
from ..results import Written
from .batch import get_many
from .pages import Pages, ParallelScan
from .sharded import ShardedQuery
from .watch import Watch

if TYPE_CHECKING:
    from .client import Client

T = TypeVar("T")
Params = Optional[Mapping[str, Any]]
Names = Optional[Mapping[str, str]]


class Table(Generic[T]):
    """A table. Items are dicts, or instances of the model class.

    Arguments that many methods share:

    - condition, filter, key_condition: a text, or conditions on `attr`.
    - params: the values of `$name` in the texts of the call. names, values: the maps `#name` and `:value` of the API.
    - timeout: seconds for the call with all its attempts; of an iteration, for each page.
    - return_values: NONE, ALL_OLD, and for updates ALL_NEW, UPDATED_OLD or UPDATED_NEW.
    - return_on_failure: the error of a false condition has the item that is there.

    Errors: those of `armature.errors`. TypeError or ValueError for a value that the database does not have.
    """

    def __init__(self, client: Client, name: str, model: Model[T]) -> None:
        self._client = client
        self._model = model
        self.name = name

    def __repr__(self) -> str:
        return f"Table({self.name!r}, {self._client!r})"

    async def get(
        self,
        key: Key,
        *,
        consistent: bool = False,
        projection: Optional[Projection] = None,
        names: Names = None,
        timeout: Optional[float] = None,
    ) -> Optional[T]:
        """The item with the key, or None. consistent: sees every write that was acknowledged before."""
        request = get_request(self.name, key, consistent, projection, names)
        response = await self._client.call(request, timeout=timeout)
        if not response.HasField("item"):
            return None
        return self._model.from_item(conversion.to_dict(response.item))

    async def put(
        self,
        item: Union[T, Mapping[str, Any]],
        *,
        condition: Optional[Condition] = None,
        params: Params = None,
        names: Names = None,
        values: Params = None,
        return_values: str = "NONE",
        return_on_failure: bool = False,
        timeout: Optional[float] = None,
    ) -> Written[T]:
        """Creates an item, or replaces it as a whole."""
        request = items_pb2.PutItemRequest(table_name=self.name)
        conversion.fill(request.item.attributes, self._model.to_item(item))
        write_request(
            request,
            condition=condition,
            given=Expressions(params, names, values),
            return_values=return_values,
            return_on_failure=return_on_failure,
        )
        return self._written(await self._client.call(request, timeout=timeout))

    async def update(
        self,
        key: Key,
        update: Update,
        *,
        condition: Optional[Condition] = None,
        params: Params = None,
        names: Names = None,
        values: Params = None,
        return_values: str = "NONE",
        return_on_failure: bool = False,
        idempotent: bool = False,
        timeout: Optional[float] = None,
    ) -> Written[T]:
        """Changes attributes of an item, or creates the item.

        update: a text such as "SET visits = visits + $more", or one or several actions of `attr`. idempotent: a repeat
        does no harm, so that the call may be repeated after its answer was lost; example: it only sets constants.
        """
        request = items_pb2.UpdateItemRequest(table_name=self.name)
        conversion.fill(request.key.attributes, key)
        write_request(
            request,
            condition=condition,
            update=update,
            given=Expressions(params, names, values),
            return_values=return_values,
            return_on_failure=return_on_failure,
        )
        response = await self._client.call(request, timeout=timeout, idempotent=idempotent)
        return self._written(response, is_whole=return_values.upper() in ("ALL_OLD", "ALL_NEW"))

    async def delete(
        self,
        key: Key,
        *,
        condition: Optional[Condition] = None,
        params: Params = None,
        names: Names = None,
        values: Params = None,
        return_values: str = "NONE",
        return_on_failure: bool = False,
        timeout: Optional[float] = None,
    ) -> Written[T]:
        """Deletes an item. A missing item is no error."""
        request = items_pb2.DeleteItemRequest(table_name=self.name)
        conversion.fill(request.key.attributes, key)
        write_request(
            request,
            condition=condition,
            given=Expressions(params, names, values),
            return_values=return_values,
            return_on_failure=return_on_failure,
        )
        return self._written(await self._client.call(request, timeout=timeout))

    def _written(self, response: Any, is_whole: bool = True) -> Written[T]:
        if not response.HasField("attributes"):
            return Written(None, response.change_sequence)
        item: Any = conversion.to_dict(response.attributes)
        return Written(self._model.from_item(item) if is_whole else item, response.change_sequence)

    def query(
        self,
        key_condition: Condition,
        *,
        params: Params = None,
        names: Names = None,
        values: Params = None,
        index: Optional[str] = None,
        filter: Optional[Condition] = None,
        projection: Optional[Projection] = None,
        descending: bool = False,
        consistent: bool = False,
        page_size: Optional[int] = None,
        start_after: Optional[Key] = None,
        at_least_sequence: int = 0,
        timeout: Optional[float] = None,
    ) -> Pages[T]:
        """The items of one partition in the order of the sort key. Iterate over the result, or over its pages.

        filter: applied after reading. start_after: `next_key` of a page. at_least_sequence: the read of a global
        index waits for the write with this `change_sequence`; a session does so by itself.
        """
        options = ReadOptions(index, filter, projection, consistent, page_size, start_after, at_least_sequence)
        given = Expressions(params, names, values)
        request = query_request(self.name, key_condition, descending, options, given)
        return Pages(self._client, request, self._model, timeout)

    def scan(
        self,
        *,
        params: Params = None,
        names: Names = None,
        values: Params = None,
        index: Optional[str] = None,
        filter: Optional[Condition] = None,
        projection: Optional[Projection] = None,
        consistent: bool = False,
        page_size: Optional[int] = None,
        start_after: Optional[Key] = None,
        at_least_sequence: int = 0,
        timeout: Optional[float] = None,
    ) -> Pages[T]:
        """All items of the table or index, in no particular order. The arguments are those of `query`."""
        options = ReadOptions(index, filter, projection, consistent, page_size, start_after, at_least_sequence)
        request = scan_request(self.name, options, Expressions(params, names, values))
        return Pages(self._client, request, self._model, timeout)

    def parallel_scan(
        self,
        segments: int,
        *,
        params: Params = None,
        names: Names = None,
        values: Params = None,
        index: Optional[str] = None,
        filter: Optional[Condition] = None,
        projection: Optional[Projection] = None,
        consistent: bool = False,
        page_size: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> ParallelScan[T]:
        """All items, read by so many calls at once. The arguments are those of `query`."""
        options = ReadOptions(index, filter, projection, consistent, page_size)
        check_segments(segments)
        parts = []
        for segment in range(segments):
            request = scan_request(self.name, options, Expressions(params, names, values))
            request.segment = segment
            request.total_segments = segments
            parts.append(Pages(self._client, request, self._model, timeout))
        return ParallelScan(parts)

    def sharded_query(
        self,
        key_condition: str,
        shards: Shards,
        *,
        params: Params = None,
        names: Names = None,
        values: Params = None,
        index: Optional[str] = None,
        filter: Optional[Condition] = None,
        projection: Optional[Projection] = None,
        descending: bool = False,
        page_size: int = 1000,
        continuation: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> ShardedQuery[T]:
        """The items of a partition that is spread over shards, in the order of the sort key.

        The key condition is a text in which the parameter `shards.param` stands for the shard's partition value.
        page_size: of the merged pages. continuation: of the page behind which the query continues.
        """
        given = Expressions({**(params or {}), shards.param: ""}, names, values)
        options = ReadOptions(index, filter, projection)
        request = query_request(self.name, key_condition, descending, options, given)
        return ShardedQuery(self._client, request, shards, self._model, page_size, continuation, timeout)

    async def batch_get(
        self,
        keys: Iterable[Key],
        *,
        consistent: bool = False,
        projection: Optional[Projection] = None,
        names: Names = None,
        timeout: Optional[float] = None,
    ) -> List[T]:
        """The items with any number of keys, in no particular order. Missing ones are left out."""
        found = await get_many(self._client, {self.name: keys}, consistent, projection, names, timeout)
        return [self._model.from_item(conversion.to_dict(item)) for item in found[self.name]]

    async def put_all(self, items: Iterable[Union[T, Mapping[str, Any]]], *, concurrency: int = 4) -> None:
        """Puts many items by a batch writer. Errors: BatchFailed with those that are not done."""
        async with self._client.batch_writer(concurrency=concurrency) as writer:
            for item in items:
                await writer.put(self.name, self._model.to_item(item))

    async def delete_all(self, keys: Iterable[Key], *, concurrency: int = 4) -> None:
        """Deletes many items by a batch writer. Errors: BatchFailed with those that are not done."""
        async with self._client.batch_writer(concurrency=concurrency) as writer:
            for key in keys:
                await writer.delete(self.name, key)

    def watch(
        self,
        *,
        oldest: bool = False,
        after: Optional[str] = None,
        partition: Optional[Key] = None,
        filter: Optional[Condition] = None,
        params: Params = None,
        names: Names = None,
        values: Params = None,
        heartbeat: float = 5.0,
        reconnect_for: Optional[float] = None,
    ) -> Watch[T]:
        """The changes of the table, whose stream must be enabled: from now on, or behind a position, or all that are
        kept.

        after: position of a change. partition: a partition key; only its items are watched. heartbeat: seconds after
        which the daemon shows that it is there. reconnect_for: seconds to try to reach a lost daemon; None: for ever.
        """
        given = Expressions(params, names, values)
        request = watch_request(self.name, partition, oldest, after, filter, heartbeat, given)
        return Watch(self._client, request, self._model, reconnect_for)


PlainTable = Table[Dict[str, Any]]
