"""Clients that want to keep a daemon from serving others. Each is a thread that goes on until it is stopped."""

import gzip
import random
import socket
import struct
import threading

from raw_grpc_client import DATA, END_STREAM, PING, RST_STREAM, SETTINGS, RawGrpcClient, field, message

LARGE = "Large"  # table with items of 300 KB
ITEMS = "/armature.api.v1.ItemService/"
HEALTH = "/grpc.health.v1.Health/Check"
EXPORT = "/armature.admin.v1.AdminService/ExportTable"
REQUEST_BYTES = 16 << 20
RST_CANCEL = struct.pack(">I", 8)
CONNECTIONS = 150
CONNECT_S = 5


def http_head(operation, length, more=""):
    return (f"POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810.{operation}\r\n"
            f"Content-Type: application/x-amz-json-1.0\r\nContent-Length: {length}\r\n{more}\r\n").encode()


def http_request(operation, body, more=""):
    return http_head(operation, len(body), more) + body


SCAN = b'{"TableName":"%s"}' % LARGE.encode()


class HostileClient(threading.Thread):
    """One kind of attack. Subclasses have `attack`, which is called again and again; errors of sockets are expected."""

    def __init__(self, server, seed, stopping):
        super().__init__(daemon=True)
        self.server = server
        self.rng = random.Random(seed)
        self.stopping = stopping
        self.open = []
        self.attacks = 0

    def run(self):
        while not self.stopping.is_set():
            try:
                self.attack()
                self.attacks += 1
            except (OSError, ValueError):
                # The daemon has closed a connection, which it may.
                pass
            self.stopping.wait(0.01)
        self.close()

    def attack(self):
        raise NotImplementedError

    def close(self):
        for connection in self.open:
            connection.close()
        self.open = []

    def connect(self, address, receive_bytes=None):
        """A connection from one of several addresses, which is closed at the end."""
        host, port = address.rsplit(":", 1)
        connection = socket.socket()
        self.open.append(connection)
        if receive_bytes is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        connection.settimeout(CONNECT_S)
        connection.bind((f"127.0.0.{self.rng.randrange(2, 6)}", 0))
        connection.connect((host, int(port)))
        return connection

    def grpc(self, **options):
        client = RawGrpcClient(self.server.grpc, **options)
        client.socket.settimeout(CONNECT_S)
        self.open.append(client)
        return client

    def either(self):
        return self.rng.choice((self.server.grpc, self.server.http))

    def renew(self, count):
        """Closes all connections if there are so many."""
        if len(self.open) >= count:
            self.close()

    def wait(self):
        self.stopping.wait(self.rng.uniform(0.2, 1))


class NeverReadsGrpc(HostileClient):
    def attack(self):
        self.renew(8)
        client = self.grpc(receive_bytes=4096, window=self.rng.choice((65535, 1 << 20)))
        client.socket.sendall(b"".join(client.call_frames(ITEMS + "Scan", field(1, LARGE.encode()))[0] for _ in range(250)))
        self.wait()


class NeverReadsPipeline(HostileClient):
    def attack(self):
        self.renew(8)
        client = self.grpc(receive_bytes=4096)
        for _ in range(20):
            head, stream = client.headers(ITEMS + "Pipeline")
            # PipelineRequest: field 1 the id, field 7 a Scan.
            scan = message(b"\x08\x01" + field(7, field(1, LARGE.encode())))
            client.socket.sendall(head + client.frame(DATA, 0, stream, scan * 40))
        self.wait()


class NeverReadsHttp(HostileClient):
    def attack(self):
        self.renew(CONNECTIONS)
        self.connect(self.server.http, receive_bytes=4096).sendall(http_request("Scan", SCAN) * 50)


class NeverFinishesGrpc(HostileClient):
    def attack(self):
        self.renew(4)
        method = self.rng.choice((ITEMS + "PutItem", ITEMS + "BatchWriteItem", ITEMS + "Pipeline", HEALTH, EXPORT))
        self.grpc().send_unfinished(method, self.rng.choice((1, 20, 60)), REQUEST_BYTES)


class NeverFinishesHttp(HostileClient):
    def attack(self):
        self.renew(CONNECTIONS)
        size = self.rng.choice((100_000, REQUEST_BYTES))
        self.connect(self.server.http).sendall(http_head("BatchWriteItem", size) + bytes(size // 2))


class LiesAboutSizes(HostileClient):
    def attack(self):
        self.renew(CONNECTIONS)
        kind = self.rng.randrange(4)
        if kind == 0:
            self.grpc().send_unfinished(self.rng.choice((ITEMS + "PutItem", HEALTH)), 1, 1 << 30)
        elif kind == 1:
            self.connect(self.server.http).sendall(http_head("PutItem", REQUEST_BYTES))
        elif kind == 2:
            bomb = gzip.compress(b" " * REQUEST_BYTES, 9)
            self.connect(self.server.http).sendall(http_request("PutItem", bomb, "Content-Encoding: gzip\r\n"))
        else:
            body = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n"
            self.connect(self.server.http).sendall(body + bytes(10_000))


class ByteASecond(HostileClient):
    def attack(self):
        while len(self.open) < CONNECTIONS:
            self.connect(self.server.http).sendall(http_head("PutItem", 1000))
            client = self.grpc()
            head, stream = client.headers(ITEMS + "PutItem")
            client.socket.sendall(head + client.frame(DATA, 0, stream, b"\0\0\0"))
        self.stopping.wait(1)
        for connection in self.open:
            if isinstance(connection, socket.socket):
                connection.sendall(b" ")


class Churn(HostileClient):
    def attack(self):
        connection = self.connect(self.either())
        if self.rng.random() < 0.5:
            connection.sendall(self.rng.randbytes(self.rng.randrange(1, 200)))
        if self.rng.random() < 0.5:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()


class Flood(HostileClient):
    def attack(self):
        self.renew(600)
        for _ in range(50):
            self.connect(self.either())


class HalfOpenStreams(HostileClient):
    def attack(self):
        self.renew(20)
        client = self.grpc()
        methods = [ITEMS + "PutItem", ITEMS + "Pipeline", HEALTH, "/no.Such/Method"]
        client.socket.sendall(b"".join(client.headers(self.rng.choice(methods))[0] for _ in range(3000)))
        self.wait()


class RstFlood(HostileClient):
    def attack(self):
        self.renew(2)
        client = self.grpc()
        for _ in range(20):
            frames = b""
            for _ in range(100):
                frame, stream = client.call_frames(ITEMS + "Scan", field(1, LARGE.encode()))
                frames += frame + client.frame(RST_STREAM, 0, stream, RST_CANCEL)
            client.socket.sendall(frames)


class ControlFlood(HostileClient):
    """Frames that the daemon answers, though nobody reads the answers."""

    def attack(self):
        self.renew(4)
        client = self.grpc(receive_bytes=4096)
        for _ in range(20):
            client.socket.sendall(self.frames(client) * 1000)

    def frames(self, client):
        return client.frame(PING, 0, 0, bytes(8)) + client.frame(SETTINGS, 0, 0) + client.frame(DATA, END_STREAM, 9)


KINDS = (NeverReadsGrpc, NeverReadsPipeline, NeverReadsHttp, NeverFinishesGrpc, NeverFinishesHttp, LiesAboutSizes, ByteASecond,
         Churn, Flood, HalfOpenStreams, RstFlood, ControlFlood)
