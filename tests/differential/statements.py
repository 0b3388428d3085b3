"""Random PartiQL statements, most of them valid."""

from expressions import ATTRIBUTES, value
from tables import INDEX_ATTRIBUTES, TABLES

FUNCTIONS_OF_PATHS = ("attribute_exists", "attribute_not_exists")


def literal(given):
    """The text of a value in a statement; None for one that has none (a binary)."""
    (kind, content), = given.items()
    if kind == "S":
        return "'" + content.replace("'", "''") + "'"
    if kind == "N":
        return content
    if kind in ("BOOL", "NULL"):
        return "NULL" if kind == "NULL" else str(content).upper()
    if kind in ("SS", "NS"):
        return "<<" + ", ".join(literal({kind[0]: element}) for element in content) + ">>"
    if kind == "L":
        elements = [literal(element) for element in content]
        return None if None in elements else "[" + ", ".join(elements) + "]"
    if kind == "M":
        elements = {name: literal(element) for name, element in content.items()}
        return None if None in elements.values() else "{" + ", ".join(f"'{name}': {text}" for name, text in elements.items()) + "}"
    return None


class Statement:
    """One statement with its parameters."""

    def __init__(self, rng, odd):
        self.rng = rng
        self.odd = odd
        self.parameters = []

    def value(self, given):
        text = literal(given)
        if text is None or self.rng.random() < 0.4:
            self.parameters.append(given)
            return "?"
        return text

    def path(self):
        rng = self.rng
        name = rng.choice((*ATTRIBUTES, "g"))
        if name in ("m", "d"):
            return name + rng.choice(("", ".a", "[0]", ".b[1]", '."x.y"'))
        return name if rng.random() < 0.8 else f'"{name}"'

    def condition(self):
        rng = self.rng
        draw = rng.random()
        if draw < 0.45:
            operator = rng.choice(("=", "<>", "<", "<=", ">", ">="))
            return f"{self.path()} {operator} {self.value(value(rng, 0))}"
        if draw < 0.55:
            return f"{self.path()} BETWEEN {self.value(value(rng, 0, 'N'))} AND {self.value(value(rng, 0, 'N'))}"
        if draw < 0.65:
            return f"{self.path()} IN [{', '.join(self.value(value(rng, 0)) for _ in range(rng.randint(1, 3)))}]"
        if draw < 0.75:
            return f"{self.path()} IS {rng.choice(('', 'NOT '))}{rng.choice(('MISSING', 'MISSING', 'NULL'))}"
        if draw < 0.82:
            return f"begins_with({self.path()}, {self.value(value(rng, 0, 'S'))})"
        if draw < 0.9:
            return f"contains({self.path()}, {self.value(value(rng, 0, 'S'))})"
        if draw < 0.95:
            return f"size({self.path()}) > {rng.randint(0, 3)}"
        return f"NOT ({self.condition()})" if rng.random() > self.odd else "unknown(a)"

    def key(self, table, full=True):
        rng = self.rng
        names = table.key if full or rng.random() < 0.6 else table.key[:1]
        return " AND ".join(f"{name} = {self.value(rng.choice(values))}" for name, values in names)

    def select(self, single=False):
        rng = self.rng
        table = rng.choice(TABLES)
        columns = "*" if rng.random() < 0.5 else ", ".join(self.path() for _ in range(rng.randint(1, 2)))
        source = f'"{table.name}"' if rng.random() < 0.8 else table.name
        if single:
            return f"SELECT {columns} FROM {source} WHERE {self.key(table)}"
        index = rng.choice(list(table.indexes)) if table.indexes and rng.random() < 0.5 else None
        if index:
            source += f'."{index}"'
        parts = []
        if index and rng.random() < 0.7:
            name = table.indexes[index][0][0]
            pool = {**dict(table.key), **INDEX_ATTRIBUTES}
            parts.append(f"{name} = {self.value(rng.choice(pool[name]))}")
        elif not index and rng.random() < 0.7:
            parts.append(self.key(table, full=False))
        if rng.random() < 0.4:
            parts.append(self.condition())
        text = f"SELECT {columns} FROM {source}"
        if parts:
            text += " WHERE " + " AND ".join(parts)
        if rng.random() < 0.1:
            text += f" ORDER BY {rng.choice(('r', 'h', 'n'))} {rng.choice(('ASC', 'DESC', ''))}"
        return text

    def insert(self):
        rng = self.rng
        table = rng.choice(TABLES)
        members = {name: self.value(rng.choice(values)) for name, values in table.key}
        for name in rng.sample(ATTRIBUTES, rng.randint(0, 2)):
            members[name] = self.value(value(rng, 1))
        body = ", ".join(f"'{name}': {text}" for name, text in members.items())
        return f'INSERT INTO "{table.name}" VALUE {{{body}}}'

    def update(self):
        rng = self.rng
        table = rng.choice(TABLES)
        sets = []
        for _ in range(rng.randint(1, 2)):
            draw = rng.random()
            if draw < 0.5:
                sets.append(f"SET {self.path()} = {self.value(value(rng, 1))}")
            elif draw < 0.65:
                sets.append(f"SET n = n {rng.choice('+-')} {self.value(value(rng, 0, 'N'))}")
            elif draw < 0.75:
                sets.append(f"SET d = list_append(d, {self.value(value(rng, 1, 'L'))})")
            elif draw < 0.85:
                function = rng.choice(("set_add", "set_delete"))
                sets.append(f"SET e = {function}(e, {self.value(value(rng, 0, 'SS'))})")
            else:
                sets.append(f"REMOVE {self.path()}")
        text = f'UPDATE "{table.name}" {" ".join(sets)} WHERE {self.key(table, full=rng.random() > self.odd)}'
        if rng.random() < 0.2:
            text += f" AND {self.condition()}"
        if rng.random() < 0.4:
            text += f" RETURNING {rng.choice(('ALL OLD', 'ALL NEW', 'MODIFIED OLD', 'MODIFIED NEW'))} *"
        return text

    def delete(self):
        rng = self.rng
        table = rng.choice(TABLES)
        text = f'DELETE FROM "{table.name}" WHERE {self.key(table, full=rng.random() > self.odd)}'
        if rng.random() < 0.2:
            text += f" AND {self.condition()}"
        if rng.random() < 0.3:
            text += f" RETURNING {'ALL OLD' if rng.random() > 3 * self.odd else 'ALL NEW'} *"
        return text

    def write(self):
        return self.rng.choice((self.insert, self.update, self.update, self.delete))()

    def member(self, text):
        return {"Statement": text, **({"Parameters": self.parameters} if self.parameters else {})}


class Statements:
    def __init__(self, rng, odd=0.01):
        self.rng = rng
        self.odd = odd

    def one(self, make):
        statement = Statement(self.rng, self.odd)
        return statement.member(make(statement))

    def any(self):
        rng = self.rng
        draw = rng.random()
        if draw < 0.7:
            request = self.one(lambda made: made.select() if rng.random() < 0.55 else made.write())
            if rng.random() < 0.1:
                request["ConsistentRead"] = True
            operation = "ExecuteStatement"
        else:
            reads = rng.random() < 0.4
            members = [self.one(lambda made: made.select(single=True) if reads else made.write())
                       for _ in range(rng.randint(1, 3))]
            if draw < 0.85:
                operation, request = "BatchExecuteStatement", {"Statements": members}
            else:
                operation, request = "ExecuteTransaction", {"TransactStatements": members}
        if rng.random() < 0.4:
            request["ReturnConsumedCapacity"] = rng.choice(("TOTAL", "INDEXES"))
        return operation, request
