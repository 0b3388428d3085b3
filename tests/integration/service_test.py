#!/usr/bin/python3
"""A daemon as a service: configuration, start and stop."""

import argparse
import contextlib
import fcntl
import http.client
import os
import pathlib
import queue
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import grpc

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import WAIT_S, Daemon, has_fault_points, open_to_others, wait_for  # noqa: E402

ARGS = None


def skip_without_fault_points(test):
    if not has_fault_points(ARGS.armatured):
        test.skipTest("built without fault points: configure with -D ARMATURE_FAULT_POINTS=ON to run this test")


class Call(threading.Thread):
    """A request that runs in a thread."""

    def __init__(self, daemon, operation, **members):
        super().__init__()
        self.answer = None
        self.work = lambda: daemon.json_call(operation, **members)
        self.start()

    def run(self):
        try:
            self.answer = self.work()
        except OSError as error:
            self.answer = error

    def result(self):
        self.join(WAIT_S)
        return self.answer


class Writer(threading.Thread):
    """Puts items until one is refused, and appends acknowledged keys to `kept`."""

    def __init__(self, kept, name, put):
        super().__init__(daemon=True)
        self.kept = kept
        self.prefix = name
        self.put = put
        self.taken = 0
        self.start()

    def run(self):
        try:
            while self.put(key := f"{self.prefix}-{self.taken}"):
                self.kept.append(key)
                self.taken += 1
        except (OSError, http.client.HTTPException, grpc.RpcError, StopIteration):
            pass


def field(number, content):
    """An encoded protobuf field of bytes or of a message."""
    assert number < 16 and len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


def put_message(key):
    """An encoded PutItemRequest for the table Items."""
    attribute = field(1, b"id") + field(2, field(1, key.encode()))
    return field(1, b"Items") + field(2, field(1, attribute))


class GrpcPuts:
    """Concurrent puts over gRPC, each in a call of its own."""

    def __init__(self, channel, keys):
        put = channel.unary_unary("/armature.api.v1.ItemService/PutItem")
        self.calls = [put.future(put_message(key), timeout=WAIT_S) for key in keys]

    def results(self):
        return [call.code() for call in self.calls]


class StreamOfPuts:
    """Concurrent puts over one stream, which the client leaves open."""

    def __init__(self, channel, keys):
        self.is_over = threading.Event()
        self.count = len(keys)
        self.stream = channel.stream_stream("/armature.api.v1.ItemService/Pipeline")(self.requests(keys), timeout=WAIT_S)

    def requests(self, keys):
        for number, key in enumerate(keys, start=1):
            yield bytes([1 << 3, number]) + field(3, put_message(key))
        self.is_over.wait(WAIT_S)

    def results(self):
        """The encoded answers, and the status of the stream."""
        answers = []
        try:
            answers.extend(self.stream)
        except grpc.RpcError:
            pass
        self.is_over.set()
        return sorted(answers), self.stream.code()

    def expected(self):
        # The id and an empty PutItemResponse. The sequence of the change is left out.
        return [bytes([1 << 3, number, 3 << 3 | 2]) for number in range(1, self.count + 1)]


class Configuration(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="armature_service_")))
        self.file = self.directory / "armatured.conf"

    def run_daemon(self, *flags, **options):
        return subprocess.run([ARGS.armatured, *flags], capture_output=True, text=True, timeout=WAIT_S, check=False, **options)

    def test_a_file_sets_flags_and_the_command_line_wins(self):
        self.file.write_text("# where\ndata_dir = /somewhere/else\n\ncache_mb=64\nenforce_throughput = false\n")
        printed = self.run_daemon(f"--config={self.file}", "--cache_mb=32", "--print_config")
        self.assertEqual(printed.returncode, 0, printed.stderr)
        self.assertIn("data_dir = /somewhere/else\n", printed.stdout)
        self.assertIn("cache_mb = 32\n", printed.stdout)
        self.assertIn("enforce_throughput = false\n", printed.stdout)
        self.assertNotIn("print_config", printed.stdout)

    def test_what_is_printed_is_a_file_with_the_same_meaning(self):
        first = self.run_daemon(f"--data_dir={self.directory}/data", "--durability=interval:7", "--print_config")
        self.file.write_text(first.stdout)
        second = self.run_daemon(f"--config={self.file}", "--print_config")
        self.assertEqual(second.stdout, first.stdout)
        self.assertIn("durability = interval:7\n", second.stdout)

    def test_faults_name_file_line_and_flag(self):
        for text, told in (
            ("cache_mb = 64\nno_such = 1\n", f"{self.file}: line 2: there is no flag 'no_such'"),
            ("cache_mb = lots\n", f"{self.file}: line 1: 'lots' is no value of cache_mb"),
            ("\ncache_mb = 7M\n", f"{self.file}: line 2: '7M' is no value of cache_mb: must be between 8 and 1048576 MiB, or 0\n"),
            ("cache_mb\n", f"{self.file}: line 1: expected 'name = value'"),
            ("print_config = true\n", f"{self.file}: line 1: there is no flag 'print_config'"),
            ("logtostderr = true\n", f"{self.file}: line 1: there is no flag 'logtostderr'"),
        ):
            with self.subTest(text):
                self.file.write_text(text)
                ended = self.run_daemon(f"--config={self.file}")
                self.assertEqual(ended.returncode, 1)
                self.assertEqual(ended.stdout, "")
                self.assertTrue(ended.stderr.startswith(f"armatured: {told}"), ended.stderr)
                self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)

    def test_help_has_every_flag_in_a_group(self):
        shown = self.run_daemon("--help")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertIn("\nResources:\n  --cache_mb=MIB  (default 0; 8 to 1048576, or 0; live)\n      ", shown.stdout)
        printed = self.run_daemon("--data_dir=/x", "--print_config").stdout
        for name in [line.split(" = ")[0] for line in printed.splitlines()]:
            self.assertRegex(shown.stdout, rf"\n  --{name}(=\S+)?(  \(default .+\))?\n      ")

    def test_the_page_of_flags_is_that_of_the_program(self):
        printed = self.run_daemon("--print_flags_doc")
        self.assertEqual((printed.returncode, printed.stderr), (0, ""))
        self.assertEqual(printed.stdout, (ROOT / "docs/reference/flags.md").read_text(),
                         "make it anew: armatured --print_flags_doc >docs/reference/flags.md")

    def test_sizes_and_times_take_units(self):
        self.file.write_text("data_dir = /x\nstream_mb_max = 1G\nttl_interval = 1m\n")
        printed = self.run_daemon(f"--config={self.file}", "--drain_seconds=2m", "--request_memory_mb", "1G", "--print_config")
        self.assertEqual(printed.returncode, 0, printed.stderr)
        for line in ("drain_seconds = 120", "request_memory_mb = 1024", "stream_mb_max = 1024", "ttl_interval = 1m"):
            self.assertIn(f"{line}\n", printed.stdout)

    def test_mistyped_flags_get_the_nearest_known_one(self):
        self.file.write_text("data_dri = /x\n")
        for flag, told in (
            ("--data_dri=/x", "unknown flag '--data_dri'; did you mean 'data_dir'?"),
            ("-cachemb=8", "unknown flag '--cachemb'; did you mean 'cache_mb'?"),
            ("--noinsecur", "unknown flag '--noinsecur'; did you mean 'insecure'?"),
            ("--frobnicate", "unknown flag '--frobnicate'"),
            (f"--config={self.file}", f"{self.file}: line 1: there is no flag 'data_dri'; did you mean 'data_dir'?"),
        ):
            ended = self.run_daemon(flag)
            self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (1, "", f"armatured: {told}\n"))

    def test_values_may_stand_apart_and_begin_with_a_hyphen(self):
        ended = self.run_daemon("--noenforce_throughput", "--data_dir", "/x", "--drain_seconds", "-1")
        self.assertEqual((ended.returncode, ended.stderr), (1, "armatured: --drain_seconds=-1: must be between 0 and 3600 seconds\n"))

    def test_values_out_of_range_are_refused_before_anything_is_printed(self):
        ended = self.run_daemon("--data_dir=/x", "--drain_seconds=-1", "--print_config")
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        self.assertEqual(ended.stderr, "armatured: --drain_seconds=-1: must be between 0 and 3600 seconds\n")

    def test_too_few_open_files_are_told_with_the_number_that_is_needed(self):
        ended = self.run_daemon(f"--data_dir={self.directory}/data", "--grpc_listen=127.0.0.1:0", "--http_listen=off",
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100)))
        self.assertEqual(ended.returncode, 1)
        self.assertIn("armatured: the limit of open files is 100, at least 1024 are needed", ended.stderr)

    def test_the_soft_limit_of_open_files_is_raised(self):
        def lower():
            resource.setrlimit(resource.RLIMIT_NOFILE, (100, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        with Daemon(ARGS.armatured, preexec_fn=lower) as daemon:
            limits = resource.prlimit(daemon.process.pid, resource.RLIMIT_NOFILE)
            self.assertEqual(limits[0], limits[1])

    def test_the_packaged_file_is_valid(self):
        printed = self.run_daemon(f"--config={ROOT}/packaging/armatured.conf", "--print_config")
        self.assertEqual(printed.returncode, 0, printed.stderr)
        self.assertIn("metrics_listen = 127.0.0.1:7702\n", printed.stdout)


class ServiceManager(unittest.TestCase):
    def check_notified(self, name):
        with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as manager:
            manager.bind(name.replace("@", "\0", 1))
            manager.settimeout(WAIT_S)
            with Daemon(ARGS.armatured, env={**os.environ, "NOTIFY_SOCKET": name}) as daemon:
                self.assertEqual(manager.recv(100), b"READY=1")
                self.assertEqual(daemon.stop(), 0)
                self.assertEqual(manager.recv(100), b"STOPPING=1")

    def test_is_told_of_the_beginning_and_the_end(self):
        with tempfile.TemporaryDirectory(prefix="armature_service_") as directory:
            self.check_notified(directory + "/notify")

    def test_may_listen_on_an_abstract_socket(self):
        self.check_notified(f"@armature_service_{os.getpid()}")


class Files(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="armature_modes_")))

    def test_data_and_backups_are_for_the_owner_only(self):
        data, backups, socket_path = (self.directory / name for name in ("data", "backups", "socket"))
        with Daemon(ARGS.armatured, f"--backup_dir={backups}", f"--grpc_listen=unix:{socket_path}", data_dir=data,
                    umask=0) as daemon:
            daemon.create_table("Items")
            status, answer = daemon.json_call("CreateBackup", TableName="Items", BackupName="first")
            self.assertEqual(status, 200, answer)
            arn = answer["BackupDetails"]["BackupArn"]
            wait_for(lambda: "AVAILABLE" in str(daemon.json_call("DescribeBackup", BackupArn=arn)), "the backup")
            # The operator's umask and the directory decide who may connect.
            self.assertEqual(socket_path.stat().st_mode & 0o777, 0o777)
            self.assertEqual(daemon.stop(), 0)
        self.assertEqual(open_to_others(data), [])
        self.assertEqual(open_to_others(backups), [])

    def test_no_file_of_the_database_becomes_standard_error(self):
        def close_both():
            os.close(0)
            os.close(2)

        with Daemon(ARGS.armatured, preexec_fn=close_both) as daemon:
            daemon.create_table("Items")
            for descriptor in (0, 2):
                self.assertEqual(os.readlink(f"/proc/{daemon.process.pid}/fd/{descriptor}"), "/dev/null")

    def test_a_directory_that_others_may_read_is_served_with_a_warning(self):
        data = self.directory / "data"
        data.mkdir(mode=0o750)
        with Daemon(ARGS.armatured, data_dir=data) as daemon:
            self.assertIn(f"other users may access the data directory path={data} mode=0750; run: chmod 700 {data}",
                          daemon.log())
        data.chmod(0o700)
        with Daemon(ARGS.armatured, data_dir=data) as daemon:
            self.assertNotIn("other users", daemon.log())


class TablesInTransition(unittest.TestCase):
    ROUNDS = 10
    KEY = {"BillingMode": "PAY_PER_REQUEST", "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
           "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]}

    def test_clients_that_poll_see_the_end_at_once(self):
        with Daemon(ARGS.armatured) as daemon:
            for _ in range(self.ROUNDS):
                status, created = daemon.json_call("CreateTable", TableName="Items", **self.KEY)
                self.assertEqual((status, created["TableDescription"]["TableStatus"]), (200, "CREATING"))
                _, described = daemon.json_call("DescribeTable", TableName="Items")
                self.assertEqual(described["Table"]["TableStatus"], "ACTIVE")
                status, deleted = daemon.json_call("DeleteTable", TableName="Items")
                self.assertEqual((status, deleted["TableDescription"]["TableStatus"]), (200, "DELETING"))
                status, described = daemon.json_call("DescribeTable", TableName="Items")
                self.assertEqual((status, described["__type"].split("#")[1]), (400, "ResourceNotFoundException"))

    def test_a_table_can_be_used_right_after_its_creation(self):
        item = {"id": {"S": "one"}}
        with Daemon(ARGS.armatured, "--describe_wait=0") as daemon:
            daemon.create_table("Busy")
            busy = True

            def write():
                while busy:
                    daemon.json_call("PutItem", TableName="Busy", Item=item)

            # The worker that creates tables gives way to clients that write.
            with contextlib.ExitStack() as stack:
                writer = threading.Thread(target=write)
                writer.start()
                stack.callback(writer.join)
                try:
                    for i in range(3 * self.ROUNDS):
                        status, created = daemon.json_call("CreateTable", TableName=f"Items{i}", **self.KEY)
                        self.assertEqual((status, created["TableDescription"]["TableStatus"]), (200, "CREATING"))
                        self.assertEqual(daemon.json_call("PutItem", TableName=f"Items{i}", Item=item), (200, {}))
                        _, described = daemon.json_call("DescribeTable", TableName=f"Items{i}")
                        self.assertEqual(described["Table"]["TableStatus"], "ACTIVE")
                        status, deleted = daemon.json_call("DeleteTable", TableName=f"Items{i}")
                        self.assertEqual((status, deleted["TableDescription"]["TableStatus"]), (200, "DELETING"))
                        self.assertEqual(daemon.json_call("ListTables")[1]["TableNames"], ["Busy"])
                finally:
                    busy = False

    def test_a_name_that_is_being_deleted_may_be_taken_again(self):
        with Daemon(ARGS.armatured) as daemon:
            daemon.create_table("Items")
            for _ in range(self.ROUNDS):
                self.assertEqual(daemon.json_call("DeleteTable", TableName="Items")[0], 200)
                status, created = daemon.json_call("CreateTable", TableName="Items", **self.KEY)
                self.assertEqual(status, 200, created)
                self.assertEqual(daemon.json_call("DescribeTable", TableName="Items")[1]["Table"]["TableStatus"], "ACTIVE")


class Drain(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="armature_service_")))
        self.held = self.directory / "held"
        self.held.touch()

    def daemon(self, *flags, hold=None):
        environment = dict(os.environ)
        if hold is not None:
            skip_without_fault_points(self)
            environment["ARMATURE_FAULT_POINT"] = f"{hold}@{self.held}"
        return Daemon(ARGS.armatured, "--metrics_listen=127.0.0.1:0", *flags, data_dir=str(self.directory / "data"),
                      env=environment)

    @contextlib.contextmanager
    def holding(self):
        """A context in which no batch is committed."""
        with open(self.held, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
            fcntl.flock(file, fcntl.LOCK_UN)

    def test_requests_under_way_are_finished_and_none_is_lost(self):
        puts = []
        with self.daemon(hold="committer.before_write") as daemon:
            daemon.create_table("Items")
            with self.holding():
                puts = [Call(daemon, "PutItem", TableName="Items", Item={"id": {"S": f"item-{n}"}}) for n in range(8)]
                in_flight = 'armature_requests_in_flight{front="http"} 8'
                wait_for(lambda: in_flight in daemon.get_text("/metrics")[1], "eight requests")
                daemon.terminate()
                wait_for(lambda: daemon.get_text("/readyz") == (503, "stopping\n"), "the beginning of the end")
                self.assertEqual(daemon.get_text("/healthz")[0], 200)
                wait_for(lambda: self.is_refused(daemon.http), "an end of new connections")
                self.assertIsNone(daemon.process.poll())
            self.assertEqual([put.result() for put in puts], [(200, {})] * 8)
            self.assertEqual(daemon.process.wait(WAIT_S), 0)
        with self.daemon() as daemon:
            self.assertEqual(daemon.json_call("Scan", TableName="Items", Select="COUNT")[1]["Count"], 8)

    def test_calls_over_grpc_are_finished_whatever_way_they_came(self):
        daemon = self.daemon("--drain_seconds=3600", hold="committer.before_write")
        with daemon, grpc.insecure_channel(daemon.grpc) as channel:
            daemon.create_table("Items")
            with self.holding():
                calls = GrpcPuts(channel, [f"call-{n}" for n in range(8)])
                stream = StreamOfPuts(channel, [f"stream-{n}" for n in range(8)])
                # The stream itself is the ninth call.
                for in_flight in ('{front="grpc"} 9', '{front="pipeline"} 8'):
                    wait_for(lambda: f"requests_in_flight{in_flight}" in daemon.get_text("/metrics")[1], in_flight)
                daemon.terminate()
                wait_for(lambda: self.is_refused(daemon.grpc), "an end of new connections")
                self.assertIsNone(daemon.process.poll())
            self.assertEqual(calls.results(), [grpc.StatusCode.OK] * 8)
            answers, ended = stream.results()
            self.assertEqual([answer[:3] for answer in answers], stream.expected())
            self.assertEqual(ended, grpc.StatusCode.UNAVAILABLE)
            self.assertEqual(daemon.process.wait(WAIT_S), 0)
        with self.daemon() as daemon:
            self.assertEqual(daemon.json_call("Scan", TableName="Items", Select="COUNT")[1]["Count"], 16)

    def test_writes_of_a_hot_row_that_are_cut_off_end_before_what_they_use(self):
        with self.daemon("--drain_seconds=0", hold="committer.before_write") as daemon:
            daemon.create_table("Items")
            with self.holding():
                puts = [Call(daemon, "PutItem", TableName="Items", Item={"id": {"S": "hot"}, "n": {"N": str(n)}})
                        for n in range(32)]
                in_flight = 'armature_requests_in_flight{front="http"} 32'
                wait_for(lambda: in_flight in daemon.get_text("/metrics")[1], "the writes")
                daemon.terminate()
                # The front ends have stopped; the engine is next.
                wait_for(lambda: self.is_refused(daemon.metrics), "the end of the front ends")
            self.assertEqual(daemon.process.wait(WAIT_S), 0, daemon.log())
            for put in puts:
                put.result()

    def test_what_is_acknowledged_while_it_ends_is_there(self):
        """Clients write until they are refused, over both front ends and a stream."""
        kept = []
        with self.daemon("--drain_seconds=3600") as daemon, grpc.insecure_channel(daemon.grpc) as channel:
            daemon.create_table("Items")
            clients = [Writer(kept, name, put) for name, put in self.ways_to_put(daemon, channel).items()]
            wait_for(lambda: all(client.taken > 20 for client in clients), "some writes")
            self.assertEqual(daemon.stop(), 0)
            for client in clients:
                client.join(WAIT_S)
                self.assertFalse(client.is_alive())
        with self.daemon() as daemon:
            for key in kept:
                status, answer = daemon.json_call("GetItem", TableName="Items", Key={"id": {"S": key}})
                self.assertIn("Item", answer, f"{key} of {len(kept)}: {status}")

    @staticmethod
    def ways_to_put(daemon, channel):
        """Functions that put a key and return if the put was acknowledged."""
        call = channel.unary_unary("/armature.api.v1.ItemService/PutItem")
        to_stream = queue.Queue()
        stream = channel.stream_stream("/armature.api.v1.ItemService/Pipeline")(iter(to_stream.get, None))

        def over_http(key):
            return daemon.json_call("PutItem", TableName="Items", Item={"id": {"S": key}})[0] == 200

        def over_grpc(key):
            call(put_message(key), timeout=WAIT_S)
            return True

        def over_a_stream(key):
            to_stream.put(bytes([1 << 3, 1]) + field(3, put_message(key)))
            return next(stream)[2] == 3 << 3 | 2

        return {"http": over_http, "grpc": over_grpc, "stream": over_a_stream}

    @staticmethod
    def is_refused(address):
        host, port = address.rsplit(":", 1)
        try:
            with socket.create_connection((host, int(port)), timeout=WAIT_S):
                return False
        except OSError:
            return True

    def test_idle_connections_do_not_hold_it_up(self):
        with self.daemon("--drain_seconds=3600") as daemon:
            host, port = daemon.http.rsplit(":", 1)
            with socket.create_connection((host, int(port)), timeout=WAIT_S) as idle:
                idle.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                self.assertIn(b"200 OK", idle.recv(4096))
                channel = grpc.insecure_channel(daemon.grpc)
                grpc.channel_ready_future(channel).result(WAIT_S)
                self.assertEqual(daemon.stop(), 0)
                self.assertEqual(idle.recv(4096), b"")
                channel.close()

    def test_a_stream_that_nobody_ends_is_cut_at_the_deadline(self):
        with self.daemon("--drain_seconds=1") as daemon, grpc.insecure_channel(daemon.grpc) as channel:
            watch = channel.unary_stream("/grpc.health.v1.Health/Watch")
            stream = watch(b"")
            next(stream)
            self.assertEqual(daemon.stop(), 0)
            with self.assertRaises(grpc.RpcError):
                while True:
                    next(stream)

    def test_a_request_that_cannot_finish_is_cut_at_the_deadline(self):
        with self.daemon("--drain_seconds=1", hold="committer.before_write") as daemon:
            daemon.create_table("Items")
            with self.holding():
                put = Call(daemon, "PutItem", TableName="Items", Item={"id": {"S": "item"}})
                wait_for(lambda: 'in_flight{front="http"} 1' in daemon.get_text("/metrics")[1], "the request")
                daemon.terminate()
                self.assertIsInstance(put.result(), OSError)
            self.assertEqual(daemon.process.wait(WAIT_S), 0)


class SlowRequests(unittest.TestCase):
    def setUp(self):
        directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="armature_service_")))
        self.held_file = directory / "held"
        self.held_file.touch()

    def daemon(self):
        skip_without_fault_points(self)
        environment = {**os.environ, "ARMATURE_FAULT_POINT": f"committer.before_write@{self.held_file}"}
        return Daemon(ARGS.armatured, "--slow_request_ms=1", "--metrics_listen=127.0.0.1:0", env=environment)

    @contextlib.contextmanager
    def held_for_a_while(self, daemon, front):
        """A context in which requests wait long for their commit."""
        with open(self.held_file, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            began = time.monotonic()
            yield
            in_flight = f'in_flight{{front="{front}"}} 1'
            wait_for(lambda: in_flight in daemon.get_text("/metrics")[1], "the request")
            # The commit delay must dominate the duration, so the wait is longer than some scrapes.
            wait_for(lambda: time.monotonic() - began > 0.2 and daemon.get_text("/healthz"), "a while")
            fcntl.flock(file, fcntl.LOCK_UN)

    @staticmethod
    def words_of_slow_put(daemon):
        line = wait_for(lambda: [each for each in daemon.log().splitlines() if "operation=PutItem" in each], "a line")[0]
        return dict(word.split("=", 1) for word in line.split() if "=" in word)

    def test_are_told_of_with_what_they_waited_for(self):
        with self.daemon() as daemon:
            daemon.create_table("Items")
            with self.held_for_a_while(daemon, "http"):
                put = Call(daemon, "PutItem", TableName="Items", Item={"id": {"S": "item"}})
            self.assertEqual(put.result()[0], 200)
            words = self.words_of_slow_put(daemon)
            self.assertEqual(words["front"], "http")
            self.assertEqual(words["table"], "Items")
            self.assertEqual(words["result"], "ok")
            self.assertRegex(words["request_id"], r"^[0-9A-Z]{52}$")
            self.assertGreaterEqual(int(words["commit_ms"]), 100)
            self.assertLess(int(words["lock_ms"]), 100)
            self.assertLessEqual(int(words["commit_ms"]), int(words["ms"]))

    def test_of_a_call_are_told_of_by_the_id_that_its_client_got(self):
        with self.daemon() as daemon, grpc.insecure_channel(daemon.grpc) as channel:
            daemon.create_table("Items")
            with self.held_for_a_while(daemon, "grpc"):
                puts = GrpcPuts(channel, ["item"])
            self.assertEqual(puts.results(), [grpc.StatusCode.OK])
            words = self.words_of_slow_put(daemon)
            self.assertEqual((words["front"], words["table"]), ("grpc", "Items"))
            self.assertEqual(words["request_id"], dict(puts.calls[0].trailing_metadata())["x-armature-request-id"])

    def test_of_a_stream_are_told_of_by_its_id_and_theirs(self):
        with self.daemon() as daemon, grpc.insecure_channel(daemon.grpc) as channel:
            daemon.create_table("Items")
            with self.held_for_a_while(daemon, "pipeline"):
                stream = StreamOfPuts(channel, ["item"])
            stream.is_over.set()
            answers, ended = stream.results()
            self.assertEqual((len(answers), ended), (1, grpc.StatusCode.OK))
            words = self.words_of_slow_put(daemon)
            self.assertEqual((words["front"], words["table"], words["result"]), ("pipeline", "Items", "ok"))
            stream_id = dict(stream.stream.trailing_metadata())["x-armature-request-id"]
            self.assertEqual(words["request_id"], f"{stream_id}/1")
            # The duration of a stream depends on its client.
            self.assertNotIn("operation=Pipeline", daemon.log())

    def test_are_not_told_of_unless_asked_for(self):
        with Daemon(ARGS.armatured) as daemon:
            daemon.create_table("Items")
            self.assertNotIn("request: slow", daemon.log())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
