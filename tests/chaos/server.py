"""The daemon under attack, and connections to it."""

import http.client
import json
import os
import select
import signal
import socket
import subprocess
import time

START_S = 60
CALL_S = 30


class Refused(Exception):
    """The daemon ended instead of serving, or did not serve in time."""


class Lost(Exception):
    """The connection broke: it is unknown if the request was executed."""


class Connection:
    """One connection of the JSON protocol. Thread-safety: for one thread."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.connection = http.client.HTTPConnection(host, int(port), timeout=CALL_S)

    def call(self, operation, members):
        """Returns status and document. Raises Lost."""
        headers = {"X-Amz-Target": f"DynamoDB_20120810.{operation}", "Content-Type": "application/x-amz-json-1.0"}
        try:
            if self.connection.sock is None:
                self.connection.connect()
                self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connection.request("POST", "/", json.dumps(members).encode(), headers)
            answer = self.connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.connection.close()
            raise Lost(str(error)) from error

    def close(self):
        self.connection.close()


def error_name(document):
    return document.get("__type", "").rpartition("#")[2]


class Server:
    """A daemon process on a data directory; a context manager that kills it at the end.

    log_path: its stderr, appended. environment: added to that of this program. before: called in the child before exec.
    """

    def __init__(self, armatured, data_dir, log_path, flags=(), environment=None, before=None):
        self.command = [armatured, f"--data_dir={data_dir}", "--grpc_listen=127.0.0.1:0", "--http_listen=127.0.0.1:0", *flags]
        self.log_path = log_path
        self.environment = {**os.environ, **(environment or {})}
        self.before = before
        self.log_begin = 0
        self.process = None
        self.http = None
        self.grpc = None

    def spawn(self):
        """Starts the process without waiting for it to serve."""
        with open(self.log_path, "ab") as errors:
            self.log_begin = errors.tell()
            self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=errors, stdin=subprocess.DEVNULL,
                                            env=self.environment, preexec_fn=self.before)

    def wait_ready(self):
        """Raises Refused."""
        line = b""
        give_up = time.monotonic() + START_S
        stdout = self.process.stdout.fileno()
        while not line.endswith(b"\n"):
            if not select.select([stdout], [], [], max(0, give_up - time.monotonic()))[0]:
                self.kill()
                raise Refused(f"not ready after {START_S} s")
            piece = os.read(stdout, 4096)
            if not piece:
                code = self.process.wait()
                self.release()
                raise Refused(f"ended with {code}: {self.last_words()}")
            line += piece
        addresses = dict(word.split("=", 1) for word in line.decode().split()[1:])
        self.http, self.grpc = addresses["http"], addresses["grpc"]

    def start(self):
        self.spawn()
        self.wait_ready()

    def last_words(self):
        with open(self.log_path, "rb") as log:
            log.seek(self.log_begin)
            return log.read()[-1000:].decode(errors="replace")

    def is_alive(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """Returns the exit code: -9 unless the process had ended by itself."""
        return self.end(signal.SIGKILL)

    def terminate(self):
        """Asks the daemon to end, without waiting."""
        self.process.send_signal(signal.SIGTERM)

    def end(self, number, wait_s=START_S):
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(wait_s)
        self.release()
        return code

    def release(self):
        self.process.stdout.close()
        self.process = None

    def connect(self):
        return Connection(self.http)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
