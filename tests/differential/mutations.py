"""Turns a valid request into one that is probably invalid."""

import copy

WRONG_TYPES = (None, 1, -1, 1.5, True, "", "x", "true", [], {}, [None], [1], ["x"], {"x": 1}, {"S": "x"})
BAD_NUMBERS = ("", " 1", "1 ", "0x1", "NaN", "Infinity", "1e126", "-1e126", "1e-131", "1.0e-130", "1" * 39, "1" + "0" * 125, ".5", "+1",
               "--1", "1e", "1,5", "1_000", "0e5", "0.1e126", "123456789012345678901234567890123456789", "\u0661")
BAD_VALUES = (
    {"S": ""}, {"B": ""}, {"SS": []}, {"NS": []}, {"BS": []}, {"SS": ["a", "a"]}, {"NS": ["1", "1.0"]}, {"BS": ["AA==", "AA=="]},
    {"NULL": False}, {"NULL": "true"}, {"BOOL": "yes"}, {"BOOL": 1}, {"N": 1}, {"S": 1}, {"S": None}, {"B": "x"}, {"B": "AAE"}, {"B": "A==="},
    {"B": "AA-_"}, {}, {"X": "y"}, {"S": "a", "N": "1"}, {"L": {}}, {"M": []}, {"SS": "a"}, {"NS": ["x"]}, {"NS": [""]}, {"NS": [1]}, "x", 1, [], None,
    {"S": "s" * 2049}, {"N": "1" * 39}, {"M": {"": {"S": "a"}}}, {"L": [{"N": ""}]}, {"SS": [""]}, {"s": "x"}, {"M": {"a": {"SS": []}}})
TOKENS = ("AND", "OR", "NOT", "(", ")", ",", "=", "<>", "<", "BETWEEN", "IN", "SET", "REMOVE", "ADD", "DELETE", "#n0", ":v0", "#zz", ":zz", "size(", "a", "[0]",
          ".a", ".", "[", "]", "+", "-", "name", "1", "'x'", "!", "?", "$", "attribute_exists(", "if_not_exists(", "\u00e9", "<<", ">>", "WHERE", "FROM", "*")
NAMES = ("", "a", "ab", "x" * 256, "bad name", "Plain!", "arn:aws:dynamodb", "Missing", "none", "NONE", "total", "ALL_OLD", "UPDATED_NEW", "SIZE", "é")
NUMBERS = (0, -1, 1, 2, 101, 1000001, 2147483648, 9223372036854775807, 1.5, "1", None)
EXPRESSIONS = ("Expression", "Statement")
VALUE_TYPES = {"S", "N", "B", "SS", "NS", "BS", "L", "M", "BOOL", "NULL"}


def places(document, path=()):
    """Paths of all members and elements."""
    pairs = document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    for name, child in pairs:
        yield (*path, name)
        yield from places(child, (*path, name))


def at(document, path):
    for name in path:
        document = document[name]
    return document


def is_value(document):
    return isinstance(document, dict) and len(document) == 1 and set(document) <= VALUE_TYPES


class Mutations:
    def __init__(self, rng):
        self.rng = rng

    def mutate(self, request):
        """A changed copy."""
        changed = copy.deepcopy(request)
        for _ in range(self.rng.choice((1, 1, 1, 2))):
            paths = list(places(changed))
            if not paths:
                return changed
            shallow = [path for path in paths if len(path) == 1]
            path = self.rng.choice(shallow if self.rng.random() < 0.4 else paths)
            self.change(at(changed, path[:-1]), path[-1])
        return changed

    def change(self, parent, name):
        rng = self.rng
        child = parent[name]
        if rng.random() < 0.12:
            del parent[name]
            return
        if rng.random() < 0.12:
            parent[name] = copy.deepcopy(rng.choice(WRONG_TYPES))
            return
        if isinstance(name, str) and name.endswith(EXPRESSIONS) and isinstance(child, str):
            parent[name] = self.expression(child)
        elif is_value(child):
            parent[name] = self.value(child)
        elif isinstance(child, str):
            number = rng.choice(BAD_NUMBERS) if name == "N" or rng.random() < 0.1 else None
            parent[name] = number if number is not None else rng.choice(NAMES)
        elif isinstance(child, (int, float)):
            parent[name] = rng.choice(NUMBERS)
        elif isinstance(child, dict):
            self.map(child)
        elif isinstance(child, list):
            self.list(child)

    def value(self, child):
        rng = self.rng
        draw = rng.random()
        if draw < 0.75:
            return copy.deepcopy(rng.choice(BAD_VALUES))
        if draw < 0.85:
            return {"N": rng.choice(BAD_NUMBERS)}
        for _ in range(rng.choice((1, 30, 31, 32, 33)) if draw < 0.95 else 0):
            child = {"L": [child]} if draw < 0.9 else {"M": {"a": child}}
        return child if draw < 0.95 else {rng.choice(sorted(VALUE_TYPES)): next(iter(child.values()))}

    def expression(self, text):
        rng = self.rng
        words = text.split(" ")
        draw = rng.random()
        position = rng.randrange(len(words))
        if draw < 0.3:
            words.insert(position, rng.choice(TOKENS))
        elif draw < 0.5:
            words[position] = rng.choice(TOKENS)
        elif draw < 0.65:
            del words[position]
        elif draw < 0.72:
            words.insert(position, words[position])
        elif draw < 0.8:
            return rng.choice(("(", "((")) + text + rng.choice((")", "))"))
        elif draw < 0.84:
            return rng.choice(("", " ", text + " " * 4097, f"{text} AND {text}", text + ",", text.lower(), text.upper()))
        else:
            cut = rng.randrange(len(text) + 1)
            return text[:cut] + rng.choice((*TOKENS, "", "x", "0")) + text[cut + rng.choice((0, 1)):]
        return " ".join(words)

    def map(self, child):
        rng = self.rng
        draw = rng.random()
        if draw < 0.25:
            child.clear()
        elif draw < 0.5:
            child[rng.choice(("", "extra", "x" * 256, "#x", ":x", "#", ":", "#a-b", ":1", "x", "h"))] = copy.deepcopy(
                rng.choice((*child.values(), {"S": "x"}, "x", {"N": "1"})))
        elif child:
            name = rng.choice(list(child))
            if draw < 0.75:
                child[rng.choice(("renamed", "", "h", "#", ":v0", "#n0"))] = child.pop(name)
            else:
                del child[name]

    def list(self, child):
        rng = self.rng
        draw = rng.random()
        if draw < 0.25 or not child:
            child.clear()
        elif draw < 0.6:
            child.append(copy.deepcopy(rng.choice(child)))
        elif draw < 0.7:
            child.extend(copy.deepcopy(child[0]) for _ in range(101))
        else:
            child.append(copy.deepcopy(rng.choice(WRONG_TYPES)))
