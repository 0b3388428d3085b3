"""Little memory, and few descriptors, which idle connections take. The daemon may die for lack of memory; it does not for lack
of descriptors, and accepts writes again when the connections are gone."""

import resource
import socket
import time

from fault_run import FaultRun
from history import WRONG, Violation
from server import Lost
from workload import COUNTERS, MAIN, key_document

DESCRIPTORS = 1024
MEMORY_STEPS = (0, 1 << 20, 8 << 20, 32 << 20)
WAIT_S = 20


class LimitRun(FaultRun):
    CYCLES_OF_A_DATABASE = 10

    def begin(self):
        return {"before": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))}

    def cycle(self, server):
        attack = self.arena.attack(server)
        time.sleep(self.rng.uniform(0.05, 0.2))
        if self.rng.random() < 0.5:
            about, may_die = self.limit_memory(server), True
        else:
            about, may_die = self.take_descriptors(server), False
        self.note(about)
        self.counts["faults"] += 1
        self.finish(server, attack, about, may_die)
        server = self.start(about, **self.options)
        self.judge(server, about)
        return server

    def limit_memory(self, server):
        """Leaves the daemon a little more memory than it has."""
        with open(f"/proc/{server.process.pid}/status", encoding="utf-8") as status:
            used = next(int(line.split()[1]) << 10 for line in status if line.startswith("VmData:"))
        limit = used + self.rng.choice(MEMORY_STEPS)
        resource.prlimit(server.process.pid, resource.RLIMIT_DATA, (limit, limit))
        time.sleep(self.rng.uniform(0.1, 0.4))
        return f"memory limited to {limit} bytes, {limit - used} more than used"

    def take_descriptors(self, server):
        """Opens idle connections, closes them, and waits until the daemon accepts writes."""
        idle = []
        for number in range(self.rng.choice((300, 900, 1500))):
            host, port = (server.http if number % 2 else server.grpc).rsplit(":", 1)
            idle.append(socket.socket())
            idle[-1].settimeout(1)
            try:
                idle[-1].connect((host, int(port)))
            except OSError:
                break
        time.sleep(self.rng.uniform(0.05, 0.3))
        for connection in idle:
            connection.close()
        about = f"{len(idle)} idle connections with {DESCRIPTORS} descriptors"
        give_up = time.monotonic() + WAIT_S
        while not self.is_served(server):
            if time.monotonic() > give_up:
                self.fail_if([Violation(WRONG, f"no writes {WAIT_S} s later")], about)
            time.sleep(0.05)
        return about

    def is_served(self, server):
        connection = server.connect()
        try:
            return connection.call("UpdateItem", {
                "TableName": MAIN, "Key": key_document(COUNTERS[0]), "UpdateExpression": "ADD c :zero",
                "ExpressionAttributeValues": {":zero": {"N": "0"}}})[0] == 200
        except Lost:
            return False
        finally:
            connection.close()
