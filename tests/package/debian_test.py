#!/usr/bin/python3
"""The Debian packages on a bare Debian 12: installed, used, upgraded, booted, removed and purged.

    debian_test.py --packages DIR --newer DIR [--base FILE] [--measure FILE] [unittest arguments]

DIR has the packages of `tools/package`, and --newer those of a higher revision. --base keeps the bare root for later runs.
--measure writes the figures of docs/measurements as JSON. Exits with 77, and says why, if no root can be made here.
The tests are one story in the order of their names: each begins with the root that the one before has left.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from debian_root import Root, reason_to_skip, wait_for  # noqa: E402

ARGS = argparse.Namespace()
FIGURES = {}
DAEMON = ("/usr/bin/armatured", "--config=/etc/armature/armatured.conf")
AS_SERVICE = {"user": "armature:armature", "ready": "ready "}
SKIP = 77
# In the root. A system that is booted has another /tmp.
COPIES = "/root"
TABLE = ("--table-name", "Music", "--attribute-definitions", "AttributeName=Artist,AttributeType=S", "--key-schema",
         "AttributeName=Artist,KeyType=HASH", "--billing-mode", "PAY_PER_REQUEST")


def package(directory, name):
    """The file of a package in the directory."""
    found = sorted(pathlib.Path(directory).glob(f"{name}_*.deb"))
    if len(found) != 1:
        raise AssertionError(f"{directory} has {len(found)} packages {name}")
    return found[0]


def version_of(directory):
    return subprocess.run(["dpkg-deb", "--field", str(package(directory, "armature-server")), "Version"],
                          capture_output=True, text=True, check=True).stdout.strip()


def put(inside, artist, year):
    inside.run("armature", "item", "put", "--table-name", "Music", "--item",
               json.dumps({"Artist": {"S": artist}, "Year": {"N": str(year)}}))


def get(inside, artist):
    answer = inside.run("armature", "--output", "json", "item", "get", "--table-name", "Music", "--key",
                        json.dumps({"Artist": {"S": artist}}))
    return json.loads(answer)["Item"]["Year"]["N"]


def listeners(inside):
    """Addresses that listen in the namespace, IPv4 and IPv6, as hexadecimal ADDRESS:PORT of /proc/net."""
    text = inside.run("cat", "/proc/net/tcp", "/proc/net/tcp6")
    return {fields[1] for fields in (line.split() for line in text.splitlines()) if len(fields) > 3 and fields[3] == "0A"}


def memory_kib(inside, pid):
    return int(re.search(r"^Pss: +(\d+) kB", inside.run("cat", f"/proc/{pid}/smaps_rollup"), re.MULTILINE)[1])


class DebianPackages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="armature_debian_")
        cls.addClassCleanup(temporary.cleanup)
        cls.root = Root(pathlib.Path(temporary.name) / "root", base=ARGS.base)
        cls.root.run("apt-get", "--quiet", "update")

    def copy(self, directory, *names):
        """Copies packages into the root; their paths there."""
        paths = []
        for name in names:
            file = package(directory, name)
            shutil.copy(file, self.root.file(COPIES) / file.name)
            paths.append(f"{COPIES}/{file.name}")
        return paths

    def installed(self):
        return set(self.root.run("dpkg-query", "--show", "--showformat=${Package}\n").split())

    def mode_and_owner(self, path):
        return self.root.run("stat", "--format=%a %U:%G", path).strip()

    def test_1_install_starts_nothing_without_systemd(self):
        before = self.installed()
        # Downloads are not what is measured.
        files = self.copy(ARGS.packages, "armature-server", "armature-client")
        output = self.root.apt("install", "--download-only", *files)
        FIGURES["download"] = re.search(r"Need to get ([^/]*) of archives|Need to get (.*) of archives", output)[0]
        begin = time.monotonic()
        output = self.root.apt("install", *files)
        FIGURES["install_seconds"] = time.monotonic() - begin
        added = sorted(self.installed() - before)
        FIGURES["packages"] = added
        FIGURES["disk_used"] = re.search(r"After this operation, (.*) of additional", output)[1]
        self.assertIn("armature-server", added)
        self.assertFalse([name for name in added if name.startswith("libarmature")], "programs do without the library")
        self.assertEqual(self.mode_and_owner("/var/lib/armature"), "700 armature:armature")
        self.assertEqual(self.mode_and_owner("/var/log/armature"), "700 armature:armature")
        self.assertEqual(self.mode_and_owner("/etc/armature"), "750 root:armature")
        self.assertEqual(list(self.root.file("/var/lib/armature").iterdir()), [])
        unit = self.root.file("/lib/systemd/system/armatured.service").read_text(encoding="utf-8")
        for document in re.findall(r"file:(\S+)", unit):
            self.assertTrue(self.root.file(document).exists(), document)
        conffiles = self.root.run("dpkg-query", "--show", "--showformat=${Conffiles}", "armature-server")
        self.assertIn(" /etc/armature/armatured.conf ", conffiles)

    def test_2_by_hand_it_answers_on_loopback_only(self):
        begin = time.monotonic()
        with self.root.alone(*DAEMON, **AS_SERVICE) as (inside, process):
            FIGURES["start_seconds"] = time.monotonic() - begin
            self.assertEqual(process.ready_line, "ready grpc=127.0.0.1:7700 http=127.0.0.1:7701 metrics=127.0.0.1:7702\n")
            inside.run("armature", "table", "create", *TABLE)
            FIGURES["first_answer_seconds"] = time.monotonic() - begin
            put(inside, "Nina", 1958)
            self.assertEqual(get(inside, "Nina"), "1958")
            self.assertEqual({address.split(":")[0] for address in listeners(inside)}, {"0100007F"})
            FIGURES["idle_pss_kib"] = memory_kib(inside, 1)
        self.assertEqual(process.returncode, 0)

    def test_3_upgrade_keeps_data_and_configuration(self):
        configuration = self.root.file("/etc/armature/armatured.conf")
        with open(configuration, "a", encoding="utf-8") as file:
            file.write("slow_request_ms = 1s\n")
        self.root.apt("install", *self.copy(ARGS.newer, "armature-server", "armature-client"))
        self.assertEqual(self.root.run("dpkg-query", "--show", "--showformat=${Version}", "armature-server"),
                         version_of(ARGS.newer))
        self.assertTrue(configuration.read_text(encoding="utf-8").endswith("slow_request_ms = 1s\n"))
        with self.root.alone(*DAEMON, **AS_SERVICE) as (inside, _):
            self.assertEqual(get(inside, "Nina"), "1958")
            put(inside, "Ella", 1938)

    def test_4_a_wrong_owner_of_the_data_is_told_in_one_line(self):
        data = self.root.file("/var/lib/armature")
        self.root.run("chown", "root:root", "/var/lib/armature")
        try:
            status, output = self.refused_start()
        finally:
            self.root.run("chown", "armature:armature", "/var/lib/armature")
        self.assertEqual(status, 1, output)
        lines = [line for line in output.splitlines() if line.startswith("armatured: ")]
        self.assertEqual(len(lines), 1, output)
        self.assertIn("/var/lib/armature", lines[0])
        self.assertEqual(data.stat().st_mode & 0o777, 0o700)

    def refused_start(self):
        ended = subprocess.run(["chroot", "--userspec=armature:armature", str(self.root.path), *DAEMON],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               timeout=120, check=False)
        return ended.returncode, ended.stdout

    def test_5_systemd_starts_reloads_and_stops_it(self):
        self.root.apt("install", "logrotate")
        audit = "audit_log = /var/log/armature/audit.log\n"
        with open(self.root.file("/etc/armature/armatured.conf"), "a", encoding="utf-8") as file:
            file.write(audit)
        with self.root.booted() as inside:
            # The package has enabled the service; it is up when the system is.
            self.assertEqual(inside.try_run("systemctl", "is-active", "armatured"), (0, "active\n"))
            self.assertEqual(get(inside, "Nina"), "1958")
            self.assertEqual(get(inside, "Ella"), "1938")
            journal = inside.run("journalctl", "--unit=armatured", "--no-pager")
            self.assertIn("store: opened", journal)
            self.assertNotIn("mode is different", journal)
            self.check_reload(inside)
            self.check_rotation(inside)
            security = inside.run("systemd-analyze", "security", "--no-pager", "armatured")
            FIGURES["exposure"] = float(re.search(r"Overall exposure level for armatured.service: ([\d.]+)", security)[1])
            self.assertLess(FIGURES["exposure"], 2.5)
            self.check_upgrade_restarts(inside)
            inside.run("systemctl", "stop", "armatured")
            shown = inside.run("systemctl", "show", "--property=Result,ExecMainStatus", "armatured")
            self.assertEqual(set(shown.split()), {"Result=success", "ExecMainStatus=0"})
            self.assertEqual(listeners(inside), set())

    def check_reload(self, inside):
        main_pid = inside.run("systemctl", "show", "--property=MainPID", "--value", "armatured").strip()
        inside.run("systemctl", "reload", "armatured")
        wait_for(lambda: "got SIGHUP" in inside.run("journalctl", "--unit=armatured", "--no-pager"), "the reload")
        self.assertEqual(inside.run("systemctl", "show", "--property=MainPID", "--value", "armatured").strip(), main_pid)

    def check_rotation(self, inside):
        """logrotate moves the audit log away, and the daemon goes on in a new one."""
        log = self.root.file("/var/log/armature/audit.log")
        wait_for(log.exists, "the audit log")
        inside.run("armature", "table", "describe", "--table-name", "Music")
        wait_for(lambda: "DescribeTable" in log.read_text(encoding="utf-8"), "a line of the audit log")
        inside.run("logrotate", "--force", "/etc/logrotate.d/armature-server")
        rotated = log.with_name("audit.log.1")
        self.assertIn("DescribeTable", rotated.read_text(encoding="utf-8"))
        wait_for(log.exists, "the new audit log")
        inside.run("armature", "table", "describe", "--table-name", "Music")
        wait_for(lambda: "DescribeTable" in log.read_text(encoding="utf-8"), "a line of the new audit log")
        self.assertEqual(log.stat().st_mode & 0o777, 0o600)

    def check_upgrade_restarts(self, inside):
        """Installing packages over a running service restarts it, on the same data."""
        before = inside.run("systemctl", "show", "--property=MainPID", "--value", "armatured")
        inside.run("dpkg", "--install", f"{COPIES}/{package(ARGS.newer, 'armature-server').name}")
        self.assertEqual(inside.try_run("systemctl", "is-active", "armatured"), (0, "active\n"))
        self.assertNotEqual(inside.run("systemctl", "show", "--property=MainPID", "--value", "armatured"), before)
        self.assertEqual(get(inside, "Ella"), "1938")

    def test_6_removal_keeps_data_and_configuration(self):
        self.root.apt("remove", "armature-server", "armature-client")
        for path in ("/usr/bin/armatured", "/usr/bin/armature", "/lib/systemd/system/armatured.service"):
            self.assertFalse(self.root.file(path).exists(), path)
        for path in ("/etc/armature/armatured.conf", "/var/lib/armature/db", "/var/log/armature"):
            self.assertTrue(self.root.file(path).exists(), path)
        self.root.apt("install", *self.copy(ARGS.newer, "armature-server", "armature-client"))
        with self.root.alone(*DAEMON, **AS_SERVICE) as (inside, _):
            self.assertEqual(get(inside, "Ella"), "1938")

    def test_7_purge_asks_for_the_data(self):
        output = self.root.apt("purge", "armature-server", "armature-client")
        self.assertIn("The tables in /var/lib/armature are kept.", output)
        self.assertTrue(self.root.file("/var/lib/armature/db").exists())
        for path in ("/etc/armature", "/var/log/armature", "/etc/logrotate.d/armature-server"):
            self.assertFalse(self.root.file(path).exists(), path)
        self.root.apt("install", *self.copy(ARGS.newer, "armature-server"))
        answer = self.root.file(f"{COPIES}/answer")
        answer.write_text("armature-server armature-server/purge-data boolean true\n", encoding="ascii")
        self.root.run("debconf-set-selections", f"{COPIES}/answer")
        self.root.apt("purge", "armature-server")
        left = self.root.run("sh", "-c", f"find / -xdev -name '*armature*' -not -path '{COPIES}/*'").split()
        self.assertEqual(left, [])

    def test_8_programs_over_the_client_library(self):
        consumer = pathlib.Path(__file__).resolve().parent / "consumer"
        self.root.apt("install", *self.copy(ARGS.newer, "libarmature-client0.1", "libarmature-client-dev"),
                      "g++", "pkgconf")
        shutil.copy(consumer / "consumer.cc", self.root.file("/tmp/consumer.cc"))
        self.root.run("sh", "-c", "g++ -std=c++20 /tmp/consumer.cc -o /tmp/consumer "
                      "$(pkg-config --cflags --libs armature-client)")
        self.assertIn("libarmature_client.so.0.1", self.root.run("ldd", "/tmp/consumer"))
        self.root.run("sh", "-c", "g++ -std=c++20 /tmp/consumer.cc -o /tmp/static -Wl,-Bstatic -larmature_client "
                      "-Wl,-Bdynamic $(pkg-config --static --libs armature-client | sed s/-larmature_client//)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", required=True, type=pathlib.Path)
    parser.add_argument("--newer", required=True, type=pathlib.Path)
    parser.add_argument("--base", type=pathlib.Path)
    parser.add_argument("--measure", type=pathlib.Path)
    ARGS, rest = parser.parse_known_args()
    if reason := reason_to_skip():
        print(f"debian_test: skipped: {reason}", file=sys.stderr)
        sys.exit(SKIP)
    result = unittest.main(argv=[sys.argv[0], *rest], exit=False, failfast=True).result
    if ARGS.measure:
        ARGS.measure.write_text(json.dumps(FIGURES, indent=1) + "\n", encoding="utf-8")
    sys.exit(not result.wasSuccessful())
