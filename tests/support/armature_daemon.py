"""Daemons of tests, attacks and benchmarks in Python: the one place that starts them."""

import http.client
import json
import os
import pathlib
import select
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

WAIT_S = 60
# Longest start, also on a machine that does much else.
START_S = 120
LISTEN = ("--grpc_listen=127.0.0.1:0", "--http_listen=127.0.0.1:0")


def has_fault_points(armatured):
    """True if the program was built with fault points: then it holds their names."""
    return b"committer.before_write" in pathlib.Path(armatured).read_bytes()


class Refused(RuntimeError):
    """The daemon ended instead of serving, or did not serve in time."""


def wait_for(condition, what):
    """The first true result of `condition`."""
    deadline = time.monotonic() + WAIT_S
    while not (result := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come in {WAIT_S} s")
    return result


class DaemonProcess:
    """A daemon that can be started again; a context manager that starts none, and kills what runs at its end.

    place: flags that say where its database is. listen: those of its addresses. log_path: its stderr, appended. prefix: a
    program that becomes the daemon. popen_options: of subprocess.Popen.
    process: the one that was started last, or None. grpc, http, metrics: the addresses in its last line, HOST:PORT; empty or
    None for what is off.
    """

    def __init__(self, armatured, *flags, place=(), listen=LISTEN, log_path=None, prefix=(), **popen_options):
        self.armatured = armatured
        self.flags = flags
        self.place = place
        self.listen = listen
        self.log_path = log_path
        self.prefix = prefix
        self.popen_options = popen_options
        self.log_begin = 0
        self.process = self.grpc = self.http = self.metrics = None

    def spawn(self):
        """Starts a process without waiting for it to serve."""
        DaemonProcess.close(self)
        command = [*self.prefix, self.armatured, *self.place, *self.listen, *self.flags]
        with open(self.log_path, "ab") as errors:
            self.log_begin = errors.tell()
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, **self.popen_options)

    def start(self):
        """Starts a process, and waits until it serves. Raises Refused."""
        self.spawn()
        self.wait_until("ready")

    def wait_until(self, state):
        """Waits for the line that begins with `state`: "ready", or "standby" of a daemon that waits for its database and will
        be ready later. Raises Refused, and then the process has ended."""
        try:
            line = self.read_line()
            if state == "ready" and line.startswith("standby "):
                line = self.read_line()
            if not line.startswith(f"{state} "):
                code = None if line else self.process.wait(WAIT_S)
                raise Refused(f"the daemon is not {state}, exit status {code}; it wrote: {line}{self.log()}")
        except Refused:
            self.kill()
            raise
        self.take_addresses(line)

    def read_line(self):
        """The next line of the output; empty at its end. Raises Refused if nothing comes."""
        line, give_up, output = b"", time.monotonic() + START_S, self.process.stdout.fileno()
        while not line.endswith(b"\n"):
            if not select.select([output], [], [], max(0, give_up - time.monotonic()))[0]:
                raise Refused(f"the daemon does not serve after {START_S} s; it wrote: {self.log()}")
            piece = os.read(output, 1)  # what follows the line is left to the next call
            if not piece:
                break
            line += piece
        return line.decode()

    def take_addresses(self, line):
        addresses = dict(word.split("=", 1) for word in line.split()[1:])
        self.grpc, self.http, self.metrics = (addresses.get(name) for name in ("grpc", "http", "metrics"))

    def log(self):
        """The stderr of the process so far."""
        with open(self.log_path, "rb") as log:
            log.seek(self.log_begin)
            return log.read().decode(errors="replace")

    def is_alive(self):
        return self.process is not None and self.process.poll() is None

    def terminate(self):
        """Asks the process to end, without waiting."""
        self.process.send_signal(signal.SIGTERM)

    def end(self, number=signal.SIGTERM):
        """Sends a signal, unless the process has ended. Returns the exit status; None if there was no process."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(WAIT_S)

    def stop(self):
        """Sends SIGTERM. Returns the exit status."""
        return self.end(signal.SIGTERM)

    def kill(self):
        """Returns the exit status: -9 unless the process had ended by itself."""
        return self.end(signal.SIGKILL)

    def close(self):
        """Kills the process if it runs."""
        if self.process is not None:
            self.kill()
            self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Daemon(DaemonProcess):
    """A daemon on a temporary directory, or on `data_dir`; a context manager that starts it."""

    def __init__(self, armatured, *flags, data_dir=None, **popen_options):
        super().__init__(armatured, *flags, **popen_options)
        self.data_dir = data_dir
        self.asking = None

    def __enter__(self):
        self.directory = tempfile.TemporaryDirectory(prefix="armature_test_")
        self.place = (f"--data_dir={self.data_dir or self.directory.name + '/data'}",)
        self.log_path = f"{self.directory.name}/stderr"
        try:
            self.start()
        except Refused:
            self.__exit__()
            raise
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

    def __exit__(self, *_):
        if self.asking is not None:
            self.asking.close()
        self.close()
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
