//! Error messages for tokens that the grammar refuses: what was read, what was expected, and a hint
//! at what was probably meant.

use super::absent_functions;
use crate::lexer::{Cursor, graphql_words, operator_words};
use crate::syntax::token::Token;
use hexgraph_base::plan::algorithm;
use hexgraph_base::types::{Error, Position, nearest};
use lalrpop_util::ParseError;
use std::ops::Range;

/// How messages show the terminals of the grammar, by the names that the grammar gives them. An
/// empty text leaves a terminal out, where it would be news to few. A terminal that is not listed
/// is shown by its name in the grammar, which is how it is written.
const SHOWN: [(&str, &str); 14] = [
    ("name", "a name"),
    ("name as", ""),
    ("name:", "`key:`"),
    ("string", "a string"),
    ("/regex/", ""),
    ("$name", ""),
    ("@lang", "a language"),
    // The lexer makes one token of `set { ... }` and `delete { ... }` with all statements between
    // the braces.
    ("rdf", "`set`"),
    ("function(", ""),
    ("distinct", ""),
    ("operator", "an operator"),
    ("-operand", ""),
    ("@facets(filter", ""),
    ("...", ""),
];

/// The greatest number of expected tokens that a message lists. A longer list is left out, since it
/// would not help.
const EXPECTED_MAX: usize = 6;

/// The most characters of a refused token that a message shows.
const RESULT_MAX: usize = 40;

/// Converts an error of the parser to a syntax error with position, message and hint.
pub(crate) fn diagnose(text: &str, error: ParseError<usize, Token, Error>) -> Error {
    match error {
        ParseError::User { error } => error,
        ParseError::UnrecognizedToken { token: (start, token, end), expected } => {
            refused(text, start, end, &token, &expected)
        }
        ParseError::ExtraToken { token: (start, token, end) } => {
            refused(text, start, end, &token, &[])
        }
        ParseError::InvalidToken { location } => {
            Error::syntax(Position::of(text, location), "an unknown word")
        }
        ParseError::UnrecognizedEof { location, .. } => {
            Error::syntax(Position::of(text, location), "the text ends too early")
        }
    }
}

/// Makes the error for a token that the grammar refuses. `expected` has the names of the terminals
/// that could stand there, each in quotes, as the generated parser has them.
fn refused(text: &str, start: usize, end: usize, token: &Token, expected: &[String]) -> Error {
    let expected: Vec<&str> = expected.iter().map(|name| name.trim_matches('"')).collect();
    if let Some(error) = absent(text, start, token, &expected) {
        return error;
    }
    let result = shown(&text[start..end]);
    let listed = list(&expected);
    let message = if listed.is_empty() {
        format!("unexpected {result}")
    } else {
        format!("found {result}, expected {listed}")
    };
    let hint = external(text, start..end, token, &expected)
        .unwrap_or_else(|| hint(text, start, token, &expected).unwrap_or_default().to_owned());
    Error::syntax(Position::of(text, start), message).with_hint(hint)
}

/// Makes the error for a call of a function that there is not, and for a variable instead of a key
/// of groups; `None` for anything else.
fn absent(text: &str, start: usize, token: &Token, expected: &[&str]) -> Option<Error> {
    let opened = text[..start].trim_ascii_end();
    match token {
        // `mode(val(x))` is read as a field with arguments, which have keys.
        Token::Name(_) if expected.contains(&"name:") => {
            let called = opened.strip_suffix('(')?.trim_ascii_end();
            let name = word_before(called, called.len());
            let hint = absent_functions::written_for(name)?.to_owned();
            let at = Position::of(text, called.len() - name.len());
            let message = format!("there is no function `{name}`");
            Some(Error::syntax(at, message).with_hint(hint))
        }
        Token::RoundOpen if word_before(text, start).eq_ignore_ascii_case("val") => {
            let start = opened.len() - "val".len();
            let (head, keys) = opened[..start].rsplit_once('(')?;
            let is_key = keys.trim_ascii().is_empty() || keys.trim_ascii_end().ends_with(',');
            if !is_key || !word_before(head, head.len()).eq_ignore_ascii_case("groupby") {
                return None;
            }
            let message = "groups are made by predicates, and `val(...)` is a variable";
            let hint = absent_functions::GROUPED_VARIABLE;
            Some(Error::syntax(Position::of(text, start), message).with_hint(hint))
        }
        _ => None,
    }
}

fn shown(result: &str) -> String {
    let short: String = result.chars().take(RESULT_MAX).collect();
    let dots = if short.len() < result.len() { "..." } else { "" };
    format!("`{short}{dots}`")
}

/// Returns the expected tokens as a phrase, such as `` `)` or a name ``; an empty text when there
/// are too many.
fn list(expected: &[&str]) -> String {
    let mut words: Vec<String> = Vec::new();
    for &name in expected {
        match SHOWN.iter().find(|(existing, _)| *existing == name) {
            Some((_, "")) => {}
            Some((_, phrase)) => words.push((*phrase).to_owned()),
            None => words.push(format!("`{name}`")),
        }
    }
    match words.pop() {
        Some(last) if words.is_empty() => last,
        Some(last) if words.len() < EXPECTED_MAX => format!("{} or {last}", words.join(", ")),
        _ => String::new(),
    }
}

/// Returns a hint for what is right in another language: a GraphQL request, and an argument with
/// `=` as in Python.
fn external(text: &str, at: Range<usize>, token: &Token, expected: &[&str]) -> Option<String> {
    let expects = |name: &str| expected.contains(&name);
    match token {
        Token::BraceOpen
            if expects("(") && graphql_words::is_field(word_before(text, at.start)) =>
        {
            Some(graphql_words::HINT.to_owned())
        }
        Token::Name(_)
            if expects("name:") && text[at.end..].trim_ascii_start().starts_with('=') =>
        {
            Some(format!("arguments have a colon: `{}: ...`", &text[at]))
        }
        Token::Bang | Token::Equals => operator_words::comparison(text, at.start),
        _ => None,
    }
}

/// Returns a hint at what was probably meant, judged by the token, by what the grammar expects
/// there, and by the text before it.
fn hint(text: &str, start: usize, token: &Token, expected: &[&str]) -> Option<&'static str> {
    let expects = |name: &str| expected.contains(&name);
    let is_value = matches!(
        token,
        Token::Name(_)
            | Token::String(_)
            | Token::Variable(_)
            | Token::Alias(_)
            | Token::SquareOpen
    );
    // The first match is used, so special cases precede general ones.
    match token {
        _ if text[start..].starts_with('@') && expects("name:") => {
            Some("a directive or a language stands behind a field")
        }
        _ if is_value && expects("and") => Some("join conditions with `and` or `or`"),
        _ if is_value && expects(",") => Some("is a comma missing?"),
        Token::Name(_) if expects("operator") => Some("is an operator missing?"),
        Token::And | Token::Or => Some("a condition is missing before it"),
        Token::Not if expects("and") => Some("join conditions with `and` or `or`"),
        Token::Not => Some("`not not` needs brackets: `not (not ...)`"),
        Token::Comma if expects("and") => Some("join conditions with `and` or `or`"),
        Token::RoundClose | Token::SquareClose if follows(text, start, b',') => {
            Some("remove the comma before it")
        }
        Token::Comma if follows(text, start, b',') => Some("remove one of the commas"),
        Token::Name(_) if expects("name:") && !expects("name") => {
            Some("arguments are written `key: value`, functions `func: name(...)`")
        }
        Token::Alias(_) if expects("name") => Some("only one alias may stand before a field"),
        Token::BraceOpen if expects("(") && is_like(text, start, "set") => {
            Some("did you mean `set { ... }`?")
        }
        Token::BraceOpen if expects("(") && is_like(text, start, "delete") => {
            Some("did you mean `delete { ... }`?")
        }
        Token::BraceOpen if expects("}") => Some("a selection stands behind a field"),
        _ if expects("-operand") && !expects("operator") => Some("an operand is missing"),
        Token::RoundClose if follows(text, start, b':') => Some("a value is missing"),
        Token::RoundClose if follows(text, start, b'(') => {
            Some("nothing stands between the brackets")
        }
        Token::SquareClose if follows(text, start, b'[') => Some("the list is empty"),
        Token::RoundClose if expects("not") => Some("a condition is missing before it"),
        _ if text[start..].starts_with('@') && expects(")") => {
            Some("a language stands behind the predicate: `name@en`")
        }
        Token::BraceOpen if expects("(") && algorithm(word_before(text, start)).is_some() => {
            Some("an algorithm needs round brackets: `pagerank() { follows }`")
        }
        Token::BraceOpen if expects("(") => Some("a block needs round brackets: `name(func: ...)`"),
        Token::BraceClose if expects("name") => Some("expected a block: `name(func: ...) { ... }`"),
        Token::Comma if expects(")") => Some("only one argument is possible here"),
        _ if expects(")") => Some("is `)` missing before it?"),
        _ => None,
    }
}

/// Returns true when the word before `at` is similar to `word`.
fn is_like(text: &str, at: usize, word: &str) -> bool {
    nearest(word_before(text, at), [word].into_iter()).is_some()
}

/// Returns the letters, digits and underscores before `at`, and before the white space there.
fn word_before(text: &str, at: usize) -> &str {
    let before = text[..at].trim_ascii_end();
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let length = before.bytes().rev().take_while(is_letter).count();
    &before[before.len() - length..]
}

/// Returns true when the last byte before `at` outside of white space and comments is `byte`.
fn follows(text: &str, at: usize, byte: u8) -> bool {
    // The text is read from its start: seen from its end, a comment looks like any text.
    let mut cursor = Cursor::new(&text[..at]);
    let mut last = 0;
    while !cursor.is_done() {
        cursor.skip_blank();
        last = if cursor.is_done() { last } else { cursor.peek() };
        cursor.at += 1;
    }
    last == byte
}
