"""SIGKILL at random moments: under writes and changes of tables, while the daemon ends, and while it starts."""

import shutil
import subprocess
import time

from fault_run import FaultRun
from history import Violation, check
from survey import read_state, verify


class KillRun(FaultRun):
    CYCLES_OF_A_DATABASE = 25

    def start(self, about="", **options):
        begun = time.monotonic()
        server = super().start(about, **options)
        self.start_s = time.monotonic() - begun
        return server

    def cycle(self, server):
        attack = self.arena.attack(server)
        time.sleep(self.rng.uniform(0.02, 0.7))
        if self.rng.random() < 0.15:
            server.terminate()
            time.sleep(self.rng.uniform(0, 0.05))
        code = server.kill()
        self.counts["faults"] += 1
        found = attack.stop()
        if code not in (-9, 0):
            found.append(Violation("died", f"the daemon ended with {code}: {server.log()}"))
        self.fail_if(found)
        self.kill_starts()
        server = self.start()
        if self.arena.promises.backups:
            self.judge_backup(self.arena.promises.backups[-1])
        self.judge(server, backups=False)
        return server

    def kill_starts(self):
        while self.rng.random() < 0.3:
            server = self.arena.server()
            server.spawn()
            time.sleep(self.rng.uniform(0, 1.2 * self.start_s))
            code = server.kill()
            self.counts["faults"] += 1
            self.counts["killed_starts"] += 1
            if code not in (-9, 0):
                self.fail_if([Violation("refused", f"a start ended with {code}: {server.log()}")])

    def judge_backup(self, made):
        """Restores the newest backup: it holds all that was acknowledged before `made` began, and no hole."""
        tool, directory = self.arena.programs.armature, self.arena.backups
        newest = self.arena.list_backups()[-1]["Id"]
        copy = self.arena.home / "restored"
        subprocess.run([tool, "backup", "restore", "--dir", directory, "--id", str(newest), "--data-dir", copy],
                       capture_output=True, check=True)
        self.counts["restored_backups"] += 1
        with self.start("restored backup", data=copy) as server:
            connection = server.connect()
            state = read_state(connection)
            connection.close()
            found = check(self.arena.history, state.recovered, state.counters, must_at=made.submitted)
            self.fail_if(found + verify(tool, server), "restored backup")
        shutil.rmtree(copy)
