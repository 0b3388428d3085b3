#!/usr/bin/python3
"""Tests of the parts of the differential runner that need no server. Run by CTest."""

import json
import pathlib
import random
import re
import unittest

from answers import Answer, differences, normal, signature
from item_requests import ItemRequests
from known import entry_for, parse
from mutations import Mutations
from reduction import pruned, smaller
from statements import Statements, literal
from table_requests import TableRequests

KNOWN = pathlib.Path(__file__).with_name("known_differences.txt")
# A list that grows without bound explains everything.
ENTRIES_MAX = 110
ENTRY = "peer: p\noperation: Put.*\nours: ok\ntheirs: Error: .*\nwhy: because\n  of this\n"


def error(text):
    kind, _, message = text.partition(": ")
    return Answer("PutItem", {}, 400, {"__type": f"space#{kind}", "message": message})


def requests(seed, count=300):
    rng = random.Random(seed)
    sources = (ItemRequests(rng), Statements(rng), TableRequests(rng))
    mutations = Mutations(rng)
    made = []
    for number in range(count):
        operation, request = rng.choice(sources).any()
        made.append((operation, mutations.mutate(request) if number % 2 else request))
    return made


class KnownDifferencesTest(unittest.TestCase):
    def test_the_list_is_well_formed_and_short(self):
        entries = parse(KNOWN.read_text())
        self.assertGreater(len(entries), 10)
        self.assertLessEqual(len(entries), ENTRIES_MAX)
        for entry in entries:
            self.assertGreater(len(entry.why), 10, f"line {entry.line}")

    def test_an_entry_covers_what_matches_completely(self):
        entries = parse(ENTRY)
        self.assertEqual(entries[0].why, "because of this")
        covered = {"peer": "p", "operation": "PutItem", "ours": "ok", "theirs": "Error: x"}
        self.assertIs(entry_for(entries, "{}", **covered), entries[0])
        for name in covered:
            self.assertIsNone(entry_for(entries, "{}", **{**covered, name: "ok then"}), name)
        self.assertEqual(entries[0].hits, 1)

    def test_a_request_must_contain_what_an_entry_names(self):
        entries = parse(ENTRY + 'request: "Limit": 1\n')
        texts = {"peer": "p", "operation": "PutItem", "ours": "ok", "theirs": "Error: x"}
        self.assertIsNone(entry_for(entries, '{"Limit": 2}', **texts))
        self.assertIsNotNone(entry_for(entries, '{"A": 0, "Limit": 1}', **texts))

    def test_malformed_lists_are_refused_with_their_line(self):
        for text, line in (("peer: p\n", 1), ("peer p\n", 1), (ENTRY + "peer: q\n", 7), ("\n  more\n", 2),
                           (ENTRY.replace("Put.*", "Put("), 1)):
            with self.assertRaisesRegex(ValueError, f"line {line}:"):
                parse(text)


class AnswersTest(unittest.TestCase):
    def test_equal_answers_do_not_differ(self):
        left = Answer("GetItem", {}, 200, {"Item": {"s": {"SS": ["b", "a"]}, "n": {"L": [{"N": "1"}]}}})
        right = Answer("GetItem", {}, 200, {"Item": {"n": {"L": [{"N": "1"}]}, "s": {"SS": ["a", "b"]}}})
        self.assertEqual(list(differences(left, right)), [])
        self.assertEqual(list(differences(error("E: x"), error("E: x"))), [])

    def test_each_place_that_differs_is_reported(self):
        left = Answer("GetItem", {}, 200, {"Item": {"a": {"N": "1"}, "b": {"S": "x"}}})
        right = Answer("GetItem", {}, 200, {"Item": {"a": {"N": "2"}}})
        self.assertEqual(list(differences(left, right)), [
            ('ok Item.a.N = "1"', 'ok Item.a.N = "2"'), ('ok Item.b = {"S": "x"}', "ok Item.b = absent")])

    def test_errors_differ_by_type_text_and_details(self):
        self.assertEqual(list(differences(error("E: x"), error("E: y"))), [("E: x", "E: y")])
        self.assertEqual(list(differences(error("E: x"), Answer("PutItem", {}, 200, {}))), [("E: x", "ok")])
        detailed = Answer("PutItem", {}, 400, {"__type": "s#E", "message": "x", "Item": {"a": {"S": "b"}}})
        self.assertEqual(list(differences(error("E: x"), detailed)), [("E: x ok Item = absent", 'E: x ok Item = {"a": {"S": "b"}}')])

    def test_scans_are_compared_without_order_and_queries_with_it(self):
        items = [{"a": {"S": "x"}}, {"a": {"S": "y"}}]
        for operation, count in (("Scan", 0), ("Query", 2)):
            answers = [Answer(operation, {}, 200, {"Items": order}) for order in (items, items[::-1])]
            self.assertEqual(len(list(differences(*answers))), count, operation)

    def test_accounts_and_times_do_not_differ(self):
        self.assertEqual(normal({"Arn": "arn:aws:dynamodb:local:000000000000:table/T", "TableId": "1"}),
                         normal({"Arn": "arn:aws:dynamodb:us-east-1:123456789012:table/T", "CreationDateTime": 2}))

    def test_signatures_leave_values_out(self):
        self.assertEqual(signature("E: Value 'a' at 'b' is 12"), signature("E: Value 'x' at 'y' is 3"))
        self.assertNotEqual(signature("E: too long"), signature("E: too short"))


class RequestsTest(unittest.TestCase):
    def test_a_seed_makes_the_same_requests_again(self):
        self.assertEqual(requests(5), requests(5))
        self.assertNotEqual(requests(5), requests(6))

    def test_requests_are_documents_of_all_kinds(self):
        made = requests(7, 2000)
        self.assertGreater(len({operation for operation, _ in made}), 20)
        json.dumps([request for _, request in made])

    def test_literals_of_statements_escape_quotes(self):
        self.assertEqual(literal({"M": {"a": {"L": [{"S": "it's"}, {"N": "1"}]}}}), "{'a': ['it''s', 1]}")
        self.assertIsNone(literal({"L": [{"B": "AA=="}]}))

    def test_smaller_requests_lack_one_part_each(self):
        request = {"ConditionExpression": "a = :v AND #n > :w", "ExpressionAttributeNames": {"#n": "x"},
                   "ExpressionAttributeValues": {":v": {"N": "1"}, ":w": {"N": "2"}}}
        texts = [json.dumps(less, sort_keys=True) for less in smaller(request)]
        self.assertIn(json.dumps({"ConditionExpression": "a = :v", "ExpressionAttributeValues": {":v": {"N": "1"}}}), texts)
        self.assertIn(json.dumps({}), texts)
        for text in texts:
            self.assertLess(len(text), len(json.dumps(request)))

    def test_pruning_keeps_the_placeholders_in_use(self):
        request = {"FilterExpression": "a = :v1", "ExpressionAttributeValues": {":v": {"N": "1"}, ":v1": {"N": "2"}}}
        self.assertEqual(pruned(request)["ExpressionAttributeValues"], {":v1": {"N": "2"}})


class FilesTest(unittest.TestCase):
    def test_the_list_names_peers_of_the_runner(self):
        peers = set(re.findall(r"^peer: (.*)$", KNOWN.read_text(), re.MULTILINE))
        self.assertEqual(peers, {"dynoxide", "moto"})


if __name__ == "__main__":
    unittest.main()
