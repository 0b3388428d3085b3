"""Namespaces of the kernel in which daemons of a test run. They go away with the process that made them."""

import json
import subprocess


class NotPermitted(Exception):
    """The machine does not permit what a test needs."""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NotPermitted(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


class Namespace:
    """Made by `unshare` with these flags. A process holds it, which ends with its input: with this process at the latest."""

    def __init__(self, *flags):
        self.holder = subprocess.Popen(
            ["unshare", *flags, "sh", "-c", "echo made && exec cat >/dev/null"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        made = self.holder.stdout.readline()
        self.holder.stdout.close()
        if made != "made\n":
            self.close()
            raise NotPermitted(f"unshare {' '.join(flags)}")

    def entrance(self, kind):
        """A program that runs another one in this namespace."""
        return ("nsenter", f"--{kind}=/proc/{self.holder.pid}/ns/{'time_for_children' if kind == 'time' else kind}")

    def close(self):
        self.holder.stdin.close()
        self.holder.wait()


class Host:
    """A network of its own with two links to that of this process: one to clients, and one to the store, which can be cut.

    A cut loses packets silently, as a switch does, in one direction or both: they are sent to an Ethernet address that nobody has.
    """

    KINDS = ("both", "to_store", "from_store", "link")
    NOBODY = "02:00:00:00:00:01"

    def __init__(self, number, store_address):
        self.number = number
        self.inside = Namespace("--net")
        self.entrance = self.inside.entrance("net")
        try:
            run(*self.entrance, "ip", "link", "set", "lo", "up")
            # Networks that are set aside for documentation.
            self.address, _ = self.link("client", "198.51.100")
            self.store_side, near = self.link("store", "203.0.113")
            run(*self.entrance, "ip", "route", "add", store_address, "via", near)
            self.ethernet = {}
            for enter, device in ((self.entrance, "store"), ((), self.device("store"))):
                shown = json.loads(run(*enter, "ip", "-json", "link", "show", "dev", device))
                self.ethernet[device] = shown[0]["address"]
            self.near = near
            self.restore()
        except NotPermitted:
            self.close()
            raise

    def device(self, name):
        """The end of a link that is outside."""
        return f"{name}{self.number}"

    def link(self, name, network):
        near, far = (f"{network}.{4 * self.number + n}" for n in (1, 2))
        outside = self.device(name)
        run("ip", "link", "add", outside, "type", "veth", "peer", "name", name, "netns", str(self.inside.holder.pid))
        run("ip", "address", "add", f"{near}/30", "dev", outside)
        run("ip", "link", "set", outside, "up")
        run(*self.entrance, "ip", "address", "add", f"{far}/30", "dev", name)
        run(*self.entrance, "ip", "link", "set", name, "up")
        return far, near

    def tell(self, direction, ethernet):
        """Sets to which Ethernet address one end of the link to the store sends."""
        enter, peer, device = (
            (self.entrance, self.near, "store") if direction == "to_store" else ((), self.store_side, self.device("store"))
        )
        run(*enter, "ip", "neighbour", "replace", peer, "lladdr", ethernet, "dev", device, "nud", "permanent")

    def cut(self, kind):
        if kind == "link":
            run("ip", "link", "set", self.device("store"), "down")
            return
        for direction in ("to_store", "from_store"):
            if kind in (direction, "both"):
                self.tell(direction, self.NOBODY)

    def restore(self):
        run("ip", "link", "set", self.device("store"), "up")
        self.tell("to_store", self.ethernet[self.device("store")])
        self.tell("from_store", self.ethernet["store"])

    def close(self):
        self.inside.close()
