"""Hostile clients on both fronts. Meanwhile writers write, and a bystander reads an item again and again. Memory stays within the
daemon's budget; afterwards descriptors are back, and everything is served."""

import pathlib
import threading
import time

from fault_run import FaultRun
from history import WRONG, Violation
from hostile_clients import ITEMS, KINDS, LARGE, field
from raw_grpc_client import RawGrpcClient, text_item
from server import Lost

BUDGET_MB = 64
# Memory beside the budget: arrivals between two looks at it, caches, memtables, threads, and what the allocator keeps.
SLACK_MB = 300
WAIT_S = 60
# A bystander that gets no answer for this long is not served.
UNSERVED_S = 20
ATTACK_S = (2, 4)


class Bystander(threading.Thread):
    """Reads one item by both fronts in turn."""

    def __init__(self, server, stopping):
        super().__init__(daemon=True)
        self.server = server
        self.stopping = stopping
        self.seconds = []
        self.failures = 0

    def run(self):
        http, grpc = self.server.connect(), RawGrpcClient(self.server.grpc)
        grpc.socket.settimeout(UNSERVED_S)
        while not self.stopping.is_set():
            for read in (self.by_http, self.by_grpc):
                begun = time.monotonic()
                try:
                    is_served = read(http, grpc)
                except (Lost, OSError, TypeError):
                    is_served = False
                    grpc.close()
                    grpc = RawGrpcClient(self.server.grpc)
                self.failures += not is_served
                self.seconds.append(time.monotonic() - begun)
        http.close()
        grpc.close()

    @staticmethod
    def by_http(http, _):
        return http.call("GetItem", {"TableName": LARGE, "Key": {"id": {"S": "small"}}})[0] == 200

    @staticmethod
    def by_grpc(_, grpc):
        return bool(grpc.call(ITEMS + "GetItem", field(1, LARGE.encode()) + field(2, text_item(id="small"))))

    def p99_ms(self):
        times = sorted(self.seconds)
        return 1000 * times[len(times) * 99 // 100]


class HostileRun(FaultRun):
    CYCLES_OF_A_DATABASE = 10

    def begin(self):
        return {"flags": (f"--request_memory_mb={BUDGET_MB}", "--connections_max=4000")}

    def cycle(self, server):
        self.create_large_items(server)
        before_mb, descriptors = self.memory_mb(server, "VmRSS"), self.descriptors(server)
        pathlib.Path(f"/proc/{server.process.pid}/clear_refs").write_text("5", encoding="ascii")  # the peak begins anew
        attack = self.arena.attack(server, administrators=False)
        kinds = self.rng.sample(KINDS, self.rng.randrange(1, 4))
        about = " and ".join(kind.__name__ for kind in kinds)
        self.note(about)
        stopping = threading.Event()
        bystander = Bystander(server, stopping)
        clients = [kind(server, self.rng.getrandbits(64), stopping) for kind in kinds]
        for each in (bystander, *clients):
            each.start()
        time.sleep(self.rng.uniform(*ATTACK_S))
        stopping.set()
        for each in (bystander, *clients):
            each.join()
        self.counts["faults"] += len(kinds)
        self.report(bystander, self.memory_mb(server, "VmHWM") - before_mb, about)
        self.await_recovery(server, descriptors, about)
        self.finish(server, attack, about)
        server = self.start(about, **self.options)
        self.judge(server, about)
        return server

    def report(self, bystander, grown_mb, about):
        for name, value in (("peak_growth_mb", grown_mb), ("bystander_p99_ms", round(bystander.p99_ms()))):
            if value > self.counts[name]:
                self.counts[name] = value
                self.note(f"{name}={value}: {about}")
        self.counts["bystander_reads"] += len(bystander.seconds)
        self.counts["bystander_failures"] += bystander.failures
        if grown_mb > BUDGET_MB + SLACK_MB:
            self.fail_if([Violation(WRONG, f"memory grew by {grown_mb} MB")], about)
        # Connections of bystanders may be refused or broken off, but not for long.
        if bystander.failures * 2 > len(bystander.seconds):
            self.fail_if([Violation(WRONG, f"{bystander.failures} of {len(bystander.seconds)} reads failed")], about)

    def await_recovery(self, server, descriptors, about):
        give_up = time.monotonic() + WAIT_S
        # Files that the database opens meanwhile, and connections of writers.
        while self.descriptors(server) > descriptors + 60 or not self.accepts_everything(server):
            if time.monotonic() > give_up:
                self.fail_if([Violation(WRONG, f"{self.descriptors(server)} descriptors, {descriptors} before, {WAIT_S} s "
                                               "after the attack, or not served")], about)
            time.sleep(0.05)

    @staticmethod
    def accepts_everything(server):
        """True if a page and a large request are served to a new client."""
        connection = server.connect()
        try:
            large = {"id": {"S": "large0"}, "text": {"S": "x" * 300_000}}
            return (connection.call("Scan", {"TableName": LARGE})[0] == 200 and
                    connection.call("PutItem", {"TableName": LARGE, "Item": large})[0] == 200)
        except Lost:
            return False
        finally:
            connection.close()

    def create_large_items(self, server):
        connection = server.connect()
        connection.call("CreateTable", {"TableName": LARGE, "BillingMode": "PAY_PER_REQUEST",
                                        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
                                        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]})
        give_up = time.monotonic() + WAIT_S
        items = [("small", "x"), *((f"large{number}", "x" * 300_000) for number in range(4))]
        while items:
            status, _ = connection.call("PutItem", {"TableName": LARGE, "Item": {"id": {"S": items[-1][0]},
                                                                                 "text": {"S": items[-1][1]}}})
            if status == 200:
                items.pop()
            elif time.monotonic() > give_up:
                self.fail_if([Violation(WRONG, f"no table {WAIT_S} s later")])
        connection.close()

    @staticmethod
    def memory_mb(server, name):
        status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
        return next(int(line.split()[1]) >> 10 for line in status.splitlines() if line.startswith(name))

    @staticmethod
    def descriptors(server):
        return len(list(pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir()))
