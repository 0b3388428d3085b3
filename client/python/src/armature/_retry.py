"""Decisions about repeated calls, for the synchronous and the asyncio client alike."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, Optional

import grpc

from ._methods import Method, is_idempotent, is_read
from .errors import ArmatureError, OutcomeUnknown, TransactionCancelled

_THROTTLINGS = frozenset(["ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"])
_CONFLICTS = frozenset(["TransactionConflictException", "TransactionInProgressException"])
_PASSING_REASONS = frozenset(["None", "TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError"])


@dataclass(frozen=True)
class Retry:
    """When failed calls are repeated.

    attempts: with the first one. initial, maximum: bounds in seconds of the pause, which doubles with each attempt and
    is shortened at random by up to one half, so that clients that failed together do not return together. The pause
    that the daemon advises comes before it.
    """

    attempts: int = 20
    initial: float = 0.025
    maximum: float = 2.0

    def pause_after(self, attempts: int) -> float:
        """Seconds to wait after so many attempts."""
        full = min(self.maximum, self.initial * 2.0 ** min(attempts - 1, 30))
        return full * random.uniform(0.5, 1.0)


NO_RETRIES = Retry(attempts=1)


def is_transient(error: ArmatureError) -> bool:
    """True for errors that may pass with time: no connection, throttling, conflicts of transactions."""
    if error.code is grpc.StatusCode.UNAVAILABLE:
        return not error._is_lasting
    if error.exception in _THROTTLINGS or error.exception in _CONFLICTS:
        return True
    if isinstance(error, TransactionCancelled):
        reasons = error.reasons
        return bool(reasons) and all(reason.code in _PASSING_REASONS for reason in reasons)
    return False


class Attempts:
    """The attempts of one call."""

    def __init__(self, method: Method, request: Any, retry: Retry, assume_idempotent: bool) -> None:
        self._method = method
        self._request = request
        self._retry = retry
        self._assume_idempotent = assume_idempotent
        self._maybe_applied = False
        self.made = 0

    def pause_after(self, error: ArmatureError, time_left: float) -> float:
        """Seconds until the next attempt. Raises the error of the call if there is none."""
        self.made += 1
        self._maybe_applied = self._maybe_applied or not error.certainly_not_applied
        if self.made < self._retry.attempts and is_transient(error):
            if error.certainly_not_applied or self._may_repeat():
                # All clients get the same advice, and should not come back together.
                pause = error.retry_after + self._retry.pause_after(self.made)
                if pause < time_left:
                    return pause
        raise self.final(error)

    def _may_repeat(self) -> bool:
        return self._assume_idempotent or is_idempotent(self._method, self._request)

    def final(self, error: ArmatureError) -> ArmatureError:
        """The error of the call, after its last attempt."""
        if not self._maybe_applied or is_read(self._method, self._request):
            return error
        unknown = OutcomeUnknown(
            f"{self._method.name} may have been applied or not: {error}",
            code=error.code,
            request_id=error.request_id,
            retry_after=error.retry_after,
        )
        unknown.__cause__ = error
        return unknown


def time_of(timeout: Optional[float], default: float) -> float:
    """The timeout of a call in seconds. Errors: ValueError unless it is positive."""
    seconds = default if timeout is None else timeout
    if not isinstance(seconds, (int, float)) or not seconds > 0:
        raise ValueError("a timeout is a positive number of seconds")
    return seconds
