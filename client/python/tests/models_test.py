"""Dataclasses and pydantic models as items."""

import datetime
import enum
import unittest
import uuid
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Dict, List, Optional, Set, Tuple

from armature import InvalidArgument
from armature.models import model_of

try:
    import pydantic
except ImportError:
    pydantic = None


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


@dataclass
class Address:
    city: str
    zip_code: Optional[str] = None


@dataclass
class User:
    id: str
    visits: int
    balance: Decimal
    score: float
    level: Level
    born: datetime.date
    seen: datetime.datetime
    token: uuid.UUID
    address: Address
    others: List[Address]
    by_name: Dict[str, Address]
    tags: Set[str]
    point: Tuple[int, ...]
    email: Optional[str]
    full_name: str = field(default="", metadata={"attribute": "full.name"})


USER = User(
    "ann",
    1,
    Decimal("1.50"),
    0.5,
    Level.HIGH,
    datetime.date(2000, 2, 3),
    datetime.datetime(2024, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc),
    uuid.UUID(int=7),
    Address("Bonn"),
    [Address("Kiel", "1")],
    {"a": Address("Ulm")},
    set(),
    (1, 2),
    None,
    "Ann",
)


class DataclassTest(unittest.TestCase):
    def test_an_instance_comes_back(self):
        model = model_of(User)
        item = model.to_item(USER)
        self.assertEqual(item["full.name"], "Ann")
        self.assertEqual(item["level"], "high")
        self.assertEqual(item["address"], {"city": "Bonn"})
        # None and an empty set, which the database lacks, are left out.
        self.assertTrue({"email", "tags"}.isdisjoint(item))
        self.assertEqual(model.from_item(item), USER)

    def test_a_whole_number_becomes_a_float(self):
        item = {**model_of(User).to_item(USER), "score": 2}
        self.assertIs(type(model_of(User).from_item(item).score), float)

    def test_a_missing_field_without_default_is_an_error(self):
        with self.assertRaisesRegex(TypeError, "city"):
            model_of(Address).from_item({})

    def test_attributes_without_field_are_ignored(self):
        self.assertEqual(model_of(Address).from_item({"city": "Bonn", "more": 1}), Address("Bonn"))

    def test_dicts_are_taken_as_they_are(self):
        self.assertEqual(model_of(Address).to_item({"city": "Bonn"}), {"city": "Bonn"})

    def test_other_classes_are_refused(self):
        with self.assertRaises(InvalidArgument):
            model_of(int)


@unittest.skipIf(pydantic is None, "pydantic is not installed")
class PydanticTest(unittest.TestCase):
    def test_an_instance_comes_back(self):
        class Order(pydantic.BaseModel):
            id: str
            total: Decimal
            note: Optional[str] = None
            level: Level = Level.LOW
            due: datetime.date

        order = Order(id="1", total=Decimal("9.90"), due=datetime.date(2024, 5, 6))
        model = model_of(Order)
        item = model.to_item(order)
        self.assertEqual(item, {"id": "1", "total": Decimal("9.90"), "level": "low", "due": "2024-05-06"})
        self.assertEqual(model.from_item(item), order)


if __name__ == "__main__":
    unittest.main()
