"""A gRPC connection frame by frame, for clients that break off, stall, or never read."""

import select
import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1
INITIAL_WINDOW_SIZE = 4
FRAME_BYTES_MAX = 16384
WINDOW_MAX = (1 << 31) - 1
TIMEOUT_S = 60
# A server that takes no more within this time takes no more at all.
STALL_S = 1


def field(number, payload):
    """A length-delimited protobuf field."""
    head = bytes([number << 3 | 2])
    length = len(payload)
    while length > 127:
        head += bytes([length & 127 | 128])
        length >>= 7
    return head + bytes([length]) + payload


def text_item(**attributes):
    """An Item of string attributes."""
    return b"".join(field(1, field(1, name.encode()) + field(2, field(1, value.encode())))
                    for name, value in attributes.items())


def message(payload):
    return struct.pack(">BI", 0, len(payload)) + payload


class RawGrpcClient:
    """Sends and receives frames. A stream is a number. `window`: bytes of answers that the server may send to a stream."""

    def __init__(self, address, window=65535, receive_bytes=None, connect=None):
        """`connect`: makes the connection, in place of a usual one."""
        host, port = address.rsplit(":", 1)
        if connect is not None:
            self.socket = connect(address)
            self.socket.settimeout(TIMEOUT_S)
        else:
            self.socket = socket.socket()
            if receive_bytes is not None:
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
            self.socket.settimeout(TIMEOUT_S)
            self.socket.connect((host, int(port)))
        self.address = address
        self.next_stream = 1
        self.unread = b""
        self.socket.sendall(PREFACE + self.frame(SETTINGS, 0, 0, struct.pack(">HI", INITIAL_WINDOW_SIZE, window)) +
                            self.frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", WINDOW_MAX - 65535)))

    @staticmethod
    def frame(kind, flags, stream, payload=b""):
        return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload

    def headers(self, method, *more):
        """A frame that begins a call, and its stream. `method`: /package.Service/Method. `more`: names with values."""
        stream = self.next_stream
        self.next_stream += 2
        block = b""
        for name, value in ((":method", "POST"), (":scheme", "http"), (":path", method), (":authority", self.address),
                            ("te", "trailers"), ("content-type", "application/grpc"), *more):
            block += b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()
        return self.frame(HEADERS, END_HEADERS, stream, block), stream

    def call_frames(self, method, request):
        """The frames of a whole call with a small request, and its stream."""
        head, stream = self.headers(method)
        return head + self.frame(DATA, END_STREAM, stream, message(request)), stream

    def read_frame(self):
        """Kind, flags, stream and payload; None at the end of the connection."""
        try:
            while len(self.unread) < 9 or len(self.unread) < 9 + int.from_bytes(self.unread[:3], "big"):
                received = self.socket.recv(1 << 16)
                if not received:
                    return None
                self.unread += received
        except ConnectionResetError:
            return None
        size = int.from_bytes(self.unread[:3], "big")
        head, payload, self.unread = self.unread[:9], self.unread[9:9 + size], self.unread[9 + size:]
        kind, flags, stream = head[3], head[4], struct.unpack(">I", head[5:])[0] & WINDOW_MAX
        if kind in (SETTINGS, PING) and not flags & ACK:
            self.socket.sendall(self.frame(kind, ACK, 0, payload if kind == PING else b""))
        return kind, flags, stream, payload

    def answer(self, stream):
        """The bytes of the stream's answer: a message if the call succeeded. None if the connection ended."""
        received = b""
        while True:
            frame = self.read_frame()
            if frame is None:
                return None
            kind, flags, of, payload = frame
            if of == stream and kind == DATA:
                received += payload
            if of == stream and (flags & END_STREAM and kind in (DATA, HEADERS) or kind == RST_STREAM):
                return received

    def end_of(self, stream):
        """The trailers of the stream, as they are on the wire. None if the connection ended."""
        while True:
            frame = self.read_frame()
            if frame is None:
                return None
            kind, flags, of, payload = frame
            if of == stream and kind == HEADERS and flags & END_STREAM:
                return payload

    def answers(self, streams):
        """The bytes of the answers by stream, read as they come."""
        received = dict.fromkeys(streams, b"")
        missing = set(streams)
        while missing:
            frame = self.read_frame()
            if frame is None:
                break
            kind, flags, of, payload = frame
            if kind == DATA:
                received[of] += payload
            if kind == RST_STREAM or flags & END_STREAM and kind in (DATA, HEADERS):
                missing.discard(of)
        return received

    def call(self, method, request):
        frames, stream = self.call_frames(method, request)
        self.socket.sendall(frames)
        return self.answer(stream)

    def is_closed(self, timeout_s):
        """True if the server closes the connection within this time."""
        self.socket.settimeout(timeout_s)
        try:
            while self.read_frame() is not None:
                pass
        except TimeoutError:
            return False
        except OSError:
            pass
        return True

    def send_unfinished(self, method, count, size, stall_s=STALL_S):
        """Begins `count` calls with requests of `size` bytes and sends all of them but the last byte, as far as the server
        takes it within `stall_s`. Returns the number of bytes sent."""
        streams = {}
        for _ in range(count):
            head, stream = self.headers(method)
            self.socket.sendall(head)
            streams[stream] = size + len(message(b"")) - 1
        stream_windows = dict.fromkeys(streams, 65535)
        window = 65535
        sent = 0
        head = struct.pack(">BI", 0, size)
        started = set()
        self.socket.settimeout(stall_s)
        while streams:
            stream = max(streams, key=lambda each: min(stream_windows[each], streams[each]))
            part = min(FRAME_BYTES_MAX, window, stream_windows[stream], streams[stream])
            if part > 0:
                body = (b"" if stream in started else head) + bytes(part)
                started.add(stream)
                try:
                    self.socket.sendall(self.frame(DATA, 0, stream, body[:part]))
                except OSError:
                    return sent
                sent += part
                window -= part
                stream_windows[stream] -= part
                streams[stream] -= part
                if streams[stream] == 0:
                    del streams[stream]
                if not select.select([self.socket], [], [], 0)[0] and not self.unread:
                    continue
            try:
                frame = self.read_frame()
            except OSError:
                return sent
            if frame is None:
                return sent
            kind, flags, of, payload = frame
            if kind == WINDOW_UPDATE:
                amount = struct.unpack(">I", payload)[0]
                if of == 0:
                    window += amount
                elif of in stream_windows:
                    stream_windows[of] += amount
            elif kind == RST_STREAM or (kind == HEADERS and flags & END_STREAM):
                streams.pop(of, None)
            elif kind == GOAWAY:
                return sent
        return sent

    def close(self):
        self.socket.close()
