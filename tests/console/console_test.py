#!/usr/bin/python3
"""The web console: how a real daemon serves it, and its pages in headless Chromium.

`tools/setup --clients` installs the browser and Node; the browser's driver and the checker of accessibility come from npm.
Run by CTest; by hand: console_test.py --armatured PATH --work DIR [unittest arguments]
"""

import argparse
import gzip
import http.client
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
sys.path.insert(0, str(HERE.parent / "clients"))
from armature_daemon import LISTEN, Daemon, Refused, client_environment  # noqa: E402
from client_programs import npm_clients  # noqa: E402

CHROMIUM = "/usr/bin/chromium"
TIMEOUT_S = 600
OPTIONS = argparse.Namespace()
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
SECRET = "a-secret-of-the-console-tests"


def get(address, path, method="GET", body=None, **headers):
    """Status, headers and body of an answer."""
    connection = http.client.HTTPConnection(address, timeout=60)
    try:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def write_credentials(folder):
    """A file with an administrator, and with a key that may only read items of one table."""
    everything = {"operations": ["*"], "tables": ["*"]}
    reading = {"operations": ["GetItem", "Query", "Scan", "DescribeTable", "DescribeTimeToLive"], "tables": ["shared"]}
    path = pathlib.Path(folder) / "credentials.json"
    path.write_text(json.dumps({
        "access_keys": [{"id": "AKADMIN", "secret": SECRET, "policy": "admin"}, {"id": "AKREADER", "secret": SECRET, "policy": "reader"}],
        "policies": {"admin": {"allow": [everything], "admin": True}, "reader": {"allow": [reading]}},
    }), encoding="ascii")
    path.chmod(0o600)
    return path


def browser_packages():
    """The folder with the browser's driver. Skips the test without it or without a browser; CI has both, so there it fails."""
    try:
        if not os.access(CHROMIUM, os.X_OK):
            raise unittest.SkipTest(f"no {CHROMIUM}")
        return npm_clients(OPTIONS.work, HERE)
    except unittest.SkipTest as reason:
        if not os.environ.get("CI"):
            raise
        raise AssertionError(f"with the variable CI, nothing is skipped: {reason}") from reason


class Files(unittest.TestCase):
    def test_packages_are_no_pages(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("index.html", "src/a.mjs", "README.md", "node_modules/x/index.js", "src/node_modules/y.mjs", "src/my_node_modules.js"):
                path = pathlib.Path(folder) / "console" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
            script = pathlib.Path(folder) / "list.cmake"
            listing = HERE.parents[1] / "daemon/console/list_files.cmake"
            script.write_text(f'include("{listing}")\nlist_console_files("{folder}/console" files)\nmessage("${{files}}")\n', encoding="utf-8")
            done = subprocess.run(["cmake", "-P", str(script)], capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
            self.assertEqual(done.stderr.strip(), "index.html;src/a.mjs;src/my_node_modules.js")


class Modules(unittest.TestCase):
    def test_modules_without_a_browser(self):
        if shutil.which("node") is None:
            self.skipTest("no node")
        done = subprocess.run(["node", "--test", str(HERE / "modules.mjs"), str(HERE / "modules_of_changes.mjs")],
                              capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Serving(unittest.TestCase):
    """Without a browser."""

    def daemon(self, *flags, **options):
        daemon = Daemon(OPTIONS.armatured, *flags, **options).__enter__()
        self.addCleanup(daemon.__exit__)
        return daemon

    def test_pages_and_their_cache(self):
        daemon = self.daemon()
        for address in (daemon.http, daemon.grpc):
            status, headers, body = get(address, "/console/", **BROWSER)
            self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
            self.assertIn("script-src 'self'", headers["Content-Security-Policy"])
            self.assertIn(b'<div id="app">', body)
        status, headers, body = get(daemon.http, "/console/src/main.mjs", Accept_Encoding="gzip")
        self.assertEqual((status, headers["Content-Encoding"]), (200, "gzip"))
        self.assertIn(b"render", gzip.decompress(body))
        self.assertEqual(get(daemon.http, "/console/src/main.mjs", Accept_Encoding="gzip", If_None_Match=headers["ETag"])[0::2],
                         (304, b""))
        self.assertEqual(get(daemon.http, "/console/nothing")[0], 404)
        self.assertEqual(get(daemon.http, "/console/src/main.mjs", method="HEAD")[0::2], (200, b""))
        # Each file that a page asks for is there.
        for path in ("icon.svg", "style/base.css", "src/views/app.mjs", "vendor/uplot.js", "vendor/uplot.css", "vendor/htm-preact.mjs"):
            self.assertEqual(get(daemon.http, f"/console/{path}")[0], 200, path)

    def test_browsers_are_sent_to_it_and_programs_are_not(self):
        daemon = self.daemon()
        status, headers, _ = get(daemon.http, "/", **BROWSER)
        self.assertEqual((status, headers["Location"]), (302, "/console/"))
        self.assertEqual(get(daemon.http, "/")[2].decode(), f"healthy: {daemon.http} ")
        self.assertEqual(get(daemon.http, "/healthz", **BROWSER)[2].decode(), f"healthy: {daemon.http} ")
        self.assertEqual(daemon.json_call("ListTables"), (200, {"TableNames": []}))

    def test_metrics_are_short(self):
        daemon = self.daemon("--metrics_listen=127.0.0.1:0")
        daemon.create_table("quiet")
        status, _, body = get(daemon.http, "/console/metrics")
        self.assertEqual(status, 200)
        self.assertIn(b"armature_requests_total", body)
        self.assertNotIn(b"quiet", body)
        self.assertIn("quiet", daemon.get_text("/metrics")[1])

    def test_history(self):
        daemon = self.daemon()
        daemon.create_table("quiet")
        samples = []
        while not samples:  # the first one comes after a second
            status, _, body = get(daemon.http, "/console/history")
            self.assertEqual(status, 200)
            samples = json.loads(body)
        self.assertGreater(samples[0]["memory"], 1 << 20)
        self.assertGreater(samples[0]["disk"], samples[0]["diskUsed"])
        self.assertEqual(set(samples[0]["requests"]), set(samples[0]["latencies"]))

    def test_settings_and_their_sources(self):
        with tempfile.TemporaryDirectory() as folder:
            flags = pathlib.Path(folder) / "flags"
            flags.write_text("read_threads = 3\ncache_mb = 32\n", encoding="ascii")
            daemon = self.daemon(f"--config={flags}", "--cache_mb=64")
            page = json.loads(get(daemon.http, "/console/settings")[2])
            found = {flag["Name"]: flag for flag in page["Flags"]}
            self.assertEqual((found["cache_mb"]["Source"], found["cache_mb"]["Value"]), ("flag", "64"))
            self.assertEqual((found["read_threads"]["Source"], found["read_threads"]["Line"]), ("file", 1))
            self.assertEqual(found["durability"]["Source"], "default")
            self.assertEqual(page["Config"], str(flags))

    def test_states_of_indexes(self):
        daemon = self.daemon()
        index = {"IndexName": "ByA", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}
        daemon.create_table("orders")
        for i in range(30):
            daemon.json_call("PutItem", TableName="orders", Item={"id": {"S": str(i)}, "a": {"N": "1"}})
        status, answer = daemon.json_call("UpdateTable", TableName="orders", GlobalSecondaryIndexUpdates=[{"Create": index}],
                                          AttributeDefinitions=[{"AttributeName": "a", "AttributeType": "S"}])
        self.assertEqual(status, 200, answer)
        found = json.loads(get(daemon.http, "/console/indexes/orders")[2])["Indexes"]
        self.assertEqual([(each["TableName"], each["IndexName"]) for each in found], [("orders", "ByA")])
        page = json.loads(get(daemon.http, "/console/violations/orders/ByA")[2])
        self.assertEqual(len(page["Violations"]), 30)
        self.assertEqual(page["Violations"][0]["Reason"], "TYPE")
        for path in ("indexes/nothing", "violations/orders/nothing", "violations/nothing/ByA", "violations/orders/ByA/AAAA"):
            status, _, body = get(daemon.http, f"/console/{path}")
            self.assertEqual(status, 400, (path, body))

    def test_off(self):
        daemon = self.daemon("--console=off")
        self.assertEqual(get(daemon.http, "/console/")[0], 404)
        status, _, body = get(daemon.http, "/", **BROWSER)
        self.assertEqual(status, 200)
        self.assertIn(b"X-Amz-Target", body)

    def test_open_addresses_without_tls_have_none_unless_it_is_asked_for(self):
        listen = ("--grpc_listen=off", "--http_listen=0.0.0.0:0", "--insecure")
        port = lambda daemon: f"127.0.0.1:{daemon.http.rpartition(':')[2]}"  # noqa: E731
        self.assertEqual(get(port(self.daemon(listen=listen)), "/console/")[0], 404)
        self.assertEqual(get(port(self.daemon("--console=on", listen=listen)), "/console/")[0], 200)
        with self.assertRaises(Refused) as refused:
            self.daemon("--console=maybe")
        self.assertIn("must be auto, on, off or read-only", str(refused.exception))

    def test_read_only(self):
        daemon = self.daemon("--console=read-only")
        daemon.create_table("kept")
        own = {"X-Amz-Target": "DynamoDB_20120810.DeleteTable", "Content-Type": "application/x-amz-json-1.0", "Sec-Fetch-Site": "same-origin"}
        status, _, body = get(daemon.http, "/", "POST", '{"TableName": "kept"}', **own)
        self.assertEqual(status, 400)
        self.assertIn(b"AccessDeniedException", body)
        own["X-Amz-Target"] = "DynamoDB_20120810.ListTables"
        self.assertEqual(get(daemon.http, "/", "POST", "{}", **own)[2], b'{"TableNames":["kept"]}')
        self.assertEqual(json.loads(get(daemon.http, "/console/daemon.json")[2]), {"needs_key": False, "is_read_only": True})
        rights = json.loads(get(daemon.http, "/console/rights/kept")[2])["Operations"]
        self.assertIn("DescribeTable", rights)
        self.assertNotIn("DeleteTable", rights)
        # Its rights are those of every other client, which may delete the table.
        self.assertEqual(daemon.json_call("DeleteTable", TableName="kept")[0], 200)

    def test_credentials(self):
        daemon = Daemon(OPTIONS.armatured, listen=("--grpc_listen=off", LISTEN[1]))
        folder = OPTIONS.work / "credentials"
        folder.mkdir(parents=True, exist_ok=True)
        daemon.flags = (f"--credentials_file={write_credentials(folder)}",)
        daemon.__enter__()
        self.addCleanup(daemon.__exit__)
        self.assertEqual(json.loads(get(daemon.http, "/console/daemon.json")[2]), {"needs_key": True, "is_read_only": False})
        status, _, body = get(daemon.http, "/console/metrics")
        self.assertEqual(status, 400)
        self.assertIn(b"MissingAuthenticationToken", body)
        for path in ("settings", "rights/any", "indexes/any", "violations/any/index"):
            self.assertEqual(get(daemon.http, f"/console/{path}")[0], 400, path)


class Site(http.server.BaseHTTPRequestHandler):
    """Another site, with a blank page and a script."""

    def do_GET(self):
        is_script = self.path.endswith(".js")
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if is_script else "text/html")
        self.end_headers()
        self.wfile.write(b"window.hasRun = true" if is_script else b"<!doctype html>")

    def log_message(self, *_):
        pass


class InBrowser(unittest.TestCase):
    """Runs scripts with a browser."""

    @classmethod
    def setUpClass(cls):
        cls.folder = browser_packages()

    def start(self, *flags, **options):
        daemon = Daemon(OPTIONS.armatured, *flags, **options).__enter__()
        self.addCleanup(daemon.__exit__)
        return daemon

    def folders(self, *buckets):
        """A folder for exports, imports and backups, with a folder for each bucket, and the flags that name them."""
        root = pathlib.Path(tempfile.mkdtemp(prefix="armature_console_"))
        self.addCleanup(shutil.rmtree, root)
        for name in ("exports", "imports"):
            for bucket in ("", *buckets):
                (root / name / bucket).mkdir(parents=True, exist_ok=True)
        return root, (f"--export_dir={root}/exports", f"--import_dir={root}/imports", f"--backup_dir={root}/backups")

    def command(self, script):
        for each in HERE.glob("*.mjs"):  # Node looks for packages beside the script
            shutil.copy(each, self.folder)
        return ["node", str(self.folder / script)]

    def environment(self, daemon, **more):
        return client_environment(ENDPOINT=f"http://{daemon.http}", CHROMIUM=CHROMIUM, **more)

    def run_script(self, script, daemon, **more):
        done = subprocess.run(self.command(script), capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
                              env=self.environment(daemon, **more))
        self.assertEqual(done.returncode, 0, f"{done.stdout}{done.stderr}\n{daemon.log()}")
        self.assertIn(": all passed", done.stdout)

    def run_with_restarts(self, script, daemon):
        """Runs a script that asks for the end and the start of its daemon."""
        process = subprocess.Popen(self.command(script), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, env=self.environment(daemon))
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        seen = []
        for line in process.stdout:
            seen.append(line)
            if line == "end\n":
                daemon.stop()
            elif line == "begin\n":
                daemon.listen = (f"--grpc_listen={daemon.grpc}", f"--http_listen={daemon.http}")
                daemon.start()
            else:
                continue
            process.stdin.write("done\n")
            process.stdin.flush()
        self.assertEqual(process.wait(TIMEOUT_S), 0, "".join(seen))

    def take_pictures(self, *names, **more):
        pictures = OPTIONS.work / "screenshots"
        pictures.mkdir(parents=True, exist_ok=True)
        for name in names:
            (pictures / f"{name}.png").unlink(missing_ok=True)
        _, flags = self.folders("nightly")
        self.run_script("pictures.mjs", self.start(*flags), PICTURES=str(pictures), DEMO=str(HERE.parents[1] / "tools/demo"), **more)
        for name in names:
            self.assertGreater((pictures / f"{name}.png").stat().st_size, 5000)


class Browser(InBrowser):
    def test_tables(self):
        self.run_script("tables.mjs", self.start())

    def test_items(self):
        self.run_script("items.mjs", self.start())

    def test_read_only(self):
        daemon = self.start("--console=read-only")
        daemon.create_table("kept")
        self.assertEqual(daemon.json_call("PutItem", TableName="kept", Item={"id": {"S": "one"}})[0], 200)
        self.run_script("read_only.mjs", daemon)

    def test_signing_in(self):
        folder = OPTIONS.work / "credentials"
        folder.mkdir(parents=True, exist_ok=True)
        daemon = self.start(f"--credentials_file={write_credentials(folder)}", listen=("--grpc_listen=off", LISTEN[1]))
        self.run_script("sign_in.mjs", daemon, ADMIN="AKADMIN", READER="AKREADER", SECRET=SECRET)
        self.assertNotIn(SECRET, daemon.log())

    def test_pages_of_other_sites(self):
        site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
        self.addCleanup(site.server_close)
        threading.Thread(target=site.serve_forever, daemon=True).start()
        self.addCleanup(site.shutdown)
        # Another host: ports do not make another site, only another origin.
        self.run_script("other_sites.mjs", self.start(), PAGE=f"http://localhost:{site.server_port}")

    def test_activity_and_a_restart(self):
        self.run_with_restarts("activity.mjs", self.start())

    def test_changes_of_tables(self):
        self.run_script("changes.mjs", self.start())

    def test_backups_and_jobs(self):
        root, flags = self.folders("out", "in")
        self.run_script("backups.mjs", self.start(*flags), EXPORTS=str(root / "exports"), IMPORTS=str(root / "imports"))

    def test_streams_and_a_restart(self):
        self.run_with_restarts("stream.mjs", self.start())

    def test_pages_that_nobody_uses(self):
        _, flags = self.folders()
        self.run_script("idle.mjs", self.start(*flags))

    def test_pictures_and_accessibility(self):
        self.take_pictures("tables-1280-light", "items-390-dark", "activity-1280-light")


class Pictures(InBrowser):
    def test_every_view_on_both_screens_in_both_themes(self):
        self.take_pictures("tables-1280-dark", "items-390-light", "activity-1280-dark", "query-390-dark", ALL="1")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path, help="folder for packages from npm and for screenshots; kept")
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
