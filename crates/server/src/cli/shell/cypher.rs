//! Cypher in the shell: the beginning and the end of a statement, and keywords for completion.

use std::iter::Peekable;
use std::str::Chars;

/// Keywords that begin a statement. No request in DQL or GraphQL begins with one of them.
const OPENERS: [&str; 13] = [
    "MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN", "CALL", "FOR", "LET", "EXPLAIN", "PROFILE",
    "CREATE", "MERGE", "DETACH",
];

/// The keywords of clauses and operators.
pub(super) const WORDS: [&str; 47] = [
    "ALL",
    "AND",
    "ANY",
    "AS",
    "ASC",
    "CALL",
    "CASE",
    "CONTAINS",
    "COUNT",
    "DESC",
    "DISTINCT",
    "ELSE",
    "END",
    "ENDS WITH",
    "EXISTS",
    "FILTER",
    "FOR",
    "IN",
    "IS NULL",
    "IS NOT NULL",
    "LET",
    "LIMIT",
    "MATCH",
    "NONE",
    "NOT",
    "NULLS FIRST",
    "NULLS LAST",
    "OFFSET",
    "OPTIONAL MATCH",
    "OR",
    "ORDER BY",
    "RETURN",
    "SINGLE",
    "SKIP",
    "STARTS WITH",
    "THEN",
    "UNION",
    "UNWIND",
    "WHEN",
    "WHERE",
    "WITH",
    "XOR",
    "true",
    "false",
    "null",
    "shortestPath",
    "allShortestPaths",
];

/// Whether a text is a Cypher statement, by its first keyword.
pub(super) fn is_cypher(text: &str) -> bool {
    begins_with(text, &OPENERS)
}

/// Whether a Cypher statement says itself that its result is a plan.
pub(super) fn is_plan(text: &str) -> bool {
    begins_with(text, &["EXPLAIN", "PROFILE"])
}

fn begins_with(text: &str, words: &[&str]) -> bool {
    let rest = without_comments(text);
    let end = rest.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(rest.len());
    words.iter().any(|word| word.eq_ignore_ascii_case(&rest[..end]))
}

/// Whether a word is a keyword, ignoring case.
pub(super) fn is_word(name: &str) -> bool {
    let mut words = WORDS.iter().flat_map(|words| words.split(' '));
    words.any(|word| word.eq_ignore_ascii_case(name))
}

/// Whether a statement is complete: a `;` follows it, or a blank line.
pub(super) fn is_ended(text: &str) -> bool {
    let is_blank = |line: &str| line.trim().is_empty();
    last_sign(text) == Some(';')
        || 1 < text.lines().count() && text.lines().last().is_some_and(is_blank)
}

/// A statement without the `;` at its end.
pub(super) fn without_end(text: &str) -> &str {
    match last_sign(text) {
        Some(';') => &text[..text.rfind(';').unwrap_or(text.len())],
        _ => text,
    }
}

/// A text without the blanks and comments at its start.
fn without_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let end = if rest.starts_with("//") {
            rest.find('\n')
        } else if rest.starts_with("/*") {
            rest.find("*/").map(|at| at + 1)
        } else {
            return rest;
        };
        rest = end.map_or("", |end| rest[end + 1..].trim_start());
    }
}

/// The last character outside of comments and blanks; `None` if a quote or a comment is not closed.
fn last_sign(text: &str) -> Option<char> {
    let (mut letters, mut last) = (text.chars().peekable(), None);
    while let Some(letter) = letters.next() {
        match letter {
            '\'' | '"' | '`' => skip_quoted(&mut letters, letter)?,
            '/' if letters.peek() == Some(&'/') => {
                letters.by_ref().find(|letter| *letter == '\n');
                continue;
            }
            '/' if letters.peek() == Some(&'*') => {
                skip_block(&mut letters)?;
                continue;
            }
            letter if letter.is_whitespace() => continue,
            _ => {}
        }
        last = Some(letter);
    }
    last
}

fn skip_quoted(letters: &mut Peekable<Chars<'_>>, quote: char) -> Option<()> {
    loop {
        match letters.next()? {
            '\\' if quote != '`' => {
                letters.next()?;
            }
            letter if letter == quote => return Some(()),
            _ => {}
        }
    }
}

fn skip_block(letters: &mut Peekable<Chars<'_>>) -> Option<()> {
    letters.next();
    loop {
        if letters.next()? == '*' && letters.peek() == Some(&'/') {
            letters.next();
            return Some(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_is_a_clause() {
        for text in ["MATCH (n) RETURN n", " match(n)", "// a\n/* b */ Return 1", "unwind [1]"] {
            assert!(is_cypher(text), "{text}");
        }
        for text in
            ["{ q(func: has(n)) { n } }", "query q {", "matches", "", "//", "/*", "schema {}"]
        {
            assert!(!is_cypher(text), "{text}");
        }
        assert!(is_plan("/* a */ explain MATCH (n) RETURN n") && is_plan("PROFILE RETURN 1"));
        assert!(!is_plan("MATCH (n:EXPLAIN) RETURN n"));
    }

    #[test]
    fn a_semicolon_or_a_blank_line_is_the_end() {
        for text in ["RETURN 1;", "RETURN 1 ; // done", "RETURN ';' /* a */;\n", "RETURN 1\n\n"] {
            assert!(is_ended(text), "{text}");
        }
        for text in
            ["RETURN 1", "RETURN 1 // ;", "RETURN 'a;", "RETURN /* ;", "RETURN `a;", "RETURN ';'"]
        {
            assert!(!is_ended(text), "{text}");
        }
        assert_eq!(without_end("RETURN ';';\n"), "RETURN ';'");
        assert_eq!(without_end("RETURN 1 // ;"), "RETURN 1 // ;");
    }
}
