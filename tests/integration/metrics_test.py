#!/usr/bin/python3
"""Metrics of a daemon: values follow its work, and each metric is documented."""

import argparse
import pathlib
import re
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import Daemon  # noqa: E402

WAIT_S = 60
INDEX = {"IndexName": "by_color", "KeySchema": [{"AttributeName": "color", "KeyType": "HASH"}],
         "Projection": {"ProjectionType": "KEYS_ONLY"}}
ARGS = None


class Scrape(dict):
    """Values by series, written like 'name{label="value"}'."""

    def __init__(self, text):
        super().__init__()
        self.kinds = {}
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split()
                if name in self.kinds:
                    raise AssertionError(f"{name} is there twice")
                self.kinds[name] = kind
            elif line and not line.startswith("# HELP "):
                match = re.fullmatch(r'([a-z_]+(?:\{(?:[a-z]+="[^"]*",?)*\})?) (\S+)', line)
                if match is None:
                    raise AssertionError(f"not a line of metrics: {line}")
                if match[1] in self:
                    raise AssertionError(f"{match[1]} is there twice")
                self[match[1]] = float(match[2])

    def sum(self, name, **labels):
        wanted = [f'{label}="{value}"' for label, value in labels.items()]
        return sum(value for series, value in self.items()
                   if re.split(r"[{]", series)[0] == name and all(each in series for each in wanted))


def documented():
    """Names and kinds of the metrics in docs/reference/metrics.md."""
    return dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", (ROOT / "docs/reference/metrics.md").read_text(), re.MULTILINE))


class Metrics(unittest.TestCase):
    def setUp(self):
        self.daemon = self.enterContext(Daemon(ARGS.armatured, "--metrics_listen=127.0.0.1:0"))

    def scrape(self):
        status, text = self.daemon.get_text("/metrics")
        self.assertEqual(status, 200)
        return Scrape(text)

    def create_items(self):
        self.daemon.create_table("Items", more_attributes=[{"AttributeName": "color", "AttributeType": "S"}],
                                 GlobalSecondaryIndexes=[INDEX])

    def put(self, key):
        status, answer = self.daemon.json_call("PutItem", TableName="Items", Item={"id": {"S": key}, "color": {"S": "red"}})
        self.assertEqual(status, 200, answer)

    def cli(self, *arguments):
        return subprocess.run([ARGS.armature, "--endpoint", self.daemon.grpc, *arguments],
                              capture_output=True, text=True, timeout=WAIT_S, check=False)

    def test_requests_are_counted_by_front_operation_and_result(self):
        self.create_items()
        before = self.scrape()
        for number in range(5):
            self.put(f"item-{number}")
        self.assertEqual(self.daemon.json_call("GetItem", TableName="Nothing", Key={"id": {"S": "x"}})[0], 400)
        self.assertEqual(self.daemon.json_call("NoSuchOperation")[0], 400)
        self.assertEqual(self.cli("item", "get", "--table-name", "Items", "--key", '{"id": {"S": "item-1"}}').returncode, 0)
        self.assertNotEqual(self.cli("item", "get", "--table-name", "Nothing", "--key", '{"id": {"S": "x"}}').returncode, 0)
        after = self.scrape()

        def grown(name, **labels):
            return after.sum(name, **labels) - before.sum(name, **labels)

        requests = "armature_requests_total"
        self.assertEqual(grown(requests, front="http", operation="PutItem", result="ok"), 5)
        self.assertEqual(grown(requests, front="http", operation="GetItem", result="ResourceNotFoundException"), 1)
        self.assertEqual(grown(requests, front="http", operation="other", result="UnknownOperationException"), 1)
        self.assertEqual(grown(requests, front="grpc", operation="GetItem", result="ok"), 1)
        self.assertEqual(grown(requests, front="grpc", operation="GetItem", result="ResourceNotFoundException"), 1)
        duration = "armature_request_duration_seconds"
        self.assertEqual(grown(duration + "_count", front="http", operation="PutItem"), 5)
        self.assertEqual(grown(duration + "_bucket", front="http", operation="PutItem", le="+Inf"), 5)
        self.assertGreater(grown(duration + "_sum", front="http", operation="PutItem"), 0)
        self.assertEqual(after.sum("armature_requests_in_flight"), 0)

    def test_what_writes_do_shows_all_the_way_down(self):
        self.create_items()
        before = self.scrape()
        for number in range(5):
            self.put(f"item-{number}")
        after = self.scrape()
        for name in ("armature_commit_batch_units_sum", "armature_commit_duration_seconds_count"):
            self.assertEqual(after.sum(name) - before.sum(name), 5, name)
        for name in ("armature_commit_bytes_total", "armature_change_sequence", "armature_store_log_bytes_total",
                     "armature_store_log_syncs_total", "process_cpu_seconds_total"):
            self.assertGreater(after.sum(name), before.sum(name), name)
        self.assertEqual(after.sum("armature_table_items", table="Items"), 5)
        self.assertGreater(after.sum("armature_table_bytes", table="Items"), 0)
        self.assertEqual(after.sum("armature_column_families_needed"), 2)
        self.assertEqual(after.sum("armature_column_families_max"), 16000)
        self.assertEqual(after.sum("armature_disk_read_only"), 0)
        self.assertGreater(after.sum("armature_disk_free_bytes"), 0)
        deadline = time.monotonic() + WAIT_S
        while (waiting := self.scrape().sum("armature_gsi_backlog_records", table="Items", index="by_color")) != 0:
            self.assertLess(time.monotonic(), deadline, f"{waiting} changes wait")
        self.assertEqual(self.scrape().sum("armature_column_families"), 5 + 2)

    def test_uses_are_counted_by_table_index_and_use(self):
        self.create_items()
        unused = {"table": "Items", "index": "", "use": "read"}
        self.assertNotIn("armature_table_requests_total", self.scrape().kinds)
        for number in range(3):
            self.put(f"item-{number}")
        self.daemon.json_call("GetItem", TableName="Items", Key={"id": {"S": "item-1"}})
        self.daemon.json_call("GetItem", TableName="Items", Key={"id": {"S": "item-1"}}, ConsistentRead=True)
        self.daemon.json_call("Scan", TableName="Items", IndexName="by_color")
        scrape = self.scrape()
        for name, values in (("requests", {("", "write"): 3, ("", "read"): 2, ("by_color", "write"): 3, ("by_color", "read"): 1}),
                             ("units", {("", "write"): 3, ("", "read"): 1.5, ("by_color", "write"): 3, ("by_color", "read"): 0.5}),
                             ("throttled", {("", "write"): 0, ("", "read"): 0})):
            for (index, use), value in values.items():
                self.assertEqual(scrape.sum(f"armature_table_{name}_total", table="Items", index=index, use=use), value,
                                 f"{name} {index} {use}")
        # A change of the table leaves them.
        self.daemon.json_call("UpdateTable", TableName="Items", DeletionProtectionEnabled=True)
        self.assertEqual(self.scrape().sum("armature_table_requests_total", **unused), 2)

    def test_throttled_uses_are_counted(self):
        self.daemon.json_call("CreateTable", TableName="Small", AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                              KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
                              ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1})
        item = {"id": {"S": "1"}, "text": {"S": "x" * 350_000}}
        # The unused units of five minutes, and one more write, which overdraws.
        statuses = [self.daemon.json_call("PutItem", TableName="Small", Item=item)[0] for _ in range(4)]
        refused = statuses.count(400)
        self.assertGreater(refused, 0)
        scrape = self.scrape()
        self.assertEqual(scrape.sum("armature_table_throttled_total", table="Small", index="", use="write"), refused)
        self.assertEqual(scrape.sum("armature_table_requests_total", table="Small", index="", use="write"), 4 - refused)

    def test_the_share_of_the_hottest_key_is_there_while_insights_are_enabled(self):
        self.create_items()
        self.put("a")
        self.assertNotIn("armature_hot_key_share", self.scrape().kinds)
        for more in ({}, {"IndexName": "by_color"}):
            self.daemon.json_call("UpdateContributorInsights", TableName="Items", ContributorInsightsAction="ENABLE", **more)
        for key in "bccc":
            self.put(key)
        scrape = self.scrape()
        self.assertEqual(scrape.sum("armature_hot_key_share", table="Items", index="", use="write"), 0.75)
        # The entry of an item that stays the same costs nothing.
        self.assertEqual(scrape.sum("armature_hot_key_share", table="Items", index="by_color", use="write"), 1)
        self.assertEqual(scrape.sum("armature_hot_key_share", use="read"), 0)
        self.daemon.json_call("UpdateContributorInsights", TableName="Items", ContributorInsightsAction="DISABLE")
        left = [series for series in self.scrape() if series.startswith("armature_hot_key_share")]
        self.assertEqual(len(left), 3)
        self.assertTrue(all('index="by_color"' in series for series in left), left)

    def test_the_document_lists_exactly_what_is_published(self):
        self.create_items()
        self.daemon.json_call("UpdateContributorInsights", TableName="Items", ContributorInsightsAction="ENABLE")
        self.put("item")
        kinds = self.scrape().kinds
        # Metrics of databases in RADOS, and of standbys, are published with --store only, those of places of backups while one is
        # owned, and those of certificates with TLS.
        elsewhere = ("armature_rados_", "armature_standby", "armature_backup_place_", "armature_tls_")
        expected = {name: kind for name, kind in documented().items() if not name.startswith(elsewhere)}
        self.assertEqual(kinds, expected)

    def test_the_document_is_the_one_that_the_daemon_prints(self):
        printed = subprocess.run([ARGS.armatured, "--print_metrics_doc"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(printed, (ROOT / "docs/reference/metrics.md").read_text(),
                         "make it anew: armatured --print_metrics_doc >docs/reference/metrics.md")

    def test_health_is_told_and_nothing_else(self):
        self.assertEqual(self.daemon.get_text("/healthz"), (200, "ok\n"))
        self.assertEqual(self.daemon.get_text("/readyz"), (200, "ready\n"))
        self.assertEqual(self.daemon.get_text("/")[0], 404)

    def test_web_pages_of_other_sites_read_nothing(self):
        for headers in ({"Host": "evil.test"}, {"Origin": "https://evil.test"}, {"Sec-Fetch-Site": "cross-site"}):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(
                    urllib.request.Request(f"http://{self.daemon.metrics}/metrics", headers=headers), timeout=WAIT_S)
            with refused.exception as error:
                self.assertEqual(error.code, 403, headers)

    def test_a_read_only_daemon_is_ready_and_says_so(self):
        with Daemon(ARGS.armatured, "--metrics_listen=127.0.0.1:0", f"--disk_reserve={2**30}G") as daemon:
            self.assertEqual(daemon.get_text("/readyz"), (200, "ready, read-only\n"))
            status, answer = daemon.json_call("CreateTable", TableName="Items", BillingMode="PAY_PER_REQUEST",
                                              AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                                              KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}])
            self.assertEqual(status, 503, answer)
            scrape = Scrape(daemon.get_text("/metrics")[1])
            self.assertEqual(scrape.sum("armature_disk_read_only", reason="low"), 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--armature", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
