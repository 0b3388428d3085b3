"""One database under attack: its directory, its daemon, its clients, and the report of the run."""

import collections
import itertools
import json
import pathlib
import random
import shutil
import subprocess
import tempfile
import threading
import time

from administration import BackupMaker, IndexMaker, Promises, TableMaker
from history import LOST, History, Violation
from server import Server
from workload import Writer

WRITERS = 5
BACKUPS_KEPT = 3


class Failed(Exception):
    """A promise was broken; the directory is kept."""


class Report:
    """Counts of a run, printed as one line at its end."""

    def __init__(self, kind, seed, commit):
        self.kind = kind
        self.seed = seed
        self.commit = commit
        self.begun = time.monotonic()
        self.counts = collections.Counter()

    def line(self):
        counts = self.counts
        extra = " ".join(f"{name}={count}" for name, count in sorted(counts.items()) if name not in REPORTED)
        return (f"chaos {self.kind}: operations {counts['operations']}, faults {counts['faults']}, lost {counts['lost']}, "
                f"holes {counts['hole']}, refused starts {counts['refused']}, other violations {counts['violations']}; "
                f"seconds={time.monotonic() - self.begun:.0f} seed={self.seed} commit={self.commit} {extra}").rstrip()


REPORTED = ("operations", "faults", "lost", "hole", "refused", "violations")


def commit_of_tree():
    root = pathlib.Path(__file__).resolve().parents[2]
    done = subprocess.run(["git", "-c", "safe.directory=*", "-C", root, "rev-parse", "--short", "HEAD"],
                          capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


class Arena:
    """A directory for one database after the other. programs: paths of armatured, armature and the shim.

    Directories are on a memory file system where there is one: the attack is on the order of calls, not on a disk.
    """

    def __init__(self, programs, report, keep_in=None):
        self.programs = programs
        self.report = report
        parent = keep_in or ("/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None)
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="armature_chaos_", dir=parent))
        self.numbers = itertools.count(1)
        self.rng = random.Random(report.seed)
        self.servers = []
        self.reset()

    def reset(self):
        """Begins with an empty database."""
        self.home = self.root / f"database{next(self.numbers)}"
        self.home.mkdir()
        self.use(self.home)
        self.history = History()
        self.promises = Promises()
        self.names = itertools.count(1)

    def use(self, directory):
        """Puts data and backups of the database into this directory."""
        self.data = directory / "data"
        self.backups = directory / "backups"

    def list_backups(self, command="list"):
        """The backups, as `armature backup list` or `verify` shows them."""
        done = subprocess.run([self.programs.armature, "backup", command, "--dir", self.backups], capture_output=True,
                              check=False)
        return json.loads(done.stdout)["Backups"] if done.stdout else []

    def judge_backups(self, at):
        """Violations if a backup that was complete at the time is not whole."""
        made = [event for event in self.promises.backups if event.is_answered(at)]
        if not made:
            return []
        listed = self.list_backups("verify")
        if any(each.get("Damage") for each in listed) or len(listed) < min(len(made), BACKUPS_KEPT):
            return [Violation(LOST, f"{len(made)} backups were made; verify finds {listed}")]
        self.report.counts["verified_backups"] += 1
        return []

    def discard(self):
        """Removes the database and begins with an empty one."""
        shutil.rmtree(self.home)
        self.reset()

    def server(self, data=None, flags=(), **options):
        data = data or self.data
        flags = (f"--backup_dir={self.backups}", f"--backup_keep={BACKUPS_KEPT}", "--describe_wait=0", "--cache_mb=16", *flags)
        made = Server(self.programs.armatured, data, self.home / "stderr", flags, **options)
        self.servers = [each for each in self.servers if each.is_alive()] + [made]
        return made

    def kill_servers(self):
        """Ends every daemon of the run, also those that a failure left."""
        for server in self.servers:
            server.kill()

    def attack(self, server, administrators=True):
        """Starts clients. Returns an object whose `stop` ends and joins them."""
        return Attack(self, server, administrators)

    def fail(self, violations):
        """Reports violations and keeps the directory."""
        for violation in violations:
            name = violation.kind if violation.kind in ("lost", "hole", "refused") else "violations"
            self.report.counts[name] += 1
        kept = "\n".join(f"  {violation.kind}: {violation.text}"[:600] for violation in violations[:20])
        raise Failed(f"seed {self.report.seed}: the data are kept in {self.home}\n{kept}")

    def close(self):
        shutil.rmtree(self.root, ignore_errors=True)


class Attack:
    """Clients of a serving daemon."""

    def __init__(self, arena, server, administrators):
        self.stopping = threading.Event()
        self.arena = arena
        rng = arena.rng
        self.writers = [Writer(arena.history, number, random.Random(rng.getrandbits(64)), server.connect(), self.stopping)
                        for number in range(WRITERS)]
        kinds = [kind for kind, chance in ((TableMaker, 0.4), (IndexMaker, 0.3), (BackupMaker, 0.25))
                 if rng.random() < chance and administrators]
        self.administrators = [kind(arena.promises, random.Random(rng.getrandbits(64)), server.connect(), self.stopping,
                                    arena.names) for kind in kinds]
        self.steps_before = arena.history.steps()
        for client in (*self.writers, *self.administrators):
            client.start()

    def stop(self):
        """Ends the clients. Returns the violations that they saw."""
        self.stopping.set()
        for client in (*self.writers, *self.administrators):
            client.join()
        self.arena.report.counts["operations"] += self.arena.history.steps() - self.steps_before
        return [violation for client in (*self.writers, *self.administrators) for violation in client.violations]
