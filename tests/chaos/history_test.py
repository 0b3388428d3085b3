#!/usr/bin/python3
"""The checker finds each kind of violation in doctored histories, and none in sound ones."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from history import DONE, FOREIGN, HOLE, LOST, REFUSED, TORN, UNKNOWN, History, Step, check  # noqa: E402

A, B, C = ("t", "a"), ("t", "b"), ("u", "c")
COUNTER = ("t", "counter")


class HistoryTest(unittest.TestCase):
    def setUp(self):
        self.history = History()
        self.clock = 0

    def step(self, writer, writes, outcome=DONE, **members):
        """A step that is submitted at one tick of the clock and answered at the next."""
        step = self.history.writer(writer).add(Step(writes, **members))
        self.clock += 2
        step.submitted, step.outcome = self.clock, outcome
        step.answered = None if outcome == UNKNOWN else self.clock + 1
        return step

    def kinds(self, recovered, counters=None, must_at=None, may_at=None):
        end = self.clock + 1
        found = check(self.history, recovered, counters, must_at=end if must_at is None else must_at,
                      may_at=end if may_at is None else may_at)
        return sorted({violation.kind for violation in found})

    def test_what_was_acknowledged_is_there(self):
        self.step("w", {A: 1})
        self.step("w", {A: 2})
        self.step("w", {B: 3})
        self.assertEqual(self.kinds({A: 2, B: 3}), [])

    def test_a_lost_write_is_found(self):
        self.step("w", {A: 1})
        self.step("w", {A: 2})
        self.assertEqual(self.kinds({A: 1}), [LOST])
        self.assertEqual(self.kinds({}), [LOST])

    def test_a_lost_delete_is_found(self):
        self.step("w", {A: 1})
        self.step("w", {A: None})
        self.assertEqual(self.kinds({A: 1}), [LOST])
        self.assertEqual(self.kinds({}), [])

    def test_a_write_in_flight_is_there_or_not(self):
        self.step("w", {A: 1})
        self.step("w", {A: 2}, UNKNOWN)
        self.assertEqual(self.kinds({A: 1}), [])
        self.assertEqual(self.kinds({A: 2}), [])
        self.assertEqual(self.kinds({A: 3}), [FOREIGN])

    def test_a_refused_write_is_not_there(self):
        self.step("w", {A: 1})
        self.step("w", {A: 2}, REFUSED)
        self.assertEqual(self.kinds({A: 1}), [])
        self.assertEqual(self.kinds({A: 2}), [FOREIGN])

    def test_a_hole_is_found_before_a_write_that_is_there(self):
        for number in range(1, 6):
            self.step("w", {("t", number): number})
        whole = {("t", number): number for number in range(1, 6)}
        self.assertEqual(self.kinds({**whole, ("t", 3): None}), [HOLE, LOST])
        # Nothing had to be durable: a prefix is right, a hole is not.
        for length in range(6):
            prefix = {("t", number): number for number in range(1, length + 1)}
            self.assertEqual(self.kinds(prefix, must_at=0), [])
        self.assertEqual(self.kinds({**whole, ("t", 3): None}, must_at=0), [HOLE])
        self.assertEqual(self.kinds({("t", 5): 5}, must_at=0), [HOLE])

    def test_a_prefix_has_all_that_was_durable(self):
        for number in range(1, 6):
            self.step("w", {("t", number): number})
        third = self.history.writer("w").steps[2].answered
        self.assertEqual(self.kinds({("t", n): n for n in (1, 2, 3)}, must_at=third), [])
        self.assertEqual(self.kinds({("t", n): n for n in (1, 2)}, must_at=third), [LOST])

    def test_a_hole_across_writers_is_found(self):
        self.step("v", {A: 1})
        self.step("w", {B: 2})
        self.assertEqual(self.kinds({A: 1}, must_at=0), [])
        self.assertEqual(self.kinds({B: 2}, must_at=0), [HOLE])
        # Both were in flight at the same time.
        first, second = (self.history.writer(name).steps[0] for name in "vw")
        second.submitted, first.answered = 3, 4
        self.assertEqual(self.kinds({B: 2}, must_at=0), [])

    def test_a_torn_transaction_is_found(self):
        self.step("w", {A: 1, C: 1})
        for outcome, kinds in ((UNKNOWN, [TORN]), (DONE, [LOST, TORN])):
            with self.subTest(outcome):
                self.history.writer("w").steps[1:] = []
                self.step("w", {A: 2, C: 2}, outcome)
                self.assertEqual(self.kinds({A: 2, C: 2}), [])
                self.assertEqual(self.kinds({A: 2, C: 1}), kinds)
                self.assertEqual(self.kinds({A: 2, C: 1}, must_at=0), [TORN])
        self.assertEqual(self.kinds({A: 1, C: 1}, must_at=0), [])

    def test_a_transaction_with_a_delete_is_whole(self):
        self.step("w", {A: 1})
        self.step("w", {A: 2, C: None}, UNKNOWN)
        self.assertEqual(self.kinds({A: 1}), [])  # the deleted item was absent before
        self.history.writer("w").steps[1:] = []
        self.step("w", {C: 5})
        self.step("w", {A: 2, C: None}, UNKNOWN)
        for recovered, kinds in (({A: 1, C: 5}, []), ({A: 2}, []), ({A: 1}, [TORN]), ({A: 2, C: 5}, [TORN])):
            self.assertEqual(self.kinds(recovered), kinds)
        self.assertEqual(self.kinds({A: 1}, must_at=0), [])

    def test_a_transaction_that_was_partly_overwritten_is_whole(self):
        self.step("w", {A: 1, C: 1})
        self.step("w", {A: 2})
        self.step("w", {A: 3}, UNKNOWN)
        self.assertEqual(self.kinds({A: 2, C: 1}), [])
        self.assertEqual(self.kinds({A: 3, C: 1}), [])
        self.assertEqual(self.kinds({A: 3}), [HOLE, LOST])

    def test_a_batch_may_be_there_in_part(self):
        self.step("w", {A: 1, B: 1})
        self.step("w", {A: 2, B: 2}, UNKNOWN, atomic=False)
        for recovered in ({A: 1, B: 1}, {A: 2, B: 1}, {A: 1, B: 2}, {A: 2, B: 2}):
            self.assertEqual(self.kinds(recovered), [])
        self.history.writer("w").steps[-1].answer(DONE)
        self.history.writer("w").steps[-1].answered = self.clock + 1
        self.assertEqual(self.kinds({A: 2, B: 1}), [LOST])
        self.assertEqual(self.kinds({A: 2, B: 1}, must_at=0), [])

    def test_the_past_is_judged_by_what_was_known_then(self):
        first = self.step("w", {A: 1})
        second = self.step("w", {A: 2})
        self.assertEqual(self.kinds({A: 1}, must_at=first.answered, may_at=first.answered), [])
        self.assertEqual(self.kinds({A: 2}, must_at=first.answered, may_at=first.answered), [FOREIGN])
        for recovered in ({A: 1}, {A: 2}):
            self.assertEqual(self.kinds(recovered, must_at=second.submitted, may_at=second.submitted), [])

    def test_shared_counters_count_each_step_once(self):
        self.step("v", {A: 1}, counters=(COUNTER,))
        self.step("w", {B: 2}, UNKNOWN, counters=(COUNTER,))
        for value, kinds in ((0, [LOST]), (1, []), (2, []), (3, [TORN])):
            recovered = {A: 1, B: 2} if value else {A: 1}
            self.assertEqual(self.kinds(recovered, {COUNTER: value}), kinds)

    def test_nobodys_items_are_found(self):
        self.step("w", {A: 1})
        self.assertEqual(self.kinds({A: 1, B: 9}), [FOREIGN])

    def test_settled_steps_are_the_base_of_the_next_ones(self):
        self.step("w", {A: 1})
        self.step("w", {A: 2}, UNKNOWN)
        self.history.settle({A: 2}, {COUNTER: 7})
        self.assertEqual(self.kinds({A: 2}, {COUNTER: 7}), [])
        self.assertEqual(self.kinds({A: 1}), [FOREIGN])
        self.assertEqual(self.kinds({A: 2}, {COUNTER: 6}), [LOST])
        self.step("w", {A: None})
        self.assertEqual(self.kinds({}, {COUNTER: 7}), [])

    def test_steps_without_an_answer_are_settled_by_what_is_there(self):
        self.step("w", {A: 1})
        self.step("w", {A: 2, B: None}, UNKNOWN)
        self.step("w", {A: 3, C: 3}, UNKNOWN, atomic=False)
        self.history.settle({A: 1, C: 3}, {}, forget=False)
        self.assertEqual([step.outcome for step in self.history.writer("w").steps], [DONE, REFUSED, DONE])
        self.assertEqual(self.history.writer("w").steps[2].writes, {C: 3})


if __name__ == "__main__":
    unittest.main()
