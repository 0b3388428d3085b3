"""Observation of calls: an interface, and its implementation by OpenTelemetry.

    client = armature.connect(target, observer=armature.telemetry.OpenTelemetry())

makes a span and a duration for each operation, with all its attempts, by the semantic conventions for databases. The
package `opentelemetry-api` must be installed: `pip install armature-db[opentelemetry]`. To continue traces in the headers
of calls, call `instrument()` of GrpcInstrumentorClient, or for asyncio of GrpcAioInstrumentorClient, of the package
`opentelemetry-instrumentation-grpc` before `connect`.
"""

from __future__ import annotations

import time
from typing import Any, ContextManager, Iterator, Optional

from contextlib import contextmanager

from .errors import ArmatureError


class ObservedCall:
    """One call in progress."""

    def retried(self, error: ArmatureError) -> None:
        """An attempt has failed with the error; another one follows."""


class Observer:
    """Is told of each call. Subclasses wrap it in a context, which sees the error of the call."""

    def call(self, operation: str, table: str) -> ContextManager[ObservedCall]:
        """Context of a call. operation: such as "PutItem". table: empty for an operation on several or none."""
        raise NotImplementedError


def table_of(request: Any) -> str:
    """The table of a request; empty if it names several or none."""
    table = getattr(request, "table_name", "")
    return table if isinstance(table, str) else ""


class _Span(ObservedCall):
    def __init__(self, span: Any) -> None:
        self._span = span
        self.retries = 0

    def retried(self, error: ArmatureError) -> None:
        self.retries += 1
        self._span.add_event("retry", {"error.type": error.exception or type(error).__name__})


class OpenTelemetry(Observer):
    """Spans `PutItem users` and the metric `db.client.operation.duration`, of the given or the global providers."""

    def __init__(self, tracer_provider: Optional[Any] = None, meter_provider: Optional[Any] = None) -> None:
        from opentelemetry import metrics, trace

        self._kind = trace.SpanKind.CLIENT
        self._error_status = trace.StatusCode.ERROR
        self._tracer = trace.get_tracer("armature", tracer_provider=tracer_provider)
        meter = metrics.get_meter("armature", meter_provider=meter_provider)
        self._duration = meter.create_histogram(
            "db.client.operation.duration", unit="s", description="Duration of operations, with all attempts"
        )

    @contextmanager
    def call(self, operation: str, table: str) -> Iterator[ObservedCall]:
        attributes = {"db.system.name": "armature", "db.operation.name": operation}
        if table:
            attributes["db.collection.name"] = table
        start = time.perf_counter()
        name = f"{operation} {table}".rstrip()
        with self._tracer.start_as_current_span(
            name, kind=self._kind, attributes=attributes, set_status_on_exception=False
        ) as span:
            observed = _Span(span)
            try:
                yield observed
            except ArmatureError as error:
                attributes["error.type"] = error.exception or type(error).__name__
                span.set_attribute("error.type", attributes["error.type"])
                span.set_status(self._error_status, error.message)
                raise
            finally:
                if observed.retries:
                    span.set_attribute("db.operation.retries", observed.retries)
                self._duration.record(time.perf_counter() - start, attributes)
