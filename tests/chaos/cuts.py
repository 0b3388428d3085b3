"""Power cuts: the shim writes a journal of what the daemon does to its disk, and the disk is rebuilt as it could be after a cut at
any record. A daemon starts on each of these disks, and is judged by what was known at the instant of the cut."""

import shutil
import subprocess
import time

from administration import Event, check_promises
from disk_journal import VARIANTS, Disk, choose_cuts, read_journal
from history import HOLE, TORN, WRONG, Violation, check
from server import Refused
from shim_control import ShimControl
from survey import compare_indexes, create_tables, judge, read_state, verify
from workload import MAIN, TABLES

CUTS_OF_A_JOURNAL = 36
LIVES_MAX = 3
# A start that finds good records behind damage of what was not synced: with these durabilities they were acknowledged.
HOLE_MESSAGE = "the next good record is at offset"
DURABILITIES = ("sync", "sync", "sync", "interval:20", "os")


class CutRun:
    def __init__(self, arena):
        self.arena = arena
        self.rng = arena.rng
        self.restarts = []  # times at which a restarted daemon served: all that it shows is durable

    def run(self, is_over):
        while not is_over():
            self.restarts = []
            self.durability = self.rng.choice(DURABILITIES)
            self.disk = self.arena.home / "disk"
            self.disk.mkdir()
            self.arena.use(self.disk)
            before = Disk(self.disk)
            self.record()
            self.cut_all(before, read_journal(self.journal), is_over)
            self.arena.discard()

    def flags(self):
        return (f"--durability={self.durability}",)

    def record(self):
        """Attacks a daemon through several lives, with a journal of its disk."""
        self.journal = self.arena.home / "journal"
        control = ShimControl(self.arena.home / "control")
        control.set_fsync_us(self.rng.choice((0, 200, 1000, 3000)))
        environment = control.environment(self.arena.programs.shim, [self.disk], self.journal)
        for life in range(self.rng.randrange(1, LIVES_MAX + 1)):
            with self.start(flags=self.flags(), environment=environment) as server:
                connection = server.connect()
                if life == 0:
                    self.create(connection)
                else:
                    self.resolve(connection)
                connection.close()
                attack = self.arena.attack(server)
                time.sleep(self.rng.uniform(0.1, 0.8))
                if self.rng.random() < 0.3:
                    server.terminate()
                    time.sleep(self.rng.uniform(0, 0.1))
                server.kill()
                self.fail_if(attack.stop())

    def create(self, connection):
        events = {name: Event("create", name) for name in TABLES}
        create_tables(connection)
        for name, event in events.items():
            event.answered = time.monotonic_ns()
            self.arena.promises.tables[name] = [event]

    def resolve(self, connection):
        """A new life shows which requests without an answer were executed."""
        state, found = judge(connection, self.arena.history)
        self.fail_if(found)
        self.arena.history.settle(state.recovered, state.counters, forget=False)
        self.arena.promises.resolve_index(connection)
        self.restarts.append(time.monotonic_ns())

    def fail_if(self, violations, about=""):
        if violations:
            self.arena.fail([Violation(each.kind, f"{about}{each.text}") for each in violations])

    def start(self, about="", **options):
        """Returns None if the start was refused for a documented loss."""
        server = self.arena.server(**options)
        try:
            server.start()
        except Refused as refused:
            if self.durability == "sync" or HOLE_MESSAGE not in str(refused):
                self.fail_if([Violation("refused", str(refused))], about)
            return None
        return server

    def cut_all(self, disk, records, is_over):
        at = 0
        for cut in choose_cuts(records, CUTS_OF_A_JOURNAL, self.rng):
            for record in records[at:cut]:
                disk.apply(record)
            at = cut
            now = records[cut].time - 1 if cut < len(records) else time.monotonic_ns()
            self.cut(disk, cut, now)
            if is_over():
                return

    def cut(self, disk, number, at):
        variant = self.rng.choice(VARIANTS)
        about = f"cut before record {number}, {variant}, durability {self.durability}: "
        shutil.rmtree(self.disk)
        disk.write(self.disk, variant, self.rng)
        if self.rng.random() < 0.15:
            self.cut_again(at, about)
        else:
            self.judge(at, about)

    def cut_again(self, at, about):
        """Cuts the power while the daemon recovers from the first cut."""
        first, journal = Disk(self.disk), self.arena.home / "second"
        journal.unlink(missing_ok=True)
        control = ShimControl(self.arena.home / "control")
        environment = control.environment(self.arena.programs.shim, [self.disk], journal)
        server = self.start(about, flags=self.flags(), environment=environment)
        if server is None:
            self.judge(at, about)
            return
        server.kill()
        records = read_journal(journal)
        done = 0
        for cut in choose_cuts(records, 2, self.rng):
            for record in records[done:cut]:
                first.apply(record)
            done = cut
            variant = self.rng.choice(VARIANTS)
            shutil.rmtree(self.disk)
            first.write(self.disk, variant, self.rng)
            self.judge(at, f"{about}then before record {cut} of the start, {variant}: ")

    def must_at(self, at):
        if self.durability == "sync":
            return at
        return max((restart for restart in self.restarts if restart <= at), default=0)

    def judge(self, at, about):
        """A daemon starts on the disk, and shows all that was promised at that time."""
        report = self.arena.report
        report.counts["faults"] += 1
        report.counts[f"cuts_{about.split(', ')[1]}"] += 1
        server = self.start(about, flags=self.flags())
        if server is None:
            self.judge_recovered(at, about)
            return
        with server:
            connection = server.connect()
            state = read_state(connection)
            found = check(self.arena.history, state.recovered, state.counters, must_at=self.must_at(at), may_at=at)
            found += compare_indexes(connection, state)
            found += check_promises(connection, self.arena.promises, state.items[MAIN], at, self.durability == "sync")
            found += self.arena.judge_backups(at)
            found += self.write(connection)
            if self.rng.random() < 0.1 and not found:
                found += verify(self.arena.programs.armature, server)
            self.fail_if(found, about)

    def judge_recovered(self, at, about):
        """Writes that were acknowledged before their sync were lost behind a hole in the log, and the start said so. The operator
        accepts that; all else must be there."""
        self.arena.report.counts["documented_refusals"] += 1
        subprocess.run([self.arena.programs.armature, "recover", self.arena.data, "--yes"], capture_output=True, check=True)
        with self.arena.server(flags=self.flags()) as server:
            server.start()
            state = read_state(server.connect())
            found = check(self.arena.history, state.recovered, must_at=self.must_at(at), may_at=at)
            self.fail_if([each for each in found if each.kind not in (HOLE, TORN)], about)

    def write(self, connection):
        """The daemon accepts writes."""
        item = {"pk": {"S": "after"}, "sk": {"N": "1"}}
        status, document = connection.call("PutItem", {"TableName": MAIN, "Item": item})
        if status != 200 and status != 400:
            return [Violation(WRONG, f"a write after the cut was answered {status} {document}")]
        return []
