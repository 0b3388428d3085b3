"""Random expressions with their placeholders, most of them valid."""

COMPARATORS = ("=", "<>", "<", "<=", ">", ">=")
TYPES = ("S", "N", "B", "SS", "NS", "BS", "L", "M", "BOOL", "NULL")
# Attributes of items beside the keys; the last ones are reserved words.
ATTRIBUTES = ("n", "c", "m", "e", "f", "d", "b", "u", "fresh")
RESERVED = ("name", "size", "Status", "year")
NUMBERS = ("0", "1", "-1", "2", "10", "3.5", "1e2", "007", "-0.50", "1E-130", "9.99e125", "12345678901234567890123456789012345678")


def scalar(rng, kind=None):
    kind = kind or rng.choice(("S", "N", "N", "S", "B", "BOOL", "NULL"))
    return {
        "S": lambda: {"S": rng.choice(("", "a", "ab", "text", "u", "é", "two", "x", "p"))},
        "N": lambda: {"N": rng.choice(NUMBERS)},
        "B": lambda: {"B": rng.choice(("", "AA==", "AAEC", "/w=="))},
        "BOOL": lambda: {"BOOL": rng.random() < 0.5},
        "NULL": lambda: {"NULL": True},
    }[kind]()


def value(rng, depth=2, kind=None):
    """A valid value of a random type, or of the given one."""
    kind = kind or rng.choice(TYPES if depth else ("S", "N", "B", "BOOL", "NULL"))
    if kind == "SS":
        return {"SS": rng.sample(["a", "b", "c", "", "é"], rng.randint(1, 3))}
    if kind == "NS":
        return {"NS": rng.sample(["1", "2", "3.50", "-4", "1e3"], rng.randint(1, 3))}
    if kind == "BS":
        return {"BS": rng.sample(["AA==", "/w==", "AAEC"], rng.randint(1, 2))}
    if kind == "L":
        return {"L": [value(rng, depth - 1) for _ in range(rng.randint(0, 3))]}
    if kind == "M":
        return {"M": {name: value(rng, depth - 1) for name in rng.sample(["a", "b", "x.y", "name"], rng.randint(0, 3))}}
    return scalar(rng, kind)


class Expressions:
    """The expressions of one request, which share their placeholders.

    odd: how likely a fault is put in on purpose, at each place where one can be.
    """

    def __init__(self, rng, table, odd=0.01):
        self.rng = rng
        self.table = table
        self.odd = odd
        self.names = {}
        self.values = {}

    def is_odd(self):
        return self.rng.random() < self.odd

    def placeholder(self, given):
        if self.is_odd():
            return ":undefined"
        name = f":v{len(self.values)}"
        self.values[name] = given
        return name

    def name(self, attribute):
        reserved = attribute in RESERVED or "." in attribute
        if self.is_odd():
            return self.rng.choice(("#undefined", attribute, "_x", "1a", "name", "SIZE", "h-h"))
        if reserved or self.rng.random() < 0.3:
            for known, target in self.names.items():
                if target == attribute:
                    return known
            known = f"#n{len(self.names)}"
            self.names[known] = attribute
            return known
        return attribute

    def attribute(self):
        rng = self.rng
        if rng.random() < 0.15:
            return rng.choice([*self.table.key_names(), "l", "g", "k"])
        return rng.choice(RESERVED) if rng.random() < 0.05 else rng.choice(ATTRIBUTES)

    def path(self, keys=True):
        rng = self.rng
        attribute = self.attribute() if keys else rng.choice(ATTRIBUTES)
        text = self.name(attribute)
        if attribute in ("m", "d") or rng.random() < 0.08:
            for _ in range(rng.choice((0, 1, 1, 2))):
                if rng.random() < 0.5:
                    text += "." + self.name(rng.choice(("a", "b", "x.y")))
                else:
                    text += f"[{rng.choice((0, 1, 2, 5))}]"
        return text

    def operand(self, kind=None):
        rng = self.rng
        draw = rng.random()
        if draw < 0.45:
            return self.path()
        if draw < 0.93:
            return self.placeholder(value(rng, 1, kind))
        return f"size({self.path()})"

    def comparison(self):
        rng = self.rng
        kind = rng.choice(("S", "N", "B")) if rng.random() < 0.9 else None
        draw = rng.random()
        if draw < 0.45:
            return f"{self.path()} {rng.choice(COMPARATORS)} {self.operand(kind)}"
        if draw < 0.53:
            return f"size({self.path()}) {rng.choice(COMPARATORS)} {self.placeholder(scalar(rng, 'N'))}"
        if draw < 0.62:
            low, high = self.operand(kind), self.operand(kind)
            return f"{self.path()} BETWEEN {low} AND {high}"
        if draw < 0.70:
            return f"{self.path()} IN ({', '.join(self.operand() for _ in range(rng.randint(1, 3)))})"
        if draw < 0.80:
            return f"{rng.choice(('attribute_exists', 'attribute_not_exists'))}({self.path()})"
        if draw < 0.86:
            given = {"S": rng.choice(TYPES)} if not self.is_odd() else value(rng)
            return f"attribute_type({self.path()}, {self.placeholder(given)})"
        if draw < 0.92:
            return f"begins_with({self.path()}, {self.operand('S')})"
        if draw < 0.98:
            return f"contains({self.path()}, {self.operand(kind)})"
        return rng.choice((self.path(), f"unknown({self.path()})", f"size({self.path()})", f"attribute_exists({self.path()}) = {self.operand()}",
                           f"{self.operand()} < {self.operand()}", f"attribute_exists({self.operand()})", "", "()"))

    def condition(self, depth=2):
        rng = self.rng
        draw = rng.random()
        if depth == 0 or draw < 0.55:
            return self.comparison()
        if draw < 0.7:
            return f"{self.condition(depth - 1)} AND {self.condition(depth - 1)}"
        if draw < 0.85:
            return f"{self.condition(depth - 1)} OR {self.condition(depth - 1)}"
        if draw < 0.93:
            return f"NOT {self.condition(depth - 1)}"
        return f"({self.condition(depth - 1)})"

    def update_operand(self, kind):
        rng = self.rng
        draw = rng.random()
        if draw < 0.6:
            return self.placeholder(value(rng, 2, kind))
        if draw < 0.75:
            return self.path()
        if draw < 0.9:
            return f"if_not_exists({self.path()}, {self.placeholder(value(rng, 1, kind))})"
        # list_append inside of list_append is refused.
        first, second = (self.placeholder(value(rng, 1, "L")), rng.choice(("d", f"if_not_exists(d, {self.placeholder({'L': []})})")))
        return f"list_append({', '.join(rng.sample((first, second), 2))})"

    def update(self):
        rng = self.rng
        clauses = rng.sample(("SET", "REMOVE", "ADD", "DELETE"), rng.choice((1, 1, 1, 2, 3)))
        if self.is_odd():
            clauses.append(rng.choice(clauses))
        keys = self.is_odd()
        text = []
        for clause in clauses:
            actions = []
            for _ in range(rng.choice((1, 1, 2))):
                if clause == "SET":
                    kind = rng.choice((None, None, "N", "L"))
                    right = self.update_operand(kind)
                    if kind == "N":
                        right += f" {rng.choice('+-')} {self.update_operand('N')}"
                    target = self.name(rng.choice(("l", "g", "k"))) if rng.random() < 0.1 else self.path(keys)
                    actions.append(f"{target} = {right}")
                elif clause == "REMOVE":
                    actions.append(self.name(rng.choice("lgk")) if rng.random() < 0.1 else self.path(keys))
                else:
                    kinds = ("N", "SS", "NS") if clause == "ADD" else ("SS", "NS")
                    target, kind = rng.choice((("n", "N"), ("e", "SS"), ("f", "NS"), ("fresh", None)))
                    if kind not in kinds or rng.random() < 0.1:
                        kind = rng.choice(kinds) if not self.is_odd() else None
                    given = value(rng, 1, kind)
                    actions.append(f"{self.name(target)} {self.placeholder(given)}")
            text.append(f"{clause} {', '.join(actions)}")
        return " ".join(text)

    def projection(self):
        return ", ".join(self.path() for _ in range(self.rng.choice((1, 2, 2, 3))))

    def key_condition(self, partition, sort, pool):
        """A key condition on an index: (attribute, values) are found in `pool`."""
        rng = self.rng
        parts = [f"{self.name(name)} = {self.placeholder(rng.choice(pool[name]))}" for name in partition]
        used = rng.randint(0, len(sort))
        for position, name in enumerate(sort[:used]):
            last = position == used - 1
            given = rng.choice(pool[name]) if not self.is_odd() else value(rng)
            draw = rng.random()
            if not last or draw < 0.3:
                parts.append(f"{self.name(name)} = {self.placeholder(given)}")
            elif draw < 0.6:
                parts.append(f"{self.name(name)} {rng.choice(COMPARATORS[2:])} {self.placeholder(given)}")
            elif draw < 0.8:
                low, high = sorted((given, rng.choice(pool[name])), key=str)
                parts.append(f"{self.name(name)} BETWEEN {self.placeholder(low)} AND {self.placeholder(high)}")
            else:
                parts.append(f"begins_with({self.name(name)}, {self.placeholder(given)})")
        if self.is_odd():
            parts.append(self.comparison())
        if self.is_odd():
            parts.pop(0)
        if rng.random() < 0.2:
            rng.shuffle(parts)
        return rng.choice((" AND ", " AND ", " and ")).join(parts) if not self.is_odd() else " OR ".join(parts)

    def add_to(self, request):
        """Puts the placeholders into a request; now and then one that no expression uses."""
        if self.is_odd():
            self.names["#unused"] = "unused"
        if self.is_odd():
            self.values[":unused"] = value(self.rng)
        if self.names:
            request["ExpressionAttributeNames"] = self.names
        if self.values:
            request["ExpressionAttributeValues"] = self.values
        return request
