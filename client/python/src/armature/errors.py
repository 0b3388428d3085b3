"""Errors of calls. Every error of the daemon is an `ArmatureError` with the name of the documented exception."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Type

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import DecodeError

from armature.api.v1 import errors_pb2

from . import values

_DETAILS_TRAILER = "grpc-status-details-bin"
_EXCEPTION_TRAILER = "x-armature-exception"
_REQUEST_ID_TRAILER = "x-armature-request-id"
_RETRY_INFO = "google.rpc.RetryInfo"

# These can occur in the middle of a write.
_MAYBE_APPLIED = frozenset(["InternalServerError", "ServiceUnavailable"])

# This one is about one write of a batch, whose other writes may be done.
_BATCH = "BatchWriteItem"
_COLLECTION_FULL = "ItemCollectionSizeLimitExceededException"

# How gRPC says that no address could be connected, so that nothing was sent.
_NEVER_SENT = (
    "failed to connect to all addresses",
    "connections to all backends failing",
    "empty address list",
    "DNS resolution failed",
    "errors resolving",
    "Name resolution failure",
)


class ArmatureError(Exception):
    """A failed call.

    message: the text of the daemon, or of this package. hint: what the client knows beside it, such as the table; may
    be empty.
    exception: name of the documented exception, such as "ValidationException"; empty if the network failed.
    code: the gRPC status code; None if nothing was sent.
    retry_after: pause in seconds that the daemon advises; 0 without advice.
    request_id: identifies the call in the daemon's log; empty if the daemon did not answer.
    """

    def __init__(
        self,
        message: str,
        *,
        exception: str = "",
        code: Optional[grpc.StatusCode] = None,
        detail: Optional[errors_pb2.ErrorDetail] = None,
        retry_after: float = 0.0,
        request_id: str = "",
        never_sent: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = ""
        self.exception = exception
        self.code = code
        self.retry_after = retry_after
        self.request_id = request_id
        self._detail = detail
        self._never_sent = never_sent
        self._applied_in_part = False
        self._is_lasting = False

    def __str__(self) -> str:
        text = f"{self.exception}: {self.message}" if self.exception else self.message
        return f"{text} ({self.hint})" if self.hint else text

    @property
    def certainly_not_applied(self) -> bool:
        """True if the call has certainly changed nothing. False: it may have been applied or not."""
        if self._never_sent or (self.code is grpc.StatusCode.UNIMPLEMENTED and not self.exception):
            return True
        return bool(self.exception) and self.exception not in _MAYBE_APPLIED and not self._applied_in_part


class InvalidArgument(ArmatureError, ValueError):
    """Refused by this package. Nothing was sent."""

    def __init__(self, message: str) -> None:
        super().__init__(message, never_sent=True)


class ConditionFailed(ArmatureError):
    """The condition of a write is false. Nothing was written."""

    @property
    def item(self) -> Optional[Dict[str, Any]]:
        """The item that failed the condition, if the call had `return_on_failure`. None if there is none."""
        if self._detail is None or not self._detail.HasField("item"):
            return None
        return values.to_dict(self._detail.item)

    @property
    def item_omitted(self) -> bool:
        """True if the item is too large for an error. Read it with a get."""
        return self._detail is not None and self._detail.item_omitted


@dataclass(frozen=True)
class CancellationReason:
    """Result of one action of a cancelled transaction. code: "None" if this action did not fail."""

    code: str
    message: str
    item: Optional[Dict[str, Any]]
    item_omitted: bool


class TransactionCancelled(ArmatureError):
    """A transaction was not applied."""

    @property
    def reasons(self) -> List[CancellationReason]:
        """One for each action, in their order."""
        if self._detail is None:
            return []
        return [
            CancellationReason(
                reason.code,
                reason.message,
                values.to_dict(reason.item) if reason.HasField("item") else None,
                reason.item_omitted,
            )
            for reason in self._detail.cancellation_reasons
        ]


class TransactionConflict(ArmatureError):
    """Another transaction is in progress on the same item, or with the same token."""


class TokenReused(ArmatureError):
    """The token belongs to a transaction with other actions."""


class ValidationError(ArmatureError, ValueError):
    """The daemon refuses the request."""


class NotFound(ArmatureError, LookupError):
    """The table, index, backup or other resource does not exist."""


class ResourceInUse(ArmatureError):
    """The table or other resource exists already or is being changed."""


class DuplicateItem(ArmatureError):
    """A statement inserts an item that exists."""


class Throttled(ArmatureError):
    """The provisioned throughput is used up or the daemon is overloaded, also after the last retry."""


class LimitExceeded(ArmatureError):
    """A limit of the daemon or of an item collection."""


class AccessDenied(ArmatureError, PermissionError):
    """The caller lacks the right to this operation."""


class Unauthenticated(ArmatureError, PermissionError):
    """No credentials, or unknown or wrong ones."""


class ChangesTrimmed(ArmatureError):
    """Changes behind the position of a watch or stream are no longer kept."""


class Unsupported(ArmatureError):
    """The daemon does not know the operation."""


class Unavailable(ArmatureError, ConnectionError):
    """The daemon cannot be reached, or is stopping."""


class DeadlineExceeded(ArmatureError, TimeoutError):
    """The deadline of a call that changes nothing has passed."""


class Cancelled(ArmatureError):
    """The call or watch was cancelled by this program."""


class InternalError(ArmatureError):
    """A fault of the daemon."""


class OutcomeUnknown(ArmatureError):
    """A write may have been applied or not.

    Its answer was lost or did not arrive in time, and the write was not repeated, because a second execution might do
    harm, or because no time was left. `__cause__` is the error of the last attempt. A read tells the outcome.
    """


@dataclass(frozen=True)
class FailedWrite:
    """A write that a batch writer has given up. item: of a put; key: of a delete; the other one is None."""

    table: str
    item: Optional[Dict[str, Any]]
    key: Optional[Dict[str, Any]]
    error: ArmatureError


class BatchFailed(ArmatureError):
    """Some writes of a batch writer are not done. `failed` has each of them; all others are done."""

    def __init__(self, failed: List[FailedWrite]) -> None:
        super().__init__(f"{len(failed)} writes failed; the first one: {failed[0].error}")
        self.failed = failed


_CLASSES: Dict[str, Type[ArmatureError]] = {
    "ConditionalCheckFailedException": ConditionFailed,
    "TransactionCanceledException": TransactionCancelled,
    "TransactionConflictException": TransactionConflict,
    "TransactionInProgressException": TransactionConflict,
    "IdempotentParameterMismatchException": TokenReused,
    "DuplicateItemException": DuplicateItem,
    "LimitExceededException": LimitExceeded,
    "ItemCollectionSizeLimitExceededException": LimitExceeded,
    "TrimmedDataAccessException": ChangesTrimmed,
    "ExpiredIteratorException": ArmatureError,
}

_CLASSES_BY_CODE: Dict[grpc.StatusCode, Type[ArmatureError]] = {
    grpc.StatusCode.INVALID_ARGUMENT: ValidationError,
    grpc.StatusCode.NOT_FOUND: NotFound,
    grpc.StatusCode.FAILED_PRECONDITION: ResourceInUse,
    grpc.StatusCode.ALREADY_EXISTS: ResourceInUse,
    grpc.StatusCode.RESOURCE_EXHAUSTED: Throttled,
    grpc.StatusCode.UNAUTHENTICATED: Unauthenticated,
    grpc.StatusCode.PERMISSION_DENIED: AccessDenied,
    grpc.StatusCode.UNIMPLEMENTED: Unsupported,
    grpc.StatusCode.UNAVAILABLE: Unavailable,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineExceeded,
    grpc.StatusCode.CANCELLED: Cancelled,
    grpc.StatusCode.INTERNAL: InternalError,
    grpc.StatusCode.UNKNOWN: InternalError,
    grpc.StatusCode.DATA_LOSS: InternalError,
}

_ERROR_DETAIL: Any = errors_pb2.ErrorDetail.DESCRIPTOR

_CODES = {code.value[0]: code for code in grpc.StatusCode}


def _delay_of(retry_info: bytes) -> float:
    """Seconds of a serialised google.rpc.RetryInfo: field 1 is a Duration. 0 if it is not readable."""
    if len(retry_info) < 2 or retry_info[0] != 0x0A or retry_info[1] != len(retry_info) - 2:
        return 0.0
    try:
        delay = Duration.FromString(retry_info[2:])
    except DecodeError:
        return 0.0
    return max(0.0, float(delay.seconds) + float(delay.nanos) / 1e9)


def _read_details(
    status: errors_pb2.RpcStatus,
    code: grpc.StatusCode,
    message: str,
    exception: str = "",
    request_id: str = "",
) -> ArmatureError:
    detail: Optional[errors_pb2.ErrorDetail] = None
    retry_after = 0.0
    for packed in status.details:
        if packed.Is(_ERROR_DETAIL):
            detail = errors_pb2.ErrorDetail()
            try:
                packed.Unpack(detail)
            except DecodeError:
                detail = None
        elif packed.type_url.endswith("/" + _RETRY_INFO):
            retry_after = _delay_of(packed.value)
    if detail is not None:
        exception = detail.exception
        message = detail.message or message
        retry_after = max(retry_after, detail.retry_after_ms / 1000)
        request_id = detail.request_id or request_id
    kind = _CLASSES.get(exception) or _CLASSES_BY_CODE.get(code, ArmatureError)
    never_sent = code is grpc.StatusCode.UNAVAILABLE and not exception and message.startswith(_NEVER_SENT)
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED and not exception:
        # A limit of gRPC on sizes; a request above it does not reach the daemon's operations.
        kind = LimitExceeded
        never_sent = "larger than max" in message and not message.startswith("CLIENT: Received")
    return kind(
        message,
        exception=exception,
        code=code,
        detail=detail,
        retry_after=retry_after,
        request_id=request_id,
        never_sent=never_sent,
    )


def of_operation(error: ArmatureError, operation: str) -> ArmatureError:
    """The error, which knows then what it means for this operation, such as "PutItem"."""
    error._applied_in_part = operation == _BATCH and error.exception == _COLLECTION_FULL
    return error


def from_rpc(error: Any) -> ArmatureError:
    """The error of a call that failed with a grpc.RpcError of the synchronous or the asyncio library."""
    trailers = {name: value for name, value in (error.trailing_metadata() or ())}
    status = errors_pb2.RpcStatus()
    details = trailers.get(_DETAILS_TRAILER)
    if isinstance(details, bytes):
        try:
            status.ParseFromString(details)
        except DecodeError:
            status.Clear()
    return _read_details(
        status,
        error.code(),
        error.details() or "",
        str(trailers.get(_EXCEPTION_TRAILER, "")),
        str(trailers.get(_REQUEST_ID_TRAILER, "")),
    )


def of_connection(error: ArmatureError, reason: str, is_lasting: bool) -> ArmatureError:
    """The error, with the reason why there is no connection. is_lasting: a repeat would fail in the same way."""
    error.message = reason
    error._is_lasting = is_lasting
    return error


def from_status(status: errors_pb2.RpcStatus) -> ArmatureError:
    """The error of an operation of a pipeline."""
    return _read_details(status, _CODES.get(status.code, grpc.StatusCode.UNKNOWN), status.message)
