#!/usr/bin/python3
"""A daemon with default flags in a control group of 220 MB survives clients that write and read large batches at once.

Skipped where no control group with a limit on memory can be made: that needs root, and version 1 or 2 of the controller."""

import argparse
import contextlib
import http.client
import itertools
import json
import os
import pathlib
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from armature_daemon import Daemon  # noqa: E402

WAIT_S = 120
GROUP_BYTES = 220_000_000
CLIENTS = 8
ROUNDS = 3
ITEMS = 25
ITEM_BYTES = 400_000  # 10 MB for a batch
ARGS = None


class MemoryGroup:
    """A control group of this process's own, with a limit; a context manager. Raises OSError if it cannot be made."""

    def __init__(self, limit_bytes):
        self.limit_bytes = limit_bytes
        self.path = None

    def __enter__(self):
        for line in pathlib.Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines():
            _, controllers, own = line.split(":", 2)
            if "memory" in controllers.split(","):
                return self.make(f"/sys/fs/cgroup/memory{own}", "memory.limit_in_bytes")
        own = pathlib.Path("/proc/self/cgroup").read_text(encoding="ascii").split("0::", 1)[1].strip()
        return self.make(f"/sys/fs/cgroup{own}", "memory.max")

    def make(self, parent, limit_file):
        path = pathlib.Path(parent) / f"armature_test_{os.getpid()}"
        path.mkdir()
        self.path = path
        try:
            # Without the controller, the group has no such file, and none can be made.
            with open(path / limit_file, "r+", encoding="ascii") as limit:
                limit.write(str(self.limit_bytes))
        except OSError:
            path.rmdir()
            raise
        return self

    def enter(self):
        """Moves the calling process into the group."""
        (self.path / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")

    def __exit__(self, *_):
        self.path.rmdir()


def writes(client, number):
    """A BatchWriteItem of 10 MB."""
    puts = [{"PutRequest": {"Item": {"id": {"S": f"{client} {item}"}, "text": {"S": str(number) * ITEM_BYTES}}}}
            for item in range(ITEMS)]
    return "BatchWriteItem", {"Items": puts}


def reads(client, _):
    """A BatchGetItem of these items."""
    return "BatchGetItem", {"Items": {"Keys": [{"id": {"S": f"{client} {item}"}} for item in range(ITEMS)]}}


class SmallGroup(unittest.TestCase):
    def call(self, connection, operation, body):
        connection.request("POST", "/", body, {"X-Amz-Target": f"DynamoDB_20120810.{operation}",
                                               "Content-Type": "application/x-amz-json-1.0"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    def run_batch(self, daemon, operation, left, done):
        """Runs a batch as SDKs do: what is refused or left over is sent again."""
        with contextlib.closing(http.client.HTTPConnection(daemon.http, timeout=WAIT_S)) as connection:
            while left:
                try:
                    status, answer = self.call(connection, operation, json.dumps({"RequestItems": left}))
                except (http.client.HTTPException, OSError):
                    if daemon.process.poll() is not None:
                        return
                    connection.close()  # the daemon ends connections when memory is short
                    continue
                if status == 200:
                    left = answer["UnprocessedItems" if operation == "BatchWriteItem" else "UnprocessedKeys"]
                elif status != 503 and "Throttling" not in answer["__type"]:
                    raise AssertionError(f"{status} {answer}")
        done.append(operation)

    def test_it_survives_large_batches(self):
        try:
            group = MemoryGroup(GROUP_BYTES).__enter__()
        except OSError as error:
            self.skipTest(f"no control group with a limit on memory can be made here: {error}")
        with contextlib.ExitStack() as stack:
            stack.push(group)
            daemon = stack.enter_context(Daemon(ARGS.armatured, preexec_fn=group.enter))
            daemon.create_table("Items")
            for number, batch in itertools.product(range(ROUNDS), (writes, reads)):
                done = []
                threads = [threading.Thread(target=self.run_batch, args=(daemon, *batch(client, number), done))
                           for client in range(CLIENTS)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                self.assertIsNone(daemon.process.poll(), f"the daemon ended in round {number} of {batch.__name__}")
                self.assertEqual(len(done), CLIENTS)
                print(f"round {number} of {batch.__name__}: the daemon took up to {daemon.peak_mb()} MiB", flush=True)
            answered, answer = daemon.json_call("GetItem", TableName="Items", Key={"id": {"S": "0 0"}})
            self.assertEqual((answered, answer["Item"]["text"]["S"][:1]), (200, str(ROUNDS - 1)))
            self.assertEqual(daemon.stop(), 0)


def main():
    global ARGS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--armatured", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
