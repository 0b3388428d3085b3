#!/usr/bin/python3
"""Attacks on HTTP/2 and on the calls of gRPC: meanwhile another client is served without a single failure, memory stays
within its limits, and all of it comes back."""

import contextlib
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from hostile_front import (  # noqa: E402
    GET_ITEM, GET_REQUEST, FrontTest, RawJson, connected, run_attacks, send_what_fits, wait_until)
from raw_grpc_client import (  # noqa: E402
    ACK, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, INITIAL_WINDOW_SIZE, PING, RST_STREAM, SETTINGS,
    WINDOW_MAX, WINDOW_UPDATE, RawGrpcClient, field, message, text_item)

ITEMS = "/armature.api.v1.ItemService/"
REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
WATCH = "/grpc.health.v1.Health/Watch"
PRIORITY, CONTINUATION, PADDED = 2, 9, 8
HEADER_TABLE_SIZE = 1
CANCEL = struct.pack(">I", 8)
ENHANCE_YOUR_CALM = 11


def setting(name, value):
    return struct.pack(">HI", name, value)


def settings_frame(*entries):
    return RawGrpcClient.frame(SETTINGS, 0, 0, b"".join(entries))


def goaway_code(client):
    """The code with which the daemon ends the connection; None if it says nothing."""
    while True:
        # The daemon may take no answers to its settings any more.
        with contextlib.suppress(ConnectionError):
            frame = client.read_frame()
            if frame is None:
                return None
            if frame[0] == GOAWAY:
                return struct.unpack(">I", frame[3][4:8])[0]


class Http2(FrontTest):
    def test_windows_that_open_and_close(self):
        with self.attacked(has_large=True) as (daemon, bystander, stack):
            clients = [self.grpc(daemon, stack, window=0, receive_bytes=4096) for _ in range(10)]
            request = field(1, b"Items") + field(2, text_item(id="large-0"))
            frames = settings_frame(setting(INITIAL_WINDOW_SIZE, WINDOW_MAX)) + settings_frame(
                *[setting(INITIAL_WINDOW_SIZE, value) for value in (0, WINDOW_MAX) * 15 + (0,)])
            for client in clients:
                client.socket.sendall(b"".join(client.call_frames(GET_ITEM, request)[0] for _ in range(100)))
            for _ in range(20):
                for client in clients:
                    send_what_fits(client.socket, frames * 20)
            self.assertTrue(bystander.is_served())

    def test_tables_of_headers_that_come_and_go(self):
        sizes = settings_frame(setting(HEADER_TABLE_SIZE, 0)) + settings_frame(setting(HEADER_TABLE_SIZE, 1 << 31),
                                                                               setting(HEADER_TABLE_SIZE, 4096))
        with self.attacked() as (daemon, _, stack):
            client = self.grpc(daemon, stack)
            for _ in range(500):
                frames, stream = client.call_frames(GET_ITEM, GET_REQUEST)
                client.socket.sendall(sizes + frames + sizes)
                self.assertTrue(client.answer(stream))

    def test_settings_that_let_one_byte_of_each_answer_go(self):
        with self.attacked(has_large=True) as (daemon, _, stack):
            client = self.grpc(daemon, stack, window=0)
            request = field(1, b"Items") + field(2, text_item(id="large-0"))
            client.socket.sendall(b"".join(client.call_frames(GET_ITEM, request)[0] for _ in range(50)))
            received, window, windows_max = 0, 0, 100_000
            with contextlib.suppress(OSError):
                # A client that gets no processor for a while is no flood until it goes on.
                while window < windows_max:
                    client.socket.sendall(b"".join(settings_frame(setting(INITIAL_WINDOW_SIZE, window + more))
                                                   for more in range(1, 101)))
                    window += 100
                    while (frame := client.read_frame()) is not None and frame[:2] != (SETTINGS, ACK):
                        received += frame[0] == DATA
                    if frame is None:
                        break
            self.assertLess(window, windows_max)
            self.assertEqual(daemon.broken("flooding"), 1)

    def test_messages_that_are_announced_only(self):
        begun = struct.pack(">BI", 0, 16 << 20) + b"x"
        with self.attacked() as (daemon, bystander, stack):
            for method in (ITEMS + "PutItem", ITEMS + "Pipeline") * 3:
                client = self.grpc(daemon, stack)
                for _ in range(100):
                    head, stream = client.headers(method)
                    client.socket.sendall(head + client.frame(DATA, 0, stream, begun))
                self.assertTrue(bystander.is_served(5))
            # They keep no memory from others.
            item = {"id": {"S": "b"}, "text": {"S": "x" * 300_000}}
            self.assertEqual(daemon.json_call("PutItem", TableName="Items", Item=item), (200, {}))

    def test_messages_in_padded_frames_of_one_byte(self):
        data = message(field(1, b"Items") + field(2, text_item(id="b", text="x" * 1500)))
        with self.attacked() as (daemon, _, stack):
            for _ in range(5):
                client = self.grpc(daemon, stack)
                head, stream = client.headers(ITEMS + "PutItem")
                client.socket.sendall(head)
                window = 65535
                for i in range(len(data)):
                    frame = b"\xff" + data[i:i + 1] + bytes(255)
                    while window < len(frame):
                        kind, _, of, payload = client.read_frame()
                        window += struct.unpack(">I", payload)[0] if kind == WINDOW_UPDATE and of == stream else 0
                    window -= len(frame)
                    flags = PADDED | (END_STREAM if i + 1 == len(data) else 0)
                    client.socket.sendall(client.frame(DATA, flags, stream, frame))
                self.assertIsNotNone(client.end_of(stream))
            self.assertEqual(daemon.json_call("GetItem", TableName="Items", Key={"id": {"S": "b"}})[1]["Item"]["text"],
                             {"S": "x" * 1500})
            self.assertEqual(daemon.broken("flooding"), 0)

    def test_pings_behind_answers_that_nobody_reads(self):
        with self.attacked(has_large=True) as (daemon, bystander, stack):
            request = field(1, b"Items") + field(2, text_item(id="large-0"))
            for _ in range(10):
                client = self.grpc(daemon, stack, window=WINDOW_MAX, receive_bytes=4096)
                client.socket.sendall(b"".join(client.call_frames(GET_ITEM, request)[0] for _ in range(50)))
                send_what_fits(client.socket, client.frame(PING, 0, 0, bytes(8)) * 100_000)
            self.assertTrue(bystander.is_served())

    def test_trailers_of_requests(self):
        trailer = b"\0\x09x-trailer\x64" + b"t" * 100
        with self.attacked() as (daemon, _, stack):
            client = self.grpc(daemon, stack)
            for count, is_answered in ((1, True), (100, True), (140, True), (3000, False)):
                for _ in range(20):
                    head, stream = client.headers(GET_ITEM)
                    block = trailer * count
                    frames = head + client.frame(DATA, 0, stream, message(GET_REQUEST))
                    parts = [block[i:i + 16384] for i in range(0, len(block), 16384)]
                    for number, part in enumerate(parts):
                        flags = END_HEADERS if number + 1 == len(parts) else 0
                        kind = CONTINUATION if number else HEADERS
                        frames += client.frame(kind, flags | (0 if number else END_STREAM), stream, part)
                    with contextlib.suppress(OSError):
                        client.socket.sendall(frames)
                    if not is_answered:
                        self.assertEqual(goaway_code(client), ENHANCE_YOUR_CALM)
                        break
                    self.assertTrue(client.answer(stream), count)
            self.assertEqual(daemon.broken("heads"), 1)

    def test_crumbs_of_cookies_by_reference(self):
        with self.attacked() as (daemon, _, stack):
            clients = [self.grpc(daemon, stack) for _ in range(10)]
            for client in clients:
                head, stream = client.headers(GET_ITEM)
                # One crumb of 3,000 bytes enters the table; each further one is one byte.
                crumb = b"\x40\x06cookie\x7f\xb9\x16" + b"c" * 3000
                block = head[9:] + crumb + b"\xbe" * 3
                client.socket.sendall(client.frame(HEADERS, END_HEADERS, stream, block) +
                                      client.frame(DATA, END_STREAM, stream, message(GET_REQUEST)))
                self.assertTrue(client.answer(stream))
                # Open streams, with 16 KB of headers each.
                for _ in range(99):
                    head, stream = client.headers(GET_ITEM)
                    client.socket.sendall(client.frame(HEADERS, END_HEADERS, stream, head[9:] + b"\xbe" * 4))
            for client in clients:
                head, stream = client.headers(GET_ITEM)
                client.socket.sendall(client.frame(HEADERS, END_HEADERS, stream, head[9:] + b"\xbe" * 100))
                self.assertEqual(goaway_code(client), ENHANCE_YOUR_CALM)
            self.assertEqual(daemon.broken("heads"), 10)

    def test_both_protocols_on_one_connection(self):
        with self.attacked(has_large=True) as (daemon, _, stack):
            for address in (daemon.http, daemon.grpc):
                client = stack.enter_context(contextlib.closing(RawJson(address, window=1 << 20)))
                for _ in range(10):
                    streams = []
                    for _ in range(10):
                        for key in ("a", "large-0"):
                            frames, stream = client.call_frames(GET_ITEM, field(1, b"Items") + field(2, text_item(id=key)))
                            streams.append(stream)
                            json, stream = client.json_frames("GetItem", {"TableName": "Items", "Key": {"id": {"S": key}}})
                            streams.append(stream)
                            client.socket.sendall(frames + json)
                    for number, answer in enumerate(client.answers(streams).values()):
                        self.assertEqual(answer[:1], b"{" if number % 2 else b"\0")
                        self.assertEqual(len(answer) > 300_000, number % 4 > 1)

    def test_connections_that_are_too_old(self):
        """A call that was begun before the client knew is answered, or was not begun."""
        with self.attacked("--connection_max_age=1s") as (daemon, _, stack):
            ended = 0
            while ended < 8:
                clients = [self.grpc(daemon, stack) for _ in range(4)]
                for client in clients:
                    last = None
                    while last is None:
                        frames, stream = client.call_frames(GET_ITEM, GET_REQUEST)
                        client.socket.sendall(frames)
                        while (frame := client.read_frame())[0] not in (HEADERS, RST_STREAM) or not frame[1] & END_STREAM:
                            if frame[0] == GOAWAY:
                                last = struct.unpack(">I", frame[3][:4])[0]
                                self.assertEqual(frame[3][4:8], bytes(4))
                                last = None if last == WINDOW_MAX else last
                                if last is not None:
                                    break
                    # Begun too late, or answered.
                    self.assertTrue(stream > last or frame[0] == HEADERS or client.answer(stream) is not None)
                    ended += 1


class Calls(FrontTest):
    def test_scans_that_are_cancelled_or_too_late(self):
        with self.attacked(has_large=True) as (daemon, bystander, stack):
            for _ in range(3):
                clients = [self.grpc(daemon, stack) for _ in range(4)]
                for client in clients[:2]:
                    for _ in range(400):
                        frames, stream = client.call_frames(ITEMS + "Scan", field(1, b"Items"))
                        client.socket.sendall(frames + client.frame(RST_STREAM, 0, stream, CANCEL))
                for client in clients[2:]:
                    streams = []
                    for _ in range(90):
                        head, stream = client.headers(ITEMS + "Scan", ("grpc-timeout", "1n"))
                        client.socket.sendall(head + client.frame(DATA, END_STREAM, stream, message(field(1, b"Items"))))
                        streams.append(stream)
                    self.assertEqual(set(client.answers(streams).values()), {b""})
            self.assertTrue(bystander.is_served())
            self.assertTrue(wait_until(lambda: daemon.metric("armature_requests_in_flight") <= 2))

    def test_answers_of_reflection_that_nobody_reads(self):
        """Small answers take more memory than their bytes."""
        requests = {"nothing": b"", "an unknown symbol": field(4, b"a"), "all services": field(7, b"")}
        with self.attacked() as (daemon, bystander, stack):
            for request in requests.values():
                many = message(request) * (16_000 // len(message(request)))
                for _ in range(2):
                    client = self.grpc(daemon, stack, window=0, receive_bytes=4096)
                    for _ in range(100):
                        head, stream = client.headers(REFLECTION)
                        client.socket.sendall(head)
                    for _ in range(4):
                        frames = b"".join(client.frame(DATA, 0, stream, many) for stream in range(1, 201, 2))
                        send_what_fits(client.socket, frames)
                    self.assertTrue(bystander.is_served(2))

    def test_symbols_that_need_all_files(self):
        symbols = [field(4, b"armature.api.v1.ItemService"), field(3, b"armature/api/v1/items.proto"),
                   field(4, b"google.protobuf.FileDescriptorProto"), field(6, b"google.protobuf.FieldOptions")]
        with self.attacked() as (daemon, bystander, stack):
            clients = [self.grpc(daemon, stack, receive_bytes=4096) for _ in range(4)]
            for client in clients:
                frames = b""
                for _ in range(100):
                    head, stream = client.headers(REFLECTION)
                    frames += head + client.frame(DATA, 0, stream, b"".join(map(message, symbols)) * 100)
                send_what_fits(client.socket, frames)
            self.assertTrue(bystander.is_served())

    def test_watches_of_health(self):
        with self.attacked() as (daemon, _, stack):
            clients = [self.grpc(daemon, stack) for _ in range(30)]
            for client in clients:
                frames = b""
                for _ in range(100):
                    head, stream = client.headers(WATCH)
                    frames += head + client.frame(DATA, 0, stream, message(b""))
                client.socket.sendall(frames)
            for client in clients:
                received = 0
                while received < 100:
                    received += client.read_frame()[0] == DATA

    def test_clients_on_a_socket_of_the_system(self):
        with self.attacked(has_large=True, is_over_socket=True) as (daemon, bystander, stack):
            def client():
                made = self.grpc(daemon, stack, window=WINDOW_MAX, connect=connected)
                made.address = "localhost"
                return made
            request = field(1, b"Items") + field(2, text_item(id="large-0"))
            for _ in range(10):
                reading_none, flooding = client(), client()
                send_what_fits(reading_none.socket,
                               b"".join(reading_none.call_frames(GET_ITEM, request)[0] for _ in range(100)))
                send_what_fits(flooding.socket, flooding.frame(PING, 0, 0, bytes(8)) * 10_000)
                client().send_unfinished(ITEMS + "PutItem", 4, 10 << 20, stall_s=0.1)
            self.assertTrue(bystander.is_served())
            self.assertTrue(wait_until(lambda: daemon.broken("flooding") >= 10))


class Floods(FrontTest):
    """Each kind of frame, without end, on a connection of its own."""

    def floods(self, client):
        begun, stream = client.headers(ITEMS + "Pipeline")
        literal = b"".join(b"\0\x04x-%02d\x7f\xe9\x06" % number + b"v" * 1000 for number in range(15))
        bomb = begun[9:] + b"\x40\x04bomb\x7f\xbd\x1d" + b"b" * 3900
        many = begun[9:] + b"".join(b"\0\x04x%03d\x0a" % number + b"v" * 10 for number in range(900))
        frame = client.frame

        def requests(block):
            return b"".join(frame(HEADERS, END_HEADERS, number, block) for number in range(1, 9, 2))
        return {
            "empty CONTINUATION": (frame(HEADERS, 0, stream, begun[9:]), frame(CONTINUATION, 0, stream) * 1000, "heads"),
            "CONTINUATION": (frame(HEADERS, 0, stream, begun[9:]), frame(CONTINUATION, 0, stream, literal) * 10, "heads"),
            "SETTINGS": (b"", settings_frame(setting(INITIAL_WINDOW_SIZE, 65535)) * 1000, "flooding"),
            "long SETTINGS": (b"", settings_frame(*[setting(INITIAL_WINDOW_SIZE, 65535)] * 2000), "flooding"),
            "WINDOW_UPDATE": (begun, frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", 1)) * 1000, "flooding"),
            "PRIORITY": (b"", frame(PRIORITY, 0, 3, struct.pack(">IB", 0, 5)) * 1000, "flooding"),
            "unknown frames": (b"", frame(0x77, 0, 0, b"abc") * 1000, "flooding"),
            "empty DATA": (begun, frame(DATA, 0, stream) * 1000, "flooding"),
            "DATA of one byte": (begun + frame(DATA, 0, stream, b"\0\0\xff\xff\xff"), frame(DATA, 0, stream, b"a") * 1000,
                                 "flooding"),
            "a bomb of headers": (b"", requests(bomb + b"\xbe" * 12_000), "heads"),
            "900 headers": (b"", requests(many[:16_000]), None),
        }

    def test_each_of_them(self):
        with self.attacked() as (daemon, bystander, stack):
            kinds = self.floods(self.grpc(daemon, stack))
            for what, (begin, more, reason) in kinds.items():
                before = daemon.broken(reason) if reason else 0
                for reads in (True, False):
                    client = self.grpc(daemon, stack, receive_bytes=None if reads else 4096)
                    send_what_fits(client.socket, begin + more * 20)
                    if reads and reason is not None:
                        self.assertEqual(goaway_code(client), ENHANCE_YOUR_CALM, what)
                if reason is not None:
                    self.assertTrue(wait_until(lambda: daemon.broken(reason) >= before + 2), what)  # pylint: disable=W0640
            self.assertTrue(bystander.is_served())

    def test_answers_that_wait_for_a_window(self):
        request = field(1, b"Items") + field(2, text_item(id="large-0"))
        with self.attacked(has_large=True) as (daemon, bystander, stack):
            for _ in range(10):
                client = self.grpc(daemon, stack, window=0)
                client.socket.sendall(b"".join(client.call_frames(GET_ITEM, request)[0] for _ in range(100)))
            self.assertTrue(bystander.is_served())


if __name__ == "__main__":
    run_attacks(__doc__)
