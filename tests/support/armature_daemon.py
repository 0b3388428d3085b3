"""A daemon process for each Python test."""

import http.client
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import urllib.error
import urllib.request

WAIT_S = 60


def has_fault_points(armatured):
    """True if the program was built with fault points: then it holds their names."""
    return b"committer.before_write" in pathlib.Path(armatured).read_bytes()


class Daemon:
    """A daemon on a temporary directory and free ports of 127.0.0.1; a context manager.

    grpc, http, metrics: its addresses, HOST:PORT; None for what is off.
    """

    def __init__(self, armatured, *flags, data_dir=None, **popen_options):
        self.armatured = armatured
        self.flags = flags
        self.data_dir = data_dir
        self.popen_options = popen_options
        self.asking = None

    def __enter__(self):
        self.directory = tempfile.TemporaryDirectory(prefix="armature_test_")
        data_dir = self.data_dir or f"{self.directory.name}/data"
        command = [self.armatured, f"--data_dir={data_dir}", "--grpc_listen=127.0.0.1:0", "--http_listen=127.0.0.1:0"]
        self.errors = open(f"{self.directory.name}/stderr", "w+b")
        self.process = subprocess.Popen(
            [*command, *self.flags], stdout=subprocess.PIPE, stderr=self.errors, **self.popen_options)
        line = self.process.stdout.readline().decode()
        if not line.startswith("ready "):
            self.process.kill()
            written = line + self.log()
            self.__exit__()
            raise RuntimeError(f"the daemon does not serve; it wrote: {written}")
        addresses = dict(word.split("=", 1) for word in line.split()[1:])
        self.grpc = addresses.get("grpc")
        self.http = addresses.get("http")
        self.metrics = addresses.get("metrics")
        return self

    def json_call(self, operation, timeout=WAIT_S, service="DynamoDB_20120810", **members):
        """Calls an operation of the JSON protocol. Returns status and document."""
        request = urllib.request.Request(
            f"http://{self.http}/", data=json.dumps(members).encode(),
            headers={"X-Amz-Target": f"{service}.{operation}", "Content-Type": "application/x-amz-json-1.0"})
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                body = answer.read()
                return answer.status, json.loads(body) if body else {}
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def ask(self, operation, **members):
        """Calls an operation of the JSON protocol over one connection, made by the first call. Returns the status."""
        if self.asking is None:
            self.asking = http.client.HTTPConnection(self.http, timeout=WAIT_S)
        self.asking.request("POST", "/", json.dumps(members), {"X-Amz-Target": f"DynamoDB_20120810.{operation}",
                                                            "Content-Type": "application/x-amz-json-1.0"})
        answer = self.asking.getresponse()
        answer.read()
        return answer.status

    def stream_call(self, operation, **members):
        """The same for an operation on streams."""
        return self.json_call(operation, service="DynamoDBStreams_20120810", **members)

    def create_table(self, name, **members):
        """Creates a table with the string key `id`. Returns when it is active."""
        attributes = [{"AttributeName": "id", "AttributeType": "S"}, *members.pop("more_attributes", [])]
        status, answer = self.json_call(
            "CreateTable", TableName=name, BillingMode="PAY_PER_REQUEST", AttributeDefinitions=attributes,
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}], **members)
        if status != 200:
            raise RuntimeError(f"no table: {answer}")
        while self.json_call("DescribeTable", TableName=name)[1]["Table"]["TableStatus"] != "ACTIVE":
            pass

    def get_text(self, path):
        """Status and text of a path on the address for operators."""
        try:
            with urllib.request.urlopen(f"http://{self.metrics}{path}", timeout=WAIT_S) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def metric(self, name, *labels):
        """The sum of the values of a metric that have these labels, each as LABEL="VALUE"."""
        _, text = self.get_text("/metrics")
        return sum(float(line.split()[-1]) for line in text.splitlines()
                   if line.startswith(name) and all(label in line for label in labels))

    def peak_mb(self):
        """The most memory that the daemon has used since the start, or the last `forget_peak`."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) >> 10

    def forget_peak(self):
        """From now on, `peak_mb` tells the most memory that is used from now on."""
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5", encoding="ascii")

    def log(self):
        """The daemon's stderr so far."""
        self.errors.flush()
        with open(self.errors.name, encoding="utf-8", errors="replace") as text:
            return text.read()

    def stop(self):
        """Sends SIGTERM. Returns the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(WAIT_S)

    def __exit__(self, *_):
        if self.asking is not None:
            self.asking.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.errors.close()
        self.directory.cleanup()


def open_to_others(directory):
    """The directory and everything in it that other users may access."""
    directory = pathlib.Path(directory)
    return [str(path) for path in (directory, *directory.rglob("*")) if path.lstat().st_mode & 0o077]


def client_environment(**more):
    """An environment for clients of the original protocol, without the machine's own AWS settings."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return {
        **environment,
        "AWS_ACCESS_KEY_ID": "anyone",
        "AWS_SECRET_ACCESS_KEY": "anything",
        "AWS_REGION": "local",
        "AWS_DEFAULT_REGION": "local",
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        "AWS_EC2_METADATA_DISABLED": "true",
        **more,
    }
