"""The daemon and other implementations of its API, as programs on the loopback interface."""

import http.client
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

START_S = 60
CALL_S = 60
INSTALL_S = 2400
HEADERS = {
    "Content-Type": "application/x-amz-json-1.0",
    "X-Amz-Date": "20260101T000000Z",
    "Authorization": "AWS4-HMAC-SHA256 Credential=anyone/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature=0",
}


class NotAvailable(Exception):
    """A peer that cannot be installed or started here; the text tells why."""


class Side:
    """A server of the API at an address HOST:PORT."""

    def __init__(self, name, address):
        self.name = name
        self.address = address
        self.connection = None
        self.arns = {}

    def call(self, operation, request):
        """Status and document of the answer. Status 0: no HTTP answer, the document tells why."""
        body = json.dumps(request)
        for name, arn in self.arns.items():
            body = body.replace(f"<arn:{name}>", arn)
        for attempt in (1, 2):  # an idle connection may have been closed by the server
            fresh = self.connection is None
            if fresh:
                self.connection = http.client.HTTPConnection(self.address, timeout=CALL_S)
            try:
                self.connection.request(
                    "POST", "/", body.encode(), {**HEADERS, "X-Amz-Target": f"DynamoDB_20120810.{operation}"})
                answer = self.connection.getresponse()
                text = answer.read()
            except (OSError, http.client.HTTPException) as error:
                self.connection.close()
                self.connection = None
                if fresh or attempt == 2:
                    return 0, {"__type": type(error).__name__, "message": str(error)}
                continue
            try:
                return answer.status, json.loads(text) if text else {}
            except ValueError:
                return 0, {"__type": f"HTTP{answer.status}", "message": "no JSON"}
        raise AssertionError

    def active(self, table):
        """Waits until the table and its indexes are ready or gone."""
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            status, answer = self.call("DescribeTable", {"TableName": table})
            if status != 200:
                return
            description = answer["Table"]
            states = [description["TableStatus"], *(index["IndexStatus"] for index in description.get("GlobalSecondaryIndexes") or ())]
            if set(states) == {"ACTIVE"}:
                self.arns[table] = description["TableArn"]
                return
        raise RuntimeError(f"{self.name}: table {table} does not become ACTIVE")


def installed_dynoxide(root):
    """The program of the crate dynoxide-rs, built into `root`."""
    program = root / "bin/dynoxide"
    if not program.exists():
        if not shutil.which("cargo"):
            raise NotAvailable("there is no cargo")
        install(["cargo", "install", "dynoxide-rs", "--version", "3.2.0", "--locked", "--no-default-features",
                 "--features", "native-sqlite,http-server,cli", "--root", str(root)], root)
    return lambda port: ([str(program), "--host", "127.0.0.1", "--port", str(port)], {})


def installed_moto(root):
    """moto's server, a package of Python in `root`."""
    if not (root / "moto").exists():
        fresh = root.with_name(root.name + ".new")
        shutil.rmtree(fresh, ignore_errors=True)
        install([sys.executable, "-m", "pip", "install", "--quiet", "--target", str(fresh), "moto[server,dynamodb]==5.2.5"], fresh)
        fresh.rename(root)
    return lambda port: ([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], {"PYTHONPATH": str(root)})


PEERS = {"dynoxide": installed_dynoxide, "moto": installed_moto}


def install(command, root):
    root.parent.mkdir(parents=True, exist_ok=True)
    print(f"installing: {' '.join(command)}", file=sys.stderr)
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=INSTALL_S, check=False, text=True)
    except subprocess.TimeoutExpired:
        raise NotAvailable("its installation takes too long") from None
    if done.returncode != 0:
        raise NotAvailable(f"it cannot be installed: {done.stdout[-500:]}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Peer:
    """A running peer; a context manager that gives its Side and stops the process."""

    def __init__(self, name, root):
        self.name = name
        self.command = PEERS[name](pathlib.Path(root).resolve() / name)

    def __enter__(self):
        port = free_port()
        command, environment = self.command(port)
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            command, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL, env={**os.environ, **environment})
        side = Side(self.name, f"127.0.0.1:{port}")
        deadline = time.monotonic() + START_S
        while side.call("ListTables", {})[0] != 200:
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                raise NotAvailable("it does not start")
        return side

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()
        self.log.close()
