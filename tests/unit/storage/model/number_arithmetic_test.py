#!/usr/bin/python3
"""Compares the sums and differences of model::Number with those of Python's decimal module.

Makes random pairs, lets number_calculator compute them, and compares. The seed is printed; ARMATURE_TEST_SEED repeats a
run.
"""

import argparse
import decimal
import os
import random
import subprocess
import sys

PAIRS = 60_000
DIGITS_MAX = 38
EXPONENT_MIN = -130
EXPONENT_MAX = 125
REFUSAL = "Number overflow. Attempting to store a number with magnitude larger than supported range"

# Wide enough for any sum without rounding. Otherwise the trap of Inexact fires.
EXACT = decimal.Context(prec=400, Emin=-1000, Emax=1000, traps=[decimal.Inexact, decimal.InvalidOperation])


def random_number(rng, near=None):
    """A random Decimal in range. `near`: a number of similar magnitude, so that digits overlap and cancel out."""
    count = rng.choice((1, 2, rng.randint(1, DIGITS_MAX), DIGITS_MAX))
    kind = rng.randrange(4)
    if kind == 0:
        digits = "9" * count
    elif kind == 1:
        digits = "1" + "0" * (count - 1)
    else:
        digits = str(rng.randint(1, 9)) + "".join(rng.choice("0123456789") for _ in range(count - 1))
    if near is not None and not near.is_zero():
        exponent = near.adjusted() + rng.choice((0, 0, 0, 1, -1, 2, -2, rng.randint(-40, 40)))
        if rng.randrange(3) == 0:
            # The same leading digits: the difference is far smaller than both.
            same = "".join(map(str, near.as_tuple().digits))[: rng.randint(1, DIGITS_MAX)]
            digits = (same + digits)[:DIGITS_MAX]
            exponent = near.adjusted()
    else:
        exponent = rng.choice((EXPONENT_MIN, EXPONENT_MAX, 0, rng.randint(EXPONENT_MIN, EXPONENT_MAX)))
    exponent = max(EXPONENT_MIN, min(EXPONENT_MAX, exponent))
    number = decimal.Decimal((rng.randrange(2), tuple(map(int, digits)), exponent - len(digits) + 1))
    return decimal.Decimal(0) if rng.randrange(100) == 0 else number


def expected(value):
    if value.is_zero():
        return "0"
    digits = "".join(map(str, value.as_tuple().digits)).strip("0")
    if len(digits) > DIGITS_MAX or not EXPONENT_MIN <= value.adjusted() <= EXPONENT_MAX:
        return REFUSAL
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--calculator", required=True)
    calculator = parser.parse_args().calculator

    seed = int(os.environ.get("ARMATURE_TEST_SEED", random.SystemRandom().getrandbits(32)))
    print(f"seed {seed}; set ARMATURE_TEST_SEED to repeat")
    rng = random.Random(seed)
    questions = []
    answers = []
    for _ in range(PAIRS):
        a = random_number(rng)
        b = random_number(rng, near=a if rng.randrange(3) else None)
        sign = rng.choice("+-")
        questions.append(f"{a:E} {sign} {b:E}")
        answers.append(expected(EXACT.add(a, b) if sign == "+" else EXACT.subtract(a, b)))

    run = subprocess.run([calculator], input="\n".join(questions), capture_output=True, text=True, check=True)
    got = run.stdout.splitlines()
    wrong = [i for i in range(PAIRS) if i >= len(got) or got[i] != answers[i]]
    for i in wrong[:10]:
        print(f"{questions[i]}: got {got[i] if i < len(got) else 'nothing'}, expected {answers[i]}")
    refused = answers.count(REFUSAL)
    print(f"{PAIRS} pairs, {refused} of them refused, {answers.count('0')} zero, {len(wrong)} wrong")
    # Both results must be frequent, or the pairs are badly chosen.
    well_chosen = PAIRS // 10 < refused < PAIRS * 9 // 10
    return 0 if not wrong and len(got) == PAIRS and well_chosen else 1


if __name__ == "__main__":
    sys.exit(main())
