"""Tests of attacks on a daemon: a client beside the attackers must be served all the time."""

import argparse
import contextlib
import ctypes
import json
import multiprocessing
import pathlib
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from armature_daemon import Daemon  # noqa: E402
from raw_grpc_client import GOAWAY, RawGrpcClient, field, message, text_item  # noqa: E402

GET_ITEM = "/armature.api.v1.ItemService/GetItem"
GET_REQUEST = field(1, b"Items") + field(2, text_item(id="a"))
WAIT_S = 60
BUDGET_MB = 64
# Memory beyond the budget: free memory that the allocator keeps, threads, the system's own for each connection.
SLACK_MB = 150


def wait_until(condition):
    """True once the condition, which concerns another process, holds; False if it does not in time."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        if condition():
            return True
        with contextlib.suppress(TimeoutError):
            a, b = socket.socketpair()
            with a, b:
                a.settimeout(0.01)
                a.recv(1)
    return False


def connected(address, receive_bytes=None):
    """A connection to HOST:PORT, or to the Unix socket unix:PATH."""
    is_local = address.startswith("unix:")
    made = socket.socket(socket.AF_UNIX if is_local else socket.AF_INET)
    if receive_bytes is not None:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    made.settimeout(WAIT_S)
    host, _, port = address.partition(":") if is_local else address.rpartition(":")
    made.connect(port if is_local else (host, int(port)))
    return made


def send_what_fits(connection, data):
    """Sends until the system takes no more. Returns the number of bytes sent."""
    sent = 0
    connection.setblocking(False)
    with contextlib.suppress(OSError):
        while sent < len(data):
            sent += connection.send(data[sent:])
    connection.settimeout(WAIT_S)
    return sent


def post(operation, members, *headers):
    """A request of the JSON protocol over HTTP/1.1."""
    body = json.dumps(members).encode()
    head = [f"POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810.{operation}",
            "Content-Type: application/x-amz-json-1.0", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def get_item(key="a"):
    return post("GetItem", {"TableName": "Items", "Key": {"id": {"S": key}}})


class HttpAnswers:
    """The answers on a connection, one by one."""

    def __init__(self, connection):
        self.connection = connection
        self.unread = b""

    def read(self):
        """Status and body; None at the end of the connection."""
        while b"\r\n\r\n" not in self.unread:
            if not self._receive():
                return None
        head, _, self.unread = self.unread.partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        sizes = [int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length:")]
        size = sizes[0] if sizes else 0
        while len(self.unread) < size:
            if not self._receive():
                return None
        body, self.unread = self.unread[:size], self.unread[size:]
        return int(lines[0].split()[1]), body

    def is_at_end(self):
        """Waits for the end of the connection. False if bytes come before it."""
        return not self.unread and not self._receive()

    def _receive(self):
        try:
            received = self.connection.recv(1 << 16)
        except ConnectionResetError:
            received = b""
        self.unread += received
        return received != b""


class FrontDaemon(Daemon):
    """A daemon with a small budget and the table Items, with the item `a` and, if asked for, four large ones."""

    def __init__(self, armatured, *flags, has_large=False, certificate=None):
        super().__init__(armatured, f"--request_memory_mb={BUDGET_MB}", "--metrics_listen=127.0.0.1:0", *flags)
        self.has_large = has_large
        self.certificate = certificate

    def __enter__(self):
        super().__enter__()
        self.create_table("Items")
        texts = {"a": "x"} | ({f"large-{number}": "x" * 300_000 for number in range(4)} if self.has_large else {})
        for key, text in texts.items():
            status, answer = self.json_call("PutItem", TableName="Items", Item={"id": {"S": key}, "text": {"S": text}})
            if status != 200:
                raise RuntimeError(f"not put: {answer}")
        return self

    def json_call(self, operation, timeout=WAIT_S, service="DynamoDB_20120810", **members):
        connection = self.wrapped(connected(self.http), "http/1.1")
        with contextlib.closing(connection):
            connection.sendall(post(operation, members))
            status, body = HttpAnswers(connection).read()
            return status, json.loads(body)

    def wrapped(self, connection, protocol):
        """The connection, over TLS if this daemon has it."""
        if self.certificate is None or connection.family == socket.AF_UNIX:
            return connection
        context = ssl.create_default_context(cafile=self.certificate)
        context.set_alpn_protocols([protocol])
        return context.wrap_socket(connection, server_hostname="127.0.0.1")

    def memory_mb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) >> 10

    def counted_bytes(self):
        return self.metric("armature_request_memory_bytes")

    def connections(self):
        return self.metric("armature_grpc_connections ") + self.metric("armature_http_connections ")

    def broken(self, reason):
        return self.metric("armature_grpc_connections_broken_total", f'reason="{reason}"')


class LeavingClient(RawGrpcClient):
    """Knows when it has been told to leave, and no failure."""
    has_goodbye = False

    def read_frame(self):
        frame = super().read_frame()
        if frame is not None and frame[0] == GOAWAY:
            self.has_goodbye = frame[3][4:8] == bytes(4)
        return frame


class Bystander:
    """A client that calls GetItem over gRPC and over HTTP, one after the other, in a process of its own."""

    def __init__(self, daemon):
        self.daemon = daemon
        context = multiprocessing.get_context("fork")
        self.served = context.Value("Q", 0)
        self.to_end, self.results = context.Event(), context.SimpleQueue()
        self.process = context.Process(target=self._run, daemon=True)
        self.process.start()

    def _connect(self, address, protocol):
        return self.daemon.wrapped(connected(address), protocol)

    def _call_grpc(self):
        """A connection that the daemon has ended, without a word of this call, is made again."""
        answer = self.grpc.call(GET_ITEM, GET_REQUEST)
        if answer is None and self.grpc.has_goodbye:
            self.grpc.close()
            self.grpc = self._connected_grpc()
            answer = self.grpc.call(GET_ITEM, GET_REQUEST)
        return answer

    def _connected_grpc(self):
        made = LeavingClient(self.daemon.grpc, connect=lambda address: self._connect(address, "h2"))
        made.address = "localhost"
        return made

    def _run(self):
        times = {"gRPC": [], "HTTP": []}
        failures = []
        try:
            self.grpc = self._connected_grpc()
            http = self._connect(self.daemon.http, "http/1.1")
            answers = HttpAnswers(http)

            def call_http():
                http.sendall(get_item())
                return answers.read()
            calls = {"gRPC": self._call_grpc, "HTTP": call_http}
            while not self.to_end.is_set():
                for name, call in calls.items():
                    begun = time.monotonic()
                    answer = call()
                    times[name].append(time.monotonic() - begun)
                    if not answer or (name == "HTTP" and answer[0] != 200):
                        failures.append(f"{name}: {answer}")
                self.served.value += 1
            self.grpc.close()
            http.close()
        except (OSError, ValueError) as error:
            failures.append(repr(error))
        self.results.put((times, failures))

    def is_served(self, times=20):
        """Waits until it has been served so many times more. False if it is not."""
        goal = self.served.value + times
        return wait_until(lambda: self.served.value >= goal or not self.process.is_alive()) and self.served.value >= goal

    def end(self, what):
        """Prints how long its calls took. Returns its failures."""
        self.to_end.set()
        times, failures = self.results.get()
        self.process.join()
        for name, each in times.items():
            each.sort()
            if each:
                print(f"{what}: {len(each)} calls over {name}: p99 {each[len(each) * 99 // 100] * 1000:.1f} ms, "
                      f"worst {each[-1] * 1000:.1f} ms", flush=True)
        return failures


def make_certificate(directory):
    """Paths of a certificate for 127.0.0.1 and its key."""
    certificate, key = f"{directory}/certificate.pem", f"{directory}/key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True, capture_output=True)
    pathlib.Path(key).chmod(0o600)
    return certificate, key


class RawTls:
    """A client of TLS that sees its records, with the system's OpenSSL: Python's module cannot update keys."""

    LIBRARY = ctypes.CDLL("libssl.so.3")
    CRYPTO = ctypes.CDLL("libcrypto.so.3")
    _context = None

    @classmethod
    def _call(cls, name, *arguments, returns=ctypes.c_void_p, library=None):
        function = getattr(library or cls.LIBRARY, name)
        function.restype = returns
        return function(*(ctypes.c_void_p(each) if each is None or (isinstance(each, int) and each > 1 << 16) else each
                          for each in arguments))

    def __init__(self, address):
        """Connects, and agrees on the keys."""
        if RawTls._context is None:
            RawTls._context = self._call("SSL_CTX_new", self._call("TLS_client_method"))
        self.socket = connected(address)
        self.tls = self._call("SSL_new", RawTls._context)
        method = self._call("BIO_s_mem", library=self.CRYPTO)
        self.input, self.output = (self._call("BIO_new", method, library=self.CRYPTO) for _ in range(2))
        self._call("SSL_set_bio", self.tls, self.input, self.output, returns=None)
        self._call("SSL_set_connect_state", self.tls, returns=None)
        while self._call("SSL_do_handshake", self.tls, returns=ctypes.c_int) != 1:
            self.socket.sendall(self.records())
            self._receive()
        self.socket.sendall(self.records())

    def _receive(self):
        received = self.socket.recv(1 << 16)
        if not received:
            raise ConnectionError("the daemon has ended the connection")
        self._call("BIO_write", self.input, received, len(received), returns=ctypes.c_int, library=self.CRYPTO)

    def read(self):
        """The next data from the daemon."""
        buffer = ctypes.create_string_buffer(1 << 16)
        while (size := self._call("SSL_read", self.tls, buffer, len(buffer), returns=ctypes.c_int)) <= 0:
            self._receive()
        return buffer.raw[:size]

    def records(self):
        """The records made so far, which are to be sent."""
        size = self._call("BIO_ctrl_pending", self.output, returns=ctypes.c_size_t, library=self.CRYPTO)
        buffer = ctypes.create_string_buffer(max(size, 1))
        if size > 0:
            self._call("BIO_read", self.output, buffer, size, returns=ctypes.c_int, library=self.CRYPTO)
        return buffer.raw[:size]

    def update_keys(self, times):
        for _ in range(times):
            self._call("SSL_key_update", self.tls, 0, returns=ctypes.c_int)
            self._call("SSL_do_handshake", self.tls, returns=ctypes.c_int)
        return self.records()

    def encrypted(self, data):
        self._call("SSL_write", self.tls, data, len(data), returns=ctypes.c_int)
        return self.records()

    def close(self):
        self.socket.close()
        self._call("SSL_free", self.tls, returns=None)


class RawJson(RawGrpcClient):
    """The same connection with requests of the JSON protocol over HTTP/2."""

    def json_frames(self, operation, members):
        body = json.dumps(members).encode()
        stream = self.next_stream
        self.next_stream += 2
        block = b"".join(
            b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()
            for name, value in ((":method", "POST"), (":scheme", "http"), (":path", "/"), (":authority", "localhost"),
                                ("content-type", "application/x-amz-json-1.0"),
                                ("x-amz-target", f"DynamoDB_20120810.{operation}")))
        return self.frame(1, 4, stream, block) + self.frame(0, 1, stream, body), stream



class FrontTest(unittest.TestCase):
    """A test of an attack on the program `armatured`."""
    armatured = None

    @contextlib.contextmanager
    def attacked(self, *flags, has_large=False, certificate=None, is_over_socket=False):
        """A daemon, a bystander, and a stack of what is closed when the attack is over. The body is the attack. Then nothing
        is left of it, and the daemon stops as usual."""
        what = self.id().rpartition(".")[2]
        with contextlib.ExitStack() as outer:
            if is_over_socket:
                path = outer.enter_context(tempfile.TemporaryDirectory()) + "/grpc"
                flags += (f"--grpc_listen=unix:{path}",)
            daemon = outer.enter_context(FrontDaemon(self.armatured, *flags, has_large=has_large, certificate=certificate))
            bystander = Bystander(daemon)
            self.assertTrue(bystander.is_served(1), f"{what}: no connection")
            connections, before_mb = daemon.connections(), daemon.memory_mb()
            daemon.forget_peak()
            with contextlib.ExitStack() as stack:
                yield daemon, bystander, stack
                # In the state that the attack has led to.
                self.assertTrue(bystander.is_served(), f"{what}: not served")
                self.assertLessEqual(daemon.counted_bytes(), BUDGET_MB << 20, what)
            self.assertTrue(wait_until(lambda: daemon.connections() <= connections), f"{what}: {daemon.connections()}")
            self.assertTrue(wait_until(lambda: daemon.counted_bytes() == 0), f"{what}: {daemon.counted_bytes()}")
            is_served = bystander.is_served(2)
            self.assertEqual(bystander.end(what), [])
            self.assertTrue(is_served, what)
            print(f"{what}: {daemon.peak_mb() - before_mb} MB at most", flush=True)
            self.assertLess(daemon.peak_mb() - before_mb, BUDGET_MB + SLACK_MB, what)
            self.assertEqual(daemon.stop(), 0, daemon.log()[-2000:])

    def grpc(self, daemon, stack, **options):
        return stack.enter_context(contextlib.closing(RawGrpcClient(daemon.grpc, **options)))

    def http(self, daemon, stack, receive_bytes=None):
        return stack.enter_context(connected(daemon.http, receive_bytes))


def run_attacks(about):
    """The main program of a module with such tests."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--armatured", required=True)
    arguments, rest = parser.parse_known_args()
    FrontTest.armatured = arguments.armatured
    unittest.main(argv=[sys.argv[0], *rest])
