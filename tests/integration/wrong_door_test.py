#!/usr/bin/python3
"""Clients at a port of the daemon that does not speak their protocol get one sentence, in their own language."""

import argparse
import http.client
import json
import pathlib
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from armature_daemon import WAIT_S, Daemon  # noqa: E402

import grpc  # noqa: E402

ARGS = None
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def split(address):
    host, port = address.rsplit(":", 1)
    return host, int(port)


def exchange(address, request, pieces=1):
    """Sends the bytes, in some pieces, and returns what comes back until the end of the connection."""
    with socket.create_connection(split(address), timeout=WAIT_S) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        size = -(-len(request) // pieces)
        for start in range(0, len(request), size):
            connection.sendall(request[start:start + size])
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
        return answer


def call(channel):
    """The error of a unary call of any method: status and text."""
    method = channel.unary_unary("/armature.api.v1.TableService/ListTables")
    try:
        method(b"", timeout=WAIT_S)
    except grpc.RpcError as error:
        return error.code(), error.details()
    return grpc.StatusCode.OK, ""


class PlainTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(ARGS.armatured, "--metrics_listen=127.0.0.1:0")
        cls.daemon.__enter__()
        cls.addClassCleanup(cls.daemon.__exit__)

    def request(self, address, method, path="/", body=None, **headers):
        connection = http.client.HTTPConnection(*split(address), timeout=WAIT_S)
        self.addCleanup(connection.close)
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.getheader("Content-Type"), answer.read().decode()

    def test_http_at_the_grpc_port(self):
        way = f"This port speaks gRPC. The HTTP API is at http://{self.daemon.http}."
        self.assertEqual(self.request(self.daemon.grpc, "GET"), (400, "text/plain", way + "\n"))
        self.assertEqual(self.request(self.daemon.grpc, "POST", body="x" * 1_000_000), (400, "text/plain", way + "\n"))
        status, media_type, body = self.request(
            self.daemon.grpc, "POST", body="{}", X_Amz_Target="DynamoDB_20120810.ListTables",
            Content_Type="application/x-amz-json-1.0")
        self.assertEqual((status, media_type), (400, "application/x-amz-json-1.0"))
        self.assertEqual(json.loads(body)["message"], way)
        self.assertIn(way.encode(), exchange(self.daemon.grpc, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", pieces=8))

    def test_grpc_at_ports_of_http(self):
        for address, own in ((self.daemon.http, "HTTP/1.1"),
                             (self.daemon.metrics, "HTTP/1.1, for metrics and health checks")):
            with grpc.insecure_channel(address) as channel:
                self.assertEqual(call(channel), (grpc.StatusCode.UNIMPLEMENTED,
                                                 f"This port speaks {own}. gRPC is at {self.daemon.grpc}."))
                # And again: the channel connects anew.
                self.assertEqual(call(channel)[0], grpc.StatusCode.UNIMPLEMENTED)

    def test_http2_frames_in_any_pieces_and_of_any_kind(self):
        settings = b"\0\0\0\4\0\0\0\0\0"
        ping = b"\0\0\x08\6\0\0\0\0\0" + b"x" * 8
        headers = b"\0\0\1\1\5\0\0\0\1" + b"\x82"
        for pieces in (1, 3, 40):
            answer = exchange(self.daemon.http, PREFACE + settings + ping + headers, pieces)
            self.assertTrue(answer.startswith(settings), answer)
            self.assertEqual(answer.count(b"This port speaks HTTP/1.1."), 2, "in the trailers and in the farewell")
        # A frame that is longer than permitted ends the connection.
        self.assertEqual(exchange(self.daemon.http, PREFACE + b"\0\x40\1\4\0\0\0\0\0"), settings)

    def test_tls_at_ports_without_it(self):
        context = ssl.create_default_context()
        for address in (self.daemon.grpc, self.daemon.http, self.daemon.metrics):
            with self.assertRaises(ssl.SSLError) as caught, socket.create_connection(split(address), timeout=WAIT_S) as raw:
                context.wrap_socket(raw, server_hostname="localhost")
            self.assertIn("alert", str(caught.exception).lower())
        self.assertIn("This port speaks HTTP/1.1, without TLS.", self.daemon.log())

    def test_browsers_see_a_page(self):
        browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
        for path, expected in (("/", 200), ("/tables", 404)):
            status, media_type, body = self.request(self.daemon.http, "GET", path, **browser)
            self.assertEqual((status, media_type), (expected, "text/html; charset=utf-8"))
            self.assertIn("X-Amz-Target", body)
            self.assertIn(f"gRPC is at {self.daemon.grpc}.", body)
        self.assertEqual(self.request(self.daemon.http, "GET", "/")[2], f"healthy: {self.daemon.http} ")
        self.assertIn("This port speaks gRPC.", self.request(self.daemon.grpc, "GET", **browser)[2])

    def test_wrong_content_types(self):
        documented = "<UnknownOperationException/>\n"
        hint = "Content-Type: application/x-amz-json-1.0"
        status, _, body = self.request(self.daemon.http, "POST", body="{}", Content_Type="application/x-amz-json-1.1")
        self.assertEqual((status, body), (404, documented))
        for content_type in ("application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"):
            status, _, body = self.request(self.daemon.http, "POST", body="{}", Content_Type=content_type)
            self.assertEqual(status, 404)
            self.assertTrue(body.startswith(documented))
            self.assertIn(hint, body)
        body = self.request(self.daemon.http, "POST", body="{}", Content_Type="application/grpc-web+proto")[2]
        self.assertIn(f"gRPC is at {self.daemon.grpc}.", body)

    def test_what_is_nothing_of_these_is_refused_as_before(self):
        for address in (self.daemon.grpc, self.daemon.http):
            exchange(address, b"\0\1\2\3" * 20)
        with grpc.insecure_channel(self.daemon.grpc) as channel:
            self.assertEqual(call(channel)[0], grpc.StatusCode.OK)


class TlsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.certificate, key = f"{directory.name}/certificate.pem", f"{directory.name}/key.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", key,
             "-out", cls.certificate], check=True, capture_output=True)
        pathlib.Path(key).chmod(0o600)
        cls.daemon = Daemon(ARGS.armatured, f"--tls_cert={cls.certificate}", f"--tls_key={key}")
        cls.daemon.__enter__()
        cls.addClassCleanup(cls.daemon.__exit__)

    def credentials(self):
        return grpc.ssl_channel_credentials(pathlib.Path(self.certificate).read_bytes())

    def test_plain_http(self):
        request = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
        self.assertIn(b"This port speaks HTTP/1.1 over TLS: the URL begins with https.", exchange(self.daemon.http, request))
        self.assertIn(f"This port speaks gRPC over TLS. The HTTP API is at https://{self.daemon.http}.".encode(),
                      exchange(self.daemon.grpc, request))

    def test_grpc_without_tls(self):
        for address, own in ((self.daemon.http, "This port speaks HTTP/1.1 over TLS. "
                              f"gRPC is at {self.daemon.grpc} with TLS."),
                             (self.daemon.grpc, "This port speaks gRPC over TLS.")):
            with grpc.insecure_channel(address) as channel:
                self.assertEqual(call(channel), (grpc.StatusCode.UNIMPLEMENTED, own))

    def test_grpc_with_tls_at_the_port_of_http(self):
        with grpc.secure_channel(self.daemon.http, self.credentials()) as channel:
            self.assertEqual(call(channel), (grpc.StatusCode.UNIMPLEMENTED, "This port speaks HTTP/1.1 over TLS. "
                                             f"gRPC is at {self.daemon.grpc} with TLS."))
        with grpc.secure_channel(self.daemon.grpc, self.credentials()) as channel:
            self.assertEqual(call(channel)[0], grpc.StatusCode.OK)

    def test_http_with_tls_keeps_http_1_1(self):
        context = ssl.create_default_context(cafile=self.certificate)
        context.set_alpn_protocols(["h2", "http/1.1"])
        with socket.create_connection(split(self.daemon.http), timeout=WAIT_S) as raw:
            with context.wrap_socket(raw, server_hostname="localhost") as connection:
                self.assertEqual(connection.selected_alpn_protocol(), "http/1.1")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--armatured", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
