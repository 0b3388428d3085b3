"""The expected state: every write that was submitted, its answer, and the states that a recovery may show.

A writer submits one step at a time. A step is one request: its writes are the whole items that it leaves behind, so the state
after any number of steps is known. `check` searches, for each writer, a prefix of its steps that explains the recovered items:

- a step that was answered in time is in the prefix: otherwise it is lost;
- the recovered state has no step without all answered steps before it, of any writer: otherwise there is a hole;
- a step without an answer is there or not; an atomic one is there as a whole or not at all: otherwise it is torn;
- an item is one that somebody wrote: otherwise it is foreign.

Times are those of time.monotonic_ns. Items and keys are compared as Python values; None is an absent item.
"""

import collections
import itertools
import threading
import time

# Outcomes of a step. UNKNOWN: no answer, or one that does not say if the step was executed.
UNKNOWN, DONE, REFUSED = "unknown", "done", "refused"

LOST, HOLE, TORN, FOREIGN, WRONG = "lost", "hole", "torn", "foreign", "wrong"

Violation = collections.namedtuple("Violation", "kind text")


class Step:
    """One request of a writer. `writes`: (table, key) -> item; `counters`: (table, key) of shared rows that it increments."""

    __slots__ = ("writes", "atomic", "counters", "submitted", "answered", "outcome")

    def __init__(self, writes, atomic=True, counters=()):
        self.writes = writes
        self.atomic = atomic
        self.counters = counters
        self.submitted = time.monotonic_ns()
        self.answered = None
        self.outcome = UNKNOWN

    def answer(self, outcome):
        self.outcome = outcome
        self.answered = time.monotonic_ns()

    def outcome_at(self, at):
        return self.outcome if self.answered is not None and self.answered <= at else UNKNOWN


class WriterHistory:
    """Steps of one writer in order, and the items of its keys before the first one. Owned by the writer's thread."""

    def __init__(self, name):
        self.name = name
        self.base = {}
        self.steps = []

    def add(self, step):
        self.steps.append(step)
        return step

    def candidates(self, key):
        """The items that a key may have now, the likeliest last."""
        found = [self.base.get(key)]
        for step in self.steps:
            if key not in step.writes or step.outcome == REFUSED:
                continue
            found = [step.writes[key]] if step.outcome == DONE else [*found, step.writes[key]]
        return found


    def resolve(self, recovered, now):
        """Decides the steps without an answer by the recovered items. The items were checked before, so no step is there in part
        unless it may be."""
        later = set()  # keys that executed later steps have written
        for step in reversed(self.steps):
            if step.outcome == UNKNOWN:
                shown = {key: item for key, item in step.writes.items() if key in later or recovered.get(key) == item}
                if not step.atomic:
                    step.writes = shown
                step.outcome = DONE if len(shown) == len(step.writes) else REFUSED
                step.answered = now
            if step.outcome == DONE:
                later.update(step.writes)


class History:
    """All writers. Thread-safety: `writer` and `stamp` are thread-safe; checks need quiet writers."""

    def __init__(self):
        self.mutex = threading.Lock()
        self.writers = {}
        self.counter_base = collections.Counter()
        self.stamps = itertools.count(1)

    def writer(self, name):
        with self.mutex:
            return self.writers.setdefault(name, WriterHistory(name))

    def stamp(self):
        """A number that no other write has."""
        return next(self.stamps)

    def steps(self):
        return sum(len(writer.steps) for writer in self.writers.values())

    def settle(self, recovered, counters, forget=True):
        """After a successful check: unknown steps become what the recovered items say. With `forget` the items become the
        base, and the steps go; without it, later checks may look back to any time."""
        for writer in self.writers.values():
            writer.resolve(recovered, time.monotonic_ns())
            if forget:
                keys = {*writer.base, *(key for step in writer.steps for key in step.writes)}
                writer.base = {key: recovered[key] for key in keys if key in recovered}
                writer.steps = []
        if forget:
            self.counter_base = collections.Counter(counters)


class Walk:
    """The search for the prefixes of one writer's steps that explain the recovered items."""

    def __init__(self, writer, recovered, must_at, may_at, covers):
        self.writer = writer
        self.recovered = recovered
        self.must_at = must_at
        self.may_at = may_at
        self.covers = covers
        self.steps = [step for step in writer.steps if step.submitted <= may_at]
        self.allowed = {}  # key -> items that it may have
        self.bad = set()  # keys whose recovered item is not allowed
        self.unsure = []  # (number, step, keys that show it) of atomic steps in the prefix without an answer
        self.matches = []  # lengths of prefixes that explain everything
        self.torn = []
        for key in {*writer.base, *(key for step in self.steps for key in step.writes)}:
            if covers(key):
                self.allow(key, [writer.base.get(key)])

    def allow(self, key, items):
        self.allowed[key] = items
        if self.recovered.get(key) in items:
            self.bad.discard(key)
        else:
            self.bad.add(key)

    def take(self, number, step):
        """The step is in the prefix."""
        outcome = step.outcome_at(self.may_at)
        if outcome == REFUSED:
            return
        covered = {key: item for key, item in step.writes.items() if self.covers(key)}
        if outcome == UNKNOWN and step.atomic:
            shown = [key for key, item in covered.items()
                     if self.recovered.get(key) == item and item not in self.allowed[key]]
            self.unsure.append((number, step, shown))
        for key, item in covered.items():
            self.allow(key, [item] if outcome == DONE else [*self.allowed[key], item])

    def shows_a_part(self, step):
        """True if the prefix and a part of the step behind it explain everything."""
        return all(key in step.writes and self.recovered.get(key) == step.writes[key] for key in self.bad)

    def is_last(self, key, number, length):
        """True if no step behind `number` in the prefix may have written the key."""
        return not any(key in step.writes and step.outcome_at(self.may_at) != REFUSED for step in self.steps[number:length])

    def find_torn(self, length):
        """Violations by atomic steps without an answer, of which a part is there, if the prefix has this length."""
        found = []
        for number, step, shown in self.unsure:
            last = [key for key in step.writes if self.covers(key) and self.is_last(key, number, length)]
            there = [key for key in shown if key in last]
            missing = [key for key in last if self.recovered.get(key) != step.writes[key]]
            if there and missing:
                found.append(Violation(TORN, f"{self.writer.name}: step {number} is there at {there}, not at {missing}"))
        return found

    def required(self):
        """The number of steps that the prefix has at least."""
        numbers = [number for number, step in enumerate(self.steps, 1) if step.outcome_at(self.must_at) == DONE]
        return numbers[-1] if numbers else 0

    def run(self):
        """Finds the matches; true if there is one."""
        required = self.required()
        for length in range(len(self.steps) + 1):
            following = self.steps[length] if length < len(self.steps) else None
            partly = bool(self.bad) and following is not None and self.shows_a_part(following)
            if partly and following.atomic:
                missing = [key for key, item in following.writes.items() if self.covers(key) and self.recovered.get(key) != item]
                if missing:
                    self.torn.append(Violation(TORN, f"{self.writer.name}: step {length + 1} is not there at {missing} only"))
            elif length >= required and (partly or not self.bad):
                torn = self.find_torn(length)
                self.torn += torn
                if not torn:
                    self.matches.append(length)
            if following is not None:
                self.take(length + 1, following)
        return bool(self.matches)

    def last_evidence(self):
        """The number of the last step of which an item is there, 0 for none."""
        for number in range(len(self.steps), 0, -1):
            writes = self.steps[number - 1].writes
            if any(item is not None and self.covers(key) and self.recovered.get(key) == item for key, item in writes.items()):
                return number
        return 0

    def explain(self):
        """Violations, when no prefix explains the items."""
        evidence, required = self.last_evidence(), self.required()
        found = []
        for key in sorted(self.allowed, key=repr):
            found += self.explain_key(key, evidence, required)
        found += self.torn[-1:]
        return found or [Violation(HOLE, f"{self.writer.name}: no prefix of its {len(self.steps)} steps explains its items")]

    def explain_key(self, key, evidence, required):
        item = self.recovered.get(key)
        wrote = [n for n, step in enumerate(self.steps, 1) if key in step.writes and step.writes[key] == item]
        kept = [n for n in wrote if self.steps[n - 1].outcome_at(self.may_at) != REFUSED]
        if not kept and item != self.writer.base.get(key):
            said = "a refused write" if wrote else "nobody's write"
            return [Violation(FOREIGN, f"{self.writer.name}: {key} is {item}: {said}")]
        last = kept[-1] if kept else 0
        found = []
        for number in range(last + 1, max(evidence, required) + 1):
            step = self.steps[number - 1]
            if key not in step.writes or step.writes[key] == item or step.outcome_at(self.may_at) != DONE:
                continue
            where = f"{self.writer.name}: step {number} of {len(self.steps)} is missing at {key}, which is {item}"
            if number <= required:
                found.append(Violation(LOST, f"{where}; it was acknowledged"))
            if number < evidence:
                found.append(Violation(HOLE, f"{where}; step {evidence} is there"))
        return found


def check(history, recovered, counters=None, *, must_at=None, may_at=None, covers=lambda key: True):
    """Violations of the promises.

    recovered: (table, key) -> item. counters: (table, key) -> value. must_at: the time until which answered steps must be
    there. may_at: the time until which steps were submitted. covers: false for keys that are not judged.
    """
    now = time.monotonic_ns()
    must_at = now if must_at is None else must_at
    may_at = now if may_at is None else may_at
    found = []
    walks = []
    for writer in history.writers.values():
        walk = Walk(writer, recovered, must_at, may_at, covers)
        walks.append(walk)
        if not walk.run():
            found += walk.explain()
    known = {key for walk in walks for key in walk.allowed}
    strangers = [key for key, item in recovered.items() if item is not None and key not in known and covers(key)]
    found += [Violation(FOREIGN, f"{key} is {recovered[key]}: nobody's key") for key in sorted(strangers, key=repr)]
    if not found:
        found += find_holes_across(walks, may_at)
        found += check_counters(history, walks, counters, may_at) if counters is not None else []
    return found


def find_holes_across(walks, may_at):
    """A step that was answered before another one was submitted is there if the other one is."""
    newest, of = max(((walk.steps[walk.matches[0] - 1].submitted, walk) for walk in walks if walk.matches[0] > 0),
                     default=(None, None), key=lambda pair: pair[0])
    if newest is None:
        return []
    found = []
    for walk in walks:
        for number, step in enumerate(walk.steps[walk.matches[-1]:], walk.matches[-1] + 1):
            if step.outcome_at(may_at) == DONE and step.answered < newest:
                found.append(Violation(HOLE, f"{walk.writer.name}: step {number} is missing; a later one of {of.writer.name} "
                                             "is there"))
    return found


def check_counters(history, walks, counters, may_at):
    low, high = collections.Counter(history.counter_base), collections.Counter(history.counter_base)
    for walk in walks:
        for number, step in enumerate(walk.steps):
            outcome = step.outcome_at(may_at)
            for counter in step.counters:
                low[counter] += outcome == DONE and number < walk.matches[0]
                high[counter] += outcome == UNKNOWN or (outcome == DONE and number < walk.matches[-1])
    found = []
    for counter in {*low, *counters}:
        value = counters.get(counter, 0)
        if not low[counter] <= value <= high[counter]:
            kind = LOST if value < low[counter] else TORN
            found.append(Violation(kind, f"counter {counter} is {value}, expected {low[counter]} to {high[counter]}"))
    return found
