#!/usr/bin/python3
"""Clients of the gRPC front that stall, flood or never read: the daemon's memory stays within its limits, and others are served."""

import argparse
import contextlib
import gzip
import json
import os
import pathlib
import resource
import socket
import struct
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from armature_daemon import Daemon  # noqa: E402
from raw_grpc_client import (  # noqa: E402
    DATA, END_STREAM, FRAME_BYTES_MAX, PING, RST_STREAM, SETTINGS, RawGrpcClient, field, message, text_item)

ITEMS = "/armature.api.v1.ItemService/"
WAIT_S = 60
REQUEST_BYTES = 16 << 20
CANCEL = b"\0\0\0\x08"
# Memory beyond the budget: arrivals between two looks at it, free memory that the allocator keeps, threads.
SLACK_MB = 200
CREDENTIALS = json.dumps({
    "access_keys": [{"id": "AKOPS", "secret": "a-secret-of-some-length", "policy": "ops"}],
    "policies": {"ops": {"allow": [{"operations": ["*"], "tables": ["*"]}], "admin": True}},
})
ARGS = None


class ServingDaemon(Daemon):
    """A daemon with the table Items, which holds the item `a`."""

    def __init__(self, *flags, descriptors=None):
        def limit():
            if descriptors is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
        super().__init__(ARGS.armatured, "--metrics_listen=127.0.0.1:0", *flags, preexec_fn=limit)

    def __enter__(self):
        super().__enter__()
        self.create_table("Items")
        self.put("a", "x")
        self.bystander = RawGrpcClient(self.grpc)
        self.ask("ListTables")
        return self

    def __exit__(self, *error):
        self.bystander.close()
        super().__exit__(*error)

    def put(self, key, text):
        status, answer = self.json_call("PutItem", TableName="Items", Item={"id": {"S": key}, "text": {"S": text}})
        if status != 200:
            raise RuntimeError(f"not put: {answer}")

    def serves(self):
        """True if another client's GetItem succeeds."""
        answer = self.bystander.call(ITEMS + "GetItem", field(1, b"Items") + field(2, text_item(id="a")))
        return bool(answer)


def cpu_seconds(daemon):
    """The time that the daemon has computed so far."""
    fields = pathlib.Path(f"/proc/{daemon.process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def bare_connections(address, count, source="127.0.0.1"):
    """Connections that send nothing."""
    host, port = address.rsplit(":", 1)
    return [socket.create_connection((host, int(port)), WAIT_S, (source, 0)) for _ in range(count)]


def is_open(connection):
    """False if the server has closed the connection."""
    connection.setblocking(False)
    try:
        return connection.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


@contextlib.contextmanager
def closing(connections):
    try:
        yield connections
    finally:
        for connection in connections:
            connection.close()


def wait_until(condition):
    for _ in range(WAIT_S * 100):
        if condition():
            return True
        # The condition concerns another process.
        with contextlib.suppress(TimeoutError):
            a, b = socket.socketpair()
            with a, b:
                a.settimeout(0.01)
                a.recv(1)
    return False


class OpenCallsTest(unittest.TestCase):
    """Each call open costs every other call time in gRPC."""

    def test_connection_may_have_100_calls(self):
        max_concurrent_streams = 3
        with ServingDaemon() as daemon, contextlib.closing(RawGrpcClient(daemon.grpc)) as client:
            kind, _, _, payload = client.read_frame()
            self.assertEqual(kind, SETTINGS)
            self.assertEqual(dict(struct.iter_unpack(">HI", payload))[max_concurrent_streams], 100)

    def test_a_client_that_ignores_it_has_no_more(self):
        refused_stream = 7
        with ServingDaemon() as daemon, contextlib.ExitStack() as stack:
            for method in (ITEMS + "GetItem", ITEMS + "Pipeline", "/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch"):
                client = stack.enter_context(contextlib.closing(RawGrpcClient(daemon.grpc)))
                # Nothing is read meanwhile, so the settings are not acknowledged.
                client.socket.sendall(b"".join(client.headers(method)[0] for _ in range(800)))
                refused = 0
                while refused < 700:
                    kind, _, _, payload = client.read_frame()
                    if kind == RST_STREAM:
                        self.assertEqual(struct.unpack(">I", payload)[0], refused_stream)
                        refused += 1
                self.assertTrue(daemon.serves())
            client = stack.enter_context(contextlib.closing(RawGrpcClient(daemon.grpc)))
            frames, stream = client.call_frames(ITEMS + "GetItem", field(1, b"Items") + field(2, text_item(id="none")))
            client.socket.sendall(frames)
            self.assertEqual(client.answer(stream), message(b""))


class IdleConnections(unittest.TestCase):
    def test_connections_beyond_the_limits_are_closed(self):
        with ServingDaemon("--connections_max=60", "--connections_per_address_max=40") as daemon, \
             closing(bare_connections(daemon.grpc, 60)) as one, \
             closing(bare_connections(daemon.grpc, 60, "127.0.0.2")) as other:
            self.assertTrue(wait_until(lambda: sum(map(is_open, one)) == 38), sum(map(is_open, one)))
            self.assertTrue(wait_until(lambda: sum(map(is_open, other)) == 20), sum(map(is_open, other)))
            self.assertTrue(daemon.serves())
            # Closed connections make room.
            for connection in other:
                connection.close()
            with closing(bare_connections(daemon.grpc, 1, "127.0.0.3")):
                pass

            def is_served():
                # A connection that the daemon resets, since it has not seen the others' end yet, is not served.
                try:
                    with contextlib.closing(RawGrpcClient(daemon.grpc)) as client:
                        return client.call(ITEMS + "GetItem", field(1, b"Items")) is not None
                except ConnectionError:
                    return False
            for connection in one:
                connection.close()
            self.assertTrue(wait_until(is_served))

    def test_the_database_keeps_descriptors(self):
        # More connections than the daemon may have descriptors.
        with ServingDaemon(descriptors=1024) as daemon, contextlib.ExitStack() as stack:
            for number in range(1, 5):
                idle = stack.enter_context(closing(bare_connections(daemon.grpc, 300, f"127.0.0.{number}")))
                self.assertTrue(wait_until(lambda: sum(map(is_open, idle)) <= 128))  # pylint: disable=W0640
            # New tables need new files.
            for number in range(3):
                self.assertEqual(daemon.ask("CreateTable", TableName=f"More{number}", BillingMode="PAY_PER_REQUEST",
                                            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                                            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}]), 200)
            for number in range(20):
                self.assertEqual(daemon.ask("PutItem", TableName="Items", Item={"id": {"S": str(number)}}), 200)
            self.assertTrue(daemon.serves())
            self.assertNotIn("Too many open files", daemon.log())


class UnfinishedRequests(unittest.TestCase):
    def flood(self, daemon):
        """Two clients send all but the last byte of 60 requests of 16 MB each."""
        with contextlib.closing(RawGrpcClient(daemon.grpc)) as one, contextlib.closing(RawGrpcClient(daemon.grpc)) as other:
            threads = [threading.Thread(target=client.send_unfinished, args=(ITEMS + "PutItem", 60, REQUEST_BYTES))
                       for client in (one, other)]
            for thread in threads:
                thread.start()
            served = 0
            while any(thread.is_alive() for thread in threads):
                self.assertTrue(daemon.serves())
                served += 1
            self.assertGreater(served, 0)

    def test_they_stay_within_the_memory(self):
        with ServingDaemon("--request_memory_mb=64") as daemon:
            before_mb = daemon.peak_mb()
            self.flood(daemon)
            self.assertLess(daemon.peak_mb() - before_mb, 64 + SLACK_MB)
            self.assertTrue(daemon.serves())

    def test_nothing_is_taken_from_strangers(self):
        with tempfile.TemporaryDirectory() as directory:
            credentials = pathlib.Path(directory) / "credentials.json"
            credentials.write_text(CREDENTIALS)
            credentials.chmod(0o600)
            with Daemon(ARGS.armatured, f"--credentials_file={credentials}", "--insecure") as daemon:
                with contextlib.closing(RawGrpcClient(daemon.grpc)) as client:
                    before_mb = daemon.peak_mb()
                    sent = client.send_unfinished(ITEMS + "PutItem", 60, REQUEST_BYTES)
                    self.assertLess(sent, 60 << 18)
                    self.assertLess(daemon.peak_mb() - before_mb, 60)


class UncountedMessages(unittest.TestCase):
    """Messages of all kinds of methods, and one that announces more than any request may have."""

    def check(self, method, count, size):
        with ServingDaemon("--request_memory_mb=64") as daemon:
            before_mb = daemon.peak_mb()
            with contextlib.closing(RawGrpcClient(daemon.grpc)) as client:
                sent = client.send_unfinished(method, count, size)
                self.assertLess(sent, count * size)
                self.assertLess(daemon.peak_mb() - before_mb, 64 + SLACK_MB, method)
                self.assertTrue(daemon.serves())

    def test_a_message_larger_than_any_request(self):
        self.check(ITEMS + "PutItem", 1, 1 << 30)

    def test_messages_of_a_pipeline(self):
        self.check(ITEMS + "Pipeline", 64, REQUEST_BYTES)

    def test_health_checks_of_strangers(self):
        self.check("/grpc.health.v1.Health/Check", 64, REQUEST_BYTES)
        self.check("/grpc.health.v1.Health/Watch", 64, REQUEST_BYTES)

    def test_exports(self):
        self.check("/armature.admin.v1.AdminService/ExportTable", 64, REQUEST_BYTES)


class CompressedMessages(unittest.TestCase):
    def test_they_are_refused_without_being_inflated(self):
        with ServingDaemon() as daemon, contextlib.closing(RawGrpcClient(daemon.grpc)) as client:
            before_mb = daemon.peak_mb()
            request = field(1, b"Items") + field(2, text_item(id="a", text=" " * (12 << 20)))
            bomb = gzip.compress(request, 9)
            frames = b""
            streams = []
            for _ in range(40):
                head, stream = client.headers(ITEMS + "PutItem", ("grpc-encoding", "gzip"))
                body = struct.pack(">BI", 1, len(bomb)) + bomb
                frames += head + client.frame(DATA, END_STREAM, stream, body)
                streams.append(stream)
            self.assertLess(len(bomb), FRAME_BYTES_MAX - 5)
            client.socket.sendall(frames)
            self.assertEqual(set(client.answers(streams).values()), {b""})
            self.assertLess(daemon.peak_mb() - before_mb, 40)
            self.assertTrue(daemon.serves())


class UnreadAnswers(unittest.TestCase):
    def test_they_stay_within_the_memory(self):
        with ServingDaemon("--request_memory_mb=64") as daemon, contextlib.ExitStack() as stack:
            for key in range(4):
                daemon.put(f"large-{key}", "x" * 300_000)
            before_mb = daemon.peak_mb()
            for _ in range(4):
                client = stack.enter_context(contextlib.closing(RawGrpcClient(daemon.grpc, receive_bytes=4096)))
                frames = b"".join(client.call_frames(ITEMS + "Scan", field(1, b"Items"))[0] for _ in range(250))
                client.socket.sendall(frames)
            for _ in range(200):
                self.assertTrue(daemon.serves())
            self.assertTrue(wait_until(lambda: daemon.metric("armature_requests_in_flight") == 0))
            self.assertLess(daemon.peak_mb() - before_mb, 64 + SLACK_MB)
            # A client that reads gets its answers again.
            reader = stack.enter_context(contextlib.closing(RawGrpcClient(daemon.grpc, window=1 << 30)))
            self.assertTrue(wait_until(lambda: len(reader.call(ITEMS + "Scan", field(1, b"Items"))) > 900_000))

    def test_a_client_that_reads_is_refused_nothing(self):
        with ServingDaemon() as daemon:
            for key in range(4):
                daemon.put(f"large-{key}", "x" * 300_000)
            with contextlib.closing(RawGrpcClient(daemon.grpc, window=1 << 30)) as client:
                # 25 at a time: a short queue is no overload of the read threads, however slow the machine is.
                for _ in range(8):
                    streams = []
                    for _ in range(25):
                        frames, stream = client.call_frames(ITEMS + "Scan", field(1, b"Items"))
                        client.socket.sendall(frames)
                        streams.append(stream)
                    self.assertGreater(min(len(answer) for answer in client.answers(streams).values()), 900_000)


class Floods(unittest.TestCase):
    # The daemon needs half a second for what is sent.
    CPU_S_MAX = 4

    def test_pings_whose_answers_nobody_reads_cost_little(self):
        with ServingDaemon() as daemon, contextlib.ExitStack() as stack:
            begun = cpu_seconds(daemon)
            for _ in range(100):
                client = stack.enter_context(contextlib.closing(RawGrpcClient(daemon.grpc, receive_bytes=4096)))
                client.socket.settimeout(0.2)
                frames = client.frame(PING, 0, 0, bytes(8)) + client.frame(SETTINGS, 0, 0)
                # Until the daemon takes no more.
                with contextlib.suppress(OSError):
                    client.socket.sendall(frames * 20_000)
            for _ in range(100):
                self.assertTrue(daemon.serves())
            self.assertLess(cpu_seconds(daemon) - begun, self.CPU_S_MAX)

    def check_broken_off(self, frames_of):
        """Sends until the daemon ends the connection, reading the answers."""
        def drain(client):
            with contextlib.suppress(OSError):
                while client.socket.recv(1 << 16):
                    pass
            # The daemon takes no more, and has no reason to say so to a client that waits until it can send.
            with contextlib.suppress(OSError):
                client.socket.shutdown(socket.SHUT_RDWR)

        with ServingDaemon() as daemon, contextlib.closing(RawGrpcClient(daemon.grpc)) as client:
            reader = threading.Thread(target=drain, args=(client,))
            reader.start()
            deadline = time.monotonic() + WAIT_S
            with self.assertRaises(OSError):
                while time.monotonic() < deadline:
                    client.socket.sendall(frames_of(client))
            reader.join()
            self.assertEqual(daemon.metric('armature_grpc_connections_broken_total{reason="flooding"}'), 1)
            self.assertTrue(daemon.serves(), "connections of the same network that do no harm go on")
            with contextlib.closing(RawGrpcClient(daemon.grpc)) as another:
                self.assertTrue(another.call(ITEMS + "GetItem", field(1, b"Items") + field(2, text_item(id="a"))))

    def test_pings_without_end_are_broken_off(self):
        self.check_broken_off(lambda client: client.frame(PING, 0, 0, bytes(8)) * 1000)

    def test_settings_without_end_are_broken_off(self):
        self.check_broken_off(lambda client: client.frame(SETTINGS, 0, 0) * 1000)

    def test_calls_that_are_reset_at_once_are_broken_off(self):
        def resets(client):
            frames = b""
            for _ in range(100):
                head, stream = client.headers(ITEMS + "GetItem")
                frames += head + client.frame(RST_STREAM, 0, stream, CANCEL)
            return frames
        self.check_broken_off(resets)

    def test_headers_without_end_are_broken_off(self):
        headers, continuation, frames = 1, 9, 50_000
        with ServingDaemon("--request_memory_mb=64") as daemon, contextlib.ExitStack() as stack:
            before_mb = daemon.peak_mb()
            client = stack.enter_context(contextlib.closing(RawGrpcClient(daemon.grpc)))
            stream = client.next_stream
            # Literal headers that are not indexed; the block never ends.
            block = (b"\0\x01a\x7f\x82\x4d" + b"x" * 9_933) * (10_000 // 9_939)
            with contextlib.suppress(OSError):
                client.socket.sendall(client.frame(headers, 0, stream, block))
                for _ in range(frames):
                    client.socket.sendall(client.frame(continuation, 0, stream, block))
            self.assertTrue(client.is_closed(WAIT_S))
            self.assertLess(daemon.peak_mb() - before_mb, 64 + SLACK_MB)
            self.assertTrue(daemon.serves())

    def test_floods_of_short_connections_are_broken_off_one_by_one(self):
        with ServingDaemon() as daemon:
            for linger_s in (None, 0):
                for reads in (True, False):
                    for _ in range(20):
                        with contextlib.suppress(OSError), contextlib.closing(RawGrpcClient(daemon.grpc)) as client:
                            if linger_s is not None:
                                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, linger_s))
                            client.socket.sendall(client.frame(PING, 0, 0, bytes(8)) * 10_000)
                            if reads:
                                client.read_frame()
                    self.assertTrue(daemon.serves())
            self.assertGreater(daemon.metric('armature_grpc_connections_broken_total{reason="flooding"}'), 20)

    def test_the_end_of_a_connection_concerns_no_other_one(self):
        """Descriptors of ended connections are used again at once."""
        with ServingDaemon() as daemon, contextlib.ExitStack() as stack:
            before = daemon.metric("armature_grpc_connections")
            clients = []
            # Fewer than a connection may cancel.
            for _ in range(100):
                ending = [RawGrpcClient(daemon.grpc) for _ in range(4)]
                for client in ending:
                    client.socket.sendall(client.headers(ITEMS + "GetItem")[0])
                    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    client.close()
                clients.append(stack.enter_context(contextlib.closing(RawGrpcClient(daemon.grpc))))
            for client in clients:
                self.assertIsNotNone(client.read_frame())
            # A connection that the start of the daemon has opened may end meanwhile.
            others = range(int(before) + 1)
            self.assertTrue(wait_until(lambda: daemon.metric("armature_grpc_connections") - len(clients) in others))

    def check_goes_on(self, daemon, clients):
        """Calls for a while."""
        end = time.monotonic() + 1
        while time.monotonic() < end:
            for client in clients:
                self.assertTrue(client.call(ITEMS + "GetItem", field(1, b"Items") + field(2, text_item(id="a"))))
        self.assertEqual(daemon.metric('armature_grpc_connections_broken_total{reason="flooding"}'), 0)

    METHODS = (ITEMS + "PutItem", ITEMS + "Pipeline", "/grpc.health.v1.Health/Check",
               "/armature.admin.v1.AdminService/ExportTable", "/armature.api.v1.StreamService/Watch")

    def test_a_request_that_is_too_large_costs_nothing_but_itself(self):
        with ServingDaemon() as daemon, contextlib.ExitStack() as stack:
            clients = []
            for method in self.METHODS:
                client = stack.enter_context(contextlib.closing(RawGrpcClient(daemon.grpc)))
                clients.append(client)
                head, stream = client.headers(method)
                client.socket.sendall(head + client.frame(DATA, 0, stream, struct.pack(">BI", 0, 17 << 20) + bytes(1000)))
                self.assertIsNotNone(client.end_of(stream))
            self.check_goes_on(daemon, clients)

    def test_a_request_that_its_client_gives_up_costs_nothing_but_itself(self):
        with ServingDaemon() as daemon, contextlib.ExitStack() as stack:
            clients = []
            for method in self.METHODS:
                client = stack.enter_context(contextlib.closing(RawGrpcClient(daemon.grpc)))
                clients.append(client)
                self.assertEqual(client.send_unfinished(method, 1, 10 << 20), (10 << 20) + 4)
                client.socket.settimeout(WAIT_S)
                client.socket.sendall(client.frame(RST_STREAM, 0, client.next_stream - 2, CANCEL))
            self.check_goes_on(daemon, clients)

    def test_requests_without_pause_are_no_flood(self):
        with ServingDaemon() as daemon, contextlib.closing(RawGrpcClient(daemon.grpc)) as client:
            request = field(1, b"Items") + field(2, text_item(id="b", text="x" * 15_000))
            for _ in range(1000):
                self.assertIsNotNone(client.call(ITEMS + "PutItem", request))
            self.assertTrue(client.call(ITEMS + "GetItem", field(1, b"Items") + field(2, text_item(id="b"))))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
