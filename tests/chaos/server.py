"""The daemon under attack, and connections to it."""

import http.client
import json
import os
import socket

from armature_daemon import DaemonProcess

CALL_S = 30


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


class Server(DaemonProcess):
    """The daemon on a data directory.

    log_path: its stderr, appended. environment: added to that of this program. before: called in the child before exec.
    """

    def __init__(self, armatured, data_dir, log_path, flags=(), environment=None, before=None):
        super().__init__(armatured, *flags, place=(f"--data_dir={data_dir}",), log_path=log_path,
                         env={**os.environ, **(environment or {})}, preexec_fn=before)

    def log(self):
        """The end of the stderr of the process."""
        return super().log()[-1000:]

    def connect(self):
        return Connection(self.http)
