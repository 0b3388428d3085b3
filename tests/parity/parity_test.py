#!/usr/bin/env python3
"""docs/reference/parity.md is current, and its numbers are counted as it says."""

import re
import unittest

import parity

CASES = """only: http
## setup
CreateTable {"TableName": "T"}

## case: one
only: grpc
PutItem {"TableName": "T",
  "Item": {}}
=> ValidationException: text
QueryAll {"TableName": "T"}
=> {}

## case: two
pending: Feature
PutItem {}
=> ValidationException ~ part
with {"Item": {}}
"""


class ParityTest(unittest.TestCase):
    def test_the_page_is_current(self):
        self.assertTrue(parity.PAGE.read_text() == parity.page(), "run tests/parity/parity.py --record")

    def test_the_readme_does_not_claim_more(self):
        counted = dict(re.findall(r"^\| (conformance cases|operations of the API that work) \| (.*?) \|$", parity.page(), re.M))
        claim = re.search(r"over ([\d,]+) conformance cases\]\([^)]*\), (\d+) of (\d+) operations",
                          (parity.ROOT / "README.md").read_text())
        self.assertLess(int(claim[1].replace(",", "")), int(counted["conformance cases"]))
        works, known = map(int, counted["operations of the API that work"].split(" of "))
        self.assertLessEqual(int(claim[2]), works)
        self.assertEqual(int(claim[3]), known)

    def test_cases_requests_and_exact_errors_are_counted(self):
        topic = parity.read_topic("topic", CASES)
        self.assertEqual((topic.cases, topic.pending, topic.errors), (2, 1, 1))
        self.assertEqual(topic.requests, {"PutItem": 2, "Query": 1})
        self.assertEqual(topic.backends, {"grpc": 1, "http": 1})

    def test_cases_without_a_mark_run_everywhere(self):
        topic = parity.read_topic("topic", "## case: one\nScan {}\n")
        self.assertEqual(topic.backends, dict.fromkeys(parity.BACKENDS, 1))

    def test_all_requests_of_cases_are_operations_of_the_table(self):
        names = {parity.without_style(row[0]).split(": ")[-1]
                 for row in parity.table_rows(parity.COMPATIBILITY.read_text(), "Operations")}
        for topic in parity.topics():
            self.assertEqual(topic.requests.keys() - names - {"DoMagic"}, set(), topic.name)

    def test_a_table_ends_with_its_lines(self):
        text = "# A\n\n| a | b |\n| --- | --- |\n| 1 | |\n| x `|` y | 2 |\n\n| c |\n"
        self.assertEqual(parity.table_rows(text, "A"), [["1", ""], ["x `|` y", "2"]])


if __name__ == "__main__":
    unittest.main()
