#!/usr/bin/python3
"""Clients of both protocols through HAProxy and nginx, configured as docs/operate/proxies.md says.

Proxies and daemon listen on Unix sockets, so no port has to be chosen. Without a proxy's program its tests are skipped;
`tools/setup --proxies` installs both.

Run by CTest; by hand: proxies_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import http.client
import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs/operate/proxies.md"
sys.path.insert(0, str(HERE.parent / "support"))
from armature_cli import PATHS, UNREACHABLE, CliTest, run_tests  # noqa: E402
from armature_daemon import WAIT_S, Daemon  # noqa: E402

THINGS = {"TableName": "Things", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
          "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}], "BillingMode": "PAY_PER_REQUEST",
          "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}}


def documented(language):
    """The configuration on the page."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    if len(found) != 1:
        raise AssertionError(f"{PAGE} has {len(found)} blocks of {language}")
    return found[0]


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=WAIT_S)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def accepts(path):
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


class Proxied:
    """The tests of each proxy. A subclass has `program`, `language` of its block on the page, and `write_configuration`."""

    def setUp(self):
        super().setUp()
        self.program = shutil.which(self.PROGRAM, path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
        if self.program is None:
            self.skipTest(f"{self.PROGRAM} is not installed")
        self.grpc, self.json = self.directory / "grpc.sock", self.directory / "json.sock"
        self.upstream = self.directory / "daemon.sock"
        self.start_daemon()
        command = self.write_configuration(documented(self.LANGUAGE))
        self.proxy_log = open(self.directory / "proxy.log", "w+b")
        self.addCleanup(self.proxy_log.close)
        self.proxy = subprocess.Popen(command, stdout=self.proxy_log, stderr=self.proxy_log)
        self.addCleanup(self.end_proxy)
        while not (accepts(self.grpc) and accepts(self.json)):
            self.assertIsNone(self.proxy.poll(), self.read_log())

    def end_proxy(self):
        self.proxy.terminate()
        self.proxy.wait(WAIT_S)

    def read_log(self):
        self.proxy_log.flush()
        return pathlib.Path(self.proxy_log.name).read_text(encoding="utf-8", errors="replace")

    def start_daemon(self):
        """On the same data and the same socket each time."""
        self.served = Daemon(PATHS.armatured, f"--grpc_listen=unix:{self.upstream}", data_dir=self.directory / "data")
        self.served.__enter__()
        self.addCleanup(self.served.__exit__)

    def command(self, *arguments):
        return [PATHS.armature, "--endpoint", f"unix:{self.grpc}", *map(str, arguments)]

    def json_call(self, operation, **members):
        connection = UnixConnection(self.json)
        try:
            connection.request("POST", "/", json.dumps(members), {
                "X-Amz-Target": f"DynamoDB_20120810.{operation}", "Content-Type": "application/x-amz-json-1.0"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def test_calls_errors_and_large_requests(self):
        self.create(THINGS)
        self.cli("item", "put", "--table-name", "Things", "--item", json.dumps({"id": {"S": "a"}, "n": {"N": "1"}}))
        self.assertEqual(self.json_call("GetItem", TableName="Things", Key={"id": {"S": "a"}})[1]["Item"]["n"], {"N": "1"})
        # The error's details are in the trailers.
        error = self.failing(1, "item", "put", "--table-name", "Things", "--item", json.dumps({"id": {"S": "a"}}),
                             "--condition-expression", "attribute_not_exists(id)")
        self.assertIn("ConditionalCheckFailedException", error)
        self.assertEqual(self.json_call("GetItem", TableName="Nothing", Key={"id": {"S": "a"}})[0], 400)
        # Requests and answers of several megabytes, in both directions.
        item = {"id": {"S": "large"}, "text": {"S": "x" * 390_000}}
        puts = [{"PutRequest": {"Item": {**item, "id": {"S": f"large{i}"}}}} for i in range(25)]
        self.assertEqual(self.json_call("BatchWriteItem", RequestItems={"Things": puts})[1]["UnprocessedItems"], {})
        self.assertEqual(self.cli("scan", "--table-name", "Things", "--limit", "3")["Count"], 3)
        (self.directory / "batch.json").write_text(json.dumps({"Things": puts}), encoding="utf-8")
        self.cli("batch-write", "--request-items", f"@{self.directory}/batch.json")

    def test_streams_in_both_directions(self):
        self.create(THINGS)
        lines = self.directory / "things.jsonl"
        lines.write_text("".join(json.dumps({"id": {"S": f"k{i}"}}) + "\n" for i in range(2000)), encoding="utf-8")
        self.cli("load", "--table-name", "Things", lines)
        watch = subprocess.Popen(self.command("watch", "Things", "--from", "oldest", "--limit", "2001"),
                                 stdout=subprocess.PIPE, stderr=self.proxy_log)
        self.addCleanup(watch.stdout.close)
        seen = [watch.stdout.readline() for _ in range(2000)]
        self.assertTrue(all(seen), self.read_log())
        # A change that comes while the stream is open.
        self.json_call("PutItem", TableName="Things", Item={"id": {"S": "later"}})
        self.assertIn(b"later", watch.stdout.readline())
        self.assertEqual(watch.wait(WAIT_S), 0)

    def test_a_restart_behind_the_proxy(self):
        self.create(THINGS)
        self.assertEqual(self.served.stop(), 0)
        self.failing(UNREACHABLE, "--timeout", "2", "table", "list")
        self.assertGreaterEqual(self.raw_status(), 500)
        self.start_daemon()
        while self.run_cli("table", "list").returncode != 0 or self.raw_status() != 200:
            pass
        self.assertEqual(self.cli("table", "list"), {"TableNames": ["Things"]})

    def raw_status(self):
        """The status of the daemon's page, by the proxy if the daemon is not there. Without a body: the proxy might not read it."""
        connection = UnixConnection(self.json)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status
        finally:
            connection.close()


class HaproxyTest(Proxied, CliTest):
    PROGRAM = "haproxy"
    LANGUAGE = "haproxy"

    def write_configuration(self, documented_text):
        text = documented_text
        for address, path in [("bind :7700", f"bind unix@{self.grpc}"), ("bind :8000", f"bind unix@{self.json}"),
                              ("10.0.0.5:7700", f"unix@{self.upstream}"), ("10.0.0.5:8000", f"unix@{self.upstream}")]:
            self.assertEqual(text.count(address), 1, address)
            text = text.replace(address, path)
        file = self.directory / "haproxy.cfg"
        file.write_text(text, encoding="utf-8")
        return [self.program, "-db", "-f", file]


class NginxTest(Proxied, CliTest):
    PROGRAM = "nginx"
    LANGUAGE = "nginx"

    def write_configuration(self, documented_text):
        text = documented_text
        for address, path in [("listen 7700", f"listen unix:{self.grpc}"), ("listen 8000", f"listen unix:{self.json}"),
                              ("server 10.0.0.5:7700", f"server unix:{self.upstream}"),
                              ("server 10.0.0.5:8000", f"server unix:{self.upstream}")]:
            self.assertEqual(text.count(address), 1, address)
            text = text.replace(address, path)
        paths = "".join(f"  {name}_temp_path {self.directory}/{name};\n"
                        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        file = self.directory / "nginx.conf"
        # Its processes must reach sockets in a private directory; without the rights of root, the line has no effect.
        file.write_text(f"user root;\ndaemon off;\npid {self.directory}/nginx.pid;\nerror_log stderr;\nevents {{}}\n"
                        f"http {{\n  access_log off;\n{paths}{text}}}\n", encoding="utf-8")
        return [self.program, "-c", file, "-e", "stderr"]


if __name__ == "__main__":
    run_tests()
