"""Expressions: as text with parameters, or built from attributes.

    users.update(key, "SET visits = visits + $more", params={"more": 1})
    users.update(key, attr("visits").increment(1), condition=attr("status") == "active")

In a text, `$name` stands for a parameter, and `#name` for the attribute of that name unless `names` says otherwise.
Attributes of `attr` need no placeholders for reserved words: each name is taken literally.
"""

from __future__ import annotations

import re
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from . import values
from .errors import InvalidArgument

_PARAMETER = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")
_NAME = re.compile(r"#[A-Za-z0-9_]+")
_PATH_PART = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


class Placeholders:
    """Collects the placeholders of all expressions of a request, into its two maps."""

    def __init__(
        self,
        names: Any,
        attribute_values: Any,
        params: Optional[Mapping[str, Any]] = None,
        given_names: Optional[Mapping[str, str]] = None,
        given_values: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self._names = names
        self._values = attribute_values
        self._params = params or {}
        self._used_params: Dict[str, bool] = {}
        self._placeholder_of_name: Dict[str, str] = {}
        self._count = 0
        if given_names:
            for name, attribute in given_names.items():
                names[name] = attribute
        if given_values:
            values.fill(attribute_values, given_values)

    def name(self, attribute: str) -> str:
        """The placeholder of an attribute name."""
        placeholder = self._placeholder_of_name.get(attribute)
        if placeholder is None:
            placeholder = f"#_{len(self._placeholder_of_name)}"
            self._placeholder_of_name[attribute] = placeholder
            self._names[placeholder] = attribute
        return placeholder

    def value(self, value: Any) -> str:
        """A new placeholder of a value."""
        placeholder = f":_{self._count}"
        self._count += 1
        if self._values is None:
            raise InvalidArgument("a projection has no values")
        values.write(self._values[placeholder], value)
        return placeholder

    def path(self, path: str) -> str:
        """A path such as `a.b[0]`, with placeholders for its names."""
        parts: List[str] = []
        end = 0
        for match in _PATH_PART.finditer(path):
            between = path[end : match.start()]
            if between not in (("",) if end == 0 or match.group(2) else (".",)):
                break
            end = match.end()
            name, index = match.groups()
            if index is not None:
                parts.append(f"[{index}]")
            else:
                parts.append(("." if parts else "") + self.name(name))
        if end != len(path) or not parts or parts[0].startswith("["):
            raise InvalidArgument(f"{path!r} is no path such as 'a.b[0]'")
        return "".join(parts)

    def text(self, text: str, params: Optional[Mapping[str, Any]] = None) -> str:
        """A text with its parameters and names replaced. `params`: those of this text; else those of the request."""
        own: Dict[str, str] = {}

        def replace(match: "re.Match[str]") -> str:
            name = match.group(1)
            source = self._params if params is None else params
            if name not in source:
                raise InvalidArgument(f"the expression {text!r} has no value for its parameter ${name}")
            if params is not None:
                if name not in own:
                    own[name] = self.value(source[name])
                return own[name]
            if name not in self._used_params:
                self._used_params[name] = True
                if self._values is None:
                    raise InvalidArgument("a projection has no values")
                values.write(self._values[f":{name}"], source[name])
            return f":{name}"

        replaced = _PARAMETER.sub(replace, text) if "$" in text else text
        if "#" in replaced:
            for placeholder in set(_NAME.findall(replaced)):
                if placeholder not in self._names and not placeholder.startswith("#_"):
                    self._names[placeholder] = placeholder[1:]
        return replaced

    def check_all_used(self) -> None:
        """Errors: InvalidArgument for a parameter that no expression has used."""
        unused = sorted(set(self._params) - set(self._used_params))
        if unused:
            raise InvalidArgument(f"no expression uses the parameter ${unused[0]}")


class Expression:
    """A condition. `&`, `|` and `~` connect conditions."""

    def render(self, placeholders: Placeholders) -> str:
        """The text of the expression in the API."""
        raise NotImplementedError

    def __and__(self, other: Expression) -> Expression:
        return _Node("({}) AND ({})", (self, other))

    def __or__(self, other: Expression) -> Expression:
        return _Node("({}) OR ({})", (self, other))

    def __invert__(self) -> Expression:
        return _Node("NOT ({})", (self,))

    def __bool__(self) -> bool:
        raise TypeError("a condition has no truth value; connect conditions with &, | and ~")


class _Text(Expression):
    def __init__(self, text: str, params: Mapping[str, Any]) -> None:
        self._text = text
        self._params = params

    def render(self, placeholders: Placeholders) -> str:
        return placeholders.text(self._text, self._params)


class _Node(Expression):
    """A pattern whose braces stand for operands: expressions, paths and values."""

    def __init__(self, pattern: str, operands: Sequence[Any]) -> None:
        self._pattern = pattern
        self._operands = operands

    def render(self, placeholders: Placeholders) -> str:
        return self._pattern.format(*[_render_operand(operand, placeholders) for operand in self._operands])


def _render_operand(operand: Any, placeholders: Placeholders) -> str:
    if isinstance(operand, Expression):
        return operand.render(placeholders)
    if isinstance(operand, (Attribute, Size)):
        return operand.render(placeholders)
    return placeholders.value(operand)


def text(expression: str, **params: Any) -> Expression:
    """A condition as text that carries its own parameters, to be connected with others."""
    return _Text(expression, params)


class _Comparable:
    """Comparisons of an attribute, or of its size, with a value or another attribute."""

    def render(self, placeholders: Placeholders) -> str:
        raise NotImplementedError

    def __eq__(self, other: Any) -> Expression:  # type: ignore[override]
        return _Node("{} = {}", (self, other))

    def __ne__(self, other: Any) -> Expression:  # type: ignore[override]
        return _Node("{} <> {}", (self, other))

    def __lt__(self, other: Any) -> Expression:
        return _Node("{} < {}", (self, other))

    def __le__(self, other: Any) -> Expression:
        return _Node("{} <= {}", (self, other))

    def __gt__(self, other: Any) -> Expression:
        return _Node("{} > {}", (self, other))

    def __ge__(self, other: Any) -> Expression:
        return _Node("{} >= {}", (self, other))

    __hash__ = None  # type: ignore[assignment]

    def between(self, low: Any, high: Any) -> Expression:
        """Both bounds belong to the range."""
        return _Node("{} BETWEEN {} AND {}", (self, low, high))

    def is_in(self, *options: Any) -> Expression:
        """Equal to one of 1 to 100 values."""
        return _Node("{} IN (" + ", ".join(["{}"] * len(options)) + ")", (self, *options))


class Size(_Comparable):
    """Size of an attribute: `attr("tags").size() > 3`."""

    def __init__(self, attribute: Attribute) -> None:
        self._attribute = attribute

    def render(self, placeholders: Placeholders) -> str:
        return f"size({self._attribute.render(placeholders)})"


class UpdateAction:
    """One change of an update. `clause`: SET, REMOVE, ADD or DELETE."""

    def __init__(self, clause: str, pattern: str, operands: Sequence[Any]) -> None:
        self.clause = clause
        self._node = _Node(pattern, operands)

    def render(self, placeholders: Placeholders) -> str:
        return self._node.render(placeholders)


class Attribute(_Comparable):
    """An attribute or a part of one, by a path such as `address.lines[0]`."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __repr__(self) -> str:
        return f"attr({self.path!r})"

    def render(self, placeholders: Placeholders) -> str:
        return placeholders.path(self.path)

    def exists(self) -> Expression:
        """The item has the attribute."""
        return _Node("attribute_exists({})", (self,))

    def not_exists(self) -> Expression:
        """The item lacks the attribute, or there is no item."""
        return _Node("attribute_not_exists({})", (self,))

    def has_type(self, kind: str) -> Expression:
        """The attribute has the type: S, N, B, BOOL, NULL, SS, NS, BS, L or M."""
        return _Node("attribute_type({}, {})", (self, kind))

    def begins_with(self, prefix: Union[str, bytes, Attribute]) -> Expression:
        """The text or the bytes begin with the prefix."""
        return _Node("begins_with({}, {})", (self, prefix))

    def contains(self, element: Any) -> Expression:
        """The text has the part, or the set or list has the element."""
        return _Node("contains({}, {})", (self, element))

    def size(self) -> Size:
        """Length of a text or of bytes, or number of elements."""
        return Size(self)

    def set(self, value: Any) -> UpdateAction:
        """Gives the attribute a value, or the value of another attribute."""
        return UpdateAction("SET", "{} = {}", (self, value))

    def set_if_missing(self, value: Any) -> UpdateAction:
        """Gives the attribute a value unless the item has it."""
        return UpdateAction("SET", "{} = if_not_exists({}, {})", (self, self, value))

    def increment(self, number: Any = 1) -> UpdateAction:
        """Adds to a number that the item has."""
        return UpdateAction("SET", "{} = {} + {}", (self, self, number))

    def append(self, elements: Sequence[Any]) -> UpdateAction:
        """Appends to a list that the item has."""
        return UpdateAction("SET", "{} = list_append({}, {})", (self, self, list(elements)))

    def remove(self) -> UpdateAction:
        """Removes the attribute."""
        return UpdateAction("REMOVE", "{}", (self,))

    def add(self, value: Any) -> UpdateAction:
        """Adds to a number, which counts as 0 if it is missing, or elements to a set."""
        return UpdateAction("ADD", "{} {}", (self, value))

    def delete(self, elements: Any) -> UpdateAction:
        """Removes elements of a set."""
        return UpdateAction("DELETE", "{} {}", (self, elements))


def attr(path: str) -> Attribute:
    """An attribute by its path: `attr("address.city") == "Bonn"`."""
    return Attribute(path)


Condition = Union[str, Expression]
Update = Union[str, UpdateAction, Sequence[UpdateAction]]
Projection = Union[str, Sequence[Union[str, Attribute]]]


def render_condition(condition: Condition, placeholders: Placeholders) -> str:
    """The text of a condition in the API. Errors: TypeError for another type."""
    if isinstance(condition, str):
        return placeholders.text(condition)
    if not isinstance(condition, Expression):
        kind = type(condition).__name__
        raise TypeError(f"a condition is a text or is built, as attr('a') == 1 or attr('a').exists() are; not {kind}")
    return condition.render(placeholders)


def render_update(update: Update, placeholders: Placeholders) -> str:
    """The text of an update in the API."""
    if isinstance(update, str):
        return placeholders.text(update)
    actions: Iterable[Any] = update if isinstance(update, (list, tuple)) else (update,)
    clauses: Dict[str, List[str]] = {}
    for action in actions:
        if not isinstance(action, UpdateAction):
            kind = type(action).__name__
            raise TypeError(f"an update is a text, or actions such as attr('a').set(1); not {kind}")
        clauses.setdefault(action.clause, []).append(action.render(placeholders))
    return " ".join(f"{clause} {', '.join(parts)}" for clause, parts in clauses.items())


def render_projection(projection: Projection, placeholders: Placeholders) -> str:
    """The text of a projection in the API: a text as it is, or a list of paths."""
    if isinstance(projection, str):
        return placeholders.text(projection)
    paths: Tuple[str, ...] = tuple(
        placeholders.path(path.path if isinstance(path, Attribute) else path) for path in projection
    )
    return ", ".join(paths)
