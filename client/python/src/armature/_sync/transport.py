"""Connections of the synchronous client."""

from __future__ import annotations

import threading
from typing import Any, Callable, Dict, Iterator, Optional

import grpc

from .._hints import Schemas
from .._methods import Method
from .._settings import Settings


class Transport:
    """Channels to the addresses of a daemon; the calls use one of them until it cannot be reached. Thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.schemas = Schemas()
        self._lock = threading.Lock()
        self._channels: Dict[int, grpc.Channel] = {}
        self._calls: Dict[str, Callable[..., Any]] = {}
        self.current = 0  # number of the address in use
        self.is_closed = False

    def unary(self, method: Method, request: Any, timeout: float) -> Any:
        """Makes one attempt of a call."""
        call = self._calls.get(method.path) or self._make_call(method)
        return call(request, timeout=timeout, metadata=self.settings.metadata)

    def leave(self, address: int) -> None:
        """The address of this number cannot be reached: the next calls use another one."""
        if len(self.settings.addresses) > 1:
            with self._lock:
                if self.current == address:
                    self.current = (address + 1) % len(self.settings.addresses)
                    self._calls = {}

    def _make_call(self, method: Method) -> Callable[..., Any]:
        with self._lock:
            call: Callable[..., Any] = self._channel().unary_unary(
                method.path,
                request_serializer=method.request_class.SerializeToString,
                response_deserializer=method.response_class.FromString,
            )
            self._calls[method.path] = call
            return call

    def _channel(self) -> grpc.Channel:
        if self.is_closed:
            raise ValueError("the client is closed")
        channel = self._channels.get(self.current)
        if channel is None:
            settings = self.settings
            address = settings.addresses[self.current]
            if settings.credentials is None:
                channel = grpc.insecure_channel(address, options=settings.channel_options)
            else:
                channel = grpc.secure_channel(address, settings.credentials, options=settings.channel_options)
            if settings.interceptors:
                channel = grpc.intercept_channel(channel, *settings.interceptors)
            self._channels[self.current] = channel
        return channel

    def responses(self, method: Method, request: Any) -> "ResponseStream":
        """Starts a call with a stream of responses."""
        with self._lock:
            call = self._channel().unary_stream(
                method.path,
                request_serializer=method.request_class.SerializeToString,
                response_deserializer=method.response_class.FromString,
            )
        return ResponseStream(call(request, metadata=self.settings.metadata))

    def duplex(self, method: Method, requests: Iterator[Any], timeout: Optional[float]) -> Any:
        """Starts a call with streams in both directions."""
        with self._lock:
            call = self._channel().stream_stream(
                method.path,
                request_serializer=method.request_class.SerializeToString,
                response_deserializer=method.response_class.FromString,
            )
        return call(requests, timeout=timeout, metadata=self.settings.metadata)

    def close(self) -> None:
        """Ends all calls and closes the connections."""
        with self._lock:
            self.is_closed = True
            channels = list(self._channels.values())
            self._channels = {}
            self._calls = {}
        for channel in channels:
            channel.close()


class ResponseStream:
    """The responses of one call."""

    def __init__(self, call: Any) -> None:
        self._call = call
        self._timed_out = False

    def read(self, timeout: float) -> Any:
        """The next response; None at the end. Raises TimeoutError, and grpc.RpcError for a failed call."""
        timer = threading.Timer(timeout, self._time_out)
        timer.daemon = True
        timer.start()
        try:
            return next(self._call)
        except StopIteration:
            return None
        except grpc.RpcError:
            if self._timed_out:
                raise TimeoutError() from None
            raise
        finally:
            timer.cancel()

    def _time_out(self) -> None:
        self._timed_out = True
        self._call.cancel()

    def cancel(self) -> None:
        """Ends the call."""
        self._call.cancel()
