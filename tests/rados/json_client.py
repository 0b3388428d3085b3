"""Clients of several daemons that share a database, by the JSON protocol. Nothing is repeated unless a caller asks for it."""

import http.client
import json
import random
import socket
import time

# An unanswered request tells nothing, and the next one may go elsewhere.
CALL_SECONDS = 3
PROGRESS_SECONDS = 120
REPEATED = ("ServiceUnavailable", "InternalServerError", "ThrottlingException")
# In texts of ServiceUnavailable that an error of the store becomes. A write may have been done nevertheless; all others are
# refused before they begin.
UNKNOWN_UNAVAILABLE = ("cannot carry out", "disk", "descriptors")


class NotSent(OSError):
    """There is no connection, so nothing was done."""


class Refused(Exception):
    """The daemon answered with an error. `answer`: its members."""

    def __init__(self, name, text, answer):
        super().__init__(f"{name}: {text}")
        self.name, self.text, self.answer = name, text, answer

    @property
    def certainly_not_done(self):
        if self.name == "ThrottlingException":
            return True
        return self.name == "ServiceUnavailable" and not any(words in self.text for words in UNKNOWN_UNAVAILABLE)


class Client:
    """Calls the address that answered last, or the next one; with `turn` always the one of that daemon."""

    def __init__(self, cluster, turn=None):
        self.cluster, self.stays = cluster, turn is not None
        self.turn = turn if self.stays else random.randrange(len(cluster.daemons))
        self.connection = None

    def connect(self):
        address = self.cluster.daemons[self.turn].http
        if address is None:
            raise NotSent("not started")
        connection = http.client.HTTPConnection(address, timeout=CALL_SECONDS)
        try:
            connection.connect()
        except OSError as error:
            raise NotSent(str(error)) from error
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connection = connection

    def attempt(self, operation, body):
        """The answer of one daemon. Raises NotSent or Refused, or another OSError, HTTPException or ValueError when the
        outcome is unknown."""
        if self.connection is None:
            self.connect()
        headers = {"X-Amz-Target": f"DynamoDB_20120810.{operation}", "Content-Type": "application/x-amz-json-1.0"}
        self.connection.request("POST", "/", json.dumps(body), headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status == 200:
            return json.loads(text)
        error = json.loads(text)
        raise Refused(error["__type"].split("#")[-1], error.get("message", error.get("Message", "")), error)

    def move(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None
        if not self.stays:
            self.turn = (self.turn + 1) % len(self.cluster.daemons)

    def call_once(self, operation, body, passed=()):
        """The answer, or None if there is none. Errors in `passed` count as answers."""
        try:
            return self.attempt(operation, body)
        except Refused as refused:
            if refused.name in passed:
                return {}
            if refused.name not in REPEATED:
                raise
        except (OSError, http.client.HTTPException, ValueError):
            pass
        self.move()
        return None

    def call(self, operation, body, stop, passed=()):
        """Repeats until an answer comes; None if `stop` is set first."""
        while not stop.is_set():
            answer = self.call_once(operation, body, passed)
            if answer is not None:
                return answer
            stop.wait(0.02)
        return None


class Deadline:
    """A `stop` of calls that is set by itself."""

    def __init__(self):
        self.end = time.monotonic() + PROGRESS_SECONDS

    def is_set(self):
        if time.monotonic() > self.end:
            raise SystemExit("a call was not answered in time")
        return False

    def wait(self, seconds):
        time.sleep(seconds)
