#!/usr/bin/python3
"""Watches through the real daemon and the command line: nothing is lost or repeated over kills, and readers that stop cost no memory.

Run by CTest; by hand, for example with 200 kills: watch_test.py --armatured PATH --armature PATH --kills 200 [unittest arguments]
"""

import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error

import grpc

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import WAIT_S, Daemon  # noqa: E402

PATHS = argparse.Namespace()
TABLE = "Changes"
KEYS = 30
VIEW = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


def check(answer):
    status, document = answer
    if status != 200:
        raise AssertionError(document)
    return document


def item_of(key, value):
    return {"id": {"S": f"k{key}"}, "v": {"N": str(value)}}


def await_true(holds, what):
    deadline = time.monotonic() + WAIT_S
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {WAIT_S} s: {what}")


class Replica:
    """The table, as its changes tell it. Any lost, repeated or reordered change of an item is an error."""

    def __init__(self):
        self.items, self.records, self.sequence = {}, 0, 0

    def apply(self, record):
        change = record["dynamodb"]
        key, sequence = change["Keys"]["id"]["S"], int(change["SequenceNumber"])
        assert sequence > self.sequence, f"{sequence} after {self.sequence}"
        self.sequence = sequence
        assert change.get("OldImage") == self.items.get(key), f"{key}: {change} after {self.items.get(key)}"
        if "NewImage" in change:
            self.items[key] = change["NewImage"]
        else:
            del self.items[key]
        self.records += 1


class Writer(threading.Thread):
    """Writes until the daemon is gone, or `count` times."""

    def __init__(self, daemon, seed, count=None):
        super().__init__(daemon=True)
        self.server, self.rng, self.count, self.acknowledged = daemon, random.Random(seed), count, 0

    def write(self):
        key, value = self.rng.randrange(KEYS), self.rng.randrange(4)
        kind = self.rng.randrange(4)
        if kind == 0:
            return self.server.json_call("DeleteItem", TableName=TABLE, Key={"id": {"S": f"k{key}"}})
        if kind == 1:
            keys = self.rng.sample(range(KEYS), 3)
            return self.server.json_call("TransactWriteItems", TransactItems=[
                {"Put": {"TableName": TABLE, "Item": item_of(each, value)}} for each in keys])
        return self.server.json_call("PutItem", TableName=TABLE, Item=item_of(key, value))

    def run(self):
        while self.count is None or self.acknowledged < self.count:
            try:
                status, _ = self.write()
            except (OSError, urllib.error.URLError, ValueError):
                return
            self.acknowledged += status == 200


class WatchProcess:
    """`armature watch`; its records are applied to a replica."""

    def __init__(self, socket, *arguments):
        self.replica, self.fault = Replica(), None
        self.process = subprocess.Popen([PATHS.armature, f"--endpoint=unix:{socket}", "watch", TABLE, *arguments],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        try:
            for line in self.process.stdout:
                self.replica.apply(json.loads(line))
        except (AssertionError, ValueError) as fault:
            self.fault = fault

    def has(self, items):
        if self.fault is not None:
            raise self.fault
        if self.process.poll() is not None:
            raise AssertionError(f"the watch has ended: {self.process.stderr.read()}")
        return dict(self.replica.items) == items

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(WAIT_S)
        self.thread.join(WAIT_S)
        self.process.stdout.close()
        self.process.stderr.close()


def text_field(number, text):
    return bytes([number << 3 | 2, len(text)]) + text.encode()


def raw_watch(channel, *, oldest=False):
    """A call of Watch whose messages stay bytes."""
    call = channel.unary_stream("/armature.api.v1.StreamService/Watch", request_serializer=None, response_deserializer=None)
    return call(text_field(1, TABLE) + bytes([3 << 3, 2 if oldest else 1]))


class WatchTest(unittest.TestCase):
    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory(prefix="armature_watch_"))
        self.socket = f"{self.directory}/socket"

    def serve(self, *flags):
        return Daemon(PATHS.armatured, f"--grpc_listen=unix:{self.socket}", *flags, data_dir=f"{self.directory}/data")

    def table(self, daemon):
        return {item["id"]["S"]: item for item in check(daemon.json_call("Scan", TableName=TABLE))["Items"]}

    def write_until(self, daemon, wanted, rng):
        writers = [Writer(daemon, rng.getrandbits(64)) for _ in range(3)]
        for writer in writers:
            writer.start()
        await_true(lambda: sum(writer.acknowledged for writer in writers) >= wanted, "writes")
        return writers

    def cli(self, *arguments, exit_code=0):
        done = subprocess.run([PATHS.armature, f"--endpoint=unix:{self.socket}", *arguments], capture_output=True, text=True,
                              timeout=WAIT_S, check=False)
        self.assertEqual(done.returncode, exit_code, done.stderr + done.stdout)
        return done.stderr if exit_code else done.stdout

    def test_over_restarts_a_watch_loses_and_repeats_nothing(self):
        rng = random.Random(PATHS.seed)
        with self.serve() as daemon:
            daemon.create_table(TABLE, StreamSpecification=VIEW)
            watch = WatchProcess(self.socket, "--from", "oldest")
            await_true(lambda: watch.has({}), "the watch begins")
        for kill in range(PATHS.kills):
            with self.serve() as daemon:
                items = self.table(daemon)
                await_true(lambda: watch.has(items), f"seed {PATHS.seed}, before kill {kill}")
                writers = self.write_until(daemon, rng.randrange(5, 60), rng)
                if kill % 3 == 2:
                    self.assertEqual(daemon.stop(), 0)
                else:
                    daemon.kill()
                for writer in writers:
                    writer.join(WAIT_S)
        with self.serve() as daemon:
            items = self.table(daemon)
            await_true(lambda: watch.has(items), f"seed {PATHS.seed}, at the end")
            watch.stop()
        print(f"watch: restarts={PATHS.kills} seed={PATHS.seed} records={watch.replica.records}")

    def test_a_command_handles_each_record_at_least_once(self):
        rng = random.Random(PATHS.seed)
        handled = pathlib.Path(self.directory, "handled")
        # Ends now and then between a record and its acknowledgement.
        life = 30 + 5 * PATHS.kills
        command = (f"n=0; while read -r r; do echo \"$r\" >>{handled}; n=$((n+1)); [ $n -eq {life} ] && exit 3; "
                   "echo ok; done")
        arguments = ("--from", "oldest", "--exec", command, "--position-file", f"{self.directory}/position")

        def replayed():
            replica, seen = Replica(), 0
            lines = handled.read_text().splitlines() if handled.exists() else []
            for record in map(json.loads, (line for line in lines if line.endswith("}"))):
                sequence = int(record["dynamodb"]["SequenceNumber"])
                if sequence > seen:  # else a repetition
                    replica.apply(record)
                    seen = sequence
            return replica

        with self.serve() as daemon:
            daemon.create_table(TABLE, StreamSpecification=VIEW)
        for kill in range(PATHS.kills):
            with self.serve() as daemon:
                watch = WatchProcess(self.socket, *arguments)
                writers = self.write_until(daemon, rng.randrange(5, 60), rng)
                before = replayed().records
                await_true(lambda: replayed().records > before, f"seed {PATHS.seed}, records before kill {kill}")
                for process in rng.sample([watch.process, daemon.process], 1 + kill % 2):
                    process.kill()
                daemon.process.kill()
                for writer in writers:
                    writer.join(WAIT_S)
                watch.stop(signal.SIGKILL)
        with self.serve() as daemon:
            watch = WatchProcess(self.socket, *arguments)
            items = self.table(daemon)
            await_true(lambda: replayed().items == items, f"seed {PATHS.seed}, at the end")
            watch.stop()
        print(f"exec: kills={PATHS.kills} seed={PATHS.seed} records={replayed().records} "
              f"repeated={len(handled.read_text().splitlines()) - replayed().records}")

    def test_readers_that_stop_cost_no_memory_and_go_on(self):
        def resident():
            return int(pathlib.Path(f"/proc/{daemon.process.pid}/statm").read_text().split()[1]) * 4096

        def goes_on(call):
            received = 0
            try:
                while received < count * size:
                    received += len(next(call))
            except grpc.RpcError as error:
                self.assertEqual(error.code(), grpc.StatusCode.UNAVAILABLE)
                return False
            return True

        with self.serve("--request_memory_mb=64") as daemon:
            daemon.create_table(TABLE, StreamSpecification=VIEW)
            channels = [grpc.insecure_channel(f"unix:{self.socket}", options=[("grpc.use_local_subchannel_pool", 1)])
                        for _ in range(PATHS.stalled)]
            calls = [raw_watch(channel) for channel in channels]
            for call in calls:
                next(call)  # it is open
            before = resident()
            count, size = 400, 100_000
            for number in range(count):
                check(daemon.json_call("PutItem", TableName=TABLE, Item={
                    **item_of(number % KEYS, number), "b": {"S": "x" * size}}))
            # The writes let memtables grow, too. All records would be 40 MB for each reader.
            grown = resident() - before
            grown = max(grown, self.write_for(PATHS.stalled_seconds, daemon, lambda: resident() - before))
            print(f"stalled: watches={PATHS.stalled} written_mb={count * size >> 20} grown_mb={grown >> 20}")
            self.assertLess(grown, (160 << 20) + PATHS.stalled * (2 << 20))
            # Many readers of one client together take more than their half of the budget: then the largest ones are ended.
            self.assertTrue(any(goes_on(call) for call in calls))
            for channel in channels:
                channel.close()

    def write_for(self, seconds, daemon, grown):
        """Writes about fifty items a second. Returns the largest value of `grown`, which is read every minute."""
        begin, largest, minutes = time.monotonic(), 0, 0
        pause = threading.Event()
        while (passed := time.monotonic() - begin) < seconds:
            check(daemon.json_call("PutItem", TableName=TABLE, Item={**item_of(1, minutes), "b": {"S": "x" * 1000}}))
            pause.wait(0.02)
            if passed // 60 > minutes:
                minutes = int(passed // 60)
                largest = max(largest, grown())
                print(f"after {minutes} min: grown_mb={grown() >> 20}", flush=True)
        return largest

    def test_a_reader_that_falls_behind_is_told(self):
        with self.serve("--stream_mb_max=16") as daemon:
            daemon.create_table(TABLE, StreamSpecification=VIEW)
            with grpc.insecure_channel(f"unix:{self.socket}") as channel:
                call = raw_watch(channel)
                next(call)
                for number in range(200):
                    check(daemon.json_call("PutItem", TableName=TABLE, Item={
                        **item_of(number % KEYS, number), "b": {"S": "x" * 200_000}}))
                with self.assertRaises(grpc.RpcError) as fallen:
                    for _ in call:
                        pass
                self.assertEqual(fallen.exception.code(), grpc.StatusCode.OUT_OF_RANGE)
                self.assertIn("fell behind", fallen.exception.details())

    def test_a_watch_does_not_delay_the_end_of_the_daemon(self):
        with self.serve() as daemon:
            daemon.create_table(TABLE, StreamSpecification=VIEW)
            with grpc.insecure_channel(f"unix:{self.socket}") as channel:
                call = raw_watch(channel)
                next(call)
                self.assertEqual(daemon.stop(), 0)
                with self.assertRaises(grpc.RpcError) as ended:
                    for _ in call:
                        pass
                self.assertEqual(ended.exception.code(), grpc.StatusCode.UNAVAILABLE)

    def test_the_number_of_watches_is_limited(self):
        with self.serve("--watch_max=4", "--metrics_listen=127.0.0.1:0") as daemon:
            daemon.create_table(TABLE, StreamSpecification=VIEW)
            with grpc.insecure_channel(f"unix:{self.socket}") as channel:
                calls = [raw_watch(channel) for _ in range(2)]
                for call in calls:
                    next(call)
                self.assertIn("armature_watches 2\n", daemon.get_text("/metrics")[1])
                with self.assertRaises(grpc.RpcError) as refused:
                    next(raw_watch(channel))
                self.assertIn("half of --watch_max", refused.exception.details())
                calls[0].cancel()
                await_true(lambda: "armature_watches 1\n" in daemon.get_text("/metrics")[1], "the place is free")
                next(raw_watch(channel))

    def test_rights_are_checked_at_the_start_and_after_each_reload(self):
        file = pathlib.Path(self.directory, "credentials")

        def permit(**policies):
            text = json.dumps({
                "access_keys": [{"id": f"AK{name}", "secret": f"secret-of-{name}-123456", "policy": name} for name in policies],
                "policies": policies})
            with open(file, "w", opener=lambda path, flags: os.open(path, flags, 0o600), encoding="utf-8") as to:
                to.write(text)

        def command(name, *arguments):
            return subprocess.Popen(
                [PATHS.armature, f"--endpoint=unix:{self.socket}", f"--access-key=AK{name}", *arguments],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env={**os.environ, "ARMATURE_SECRET_KEY": f"secret-of-{name}-123456"})

        def ended(process, exit_code):
            out, err = process.communicate(timeout=WAIT_S)
            self.assertEqual(process.returncode, exit_code, err)
            return out + err

        everything = {"allow": [{"operations": ["*"], "tables": ["*"]}]}
        tenant = {"allow": [{"operations": ["Watch"], "tables": [TABLE],
                             "condition": {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["k3"]}}}]}
        readers = {"allow": [{"operations": ["GetItem", "GetRecords"], "tables": ["*"]}]}
        with self.serve() as daemon:
            daemon.create_table(TABLE, StreamSpecification=VIEW)
            for number in range(5):
                check(daemon.json_call("PutItem", TableName=TABLE, Item=item_of(number, number)))
        permit(all=everything, tenant=tenant, readers=readers)
        with self.serve(f"--credentials_file={file}") as daemon:
            oldest = ("watch", TABLE, "--from", "oldest", "--limit", "1")
            self.assertIn("k0", ended(command("all", *oldest), 0))
            self.assertIn("k3", ended(command("tenant", *oldest, "--partition-key", '{"id": {"S": "k3"}}'), 0))
            for name, arguments in [("tenant", oldest), ("readers", oldest),
                                    ("tenant", (*oldest, "--partition-key", '{"id": {"S": "k1"}}'))]:
                self.assertIn("AccessDeniedException", ended(command(name, *arguments), 1))
            watch = command("all", "watch", TABLE, "--from", "oldest")
            ended(command("all", "item", "put", "--table-name", TABLE, "--item", json.dumps(item_of(6, 6))), 0)
            for _ in range(6):
                self.assertIn("Keys", watch.stdout.readline())
            permit(all=readers)
            daemon.process.send_signal(signal.SIGHUP)
            self.assertIn("AccessDeniedException", ended(watch, 1))

    def test_a_change_after_the_end_of_a_right_is_not_delivered(self):
        file = pathlib.Path(self.directory, "credentials")

        def permit(reader):
            text = json.dumps({
                "access_keys": [{"id": f"AK{name}", "secret": f"secret-of-{name}-123456", "policy": name}
                                for name in ("all", "reader")],
                "policies": {"all": {"admin": True, "allow": [{"operations": ["*"], "tables": ["*"]}]}, "reader": reader}})
            with open(file, "w", opener=lambda path, flags: os.open(path, flags, 0o600), encoding="utf-8") as to:
                to.write(text)

        def command(name, *arguments):
            return subprocess.Popen(
                [PATHS.armature, f"--endpoint=unix:{self.socket}", f"--access-key=AK{name}", *arguments],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env={**os.environ, "ARMATURE_SECRET_KEY": f"secret-of-{name}-123456"})

        def run(name, *arguments):
            process = command(name, *arguments)
            out, err = process.communicate(timeout=WAIT_S)
            return process.returncode, out + err

        def put(number):
            code, text = run("all", "item", "put", "--table-name", TABLE, "--item", json.dumps(item_of(number, number)))
            self.assertEqual(code, 0, text)

        def is_refused():
            return "AccessDeniedException" in run("reader", "watch", TABLE, "--from", "oldest", "--limit", "1")[1]

        def revoke_by_policy():
            document = {"Version": "2012-10-17", "Statement": {
                "Effect": "Deny", "Principal": {"AWS": "AKreader"}, "Action": "dynamodb:Watch", "Resource": "*"}}
            arn = f"arn:aws:dynamodb:local:000000000000:table/{TABLE}"
            code, text = run("all", "policy", "put", "--resource-arn", arn, "--policy", json.dumps(document))
            self.assertEqual(code, 0, text)

        def revoke_by_reload():
            permit({"allow": [{"operations": ["GetItem"], "tables": ["*"]}]})
            daemon.process.send_signal(signal.SIGHUP)

        with self.serve() as daemon:
            daemon.create_table(TABLE, StreamSpecification=VIEW)
            check(daemon.json_call("PutItem", TableName=TABLE, Item=item_of(0, 0)))
        for number, revoke in ((10, revoke_by_reload), (20, revoke_by_policy)):
            permit({"allow": [{"operations": ["Watch"], "tables": ["*"]}]})
            with self.subTest(revoke=revoke.__name__), self.serve(f"--credentials_file={file}") as daemon:
                watch = command("reader", "watch", TABLE, "--from", "oldest")
                self.assertIn("Keys", watch.stdout.readline())
                # The command watches by two calls. This change comes by the second.
                put(number)
                while f'"k{number}"' not in watch.stdout.readline():
                    self.assertIsNone(watch.poll())
                revoke()
                await_true(is_refused, "the right has ended")
                put(number + 1)
                out, err = watch.communicate(timeout=WAIT_S)
                self.assertNotIn(f"k{number + 1}", out)
                self.assertEqual((watch.returncode, "AccessDeniedException" in err), (1, True), err)

    def test_a_command_that_fails_at_once_leaves_the_position(self):
        place = pathlib.Path(self.directory, "position")
        with self.serve() as daemon:
            daemon.create_table(TABLE, StreamSpecification=VIEW)
            check(daemon.json_call("PutItem", TableName=TABLE, Item=item_of(1, 1)))
            self.cli("watch", TABLE, "--from", "oldest", "--position-file", str(place), "--limit", "1")
            before = place.read_text()
            check(daemon.json_call("PutItem", TableName=TABLE, Item=item_of(2, 2)))
            runs = pathlib.Path(self.directory, "runs")
            watch = subprocess.Popen([PATHS.armature, f"--endpoint=unix:{self.socket}", "watch", TABLE, "--position-file",
                                      str(place), "--exec", f"echo x >>{runs}; exit 1"], stderr=subprocess.DEVNULL)
            await_true(lambda: runs.exists() and len(runs.read_text()) >= 4, "the command has failed twice")
            watch.kill()
            watch.wait(WAIT_S)
            self.assertEqual(place.read_text(), before)
            rest = self.cli("watch", TABLE, "--position-file", str(place), "--limit", "1")
            self.assertIn("k2", rest)

    def test_filters_positions_and_limits_on_the_command_line(self):
        def records(*arguments):
            return [json.loads(line) for line in self.cli("watch", TABLE, *arguments).splitlines()]

        with self.serve() as daemon:
            daemon.create_table(TABLE, StreamSpecification=VIEW)
            for number in range(20):
                check(daemon.json_call("PutItem", TableName=TABLE, Item=item_of(number % 5, number)))
            keyed = records("--from", "oldest", "--partition-key", '{"id": {"S": "k3"}}', "--limit", "4")
            self.assertEqual([each["dynamodb"]["NewImage"]["v"]["N"] for each in keyed], ["3", "8", "13", "18"])
            high = records("--from", "oldest", "--filter", "v > :v", "--expression-attribute-values", '{":v": {"N": "16"}}',
                           "--limit", "3", "--stream-view-type", "NEW_IMAGE")
            self.assertEqual([each["dynamodb"]["NewImage"]["v"]["N"] for each in high], ["17", "18", "19"])
            self.assertNotIn("OldImage", high[0]["dynamodb"])
            rest = records("--from", keyed[2]["dynamodb"]["SequenceNumber"], "--limit", "6", "--output", "jsonl")
            self.assertEqual([each["dynamodb"]["NewImage"]["v"]["N"] for each in rest], [str(n) for n in range(14, 20)])
            place = f"{self.directory}/position"
            first = records("--from", "oldest", "--position-file", place, "--limit", "7")
            then = records("--position-file", place, "--limit", "13")
            self.assertEqual([each["dynamodb"]["NewImage"]["v"]["N"] for each in first + then], [str(n) for n in range(20)])

    def test_bad_input_is_refused(self):
        def refused(text, *arguments, exit_code=1):
            self.assertIn(text, self.cli("watch", *arguments, exit_code=exit_code))

        with self.serve() as daemon:
            daemon.create_table(TABLE, StreamSpecification=VIEW)
            daemon.create_table("Still")
            refused("has no stream", "Still")
            refused("Requested resource not found", "Missing")
            refused("Invalid SequenceNumber", TABLE, "--from", "yesterday")
            refused("Invalid FilterExpression", TABLE, "--filter", "v >")
            refused("does not match the schema", TABLE, "--partition-key", '{"v": {"N": "1"}}')
            refused("--partition-key", TABLE, "--partition-key", "{", exit_code=2)
            place = pathlib.Path(self.directory, "position")
            refused("cannot read", TABLE, "--position-file", str(place.parent), exit_code=5)
            place.write_text("nonsense")
            refused("is no position of a watch", TABLE, "--position-file", str(place), exit_code=5)
            place.write_text(json.dumps({"Table": "Other", "Position": "1"}))
            refused("of table Other", TABLE, "--position-file", str(place), exit_code=5)
            check(daemon.json_call("PutItem", TableName=TABLE, Item=item_of(1, 1)))
            refused("the shell cannot run the command", TABLE, "--from", "oldest", "--exec", "/no/such/program", exit_code=2)
            refused("more lines than it got", TABLE, "--from", "oldest", "--exec", "echo a; echo b; cat", exit_code=2)
            self.assertEqual(len(self.table(daemon)), 1)
        self.assertIn("no answer from", self.cli("--timeout", "0.5", "watch", TABLE, exit_code=3))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--armature", required=True)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--stalled", type=int, default=8)
    parser.add_argument("--stalled_seconds", type=float, default=0)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    _, rest = parser.parse_known_args(namespace=PATHS)
    unittest.main(argv=[sys.argv[0], *rest])
