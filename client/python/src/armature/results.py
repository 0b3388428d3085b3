"""Results of calls."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any, Dict, Generic, List, Optional, TypeVar

T = TypeVar("T")
Item = Dict[str, Any]


@dataclass(frozen=True)
class Written(Generic[T]):
    """Result of a write.

    item: the old or new item or attributes that `return_values` asks for; else None. Updated attributes alone are a
    dict. change_sequence: position of the write. A read of an index with this `at_least_sequence` sees the write.
    """

    item: Optional[T]
    change_sequence: int


@dataclass(frozen=True)
class Page(Generic[T]):
    """One page of a query or scan. next_key: the `start_after` of the next page; None on the last page."""

    items: List[T]
    count: int
    scanned_count: int
    next_key: Optional[Item]


@dataclass(frozen=True)
class ShardedPage(Generic[T]):
    """One page of a sharded query. continuation: position of the next page; None on the last page."""

    items: List[T]
    continuation: Optional[str]


@dataclass(frozen=True)
class Change(Generic[T]):
    """A change of an item. kind: INSERT, MODIFY or REMOVE. new, old: the item, as far as the stream has it.

    position: to be given as `after` to a later watch, which continues behind this change.
    expired: the daemon has deleted the item because its time to live was over.
    """

    kind: str
    key: Item
    new: Optional[T]
    old: Optional[T]
    position: str
    time: datetime.datetime
    expired: bool


@dataclass(frozen=True)
class TableInfo:
    """State of a table. partition, sort: names of its key attributes. indexes: their state by name."""

    name: str
    status: str
    partition: List[str]
    sort: List[str]
    item_count: int
    size_bytes: int
    indexes: Dict[str, str]
