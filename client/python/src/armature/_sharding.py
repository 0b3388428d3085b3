"""Shards of a partition: their keys, the order of their items, and the position of a query over them."""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass
from typing import Any, List, NamedTuple, Optional, Tuple, Union

from google.protobuf.message import DecodeError

from armature.api.v1 import items_pb2, types_pb2

from . import values
from .errors import InvalidArgument

_SHARDS_MAX = 1000
_VERSION = "1"


@dataclass(frozen=True)
class Shards:
    """The shards of a query.

    param: the parameter of the key condition that is the partition value of the shard.
    count: number of shards, 1 to 1000; they have the numbers from `first` on.
    prefix: the partition values are `<prefix><separator><number>`; None: the number itself.
    parallel: maximum number of calls at once.
    """

    param: str
    count: int
    prefix: Optional[str] = None
    separator: str = "."
    first: int = 1
    parallel: int = 8

    def check(self) -> None:
        """Errors: InvalidArgument for a number out of its range."""
        if not 1 <= self.count <= _SHARDS_MAX:
            raise InvalidArgument(f"a query has 1 to {_SHARDS_MAX} shards")
        if self.parallel < 1:
            raise InvalidArgument("parallel must be positive")

    def values(self) -> List[Union[str, int]]:
        """The partition value of each shard."""
        numbers = range(self.first, self.first + self.count)
        if self.prefix is None:
            return list(numbers)
        return [f"{self.prefix}{self.separator}{number}" for number in numbers]


class Position(NamedTuple):
    """Position in one shard: behind the item with the key `after`; None: at its beginning."""

    is_done: bool = False
    after: Optional[types_pb2.Item] = None


def identity(request: items_pb2.QueryRequest, shards: Shards) -> bytes:
    """The parts of a query that must be equal for one query to continue another."""
    parts = (request.table_name, request.index_name, request.scan_index_forward or "", shards.param, shards.values())
    return hashlib.sha256(repr(parts).encode()).digest()[:16]


def encode(query: bytes, positions: List[Position]) -> str:
    """The positions as a text of letters, digits, '-' and '_'."""
    whole = types_pb2.AttributeValue()
    whole.l.values.add(n=_VERSION)
    whole.l.values.add(b=query)
    for position in positions:
        value = whole.l.values.add()
        if position.is_done:
            value.bool = True
        elif position.after is None:
            value.null = True
        else:
            value.m.SetInParent()
            for name, part in position.after.attributes.items():
                value.m.entries[name].CopyFrom(part)
    return base64.urlsafe_b64encode(whole.SerializeToString()).decode().rstrip("=")


def decode(text: str, query: bytes, count: int) -> List[Position]:
    """The positions of a text. Errors: InvalidArgument for another text, or that of another query."""
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        parts = list(types_pb2.AttributeValue.FromString(packed).l.values)
    except (DecodeError, binascii.Error, ValueError):
        parts = []
    if len(parts) < 2 or parts[0].n != _VERSION:
        raise InvalidArgument("the continuation is not one of a sharded query")
    if parts[1].b != query or len(parts) != count + 2:
        raise InvalidArgument("the continuation is that of another query")
    positions = []
    for part in parts[2:]:
        after: Optional[types_pb2.Item] = None
        if part.WhichOneof("value") == "m":
            after = types_pb2.Item()
            for name, value in part.m.entries.items():
                after.attributes[name].CopyFrom(value)
        positions.append(Position(part.bool, after))
    return positions


class KeyNames(NamedTuple):
    """Key attributes of a table or an index. others: its partition attributes, and the table's whole key."""

    sort: Tuple[str, ...]
    others: Tuple[str, ...]


def key_names(description: Any, index: str) -> KeyNames:
    """The keys in a TableDescription. index: empty for the table itself. Errors: InvalidArgument."""
    schema = description.key_schema if not index else None
    for candidate in (*description.global_secondary_indexes, *description.local_secondary_indexes):
        if candidate.index_name == index:
            schema = candidate.key_schema
    if schema is None:
        raise InvalidArgument(f"the table {description.table_name} has no index {index}")
    sort = tuple(part.attribute_name for part in schema if part.key_type == types_pb2.KEY_TYPE_RANGE)
    others = [part.attribute_name for part in schema if part.key_type != types_pb2.KEY_TYPE_RANGE]
    others += [
        part.attribute_name
        for part in description.key_schema
        if part.attribute_name not in sort and part.attribute_name not in others
    ]
    return KeyNames(sort, tuple(others))


def _lacks(name: str) -> InvalidArgument:
    return InvalidArgument(f"an item lacks the key attribute {name}; the projection must keep all of them")


def key_of(item: types_pb2.Item, names: KeyNames) -> types_pb2.Item:
    """The key attributes of an item. Errors: InvalidArgument if it lacks one."""
    key = types_pb2.Item()
    for name in names.sort + names.others:
        if name not in item.attributes:
            raise _lacks(name)
        key.attributes[name].CopyFrom(item.attributes[name])
    return key


class Order:
    """Place of an item in the merged order; compares by the sort attributes, then by the shard."""

    def __init__(self, item: types_pb2.Item, names: KeyNames, shard: int, descending: bool) -> None:
        for name in names.sort:
            if name not in item.attributes:
                raise _lacks(name)
        self._key = (*[values.read(item.attributes[name]) for name in names.sort], shard)
        self._descending = descending
        self.shard = shard

    def __lt__(self, other: Order) -> bool:
        return other._key < self._key if self._descending else self._key < other._key
