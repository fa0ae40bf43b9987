//! The first pass: words, literals and characters, without white space and comments.

use super::fragment::{Fragment, Located};
use super::letters::{after_word, starts_word};
use super::literals::{number, quoted_name, string};
use crate::error::{Code, Fault};
use crate::span::Span;
use crate::syntax::token::Sign;

/// Characters of several characters, longest first.
const LONG_SIGNS: [(&str, Sign); 7] = [
    ("||", Sign::DoublePipe),
    ("::", Sign::DoubleColon),
    ("..", Sign::DotDot),
    ("=~", Sign::Matches),
    ("<>", Sign::Unequal),
    ("<=", Sign::LessEqual),
    (">=", Sign::GreaterEqual),
];

/// Splits a text.
///
/// # Errors
/// A character that has no meaning, and literals that are written wrongly.
pub(super) fn fragments(text: &str) -> Result<Vec<Located>, Fault> {
    let mut result: Vec<Located> = Vec::new();
    let mut at = after_blank(text, 0)?;
    while at < text.len() {
        let (kind, end) = next(text, at)?;
        result.push(Located { kind, span: Span::new(at, end) });
        at = after_blank(text, end)?;
    }
    Ok(result)
}

/// Reads the fragment at an offset, and returns it with the offset after it.
fn next(text: &str, at: usize) -> Result<(Fragment, usize), Fault> {
    let rest = &text[at..];
    let first = rest.chars().next().expect("the text goes on");
    let second = rest.as_bytes().get(1).copied().unwrap_or(0);
    match first {
        '\'' | '"' => string(text, at),
        '`' => {
            let (name, end) = quoted_name(text, at)?;
            Ok((Fragment::Quoted(name), end))
        }
        '$' => parameter(text, at),
        '0'..='9' => number(text, at),
        '.' if second.is_ascii_digit() => number(text, at),
        _ if starts_word(first) => Ok((Fragment::Word, after_word(text, at))),
        _ => sign(text, at, first),
    }
}

fn parameter(text: &str, at: usize) -> Result<(Fragment, usize), Fault> {
    if text[at + 1..].starts_with('`') {
        let (name, end) = quoted_name(text, at + 1)?;
        return Ok((Fragment::Parameter(name), end));
    }
    let end = after_word(text, at + 1);
    if end == at + 1 {
        let fault = Fault::new(Code::UnexpectedSyntax, Span::new(at, end), "`$` has no name");
        return Err(fault.with_hint("write `$name`, and give its value with the query"));
    }
    Ok((Fragment::Parameter(text[at + 1..end].into()), end))
}

fn sign(text: &str, at: usize, first: char) -> Result<(Fragment, usize), Fault> {
    let rest = &text[at..];
    for (written, sign) in LONG_SIGNS {
        if rest.starts_with(written) {
            return Ok((Fragment::Sign(sign), at + written.len()));
        }
    }
    let sign = match first {
        '(' => Sign::RoundOpen,
        ')' => Sign::RoundClose,
        '[' => Sign::SquareOpen,
        ']' => Sign::SquareClose,
        '{' => Sign::BraceOpen,
        '}' => Sign::BraceClose,
        ',' => Sign::Comma,
        ';' => Sign::Semicolon,
        ':' => Sign::Colon,
        '.' => Sign::Dot,
        '=' if !rest.starts_with("==") => Sign::Equal,
        '<' => Sign::Less,
        '>' => Sign::Greater,
        '+' => Sign::Plus,
        '-' => Sign::Minus,
        '*' => Sign::Star,
        '/' => Sign::Slash,
        '%' => Sign::Percent,
        '^' => Sign::Caret,
        '|' => Sign::Pipe,
        '&' => Sign::Ampersand,
        '!' if !rest.starts_with("!=") => Sign::Bang,
        _ => return Err(unknown(text, at, first)),
    };
    Ok((Fragment::Sign(sign), at + first.len_utf8()))
}

/// The error for a character that has no meaning.
fn unknown(text: &str, at: usize, first: char) -> Fault {
    let rest = &text[at..];
    let span = Span::new(at, at + first.len_utf8());
    let (written, hint) = match first {
        '=' => ("==", "equality is `=`"),
        '!' => ("!=", "inequality is `<>`"),
        '#' => ("#", "a comment begins with `//`"),
        _ => ("", ""),
    };
    if rest.starts_with(written) && !written.is_empty() {
        let span = Span::new(at, at + written.len());
        let fault = Fault::new(Code::UnexpectedSyntax, span, format!("unexpected `{written}`"));
        return fault.with_hint(hint);
    }
    let code = match first.is_ascii() {
        true => Code::UnexpectedSyntax,
        false => Code::InvalidUnicodeCharacter,
    };
    let fault = match first.is_control() {
        true => Fault::new(code, span, format!("unexpected character U+{:04X}", first as u32)),
        false => Fault::new(code, span, format!("unexpected character `{first}`")),
    };
    match first {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => fault.with_hint("the sign for minus is `-`"),
        '\u{2018}'..='\u{201F}' => fault.with_hint("strings are in straight quotes: `'text'`"),
        _ => fault,
    }
}

/// The offset after white space and comments.
///
/// # Errors
/// A comment that is not closed.
fn after_blank(text: &str, mut at: usize) -> Result<usize, Fault> {
    loop {
        let rest = &text[at..];
        let is_blank = |c: char| c.is_whitespace() || c == '\u{FEFF}';
        if rest.starts_with("//") {
            at = rest.find('\n').map_or(text.len(), |length| at + length);
        } else if rest.starts_with("/*") {
            let Some(length) = rest.find("*/") else {
                let message = "the comment is never closed";
                let fault = Fault::new(Code::UnexpectedSyntax, Span::new(at, at + 2), message);
                return Err(fault.with_hint("a comment that begins with `/*` is closed by `*/`"));
            };
            at += length + 2;
        } else if rest.starts_with(is_blank) {
            at = rest.find(|c| !is_blank(c)).map_or(text.len(), |length| at + length);
        } else {
            return Ok(at);
        }
    }
}
