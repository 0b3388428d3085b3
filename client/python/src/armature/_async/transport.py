"""Connections of the asyncio client."""

from __future__ import annotations

import asyncio
from typing import Any, Callable, Dict, Optional

import grpc
import grpc.aio

from .._hints import Schemas
from .._methods import Method
from .._settings import Settings


def _is_cancelled_by_program() -> bool:
    """False also before Python 3.11, which does not tell."""
    task: Any = asyncio.current_task()
    return bool(task.cancelling()) if hasattr(task, "cancelling") else False


class Transport:
    """Channels to the addresses of a daemon; the calls use one of them until it cannot be reached.

    The first call makes the channels, so that they belong to the running event loop.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.schemas = Schemas()
        self._channels: Dict[int, grpc.aio.Channel] = {}
        self._calls: Dict[str, Callable[..., Any]] = {}
        self.current = 0  # number of the address in use
        self.is_closed = False

    async def unary(self, method: Method, request: Any, timeout: float) -> Any:
        """Makes one attempt of a call."""
        call = self._calls.get(method.path) or self._make_call(method)
        try:
            return await call(request, timeout=timeout, metadata=self.settings.metadata)
        except asyncio.CancelledError:
            # A channel that is closed ends its calls in this way, too.
            if self.is_closed and not _is_cancelled_by_program():
                nothing = grpc.aio.Metadata()
                raise grpc.aio.AioRpcError(
                    grpc.StatusCode.CANCELLED, nothing, nothing, "the client was closed"
                ) from None
            raise

    def leave(self, address: int) -> None:
        """The address of this number cannot be reached: the next calls use another one."""
        if len(self.settings.addresses) > 1 and self.current == address:
            self.current = (address + 1) % len(self.settings.addresses)
            self._calls = {}

    def _make_call(self, method: Method) -> Callable[..., Any]:
        call: Callable[..., Any] = self._channel().unary_unary(
            method.path,
            request_serializer=method.request_class.SerializeToString,
            response_deserializer=method.response_class.FromString,
        )
        self._calls[method.path] = call
        return call

    def _channel(self) -> grpc.aio.Channel:
        if self.is_closed:
            raise ValueError("the client is closed")
        channel = self._channels.get(self.current)
        if channel is None:
            settings = self.settings
            address = settings.addresses[self.current]
            options = settings.channel_options
            interceptors = list(settings.interceptors) or None
            if settings.credentials is None:
                channel = grpc.aio.insecure_channel(address, options=options, interceptors=interceptors)
            else:
                channel = grpc.aio.secure_channel(
                    address, settings.credentials, options=options, interceptors=interceptors
                )
            self._channels[self.current] = channel
        return channel

    def responses(self, method: Method, request: Any) -> "ResponseStream":
        """Starts a call with a stream of responses."""
        call = self._channel().unary_stream(
            method.path,
            request_serializer=method.request_class.SerializeToString,
            response_deserializer=method.response_class.FromString,
        )
        return ResponseStream(call(request, metadata=self.settings.metadata))

    def duplex(self, method: Method, timeout: Optional[float]) -> Any:
        """Starts a call with streams in both directions."""
        call = self._channel().stream_stream(
            method.path,
            request_serializer=method.request_class.SerializeToString,
            response_deserializer=method.response_class.FromString,
        )
        return call(timeout=timeout, metadata=self.settings.metadata)

    async def close(self) -> None:
        """Ends all calls and closes the connections."""
        self.is_closed = True
        channels = list(self._channels.values())
        self._channels = {}
        self._calls = {}
        for channel in channels:
            await channel.close()


class ResponseStream:
    """The responses of one call."""

    def __init__(self, call: Any) -> None:
        self._call = call
        self._pending: Optional["asyncio.Future[Any]"] = None

    async def read(self, timeout: float) -> Any:
        """The next response; None at the end. Raises TimeoutError, and grpc.RpcError for a failed call.

        A read that is cancelled by its program leaves the call as it is: the next one gets the response.
        """
        if self._pending is None:
            self._pending = asyncio.ensure_future(self._call.read())
        pending = self._pending
        done, _ = await asyncio.wait({pending}, timeout=timeout)
        if not done:
            self.cancel()
            raise TimeoutError()
        self._pending = None
        if pending.cancelled():
            return None
        response = pending.result()
        return None if response is grpc.aio.EOF else response

    def cancel(self) -> None:
        """Ends the call."""
        if self._pending is not None:
            self._pending.cancel()
            self._pending = None
        self._call.cancel()
