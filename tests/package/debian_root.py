"""Roots of Debian 12 for tests of packages: made by debootstrap, entered by chroot, booted by systemd-nspawn. Needs root."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import time

SUITE = "bookworm"
MIRROR = "http://deb.debian.org/debian"
TOOLS = ("debootstrap", "systemd-nspawn", "nsenter", "unshare", "ip")
# A slow mirror, or a machine that does much else.
BUILD_S = 1800
RUN_S = 900
WAIT_S = 120


def reason_to_skip():
    """Why no root can be made here; empty if one can."""
    if os.geteuid() != 0:
        return "not root: roots of Debian are made and entered by root only"
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        return f"absent: {', '.join(missing)}; tools/setup --package-tests installs them"
    return ""


def wait_for(condition, what):
    deadline = time.monotonic() + WAIT_S
    while not (result := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come in {WAIT_S} s")
        time.sleep(0.02)
    return result


def checked(command, **options):
    """Output of the command; AssertionError with all that it wrote if it fails."""
    ended = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, timeout=RUN_S, check=False, **options)
    if ended.returncode != 0:
        raise AssertionError(f"{command} ended with {ended.returncode}:\n{ended.stdout}")
    return ended.stdout


class Namespaces:
    """Commands in the root and the namespaces of a process; in a network of its own, so that fixed ports are free."""

    def __init__(self, pid):
        self.pid = pid

    def command(self, *words):
        return ["nsenter", f"--target={self.pid}", "--all", "--root", "--wd=/", *words]

    def run(self, *words):
        return checked(self.command(*words))

    def try_run(self, *words):
        """(exit status, output) of a command that may fail."""
        ended = subprocess.run(self.command(*words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, timeout=RUN_S, check=False)
        return ended.returncode, ended.stdout


def child_of(pid):
    """The only child of the process, or None."""
    try:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except FileNotFoundError:
        return None
    return int(children[0]) if children else None


class Root:
    """A root in `path`. base: a tar of a root of debootstrap; made there if it is absent, so that later runs are quick."""

    def __init__(self, path, base=None, mirror=MIRROR):
        self.path = pathlib.Path(path)
        if base is None or not base.exists():
            self.make(mirror)
            if base is not None:
                checked(["tar", "-C", self.path, "-cf", base, "."])
        else:
            self.path.mkdir()
            checked(["tar", "-C", self.path, "-xpf", base])

    def make(self, mirror):
        log = self.path.with_name(self.path.name + ".debootstrap")
        with open(log, "wb") as output:
            ended = subprocess.run(["debootstrap", "--variant=minbase", SUITE, self.path, mirror], stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=output, timeout=BUILD_S, check=False)
        if ended.returncode != 0:
            raise AssertionError(f"debootstrap ended with {ended.returncode}:\n{log.read_text()[-4000:]}")

    def file(self, path):
        return self.path / path.lstrip("/")

    def run(self, *words, **environment):
        """Runs a command in the root, with /proc, and the network of the machine, as apt needs it."""
        script = 'mount -t proc proc "$0/proc" && root=$0 && exec chroot "$root" "$@"'
        return checked(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, self.path, *words],
                       env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
                            "DEBIAN_FRONTEND": "noninteractive", **environment})

    def apt(self, *words, **environment):
        return self.run("apt-get", "--quiet", "--yes", "--no-install-recommends", *words, **environment)

    @contextlib.contextmanager
    def alone(self, *command, user=None, ready=None):
        """Runs a program in the root, with a network of its own. Yields (namespaces, process); ends it by SIGTERM.

        ready: what begins the line of its output that is waited for; that line is process.ready_line.
        """
        identity = [f"--userspec={user}"] if user else []
        script = 'ip link set lo up && mount -t proc proc "$0/proc" && exec chroot "$@"'
        log = self.path.with_name(self.path.name + ".log")
        with open(log, "ab") as errors:
            process = subprocess.Popen(
                ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "sh", "-c", script, self.path,
                 *identity, self.path, *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            process.ready_line = ""
            while ready and not process.ready_line.startswith(ready):
                process.ready_line = process.stdout.readline()
                if not process.ready_line:
                    raise AssertionError(f"{command} ended with {process.wait(WAIT_S)}:\n{log.read_text()[-4000:]}")
            # unshare waits for its child, which has the namespaces.
            inner = wait_for(lambda: child_of(process.pid), "the program")
            yield Namespaces(inner), process
            os.kill(inner, signal.SIGTERM)
            process.wait(WAIT_S)
        finally:
            process.kill()
            process.wait(WAIT_S)
            process.stdout.close()

    @contextlib.contextmanager
    def booted(self):
        """Boots the root with its systemd. Yields its namespaces when the system is up; powers it off at the end."""
        log = self.path.with_name(self.path.name + ".boot")
        with open(log, "wb") as output:
            process = subprocess.Popen(
                ["systemd-nspawn", "--boot", "--quiet", f"--directory={self.path}", "--register=no", "--keep-unit",
                 "--private-network", "--console=pipe", "--machine=armature-packages"], stdin=subprocess.DEVNULL,
                stdout=output, stderr=output)
        try:
            def system():
                """The namespaces of the system when it is up. nspawn has other children before the one that becomes init."""
                if process.poll() is not None:
                    raise AssertionError(f"the boot ended with {process.returncode}:\n{log.read_text()[-4000:]}")
                inside = Namespaces(child_of(process.pid))
                state = inside.try_run("systemctl", "is-system-running")[1].strip()
                return inside if state in ("running", "degraded") else None

            try:
                inside = wait_for(system, "the end of the boot")
            except AssertionError as error:
                raise AssertionError(f"{error}\nconsole: {log.read_text()[-4000:]}") from error
            yield inside
            inside.try_run("systemctl", "poweroff")
            process.wait(WAIT_S)
        finally:
            # nspawn ends its system when it is told to end.
            process.terminate()
            process.wait(WAIT_S)
