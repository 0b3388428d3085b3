"""Native values to attribute values and back, without loss.

| Python | attribute value |
| --- | --- |
| str | S |
| int, Decimal, float | N; a float by its shortest text, so that 0.1 is 0.1 |
| bytes, bytearray, memoryview | B |
| bool | BOOL |
| None | NULL |
| set or frozenset of str, of numbers, of bytes; not empty | SS, NS, BS |
| list, tuple | L |
| dict or another Mapping with str keys | M |

Numbers come back as int if they are whole, else as Decimal; bytes as bytes, sets as set, lists as list, maps as dict.
"""

from __future__ import annotations

import math
from collections.abc import Mapping as AbstractMapping
from decimal import Decimal
from typing import Any, Callable, Dict, Mapping, Union

from armature.api.v1 import types_pb2

Number = Union[int, Decimal]
Item = Dict[str, Any]


def number_text(value: Union[int, float, Decimal]) -> str:
    """The decimal text of a number. Errors: ValueError for infinities and NaN."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is no number of the database")
        return repr(float(value))
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError(f"{value} is no number of the database")
        return str(value)
    return str(int(value))


def number_value(text: str) -> Number:
    """int if the number is whole, else Decimal."""
    return Decimal(text) if "." in text or "E" in text or "e" in text else int(text)


def _write_set(message: types_pb2.AttributeValue, value: Any) -> None:
    if not value:
        raise ValueError("a set must not be empty: the database has no empty sets")
    kinds = {_SET_KINDS.get(type(element)) for element in value}
    if len(kinds) != 1 or None in kinds:
        raise TypeError("the elements of a set are all str, or all numbers, or all bytes")
    kind = kinds.pop()
    if kind == "ss":
        message.ss.values.extend(value)
    elif kind == "ns":
        message.ns.values.extend([number_text(element) for element in value])
    else:
        message.bs.values.extend([bytes(element) for element in value])


def _write_list(message: types_pb2.AttributeValue, value: Any) -> None:
    target = message.l.values
    if not value:
        message.l.SetInParent()
    for index, element in enumerate(value):
        try:
            write(target.add(), element)
        except (TypeError, ValueError, RecursionError) as error:
            raise _located(error, f"[{index}]") from None


def _write_map(message: types_pb2.AttributeValue, value: Mapping[str, Any]) -> None:
    if not value:
        message.m.SetInParent()
    fill(message.m.entries, value)


_PATH_CHARACTERS_MAX = 200


def _located(error: Exception, step: str) -> Exception:
    """The error, a TypeError or a ValueError, with a text that tells one more step of the path to the value."""
    path, reason = getattr(error, "_armature_place", ("", str(error)))
    if isinstance(error, RecursionError):
        reason = "the value is nested too deeply"
    elif isinstance(error, UnicodeEncodeError):
        reason = "the text has an unpaired surrogate"
    path = (step + path)[:_PATH_CHARACTERS_MAX]
    located = (TypeError if isinstance(error, TypeError) else ValueError)(f"{path.lstrip('.')}: {reason}")
    setattr(located, "_armature_place", (path, reason))
    return located


def fill(target: Any, value: Mapping[str, Any]) -> None:
    """Writes the values into a map of names to AttributeValue messages. Errors: as of `write`."""
    try:
        entries = value.items()
    except AttributeError:
        raise TypeError(f"items and keys are dicts of attributes, not {type(value).__name__}") from None
    for name, element in entries:
        kind = type(element)
        try:
            # The most frequent types first, without another call.
            if kind is str:
                target[name].s = element
            elif kind is int:
                target[name].n = str(element)
            else:
                write(target[name], element)
        except (TypeError, ValueError, RecursionError) as error:
            if not isinstance(name, str):
                error = TypeError(f"the name of an attribute is a str, not {type(name).__name__}")
            raise _located(error, f".{name}") from None


def write(message: types_pb2.AttributeValue, value: Any) -> None:
    """Sets the attribute value. Errors: TypeError or ValueError for a value that the database does not have."""
    kind = type(value)
    if kind is str:
        message.s = value
    elif kind is bool:
        message.bool = value
    elif value is None:
        message.null = True
    elif kind is int or isinstance(value, (int, float, Decimal)):
        message.n = number_text(value)
    elif isinstance(value, str):
        message.s = str.__str__(value)
    elif isinstance(value, (bytes, bytearray, memoryview)):
        message.b = bytes(value)
    elif isinstance(value, (set, frozenset)):
        _write_set(message, value)
    elif isinstance(value, (list, tuple)):
        _write_list(message, value)
    elif isinstance(value, AbstractMapping):
        _write_map(message, value)
    elif isinstance(value, types_pb2.AttributeValue):
        message.CopyFrom(value)
    else:
        raise TypeError(f"the database has no values of the type {kind.__name__}")


_SET_KINDS = {str: "ss", int: "ns", float: "ns", Decimal: "ns", bytes: "bs", bytearray: "bs", memoryview: "bs"}

_READERS: Dict[Any, Callable[[Any], Any]] = {
    "s": lambda message: message.s,
    "n": lambda message: number_value(message.n),
    "b": lambda message: message.b,
    "bool": lambda message: message.bool,
    "null": lambda message: None,
    "ss": lambda message: set(message.ss.values),
    "ns": lambda message: {number_value(text) for text in message.ns.values},
    "bs": lambda message: set(message.bs.values),
    "l": lambda message: [_READERS[value.WhichOneof("value")](value) for value in message.l.values],
    "m": lambda message: {
        name: _READERS[value.WhichOneof("value")](value) for name, value in message.m.entries.items()
    },
    None: lambda message: None,
}


def read(message: types_pb2.AttributeValue) -> Any:
    """The native value of an attribute value."""
    return _READERS[message.WhichOneof("value")](message)


def to_dict(message: types_pb2.Item) -> Item:
    """The native item of a message."""
    item: Item = {}
    for name, value in message.attributes.items():
        kind = value.WhichOneof("value")
        # The most frequent types first, without another call.
        if kind == "s":
            item[name] = value.s
        elif kind == "n":
            text = value.n
            item[name] = int(text) if text.isdecimal() else number_value(text)
        else:
            item[name] = _READERS[kind](value)
    return item


def to_message(item: Mapping[str, Any]) -> types_pb2.Item:
    """The message of a native item. Errors: TypeError or ValueError for a value that the database does not have."""
    message = types_pb2.Item()
    fill(message.attributes, item)
    return message


def to_value(value: Any) -> types_pb2.AttributeValue:
    """The attribute value of a native value. Errors as of to_message."""
    message = types_pb2.AttributeValue()
    write(message, value)
    return message
