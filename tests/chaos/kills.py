"""SIGKILL at random moments: under writes and changes of tables, while the daemon ends, and while it starts."""

import shutil
import subprocess
import time

from administration import check_promises, settle_promises
from history import Violation, check
from server import Refused
from survey import create_tables, judge, read_state, verify

CYCLES_OF_A_DATABASE = 25
KILLS_OF_A_START_MAX = 3


class KillRun:
    def __init__(self, arena):
        self.arena = arena
        self.rng = arena.rng
        self.start_s = 0.1  # duration of a start

    def run(self, is_over):
        while not is_over():
            with self.start() as server:
                connection = server.connect()
                create_tables(connection)
                connection.close()
                for _ in range(CYCLES_OF_A_DATABASE):
                    server = self.cycle(server)
                    if is_over():
                        break
                self.fail_if(verify(self.arena.programs.armature, server))
                server.kill()
            self.arena.discard()

    def fail_if(self, violations):
        if violations:
            self.arena.fail(violations)

    def start(self, **options):
        server = self.arena.server(**options)
        begun = time.monotonic()
        try:
            server.start()
        except Refused as refused:
            self.arena.fail([Violation("refused", str(refused))])
        self.start_s = time.monotonic() - begun
        return server

    def cycle(self, server):
        """Attacks a serving daemon, kills it, and judges the next one. Returns that."""
        attack = self.arena.attack(server)
        time.sleep(self.rng.uniform(0.02, 0.7))
        if self.rng.random() < 0.15:
            server.terminate()
            time.sleep(self.rng.uniform(0, 0.05))
        code = server.kill()
        self.arena.report.counts["faults"] += 1
        found = attack.stop()
        if code not in (-9, 0):
            found.append(Violation("died", f"the daemon ended with {code}: {server.last_words()}"))
        self.fail_if(found)
        self.kill_starts()
        server = self.start()
        self.judge(server)
        return server

    def kill_starts(self):
        while self.rng.random() < 0.3:
            server = self.arena.server()
            server.spawn()
            time.sleep(self.rng.uniform(0, 1.2 * self.start_s))
            code = server.kill()
            self.arena.report.counts["faults"] += 1
            self.arena.report.counts["killed_starts"] += 1
            if code not in (-9, 0):
                self.arena.fail([Violation("refused", f"a start ended with {code}: {server.last_words()}")])

    def judge(self, server):
        now = time.monotonic_ns()
        connection = server.connect()
        state, found = judge(connection, self.arena.history)
        found += check_promises(connection, self.arena.promises, state.items["Main"], now)
        if not found and self.arena.promises.backups:
            found += self.judge_backup(self.arena.promises.backups[-1])
        self.fail_if(found)
        settle_promises(connection, self.arena.promises)
        connection.close()
        self.arena.history.settle(state.recovered, state.counters)

    def judge_backup(self, made):
        """Restores the newest backup: it holds all that was acknowledged before `made` began, and no hole."""
        tool, directory = self.arena.programs.armature, self.arena.backups
        newest = self.arena.list_backups()[-1]["Id"]
        copy = self.arena.home / "restored"
        subprocess.run([tool, "backup", "restore", "--dir", directory, "--id", str(newest),
                        "--data-dir", copy], capture_output=True, check=True)
        self.arena.report.counts["restored_backups"] += 1
        with self.start(data=copy) as server:
            state = read_state(server.connect())
            found = check(self.arena.history, state.recovered, state.counters, must_at=made.submitted)
            found += verify(tool, server)
        if not found:
            shutil.rmtree(copy)
        return found
