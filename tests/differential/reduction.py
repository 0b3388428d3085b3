"""Smaller variants of a request, to find the part of it that matters."""

import copy
import re

from mutations import EXPRESSIONS, at, places

PLACEHOLDERS = ("ExpressionAttributeNames", "ExpressionAttributeValues")
SEPARATORS = re.compile(r"( AND | OR |, | (?=SET |REMOVE |ADD |DELETE ))")


def without_piece(text):
    """The text without one of its conditions, paths or clauses."""
    pieces = SEPARATORS.split(text)
    for number in range(0, len(pieces), 2):
        if len(pieces) > 1:
            left, right = pieces[:number], pieces[number + 1:]
            yield "".join((left[:-1] if left and not right else left) + right[1:])


def pruned(document):
    """A copy without placeholders that no expression uses."""
    if isinstance(document, list):
        return [pruned(child) for child in document]
    if not isinstance(document, dict):
        return document
    changed = {name: pruned(child) for name, child in document.items()}
    text = " ".join(child for child in document.values() if isinstance(child, str))
    for name in PLACEHOLDERS:
        if isinstance(changed.get(name), dict):
            changed[name] = {key: child for key, child in changed[name].items() if re.search(re.escape(key) + r"(?!\w)", text)}
            if not changed[name]:
                del changed[name]
    return changed


def smaller(request):
    """Requests that lack one member, one element, or one piece of an expression; each with and without the placeholders
    that are then unused. The largest parts come first."""
    for path in sorted(places(request), key=len):
        less = copy.deepcopy(request)
        del at(less, path[:-1])[path[-1]]
        for variant in (less, pruned(less)):
            yield variant
    for path in places(request):
        text = at(request, path)
        if isinstance(text, str) and isinstance(path[-1], str) and path[-1].endswith(EXPRESSIONS):
            for piece in without_piece(text):
                less = copy.deepcopy(request)
                at(less, path[:-1])[path[-1]] = piece
                yield pruned(less)
