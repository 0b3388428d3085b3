"""Many operations at once over one stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Optional

from armature.api.v1 import items_pb2

from .. import values as conversion
from .._requests import Expressions, Key, ReadOptions, get_request, query_request, write_request
from ..expressions import Condition, Projection, Update
from ..results import Page, Written
from .pipeline_stream import Future, PipelineStream

if TYPE_CHECKING:
    from .client import Client

Item = Dict[str, Any]


def _written(response: Any) -> Written[Item]:
    item = conversion.to_dict(response.attributes) if response.HasField("attributes") else None
    return Written(item, response.change_sequence)


def _item(response: Any) -> Optional[Item]:
    return conversion.to_dict(response.item) if response.HasField("item") else None


def _page(response: Any) -> Page[Item]:
    return Page(
        [conversion.to_dict(item) for item in response.items],
        response.count,
        response.scanned_count,
        conversion.to_dict(response.last_evaluated_key) if response.HasField("last_evaluated_key") else None,
    )


def _message(response: Any) -> Any:
    return response


class Pipeline:
    """Operations that run at the same time and cost less than calls. A context manager, which waits for all answers.

        async with client.pipeline() as pipeline:
            answers = [await pipeline.put("users", item) for item in items]
            for answer in answers:
                await answer

    A method sends its operation and returns a future of the result; it waits while too many are without an answer.
    Operations have no order: wait for the result of one before asking for another that depends on it.

    The pipeline repeats nothing and does not reconnect. When its stream breaks, the outstanding operations fail:
    writes with OutcomeUnknown. So does one that is not answered in time. To cancel a future does not take its operation
    back. A callback of a future may send the next operation, and never waits for others there; it must not wait for the
    result of another future. The arguments of the methods are those of `Table`.
    """

    def __init__(self, client: Client, in_flight: int, lifetime: Optional[float], timeout: float) -> None:
        self._stream = PipelineStream(client, in_flight, lifetime, timeout)

    async def put(
        self,
        table: str,
        item: Mapping[str, Any],
        *,
        condition: Optional[Condition] = None,
        params: Optional[Mapping[str, Any]] = None,
        names: Optional[Mapping[str, str]] = None,
        values: Optional[Mapping[str, Any]] = None,
        return_values: str = "NONE",
        return_on_failure: bool = False,
    ) -> Future[Written[Item]]:
        """Creates or replaces an item."""
        request = items_pb2.PutItemRequest(table_name=table)
        conversion.fill(request.item.attributes, item)
        write_request(
            request,
            condition=condition,
            given=Expressions(params, names, values),
            return_values=return_values,
            return_on_failure=return_on_failure,
        )
        return await self._stream.ask(request, _written)

    async def get(
        self,
        table: str,
        key: Key,
        *,
        consistent: bool = False,
        projection: Optional[Projection] = None,
        names: Optional[Mapping[str, str]] = None,
    ) -> Future[Optional[Item]]:
        """The item with the key, or None."""
        return await self._stream.ask(get_request(table, key, consistent, projection, names), _item)

    async def update(
        self,
        table: str,
        key: Key,
        update: Update,
        *,
        condition: Optional[Condition] = None,
        params: Optional[Mapping[str, Any]] = None,
        names: Optional[Mapping[str, str]] = None,
        values: Optional[Mapping[str, Any]] = None,
        return_values: str = "NONE",
        return_on_failure: bool = False,
    ) -> Future[Written[Item]]:
        """Changes or creates an item."""
        request = items_pb2.UpdateItemRequest(table_name=table)
        conversion.fill(request.key.attributes, key)
        write_request(
            request,
            condition=condition,
            update=update,
            given=Expressions(params, names, values),
            return_values=return_values,
            return_on_failure=return_on_failure,
        )
        return await self._stream.ask(request, _written)

    async def delete(
        self,
        table: str,
        key: Key,
        *,
        condition: Optional[Condition] = None,
        params: Optional[Mapping[str, Any]] = None,
        names: Optional[Mapping[str, str]] = None,
        values: Optional[Mapping[str, Any]] = None,
        return_values: str = "NONE",
        return_on_failure: bool = False,
    ) -> Future[Written[Item]]:
        """Deletes an item."""
        request = items_pb2.DeleteItemRequest(table_name=table)
        conversion.fill(request.key.attributes, key)
        write_request(
            request,
            condition=condition,
            given=Expressions(params, names, values),
            return_values=return_values,
            return_on_failure=return_on_failure,
        )
        return await self._stream.ask(request, _written)

    async def query_page(
        self,
        table: str,
        key_condition: Condition,
        *,
        params: Optional[Mapping[str, Any]] = None,
        names: Optional[Mapping[str, str]] = None,
        values: Optional[Mapping[str, Any]] = None,
        index: Optional[str] = None,
        filter: Optional[Condition] = None,
        projection: Optional[Projection] = None,
        descending: bool = False,
        page_size: Optional[int] = None,
        start_after: Optional[Key] = None,
    ) -> Future[Page[Item]]:
        """One page of a query."""
        options = ReadOptions(index, filter, projection, False, page_size, start_after)
        request = query_request(table, key_condition, descending, options, Expressions(params, names, values))
        return await self._stream.ask(request, _page)

    async def ask(self, request: Any, read: Callable[[Any], Any] = _message) -> Future[Any]:
        """Any operation on items, with its messages of the API."""
        return await self._stream.ask(request, read)

    async def close(self) -> None:
        """Waits for all answers and ends the stream."""
        await self._stream.close()

    async def __aenter__(self) -> Pipeline:
        return self

    async def __aexit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            await self.close()
        else:
            await self._stream.cancel()
