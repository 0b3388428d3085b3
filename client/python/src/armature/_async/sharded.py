"""Queries over a partition that is spread over shards.

An index whose partition key has few values, such as a day, takes all its writes in few partitions. To avoid that, the
writer spreads each value over N shards, by a number from 1 to N in the key. A reader then needs N queries.
"""

from __future__ import annotations

import functools
import heapq
from collections import deque
from typing import TYPE_CHECKING, Any, AsyncIterator, Deque, Generic, List, Optional, TypeVar

from armature.api.v1 import types_pb2

from .. import _sharding, values
from ..models import Model
from ..results import ShardedPage
from . import runtime

if TYPE_CHECKING:
    from .client import Client

T = TypeVar("T")

# Number of entries requested from a shard beyond twice its even share of a page, so that small pages seldom need a
# second call.
_SPARE_ENTRIES = 10


class _Cursor:
    """Reads the items of one shard ahead."""

    def __init__(self, request: Any, position: _sharding.Position) -> None:
        self._request = request
        self._returned = position.after
        self.is_exhausted = position.is_done
        self._fetched = 0  # number of items of the last call
        self.items: Deque[types_pb2.Item] = deque()
        if position.after is not None:
            request.exclusive_start_key.CopyFrom(position.after)

    async def fetch(self, client: Client, timeout: Optional[float]) -> None:
        """Makes one call, which may return no items."""
        response = await client.call(self._request, timeout=timeout)
        self.items.extend(response.items)
        self._fetched = len(response.items)
        self.is_exhausted = not response.HasField("last_evaluated_key")
        if not self.is_exhausted:
            self._request.exclusive_start_key.CopyFrom(response.last_evaluated_key)

    @property
    def runs_low(self) -> bool:
        """True if half of the items of the last call are taken and there may be more."""
        return not self.is_exhausted and len(self.items) <= self._fetched // 2

    def take(self, names: _sharding.KeyNames) -> types_pb2.Item:
        """The next item."""
        item = self.items.popleft()
        self._returned = _sharding.key_of(item, names)
        return item

    @property
    def position(self) -> _sharding.Position:
        """Behind the items that were taken."""
        if self.items:
            return _sharding.Position(False, self._returned)
        if self.is_exhausted:
            return _sharding.Position(True, None)
        # The start of the next call lies behind the items that a filter has dropped, too.
        has_begun = self._request.HasField("exclusive_start_key")
        return _sharding.Position(False, self._request.exclusive_start_key if has_begun else None)


class ShardedQuery(Generic[T]):
    """The items of all shards in the order of the index; those with equal sort attributes in the order of the shards.

    The shards are not read at one moment: the walk may miss items that are written meanwhile.
    """

    def __init__(
        self,
        client: Client,
        request: Any,
        shards: _sharding.Shards,
        model: Model[T],
        page_size: int,
        continuation: Optional[str],
        timeout: Optional[float],
    ) -> None:
        shards.check()
        self._client = client
        self._request = request
        self._shards = shards
        self._model = model
        self._page_size = page_size
        self._timeout = timeout
        self._identity = _sharding.identity(request, shards)
        self._positions = [_sharding.Position()] * shards.count
        if continuation is not None:
            self._positions = _sharding.decode(continuation, self._identity, shards.count)

    def _cursors(self) -> List[_Cursor]:
        cursors = []
        for value, position in zip(self._shards.values(), self._positions):
            request = type(self._request)()
            request.CopyFrom(self._request)
            request.expression_attribute_values[":" + self._shards.param].CopyFrom(values.to_value(value))
            if not request.HasField("limit"):
                request.limit = 2 * self._page_size // self._shards.count + _SPARE_ENTRIES
            cursors.append(_Cursor(request, position))
        return cursors

    async def _fill(self, cursors: List[_Cursor]) -> None:
        """Fetches until each shard has items in memory or is finished."""
        while any(not cursor.items and not cursor.is_exhausted for cursor in cursors):
            fetches = [
                functools.partial(cursor.fetch, self._client, self._timeout) for cursor in cursors if cursor.runs_low
            ]
            await runtime.gather(fetches, self._shards.parallel)

    async def pages(self) -> AsyncIterator[ShardedPage[T]]:
        """Pages with `page_size` items; the last one may have fewer."""
        table = await self._client.describe_table_message(self._request.table_name)
        names = _sharding.key_names(table, self._request.index_name)
        descending = self._request.HasField("scan_index_forward") and not self._request.scan_index_forward
        cursors = self._cursors()
        heap: List[_sharding.Order] = []

        async def enter(shards: List[int]) -> None:
            await self._fill(cursors)
            for shard in shards:
                if cursors[shard].items:
                    heapq.heappush(heap, _sharding.Order(cursors[shard].items[0], names, shard, descending))

        await enter(list(range(len(cursors))))
        while True:
            items: List[T] = []
            while heap and len(items) < self._page_size:
                shard = heapq.heappop(heap).shard
                items.append(self._model.from_item(values.to_dict(cursors[shard].take(names))))
                await enter([shard])
            is_last = not heap
            yield ShardedPage(
                items,
                None if is_last else _sharding.encode(self._identity, [cursor.position for cursor in cursors]),
            )
            if is_last:
                return

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
