"""The real-time clock jumps, by seconds to a year and in both directions, while the daemon serves and between its lives."""

import time

from fault_run import FaultRun
from history import WRONG, Violation
from shim_control import ShimControl

JUMPS_S = (1, 30, 3600, 86_400, 30 * 86_400, 365 * 86_400)
JUMPS_OF_A_LIFE_MAX = 4
# Writes go on this soon after a jump.
WAIT_S = 20


class ClockRun(FaultRun):
    CYCLES_OF_A_DATABASE = 10

    def begin(self):
        self.control = ShimControl(self.arena.home / "control")
        environment = self.control.environment(self.arena.programs.shim, [self.arena.data])
        return {"environment": environment, "flags": ("--backup_interval=1s",)}

    def cycle(self, server):
        attack = self.arena.attack(server)
        jumps = []
        for _ in range(self.rng.randrange(JUMPS_OF_A_LIFE_MAX) + 1):
            time.sleep(self.rng.uniform(0.02, 0.3))
            jumps.append(self.rng.choice((-1, 1)) * self.rng.choice(JUMPS_S))
            self.control.set_clock_offset(jumps[-1])
            self.note(f"clock is off by {jumps[-1]} s")
            self.counts["faults"] += 1
            self.wait_for_writes(attack, f"clock off by {jumps}")
        about = f"clock off by {jumps}"
        self.finish(server, attack, about)
        self.control.set_clock_offset(self.rng.choice((-1, 0, 1)) * self.rng.choice(JUMPS_S))
        server = self.start(about, **self.options)
        self.judge(server, about)
        return server

    def wait_for_writes(self, attack, about):
        before = [len(writer.mine.steps) for writer in attack.writers]
        give_up = time.monotonic() + WAIT_S
        while any(len(writer.mine.steps) < count + 2 for writer, count in zip(attack.writers, before)):
            if time.monotonic() > give_up:
                self.fail_if([*attack.stop(), Violation(WRONG, f"a writer was not answered in {WAIT_S} s")], about)
            time.sleep(0.01)
