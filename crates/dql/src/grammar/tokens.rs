//! The tokens of the grammar of queries for language models: blanks, words that may be written in
//! several forms, and the literals of each type.

use super::rules::CharSet;
use super::rules::{Expr, Grammar, alt, chars, one_of, optional, repeated, seq, text};

/// The greatest number of characters of a string.
const STRING_MAX: u32 = 128;

/// The greatest indentation of a line.
const INDENT_MAX: u32 = 24;

/// The tokens of a grammar.
pub(super) struct Tokens {
    /// A blank, or a line break with an indentation.
    pub space: Expr,
    /// A comma.
    pub comma: Expr,
    /// `and` between two conditions.
    pub and: Expr,
    /// `or` between two conditions.
    pub or: Expr,
    /// `not` before a condition.
    pub not: Expr,
    /// A string.
    pub string: Expr,
    /// An int.
    pub int: Expr,
    /// A float.
    pub float: Expr,
    /// A truth value.
    pub boolean: Expr,
    /// An instant, from a year to a second.
    pub time: Expr,
    /// A number from 1 to 9999.
    pub number: Expr,
    /// A number from 2 to 9999.
    pub several: Expr,
    /// A digit from 1 to 9.
    pub digit: Expr,
    /// A uid.
    pub uid: Expr,
    /// The language of a function.
    pub lang: Expr,
    /// The languages of a field.
    pub langs: Expr,
    /// A point.
    pub point: Expr,
    /// A regular expression with three literal characters in a row.
    pub pattern: Expr,
}

fn digits(least: u32, most: u32) -> Expr {
    repeated(chars(&[('0', '9')]), least, most)
}

/// A number without leading zeros, of at most `most` digits.
fn natural(most: u32) -> Expr {
    alt![text("0"), seq![chars(&[('1', '9')]), digits(0, most - 1)]]
}

impl Tokens {
    pub(super) fn new(grammar: &mut Grammar) -> Tokens {
        let minus = || optional(text("-"));
        let upper_or_lower = |word: &str| one_of(&[word, &word.to_uppercase()]);
        let indent = repeated(chars(&[(' ', ' '), ('\t', '\t')]), 0, INDENT_MAX);
        let fraction = optional(seq![text("."), digits(1, 9)]);
        let quote = || text("\"");
        Tokens {
            space: grammar.token("space", alt![text(" "), seq![text("\n"), indent]]),
            comma: grammar.token("comma", seq![text(","), optional(text(" "))]),
            and: grammar.token("and", seq![text(" "), upper_or_lower("and"), text(" ")]),
            or: grammar.token("or", seq![text(" "), upper_or_lower("or"), text(" ")]),
            not: grammar.token("not", seq![upper_or_lower("not"), text(" ")]),
            string: grammar
                .token("string", seq![quote(), repeated(letter(), 0, STRING_MAX), quote()]),
            int: grammar.token("int", seq![minus(), natural(18)]),
            float: grammar.token("float", seq![minus(), natural(12), fraction]),
            boolean: grammar.token("bool", one_of(&["true", "false"])),
            time: grammar.token("time", seq![quote(), time(), quote()]),
            number: grammar.token("number", seq![chars(&[('1', '9')]), digits(0, 3)]),
            several: grammar.token(
                "several",
                // The longer one first: some readers choose the first alternative that matches.
                alt![seq![chars(&[('1', '9')]), digits(1, 3)], chars(&[('2', '9')])],
            ),
            digit: grammar.token("digit", chars(&[('1', '9')])),
            uid: grammar.token("uid", uid()),
            lang: grammar.token("lang", seq![text("@"), alt![language(), text(".")]]),
            langs: grammar.token("langs", langs()),
            point: grammar.token("point", point()),
            pattern: grammar.token("pattern", pattern()),
        }
    }
}

/// A character of a string: any but quotes, backslashes and control characters, or an escape.
fn letter() -> Expr {
    let ranges = vec![('"', '"'), ('\\', '\\'), ('\0', '\u{1f}'), ('\u{7f}', '\u{9f}')];
    let plain = Expr::Chars(CharSet { ranges, is_negated: true });
    let escaped = chars(&[('"', '"'), ('\\', '\\'), ('n', 'n'), ('t', 't')]);
    alt![plain, seq![text("\\"), escaped]]
}

fn uid() -> Expr {
    let hex = chars(&[('0', '9'), ('a', 'f')]);
    seq![text("0x"), chars(&[('1', '9'), ('a', 'f')]), repeated(hex, 0, 15)]
}

fn language() -> Expr {
    repeated(chars(&[('a', 'z')]), 2, 2)
}

fn langs() -> Expr {
    let more = repeated(seq![text(":"), language()], 0, 2);
    seq![text("@"), alt![text("."), seq![language(), more, optional(text(":."))]]]
}

/// A year, a day of a year, or an instant of a day. The 29th of February is left out, since not
/// every year has one.
fn time() -> Expr {
    let two = |first: &[(char, char)]| seq![chars(first), digits(1, 1)];
    let day = alt![
        seq![text("0"), chars(&[('1', '9')])],
        seq![text("1"), digits(1, 1)],
        seq![text("2"), chars(&[('0', '8')])],
    ];
    let last = alt![
        seq![
            one_of(&["01", "03", "05", "07", "08", "10", "12"]),
            text("-"),
            one_of(&["29", "30", "31"])
        ],
        seq![one_of(&["04", "06", "09", "11"]), text("-"), one_of(&["29", "30"])],
    ];
    let month = alt![seq![text("0"), chars(&[('1', '9')])], seq![text("1"), chars(&[('0', '2')])],];
    let date = alt![seq![month, text("-"), day], last];
    let hour = alt![two(&[('0', '1')]), seq![text("2"), chars(&[('0', '3')])]];
    let sixty = || two(&[('0', '5')]);
    let clock = seq![text("T"), hour, text(":"), sixty(), text(":"), sixty(), text("Z")];
    let year = seq![chars(&[('1', '2')]), digits(3, 3)];
    seq![year, optional(seq![text("-"), date, optional(clock)])]
}

/// A longitude and a latitude.
fn point() -> Expr {
    let fraction = || optional(seq![text("."), digits(1, 7)]);
    let degrees = |most: Expr| seq![optional(text("-")), most, fraction()];
    let longitude = alt![natural(2), seq![text("1"), chars(&[('0', '7')]), digits(1, 1)]];
    let latitude = alt![chars(&[('0', '9')]), seq![chars(&[('1', '8')]), digits(1, 1)]];
    seq![
        text("["),
        degrees(longitude),
        text(","),
        optional(text(" ")),
        degrees(latitude),
        text("]")
    ]
}

/// Runs of literal characters with anything between them. Each run has three characters at least,
/// as an index of trigrams needs.
fn pattern() -> Expr {
    let run = || repeated(chars(&[('a', 'z'), ('A', 'Z'), ('0', '9'), (' ', ' ')]), 3, 24);
    let more = repeated(seq![text(".*"), run()], 0, 3);
    seq![
        text("/"),
        optional(text("^")),
        run(),
        more,
        optional(text("$")),
        text("/"),
        optional(text("i"))
    ]
}
