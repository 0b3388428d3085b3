"""Classes as items: dataclasses and pydantic models.

A dataclass gives an item with an attribute for each field. A field that is None is left out, so that the item stays out
of indexes on it. Types of fields, beside those of items: float, datetime and date (ISO 8601 texts), UUID (text), Enum
(its value), other dataclasses (maps), list, tuple, set, frozenset, dict and Optional of these.
`field(metadata={"attribute": "name"})` renames an attribute. A pydantic model gives `model_dump()` without None, and
is read by `model_validate`.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import functools
import typing
import uuid
from decimal import Decimal
from typing import Any, Callable, Dict, Generic, Mapping, Optional, Type, TypeVar, Union, cast

from .errors import InvalidArgument

T = TypeVar("T")
Item = Dict[str, Any]


class Model(Generic[T]):
    """Conversion of one class. to_item takes an instance or a mapping."""

    def __init__(self, to_item: Callable[[Any], Mapping[str, Any]], from_item: Callable[[Item], T]) -> None:
        self.to_item = to_item
        self.from_item = from_item


def _plain(value: Any) -> Any:
    """A value of a field as a native value of an item."""
    if value is None or isinstance(value, (str, bool, int, Decimal, bytes, float)):
        return _plain(value.value) if isinstance(value, enum.Enum) else value
    if isinstance(value, enum.Enum):
        return _plain(value.value)
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat()
    if isinstance(value, uuid.UUID):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _dataclass_item(value)
    if isinstance(value, Mapping):
        return {name: _plain(element) for name, element in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(element) for element in value]
    if isinstance(value, (set, frozenset)):
        return {_plain(element) for element in value} or None
    return value


def _attribute_of(field: "dataclasses.Field[Any]") -> str:
    return cast(str, field.metadata.get("attribute", field.name))


def _dataclass_item(instance: Any) -> Item:
    item: Item = {}
    for field in dataclasses.fields(instance):
        value = _plain(getattr(instance, field.name))
        if value is not None:
            item[_attribute_of(field)] = value
    return item


def _parse_datetime(text: str) -> datetime.datetime:
    # Python 3.9 does not know the suffix Z.
    return datetime.datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)


def _optional_reader(arguments: Any) -> Callable[[Any], Any]:
    kinds = [kind for kind in arguments if kind is not type(None)]
    if len(kinds) != 1:
        return lambda value: value  # a union of several types stays as it is in the item
    read = _reader(kinds[0])
    return lambda value: None if value is None else read(value)


def _tuple_reader(arguments: Any) -> Callable[[Any], Any]:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        element = _reader(arguments[0])
        return lambda value: tuple(element(part) for part in value)
    readers = [_reader(argument) for argument in arguments]
    return lambda value: tuple(read(part) for read, part in zip(readers, value))


def _generic_reader(origin: Any, arguments: Any) -> Callable[[Any], Any]:
    if origin is Union or str(origin) == "<class 'types.UnionType'>":
        return _optional_reader(arguments)
    if origin is tuple and arguments:
        return _tuple_reader(arguments)
    if origin in (list, set, frozenset) and arguments:
        element = _reader(arguments[0])
        return lambda value: origin(element(part) for part in value)
    if origin is dict and len(arguments) == 2:
        element = _reader(arguments[1])
        return lambda value: {name: element(part) for name, part in value.items()}
    return lambda value: value


@functools.lru_cache(maxsize=None)
def _reader(kind: Any) -> Callable[[Any], Any]:
    """The function from a native value of an item to the type of a field."""
    origin = typing.get_origin(kind)
    if origin is not None:
        return _generic_reader(origin, typing.get_args(kind))
    if kind in (float, Decimal):
        return cast(Callable[[Any], Any], kind)
    if kind is datetime.datetime:
        return _parse_datetime
    if kind is datetime.date:
        return datetime.date.fromisoformat
    if kind is uuid.UUID or (isinstance(kind, type) and issubclass(kind, enum.Enum)):
        return cast(Callable[[Any], Any], kind)
    if dataclasses.is_dataclass(kind):
        return _dataclass_reader(cast(type, kind))
    return lambda value: value


def _if_missing(field: "dataclasses.Field[Any]", hint: Any) -> Optional[Callable[[], Any]]:
    """The value of a field without default whose attribute is missing: None and empty sets are not written."""
    if field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING:
        return None
    if type(None) in typing.get_args(hint):
        return lambda: None
    origin = typing.get_origin(hint) or hint
    return origin if origin in (set, frozenset) else None


@functools.lru_cache(maxsize=None)
def _dataclass_reader(kind: type) -> Callable[[Any], Any]:
    hints = typing.get_type_hints(kind)
    plan = [
        (field.name, _attribute_of(field), hints[field.name], _if_missing(field, hints[field.name]))
        for field in dataclasses.fields(kind)
        if field.init
    ]

    def read(item: Item) -> Any:
        arguments: Item = {}
        for name, attribute, hint, if_missing in plan:
            if attribute in item:
                arguments[name] = _reader(hint)(item[attribute])
            elif if_missing is not None:
                arguments[name] = if_missing()
        return kind(**arguments)

    return read


def _without_none(item: Mapping[str, Any]) -> Item:
    return {name: _plain(value) for name, value in item.items() if value is not None}


def model_of(kind: Optional[Type[T]]) -> Model[T]:
    """The conversion of a class; without one, items are dicts. Errors: InvalidArgument for another class."""
    if kind is None or kind is dict:
        return Model(lambda item: cast(Mapping[str, Any], item), lambda item: cast(T, item))
    if dataclasses.is_dataclass(kind):
        read = _dataclass_reader(cast(type, kind))
        return Model(lambda item: item if isinstance(item, Mapping) else _dataclass_item(item), read)
    validate = getattr(kind, "model_validate", None)
    if validate is not None:
        return Model(
            lambda item: item if isinstance(item, Mapping) else _without_none(item.model_dump(by_alias=True)),
            cast(Callable[[Item], T], validate),
        )
    raise InvalidArgument(f"{kind!r} is neither a dataclass nor a pydantic model")
