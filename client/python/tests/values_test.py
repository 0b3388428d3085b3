"""Native values to messages and back."""

import enum
import unittest
from decimal import Decimal

from armature import values
from armature.api.v1 import types_pb2


def round_trip(value):
    return values.to_dict(types_pb2.Item.FromString(values.to_message({"v": value}).SerializeToString()))["v"]


class ValuesTest(unittest.TestCase):
    def test_values_come_back_with_their_types(self):
        for value in (
            "text",
            "",
            0,
            -7,
            2**70,
            Decimal("0.1"),
            Decimal("-1.5"),
            b"\x00\xff",
            b"",
            True,
            False,
            None,
            {"a", ""},
            {1, 2},
            {Decimal("1.5")},
            {b"x"},
            [],
            [1, [2, {"a": None}]],
            {},
            {"m": {"n": [True]}},
        ):
            back = round_trip(value)
            self.assertEqual(back, value)
            self.assertIs(type(back), type(value))

    def test_other_types_are_taken_by_their_value(self):
        class Colour(str, enum.Enum):
            RED = "red"

        class Level(enum.IntEnum):
            HIGH = 3

        for value, back in (
            (1.5, Decimal("1.5")),
            (0.1, Decimal("0.1")),
            (2.0, Decimal("2.0")),
            (1e300, None),
            (bytearray(b"a"), b"a"),
            (memoryview(b"a"), b"a"),
            ((1, 2), [1, 2]),
            (frozenset("a"), {"a"}),
            (Colour.RED, "red"),
            (Level.HIGH, 3),
        ):
            if back is not None:
                self.assertEqual(round_trip(value), back)

    def test_a_boolean_is_no_number(self):
        self.assertEqual(values.to_value(True).WhichOneof("value"), "bool")
        self.assertEqual(values.to_value(1).WhichOneof("value"), "n")

    def test_numbers_keep_their_digits(self):
        for text in (
            "99999999999999999999999999999999999999",
            "1E-130",
            "-0.00012345678901234567890123456789012345678",
        ):
            self.assertEqual(values.to_value(Decimal(text)).n, str(Decimal(text)))

    def test_the_error_of_a_value_tells_its_path(self):
        endless = []
        endless.append(endless)
        for value, kind, text in (
            (object(), TypeError, "v: the database has no values of the type object"),
            ({"a": [1, {"b": 1j}]}, TypeError, "v.a[1].b: the database has no values of the type complex"),
            ([set()], ValueError, "v[0]: a set must not be empty"),
            ({"a": float("nan")}, ValueError, "v.a: nan"),
            ("\ud800", ValueError, "v: the text has an unpaired surrogate"),
            ({1: 2}, TypeError, "v.1: the name of an attribute is a str, not int"),
            ({"a": {None: ""}}, TypeError, "v.a.None: the name of an attribute is a str, not NoneType"),
            (endless, ValueError, "v[0][0][0]"),
            (endless, ValueError, "nested too deeply"),
        ):
            with self.assertRaises(kind) as caught:
                values.to_message({"v": value})
            self.assertIn(type(caught.exception), (TypeError, ValueError))
            self.assertIn(text, str(caught.exception))
            self.assertLess(len(str(caught.exception)), 300)

    def test_an_item_is_a_dict(self):
        for item in ("ann", None, [1], 3):
            with self.assertRaisesRegex(TypeError, "items and keys are dicts of attributes, not "):
                values.to_message(item)

    def test_values_that_the_database_lacks_are_refused(self):
        for value in (set(), float("nan"), Decimal("Infinity"), float("-inf")):
            with self.assertRaises(ValueError):
                values.to_value(value)
        for value in (object(), {1, "a"}, {True}, {1: 2}, complex(1, 2), {(1, 2)}):
            with self.assertRaises(TypeError):
                values.to_value(value)


if __name__ == "__main__":
    unittest.main()
