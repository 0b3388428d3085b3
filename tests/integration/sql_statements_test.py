#!/usr/bin/python3
"""The statements that `armature sql` adds to PartiQL, and texts of statements, against a real daemon.

Run by CTest; by hand: sql_statements_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import WAIT_S, Daemon  # noqa: E402

PATHS = argparse.Namespace()
ORDERS = """CREATE TABLE orders (id S, pos N, state S, PRIMARY KEY (id, pos)),
  GLOBAL INDEX ByState (state | pos) PROJECT ALL"""


class SqlTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(Daemon(PATHS.armatured))

    def setUp(self):
        self.sql(ORDERS)
        self.addCleanup(self.sql, "DROP TABLE IF EXISTS orders", "--yes")
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="armature_sql_")))

    def run_sql(self, statement, *options, given=None):
        arguments = [] if statement is None else [statement]
        return subprocess.run([PATHS.armature, "--endpoint", self.daemon.grpc, "sql", *options, *arguments],
                              capture_output=True, text=True, timeout=10 * WAIT_S, check=False, input=given)

    def sql(self, statement, *options, given=None):
        done = self.run_sql(statement, *options, given=given)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def rows(self, statement, *options):
        return [json.loads(line) for line in self.sql(statement, "--format", "jsonl", *options).splitlines()]

    def refused(self, exit_code, statement, *options, given=None):
        done = self.run_sql(statement, *options, given=given)
        self.assertEqual(done.returncode, exit_code, done.stdout + done.stderr)
        return done.stderr

    def fill(self, count=10):
        values = ", ".join(f"('k{n % 3}', {n}, '{'open' if n % 2 else 'sent'}', {n}.10)" for n in range(count))
        self.sql(f"INSERT INTO orders (id, pos, state, amount) VALUES {values}")


class TablesTest(SqlTest):
    def test_a_shown_table_is_made_again(self):
        shown = self.sql("SHOW CREATE TABLE orders", "--format", "table")
        self.assertIn("GLOBAL INDEX ByState (state | pos) PROJECT ALL", shown)
        self.sql("DROP TABLE orders", "--yes")
        self.sql(None, given=shown)
        self.assertEqual(self.sql("SHOW CREATE TABLE orders", "--format", "csv"), shown)

    def test_lists_and_descriptions(self):
        self.fill(4)
        table = self.rows("SHOW TABLES")[0]
        self.assertEqual((table["table"], table["key"], table["items"], table["indexes"], table["status"]),
                         ("orders", "id | pos", 4, 1, "ACTIVE"))
        index = self.rows("SHOW INDEXES OF orders")[0]
        self.assertEqual((index["index"], index["kind"], index["key"], index["projection"], index["status"]),
                         ("ByState", "global", "state | pos", "ALL", "ACTIVE"))
        described = {row["property"]: row["value"] for row in self.rows("DESCRIBE orders")}
        self.assertEqual(described["key"], "id S | pos N")
        self.assertEqual(described["capacity"], "on demand")

    def test_indexes_and_settings_are_changed(self):
        self.sql("ALTER TABLE orders ADD INDEX ByAmount (amount N, pos | id, state) PROJECT (note)")
        names = [row["index"] for row in self.rows("SHOW INDEXES OF orders")]
        self.assertEqual(names, ["ByState", "ByAmount"])
        self.sql("ALTER TABLE orders SET (stream = NEW_IMAGE, ttl = expires, protected = TRUE)")
        self.sql("ALTER TABLE orders SET (stream = KEYS_ONLY)")
        shown = self.sql("SHOW CREATE TABLE orders", "--format", "table")
        self.assertIn("ByAmount (amount, pos | id, state) PROJECT (note)", shown)
        self.assertIn("WITH (stream = KEYS_ONLY, ttl = expires, protected = TRUE)", shown)
        self.assertIn("protect", self.refused(1, "DROP TABLE orders", "--yes"))
        self.sql("ALTER TABLE orders SET (stream = OFF, ttl = OFF, protected = FALSE, capacity = (3, 4))")
        shown = self.sql("SHOW CREATE TABLE orders", "--format", "table")
        self.assertIn("PROJECT ALL CAPACITY (3, 4)", shown)
        self.assertIn("WITH (capacity = (3, 4))", shown)
        self.assertIn("--yes", self.refused(2, "ALTER TABLE orders DROP INDEX ByAmount"))
        self.sql("ALTER TABLE orders DROP INDEX ByAmount", "--yes")
        self.assertNotIn("ByAmount", self.sql("SHOW INDEXES OF orders"))

    def test_creations_and_deletions_may_be_tolerant(self):
        self.assertIn("ResourceInUseException", self.refused(1, ORDERS))
        done = self.run_sql(ORDERS.replace("TABLE", "TABLE IF NOT EXISTS"), "--format", "table")
        self.assertIn("exists already", done.stdout)
        self.assertIn("--yes", self.refused(2, "DROP TABLE orders"))
        self.sql("DROP TABLE IF EXISTS nothing")
        self.assertIn("ResourceNotFoundException", self.refused(1, "DROP TABLE nothing", "--yes"))


class SelectTest(SqlTest):
    def test_counts_and_sums(self):
        self.fill()
        self.assertEqual(self.rows("SELECT COUNT(*) FROM orders"), [{"COUNT(*)": 10}])
        self.assertEqual(self.rows("SELECT COUNT(*) AS n FROM orders.ByState WHERE state = 'open'"), [{"n": 5}])
        self.assertEqual(self.rows("SELECT COUNT(*) AS n, COUNT(nothing) AS m FROM orders"), [{"n": 10, "m": 0}])
        self.assertEqual(self.sql("SELECT SUM(amount), AVG(pos), MIN(amount), MAX(id) FROM orders", "--format", "csv"),
                         "SUM(amount),AVG(pos),MIN(amount),MAX(id)\n46,4.5,0.1,k2\n")
        self.assertEqual(self.rows("SELECT state, COUNT(*) AS n, SUM(amount) AS s FROM orders WHERE pos > 0 GROUP BY state"
                                   " ORDER BY n DESC"),
                         [{"state": "open", "n": 5, "s": 25.5}, {"state": "sent", "n": 4, "s": 20.4}])
        self.assertIn("type S", self.refused(2, "SELECT SUM(state) FROM orders"))

    def test_sums_are_exact(self):
        self.sql("INSERT INTO orders (id, pos, v) VALUES ('a', 1, 0.1), ('a', 2, 0.2), ('a', 3, 1e100), ('a', 4, -1e100),"
                 " ('a', 5, 99999999999999999999999999999999999999)")
        self.assertEqual(self.sql("SELECT SUM(v) AS s FROM orders", "--format", "csv"),
                         "s\n99999999999999999999999999999999999999.3\n")

    def test_orders_limits_and_names(self):
        self.fill()
        self.assertEqual([row["pos"] for row in self.rows("SELECT pos FROM orders ORDER BY pos DESC LIMIT 3")], [9, 8, 7])
        self.assertEqual(self.rows("SELECT DISTINCT state AS s FROM orders ORDER BY s"), [{"s": "open"}, {"s": "sent"}])
        self.assertEqual(len(self.rows("SELECT * FROM orders LIMIT 4")), 4)
        self.assertEqual(self.rows("SELECT * FROM orders LIMIT 0"), [])
        self.assertEqual([row["pos"] for row in self.rows("SELECT pos FROM orders WHERE id = 'k0' ORDER BY pos DESC")],
                         [9, 6, 3, 0])
        # PartiQL takes two columns of one name.
        self.assertEqual(self.rows("SELECT pos, pos FROM orders WHERE id = 'k0' ORDER BY pos")[0], {"pos": 0})
        plan = self.sql("EXPLAIN SELECT pos FROM orders WHERE id = 'k0' ORDER BY pos DESC LIMIT 2", "--format", "table")
        self.assertNotIn("sorts", plan)
        plan = self.sql("EXPLAIN SELECT pos FROM orders ORDER BY pos", "--format", "table")
        self.assertIn("reads at most 100,000 items and sorts by pos", plan)

    def test_reads_for_computations_are_bounded(self):
        self.fill()
        self.assertIn("more than 9 items", self.refused(2, "SELECT SUM(pos) FROM orders", "--max-items", "9"))
        self.assertEqual(self.rows("SELECT SUM(pos) AS s FROM orders", "--max-items", "10"), [{"s": 45}])
        self.assertEqual(self.rows("SELECT COUNT(*) AS n FROM orders WHERE pos >= 0", "--max-items", "1"), [{"n": 10}])

    def test_counts_are_those_of_the_items(self):
        self.fill(12)
        # No Query counts by these conditions.
        selected = ("id = 'k1' AND pos <> 4", "state = 'open' AND amount > 5")
        for table, condition, kind in (
                ("orders", "id = 'k1'", "Query"), ("orders", "id = 'k1' AND pos > 3 AND state = 'open'", "Query"),
                ("orders", "4 < pos AND id IN ('k1', 'k2')", "2 Queries"), ("orders", "id = 'k1' AND pos = 4", "Query"),
                ("orders", "id = 'k1' AND pos BETWEEN 2 AND 7", "Query"), ("orders", "pos > 3 OR state = 'sent'", "Scan"),
                ("orders", "NOT (state = 'sent') AND size(id) = 2", "Scan"), ("orders", "nothing IS MISSING", "Scan"),
                ("orders", "id = 'k1' AND pos <> 4", "Query"), ("orders.ByState", "state = 'open' AND pos < 6", "Query"),
                ("orders.ByState", "amount > 5", "Scan"), ("orders.ByState", "state = 'open' AND amount > 5", "Query"),
                ("orders", "id = 'nobody'", "Query")):
            count = self.rows(f"SELECT COUNT(*) AS n FROM {table} WHERE {condition}")
            self.assertEqual(count, [{"n": len(self.rows(f"SELECT * FROM {table} WHERE {condition}"))}], condition)
            plan = self.sql(f"EXPLAIN SELECT COUNT(*) FROM {table} WHERE {condition}", "--format", "table")
            self.assertTrue(plan.startswith(kind), plan)
            self.assertEqual("The client" in plan, condition in selected, plan)
        self.assertIn("ValidationException", self.refused(1, "SELECT COUNT(*) FROM orders WHERE id = 1"))
        self.assertIn("ValidationException", self.refused(1, "SELECT COUNT(*) FROM orders.nothing WHERE id = 'a'"))

    def test_faults_have_carets(self):
        error = self.refused(2, "SELECT *\nFROM orders WHERE id = \"x\"")
        self.assertIn("'x' is a text, \"x\" is an attribute", error)
        self.assertIn("LINE 2: FROM orders WHERE id = \"x\"\n                               ^^^\n", error)
        error = self.refused(1, "SELECT state, COUNT(*) FROM orders WHERE a = 1 b GROUP BY state")
        self.assertIn("\n" + " " * 55 + "^\n", error)


class WritesTest(SqlTest):
    def test_rows(self):
        self.assertIn("DuplicateItemException", self.refused(
            1, "INSERT INTO orders (id, pos) VALUES ('a', 1), ('a', 2), ('a', 1), ('a', 3)"))
        self.assertEqual(self.rows("SELECT COUNT(*) AS n FROM orders"), [{"n": 2}])
        self.sql("REPLACE INTO orders (id, pos, note) VALUES ('a', 1, 'new'), ('a', 3, MISSING)")
        self.sql("REPLACE INTO orders VALUE {'id': 'a', 'pos': ?}", "--parameters", '[{"N": "2"}]')
        self.assertEqual(self.rows("SELECT * FROM orders ORDER BY pos"),
                         [{"id": "a", "pos": 1, "note": "new"}, {"id": "a", "pos": 2}, {"id": "a", "pos": 3}])

    def test_updates_and_deletions_without_a_key(self):
        self.fill(60)
        self.assertIn("--yes", self.refused(2, "UPDATE orders SET state = 'late' WHERE state = 'open'"))
        dry = self.run_sql("UPDATE orders SET state = 'late' WHERE state = 'open' DRY RUN", "--format", "jsonl")
        self.assertIn("30 items of orders would be updated. The first 5:", dry.stderr)
        self.assertEqual(len(dry.stdout.splitlines()), 5)
        done = self.sql("UPDATE orders SET state = ?, n = pos WHERE state = ? AND id = 'k1'", "--yes",
                        "--parameters", '[{"S": "late"}, {"S": "open"}]')
        self.assertEqual(json.loads(done), {"Written": 10, "Skipped": 0, "Failed": 0, "Interrupted": False})
        self.assertEqual(self.rows("SELECT COUNT(*) AS c FROM orders WHERE state = 'late'"), [{"c": 10}])
        self.assertIn("10 items of orders deleted", self.sql("DELETE FROM orders WHERE state = 'late'", "--yes",
                                                              "--format", "table"))
        self.assertIn("50 items of orders deleted", self.sql("DELETE FROM orders WITH RATELIMIT 1000", "--yes",
                                                              "--format", "table"))
        self.assertEqual(self.rows("SELECT * FROM orders"), [])

    def test_parameters_are_as_many_as_question_marks(self):
        self.fill(6)
        before = self.rows("SELECT * FROM orders")
        update = "UPDATE orders SET state = ? WHERE pos >= 0"
        wrong = "the statement needs as many --parameters as it has question marks"
        for statement, parameters in ((update, '[{"S": "late"}, {"S": "k0"}]'),
                                      ("DELETE FROM orders WHERE pos >= ?", '[{"N": "0"}, {"S": "k0"}, {"N": "0"}]'),
                                      ("DELETE FROM orders DRY RUN", '[{"N": "0"}]')):
            for suffix in ("", " WITH RATELIMIT 1000"):
                self.assertIn(wrong, self.refused(2, statement + suffix, "--yes", "--parameters", parameters))
        self.assertIn(wrong, self.refused(2, update + " DRY RUN"))
        self.assertEqual(self.rows("SELECT * FROM orders"), before)

    def test_failures_are_counted(self):
        self.fill(3)
        error = self.refused(1, "UPDATE orders SET amount = state + 1", "--yes")
        self.assertIn("0 items of orders updated, 3 failed. The first failure:", error)

    def test_an_interrupt_ends_it_between_items(self):
        self.fill(60)
        process = subprocess.Popen([PATHS.armature, "--endpoint", self.daemon.grpc, "--yes", "sql",
                                    "DELETE FROM orders WITH RATELIMIT 5"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        while len(self.rows("SELECT * FROM orders")) == 60:
            pass
        os.kill(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=WAIT_S)
        self.assertEqual(process.returncode, -signal.SIGINT)
        written = json.loads(out)
        self.assertTrue(written["Interrupted"])
        self.assertEqual(len(self.rows("SELECT * FROM orders")), 60 - written["Written"])


class TransactionsTest(SqlTest):
    def test_all_or_nothing(self):
        self.sql("BEGIN; INSERT INTO orders (id, pos) VALUES ('a', 1), ('a', 2); UPDATE orders SET n = 1 WHERE id = 'b' "
                 "AND pos = 1; ROLLBACK")
        self.assertEqual(self.rows("SELECT * FROM orders"), [])
        self.sql("BEGIN; INSERT INTO orders (id, pos) VALUES ('a', 1), ('a', 2); COMMIT")
        error = self.refused(1, "BEGIN; DELETE FROM orders WHERE id = 'a' AND pos = 1; "
                                "INSERT INTO orders VALUE {'id': 'a', 'pos': 2}; COMMIT")
        self.assertIn("statement 2 (INSERT INTO orders VALUE {'id': 'a', 'pos': 2}): DuplicateItem", error)
        self.assertEqual(len(self.rows("SELECT * FROM orders")), 2)
        found = self.rows("BEGIN; SELECT pos FROM orders WHERE id = 'a' AND pos = 2; SELECT * FROM orders WHERE id = 'x' "
                          "AND pos = 1; COMMIT")
        self.assertEqual(found, [{"pos": 2}])

    def test_limits_are_named_before_they_are_hit(self):
        self.assertIn("either reads or writes", self.refused(
            2, "BEGIN; SELECT * FROM orders WHERE id = 'a' AND pos = 1; DELETE FROM orders WHERE id = 'a' AND pos = 1"))
        rows = ", ".join(f"('a', {n})" for n in range(101))
        self.assertIn("at most 100 statements", self.refused(2, f"BEGIN; INSERT INTO orders (id, pos) VALUES {rows}"))
        self.assertIn("ValidationException", self.refused(1, "BEGIN; DELETE FROM orders WHERE id = 'a'; COMMIT"))
        self.assertIn("no COMMIT", self.refused(2, "BEGIN; INSERT INTO orders VALUE {'id': 'a', 'pos': 1};"))
        self.assertIn("there is no transaction", self.refused(2, "COMMIT"))
        self.assertEqual(self.rows("SELECT * FROM orders"), [])


class TextsTest(SqlTest):
    def test_errors_name_file_and_line(self):
        script = self.folder / "data.sql"
        script.write_text("-- first\nINSERT INTO orders VALUE {'id': 'a', 'pos': 1};\n\nSELECT * FROM orders\n  WHERE id = ;\n"
                          "INSERT INTO orders VALUE {'id': 'b', 'pos': 1};\n")
        error = self.refused(1, None, "-f", str(script))
        self.assertTrue(error.startswith(f"{script}:4: ValidationException: "), error)
        self.assertIn("LINE 2:   WHERE id =\n" + " " * 19 + "^\n", error)
        self.assertEqual(len(self.rows("SELECT * FROM orders")), 1)
        error = self.refused(1, None, "--keep-going", given=script.read_text())
        self.assertIn("stdin:2: DuplicateItemException", error)
        self.assertIn("stdin:4: ValidationException", error)
        self.assertEqual(len(self.rows("SELECT * FROM orders")), 2)
        self.assertIn("cannot read", self.refused(5, None, "-f", str(self.folder / "missing.sql")))
        self.assertIn("not both", self.refused(2, "SELECT 1", "-f", str(script)))

    def test_directories_are_no_files(self):
        self.assertIn(f"cannot read {self.folder}", self.refused(5, None, "-f", str(self.folder)))
        for command in ("\\i", "\\e"):
            self.assertRegex(self.refused(5, None, given=f"{command} {self.folder}\n"), f"cannot (read|edit) {self.folder}")

    def test_files_and_formats(self):
        inner = self.folder / "inner.sql"
        inner.write_text("INSERT INTO orders (id, pos, note) VALUES ('a', 1, 'x,\"y\"');\n")
        result = self.folder / "out.csv"
        outer = self.folder / "outer.sql"
        outer.write_text(f"\\i {inner}\n\\format csv\n\\o '{result}'\nSELECT id, pos, note FROM orders ORDER BY pos;\n\\o\n"
                         "\\format json\nSELECT id, pos FROM orders LIMIT 1;\nquit\nnonsense;\n")
        self.assertEqual(json.loads(self.sql(None, "--format", "jsonl", "-f", str(outer))),
                         [{"id": "a", "pos": 1}])
        self.assertEqual(result.read_text(), "id,pos,note\na,1,\"x,\"\"y\"\"\"\n")
        loop = self.folder / "loop.sql"
        loop.write_text(f"\\i {loop}\n")
        self.assertIn("files name each other", self.refused(5, None, "-f", str(loop)))

    def test_copies(self):
        self.fill(7)
        before = self.rows("SELECT * FROM orders")
        for name in ("copy.jsonl", "copy.csv"):
            path = self.folder / name
            self.sql(f"\\copy orders to '{path}'")
            self.sql("DELETE FROM orders", "--yes")
            self.sql(f"\\copy orders from '{path}';")
            self.assertEqual([row["id"] for row in self.rows("SELECT * FROM orders")], [row["id"] for row in before])
        bad = self.folder / "bad.jsonl"
        bad.write_text('{"id": {"S": "z"}, "pos": {"N": "1"}}\n{"id": \n')
        self.assertIn(f"{bad}:2: ", self.refused(5, f"\\copy orders from {bad}"))
        self.assertIn("\\copy needs", self.refused(2, "\\copy orders"))
        self.assertIn("ResourceNotFoundException", self.refused(1, f"\\copy nothing to {bad}"))
        for name in ("copy.csv.gz", "copy.jsonl.zst"):
            self.assertIn("does not compress", self.refused(2, f"\\copy orders to '{self.folder / name}'"))
            self.assertFalse((self.folder / name).exists())

    def test_no_terminal_means_no_shell(self):
        done = subprocess.run([PATHS.armature], capture_output=True, text=True, input="", timeout=WAIT_S, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("Usage: armature", done.stdout)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--armature", required=True)
    _, rest = parser.parse_known_args(namespace=PATHS)
    unittest.main(argv=[sys.argv[0], *rest])
