"""Pages and items of queries and scans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, AsyncIterator, Generic, List, Optional, TypeVar

from armature.api.v1 import items_pb2

from .. import values
from ..models import Model
from ..results import Page
from . import runtime

if TYPE_CHECKING:
    from .client import Client

T = TypeVar("T")


class Pages(Generic[T]):
    """A query or scan: iterates over its items, each time from its beginning. Nothing is read before that."""

    def __init__(self, client: Client, request: Any, model: Model[T], timeout: Optional[float]) -> None:
        self._client = client
        self._request = request
        self._model = model
        self._timeout = timeout

    def __repr__(self) -> str:
        kind = type(self._request).__name__.replace("Request", "")
        index = f"/{self._request.index_name}" if self._request.index_name else ""
        return f"{kind}({self._request.table_name + index!r}, {self._client!r})"

    async def _read(self, start: Optional[Any]) -> Any:
        request = self._request
        if start is not None:
            request = type(request)()
            request.CopyFrom(self._request)
            request.exclusive_start_key.CopyFrom(start)
        return await self._client.call(request, timeout=self._timeout)

    async def _responses(self) -> AsyncIterator[Any]:
        start: Optional[Any] = None
        while True:
            response = await self._read(start)
            yield response
            if not response.HasField("last_evaluated_key"):
                return
            start = response.last_evaluated_key

    def _page(self, response: Any) -> Page[T]:
        from_item = self._model.from_item
        return Page(
            [from_item(values.to_dict(item)) for item in response.items],
            response.count,
            response.scanned_count,
            values.to_dict(response.last_evaluated_key) if response.HasField("last_evaluated_key") else None,
        )

    async def pages(self) -> AsyncIterator[Page[T]]:
        """All pages. A page may be empty without being the last, because a filter has removed its items."""
        async for response in self._responses():
            yield self._page(response)

    async def __aiter__(self) -> AsyncIterator[T]:
        from_item = self._model.from_item
        async for response in self._responses():
            for item in response.items:
                yield from_item(values.to_dict(item))

    async def first_page(self) -> Page[T]:
        """The first page only, for programs that keep its `next_key` and continue later with `start_after`."""
        return self._page(await self._read(None))

    async def all(self) -> List[T]:
        """All items."""
        items: List[T] = []
        async for page in self.pages():
            items.extend(page.items)
        return items

    async def count(self) -> int:
        """Number of items, counted by the daemon."""
        request = type(self._request)()
        request.CopyFrom(self._request)
        request.select = items_pb2.SELECT_COUNT
        request.ClearField("projection_expression")
        total = 0
        async for response in Pages(self._client, request, self._model, self._timeout)._responses():
            total += response.count
        return total


class ParallelScan(Generic[T]):
    """A scan by several calls at once. Iterates over the items of all segments as they come."""

    def __init__(self, segments: List[Pages[T]]) -> None:
        self._segments = segments

    async def pages(self) -> AsyncIterator[Page[T]]:
        """The pages of all segments as they come."""
        async for page in runtime.merge([segment.pages() for segment in self._segments]):
            yield page

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page.items:
                yield item

    async def all(self) -> List[T]:
        """All items."""
        items: List[T] = []
        async for page in self.pages():
            items.extend(page.items)
        return items
