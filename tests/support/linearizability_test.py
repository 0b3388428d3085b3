#!/usr/bin/python3
"""The check of linearizability: it finds what is wrong in histories made by hand, and agrees with a trial of all orders."""

import dataclasses
import itertools
import random
import unittest

from linearizability import ABSENT, IMPOSSIBLE, UNSEEN, Answer, Kind, Operation, Outcome, Search, check

LINEARIZABLE, VIOLATED, UNDECIDED = Answer.LINEARIZABLE, Answer.VIOLATED, Answer.UNDECIDED


def put(begun, ended, value, **more):
    return Operation(Kind.PUT, begun, ended, value, **more)


def delete(begun, ended, **more):
    return Operation(Kind.DELETE, begun, ended, **more)


def read(begun, ended, seen):
    return Operation(Kind.READ, begun, ended, before=seen)


def add(begun, ended, value, **more):
    return Operation(Kind.ADD, begun, ended, value, **more)


def swap(begun, ended, expected, value, **more):
    return Operation(Kind.SWAP, begun, ended, value, expected, **more)


def refused(begun, ended, expected, value, **more):
    return swap(begun, ended, expected, value, outcome=Outcome.REFUSED, **more)


def unknown(operation):
    return dataclasses.replace(operation, ended=0, outcome=Outcome.UNKNOWN, before=UNSEEN, after=UNSEEN)


class HandMadeHistories(unittest.TestCase):
    def expect(self, answer, *history):
        for order in (history, reversed(history)):
            verdict = check(order)
            self.assertIs(verdict.answer, answer, verdict.show())

    def test_operations_one_after_the_other(self):
        self.expect(LINEARIZABLE)
        self.expect(
            LINEARIZABLE,
            read(0, 1, ABSENT),
            put(2, 3, 10),
            read(4, 5, 10),
            swap(6, 7, 10, 20),
            refused(8, 9, 10, 30),
            add(10, 11, 5, after=25),
            delete(12, 13, before=25),
            refused(14, 15, 25, 1, before=ABSENT),
            swap(16, 17, ABSENT, 40),
            delete(18, 19),
            add(20, 21, 7, after=7),
        )

    def test_a_stale_read(self):
        self.expect(VIOLATED, put(0, 1, 1), put(2, 3, 2), read(4, 5, 1))
        self.expect(LINEARIZABLE, put(0, 1, 1), put(2, 5, 2), read(3, 4, 1))
        self.expect(VIOLATED, put(0, 1, 1), read(2, 3, ABSENT))
        self.expect(VIOLATED, put(0, 1, 1), delete(2, 3), read(4, 5, 1))

    def test_equal_times_overlap(self):
        self.expect(LINEARIZABLE, put(0, 1, 1), put(2, 3, 2), read(3, 4, 1))

    def test_a_value_that_nobody_wrote(self):
        self.expect(VIOLATED, put(0, 1, 1), read(2, 3, 7))
        self.expect(VIOLATED, read(0, 1, 1), put(2, 3, 1))

    def test_lost_updates(self):
        self.expect(VIOLATED, add(0, 3, 1, after=1), add(1, 4, 1, after=1))
        self.expect(LINEARIZABLE, add(0, 3, 1, after=2), add(1, 4, 1, after=1))
        self.expect(VIOLATED, add(0, 1, 1, after=1), add(2, 3, 1, after=2), read(4, 5, 1))
        self.expect(VIOLATED, put(0, 1, 5), add(2, 3, 1), read(4, 5, 5))
        self.expect(VIOLATED, put(0, 1, 5), put(2, 3, 6, before=ABSENT))

    def test_two_swaps_of_one_state(self):
        self.expect(VIOLATED, put(0, 1, 1), swap(2, 5, 1, 2), swap(3, 6, 1, 3))
        self.expect(LINEARIZABLE, put(0, 1, 1), swap(2, 5, 1, 2), refused(3, 6, 1, 3))
        self.expect(VIOLATED, swap(0, 3, ABSENT, 1), swap(1, 4, ABSENT, 2))

    def test_a_refusal_without_a_reason(self):
        self.expect(VIOLATED, put(0, 1, 1), refused(2, 3, 1, 2))
        self.expect(LINEARIZABLE, put(0, 1, 1), put(2, 5, 3), refused(3, 4, 1, 2))
        self.expect(VIOLATED, put(0, 1, 1), put(2, 5, 3), refused(3, 4, 1, 2, before=4))

    def test_reads_in_opposite_order(self):
        writes = put(0, 10, 1), put(0, 10, 2)
        self.expect(VIOLATED, *writes, read(1, 2, 1), read(3, 4, 2), read(5, 6, 1))
        # Two clients that see the writes in different orders.
        self.expect(VIOLATED, *writes, read(1, 3, 1), read(4, 6, 2), read(2, 3, 2), read(5, 6, 1))
        self.expect(LINEARIZABLE, *writes, read(1, 2, 1), read(3, 4, 2), read(5, 6, 2))

    def test_a_write_of_unknown_outcome_takes_effect_later_or_never(self):
        write = unknown(put(2, 3, 2))
        self.expect(LINEARIZABLE, put(0, 1, 1), write, read(4, 5, 1))
        self.expect(LINEARIZABLE, put(0, 1, 1), write, read(4, 5, 2))
        self.expect(LINEARIZABLE, put(0, 1, 1), write, read(4, 5, 1), read(6, 7, 2))
        self.expect(LINEARIZABLE, put(0, 1, 1), write, put(4, 5, 3), read(6, 7, 2))
        self.expect(VIOLATED, put(0, 1, 1), read(1, 1, 2), write)

    def test_a_write_of_unknown_outcome_that_was_seen_stays(self):
        write = unknown(put(2, 3, 2))
        self.expect(VIOLATED, put(0, 1, 1), write, read(4, 5, 2), read(6, 7, 1))
        self.expect(VIOLATED, put(0, 1, 1), write, read(4, 5, 2), put(6, 7, 3), read(8, 9, 2))
        self.expect(VIOLATED, unknown(add(0, 1, 1)), add(2, 3, 1, after=2), add(4, 5, 1, after=2))
        self.expect(VIOLATED, put(0, 1, 1), unknown(delete(2, 3)), read(4, 5, ABSENT), read(6, 7, 1))

    def test_updates_of_unknown_outcome(self):
        self.expect(LINEARIZABLE, unknown(add(0, 1, 1)), add(2, 3, 1, after=2), add(4, 5, 1, after=3))
        self.expect(LINEARIZABLE, unknown(add(0, 1, 1)), add(2, 3, 1, after=1), add(4, 5, 1, after=3))
        self.expect(LINEARIZABLE, put(0, 1, 1), unknown(swap(2, 3, 1, 2)), read(4, 5, 2))
        self.expect(VIOLATED, put(0, 1, 1), unknown(swap(2, 3, 9, 2)), read(4, 5, 2))
        # Refused because of one that was never answered.
        self.expect(LINEARIZABLE, put(0, 1, 1), unknown(swap(2, 3, 1, 2)), refused(4, 5, 1, 3))
        self.expect(LINEARIZABLE, unknown(put(0, 1, 1)), unknown(put(0, 1, 2)), read(2, 3, 2), read(4, 5, 1))

    def test_a_violation_is_shown_with_what_matters(self):
        history = [each for n in range(50) for each in (put(10 * n, 10 * n + 1, n), read(10 * n + 2, 10 * n + 3, n))]
        stale = read(505, 506, 48)
        later = [put(600 + n, 600 + n, 100 + n) for n in range(50)]
        verdict = check([*history, stale, *later])
        self.assertIs(verdict.answer, VIOLATED)
        self.assertIn(stale, verdict.witness)
        self.assertFalse({*verdict.witness} & {*later})
        self.assertEqual([o for o in verdict.witness if o.is_read], [stale])
        self.assertIn("read, before 48", verdict.show().splitlines()[-1])

    def test_a_search_that_is_too_long_is_undecided(self):
        # Each subset of the unknown updates has another sum, and none is the one that was read.
        history = [unknown(add(0, 1, 1 << n)) for n in range(20)] + [read(2, 3, 1 << 20)]
        verdict = check(history, 10_000)
        self.assertIs(verdict.answer, UNDECIDED)
        self.assertEqual(verdict.witness, ())
        self.assertIs(check(history[12:], 1_000_000).answer, VIOLATED)


class Serial:
    """A history of some clients, from an execution one after the other. Each operation takes effect within its interval."""

    def __init__(self, chance, operations, clients=4, unknown_part=0.05):
        self.chance, self.state, self.history = chance, ABSENT, []
        self.values = itertools.count(1)
        free = [0] * clients
        now = 0
        for _ in range(operations):
            now += chance.randint(1, 100)
            client = chance.randrange(clients)
            if free[client] >= now:
                continue
            begun = chance.randint(max(free[client] + 1, now - 200), now)
            ended = now + chance.randint(0, 200)
            operation = self.perform(begun, ended)
            free[client] = ended
            if chance.random() < unknown_part:
                operation = unknown(operation)
            if not (operation.is_unknown and operation.kind is Kind.READ):
                self.history.append(operation)

    def perform(self, begun, ended):
        kind, before, value = self.chance.choice(list(Kind)), self.state, 1000 * next(self.values)
        if kind is Kind.READ:
            return read(begun, ended, before)
        seen = self.chance.choice([UNSEEN, before])
        if kind is Kind.SWAP:
            expected = self.chance.choice([before, before, ABSENT, value + 1])
            outcome = Outcome.DONE if expected == before else Outcome.REFUSED
            operation = swap(begun, ended, expected, value, outcome=outcome, before=seen)
            self.state = operation.apply(before)
            return operation
        if kind is Kind.ADD:
            operation = add(begun, ended, 1)
            self.state = operation.apply(before)
            return dataclasses.replace(operation, after=self.state)
        operation = put(begun, ended, value, before=seen) if kind is Kind.PUT else delete(begun, ended, before=seen)
        self.state = operation.apply(before)
        return operation


def with_other_observation(chance, history):
    """The history, with one observation that is another state of it."""
    states = {o.after for o in history} | {o.before for o in history} | {o.value for o in history if o.kind is Kind.PUT}
    changes = [(n, name) for n, o in enumerate(history) for name in ("before", "after") if getattr(o, name) is not UNSEEN]
    number, name = chance.choice(changes)
    other = chance.choice(sorted((s for s in states - {UNSEEN, getattr(history[number], name)}), key=str))
    return [dataclasses.replace(o, **{name: other}) if n == number else o for n, o in enumerate(history)]


def has_order(history):
    """The same by a trial of all orders and all sets of unknown operations."""
    known = [o for o in history if not o.is_unknown]
    maybe = [o for o in history if o.is_unknown]
    for count in range(len(maybe) + 1):
        for done in itertools.combinations(maybe, count):
            for order in itertools.permutations(known + list(done)):
                if keeps_time(order) and explains(order):
                    return True
    return False


def keeps_time(order):
    return not any(not b.is_unknown and b.ended < a.begun for n, a in enumerate(order) for b in order[n + 1 :])


def explains(order):
    state = ABSENT
    for operation in order:
        state = operation.apply(state)
        if state is IMPOSSIBLE:
            return False
    return True


class RandomHistories(unittest.TestCase):
    def test_serial_executions_are_linearizable(self):
        for seed in range(60):
            chance = random.Random(seed)
            history = Serial(chance, 200).history
            chance.shuffle(history)
            verdict = check(history)
            self.assertIs(verdict.answer, LINEARIZABLE, f"seed {seed}\n{verdict.show()}")

    def test_other_observations_are_mostly_found(self):
        answers = []
        for seed in range(100):
            chance = random.Random(seed)
            history = with_other_observation(chance, Serial(chance, 120, unknown_part=0.02).history)
            answers.append(Search(history).run())
        # A few states were possible, too.
        self.assertGreaterEqual(answers.count(VIOLATED), 85)
        self.assertEqual(answers.count(UNDECIDED), 0)

    def test_a_lost_write_is_found(self):
        for seed in range(60):
            chance = random.Random(seed)
            serial = Serial(chance, 100)
            last = max(o.ended for o in serial.history)
            self.assertIs(check([*serial.history, read(last + 1, last + 2, serial.state)]).answer, LINEARIZABLE)
            puts = [o for o in serial.history if o.kind is Kind.PUT and not o.is_unknown]
            replaced = [p for p in puts if any(p.ended < other.begun for other in puts)]
            stale = read(last + 1, last + 2, chance.choice(replaced).value)
            self.assertIs(check([*serial.history, stale]).answer, VIOLATED, f"seed {seed}")

    def test_small_histories_as_by_a_trial_of_all_orders(self):
        answers = set()
        for seed in range(1500):
            chance = random.Random(seed)
            history = []
            for _ in range(chance.randint(2, 5)):
                begun = chance.randint(0, 12)
                history.append(self.any_operation(chance, begun, begun + chance.randint(0, 6)))
            wanted = LINEARIZABLE if has_order(history) else VIOLATED
            self.assertIs(Search(history).run(), wanted, f"seed {seed}: {[str(o) for o in history]}")
            answers.add((wanted, any(o.is_unknown for o in history)))
        self.assertEqual(len(answers), 4)

    def any_operation(self, chance, begun, ended):
        """An operation with an outcome and observations that may well be impossible."""
        states = (ABSENT, 1, 2, 3)
        kind = chance.choice(list(Kind))
        if kind is Kind.READ:
            return read(begun, ended, chance.choice(states))
        before, after = chance.choice((UNSEEN, UNSEEN, *states)), chance.choice((UNSEEN, UNSEEN, 1, 2, 3))
        made = {
            Kind.PUT: lambda: put(begun, ended, chance.randint(1, 3), before=before),
            Kind.DELETE: lambda: delete(begun, ended, before=before),
            Kind.ADD: lambda: add(begun, ended, 1, after=after),
            Kind.SWAP: lambda: swap(
                begun,
                ended,
                chance.choice(states),
                chance.randint(1, 3),
                outcome=chance.choice([Outcome.DONE, Outcome.REFUSED]),
            ),
        }[kind]()
        return unknown(made) if chance.random() < 0.25 else made


if __name__ == "__main__":
    unittest.main()
