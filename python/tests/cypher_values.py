"""What values, operators and functions of openCypher are, written once more in plain Python.

It is the other side of a comparison: nothing of it calls hexgraph. Null is None.
"""

import collections
import functools
import math
import re
import statistics
from fractions import Fraction

import numpy as np

LEAST, MOST = -(2**63), 2**63 - 1


class Fault(Exception):  # noqa: N818 - the expression has no value
    """The expression has no value, such as 1 / 0."""


class Unsure(Exception):  # noqa: N818 - as above
    """What openCypher does not say: such rows are not compared."""


def integer(value):
    """Return an integer of 64 bits."""
    if not LEAST <= value <= MOST:
        raise Fault
    return value


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_nan(value):
    return isinstance(value, float) and math.isnan(value)


# Logic of three values.


def both(one, other):
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def either(one, other):
    return negated(both(negated(one), negated(other)))


def negated(value):
    return None if value is None else not value


def one_of_two(one, other):
    return None if one is None or other is None else one != other


def equal(one, other):
    if one is None or other is None:
        return None
    if is_number(one) and is_number(other):
        return one == other
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        if len(one) != len(other):
            return False
        return functools.reduce(both, map(equal, one, other), True)
    return one == other


def compared(one, other):
    """Return -1, 0 or 1, None where there is no order, and NaN for a comparison with NaN."""
    if one is None or other is None:
        return None
    if is_number(one) and is_number(other):
        return math.nan if is_nan(one) or is_nan(other) else (one > other) - (one < other)
    if type(one) is not type(other):
        return None
    if isinstance(one, list):
        for left, right in zip(one, other, strict=False):
            order = compared(left, right)
            if order != 0:
                return order
        return compared(len(one), len(other))
    return (one > other) - (one < other)


def ordered(test):
    def comparison(one, other):
        order = compared(one, other)
        return None if order is None else test(order)

    return comparison


def contained(value, values):
    if values is None:
        return None
    return functools.reduce(either, (equal(value, it) for it in values), False)


COMPARISONS = {
    "=": equal,
    "<>": lambda one, other: negated(equal(one, other)),
    "<": ordered(lambda order: order < 0),
    "<=": ordered(lambda order: order <= 0),
    ">": ordered(lambda order: order > 0),
    ">=": ordered(lambda order: order >= 0),
}


def identity(value):
    """Return a key that is the same for values that DISTINCT and groups do not tell apart."""
    if is_number(value):
        return "number", "nan" if is_nan(value) else value
    if isinstance(value, list):
        return "list", tuple(map(identity, value))
    return type(value).__name__, value


RANKS = {list: 0, str: 1, bool: 2, int: 3, float: 3, type(None): 4}


def position(one, other):
    """Return the order of two values in ORDER BY, of any types."""
    if RANKS[type(one)] != RANKS[type(other)]:
        return RANKS[type(one)] - RANKS[type(other)]
    if one is None:
        return 0
    if isinstance(one, list):
        orders = (position(*pair) for pair in zip(one, other, strict=False))
        return next((order for order in orders if order), len(one) - len(other))
    if is_nan(one) or is_nan(other):
        return is_nan(one) - is_nan(other)
    return (one > other) - (one < other)


SORTED = functools.cmp_to_key(position)

# Arithmetic.


def nullable(function):
    """Return a function that is null where an argument is."""
    return lambda *values: None if any(it is None for it in values) else function(*values)


def arithmetic(of_integers, of_floats):
    def operator(one, other):
        if is_integer(one) and is_integer(other):
            return integer(of_integers(one, other))
        with np.errstate(all="ignore"):
            return float(of_floats(np.float64(one), np.float64(other)))

    return nullable(operator)


def quotient(one, other):
    if other == 0:
        raise Fault
    size = abs(one) // abs(other)
    return size if (one < 0) == (other < 0) else -size


def rest(one, other):
    return one - other * quotient(one, other)


def power(one, other):
    is_odd = float(other) % 2 == 1
    try:
        return math.pow(one, other)
    except OverflowError:
        return -math.inf if one < 0 and is_odd else math.inf
    except ValueError:
        if one == 0:
            return math.copysign(math.inf, one) if is_odd else math.inf
        return math.nan


def plus(one, other):
    if isinstance(one, list) or isinstance(other, list):
        one, other = (it if isinstance(it, list) else [it] for it in (one, other))
        return one + other
    if isinstance(one, str) or isinstance(other, str):
        return text_of(one) + text_of(other)
    return SUM(one, other)


SUM = arithmetic(lambda one, other: one + other, np.add)
OPERATORS = {
    "+": nullable(plus),
    "-": arithmetic(lambda one, other: one - other, np.subtract),
    "*": arithmetic(lambda one, other: one * other, np.multiply),
    "/": arithmetic(quotient, np.divide),
    "%": arithmetic(rest, np.fmod),
    "^": nullable(power),
}


@nullable
def minus(value):
    return integer(-value) if is_integer(value) else -value


# Lists and texts.


@nullable
def element(values, at):
    return values[at] if -len(values) <= at < len(values) else None


@nullable
def sliced(values, start, end):
    start, end = (max(it + len(values), 0) if it < 0 else it for it in (start, end))
    return values[start:end]


def natural(value):
    if value < 0:
        raise Fault
    return value


def substring(text, start, length=MOST):
    return text[natural(start) : start + natural(length)]


def split(text, separator):
    if not separator:
        raise Unsure
    return text.split(separator)


def numbers(start, end, step=1):
    if step == 0:
        raise Fault
    return list(range(start, end + (1 if step > 0 else -1), step))


def text_of(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        # Java, Rust and Python write other exponents.
        if not 1e-3 <= abs(value) < 1e7:
            raise Unsure
        return repr(value)
    return str(value)


FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def float_of(value):
    if not isinstance(value, str):
        return float(value)
    if value != value.strip():
        raise Unsure
    return float(value) if FLOAT.fullmatch(value) else None


def integer_of(value):
    if isinstance(value, str) and re.fullmatch("[+-]?[0-9]+", value):
        return int(value) if LEAST <= int(value) <= MOST else None
    if isinstance(value, str):
        value = float_of(value)
    if isinstance(value, float) and not abs(value) < 2**63:
        raise Unsure
    return None if value is None else int(value)


def boolean_of(value):
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower())
    return bool(value)


def by_numpy(function):
    def result(value):
        with np.errstate(all="ignore"):
            return float(function(np.float64(value)))

    return result


def rounded(value):
    value = float(value)
    return float(math.floor(Fraction(value) + Fraction(1, 2))) if math.isfinite(value) else value


def sign(value):
    if is_nan(value):
        raise Unsure
    return (value > 0) - (value < 0)


def or_null(kinds, function):
    """Return a conversion that is null for values of other kinds."""
    return lambda value: function(value) if type(value) in kinds else None


TEXTUAL = {str, int, float, bool}

FUNCTIONS = [
    ("toUpper", "s", "s", str.upper),
    ("toLower", "s", "s", str.lower),
    ("trim", "s", "s", str.strip),
    ("lTrim", "s", "s", str.lstrip),
    ("rTrim", "s", "s", str.rstrip),
    ("replace", "sss", "s", str.replace),
    ("split", "ss", "S", split),
    ("substring", "sk", "s", substring),
    ("substring", "skk", "s", substring),
    ("left", "sk", "s", lambda text, count: text[: natural(count)]),
    ("right", "sk", "s", lambda text, count: text[len(text) - min(natural(count), len(text)) :]),
    ("reverse", "s", "s", lambda text: text[::-1]),
    ("size", "s", "i", len),
    ("char_length", "s", "i", len),
    ("byte_length", "s", "i", lambda text: len(text.encode())),
    ("isEmpty", "s", "b", lambda text: not text),
    ("abs", "i", "i", lambda value: integer(abs(value))),
    ("abs", "f", "f", abs),
    ("sign", "n", "i", sign),
    ("ceil", "n", "f", by_numpy(np.ceil)),
    ("floor", "n", "f", by_numpy(np.floor)),
    ("round", "n", "f", rounded),
    ("sqrt", "n", "f", by_numpy(np.sqrt)),
    ("exp", "n", "f", by_numpy(np.exp)),
    ("log", "n", "f", by_numpy(np.log)),
    ("log10", "n", "f", by_numpy(np.log10)),
    ("sin", "k", "f", by_numpy(np.sin)),
    ("cos", "k", "f", by_numpy(np.cos)),
    ("atan", "n", "f", by_numpy(np.arctan)),
    ("degrees", "n", "f", by_numpy(np.degrees)),
    ("radians", "n", "f", by_numpy(np.radians)),
    ("isNaN", "n", "b", is_nan),
    ("toInteger", "s", "i", integer_of),
    ("toInteger", "n", "i", integer_of),
    ("toInteger", "b", "i", integer_of),
    ("toFloat", "s", "f", float_of),
    ("toFloat", "n", "f", float_of),
    ("toString", "n", "s", text_of),
    ("toString", "b", "s", text_of),
    ("toString", "s", "s", text_of),
    ("toBoolean", "s", "b", boolean_of),
    ("toBoolean", "i", "b", boolean_of),
    ("toStringOrNull", "x", "s", or_null(TEXTUAL, text_of)),
    ("toIntegerOrNull", "x", "i", or_null(TEXTUAL, integer_of)),
    ("toFloatOrNull", "x", "f", or_null(TEXTUAL - {bool}, float_of)),
    ("toBooleanOrNull", "x", "b", or_null(TEXTUAL - {float}, boolean_of)),
    ("range", "kk", "L", numbers),
    ("range", "kkk", "L", numbers),
    ("size", "X", "i", len),
    ("isEmpty", "X", "b", lambda values: not values),
    ("head", "L", "i", lambda values: element(values, 0)),
    ("last", "S", "s", lambda values: element(values, -1)),
    ("tail", "L", "L", lambda values: values[1:]),
    ("tail", "X", "X", lambda values: values[1:]),
    ("reverse", "S", "S", lambda values: values[::-1]),
    ("reverse", "X", "X", lambda values: values[::-1]),
    ("STARTS WITH", "ss", "b", str.startswith),
    ("ENDS WITH", "ss", "b", str.endswith),
    ("CONTAINS", "ss", "b", lambda text, part: part in text),
    ("[]", "Lk", "i", element),
    ("[]", "Sk", "s", element),
    ("[]", "Xk", "x", element),
    ("[..]", "Lkk", "L", sliced),
    ("[..]", "Xkk", "X", sliced),
]
"""Functions and operators that are null where an argument is: the kinds of their arguments and of
their result, each a letter. s text, i integer, k small integer, f float, n number, b boolean,
L integers, S texts, X a list of anything, x anything."""


# Aggregates. Each gets the values that are not null.


def total(values):
    if all(map(is_integer, values)):
        partial = 0
        for value in values:
            partial += value
            if not LEAST <= partial <= MOST and LEAST <= sum(values) <= MOST:
                raise Unsure
        return integer(sum(values))
    return float(sum(map(float, values)))


def mean(values):
    return float(sum(map(Fraction, values)) / len(values)) if values else None


def deviation(function, least):
    def result(values):
        return float(function(list(map(Fraction, values)))) if len(values) >= least else 0.0

    return result


def percentile_between(values, part):
    if not values:
        return None
    values = sorted(map(Fraction, values))
    low = int(Fraction(part) * (len(values) - 1))
    weight = Fraction(part) * (len(values) - 1) - low
    high = min(low + 1, len(values) - 1)
    return float(values[low] * (1 - weight) + values[high] * weight)


def percentile_of(values, part):
    if not values:
        return None
    return sorted(values)[max(math.ceil(part * len(values)) - 1, 0)]


AGGREGATES = {
    "count": (len, "x"),
    "collect": (list, "x"),
    "min": (lambda values: min(values, key=SORTED, default=None), "x"),
    "max": (lambda values: max(values, key=SORTED, default=None), "x"),
    "sum": (total, "n"),
    "avg": (mean, "n"),
    "stDev": (deviation(statistics.stdev, 2), "n"),
    "stDevP": (deviation(statistics.pstdev, 1), "n"),
    "percentileCont": (percentile_between, "n"),
    "percentileDisc": (percentile_of, "n"),
}
"""The aggregates, with the kind of their argument."""


def distinct(values):
    """Return the first of the values that DISTINCT does not tell apart."""
    result = {}
    for value in values:
        result.setdefault(identity(value), value)
    return list(result.values())


def aggregated(name, values, is_distinct, *more):
    """Return an aggregate of values, some of which are null."""
    values = [value for value in values if value is not None]
    function, kind = AGGREGATES[name]
    # Sums of squares are beyond floats, and sums of infinities are no numbers.
    if kind == "n" and not all(value == 0 or 1e-100 < abs(value) < 1e100 for value in values):
        raise Unsure
    if is_distinct:
        values = distinct(values)
    return function(values, *more)


def quantified(word, tests):
    """Return whether `word` of the tests hold."""
    counts = collections.Counter(tests)
    if word == "single":
        if counts[True] > 1:
            return False
        return None if counts[None] else counts[True] == 1
    if word == "all":
        return functools.reduce(both, tests, True)
    result = functools.reduce(either, tests, False)
    return negated(result) if word == "none" else result
