"""Hints: facts about a refused request that the daemon's text leaves out. docs/develop/clients/README.md lists them."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Mapping, Optional, Tuple

from armature.api.v1 import tables_pb2, types_pb2

from .errors import ArmatureError

_SCHEMAS_MAX = 1000
_ITEM_BYTES_MAX = 409_600
_DIGITS_MAX = 38

_DESCRIBING = (tables_pb2.DescribeTableResponse, tables_pb2.CreateTableResponse, tables_pb2.UpdateTableResponse)
_RESERVED = re.compile(r"reserved keyword: (\w+)")
_WORD = re.compile(r"[#:]?[A-Za-z_]\w*(?!\w*\s*\()")
_NUMBER = re.compile(r"[+-]?(\d*)\.?(\d*)(?:[eE].*)?")


class Schemas:
    """The key attributes of tables and their indexes, as the client has seen them described last."""

    def __init__(self) -> None:
        self._texts: Dict[Tuple[str, str], str] = {}

    def learn(self, response: Any) -> None:
        """Notes the description in a response, if it has one."""
        if not isinstance(response, _DESCRIBING) or len(self._texts) >= _SCHEMAS_MAX:
            return
        is_read = isinstance(response, tables_pb2.DescribeTableResponse)
        table: Any = getattr(response, "table" if is_read else "table_description")
        types = {one.attribute_name: _type_name(one.attribute_type) for one in table.attribute_definitions}
        parts = (table, *table.local_secondary_indexes, *table.global_secondary_indexes)
        for part in parts:
            names = [(key.attribute_name, types.get(key.attribute_name, "?")) for key in part.key_schema]
            self._texts[table.table_name, getattr(part, "index_name", "")] = _list(names)

    def text(self, table: str, index: str = "") -> str:
        """The key such as "user (S), number (N)"; empty if it is not known."""
        return self._texts.get((table, index), "")


def _type_name(kind: Any) -> str:
    return types_pb2.ScalarAttributeType.Name(kind).rpartition("_")[2]


def _list(names: List[Tuple[str, str]]) -> str:
    return ", ".join(f"{name} ({kind})" for name, kind in names)


def tables_of(request: Any) -> List[str]:
    """The tables that a request names, sorted."""
    name = getattr(request, "table_name", "")
    if isinstance(name, str) and name:
        return [name]
    actions = [part for action in getattr(request, "transact_items", ()) for _, part in action.ListFields()]
    return sorted({*getattr(request, "request_items", ()), *(action.table_name for action in actions)})


def _key_hint(request: Any) -> str:
    key = getattr(request, "key", None)
    if key is None or not key.attributes:
        return ""
    return "the given key is " + _list([(name, _kind(key.attributes[name])) for name in sorted(key.attributes)])


def _kind(value: types_pb2.AttributeValue) -> str:
    return (value.WhichOneof("value") or "").upper()


def _condition_hint(request: Any) -> str:
    """The attributes that a key condition names."""
    names: Mapping[str, str] = request.expression_attribute_names
    words = _WORD.findall(getattr(request, "key_condition_expression", ""))
    given = [names.get(word, word) for word in words if word[0] != ":" and word.upper() not in ("AND", "BETWEEN")]
    return "the key condition names " + ", ".join(dict.fromkeys(given)) if given else ""


def _size_hint(request: Any) -> str:
    limit = f"an item has at most {_ITEM_BYTES_MAX} bytes, with the names of its attributes"
    sizes = [(value.ByteSize(), name) for name, value in getattr(request, "item", types_pb2.Item()).attributes.items()]
    if not sizes:
        return limit
    return f"{limit}; the largest attribute is {max(sizes)[1]} with {max(sizes)[0]} bytes"


def _digits_hint(request: Any) -> str:
    """The place of a number with too many digits."""
    for field in ("item", "key"):
        if hasattr(request, field):
            found = _place(getattr(request, field).attributes)
            if found is not None:
                return f"the number is in the attribute {found}"
    found = _place(getattr(request, "expression_attribute_values", {}))
    return "" if found is None else f"the number is in the value {found}"


def _place(values: Mapping[str, Any]) -> Optional[str]:
    for name in sorted(values):
        found = _place_in(values[name])
        if found is not None:
            return name + found
    return None


def _place_in(value: types_pb2.AttributeValue) -> Optional[str]:
    """The path behind the name of an attribute; None if its numbers have few digits."""
    if any(_digits(number) > _DIGITS_MAX for number in (value.n, *value.ns.values)):
        return ""
    found = _place(value.m.entries)
    if found is not None:
        return "." + found
    for number, element in enumerate(value.l.values):
        found = _place_in(element)
        if found is not None:
            return f"[{number}]{found}"
    return None


def _digits(number: str) -> int:
    match = _NUMBER.fullmatch(number)
    return len((match.group(1) + match.group(2)).strip("0")) if match else 0


def hint_of(error: ArmatureError, request: Any, schemas: Schemas) -> str:
    """The hint for an error that the daemon has answered; empty for others."""
    if not error.exception:
        return "connect with TLS" if "over TLS" in error.message else ""
    parts = []
    tables = tables_of(request)
    index = getattr(request, "index_name", "")
    if tables and not (len(tables) == 1 and error.message.endswith(tables[0])):
        parts.append(("table " if len(tables) == 1 else "tables ") + ", ".join(tables))
    if index:
        parts.append(f"index {index}")
    message = error.message
    reserved = _RESERVED.search(message)
    if reserved is not None:
        parts.append(f"in an expression, #{reserved.group(1)} stands for the attribute {reserved.group(1)}")
    elif "does not match the schema" in message:
        parts.append(_key_hint(request))
        parts.extend(_known(schemas, tables, ""))
    elif "key schema element" in message or "key condition not supported" in message:
        parts.append(_condition_hint(request))
        parts.extend(_known(schemas, tables, index))
    elif "Item size" in message:
        parts.append(_size_hint(request))
    elif "significant digits" in message:
        parts.append(_digits_hint(request))
    return "; ".join(part for part in parts if part)


def _known(schemas: Schemas, tables: List[str], index: str) -> List[str]:
    """The keys of the tables, as far as they are known."""
    keys = [(f"{table}/{index}" if index else table, schemas.text(table, index)) for table in tables]
    return [f"the key of {name} is {key}" for name, key in keys if key]
