"""System calls that fail: the N-th write, sync, open and so on, while the daemon serves or starts. The daemon may refuse writes
then, with a message that names the disk, or refuse to start. It never dies, it goes on answering reads, and a start without
the fault shows everything that was acknowledged."""

import signal
import time

from administration import check_promises, settle_promises
from history import WRONG, Violation, check
from server import Lost, Refused
from shim_control import ShimControl
from survey import create_tables, judge, read_items, verify

CYCLES_OF_A_DATABASE = 12
FAULTS_OF_A_LIFE = 3
WAIT_S = 0.5
# Call -> (errors, the fault is at most at this call while serving, at most at this one at a start).
FAULTS = {
    "write": (("EIO", "ENOSPC", "SHORT"), 200, 40),
    "fsync": (("EIO", "ENOSPC"), 100, 20),
    "open": (("EIO", "EMFILE", "ENOSPC"), 6, 60),
    "rename": (("EIO", "ENOSPC"), 3, 4),
    "unlink": (("EIO",), 3, 6),
    "mmap": (("ENOMEM",), 4, 60),
    "read": (("EIO",), 6, 60),
    "truncate": (("EIO",), 2, 4),
    "allocate": (("ENOSPC",), 4, 6),
    "mkdir": (("ENOSPC",), 2, 2),
    "link": (("EIO",), 2, 2),
}
WEIGHTS = (6, 6, 5, 3, 3, 1, 3, 1, 1, 1, 1)
PATHS = ("", "", "", ".log", "MANIFEST", "armature.logs", ".sst", "backups")


class CallRun:
    def __init__(self, arena):
        self.arena = arena
        self.rng = arena.rng

    def run(self, is_over):
        while not is_over():
            self.control = ShimControl(self.arena.home / "control")
            self.environment = self.control.environment(self.arena.programs.shim, [self.arena.data, self.arena.backups])
            with self.arena.server(environment=self.environment) as server:
                server.start()
                create_tables(server.connect())
            for _ in range(CYCLES_OF_A_DATABASE):
                self.cycle()
                if is_over():
                    break
            self.arena.discard()

    def fail_if(self, violations, about):
        if violations:
            self.arena.fail([Violation(each.kind, f"{about}: {each.text}") for each in violations])

    def arm(self, at_start):
        """Chooses the next fault. Returns a description."""
        call = self.rng.choices(tuple(FAULTS), WEIGHTS)[0]
        errors, serving_max, start_max = FAULTS[call]
        error, number = self.rng.choice(errors), self.rng.randrange(start_max if at_start else serving_max) + 1
        path = self.rng.choice(PATHS) if call != "mmap" else ""
        if path in ("MANIFEST", ".sst", "backups") and not at_start:
            number = self.rng.randrange(min(number, 5)) + 1
        more = self.rng.choice((0, 0, 0, 1, 5, 1000))
        self.control.arm(call, number, error, more, path)
        about = f"{call} {number} fails with {error}, and {more} more, path {path or 'any'}"
        self.log(about)
        return about

    def log(self, text):
        """Notes a fault among the daemon's own messages."""
        with open(self.arena.home / "stderr", "a", encoding="utf-8") as log:
            log.write(f"---- {text}\n")

    def cycle(self):
        fired = self.control.fired()
        if self.rng.random() < 0.3:
            about = self.fail_start()
        else:
            about = self.fail_serving()
        self.control.disarm()
        self.arena.report.counts["faults"] += self.control.fired() - fired
        self.judge(about)

    def fail_start(self):
        about = f"start: {self.arm(at_start=True)}"
        with self.arena.server(environment=self.environment) as server:
            try:
                server.start()
                self.arena.report.counts["started"] += 1
                self.attack(server, about, 0.1)
            except Refused as refused:
                self.arena.report.counts["not_started"] += 1
                if "armatured: " not in str(refused) and "mmap" not in about:
                    self.fail_if([Violation("died", str(refused))], about)
        return about

    def fail_serving(self):
        about = "serving"
        with self.arena.server(environment=self.environment) as server:
            server.start()
            attack = self.arena.attack(server)
            for _ in range(self.rng.randrange(FAULTS_OF_A_LIFE) + 1):
                time.sleep(self.rng.uniform(0.02, 0.2))
                fired = self.control.fired()
                about = f"{about}; {self.arm(at_start=False)}"
                give_up = time.monotonic() + WAIT_S
                while self.control.fired() == fired and time.monotonic() < give_up:
                    time.sleep(0.01)
                if self.control.fired() == fired:
                    about += " (not reached)"
                time.sleep(self.rng.uniform(0, 0.15))
            self.control.disarm()
            self.finish(server, attack, about)
        return about

    def attack(self, server, about, seconds):
        attack = self.arena.attack(server)
        time.sleep(seconds)
        self.control.disarm()
        self.finish(server, attack, about)

    def finish(self, server, attack, about):
        """The daemon lives, has all that was acknowledged, and ends when it is told to."""
        found = attack.stop()
        if any(writer.disk_refusals for writer in attack.writers):
            self.arena.report.counts["read_only"] += 1
        if not server.is_alive():
            code = server.kill()
            if "mmap" in about:
                self.arena.report.counts["out_of_memory"] += 1
                return
            self.fail_if([*found, Violation("died", f"the daemon ended with {code}: {server.last_words()}")], about)
        try:
            state = read_items(server.connect())
        except (Lost, RuntimeError) as error:
            self.fail_if([Violation(WRONG, f"reads failed: {error}: {server.last_words()}")], about)
        found += check(self.arena.history, state.recovered, state.counters)
        if self.rng.random() < 0.5:
            server.kill()
        else:
            code = server.end(signal.SIGTERM)
            if code != 0:
                found.append(Violation("died", f"the daemon ended with {code} after SIGTERM: {server.last_words()}"))
        self.fail_if(found, about)

    def judge(self, about):
        """A start without a fault."""
        now = time.monotonic_ns()
        server = self.arena.server()
        try:
            server.start()
        except Refused as refused:
            self.fail_if([Violation("refused", str(refused))], about)
        with server:
            connection = server.connect()
            state, found = judge(connection, self.arena.history)
            found += check_promises(connection, self.arena.promises, state.items["Main"], now)
            found += self.arena.judge_backups(now)
            if not found and self.rng.random() < 0.2:
                found += verify(self.arena.programs.armature, server)
            self.fail_if(found, about)
            settle_promises(connection, self.arena.promises)
        self.arena.history.settle(state.recovered, state.counters)
