"""Reads of own writes on global indexes."""

from __future__ import annotations

import threading
from typing import Any, Dict, Iterator

from armature.api.v1 import items_pb2, statements_pb2

from ._methods import is_select

_STATEMENTS = (
    statements_pb2.ExecuteStatementRequest,
    statements_pb2.BatchExecuteStatementRequest,
    statements_pb2.ExecuteTransactionRequest,
)
_READS = (items_pb2.QueryRequest, items_pb2.ScanRequest)


def _table_name(table: str) -> str:
    """The name in an ARN, or the name itself."""
    return table.rsplit("/", 1)[-1] if table.startswith("arn:") else table


def _tables_of(request: Any) -> Iterator[str]:
    if isinstance(request, items_pb2.BatchWriteItemRequest):
        yield from request.request_items
    elif isinstance(request, items_pb2.TransactWriteItemsRequest):
        for action in request.transact_items:
            yield getattr(action, action.WhichOneof("action")).table_name
    elif isinstance(request, _STATEMENTS):
        yield ""  # statements name their tables themselves; "" stands for all tables
    else:
        yield request.table_name


class Session:
    """The highest change sequence of the writes to each table. Thread-safe.

    Sequences belong to the database and only grow, so those of deleted and recreated tables delay no read. One number
    is kept for each written table.
    """

    def __init__(self, after: int = 0) -> None:
        self._lock = threading.Lock()
        self._sequences: Dict[str, int] = {"": after} if after else {}

    @property
    def position(self) -> int:
        """The highest change sequence of all writes."""
        with self._lock:
            return max(self._sequences.values(), default=0)

    def before(self, request: Any) -> Any:
        """The request, or a copy of it that waits for the writes of this session."""
        if isinstance(request, _READS):
            if not request.HasField("index_name"):
                return request
            with self._lock:
                known = max(self._sequences.get(_table_name(request.table_name), 0), self._sequences.get("", 0))
        elif isinstance(request, statements_pb2.ExecuteStatementRequest) and is_select(request.statement):
            known = self.position
        else:
            return request
        if known <= request.at_least_sequence:
            return request
        raised = type(request)()
        raised.CopyFrom(request)
        raised.at_least_sequence = known
        return raised

    def after(self, request: Any, response: Any) -> None:
        """Notes the sequence of a successful write."""
        sequence = getattr(response, "change_sequence", 0)
        if sequence:
            with self._lock:
                for table in _tables_of(request):
                    name = _table_name(table)
                    if sequence > self._sequences.get(name, 0):
                        self._sequences[name] = sequence
