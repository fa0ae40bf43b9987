//! What trigrams a text must have for a regular expression to match it, as described by Cox,
//! "Regular Expression Matching with a Trigram Index" (2012).

use crate::types::stack;
use std::collections::BTreeSet;

pub use regex::Regex;
use regex::RegexBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

use super::pattern_error::PatternError;
use super::trigram::{AND_MAX, TrigramQuery, pack};
use crate::compat::go_regex;

/// How large a compiled expression may be, in bytes.
const COMPILED_MAX: usize = 4 << 20;

impl TrigramQuery {
    fn and(self, other: TrigramQuery) -> TrigramQuery {
        use TrigramQuery::{And, Any, None};
        match (self, other) {
            (None, _) | (_, None) => None,
            (Any, other) | (other, Any) => other,
            (left, right) => {
                let mut all = Vec::new();
                for side in [left, right] {
                    match side {
                        And(parts) => all.extend(parts),
                        part => all.push(part),
                    }
                }
                all.sort_unstable();
                all.dedup();
                // With fewer conditions more texts get through, and none is lost: candidates are
                // matched in full afterwards.
                all.truncate(AND_MAX);
                one_or(all, And)
            }
        }
    }

    /// Either condition. Lists grow unsorted, so that many can be joined: `tidied` comes last.
    fn or(self, other: TrigramQuery) -> TrigramQuery {
        use TrigramQuery::{Any, None, Or};
        match (self, other) {
            (Any, _) | (_, Any) => Any,
            (None, other) | (other, None) => other,
            (Or(mut all), Or(parts)) => {
                all.extend(parts);
                Or(all)
            }
            (Or(mut all), part) | (part, Or(mut all)) => {
                all.push(part);
                Or(all)
            }
            (left, right) => Or(vec![left, right]),
        }
    }

    fn tidied(self) -> TrigramQuery {
        match self {
            TrigramQuery::Or(mut all) => {
                all.sort_unstable();
                all.dedup();
                one_or(all, TrigramQuery::Or)
            }
            other => other,
        }
    }
}

fn one_or(
    mut parts: Vec<TrigramQuery>,
    join: impl FnOnce(Vec<TrigramQuery>) -> TrigramQuery,
) -> TrigramQuery {
    match (parts.len(), parts.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            parts.extend(last);
            join(parts)
        }
    }
}

/// Compiles a pattern in Go's syntax. `^` and `$` match at line boundaries and nothing matches a
/// line feed.
///
/// # Errors
///
/// [`PatternError`] for bad syntax, for flags other than `i`, and for patterns that are too large.
pub fn compile(pattern: &str, flags: &str) -> Result<Regex, PatternError> {
    build(&go_regex::parse(pattern, flags)?)
}

/// Compiles a pattern in Go's syntax that means what it means to Go: `^` and `$` match at the start
/// and the end of the text, and a line feed is a character.
///
/// # Errors
///
/// As [`compile`].
pub fn compile_plain(pattern: &str) -> Result<Regex, PatternError> {
    build(&go_regex::parse_plain(pattern)?)
}

fn build(hir: &Hir) -> Result<Regex, PatternError> {
    // The text of an expression may nest deeper than the pattern did, which was read with at most
    // 250 levels: it is written with groups around its parts.
    let mut builder = RegexBuilder::new(&hir.to_string());
    builder.size_limit(COMPILED_MAX).dfa_size_limit(COMPILED_MAX).nest_limit(1000);
    stack::with_space(|| builder.build()).map_err(|_| PatternError::TooLarge)
}

/// Returns the trigrams a text must have for the pattern to match it. [`TrigramQuery::Any`] means
/// that the pattern is too wide for the index.
///
/// # Errors
///
/// As [`compile`], for bad syntax and flags.
pub fn trigram_query(pattern: &str, flags: &str) -> Result<TrigramQuery, PatternError> {
    Ok(required_trigrams(&go_regex::parse(pattern, flags)?))
}

/// As [`trigram_query`], of a pattern whose classes, such as `\d`, are those of Unicode. `None` for
/// bad syntax.
pub fn unicode_trigram_query(pattern: &str) -> Option<TrigramQuery> {
    stack::with_space(|| Some(required_trigrams(&regex_syntax::parse(pattern).ok()?)))
}

fn required_trigrams(hir: &Hir) -> TrigramQuery {
    let mut result = Outcome::of(hir);
    result.settle(true);
    result.require_exact();
    result.required
}

type Strings = BTreeSet<Vec<u8>>;

/// How many strings are retained as the only ones to match.
const EXACT_MAX: usize = 7;

/// The maximal number of prefixes or suffixes that are retained.
const AFFIXES_MAX: usize = 20;

/// The largest class of characters that is expanded.
const CLASS_MAX: usize = 100;

/// How many copies of a repeated chunk are looked at.
const COPIES_MAX: u32 = 8;

/// What all texts that match a part of the expression have in common.
#[derive(Debug, Clone)]
struct Outcome {
    can_be_empty: bool,
    /// All of the texts, when they are few.
    exact: Option<Strings>,
    /// How they begin, when not all texts are listed.
    prefixes: Strings,
    /// How they end, likewise.
    suffixes: Strings,
    /// The trigrams they must have, besides those of `exact`.
    required: TrigramQuery,
}

impl Outcome {
    fn of(hir: &Hir) -> Outcome {
        let mut result = match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Outcome::exactly([Vec::new()]),
            HirKind::Literal(literal) => Outcome::exactly([literal.0.to_vec()]),
            HirKind::Class(class) => Outcome::of_class(class),
            HirKind::Capture(capture) => Outcome::of(&capture.sub),
            HirKind::Repetition(repetition) => {
                Outcome::of(&repetition.sub).repeated(repetition.min, repetition.max)
            }
            HirKind::Concat(parts) => parts
                .iter()
                .map(Outcome::of)
                .reduce(Outcome::then)
                .unwrap_or_else(Outcome::anything),
            HirKind::Alternation(parts) => {
                let result = parts.iter().map(Outcome::of).reduce(Outcome::either);
                let result = result.unwrap_or_else(Outcome::anything);
                Outcome { required: result.required.tidied(), ..result }
            }
        };
        result.settle(false);
        result
    }

    fn exactly(strings: impl IntoIterator<Item = Vec<u8>>) -> Outcome {
        let exact: Strings = strings.into_iter().collect();
        Outcome {
            can_be_empty: exact.contains(&Vec::new()),
            exact: Some(exact),
            prefixes: Strings::new(),
            suffixes: Strings::new(),
            required: TrigramQuery::Any,
        }
    }

    /// Any text at all.
    fn anything() -> Outcome {
        Outcome {
            can_be_empty: true,
            exact: None,
            prefixes: [Vec::new()].into(),
            suffixes: [Vec::new()].into(),
            required: TrigramQuery::Any,
        }
    }

    fn nothing() -> Outcome {
        Outcome { required: TrigramQuery::None, ..Outcome::exactly([]) }
    }

    fn of_class(class: &Class) -> Outcome {
        let anything = Outcome { can_be_empty: false, ..Outcome::anything() };
        let class = match class {
            Class::Unicode(class) => class,
            // The class that nothing is of is written so.
            Class::Bytes(class) if class.ranges().is_empty() => return Outcome::nothing(),
            Class::Bytes(_) => return anything,
        };
        let count: usize = class.ranges().iter().map(|range| range.len()).sum();
        match count {
            0 => Outcome::nothing(),
            1..=CLASS_MAX => Outcome::exactly(
                class
                    .ranges()
                    .iter()
                    .flat_map(|range| range.start()..=range.end())
                    .map(|character| character.to_string().into_bytes()),
            ),
            _ => anything,
        }
    }

    fn repeated(self, min: u32, max: Option<u32>) -> Outcome {
        if max == Some(0) {
            return Outcome::exactly([Vec::new()]);
        }
        let once = self;
        let mut result = match (min, max) {
            (0, Some(1)) => return once.either(Outcome::exactly([Vec::new()])),
            (0, _) => return Outcome::anything(),
            (_, _) if max == Some(min) && min <= COPIES_MAX => once.clone(),
            // More may follow, so the last copy only restricts prefixes and suffixes.
            _ => once.clone().at_least_once(),
        };
        for _ in 1..min.min(COPIES_MAX) {
            result = once.clone().then(result);
            result.settle(false);
        }
        result
    }

    fn at_least_once(mut self) -> Outcome {
        if let Some(exact) = self.exact.take() {
            self.required = self.required.and(any_of(&exact));
            self.prefixes = exact.clone();
            self.suffixes = exact;
        }
        self
    }

    fn then(self, next: Outcome) -> Outcome {
        let required = self.required.and(next.required);
        let can_be_empty = self.can_be_empty && next.can_be_empty;
        let mut result = Outcome { can_be_empty, required, ..Outcome::exactly([]) };
        match (self.exact, next.exact) {
            (Some(left), Some(right)) => result.exact = Some(cross(&left, &right)),
            (left, right) => {
                if left.is_none()
                    && right.is_none()
                    // Where neither side is exact, trigrams may lie across the joint.
                    && shortest(&self.suffixes) + shortest(&next.prefixes) >= 3
                {
                    let across = any_of(&cross(&self.suffixes, &next.prefixes));
                    result.required = result.required.and(across);
                }
                result.prefixes = match &left {
                    Some(left) => cross(left, right.as_ref().unwrap_or(&next.prefixes)),
                    // Nothing of the left need be there: the entire then begins as the right does.
                    None if self.can_be_empty => {
                        &self.prefixes | right.as_ref().unwrap_or(&next.prefixes)
                    }
                    None => self.prefixes,
                };
                result.suffixes = match &right {
                    Some(right) => cross(left.as_ref().unwrap_or(&self.suffixes), right),
                    None if next.can_be_empty => {
                        &next.suffixes | left.as_ref().unwrap_or(&self.suffixes)
                    }
                    None => next.suffixes,
                };
                result.exact = None;
            }
        }
        result.settle(false);
        result
    }

    fn either(mut self, mut other: Outcome) -> Outcome {
        let can_be_empty = self.can_be_empty || other.can_be_empty;
        let mut result = Outcome { can_be_empty, ..Outcome::exactly([]) };
        if let (Some(left), Some(right)) = (&self.exact, &other.exact) {
            result.exact = Some(left | right);
        } else {
            result.exact = None;
            for side in [&mut self, &mut other] {
                // Strings that stop being all that there is are lost, so what they require is noted
                // first.
                side.require_exact();
                if let Some(exact) = side.exact.take() {
                    side.prefixes = exact.clone();
                    side.suffixes = exact;
                }
            }
            result.prefixes = &self.prefixes | &other.prefixes;
            result.suffixes = &self.suffixes | &other.suffixes;
        }
        result.required = self.required.or(other.required);
        result.settle(false);
        result
    }

    /// Requires the trigrams of the exact strings.
    fn require_exact(&mut self) {
        if let Some(exact) = &self.exact {
            let required = std::mem::replace(&mut self.required, TrigramQuery::Any);
            self.required = required.and(any_of(exact));
        }
    }

    /// Bounds what is retained, converting excess strings to requirements. At the `end`,
    /// all strings of sufficient length are converted.
    fn settle(&mut self, end: bool) {
        // Strings of three bytes are retained while others may be joined to them, which gives more
        // trigrams; of four bytes and more each already has two.
        let gives_up = self.exact.as_ref().is_some_and(|exact| {
            EXACT_MAX < exact.len() || (3 <= shortest(exact) && end) || 4 <= shortest(exact)
        });
        if gives_up {
            self.require_exact();
            let exact = self.exact.take().unwrap_or_default();
            // Two bytes on either side are enough for all trigrams across a joint.
            self.prefixes = exact.iter().map(|it| it[..it.len().min(2)].to_vec()).collect();
            self.suffixes =
                exact.iter().map(|it| it[it.len().saturating_sub(2)..].to_vec()).collect();
        }
        if self.exact.is_none() {
            let required = std::mem::replace(&mut self.required, TrigramQuery::Any);
            self.required = required.and(any_of(&self.prefixes)).and(any_of(&self.suffixes));
            shorten(&mut self.prefixes, |it, length| it[..length].to_vec());
            shorten(&mut self.suffixes, |it, length| it[it.len() - length..].to_vec());
        }
    }
}

/// Cuts strings to two bytes, or less while they are too many.
fn shorten(strings: &mut Strings, retain: impl Fn(&[u8], usize) -> Vec<u8>) {
    let mut length = 2;
    loop {
        *strings = strings.iter().map(|it| retain(it, it.len().min(length))).collect();
        if strings.len() <= AFFIXES_MAX || length == 0 {
            break;
        }
        length -= 1;
    }
    // One that all texts have makes the others idle.
    if strings.contains(&Vec::new()) {
        *strings = [Vec::new()].into();
    }
}

/// The length of the shortest string; 0 where there is none.
fn shortest(strings: &Strings) -> usize {
    strings.iter().map(Vec::len).min().unwrap_or(0)
}

fn cross(left: &Strings, right: &Strings) -> Strings {
    left.iter()
        .flat_map(|start| right.iter().map(move |end| [start.as_slice(), end].concat()))
        .collect()
}

/// The condition that a text has one of these strings in it, as far as trigrams can express it.
fn any_of(strings: &Strings) -> TrigramQuery {
    // No text has one of no strings.
    if strings.is_empty() {
        return TrigramQuery::None;
    }
    if shortest(strings) < 3 {
        return TrigramQuery::Any;
    }
    let mut options: Vec<TrigramQuery> = strings.iter().map(|string| all_of(string)).collect();
    options.sort_unstable();
    options.dedup();
    one_or(options, TrigramQuery::Or)
}

fn all_of(string: &[u8]) -> TrigramQuery {
    let mut parts: Vec<TrigramQuery> = string
        .windows(3)
        .map(|window| TrigramQuery::Trigram(pack(window[0], window[1], window[2])))
        .collect();
    parts.sort_unstable();
    parts.dedup();
    parts.truncate(AND_MAX);
    one_or(parts, TrigramQuery::And)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::trigrams;

    fn holds(query: &TrigramQuery, result: &[u32]) -> bool {
        match query {
            TrigramQuery::Any => true,
            TrigramQuery::None => false,
            TrigramQuery::Trigram(trigram) => result.contains(trigram),
            TrigramQuery::And(parts) => parts.iter().all(|part| holds(part, result)),
            TrigramQuery::Or(parts) => parts.iter().any(|part| holds(part, result)),
        }
    }

    #[test]
    fn wide_patterns_are_distinguished_from_narrow() {
        for pattern in [
            "one|two",
            "line.*two",
            "on[aeiou]",
            r"\bone\b",
            "(?i)one",
            "^(one|two)$",
            "a{3}",
            "日",
        ] {
            assert_ne!(trigram_query(pattern, ""), Ok(TrigramQuery::Any), "{pattern}");
        }
        for pattern in
            ["one|tw", "(one|xx)", "li.e", "[a-z]+", "^Al", ".*", "a", "", "(abc)*", "[a-z][a-z]b"]
        {
            assert_eq!(trigram_query(pattern, ""), Ok(TrigramQuery::Any), "{pattern}");
        }
        assert_eq!(trigram_query("abc[^\\x00-\\x{10FFFF}]", ""), Ok(TrigramQuery::None));
        // A digit is one of ten for Go, and one of hundreds for Unicode.
        let abc = || Some(TrigramQuery::containing("abc"));
        assert_ne!(trigram_query(r"\dabc", "").ok(), abc());
        assert_eq!(unicode_trigram_query(r"\dabc"), abc());
        assert_eq!(unicode_trigram_query("("), None);
    }

    #[test]
    fn texts_that_match_have_the_trigrams() {
        let texts = [
            "one two three",
            "ONE",
            "oneone",
            "line\ntwo",
            "three one",
            "abcabcabd",
            "Straße",
            "ſtraßE",
            "xaby",
            "kelvin",
            "\u{212a}elvin",
        ];
        let mut packed = Vec::new();
        for pattern in [
            "one|two",
            "(one)+",
            "(?:one|th.ee) ",
            "(abc){2,3}abd?",
            "[ao][nb][ec]",
            "stra.e",
            "kelvin",
            "(ab|xa)(b|c)?(y|c)",
            "^three|^line$",
            "(a|b|c|d|e|f|g|h|i)bc",
            "e t|e o|n.*o",
        ] {
            for flags in ["", "i"] {
                let regex = compile(pattern, flags).expect("a pattern");
                let query = trigram_query(pattern, flags).expect("a pattern");
                for text in texts {
                    trigrams(text, &mut packed);
                    assert!(!regex.is_match(text) || holds(&query, &packed), "{pattern} {text}");
                }
            }
        }
    }

    #[test]
    fn lines_are_matched_one_by_one() {
        let matches =
            |pattern: &str, text: &str| compile(pattern, "").expect("good").is_match(text);
        assert!(matches("^two$", "one\ntwo\nthree"));
        for pattern in ["one.two", r"one[\n]two", r"one\ntwo", r"one\stwo", "one[^x]two", "(?s)e.t"]
        {
            assert!(!matches(pattern, "one\ntwo"), "{pattern}");
        }
        assert!(
            !matches(r"\Atwo", "one\ntwo") && matches("(a+)?b", "b") && matches("(?:a+)*b", "b")
        );
        assert!(!matches(r"\w\b", "é") && !matches(r"\d", "٣"));
    }

    #[test]
    fn large_patterns_are_bounded() {
        for (pattern, why) in [
            (r"(\pL{100}){100}".to_owned(), "it is too large"),
            ("(".repeat(2000), "missing closing )"),
            ("a".repeat(PATTERN_TOO_LONG), "expression too large"),
        ] {
            let error = compile(&pattern, "").err().unwrap().to_string();
            assert!(error.starts_with(&format!("wrong regular expression: {why}")), "{error}");
        }
        let words: Vec<String> = (0..2000).map(|number| format!("word{number}")).collect();
        assert!(trigram_query(&words.join("|"), "i").is_ok());
        assert!(trigram_query("(((((abc|def){8}){8}){8}){8}){8}", "").is_ok());
        assert_eq!(
            compile("a", "ix").expect_err("flags").to_string(),
            "`ix` is no modifier of a regular expression"
        );
    }

    const PATTERN_TOO_LONG: usize = 1 << 17;
}
