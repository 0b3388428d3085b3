"""Checks that operations of many clients on one row have an order that explains all that they saw (linearizability).

The order must keep that of operations which did not overlap. The search is that of Wing and Gong, with Lowe's memory of the
configurations that were tried: the set of operations in the order so far, and the state of the row after them. Rows are
independent, so each has a history of its own.

The state of a row is a number, or ABSENT. An operation of unknown outcome takes effect at any time after its begin, or never.
"""

import bisect
import dataclasses
import enum
import typing

ABSENT = None
STEPS_MAX = 300_000
SHOWN_MAX = 24  # operations


class Unseen(enum.Enum):
    """The value of an observation that was not made."""

    UNSEEN = "?"

    def __repr__(self):
        return "?"


UNSEEN = Unseen.UNSEEN
# State of a row that an operation would have to see, and does not.
IMPOSSIBLE = object()


class Kind(enum.Enum):
    READ = "read"
    PUT = "put"  # `value`
    SWAP = "swap"  # puts `value` if the state is `expected`
    ADD = "add"  # adds `value`; to 0 if the row is absent
    DELETE = "delete"


class Outcome(enum.Enum):
    DONE = "done"
    REFUSED = "refused"  # a swap whose condition did not hold
    UNKNOWN = "unknown"


@dataclasses.dataclass(frozen=True)
class Operation:
    """An operation on one row, with times of one clock. `ended` has no meaning if the outcome is unknown.

    Operations that certainly had no effect and have seen nothing are not part of a history, nor are reads without an answer.
    """

    kind: Kind
    begun: int
    ended: int = 0
    value: typing.Optional[int] = None
    expected: typing.Optional[int] = ABSENT
    outcome: Outcome = Outcome.DONE
    before: typing.Union[int, None, Unseen] = UNSEEN  # the state that it saw before it
    after: typing.Union[int, None, Unseen] = UNSEEN  # the state that it saw after it, as ADD returns it
    client: str = ""

    @property
    def is_unknown(self):
        return self.outcome is Outcome.UNKNOWN

    @property
    def is_read(self):
        """Never changes the state."""
        return self.kind is Kind.READ or self.outcome is Outcome.REFUSED

    def apply(self, state):
        """The state after the operation, or IMPOSSIBLE if it saw another one than `state`."""
        if self.before is not UNSEEN and self.before != state:
            return IMPOSSIBLE
        result = state
        if self.kind is Kind.PUT:
            result = self.value
        elif self.kind is Kind.DELETE:
            result = ABSENT
        elif self.kind is Kind.ADD:
            result = (0 if state is ABSENT else state) + self.value
        elif self.kind is Kind.SWAP:
            holds = state == self.expected
            if not self.is_unknown and holds != (self.outcome is Outcome.DONE):
                return IMPOSSIBLE
            result = self.value if holds else state
        return IMPOSSIBLE if self.after is not UNSEEN and self.after != result else result

    def __str__(self):
        text = self.kind.value
        if self.kind is Kind.SWAP:
            text += f" {self.expected} -> {self.value}"
        elif self.kind in (Kind.PUT, Kind.ADD):
            text += f" {self.value}"
        for name in ("before", "after"):
            if getattr(self, name) is not UNSEEN:
                text += f", {name} {getattr(self, name)}"
        return f"{text}: {self.outcome.value}"


class Answer(enum.Enum):
    LINEARIZABLE = "linearizable"
    VIOLATED = "violated"
    UNDECIDED = "undecided"


class Search:
    """The search for an order of one history. `steps`: operations that were tried."""

    def __init__(self, history, steps_max=STEPS_MAX):
        self.known = sorted((o for o in history if not o.is_unknown), key=lambda o: o.begun)
        self.unknown = sorted((o for o in history if o.is_unknown), key=lambda o: o.begun)
        self.operations = self.known + self.unknown
        self.steps, self.steps_max = 0, steps_max

    def run(self):
        complete = (1 << len(self.known)) - 1
        if not complete:
            return Answer.LINEARIZABLE
        tried = {(0, ABSENT)}
        ways = [iter(self.next_ones(0, ABSENT, 0))]
        while ways:
            found = next(ways[-1], None)
            if found is None:
                ways.pop()
                continue
            if self.steps > self.steps_max:
                return Answer.UNDECIDED
            ordered, state, first = found
            if ordered & complete == complete:
                return Answer.LINEARIZABLE
            if (ordered, state) not in tried:
                tried.add((ordered, state))
                ways.append(iter(self.next_ones(ordered, state, first)))
        return Answer.VIOLATED

    def next_ones(self, ordered, state, first):
        """The configurations after one more operation. `first`: all known operations before it are in the order."""
        while first < len(self.known) and ordered >> first & 1:
            first += 1
        can_be_next, ends = [], None
        for number in range(first, len(self.known)):
            operation = self.known[number]
            if ends is not None and operation.begun > ends:
                break
            if not ordered >> number & 1:
                can_be_next.append(number)
                ends = operation.ended if ends is None else min(ends, operation.ended)
        # Found while later ones were looked at: an operation that ended before others began is before them.
        can_be_next = [number for number in can_be_next if self.known[number].begun <= ends]
        found = []
        for number in can_be_next:
            result = self.step(number, state)
            if result is IMPOSSIBLE:
                continue
            # A read that can be next may as well be: it changes nothing for the others.
            if self.known[number].is_read:
                return [(ordered | 1 << number, result, first)]
            found.append((ordered | 1 << number, result, first))
        # Unknown operations only if nothing else explains what was seen.
        for number in range(len(self.known), len(self.operations)):
            if self.operations[number].begun > ends:
                break
            if ordered >> number & 1:
                continue
            result = self.step(number, state)
            # Without an effect it could as well have never been.
            if result is not IMPOSSIBLE and result != state:
                found.append((ordered | 1 << number, result, first))
        return found

    def step(self, number, state):
        self.steps += 1
        return self.operations[number].apply(state)


def until(history, end):
    """The history as it was known at the time `end`: operations that had not ended have unknown outcomes."""
    for operation in history:
        if operation.begun > end:
            continue
        if operation.is_unknown or operation.ended <= end:
            yield operation
        elif operation.kind is not Kind.READ:
            yield dataclasses.replace(operation, outcome=Outcome.UNKNOWN, before=UNSEEN, after=UNSEEN)


@dataclasses.dataclass
class Verdict:
    answer: Answer
    steps: int
    witness: tuple = ()  # a violated history, without operations that it does not need

    def show(self):
        """The last operations of the witness, in the order of their begins, with times in milliseconds before its end."""
        if not self.witness:
            return self.answer.value
        end = max(o.ended for o in self.witness if not o.is_unknown)
        lines = []
        for operation in self.witness[-SHOWN_MAX:]:
            ended = "" if operation.is_unknown else f"{(operation.ended - end) / 1e6:.3f}"
            lines.append(f"  {(operation.begun - end) / 1e6:12.3f} .. {ended:12} {operation.client:14} {operation}")
        omitted = len(self.witness) - len(lines)
        return "\n".join([f"  ({omitted} operations before)"] * bool(omitted) + lines)


def check(history, steps_max=STEPS_MAX):
    """The verdict over the operations of one row, which is absent at the begin. Undecided after `steps_max` steps."""
    history = sorted(history, key=lambda o: o.begun)
    search = Search(history, steps_max)
    answer = search.run()
    if answer is not Answer.VIOLATED:
        return Verdict(answer, search.steps)
    return Verdict(answer, search.steps, tuple(reduce_violation(history, steps_max)))


def is_violated(history, steps_max):
    return Search(history, steps_max).run() is Answer.VIOLATED


def reduce_violation(history, steps_max):
    """A part of a violated history that is violated itself: up to the first answer that has no explanation, and without
    reads that do not matter."""
    ends = sorted(o.ended for o in history if not o.is_unknown)
    # A history with an order has one at any earlier time, so this can be bisected.
    first = bisect.bisect_left(ends, True, key=lambda end: is_violated(until(history, end), steps_max))
    part = list(until(history, ends[min(first, len(ends) - 1)]))
    if not is_violated(part, steps_max):  # undecided in between
        return history
    for operation in [o for o in part if o.is_read]:
        without = [o for o in part if o is not operation]
        if is_violated(without, steps_max):
            part = without
    return part
