"""The operations of the daemon, by the type of their request, from the descriptors of the services."""

from __future__ import annotations

from typing import Any, Dict, Optional, Type

from google.protobuf import descriptor_pb2
from google.protobuf.message import Message

from armature.admin.v1 import admin_pb2
from armature.api.v1 import (
    items_pb2,
    service_pb2,
    statements_pb2,
    streams_pb2,
    tables_pb2,
    transfers_pb2,
)

_MODULES = (items_pb2, tables_pb2, transfers_pb2, statements_pb2, streams_pb2, admin_pb2)
_IdempotencyLevel = descriptor_pb2.MethodOptions.IdempotencyLevel


class Method:
    """One operation. is_read: it changes nothing. is_idempotent: its repeat does no harm, whatever the request says."""

    def __init__(self, service: str, name: str, request_class: Type[Message], response_class: Type[Message]) -> None:
        self.name = name
        self.path = f"/{service}/{name}"
        self.request_class = request_class
        self.response_class = response_class
        self.is_read = False
        self.is_idempotent = False


def _class_of(descriptor: Any) -> Type[Message]:
    for module in _MODULES:
        found: Optional[Type[Message]] = getattr(module, descriptor.name, None)
        if found is not None and found.DESCRIPTOR.full_name == descriptor.full_name:
            return found
    raise LookupError(descriptor.full_name)


def _make_methods() -> Dict[str, Method]:
    methods: Dict[str, Method] = {}
    for file in (service_pb2.DESCRIPTOR, admin_pb2.DESCRIPTOR):
        for service in file.services_by_name.values():
            for description in service.methods:
                method = Method(
                    service.full_name,
                    description.name,
                    _class_of(description.input_type),
                    _class_of(description.output_type),
                )
                level = description.GetOptions().idempotency_level
                method.is_read = level == _IdempotencyLevel.Value("NO_SIDE_EFFECTS")
                method.is_idempotent = level != _IdempotencyLevel.Value("IDEMPOTENCY_UNKNOWN")
                methods[description.input_type.full_name] = method
    return methods


_METHODS = _make_methods()


def _by_class() -> Dict[Type[Message], Method]:
    return {method.request_class: method for method in _METHODS.values()}


BY_REQUEST = _by_class()


def method_of(request: Message) -> Method:
    """The operation of a request. Errors: TypeError for a message that is no request."""
    method = BY_REQUEST.get(type(request))
    if method is None:
        raise TypeError(f"{type(request).__name__} is no request of an operation")
    return method


def _is_plain_write(request: Any) -> bool:
    # The return value of a second attempt would be the item that the first attempt wrote.
    return not request.HasField("condition_expression") and not request.expected and request.return_values in (0, 1)


def is_idempotent(method: Method, request: Any) -> bool:
    """True if a repeat leaves the same data and gives an equivalent answer, even if the first attempt was applied."""
    if method.is_idempotent:
        return True
    if isinstance(request, (items_pb2.PutItemRequest, items_pb2.DeleteItemRequest)):
        return _is_plain_write(request)
    if isinstance(request, (items_pb2.TransactWriteItemsRequest, statements_pb2.ExecuteTransactionRequest)):
        return bool(request.client_request_token)
    if isinstance(request, statements_pb2.ExecuteStatementRequest):
        return is_select(request.statement)
    if isinstance(request, statements_pb2.BatchExecuteStatementRequest):
        return all(is_select(statement.statement) for statement in request.statements)
    return False


def is_read(method: Method, request: Any) -> bool:
    """True if the call changes nothing."""
    if isinstance(request, (statements_pb2.ExecuteStatementRequest, statements_pb2.BatchExecuteStatementRequest)):
        return is_idempotent(method, request)
    return method.is_read


def is_select(statement: str) -> bool:
    """True for a statement that only reads."""
    return statement.lstrip()[:6].upper() == "SELECT"
