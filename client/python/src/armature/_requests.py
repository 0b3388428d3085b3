"""Requests from native arguments, for the synchronous and the asyncio client alike."""

from __future__ import annotations

import uuid
from collections.abc import Mapping as AbstractMapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Type, Union

from armature.api.v1 import items_pb2, statements_pb2, streams_pb2, tables_pb2, types_pb2

from . import values
from .errors import InvalidArgument
from .expressions import (
    Condition,
    Placeholders,
    Projection,
    Update,
    render_condition,
    render_projection,
    render_update,
)

Item = Dict[str, Any]
Key = Mapping[str, Any]

KeyTypes = Mapping[str, Type[Any]]

_TRANSACTIONS = (items_pb2.TransactWriteItemsRequest, statements_pb2.ExecuteTransactionRequest)


@dataclass(frozen=True)
class Expressions:
    """The parts that all requests with expressions share: see the arguments of the same names of `Table`."""

    params: Optional[Mapping[str, Any]] = None
    names: Optional[Mapping[str, str]] = None
    values: Optional[Mapping[str, Any]] = None

    def __bool__(self) -> bool:
        return self.params is not None or self.names is not None or self.values is not None


def _placeholders(message: Any, given: Expressions) -> Placeholders:
    return Placeholders(
        message.expression_attribute_names,
        getattr(message, "expression_attribute_values", None),
        given.params,
        given.names,
        given.values,
    )


def write_request(
    message: Any,
    *,
    condition: Optional[Condition] = None,
    update: Optional[Update] = None,
    given: Expressions,
    return_values: str = "NONE",
    return_on_failure: bool = False,
) -> Any:
    """Fills the common parts of a write into its message, a single one or an action of a transaction."""
    if condition is not None or update is not None or given:
        placeholders = _placeholders(message, given)
        if update is not None:
            message.update_expression = render_update(update, placeholders)
        if condition is not None:
            message.condition_expression = render_condition(condition, placeholders)
        placeholders.check_all_used()
    if return_values != "NONE":
        message.return_values = enum_value(types_pb2.ReturnValues, "RETURN_VALUES_", return_values)
    if return_on_failure:
        message.return_values_on_condition_check_failure = types_pb2.RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD
    return message


def enum_value(kind: Any, prefix: str, name: str) -> Any:
    """A value of an enum by its name in the documented API. Errors: InvalidArgument."""
    try:
        return kind.Value(prefix + name.upper())
    except ValueError:
        raise InvalidArgument(f"{name!r} is not one of the values of {kind.DESCRIPTOR.name}") from None


def get_request(
    table: str, key: Key, consistent: bool, projection: Optional[Projection], names: Optional[Mapping[str, str]]
) -> items_pb2.GetItemRequest:
    """GetItem."""
    message = items_pb2.GetItemRequest(table_name=table)
    values.fill(message.key.attributes, key)
    if consistent:
        message.consistent_read = True
    project(message, projection, names)
    return message


def project(message: Any, projection: Optional[Projection], names: Optional[Mapping[str, str]]) -> None:
    """Sets the projection of a read without other expressions."""
    if projection is not None:
        placeholders = Placeholders(message.expression_attribute_names, None, given_names=names)
        message.projection_expression = render_projection(projection, placeholders)


@dataclass(frozen=True)
class ReadOptions:
    """The options of Query and Scan: see `Table.query`."""

    index: Optional[str] = None
    filter: Optional[Condition] = None
    projection: Optional[Projection] = None
    consistent: bool = False
    page_size: Optional[int] = None
    start_after: Optional[Key] = None
    at_least_sequence: int = 0


def _read_request(message: Any, options: ReadOptions, placeholders: Placeholders) -> None:
    if options.index is not None:
        message.index_name = options.index
    if options.filter is not None:
        message.filter_expression = render_condition(options.filter, placeholders)
    if options.projection is not None:
        message.projection_expression = render_projection(options.projection, placeholders)
    if options.consistent:
        message.consistent_read = True
    if options.page_size is not None:
        message.limit = options.page_size
    if options.start_after is not None:
        values.fill(message.exclusive_start_key.attributes, options.start_after)
    if options.at_least_sequence:
        message.at_least_sequence = options.at_least_sequence
    placeholders.check_all_used()


def query_request(
    table: str, key_condition: Condition, descending: bool, options: ReadOptions, given: Expressions
) -> items_pb2.QueryRequest:
    """Query."""
    message = items_pb2.QueryRequest(table_name=table)
    placeholders = _placeholders(message, given)
    message.key_condition_expression = render_condition(key_condition, placeholders)
    if descending:
        message.scan_index_forward = False
    _read_request(message, options, placeholders)
    return message


def scan_request(table: str, options: ReadOptions, given: Expressions) -> items_pb2.ScanRequest:
    """Scan."""
    message = items_pb2.ScanRequest(table_name=table)
    _read_request(message, options, _placeholders(message, given))
    return message


def check_segments(segments: int) -> None:
    """Errors: InvalidArgument for a number of segments that a scan cannot have."""
    if not isinstance(segments, int) or not 1 <= segments <= 1_000_000:
        raise InvalidArgument("the number of segments is 1 to 1,000,000")


def watch_request(
    table: str,
    partition: Optional[Key],
    oldest: bool,
    after: Optional[str],
    filter: Optional[Condition],
    heartbeat: float,
    given: Expressions,
) -> streams_pb2.WatchRequest:
    """Watch."""
    message = streams_pb2.WatchRequest(table_name=table, heartbeat_ms=int(heartbeat * 1000))
    if partition is not None:
        values.fill(message.partition_key.attributes, partition)
    if after is not None:
        message.after_sequence_number = after
    elif oldest:
        message.start = streams_pb2.WATCH_START_OLDEST
    placeholders = _placeholders(message, given)
    if filter is not None:
        message.filter_expression = render_condition(filter, placeholders)
    placeholders.check_all_used()
    return message


# -- Tables.

_KEY_TYPES: Dict[Any, Any] = {
    str: types_pb2.SCALAR_ATTRIBUTE_TYPE_S,
    int: types_pb2.SCALAR_ATTRIBUTE_TYPE_N,
    float: types_pb2.SCALAR_ATTRIBUTE_TYPE_N,
    Decimal: types_pb2.SCALAR_ATTRIBUTE_TYPE_N,
    bytes: types_pb2.SCALAR_ATTRIBUTE_TYPE_B,
}


@dataclass(frozen=True)
class Index:
    """An index: of a new table, or a global one that is added to a table.

    partition, sort: key attributes with their types (str, int, Decimal or bytes); a local index has no `partition`.
    projection: "ALL", "KEYS_ONLY", or the names of further attributes.
    """

    name: str
    partition: Optional[KeyTypes] = None
    sort: Optional[KeyTypes] = None
    projection: Union[str, Sequence[str]] = "ALL"


def _projection(projection: Union[str, Sequence[str]]) -> types_pb2.Projection:
    if isinstance(projection, str):
        kind = enum_value(types_pb2.ProjectionType, "PROJECTION_TYPE_", projection)
        return types_pb2.Projection(projection_type=kind)
    return types_pb2.Projection(projection_type=types_pb2.PROJECTION_TYPE_INCLUDE, non_key_attributes=list(projection))


def _key_schema(
    partition: KeyTypes, sort: Optional[KeyTypes], definitions: Dict[str, Any]
) -> List[types_pb2.KeySchemaElement]:
    schema = []
    for role, part in ((types_pb2.KEY_TYPE_HASH, partition), (types_pb2.KEY_TYPE_RANGE, sort or {})):
        if not isinstance(part, AbstractMapping):
            raise InvalidArgument("key attributes are a dict with their types, such as {'id': str}")
        for name, kind in part.items():
            if kind not in _KEY_TYPES:
                raise InvalidArgument(f"the key attribute {name!r} has the type str, int, Decimal or bytes")
            definitions[name] = _KEY_TYPES[kind]
            schema.append(types_pb2.KeySchemaElement(attribute_name=name, key_type=role))
    return schema


def create_table_request(
    table: str,
    partition: KeyTypes,
    sort: Optional[KeyTypes],
    indexes: Iterable[Index],
    stream: Optional[str],
    capacity: Optional[Tuple[int, int]],
) -> tables_pb2.CreateTableRequest:
    """CreateTable."""
    definitions: Dict[str, Any] = {}
    message = tables_pb2.CreateTableRequest(table_name=table, key_schema=_key_schema(partition, sort, definitions))
    throughput: Optional[types_pb2.ProvisionedThroughput] = None
    if capacity is None:
        message.billing_mode = tables_pb2.BILLING_MODE_PAY_PER_REQUEST
    else:
        throughput = _throughput(capacity)
        message.billing_mode = tables_pb2.BILLING_MODE_PROVISIONED
        message.provisioned_throughput.CopyFrom(throughput)
    if isinstance(indexes, Index):
        raise InvalidArgument("indexes are a list")
    for index in indexes:
        if index.partition is None:
            message.local_secondary_indexes.add(
                index_name=index.name,
                key_schema=_key_schema(partition, index.sort, definitions),
                projection=_projection(index.projection),
            )
        else:
            message.global_secondary_indexes.add(
                index_name=index.name,
                key_schema=_key_schema(index.partition, index.sort, definitions),
                projection=_projection(index.projection),
                provisioned_throughput=throughput,
            )
    if stream is not None:
        message.stream_specification.stream_enabled = True
        message.stream_specification.stream_view_type = enum_value(
            tables_pb2.StreamViewType, "STREAM_VIEW_TYPE_", stream
        )
    _define(message, definitions)
    return message


def _define(message: Any, definitions: Mapping[str, Any]) -> None:
    for name, kind in definitions.items():
        message.attribute_definitions.add(attribute_name=name, attribute_type=kind)


def add_index_request(
    table: str, index: Index, capacity: Optional[Tuple[int, int]]
) -> tables_pb2.UpdateTableRequest:
    """UpdateTable with a new global index."""
    if index.partition is None:
        raise InvalidArgument("an index of a table in use is global: it has a partition key")
    definitions: Dict[str, Any] = {}
    message = tables_pb2.UpdateTableRequest(table_name=table)
    create = message.global_secondary_index_updates.add().create
    create.index_name = index.name
    create.key_schema.extend(_key_schema(index.partition, index.sort, definitions))
    create.projection.CopyFrom(_projection(index.projection))
    if capacity is not None:
        create.provisioned_throughput.CopyFrom(_throughput(capacity))
    _define(message, definitions)
    return message


def drop_index_request(table: str, index: str) -> tables_pb2.UpdateTableRequest:
    """UpdateTable without an index."""
    message = tables_pb2.UpdateTableRequest(table_name=table)
    message.global_secondary_index_updates.add().delete.index_name = index
    return message


def _throughput(capacity: Tuple[int, int]) -> types_pb2.ProvisionedThroughput:
    return types_pb2.ProvisionedThroughput(read_capacity_units=capacity[0], write_capacity_units=capacity[1])


def with_token(request: Any) -> Any:
    """The request, or a copy with a new token of a transaction that has none, so that a repeat is applied once."""
    if not isinstance(request, _TRANSACTIONS) or request.client_request_token:
        return request
    copy: Any = type(request)()
    copy.CopyFrom(request)
    copy.client_request_token = str(uuid.uuid4())
    return copy
