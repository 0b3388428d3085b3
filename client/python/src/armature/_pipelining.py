"""Messages of the Pipeline call."""

from __future__ import annotations

from typing import Any

import grpc

from armature.api.v1 import items_pb2

from ._hints import Schemas, hint_of
from ._methods import is_read, method_of
from .errors import ArmatureError, DeadlineExceeded, OutcomeUnknown, Unavailable, from_status, of_operation

PIPELINE = method_of(items_pb2.PipelineRequest())

_OPERATION: Any = items_pb2.PipelineRequest.DESCRIPTOR.oneofs_by_name["operation"]
_FIELDS = {field.message_type.full_name: field.name for field in _OPERATION.fields}


def pack(number: int, request: Any) -> items_pb2.PipelineRequest:
    """The request as a message of the stream. Errors: TypeError if a pipeline does not have the operation."""
    field = _FIELDS.get(request.DESCRIPTOR.full_name)
    if field is None:
        raise TypeError(f"a pipeline does not have the operation of {type(request).__name__}")
    message = items_pb2.PipelineRequest(id=number)
    getattr(message, field).CopyFrom(request)
    return message


def unpack(response: items_pb2.PipelineResponse) -> Any:
    """The response of the operation. Raises its error."""
    kind = response.WhichOneof("result")
    if kind is None:
        raise ArmatureError("the daemon has answered an operation without a result")
    if kind == "error":
        raise from_status(response.error)
    return getattr(response, kind)


def error_of(request: Any, error: ArmatureError, schemas: Schemas) -> ArmatureError:
    """The error of an operation that has no answer, or a failed one."""
    error.hint = error.hint or hint_of(error, request, schemas)
    method = method_of(request)
    if of_operation(error, method.name).certainly_not_applied or is_read(method, request):
        return error
    unknown = OutcomeUnknown(f"the operation may have been applied or not: {error}", code=error.code)
    unknown.__cause__ = error
    return unknown


def ended() -> ArmatureError:
    """The error of operations of a stream that has ended without an error."""
    return Unavailable("the stream of the pipeline has ended", code=grpc.StatusCode.UNAVAILABLE)


def not_sent() -> ArmatureError:
    """The error of an operation that is asked for after the end of the stream."""
    return Unavailable("the pipeline is closed", code=grpc.StatusCode.UNAVAILABLE, never_sent=True)


def unanswered(was_sent: bool) -> ArmatureError:
    """The error of an operation whose time is over."""
    return DeadlineExceeded(
        "the operation has not been answered in time",
        code=grpc.StatusCode.DEADLINE_EXCEEDED,
        never_sent=not was_sent,
    )


def stalled() -> ArmatureError:
    """The error of operations of a stream that takes no more messages."""
    return Unavailable("the stream of the pipeline takes no messages", code=grpc.StatusCode.UNAVAILABLE)
