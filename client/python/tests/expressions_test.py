"""Texts and trees of expressions to those of the API."""

import unittest

from armature import InvalidArgument, attr, text, values
from armature._requests import Expressions, query_request, ReadOptions, write_request
from armature.api.v1 import items_pb2


def update_of(update, condition=None, **given):
    request = items_pb2.UpdateItemRequest(table_name="t")
    return write_request(request, update=update, condition=condition, given=Expressions(**given))


def plain(request):
    return (
        dict(request.expression_attribute_names),
        {name: values.read(value) for name, value in request.expression_attribute_values.items()},
    )


class TextTest(unittest.TestCase):
    def test_parameters_become_values_of_their_names(self):
        request = update_of("SET a = $x, b = $long_name1", params={"x": 1, "long_name1": "y"})
        self.assertEqual(request.update_expression, "SET a = :x, b = :long_name1")
        self.assertEqual(plain(request), ({}, {":x": 1, ":long_name1": "y"}))

    def test_names_stand_for_themselves_unless_given(self):
        request = update_of("SET #status = $x, #n.#status = $x", names={"#n": "full.name"}, params={"x": 1})
        self.assertEqual(plain(request), ({"#status": "status", "#n": "full.name"}, {":x": 1}))

    def test_values_of_the_api_are_left_alone(self):
        request = update_of("SET a = :v", values={":v": 1})
        self.assertEqual((request.update_expression, plain(request)), ("SET a = :v", ({}, {":v": 1})))

    def test_missing_and_unused_parameters_are_refused(self):
        with self.assertRaisesRegex(InvalidArgument, "x"):
            update_of("SET a = $x", params={"y": 1})
        with self.assertRaisesRegex(InvalidArgument, "unused|no expression uses.*y"):
            update_of("SET a = $x", params={"x": 1, "y": 1})

    def test_a_text_of_a_tree_has_parameters_of_its_own(self):
        request = update_of("SET a = $x", text("b = $x AND c = $x", x=2) & (attr("d") == 3), params={"x": 1})
        self.assertEqual(request.condition_expression, "(b = :_0 AND c = :_0) AND (#_0 = :_1)")
        self.assertEqual(plain(request), ({"#_0": "d"}, {":x": 1, ":_0": 2, ":_1": 3}))


class TreeTest(unittest.TestCase):
    def test_clauses_of_updates_are_gathered(self):
        request = update_of([attr("a").set(1), attr("b").remove(), attr("c").increment(), attr("d").add({"x"})])
        self.assertEqual(request.update_expression, "SET #_0 = :_0, #_2 = #_2 + :_1 REMOVE #_1 ADD #_3 :_2")

    def test_paths_have_placeholders_for_names_only(self):
        request = update_of(attr("a.b-c[0].d[1][2]").set(attr("e")))
        self.assertEqual(request.update_expression, "SET #_0.#_1[0].#_2[1][2] = #_3")
        self.assertEqual(plain(request)[0], {"#_0": "a", "#_1": "b-c", "#_2": "d", "#_3": "e"})

    def test_what_is_no_path_is_refused(self):
        for path in ("", "a[", "a]", "a[x]", ".a", "a.", "a..b", "[0]", "a[0]b"):
            with self.subTest(path), self.assertRaises(InvalidArgument):
                update_of(attr(path).remove())

    def test_conditions_have_no_truth_value(self):
        with self.assertRaisesRegex(TypeError, "&"):
            attr("a") == 1 and attr("b") == 2  # noqa: B015

    def test_size_and_lists_of_options(self):
        request = update_of(attr("a").remove(), attr("a").is_in(1, 2) | ~(attr("b").size() >= 3))
        self.assertEqual(request.condition_expression, "(#_0 IN (:_0, :_1)) OR (NOT (size(#_1) >= :_2))")

    def test_a_query_shares_placeholders(self):
        options = ReadOptions(filter=attr("a") > 1, projection=["a", "b.c"])
        request = query_request("t", attr("id") == "x", True, options, Expressions())
        self.assertEqual(request.key_condition_expression, "#_0 = :_0")
        self.assertEqual(request.filter_expression, "#_1 > :_1")
        self.assertEqual(request.projection_expression, "#_1, #_2.#_3")
        self.assertFalse(request.scan_index_forward)


if __name__ == "__main__":
    unittest.main()
