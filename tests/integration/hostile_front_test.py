#!/usr/bin/python3
"""Attacks on HTTP/1.1 and TLS, and many clients that send much ahead: meanwhile another client is served without a single
failure, memory stays within its limits, and all of it comes back."""

import contextlib
import pathlib
import signal
import socket
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from hostile_front import (  # noqa: E402
    GET_REQUEST, FrontTest, HttpAnswers, RawTls, connected, get_item, make_certificate, post, run_attacks,
    send_what_fits, wait_until)
from raw_grpc_client import (  # noqa: E402
    DATA, PREFACE, SETTINGS, RawGrpcClient, field, message)

ITEMS = "/armature.api.v1.ItemService/"


def settings_frame():
    return RawGrpcClient.frame(SETTINGS, 0, 0)


def close_by_reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


class Http1(FrontTest):
    def test_pipelined_requests_whose_answers_nobody_reads(self):
        with self.attacked(has_large=True) as (daemon, bystander, stack):
            for key in ("large-0", "a"):
                for _ in range(40):
                    client = self.http(daemon, stack, receive_bytes=4096)
                    self.assertGreater(send_what_fits(client, get_item(key) * 5000), 0)
                self.assertTrue(bystander.is_served())

    def test_chunks_of_one_byte_with_extensions(self):
        body = post("GetItem", {"TableName": "Items", "Key": {"id": {"S": "a"}}}).partition(b"\r\n\r\n")[2]
        head = get_item().partition(b"Content-Length")[0] + b"Transfer-Encoding: chunked\r\n\r\n"
        extension = b";name=" + b"x" * 4000 + b"\r\n"
        chunks = b"".join(b"1" + extension + body[i:i + 1] + b"\r\n" for i in range(len(body)))
        trailers = b"".join(b"trailer-%d: %s\r\n" % (number, b"y" * 1000) for number in range(5))
        with self.attacked() as (daemon, bystander, stack):
            # They are requests like others.
            for _ in range(5):
                client = self.http(daemon, stack)
                client.sendall((head + chunks + b"0" + extension + trailers + b"\r\n") * 2 + get_item())
                answers = HttpAnswers(client)
                self.assertEqual([answers.read()[0] for _ in range(3)], [200] * 3)
            endless = {
                "extensions": head + b"1;" + b"x" * (1 << 20),
                "sizes": head + b"1" * (1 << 20),
                "trailers": head + b"0\r\n" + b"a: b\r\n" * (1 << 18),
                "trailer": head + b"0\r\na: " + b"b" * (1 << 20),
                "blank lines": b"\r\n" * (1 << 20) + b"?",
                "chunk of any size": head + b"7fffffffffffffff\r\n" + bytes(1 << 20),
            }
            for what, request in endless.items():
                clients = [self.http(daemon, stack) for _ in range(5)]
                for client in clients:
                    send_what_fits(client, request)
                if what == "blank lines":
                    continue
                for client in clients:
                    self.assertIn(HttpAnswers(client).read()[0], (400, 413), what)
            self.assertTrue(bystander.is_served())

    def test_clients_that_expect_100_and_then_send_nothing(self):
        head, _, body = post("GetItem", {"TableName": "Items", "Key": {"id": {"S": "a"}}},
                             "Expect: 100-continue").partition(b"\r\n\r\n")
        with self.attacked() as (daemon, bystander, stack):
            clients = [self.http(daemon, stack) for _ in range(300)]
            for client in clients:
                client.sendall(head + b"\r\n\r\n")
            answers = [HttpAnswers(client) for client in clients]
            self.assertEqual({each.read()[0] for each in answers}, {100})
            self.assertTrue(bystander.is_served())
            for client in clients[:150]:
                client.sendall(body)
            self.assertEqual({each.read()[0] for each in answers[:150]}, {200})

    def test_half_closed_connections(self):
        cases = {b"": [], b"\r\n": [], get_item()[:60]: [400], get_item()[:-1]: [400], get_item(): [200],
                 get_item() * 20: [200] * 20, get_item() * 3 + b"GE": [200] * 3 + [400], b"P": [400],
                 post("Scan", {"TableName": "Items"}) * 3: [200] * 3, PREFACE: None, PREFACE[:-1]: [400]}
        with self.attacked() as (daemon, _, stack):
            for sent, expected in cases.items():
                clients = [self.http(daemon, stack) for _ in range(20)]
                for client in clients:
                    client.sendall(sent)
                    client.shutdown(socket.SHUT_WR)
                for client in clients:
                    answers = HttpAnswers(client)
                    if expected is not None:
                        self.assertEqual([answers.read()[0] for _ in expected], expected, sent[:20])
                        self.assertTrue(answers.is_at_end(), sent[:20])
                    else:
                        while not answers.is_at_end():
                            answers.unread = b""

    def test_connections_that_say_one_byte_up_to_the_limit(self):
        with self.attacked("--connections_max=300", "--connections_per_address_max=299") as (daemon, bystander, stack):
            for number in range(350):
                client = self.http(daemon, stack) if number % 2 else stack.enter_context(connected(daemon.grpc))
                with contextlib.suppress(OSError):
                    client.sendall((b"P", b"\x16", b"G", b"\r", b"")[number % 5])
            self.assertTrue(wait_until(lambda: daemon.metric("armature_connections_refused_total") >= 50))
            self.assertTrue(bystander.is_served())

    def test_requests_that_are_something_else(self):
        upgrade = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA")
        upgraded = post("GetItem", {"TableName": "Items", "Key": {"id": {"S": "a"}}}, *upgrade)
        proxy_2 = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x7f\0\0\1\x7f\0\0\1\x30\x39\x1e\x61"
        smuggled = post("ListTables", {})
        cases = {
            "an upgrade is ignored, whose body is no HTTP/2": (upgraded + get_item(), [200, 200], False),
            "HTTP/2 after an upgrade": (upgraded + PREFACE + settings_frame(), [200, 400], True),
            "HTTP/2 after a request": (get_item() + PREFACE + settings_frame(), [200, 400], True),
            "HTTP/2 in a body": (smuggled.replace(b"{}", PREFACE).replace(b"Length: 2", b"Length: 24") + get_item(),
                                 [400, 200], False),
            "a request in place of the preface's end": (PREFACE[:18] + get_item(), [400], True),
            "a request with the preface's line": (PREFACE[:16] + get_item().partition(b"\r\n")[2], [400], True),
            "lengths of two kinds": (get_item().replace(b"Host:", b"Transfer-Encoding: chunked\r\nHost:"), [400], True),
            "a proxy's first line": (b"PROXY TCP4 127.0.0.1 127.0.0.2 1 2\r\n" + get_item(), [400], True),
            "a proxy's binary head": (proxy_2 + get_item(), [400], True),
        }
        with self.attacked() as (daemon, _, stack):
            for what, (sent, expected, ends) in cases.items():
                # In one piece, and byte by byte.
                for pieces in ([sent], [sent[i:i + 1] for i in range(len(sent))]):
                    for address in (daemon.http, daemon.grpc):
                        client = stack.enter_context(connected(address))
                        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                        with contextlib.suppress(OSError):
                            for piece in pieces:
                                client.sendall(piece)
                        answers = HttpAnswers(client)
                        got = [answers.read() for _ in expected]
                        self.assertEqual([status for status, _ in filter(None, got)], expected, (what, address, got))
                        if ends:
                            self.assertTrue(answers.is_at_end(), what)

    def test_resets_in_the_middle_of_large_bodies(self):
        size = 10 << 20
        head = post("PutItem", {}).partition(b"Content-Length")[0] + b"Content-Length: %d\r\n\r\n" % size
        with self.attacked() as (daemon, bystander, stack):
            for _ in range(3):
                clients = [self.http(daemon, stack) for _ in range(8)]
                for client in clients:
                    client.sendall(head + bytes(64 << 10))
                self.assertTrue(wait_until(lambda: daemon.counted_bytes() > 0))
                for client in clients:
                    send_what_fits(client, bytes(size // 2))
                    close_by_reset(client)
                clients = [self.grpc(daemon, stack) for _ in range(4)]
                for client in clients:
                    client.send_unfinished(ITEMS + "PutItem", 2, size, stall_s=0.2)
                    close_by_reset(client.socket)
                self.assertTrue(wait_until(lambda: daemon.counted_bytes() == 0))
            self.assertTrue(bystander.is_served())


class Turns(FrontTest):
    """Requests that many clients have sent ahead are served in turns with others: the daemon stands still until all of
    them are there, and again when the others have their answers. The numbers depend on the machine, so they are
    printed only; unit tests of http and rpc have the order."""

    @contextlib.contextmanager
    def stopped(self, daemon):
        daemon.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            daemon.process.send_signal(signal.SIGCONT)

    def answers_before_others(self, daemon, stack, clients, data, answer):
        """How often `answer` has come to the clients, which send `data`, before another client of each loop is answered."""
        others = [self.http(daemon, stack) for _ in range(4)]
        with self.stopped(daemon):
            for client in clients:
                send_what_fits(client, data)
            for other in others:
                other.sendall(get_item())
        self.assertEqual([HttpAnswers(other).read()[0] for other in others], [200] * len(others))
        received = b""
        with self.stopped(daemon):
            for client in clients:
                client.setblocking(False)
                with contextlib.suppress(OSError):
                    while part := client.recv(1 << 20):
                        received += part
        return received.count(answer)

    def test_thousands_of_requests_sent_ahead(self):
        with self.attacked() as (daemon, _, stack):
            clients = [self.http(daemon, stack) for _ in range(100)]
            for client in clients:
                client.sendall(get_item())
                self.assertEqual(HttpAnswers(client).read()[0], 200)
            answered = self.answers_before_others(daemon, stack, clients, get_item() * 1000, b" 200 OK")
            print(f"{answered} of 100000 requests were served first", flush=True)

    def test_many_small_operations_of_pipelines(self):
        one = message(b"\x08\x01" + field(2, GET_REQUEST))
        with self.attacked() as (daemon, _, stack):
            clients = [self.grpc(daemon, stack) for _ in range(8)]
            data = b""
            for number in range(50):
                data += clients[0].headers(ITEMS + "Pipeline")[0]
            for stream in range(1, 100, 2):
                data += clients[0].frame(DATA, 0, stream, one * 400)
            sockets = [client.socket for client in clients]
            answered = self.answers_before_others(daemon, stack, sockets, data, message(b"\x08\x01")[5:])
            print(f"{answered} of {8 * 50 * 400} operations were served first", flush=True)


class Tls(FrontTest):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.certificate, cls.key = make_certificate(directory.name)

    def attacked_with_tls(self):
        return self.attacked(f"--tls_cert={self.certificate}", f"--tls_key={self.key}", certificate=self.certificate)

    def client(self, address, stack):
        return stack.enter_context(contextlib.closing(RawTls(address)))

    def test_key_updates_without_end(self):
        with self.attacked_with_tls() as (daemon, bystander, stack):
            clients = [self.client(address, stack) for address in (daemon.http, daemon.grpc) * 4]
            floods = [client.update_keys(20_000) for client in clients]
            sent = [0] * len(clients)
            for _ in range(50):
                for number, client in enumerate(clients):
                    sent[number] += send_what_fits(client.socket, floods[number][sent[number]:])
            self.assertTrue(bystander.is_served())
            for client in clients:
                with self.assertRaises(OSError):
                    for _ in range(200):
                        client.socket.sendall(client.update_keys(100))

    def test_one_byte_in_each_record(self):
        with self.attacked_with_tls() as (daemon, _, stack):
            clients = [self.client(daemon.http, stack) for _ in range(20)]
            for client in clients:
                records = b"".join(client.encrypted(get_item()[i:i + 1]) for i in range(len(get_item())))
                client.socket.sendall(records)
            for client in clients:
                self.assertTrue(client.read().startswith(b"HTTP/1.1 200 OK"))

    def test_handshakes_that_do_not_go_on(self):
        hello = b"\x16\x03\x01\x40\x00\x01" + (131_396).to_bytes(3, "big") + b"\x03\x03" + bytes(16_378)
        with self.attacked_with_tls() as (daemon, bystander, stack):
            for number in range(400):
                client = stack.enter_context(connected(daemon.http if number % 2 else daemon.grpc))
                client.sendall((b"", hello[:1], hello[:5], hello[:9], hello, hello)[number % 6])
            self.assertTrue(bystander.is_served())
            self.client(daemon.grpc, stack)


if __name__ == "__main__":
    run_attacks(__doc__)
