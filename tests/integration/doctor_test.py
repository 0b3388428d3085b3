#!/usr/bin/python3
"""`armature doctor` on this machine, beside a daemon and without one."""

import json
import os
import pathlib
import socket
import stat
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_cli import DIFFERENCES, PATHS, WAIT_S, CliTest, run_tests  # noqa: E402


class DoctorTest(CliTest):
    def doctor(self, settings, endpoint=None):
        """Exit code and findings by check, each as (state, text, remedy)."""
        file = self.directory / "armatured.conf"
        file.write_text("".join(f"{name} = {value}\n" for name, value in settings.items()))
        done = subprocess.run(
            [PATHS.armature, "--endpoint", endpoint or self.daemon.grpc, "--output", "json", "doctor", "--config", file],
            capture_output=True, timeout=10 * WAIT_S, check=False)
        answer = json.loads(done.stdout)
        findings = {}
        for each in answer["Findings"]:
            findings.setdefault(each["Check"], []).append((each["State"], each["Text"], each.get("Remedy", "")))
        states = [state for of_check in findings.values() for state, _, _ in of_check]
        self.assertEqual((answer["Failures"], answer["Warnings"]), (states.count("fail"), states.count("warn")))
        self.assertEqual(done.returncode, DIFFERENCES if answer["Failures"] else 0, done.stderr)
        return findings

    def nobody(self):
        """An address at which nobody listens."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            return f"127.0.0.1:{server.getsockname()[1]}"

    def test_a_daemon_that_runs_is_looked_at_as_it_is(self):
        findings = self.doctor({"data_dir": "/nowhere", "cache_mb": "64"})
        pid = self.daemon.process.pid
        data = f"{self.daemon.directory.name}/data"
        self.assertEqual(findings["daemon"], [("ok", f"runs as process {pid} on {data}", "")])
        self.assertEqual(findings["version"][0][0], "ok")
        self.assertEqual(findings["writes"], [("ok", "accepted", "")])
        self.assertEqual(findings["data directory"], [("ok", f"{data} belongs to the daemon alone", "")])
        self.assertTrue(findings["file system"][0][1].startswith(f"{data} is on "))
        self.assertIn("in the daemon", findings["open files"][0][1])
        self.assertTrue(findings["memory"][0][1].startswith("cache, memtables and requests may take 67.1 MB of "))
        self.assertIn(findings["clock"][0][0], ("ok", "warn"))
        self.assertNotIn("port", findings)

    def test_without_a_daemon_the_file_and_the_machine_are_looked_at(self):
        data = self.directory / "data"
        data.mkdir(mode=0o755)
        key = self.directory / "server.key"
        key.write_text("no key")
        key.chmod(0o644)
        free = self.nobody()
        settings = {"data_dir": data, "grpc_listen": self.daemon.grpc, "http_listen": free, "tls_cert": key, "tls_key": key}
        findings = self.doctor(settings, endpoint=self.nobody())
        self.assertEqual(findings["daemon"][0][0], "ok")
        self.assertEqual(findings["data directory"],
                         [("warn", f"other users may access {data} (mode 0755)", f"chmod 700 {data}")])
        self.assertEqual([state for state, _, _ in findings["port"]], ["warn", "ok"])
        self.assertIn(f"{self.daemon.grpc}: Address already in use", findings["port"][0][1])
        self.assertEqual(findings["secrets"], [("fail", f"others may use {key} (mode 0644)", f"chmod 600 {key}")])
        self.assertEqual(findings["certificate"][0][0], "fail")
        self.assertIn("holds no certificate in PEM form", findings["certificate"][0][1])

    def test_a_faulty_file_is_told_with_its_line(self):
        file = self.directory / "bad.conf"
        file.write_text("data_dir\n")
        done = self.run_cli("--output", "table", "doctor", "--config", file)
        self.assertEqual(done.returncode, DIFFERENCES)
        first, second, *_ = done.stdout.decode().splitlines()
        self.assertRegex(first, rf"^fail  configuration +{file}: line 1: expected 'name = value'$")
        self.assertRegex(second, rf"^ +-> correct the line; armatured --config={file} --print_config checks the file$")
        self.assertIn("failed", done.stderr.decode())

    def test_the_daemon_itself_checks_its_flags(self):
        file = self.directory / "armatured.conf"

        def finding(text, path):
            file.write_text(text)
            done = self.run_cli("--output", "json", "doctor", "--config", file, env={**os.environ, "PATH": path})
            first = json.loads(done.stdout)["Findings"][0]
            return first["State"], first["Text"]

        with_daemon = str(pathlib.Path(PATHS.armatured).parent)
        self.assertEqual(finding("data_dir = /x\n", with_daemon), ("ok", f"{file} is one that armatured takes"))
        self.assertEqual(finding("data_dri = /x\n", with_daemon),
                         ("fail", f"{file}: line 1: there is no flag 'data_dri'; did you mean 'data_dir'?"))
        self.assertEqual(finding("data_dri = /x\n", str(self.directory)),
                         ("ok", f"{file}; only its form is checked: there is no armatured"))

    def test_nothing_is_changed(self):
        data = self.directory / "none"
        findings = self.doctor({"data_dir": data}, endpoint=self.nobody())
        self.assertEqual(findings["data directory"], [("ok", f"{data} does not exist: the first start makes it", "")])
        self.assertFalse(data.exists())
        self.assertEqual(stat.S_IMODE(os.stat(self.directory).st_mode), 0o700)


if __name__ == "__main__":
    run_tests()
