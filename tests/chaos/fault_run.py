"""Parts of an attack that all kinds share: starts, the end of a life, and the judgement of the next one."""

import signal
import time

from administration import check_promises, settle_promises
from armature_daemon import Refused
from history import WRONG, Violation, check
from server import Lost
from survey import create_tables, judge, read_items, verify
from workload import MAIN


class FaultRun:
    """One attack. Subclasses have `cycle(server)`, which attacks a serving daemon, and returns the next one, judged."""

    CYCLES_OF_A_DATABASE = 20

    def __init__(self, arena):
        self.arena = arena
        self.rng = arena.rng
        self.counts = arena.report.counts

    def begin(self):
        """Prepares an empty database. Returns the options of its daemons."""
        return {}

    def run(self, is_over):
        while not is_over():
            self.options = self.begin()
            server = self.start(**self.options)
            connection = server.connect()
            create_tables(connection)
            connection.close()
            for _ in range(self.CYCLES_OF_A_DATABASE):
                server = self.cycle(server)
                if is_over():
                    break
            self.fail_if(verify(self.arena.programs.armature, server))
            server.kill()
            self.arena.discard()

    def fail_if(self, violations, about=""):
        if violations:
            self.arena.fail([Violation(each.kind, f"{about}: {each.text}" if about else each.text) for each in violations])

    def note(self, text):
        """Notes a fault among the daemon's own messages."""
        with open(self.arena.home / "stderr", "a", encoding="utf-8") as log:
            log.write(f"---- {text}\n")

    def start(self, about="", **options):
        server = self.arena.server(**options)
        try:
            server.start()
        except Refused as refused:
            self.fail_if([Violation("refused", str(refused))], about)
        return server

    def finish(self, server, attack, about, may_die=False):
        """Ends a life: the daemon lives, shows all that was acknowledged, and ends when it is told to."""
        found = attack.stop()
        if any(writer.disk_refusals for writer in attack.writers):
            self.counts["read_only"] += 1
        if not server.is_alive():
            code = server.kill()
            if not may_die:
                found.append(Violation("died", f"the daemon ended with {code}: {server.log()}"))
            self.counts["died_as_documented"] += 1
            return self.fail_if(found, about)
        connection = server.connect()
        try:
            state = read_items(connection)
            found += check(self.arena.history, state.recovered, state.counters)
        except (Lost, RuntimeError) as error:
            if not may_die:
                found.append(Violation(WRONG, f"reads failed: {error}: {server.log()}"))
        connection.close()
        if may_die or self.rng.random() < 0.5:
            server.kill()
        else:
            code = server.end(signal.SIGTERM)
            if code != 0:
                found.append(Violation("died", f"the daemon ended with {code} after SIGTERM: {server.log()}"))
        return self.fail_if(found, about)

    def judge(self, server, about="", backups=True):
        """Checks everything that a daemon shows after a fault. Then that is the expected state."""
        now = time.monotonic_ns()
        connection = server.connect()
        state, found = judge(connection, self.arena.history)
        found += check_promises(connection, self.arena.promises, state.items[MAIN], now)
        if backups:
            found += self.arena.judge_backups(now)
        self.fail_if(found, about)
        settle_promises(connection, self.arena.promises)
        connection.close()
        self.arena.history.settle(state.recovered, state.counters)
