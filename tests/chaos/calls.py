"""System calls that fail: the N-th write, sync, open and so on, while the daemon serves or starts. The daemon may refuse writes
then, with a message that names the disk, or refuse to start. It never dies, it goes on answering reads, and a start without
the fault shows everything that was acknowledged."""

import time

from armature_daemon import Refused
from fault_run import FaultRun
from history import Violation
from shim_control import ShimControl

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


class CallRun(FaultRun):
    CYCLES_OF_A_DATABASE = 12

    def begin(self):
        self.control = ShimControl(self.arena.home / "control")
        environment = self.control.environment(self.arena.programs.shim, [self.arena.data, self.arena.backups])
        return {"environment": environment}

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
        self.note(about)
        return about

    def cycle(self, server):
        fired = self.control.fired()
        if self.rng.random() < 0.3:
            server.kill()
            about = self.fail_start()
        else:
            about = self.fail_serving(server)
        self.control.disarm()
        self.counts["faults"] += self.control.fired() - fired
        self.counts["lives_with_faults"] += self.control.fired() > fired
        server = self.start(about, **self.options)
        self.judge(server, about)
        return server

    def fail_start(self):
        about = f"start: {self.arm(at_start=True)}"
        with self.arena.server(**self.options) as server:
            try:
                server.start()
            except Refused as refused:
                self.counts["not_started"] += 1
                if "armatured: " not in str(refused) and "mmap" not in about:
                    self.fail_if([Violation("died", str(refused))], about)
                return about
            self.counts["started"] += 1
            attack = self.arena.attack(server)
            time.sleep(0.1)
            self.control.disarm()
            self.finish(server, attack, about, may_die="mmap" in about)
        return about

    def fail_serving(self, server):
        about = "serving"
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
        self.finish(server, attack, about, may_die="mmap" in about)
        return about
