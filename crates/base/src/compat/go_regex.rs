//! Regular expressions as Go writes and reads them, converted to those of the `regex` crate. They
//! differ in small things: what `\w`, `\d`, `\s` and `\b` mean beyond ASCII, how classes are
//! written, which escapes there are, and what may be repeated.

use super::go_regex_error::{GoRegexError, GoRegexFault};
use std::fmt::Write;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{
    self, Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind,
};

/// The most often a chunk of a pattern may be repeated.
const REPEAT_MAX: u32 = 1000;

/// How deep groups may be nested.
const NESTING_MAX: u32 = 250;

/// The names of classes of ASCII characters.
const POSIX_CLASSES: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
    "space", "upper", "word", "xdigit",
];

/// The longest pattern, in bytes.
const PATTERN_MAX: usize = 1 << 16;

/// Reads a pattern: `^` and `$` match at line boundaries, and nothing matches a line feed. `flags`
/// may be empty or `i`, to ignore case.
///
/// # Errors
///
/// [`GoRegexError`] for a pattern that Go refuses, and for other flags.
pub(crate) fn parse(pattern: &str, flags: &str) -> Result<Hir, GoRegexError> {
    let ignore_case = match flags {
        "" => false,
        "i" => true,
        other => return Err(GoRegexError::Modifier { modifier: other.to_owned() }),
    };
    Ok(without_line_feed(&read(pattern, ignore_case, true)?))
}

/// Reads a pattern as Go does without flags: `^` and `$` match at the start and the end of the
/// text.
pub(crate) fn parse_plain(pattern: &str) -> Result<Hir, GoRegexError> {
    read(pattern, false, false)
}

fn read(pattern: &str, ignore_case: bool, multi_line: bool) -> Result<Hir, GoRegexError> {
    if PATTERN_MAX < pattern.len() {
        return Err(GoRegexError::TooLong);
    }
    let translated = Translator::new(pattern).translate()?;
    ParserBuilder::new()
        .multi_line(multi_line)
        .case_insensitive(ignore_case)
        .nest_limit(NESTING_MAX)
        .build()
        .parse(&translated)
        .map_err(|error| describe(pattern, &error))
}

fn fault(fault: GoRegexFault, chunk: &str) -> GoRegexError {
    GoRegexError::Syntax { fault, chunk: chunk.to_owned() }
}

/// Converts an error of the other syntax into the one that Go has for it, where Go has one.
fn describe(pattern: &str, error: &regex_syntax::Error) -> GoRegexError {
    use regex_syntax::ast::ErrorKind;
    match error {
        regex_syntax::Error::Parse(error) => match error.kind() {
            ErrorKind::GroupUnclosed => fault(GoRegexFault::MissingParenthesis, pattern),
            ErrorKind::GroupUnopened => fault(GoRegexFault::UnexpectedParenthesis, pattern),
            ErrorKind::RepetitionMissing => fault(GoRegexFault::MissingRepeatArgument, pattern),
            ErrorKind::NestLimitExceeded(_) => fault(GoRegexFault::NestedTooDeep, pattern),
            other => fault(GoRegexFault::Other(other.to_string()), pattern),
        },
        regex_syntax::Error::Translate(error) => {
            fault(GoRegexFault::Other(error.kind().to_string()), pattern)
        }
        other => fault(GoRegexFault::Other(other.to_string()), pattern),
    }
}

/// Returns the same expression, but one that no line feed matches. It calls itself no deeper than
/// [`NESTING_MAX`], to which the parser has bounded the expression.
fn without_line_feed(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => Hir::fail(),
        HirKind::Literal(literal) => Hir::literal(literal.0.clone()),
        HirKind::Class(class) => Hir::class(class_without_line_feed(class)),
        HirKind::Look(look) => Hir::look(*look),
        HirKind::Repetition(repetition) => {
            let mut sub = without_line_feed(&repetition.sub);
            if matches!(sub.kind(), HirKind::Repetition(_)) {
                // Written out bare, the two operators would be read as one.
                sub = Hir::capture(hir::Capture { index: 1, name: None, sub: Box::new(sub) });
            }
            Hir::repetition(repetition.with(sub))
        }
        // Only whether there is a match counts, so groups do not matter.
        HirKind::Capture(capture) => without_line_feed(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(without_line_feed).collect()),
        HirKind::Alternation(parts) => {
            Hir::alternation(parts.iter().map(without_line_feed).collect())
        }
    }
}

fn class_without_line_feed(class: &Class) -> Class {
    let mut class = class.clone();
    match &mut class {
        Class::Unicode(class) => {
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
        }
        Class::Bytes(class) => {
            class.difference(&ClassBytes::new([ClassBytesRange::new(b'\n', b'\n')]));
        }
    }
    class
}

/// Rewrites one pattern, from left to right.
struct Translator<'a> {
    pattern: &'a str,
    at: usize,
    out: String,
    /// Whether what was written last is a repetition, which can't be repeated again.
    is_repeated: bool,
}

/// What an escape represents.
enum Escape {
    /// One character.
    One(char),
    /// A set, as the body of a class.
    Set(String),
}

impl<'a> Translator<'a> {
    fn new(pattern: &'a str) -> Translator<'a> {
        Translator { pattern, at: 0, out: String::new(), is_repeated: false }
    }

    fn rest(&self) -> &'a str {
        &self.pattern[self.at..]
    }

    fn next_char(&mut self) -> Option<char> {
        let character = self.rest().chars().next()?;
        self.at += character.len_utf8();
        Some(character)
    }

    fn skip(&mut self, prefix: &str) -> bool {
        let result = self.rest().starts_with(prefix);
        self.at += if result { prefix.len() } else { 0 };
        result
    }

    fn translate(mut self) -> Result<String, GoRegexError> {
        while let Some(character) = self.rest().chars().next() {
            if self.repetition(character)? {
                continue;
            }
            self.is_repeated = false;
            match character {
                '\\' => self.escape_outside_class()?,
                '[' => self.class()?,
                '(' => self.group()?,
                // To Go these are letters here; the other syntax has or may get a meaning for them.
                '{' | '}' | ']' | '#' | '&' | '~' | '-' => {
                    self.at += 1;
                    self.literal(character);
                }
                other => {
                    self.at += other.len_utf8();
                    self.out.push(other);
                }
            }
        }
        Ok(self.out)
    }

    fn literal(&mut self, character: char) {
        // Writing to a string does not fail.
        let _ = write!(self.out, r"\x{{{:X}}}", u32::from(character));
    }

    /// Copies a repetition operator, if there is one here.
    fn repetition(&mut self, character: char) -> Result<bool, GoRegexError> {
        let length = match character {
            '*' | '+' | '?' => 1,
            '{' => match self.counts()? {
                Some(length) => length,
                None => return Ok(false),
            },
            _ => return Ok(false),
        };
        let start = self.at;
        self.at += length;
        self.skip("?");
        let operator = &self.pattern[start..self.at];
        // Go refuses `a**`; the other syntax reads it as one repetition of another.
        if self.is_repeated {
            return Err(fault(GoRegexFault::NestedRepetition, operator));
        }
        self.out.push_str(operator);
        self.is_repeated = true;
        Ok(true)
    }

    /// The length of the `{n}`, `{n,}` or `{n,m}` here; `None` when the brace is only a brace.
    fn counts(&self) -> Result<Option<usize>, GoRegexError> {
        let rest = self.rest();
        let Some(close) = rest.find('}') else { return Ok(None) };
        let body = &rest[1..close];
        let (first, last) = body.split_once(',').unwrap_or((body, body));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !is_number(first) || !(last.is_empty() || is_number(last)) {
            return Ok(None);
        }
        let first = first.parse().unwrap_or(u32::MAX);
        let last = if last.is_empty() { first } else { last.parse().unwrap_or(u32::MAX) };
        if REPEAT_MAX < first || REPEAT_MAX < last || last < first {
            return Err(fault(GoRegexFault::RepeatCount, &rest[..=close]));
        }
        Ok(Some(close + 1))
    }

    /// Copies the opening of a group, which must be of a kind that Go has.
    fn group(&mut self) -> Result<(), GoRegexError> {
        let rest = self.rest();
        let Some(special) = rest.strip_prefix("(?") else {
            self.at += 1;
            self.out.push('(');
            return Ok(());
        };
        if let Some(named) = special.strip_prefix("P<").or_else(|| special.strip_prefix('<')) {
            let name = named.find('>').map_or("", |end| &named[..end]);
            if name.is_empty() || !name.chars().all(|it| it == '_' || it.is_alphanumeric()) {
                return Err(fault(GoRegexFault::NamedCapture, rest));
            }
            self.at += rest.len() - named.len() + name.len() + 1;
            // The name is of no use here, and may be one the other syntax refuses.
            self.out.push('(');
            return Ok(());
        }
        // Where the flags have no end, `?` represents them, which is no flag and is refused below.
        let flags = special.find([':', ')']).map_or("?", |end| &special[..end]);
        if !flags.chars().all(|flag| matches!(flag, 'i' | 'm' | 's' | 'U' | '-')) {
            let chunk: String = rest.chars().take(3).collect();
            return Err(fault(GoRegexFault::PerlSyntax, &chunk));
        }
        let length = 2 + flags.len() + 1;
        self.out.push_str(&rest[..length]);
        self.at += length;
        Ok(())
    }

    fn escape_outside_class(&mut self) -> Result<(), GoRegexError> {
        for (escape, meaning) in
            // Go's words are of ASCII.
            [(r"\b", r"(?-u:\b)"), (r"\B", r"(?-u:\B)"), (r"\A", r"\A"), (r"\z", r"\z")]
        {
            if self.skip(escape) {
                self.out.push_str(meaning);
                return Ok(());
            }
        }
        if self.skip(r"\Q") {
            let rest = self.rest();
            let (quoted, length) =
                rest.find(r"\E").map_or((rest, rest.len()), |end| (&rest[..end], end + 2));
            self.at += length;
            quoted.chars().for_each(|character| self.literal(character));
            return Ok(());
        }
        match self.escape()? {
            Escape::One(character) => self.literal(character),
            Escape::Set(set) => {
                self.out.push('[');
                self.out.push_str(&set);
                self.out.push(']');
            }
        }
        Ok(())
    }

    /// Reads an escape that may stand inside a class too.
    fn escape(&mut self) -> Result<Escape, GoRegexError> {
        let start = self.at;
        self.at += 1;
        let Some(character) = self.next_char() else {
            return Err(GoRegexError::TrailingBackslash);
        };
        Ok(match character {
            'a' => Escape::One('\x07'),
            'f' => Escape::One('\x0c'),
            't' => Escape::One('\t'),
            'n' => Escape::One('\n'),
            'r' => Escape::One('\r'),
            'v' => Escape::One('\x0b'),
            'd' => Escape::Set("0-9".to_owned()),
            'D' => Escape::Set("^0-9".to_owned()),
            's' => Escape::Set(r"\t\n\f\r\x20".to_owned()),
            'S' => Escape::Set(r"^\t\n\f\r\x20".to_owned()),
            'w' => Escape::Set("0-9A-Za-z_".to_owned()),
            'W' => Escape::Set("^0-9A-Za-z_".to_owned()),
            'x' => Escape::One(self.hexadecimal(start)?),
            '0'..='7' => Escape::One(self.octal(start, character)?),
            'p' | 'P' => Escape::Set(self.property(start, character == 'P')?),
            other if other.is_ascii() && !other.is_ascii_alphanumeric() => Escape::One(other),
            _ => return Err(fault(GoRegexFault::Escape, &self.pattern[start..self.at])),
        })
    }

    fn hexadecimal(&mut self, start: usize) -> Result<char, GoRegexError> {
        let braced = self.skip("{");
        let rest = self.rest();
        // Without the closing brace there are no digits, which is refused below.
        let length = if braced { rest.find('}').unwrap_or(0) } else { 2 };
        let code = rest
            .get(..length)
            .filter(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit()))
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .and_then(char::from_u32);
        self.at += length + usize::from(braced);
        // The end is beyond the pattern, or within a character, only if the digits are wrong.
        let chunk = self.pattern.get(start..self.at).unwrap_or_default();
        code.ok_or_else(|| fault(GoRegexFault::Escape, chunk))
    }

    /// Reads up to two more digits; one digit alone, unless it is 0, would be a back reference.
    fn octal(&mut self, start: usize, first: char) -> Result<char, GoRegexError> {
        let digits =
            self.rest().bytes().take(2).take_while(|digit| matches!(digit, b'0'..=b'7')).count();
        self.at += digits;
        let chunk = &self.pattern[start..self.at];
        if first != '0' && digits == 0 {
            return Err(fault(GoRegexFault::Escape, chunk));
        }
        let code = u32::from_str_radix(&chunk[1..], 8).ok().and_then(char::from_u32);
        code.ok_or_else(|| fault(GoRegexFault::Escape, chunk))
    }

    /// Reads the name of a Unicode property: one letter, or more in braces, perhaps after `^`.
    fn property(&mut self, start: usize, mut negated: bool) -> Result<String, GoRegexError> {
        let name = if self.skip("{") {
            negated ^= self.skip("^");
            let rest = self.rest();
            let end = rest.find('}');
            self.at += end.map_or(rest.len(), |end| end + 1);
            &rest[..end.unwrap_or(0)]
        } else {
            self.next_char()
                .map_or("", |letter| &self.pattern[self.at - letter.len_utf8()..self.at])
        };
        let is_name = !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_name {
            let chunk = &self.pattern[start..self.at];
            return Err(fault(GoRegexFault::ClassRange, chunk));
        }
        let letter = if negated { 'P' } else { 'p' };
        Ok(format!(r"\{letter}{{{name}}}"))
    }

    /// Rewrites a class in brackets. There are no classes within classes and no set operators.
    fn class(&mut self) -> Result<(), GoRegexError> {
        let start = self.at;
        self.at += 1;
        self.out.push('[');
        if self.skip("^") {
            self.out.push('^');
        }
        let mut is_first = true;
        // A `]` in the first position is a letter, and does not end the class.
        while is_first || !self.rest().starts_with(']') {
            is_first = false;
            if self.rest().is_empty() {
                return Err(fault(GoRegexFault::MissingBracket, &self.pattern[start..]));
            }
            self.class_item()?;
        }
        self.at += 1;
        self.out.push(']');
        Ok(())
    }

    fn class_item(&mut self) -> Result<(), GoRegexError> {
        let start = self.at;
        if self.rest().starts_with("[:")
            && let Some(end) = self.rest().find(":]")
        {
            self.at += end + 2;
            let body = &self.pattern[start + 2..self.at - 2];
            let name = body.strip_prefix('^').unwrap_or(body);
            let set = &self.pattern[start..self.at];
            if !POSIX_CLASSES.contains(&name) {
                return Err(fault(GoRegexFault::ClassRange, set));
            }
            self.out.push_str(set);
            return Ok(());
        }
        let first = match self.class_character()? {
            Escape::One(character) => character,
            Escape::Set(set) => {
                self.out.push('[');
                self.out.push_str(&set);
                self.out.push(']');
                return Ok(());
            }
        };
        self.literal(first);
        let rest = self.rest();
        // A `-` right before the `]` is a letter; one at the end of the pattern fails as a class
        // without a bracket.
        if rest.starts_with('-') && !rest.starts_with("-]") && 1 < rest.len() {
            self.at += 1;
            match self.class_character()? {
                Escape::One(last) if first <= last => {
                    self.out.push('-');
                    self.literal(last);
                }
                _ => {
                    let range = &self.pattern[start..self.at];
                    return Err(fault(GoRegexFault::ClassRange, range));
                }
            }
        }
        Ok(())
    }

    fn class_character(&mut self) -> Result<Escape, GoRegexError> {
        if self.rest().starts_with('\\') {
            return self.escape();
        }
        self.next_char()
            .map(Escape::One)
            .ok_or_else(|| fault(GoRegexFault::MissingBracket, self.pattern))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_go_reads_is_read() {
        for pattern in [
            "",
            "a|b",
            r"\Qa.b\E+",
            r"\pL\PN\p{Greek}\p{^Lu}",
            r"^\A\z$",
            r"[[:alpha:]x]",
            "[]a]",
            "[^]a]",
            "[a-]",
            "[-a]",
            "a{,2}",
            "{",
            "x{2,}y{1,3}z{2}?",
            r"\<\>\_\/",
            "(?i:a)(?s-i).",
            "(?P<n>a)(?<m>b)",
            r"\012\x41\x{1F600}",
            r"[\d\w.&&~~-]",
            r"[\]\[]",
            "(?:a*)*",
            "[a&&b]",
        ] {
            assert!(parse(pattern, "").is_ok(), "{pattern}: {:?}", parse(pattern, ""));
        }
    }

    #[test]
    fn what_go_refuses_is_refused() {
        for (pattern, message) in [
            ("(", "missing closing )"),
            (")", "unexpected )"),
            ("[a", "missing closing ]"),
            ("*", "missing argument to repetition operator"),
            ("a**", "invalid nested repetition operator"),
            ("a{1001}", "invalid repeat count"),
            (r"\1", "invalid escape sequence"),
            (r"\", "trailing backslash"),
            ("[b-a]", "invalid character class range"),
            ("(?=a)", "invalid or unsupported Perl syntax"),
            ("(?x)a", "invalid or unsupported Perl syntax"),
            (r"\p{Nope}", "Unicode property"),
        ] {
            let error = parse(pattern, "").expect_err(pattern).to_string();
            assert!(error.contains(message), "{pattern}: {error}");
        }
        assert_eq!(
            parse("a", "x").expect_err("flag").to_string(),
            "`x` is no modifier of a regular expression"
        );
    }
}
