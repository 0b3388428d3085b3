"""Power cuts: the shim writes a journal of what the daemon does to its disk, and the disk is rebuilt as it could be after a cut at
any record. A daemon starts on each of these disks, and is judged by what was known at the instant of the cut."""

import shutil
import time
import uuid

from administration import Event, check_promises
from armature_daemon import Refused
from disk_journal import VARIANTS, Disk, choose_cuts, read_journal
from history import WRONG, Violation, check
from shim_control import ShimControl
from survey import compare_indexes, create_tables, judge, read_state, verify
from workload import MAIN, TABLES

CUTS_OF_A_JOURNAL = 36
LIVES_MAX = 3
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

    def record(self):
        """Attacks a daemon through several lives, with a journal of its disk."""
        self.journal = self.arena.home / "journal"
        self.fsync_us = self.rng.choice((0, 200, 1000, 3000))
        self.boot = self.arena.home / "boot"
        self.reboot()
        for life in range(self.rng.randrange(1, LIVES_MAX + 1)):
            with self.start("before any cut: ", self.journal) as server:
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

    def start(self, about, journal=None):
        """Starts a daemon: in the same run of the machine until a cut is made."""
        control = ShimControl(self.arena.home / "control")
        control.set_fsync_us(self.fsync_us if journal else 0)
        environment = control.environment(self.arena.programs.shim, [self.disk], journal, self.boot)
        server = self.arena.server(flags=(f"--durability={self.durability}",), environment=environment)
        try:
            server.start()
        except Refused as refused:
            self.fail_if([Violation("refused", str(refused))], about)
        return server

    def reboot(self):
        """The machine begins a new run."""
        self.boot.write_text(f"{uuid.UUID(int=self.rng.getrandbits(128))}\n", encoding="utf-8")

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
        self.reboot()
        self.start(about, journal).kill()
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
        self.reboot()
        with self.start(about) as server:
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

    def write(self, connection):
        """The daemon accepts writes."""
        item = {"pk": {"S": "after"}, "sk": {"N": "1"}}
        status, document = connection.call("PutItem", {"TableName": MAIN, "Item": item})
        if status != 200 and status != 400:
            return [Violation(WRONG, f"a write after the cut was answered {status} {document}")]
        return []
