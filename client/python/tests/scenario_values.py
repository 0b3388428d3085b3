"""Values of the scenarios: from YAML to Python, and back for comparisons."""

import base64
from decimal import Context, Decimal

EXACT = Context(prec=400)


def number(text):
    value = Decimal(text)
    return int(value) if value == value.to_integral_value() and abs(value) < 10**15 else value


def from_yaml(value):
    """The Python value of a value in YAML."""
    if isinstance(value, list):
        return [from_yaml(element) for element in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((kind, content),) = value.items()
        if kind == "$n":
            return number(content)
        if kind == "$s":
            return content[0] * content[1]
        if kind == "$b":
            return base64.b64decode(content)
        if kind == "$ss":
            return set(content)
        if kind == "$ns":
            return {number(text) for text in content}
        if kind == "$bs":
            return {base64.b64decode(text) for text in content}
    return {name: from_yaml(element) for name, element in value.items()}


def item_of(template, i):
    """An item of put_many."""
    if isinstance(template, str):
        return template.replace("{i}", str(i))
    if isinstance(template, list):
        return [item_of(element, i) for element in template]
    if isinstance(template, dict):
        if set(template) == {"$i"}:
            return i * template["$i"]
        if len(template) == 1 and next(iter(template)).startswith("$"):
            return from_yaml(template)
        return {name: item_of(element, i) for name, element in template.items()}
    return template


def to_yaml(value):
    """A result in a form that compares by value; types that Python confuses stay apart."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, (int, Decimal)):
        return ("number", Decimal(value).normalize(EXACT))
    if isinstance(value, bytes):
        return ("bytes", value)
    if isinstance(value, (set, frozenset)):
        return ("set", frozenset(to_yaml(element) for element in value))
    if isinstance(value, list):
        return [to_yaml(element) for element in value]
    if isinstance(value, dict):
        return {name: to_yaml(element) for name, element in value.items()}
    return value


def same(left, right, unordered):
    """Equal; lists of the top in any order if they are unordered."""
    if not unordered:
        return _typed(left) == _typed(right)
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[name], right[name], True) for name in left)
    if not isinstance(left, list) or not isinstance(right, list):
        return _typed(left) == _typed(right)
    return sorted(map(repr, map(_typed, left))) == sorted(map(repr, map(_typed, right)))


def _typed(value):
    """True and 1 are different; the order of names is not."""
    if isinstance(value, dict):
        return ("map", tuple(sorted((name, _typed(element)) for name, element in value.items())))
    if isinstance(value, list):
        return ("list", tuple(_typed(element) for element in value))
    if isinstance(value, tuple) and value[0] == "set":
        return ("set", tuple(sorted(map(repr, value[1]))))
    return (type(value).__name__, value if isinstance(value, (str, tuple)) else repr(value))
