"""Random expressions of openCypher: their text, and a function of Python that gives their value."""

import math
from typing import NamedTuple

import cypher_values as values
from cypher_values import COMPARISONS, OPERATORS, Fault, Unsure, identity, is_integer

OR, XOR, AND, NOT, COMPARE, TEST, ADD, MULTIPLY, POWER, SIGN, POSTFIX, ATOM = range(12)
"""How strongly operators bind, the weakest first."""

LEVELS = {"+": ADD, "-": ADD, "*": MULTIPLY, "/": MULTIPLY, "%": MULTIPLY, "^": POWER}
LOGIC = {"OR": OR, "XOR": XOR, "AND": AND}

TEXTS = ["", "a", "ab", "ba", "b", "aab", "É", "straße", "a,b,,c", " a ", "😀é", "12", "-7", "2.5"]
TEXTS += ["true", "FALSE", "12a", "1e2", "it's", "a\\b", '"']
INTEGERS = [0, 1, 2, 3, -1, -2, 7, 10, 100, 2**53 + 1, 2**63 - 1, -(2**63), 2**62, 3037000500]
FLOATS = [0.0, 0.5, 1.0, -1.5, 2.25, 3.0, -0.25, 1e3, 1e15, 1e300, -1e300, 2.0**53]
SPECIAL = [math.nan, math.inf, -math.inf]
SAMPLES = {"k": [0, 1, 2, 3, -1, -2], "s": TEXTS, "b": [True, False]}

ELEMENTS = {"L": "i", "S": "s", "X": "x"}
"""The kinds of the elements of lists."""

NAMES = {
    "i": "ij",
    "f": "fg",
    "s": "st",
    "b": "bc",
    "k": "kh",
    "L": "LM",
    "S": "SZ",
    "X": "XY",
    "x": "xy",
}
"""The variables of each kind: properties of a row."""


STORED = {kind: NAMES[kind] for kind in "ifsbk"}
"""The variables that can be properties of a node."""


class Expression(NamedTuple):
    """The text of an expression, how strongly it binds, and its value for variables."""

    text: str
    level: int
    run: object


def literal(value):
    """Return the text of a value."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return (
            "(0.0 / 0.0)" if math.isnan(value) else "(1.0 / 0.0)" if value > 0 else "(-1.0 / 0.0)"
        )
    if is_integer(value) and value >= 0 and value % 5 == 0:
        return hex(value)
    return repr(value)


class Maker:
    """Makes random expressions and random rows of variables."""

    def __init__(self, dice, names=NAMES, rows=("row",)):
        self.dice, self.names, self.rows = dice, names, rows
        self.parameters = {}
        self.scope = []
        self.counter = 0

    def chance(self, probability):
        return self.dice.random() < probability

    def value(self, kind, nulls=0.15):
        """Return a value of a kind, or null."""
        if self.chance(nulls):
            return None
        if kind in "nx":
            return self.value(self.dice.choice("if" if kind == "n" else "iifssbbLX"), 0)
        if kind in SAMPLES:
            return self.dice.choice(SAMPLES[kind])
        if kind == "f":
            return self.dice.choice(SPECIAL if self.chance(0.06) else FLOATS)
        if kind == "i":
            return self.dice.choice(INTEGERS if self.chance(0.5) else INTEGERS[:9])
        inside = ELEMENTS[kind]
        if inside == "x" and self.chance(0.3):
            # Texts, or numbers of both types: some of them are equal.
            inside = self.dice.choice("nsk")
        return [self.value(inside) for _ in range(self.dice.choice([0, 1, 2, 2, 3]))]

    def row(self):
        """Return the variables of a row, some of them null or absent."""
        return {
            name: self.value(kind)
            for kind, names in self.names.items()
            for name in names
            if self.chance(0.97)
        }

    def wrapped(self, expression, level):
        """Return the text of an operand, in brackets where it binds more weakly, or at random."""
        if expression.level < level or (expression.level < POSTFIX and self.chance(0.1)):
            return f"({expression.text})"
        return expression.text

    # Leaves

    def leaf(self, kind):
        variables = [name for name, of in self.scope if of == kind]
        if variables and self.chance(0.5):
            name = self.dice.choice(variables)
            return Expression(name, ATOM, lambda env: env[name])
        if self.chance(0.65) and kind in self.names:
            row, name = self.dice.choice(self.rows), self.dice.choice(self.names[kind])
            return Expression(f"{row}.{name}", POSTFIX, lambda env: env[row].get(name))
        value = self.value(kind, 0.08)
        if self.chance(0.2):
            name = f"p{len(self.parameters)}"
            self.parameters[name] = value
            return Expression(f"${name}", ATOM, lambda _: value)
        text = literal(value)
        return Expression(text, SIGN if text.startswith("-") else ATOM, lambda _: value)

    def make(self, kind, depth):
        """Return an expression of a kind."""
        if kind == "n":
            kind = self.dice.choice("if")
        if kind == "x" and self.chance(0.6):
            kind = self.dice.choice("ifsbLS")
        if depth <= 0 or self.chance(0.12):
            return self.leaf(kind)
        choices = [self.call, self.call, self.chosen, self.leaf_or_coalesce]
        match kind:
            case "i" | "f":
                choices += [self.arithmetic] * 5 + [self.signed, self.reduced]
            case "b":
                choices += [self.logic] * 3 + [self.negation, self.comparison, self.comparison]
                choices += [self.chain, self.contained, self.null_test, self.quantified]
            case "s":
                choices += [self.joined] * 2
            case "L" | "S" | "X":
                choices += [self.list_of, self.joined, self.comprehension, self.comprehension]
            case "k":
                choices = [self.leaf_of, self.small]
        return self.dice.choice(choices)(kind, depth - 1)

    def leaf_of(self, kind, _):
        return self.leaf(kind)

    # Operators

    def infix(self, operator, level, operands, function):
        """Return an operator between two operands, which binds to the left."""
        one, other = operands
        text = f"{self.wrapped(one, level)} {operator} {self.wrapped(other, level + 1)}"
        return Expression(text, level, lambda env: function(one.run(env), other.run(env)))

    def arithmetic(self, kind, depth):
        if kind == "i":
            operator, kinds = self.dice.choice("+-*/%"), "ii"
        else:
            operator, kinds = self.dice.choice("+-*/%^"), self.dice.choice(["ff", "if", "fi"])
        operands = [self.make(of, depth) for of in kinds]
        return self.infix(operator, LEVELS[operator], operands, OPERATORS[operator])

    def small(self, _, depth):
        operands = [self.make("k", depth), Expression("3", ATOM, lambda _: 3)]
        return self.infix("%", MULTIPLY, operands, OPERATORS["%"])

    def signed(self, kind, depth):
        one = self.make(kind, depth)
        text = f"-{self.wrapped(one, POSTFIX)}"
        return Expression(text, SIGN, lambda env: values.minus(one.run(env)))

    def joined(self, kind, depth):
        kinds = [kind, kind]
        if kind == "s" and self.chance(0.3):
            kinds[self.chance(0.5)] = "k"
        elif kind == "L" and self.chance(0.3):
            kinds[self.chance(0.5)] = "i"
        return self.infix("+", ADD, [self.make(of, depth) for of in kinds], OPERATORS["+"])

    def logic(self, _, depth):
        operator = self.dice.choice(list(LOGIC))
        one, other = self.make("b", depth), self.make("b", depth)
        if operator == "XOR":
            return self.infix(operator, XOR, [one, other], values.one_of_two)
        function = {"AND": values.both, "OR": values.either}[operator]

        def run(env):
            return decided(function, [outcome(it, env) for it in (one, other)])

        level = LOGIC[operator]
        text = f"{self.wrapped(one, level)} {operator} {self.wrapped(other, level + 1)}"
        return Expression(text, level, run)

    def negation(self, _, depth):
        one = self.make("b", depth)
        text = f"NOT {self.wrapped(one, NOT)}"
        return Expression(text, NOT, lambda env: values.negated(one.run(env)))

    def comparison(self, _, depth):
        operator = self.dice.choice(list(COMPARISONS))
        kinds = self.dice.choice(["nn", "nn", "ss", "bb", "LL", "XX", "xx"])
        one, other = (self.make(kind, depth) for kind in kinds)
        text = f"{self.wrapped(one, TEST)} {operator} {self.wrapped(other, TEST)}"
        function = COMPARISONS[operator]
        return Expression(text, COMPARE, lambda env: function(one.run(env), other.run(env)))

    def chain(self, _, depth):
        kind = self.dice.choice("ns")
        operands = [self.make(kind, depth) for _ in range(3)]
        operators = [self.dice.choice(["<", "<=", ">", ">=", "="]) for _ in range(2)]
        parts = [self.wrapped(it, TEST) for it in operands]
        text = f"{parts[0]} {operators[0]} {parts[1]} {operators[1]} {parts[2]}"

        def run(env):
            results = [outcome(it, env) for it in operands]
            pairs = zip(operators, results, results[1:], strict=False)
            tests = [decided(COMPARISONS[it], [one, other], True) for it, one, other in pairs]
            return decided(values.both, tests)

        return Expression(text, COMPARE, run)

    def contained(self, _, depth):
        kinds = self.dice.choice(["iL", "fL", "sS", "xX", "LX"])
        one, other = (self.make(kind, depth) for kind in kinds)
        text = f"{self.wrapped(one, ADD)} IN {self.wrapped(other, ADD)}"
        return Expression(text, TEST, lambda env: values.contained(one.run(env), other.run(env)))

    def null_test(self, _, depth):
        one, word = self.make("x", depth), self.dice.choice(["", "NOT "])
        text = f"{self.wrapped(one, ADD)} IS {word}NULL"
        return Expression(text, TEST, lambda env: (one.run(env) is None) != bool(word))

    # Functions

    def call(self, kind, depth):
        rows = [row for row in values.FUNCTIONS if row[2] == kind]
        if not rows:
            return self.leaf(kind)
        name, kinds, _, function = self.dice.choice(rows)
        operands = [self.make(of, depth) for of in kinds]
        function = values.nullable(function)
        run = lambda env: function(*[it.run(env) for it in operands])  # noqa: E731
        if name[0] == "[":
            inside = "..".join(it.text for it in operands[1:])
            return Expression(f"{self.wrapped(operands[0], POSTFIX)}[{inside}]", POSTFIX, run)
        if name[0].isupper():
            one, other = (self.wrapped(it, ADD) for it in operands)
            return Expression(f"{one} {name} {other}", TEST, run)
        return Expression(f"{name}({', '.join(it.text for it in operands)})", ATOM, run)

    def leaf_or_coalesce(self, kind, depth):
        if kind == "b" and self.chance(0.5):
            return self.leaf(kind)
        operands = [self.make(kind, depth) for _ in range(self.dice.choice([2, 3]))]
        if len(operands) == 2 and self.chance(0.3):
            one, other = operands

            def run(env):
                first, second = one.run(env), other.run(env)
                return None if values.equal(first, second) else first

            return Expression(f"nullIf({one.text}, {other.text})", ATOM, run)
        text = f"coalesce({', '.join(it.text for it in operands)})"

        def first(env):
            # No operand behind the first value is evaluated.
            results = (it.run(env) for it in operands)
            return next((it for it in results if it is not None), None)

        return Expression(text, ATOM, first)

    def chosen(self, kind, depth):
        """Return a CASE, with a subject or without."""
        subject = self.make("x", depth) if self.chance(0.4) else None
        tests = [self.make("x" if subject else "b", depth - 1) for _ in range(2)]
        results = [self.make(kind, depth) for _ in range(2)]
        rest = self.make(kind, depth) if self.chance(0.7) else None
        text = f"CASE {subject.text} " if subject else "CASE "
        for test, result in zip(tests, results, strict=True):
            text += f"WHEN {test.text} THEN {result.text} "
        text += f"ELSE {rest.text} END" if rest else "END"

        def run(env):
            of = subject.run(env) if subject else None
            for test, result in zip(tests, results, strict=True):
                value = test.run(env)
                if subject:
                    value = values.equal(of, value)
                if value is True:
                    return result.run(env)
            return rest.run(env) if rest else None

        return Expression(text, ATOM, run)

    # Lists

    def list_of(self, kind, depth):
        items = [self.make(ELEMENTS[kind], depth) for _ in range(self.dice.choice([1, 2, 3]))]
        text = f"[{', '.join(it.text for it in items)}]"
        return Expression(text, ATOM, lambda env: [it.run(env) for it in items])

    def variable(self, kind):
        self.counter += 1
        self.scope.append((f"v{self.counter}", kind))
        return f"v{self.counter}"

    def comprehension(self, kind, depth):
        of = self.dice.choice("LSX")
        source = self.make(of, depth)
        name = self.variable(ELEMENTS[of])
        test = self.make("b", depth) if self.chance(0.6) else None
        result = self.make(ELEMENTS[kind], depth) if of != kind or self.chance(0.6) else None
        self.scope.pop()
        where = f" WHERE {test.text}" if test else ""
        mapped = f" | {result.text}" if result else ""

        def run(env):
            items = source.run(env)
            if items is None:
                return None
            inner = [{**env, name: item} for item in items]
            if test:
                inner = [it for it in inner if test.run(it) is True]
            return [result.run(it) if result else it[name] for it in inner]

        return Expression(f"[{name} IN {source.text}{where}{mapped}]", ATOM, run)

    def quantified(self, _, depth):
        word, of = self.dice.choice(["any", "all", "none", "single"]), self.dice.choice("LSX")
        source = self.make(of, depth)
        name = self.variable(ELEMENTS[of])
        test = self.make("b", depth)
        self.scope.pop()

        def run(env):
            items = source.run(env)
            if items is None:
                return None
            results = [outcome(test, {**env, name: item}) for item in items]
            faults = [it for it in results if isinstance(it, Exception)]
            if faults:
                # It may be decided before the element without a value.
                raise faults[0] if len(faults) == len(results) else Unsure
            return values.quantified(word, results)

        return Expression(f"{word}({name} IN {source.text} WHERE {test.text})", ATOM, run)

    def reduced(self, kind, depth):
        of = self.dice.choice("LSX")
        start, source = self.make(kind, depth), self.make(of, depth)
        name = self.variable(ELEMENTS[of])
        carried = self.variable(kind)
        body = self.make(kind, depth)
        self.scope.pop()
        self.scope.pop()

        def run(env):
            result, items = start.run(env), source.run(env)
            if items is None:
                return None
            for item in items:
                result = body.run({**env, name: item, carried: result})
            return result

        text = f"reduce({carried} = {start.text}, {name} IN {source.text} | {body.text})"
        return Expression(text, ATOM, run)


def outcome(expression, env):
    """Return a value, or why there is none."""
    try:
        return expression.run(env)
    except (Fault, Unsure) as fault:
        return fault


def decided(function, results, is_fault=False):
    """Return the value of a function, whose arguments may have no value.

    Whether such an operand of AND and OR matters is not defined where the other one decides.
    """
    faults = [it for it in results if isinstance(it, Exception)]
    if not faults:
        return function(*results)
    if is_fault:
        return faults[0]
    raise faults[0] if len(faults) == len(results) else Unsure


def same(one, other):
    """Whether two values are the same, floats up to their last digits."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float):
        return identity(one) == identity(other) or math.isclose(one, other, rel_tol=1e-12)
    return one == other
