#!/usr/bin/python3
"""A daemon that is stopped and followed by another one on the same directory and ports, several times, under calls at a
steady rate: no call is lost, and none gets an answer that a client must not see.

The new daemon can open the directory only when the old one has closed it, so for a moment nobody listens. Clients of
both protocols, without a library that could hide anything, put items at a rate, and count for each attempt:

  answered     the answer that it is done
  refused      no connection: the attempt was not made. With HTTP/2 a connection is one when the daemon's settings are
               there, as for the libraries of gRPC. Repeated.
  unprocessed  the daemon has said that it has not begun (GOAWAY, REFUSED_STREAM). Repeated.
  unanswered   HTTP/1.1 only: sent on a connection that the daemon closed, without an answer, at that moment: it was idle,
               or had just begun. Repeated, as RFC 9112, section 9.3.1, permits and all SDKs do.
  errors       any other answer. None is allowed.
  cut          the end of a connection in the middle of an answer, or, with HTTP/2, before the answer of a call that the
               daemon had not disowned. None is allowed.
  applied      an attempt that was repeated, although it had been applied: each put demands that its item is new. None is
               allowed.

In the end each item is there, and nothing else. Beside them boto3 puts items with its default retries, and `armature load`,
which repeats what was not answered, loads lines as they come: none of the two may fail.

Run by CTest; by hand: rolling_change_test.py --armatured PATH --armature PATH --rate 10000 --changes 20
"""

import argparse
import collections
import contextlib
import json
import multiprocessing
import pathlib
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from armature_daemon import WAIT_S, Daemon  # noqa: E402
from raw_grpc_client import (  # noqa: E402
    ACK, DATA, END_STREAM, GOAWAY, HEADERS, PING, RST_STREAM, SETTINGS, RawGrpcClient, field, text_item)

TABLE = "Things"
PUT = "/armature.api.v1.ItemService/PutItem"
CONDITION = "attribute_not_exists(id)"
REFUSED_STREAM = 7
CALLS_MAX = 100  # at once, of a connection of HTTP/2
LANES = 16       # connections of HTTP/1.1
ROW_PAUSE_S = 0.002
AGAIN_S = 0.005  # after a refused connection
ARGS = None


class Schedule:
    """Numbers of calls that are due, at a steady rate until `is_over`, and those to be repeated first."""

    def __init__(self, rate, is_over):
        self.pause = 1 / rate
        self.is_over = is_over
        self.next_at = time.monotonic()
        self.number = 0
        self.due = collections.deque()
        self.blocked_until = 0.0

    def look(self):
        now = time.monotonic()
        while self.next_at <= now and not self.is_over.is_set():
            self.due.append(self.number)
            self.number += 1
            self.next_at += self.pause

    def is_done(self):
        return self.is_over.is_set() and not self.due

    def wait_s(self):
        return max(0.0, min(self.next_at - time.monotonic(), 0.05)) if not self.is_over.is_set() else 0.05


class H2Lane:
    """One connection of HTTP/2 with many calls."""

    def __init__(self, address, tally):
        self.address = address
        self.tally = tally
        self.client = None
        self.open = {}  # calls by stream
        self.received = collections.Counter()
        self.is_ready = False
        self.is_leaving = False

    def connect(self):
        host, port = self.address.rsplit(":", 1)
        self.client = RawGrpcClient(self.address, connect=lambda _: socket.create_connection((host, int(port))))

    def send(self, numbers):
        frames = b""
        for number in numbers:
            request = (field(1, TABLE.encode()) + field(2, text_item(id=f"g{number}")) + field(3, CONDITION.encode()))
            more, stream = self.client.call_frames(PUT, request)
            self.open[stream] = number
            frames += more
        # The end of the connection shows when it is read.
        with contextlib.suppress(ConnectionError):
            self.client.socket.sendall(frames)

    def receive(self):
        """Takes what has arrived. Returns the calls to repeat."""
        client = self.client
        try:
            part = client.socket.recv(1 << 16)
        except ConnectionError:
            part = b""
        if not part:
            return self.end()
        again = []
        data = client.unread + part
        at = 0
        while len(data) - at >= 9:
            size = int.from_bytes(data[at:at + 3], "big")
            if len(data) - at - 9 < size:
                break
            kind, flags, stream = data[at + 3], data[at + 4], int.from_bytes(data[at + 5:at + 9], "big")
            again += self.take(kind, flags, stream, data[at + 9:at + 9 + size])
            at += 9 + size
        client.unread = data[at:]
        return again

    def take(self, kind, flags, stream, payload):
        self.is_ready = True
        if kind in (SETTINGS, PING) and not flags & ACK:
            with contextlib.suppress(ConnectionError):
                self.client.socket.sendall(self.client.frame(kind, ACK, 0, payload if kind == PING else b""))
        elif kind == GOAWAY:
            self.is_leaving = True
            last = int.from_bytes(payload[:4], "big")
            return self.disowned([each for each in self.open if each > last])
        elif kind == RST_STREAM and stream in self.open:
            if int.from_bytes(payload, "big") == REFUSED_STREAM:
                return self.disowned([stream])
            self.finish(stream, "errors")
        elif kind == DATA:
            self.received[stream] += len(payload)
        if kind in (DATA, HEADERS) and flags & END_STREAM and stream in self.open:
            # A call that fails has no message.
            self.finish(stream, "answered" if self.received[stream] >= 5 else "errors")
        return []

    def disowned(self, streams):
        self.tally["unprocessed"] += len(streams)
        return [self.open.pop(stream) for stream in streams]

    def finish(self, stream, outcome):
        self.tally[outcome] += 1
        del self.open[stream]
        self.received.pop(stream, None)

    def end(self):
        self.tally["cut"] += len(self.open)
        self.tally["refused"] += 0 if self.is_ready else 1
        self.client.close()
        self.client = None
        self.open.clear()
        return []


def call_over_h2(address, schedule, tally, answered):
    # A connection that has said goodbye still answers, and another one begins.
    lanes = []
    while not (schedule.is_done() and not any(lane.open for lane in lanes)):
        schedule.look()
        if schedule.due and all(lane.is_leaving for lane in lanes) and time.monotonic() >= schedule.blocked_until:
            lane = H2Lane(address, tally)
            try:
                lane.connect()
                lanes.append(lane)
            except ConnectionError:
                tally["refused"] += 1
                schedule.blocked_until = time.monotonic() + AGAIN_S
        for lane in lanes:
            numbers = []
            while schedule.due and lane.is_ready and not lane.is_leaving and len(lane.open) + len(numbers) < CALLS_MAX:
                numbers.append(schedule.due.popleft())
            if numbers:
                lane.send(numbers)
        sockets = [lane.client.socket for lane in lanes]
        ready, _, _ = select.select(sockets, [], [], schedule.wait_s() if lanes else AGAIN_S)
        for lane in lanes:
            if lane.client.socket in ready:
                schedule.due.extendleft(lane.receive())
        lanes = [lane for lane in lanes if lane.client is not None]
        answered.value = tally["answered"]
    for lane in lanes:
        lane.client.close()


class Http1Lane:
    """A connection of HTTP/1.1 with one call at a time."""

    def __init__(self, address, tally):
        host, port = address.rsplit(":", 1)
        self.address = (host, int(port))
        self.tally = tally
        self.socket = None
        self.number = None
        self.received = b""

    def send(self, number):
        """False if there is no connection."""
        if self.socket is None:
            try:
                self.socket = socket.create_connection(self.address, timeout=WAIT_S)
            except ConnectionError:
                self.tally["refused"] += 1
                return False
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        body = json.dumps({"TableName": TABLE, "Item": {"id": {"S": f"h{number}"}}, "ConditionExpression": CONDITION})
        head = ("POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810.PutItem\r\n"
                f"Content-Type: application/x-amz-json-1.0\r\nContent-Length: {len(body)}\r\n\r\n")
        self.number = number
        # The end of the connection shows when it is read.
        with contextlib.suppress(ConnectionError):
            self.socket.sendall((head + body).encode())
        return True

    def receive(self):
        """Takes what has arrived. Returns the calls to repeat."""
        try:
            part = self.socket.recv(1 << 16)
        except ConnectionError:
            part = b""
        if not part:
            return self.end()
        self.received += part
        head, separator, body = self.received.partition(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        size = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), 0)
        if not separator or len(body) < size:
            return []
        status = int(head.split()[1])
        self.tally["answered" if status == 200 else "applied" if b"ConditionalCheckFailed" in body else "errors"] += 1
        self.received = b""
        self.number = None
        if b"connection: close" in lines:
            self.close()
        return []

    def end(self):
        again = []
        if self.number is not None:
            self.tally["cut" if self.received else "unanswered"] += 1
            again = [] if self.received else [self.number]
        self.close()
        return again

    def close(self):
        if self.socket is not None:
            self.socket.close()
        self.socket = None
        self.number = None
        self.received = b""


def call_over_http1(address, schedule, tally, answered):
    lanes = [Http1Lane(address, tally) for _ in range(LANES)]
    while not (schedule.is_done() and all(lane.number is None for lane in lanes)):
        schedule.look()
        for lane in lanes:
            if not schedule.due or time.monotonic() < schedule.blocked_until:
                break
            if lane.number is not None:
                continue
            if lane.send(schedule.due[0]):
                schedule.due.popleft()
            else:
                schedule.blocked_until = time.monotonic() + AGAIN_S
        by_socket = {lane.socket: lane for lane in lanes if lane.socket is not None}
        ready, _, _ = select.select(list(by_socket), [], [], schedule.wait_s() if by_socket else AGAIN_S)
        for each in ready:
            schedule.due.extendleft(by_socket[each].receive())
        answered.value = tally["answered"]
    for lane in lanes:
        lane.close()


class Caller:
    """A process that calls at a rate."""

    def __init__(self, call, address, rate):
        self.is_over = multiprocessing.Event()
        self.answered = multiprocessing.Value("q", 0)
        self.results = multiprocessing.Queue()
        self.process = multiprocessing.Process(target=self.run, args=(call, address, rate), daemon=True)
        self.process.start()

    def run(self, call, address, rate):
        tally = collections.Counter()
        schedule = Schedule(rate, self.is_over)
        call(address, schedule, tally, self.answered)
        self.results.put((schedule.number, tally))

    def await_more(self, count):
        """Returns when so many further calls are answered."""
        until = self.answered.value + count
        give_up = time.monotonic() + WAIT_S
        while self.answered.value < until:
            if not self.process.is_alive() or time.monotonic() > give_up:
                raise RuntimeError(f"{self.answered.value} calls are answered, not {until}")
            self.process.join(0.01)

    def finish(self):
        """The number of calls, and the tally of attempts."""
        self.is_over.set()
        result = self.results.get(timeout=WAIT_S)
        self.process.join(WAIT_S)
        return result


class Library(threading.Thread):
    """Calls of a client with retries of its own, one after another. `put`: puts the item of a number, or raises."""

    def __init__(self, put):
        super().__init__(daemon=True)
        self.put = put
        self.is_over = threading.Event()
        self.done = 0
        self.failed = []
        self.start()

    def run(self):
        while not self.is_over.is_set():
            try:
                self.put(self.done + len(self.failed))
                self.done += 1
            except Exception as error:  # of any library
                self.failed.append(repr(error))


def boto3_put(address):
    """None if there is no boto3."""
    try:
        import boto3
    except ImportError:
        return None
    client = boto3.client("dynamodb", endpoint_url=f"http://{address}", region_name="local", aws_access_key_id="anyone",
                          aws_secret_access_key="anything")
    return lambda number: client.put_item(TableName=TABLE, Item={"id": {"S": f"b{number}"}})


class Load(threading.Thread):
    """`armature load` of lines that come one after another."""

    def __init__(self, address):
        super().__init__(daemon=True)
        self.process = subprocess.Popen([ARGS.armature, "--endpoint", address, "load", "--table-name", TABLE, "-"],
                                        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.is_over = threading.Event()
        self.rows = 0
        self.start()

    def run(self):
        with contextlib.suppress(BrokenPipeError):
            while not self.is_over.wait(ROW_PAUSE_S):
                self.process.stdin.write(json.dumps({"id": {"S": f"l{self.rows}"}}).encode() + b"\n")
                self.process.stdin.flush()
                self.rows += 1

    def finish(self):
        """The exit status, and the text of an error."""
        self.is_over.set()
        self.join()
        _, error = self.process.communicate(timeout=WAIT_S)
        return self.process.returncode, error.decode()


class RollingChange(unittest.TestCase):
    def start(self, data, *flags):
        self.daemon = Daemon(ARGS.armatured, *flags, data_dir=data)
        self.daemon.__enter__()

    def items(self):
        """Numbers of items by the first letter of their keys."""
        found = collections.Counter()
        start = {}
        while start is not None:
            _, page = self.daemon.json_call("Scan", TableName=TABLE, **start)
            found.update(item["id"]["S"][0] for item in page["Items"])
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]} if "LastEvaluatedKey" in page else None
        return found

    def test_no_call_is_lost(self):
        with tempfile.TemporaryDirectory(prefix="armature_rolling_") as directory:
            data = directory + "/data"
            self.start(data)
            # Whichever runs then.
            self.addCleanup(lambda: self.daemon.__exit__())
            self.daemon.create_table(TABLE)
            grpc, http = self.daemon.grpc, self.daemon.http
            callers = {"gRPC": Caller(call_over_h2, grpc, ARGS.rate / 2),
                       "HTTP/1.1": Caller(call_over_http1, http, ARGS.rate / 2)}
            put = boto3_put(http)
            library = None if put is None else Library(put)
            load = Load(grpc)
            # Its first calls are those of a command, which gives up sooner.
            while "Item" not in self.daemon.json_call("GetItem", TableName=TABLE, Key={"id": {"S": "l0"}})[1]:
                self.assertIsNone(load.process.poll())
            gaps = []
            for _ in range(ARGS.changes):
                for caller in callers.values():
                    caller.await_more(max(20, ARGS.rate / 10))
                old = self.daemon
                begin = time.monotonic()
                self.assertEqual(old.stop(), 0, old.log())
                old.__exit__()
                self.start(data, f"--grpc_listen={grpc}", f"--http_listen={http}")
                gaps.append(time.monotonic() - begin)
            for caller in callers.values():
                caller.await_more(max(20, ARGS.rate / 10))
            print(f"{ARGS.changes} changes of {min(gaps):.2f} to {max(gaps):.2f} s", file=sys.stderr)
            results = {name: caller.finish() for name, caller in callers.items()}
            status, error = load.finish()
            self.assertEqual(status, 0, error)
            if library is not None:
                library.is_over.set()
                library.join(WAIT_S)
            self.check(results, library, load)

    def check(self, results, library, load):
        found = self.items()
        for name, (calls, tally) in results.items():
            print(f"{name}: {calls} calls, attempts {dict(tally)}", file=sys.stderr)
            self.assertEqual((tally["errors"], tally["cut"], tally["applied"]), (0, 0, 0), name)
            self.assertEqual(tally["answered"], calls, name)
            self.assertEqual(found[name[0].lower()], calls, name)
        print(f"armature load: {load.rows} rows; boto3: {library and library.done} calls", file=sys.stderr)
        self.assertEqual(found["l"], load.rows, "armature load")
        if library is not None:
            self.assertEqual(library.failed, [], "boto3")
            self.assertEqual(found["b"], library.done, "boto3")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--armature", required=True)
    parser.add_argument("--rate", type=float, default=400, help="calls a second, half over each protocol")
    parser.add_argument("--changes", type=int, default=4)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
