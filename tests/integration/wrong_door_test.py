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

    def test_http_at_the_grpc_port_is_served(self):
        self.assertEqual(self.request(self.daemon.grpc, "GET"), (200, "text/plain", f"healthy: {self.daemon.grpc} "))
        sdk = {"X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/x-amz-json-1.0"}
        status, media_type, body = self.request(self.daemon.grpc, "POST", body="{}", **sdk)
        self.assertEqual((status, media_type, json.loads(body)), (200, "application/x-amz-json-1.0", {"TableNames": []}))
        self.assertIn(b"healthy", exchange(
            self.daemon.grpc, b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", pieces=8))

    def test_grpc_at_the_port_of_http_is_served(self):
        with grpc.insecure_channel(self.daemon.http) as channel:
            self.assertEqual(call(channel), (grpc.StatusCode.OK, ""))

    def test_grpc_at_the_port_for_operators(self):
        with grpc.insecure_channel(self.daemon.metrics) as channel:
            self.assertEqual(call(channel), (
                grpc.StatusCode.UNIMPLEMENTED,
                f"This port speaks HTTP/1.1, for metrics and health checks. gRPC is at {self.daemon.grpc}."))
            self.assertEqual(call(channel)[0], grpc.StatusCode.UNIMPLEMENTED)

    def test_the_first_bytes_in_any_pieces(self):
        settings = b"\0\0\0\4\0\0\0\0\0"
        goaway = b"\0\0\x08\7\0\0\0\0\0" + b"\0" * 8
        # GET / http, host: localhost
        headers = b"\0\0\x13\1\5\0\0\0\1" + b"\x82\x84\x86" + b"\0\4host\x09localhost"
        for address in (self.daemon.http, self.daemon.grpc):
            for pieces in (1, 3, 40):
                answer = exchange(address, PREFACE + settings + headers + goaway, pieces)
                self.assertIn(b"healthy", answer)

    def test_one_of_them_may_be_off(self):
        with Daemon(ARGS.armatured, "--http_listen=off") as daemon:
            way = "This port speaks gRPC. The HTTP API is off; --http_listen turns it on."
            self.assertEqual(self.request(daemon.grpc, "GET"), (400, "text/plain", way + "\n"))
            status, media_type, body = self.request(daemon.grpc, "POST", body="{}",
                                                    X_Amz_Target="DynamoDB_20120810.ListTables")
            self.assertEqual((status, media_type), (400, "application/x-amz-json-1.0"))
            self.assertEqual(json.loads(body)["message"], way)
        with Daemon(ARGS.armatured, "--grpc_listen=off") as daemon, grpc.insecure_channel(daemon.http) as channel:
            self.assertEqual(call(channel), (grpc.StatusCode.UNIMPLEMENTED,
                                             "This port speaks HTTP/1.1. gRPC is off; --grpc_listen turns it on."))

    def test_tls_at_ports_without_it(self):
        context = ssl.create_default_context()
        for address in (self.daemon.grpc, self.daemon.http, self.daemon.metrics):
            with self.assertRaises(ssl.SSLError) as caught, socket.create_connection(split(address), timeout=WAIT_S) as raw:
                context.wrap_socket(raw, server_hostname="localhost")
            self.assertIn("alert", str(caught.exception).lower())
        self.assertIn("This port speaks gRPC and HTTP, without TLS.", self.daemon.log())

    def test_browsers_see_a_page(self):
        browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
        status, media_type, body = self.request(self.daemon.http, "GET", "/tables", **browser)
        self.assertEqual((status, media_type), (404, "text/html; charset=utf-8"))
        self.assertIn("X-Amz-Target", body)
        self.assertIn(f"gRPC is at {self.daemon.grpc}.", body)
        # With the console, which is on here.
        status, _, body = self.request(self.daemon.http, "GET", "/", **browser)
        self.assertEqual((status, body), (302, "The console is at /console/.\n"))
        self.assertEqual(self.request(self.daemon.http, "GET", "/")[2], f"healthy: {self.daemon.http} ")
        self.assertIn(f"gRPC is at {self.daemon.grpc}.", self.request(self.daemon.grpc, "GET", "/tables", **browser)[2])

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
        for address in (self.daemon.http, self.daemon.grpc):
            self.assertIn(b"This port speaks gRPC and HTTP over TLS: the URL begins with https.", exchange(address, request))

    def test_grpc_without_tls(self):
        for address in (self.daemon.http, self.daemon.grpc):
            with grpc.insecure_channel(address) as channel:
                self.assertEqual(call(channel), (grpc.StatusCode.UNIMPLEMENTED, "This port speaks gRPC and HTTP over TLS."))

    def test_grpc_with_tls_at_both_ports(self):
        for address in (self.daemon.http, self.daemon.grpc):
            with grpc.secure_channel(address, self.credentials()) as channel:
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
