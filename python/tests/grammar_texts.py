"""Reads the texts of `db.grammar` in both formats, and samples and recognises sentences of them."""

import random
import re
from dataclasses import dataclass, field

LONG = 700
"""Sentences that get longer are ended as soon as the grammar allows."""

LETTERS = "abz AZ09.,:;-_#@$%&*+=/<>(){}[]|~^`'?!äßéλ中😀"

# An expression is a tuple of its kind and its parts: ("text", t), ("set", negated, ranges),
# ("rule", name), ("all", parts), ("any", parts), ("times", part, least, most or None).

TOKEN = re.compile(
    r"""(?P<blank>[ \t]+) | (?P<text>"(?:[^"\\]|\\.)*") | (?P<regex>/(?:[^/\\]|\\.)+/)
      | (?P<set>\[\^?(?:[^\]\\]|\\.)*\]) | (?P<name>[A-Za-z][A-Za-z0-9_-]*)
      | (?P<times>[?*] | \{\d+(?:,\d*)?\} | ~\d+\.\.\d+) | (?P<mark>[()|])""",
    re.VERBOSE,
)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def unescaped(body):
    def one(match):
        if match[1].startswith("x"):
            return chr(int(match[1][1:], 16))
        return ESCAPES.get(match[1], match[1])

    return re.sub(r"\\(x[0-9a-f]{2}|.)", one, body)


def to_set(text):
    """A set of characters, from its text in square brackets."""
    body = text[1:-1]
    negated = body.startswith("^")
    letters = [
        unescaped(it) for it in re.findall(r"\\x[0-9a-f]{2}|\\.|-|[^\\]", body[negated:], re.DOTALL)
    ]
    written = re.findall(r"\\x[0-9a-f]{2}|\\.|-|[^\\]", body[negated:], re.DOTALL)
    ranges, index = [], 0
    while index < len(letters):
        if index + 2 < len(letters) and written[index + 1] == "-":
            ranges.append((letters[index], letters[index + 2]))
            index += 3
        else:
            ranges.append((letters[index], letters[index]))
            index += 1
    return ("set", negated, tuple(ranges))


def times_of(text):
    """The least and the greatest number of repetitions that an operator means."""
    if text in "?*":
        return (0, 1 if text == "?" else None)
    numbers = re.findall(r"\d+", text)
    if "," not in text and ".." not in text:
        return (int(numbers[0]), int(numbers[0]))
    return (int(numbers[0]), int(numbers[1]) if len(numbers) > 1 else None)


class Parser:
    """A body of a rule, or of a regular expression as far as these grammars have them."""

    def __init__(self, tokens):
        self.tokens, self.at = tokens, 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else (None, "")

    def any(self):
        parts = [self.all()]
        while self.peek() == ("mark", "|"):
            self.at += 1
            parts.append(self.all())
        return parts[0] if len(parts) == 1 else ("any", tuple(parts))

    def all(self):
        parts = []
        while self.peek()[0] is not None and self.peek() not in (("mark", "|"), ("mark", ")")):
            parts.append(self.one())
        return parts[0] if len(parts) == 1 else ("all", tuple(parts))

    def one(self):
        kind, text = self.peek()
        self.at += 1
        if (kind, text) == ("mark", "("):
            part = self.any()
            assert self.peek() == ("mark", ")"), self.tokens[self.at :]
            self.at += 1
        elif kind == "text":
            part = ("text", unescaped(text[1:-1]))
        elif kind == "regex":
            part = Parser(regex_tokens(text[1:-1])).any()
        elif kind == "set":
            part = to_set(text)
        elif kind == "name":
            part = ("rule", text)
        else:
            raise AssertionError(f"{kind} {text!r}")
        while self.peek()[0] == "times":
            part = ("times", part, *times_of(self.peek()[1]))
            self.at += 1
        return part


def regex_tokens(text):
    tokens = []
    pattern = r"(\(\?:)|(\[\^?(?:[^\]\\]|\\.)*\])|([?*]|\{\d+(?:,\d*)?\})|([()|])|(\\.|.)"
    for group, cls, times, mark, letter in re.findall(pattern, text, re.DOTALL):
        if group or mark:
            tokens.append(("mark", mark or "("))
        elif cls:
            tokens.append(("set", cls))
        elif times:
            tokens.append(("times", times))
        else:
            tokens.append(("text", f'"{letter}"'))
    return tokens


def tokens_of(text):
    tokens, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        assert match, text[at : at + 60]
        at = match.end()
        if match.lastgroup != "blank":
            tokens.append((match.lastgroup, match[0]))
    return tokens


def rules_of(text):
    """The rules of a text in either format, by name; the first one is that of sentences."""
    separator = " ::= " if " ::= " in text else ": "
    rules, name = {}, None
    for line in text.split("\n"):
        if line.startswith(("#", "//")) or not line:
            continue
        if line.startswith(" "):
            rules[name] += line
        else:
            name, body = line.split(separator, 1)
            assert name not in rules, name
            rules[name] = body
    return {name: Parser(tokens_of(body)).any() for name, body in rules.items()}


@dataclass
class Sampler:
    """Samples sentences of rules."""

    rules: dict
    rng: random.Random
    shortest: dict = field(default_factory=dict)

    def __post_init__(self):
        before = None
        while before != self.shortest:
            before = dict(self.shortest)
            self.shortest = {name: self.length(body) for name, body in self.rules.items()}

    def length(self, expr):
        match expr:
            case ("text", text):
                return len(text)
            case ("set", *_):
                return 1
            case ("rule", name):
                return self.shortest.get(name, float("inf"))
            case ("all", parts):
                return sum(map(self.length, parts))
            case ("any", parts):
                return min(map(self.length, parts))
            case ("times", part, least, _):
                return least and least * self.length(part)

    def sentence(self):
        out = []
        self.size = 0
        self.expand(next(iter(self.rules.values())), out)
        return "".join(out)

    def expand(self, expr, out):
        is_long = self.size > LONG
        match expr:
            case ("text", text):
                out.append(text)
                self.size += len(text)
            case ("set", negated, ranges):
                out.append(self.letter(negated, ranges))
                self.size += 1
            case ("rule", name):
                self.expand(self.rules[name], out)
            case ("all", parts):
                for part in parts:
                    self.expand(part, out)
            case ("any", parts):
                self.expand(min(parts, key=self.length) if is_long else self.rng.choice(parts), out)
            case ("times", part, least, most):
                top = least if is_long else min(least + 5, least + 5 if most is None else most)
                for _ in range(self.rng.randint(least, top)):
                    self.expand(part, out)

    def letter(self, negated, ranges):
        if negated:
            free = [it for it in LETTERS if not any(low <= it <= high for low, high in ranges)]
            return self.rng.choice(free)
        low, high = self.rng.choice(ranges)
        return chr(self.rng.randint(ord(low), ord(high)))


class Recogniser:
    """Recognises sentences: for each rule and start it has the set of all stops."""

    def __init__(self, rules):
        self.rules = rules

    def accepts(self, text):
        self.text, self.memo = text, {}
        first = next(iter(self.rules))
        return len(text) in self.stops(("rule", first), 0)

    def stops(self, expr, at):  # noqa: PLR0911
        match expr:
            case ("text", text):
                return {at + len(text)} if self.text.startswith(text, at) else set()
            case ("set", negated, ranges):
                if at == len(self.text):
                    return set()
                inside = any(low <= self.text[at] <= high for low, high in ranges)
                return {at + 1} if inside != negated else set()
            case ("rule", name):
                if (name, at) not in self.memo:
                    self.memo[name, at] = self.stops(self.rules[name], at)
                return self.memo[name, at]
            case ("all", parts):
                endpoints = {at}
                for part in parts:
                    endpoints = {it for end in endpoints for it in self.stops(part, end)}
                return endpoints
            case ("any", parts):
                return {end for part in parts for end in self.stops(part, at)}
            case ("times", part, least, most):
                endpoints, new, count = ({at} if least == 0 else set()), {at}, 0
                while new and (most is None or count < most):
                    count += 1
                    new = {it for end in new for it in self.stops(part, end)}
                    if least <= count:
                        new -= endpoints
                        endpoints |= new
                return endpoints
