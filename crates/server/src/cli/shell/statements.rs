//! Where statements begin and stop, in what is typed, piped in or given as an argument.

use super::cypher::{is_cypher, is_ended};
use super::scan::{Kind, tokens};
use std::mem;

/// Words that a statement begins with which has braces.
const OPENERS: [&str; 6] = ["query", "upsert", "fragment", "schema", "mutation", "subscription"];

/// Commands whose argument is a text with braces, over several lines.
const WITH_TEXT: [&str; 5] = ["explain", "profile", "graphql", "dql", "alter"];

/// A text that is run at once.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub text: String,
    /// The number of its first line.
    pub line: usize,
}

/// Makes statements of lines.
#[derive(Default)]
pub(super) struct Statements {
    text: String,
    start: usize,
    line: usize,
}

impl Statements {
    /// Adds a line. Returns the statements that are complete with it: that of the N-Quads before
    /// it, and its own.
    pub(super) fn push(&mut self, line: &str) -> Vec<Statement> {
        self.line += 1;
        let mut done = Vec::new();
        // N-Quads that follow each other are one statement: `_:a` is one node in all of them.
        if is_quads(&self.text) {
            if is_quads(line) {
                self.add(line);
                return done;
            }
            done.extend(self.pop());
        }
        let has_content = !line.trim().is_empty() && !line.trim_start().starts_with('#');
        if self.text.is_empty() && !has_content {
            return done;
        }
        self.add(line);
        if !is_quads(&self.text) && is_complete(&self.text) {
            done.extend(self.pop());
        }
        done
    }

    /// What is left after the last line, complete or not: then its error says what is missing.
    pub(super) fn pop(&mut self) -> Option<Statement> {
        let text = mem::take(&mut self.text);
        (!text.trim().is_empty()).then_some(Statement { text, line: self.start })
    }

    fn add(&mut self, line: &str) {
        if self.text.is_empty() {
            self.start = self.line;
        }
        self.text.push_str(line);
        self.text.push('\n');
    }
}

/// The statements of a text.
pub(super) fn statements(text: &str) -> Vec<Statement> {
    let mut statements = Statements::default();
    let mut all: Vec<Statement> = text.lines().flat_map(|line| statements.push(line)).collect();
    all.extend(statements.pop());
    all
}

/// Whether a text is a statement and not the beginning of one. A statement in Cypher has a `;` or a
/// blank line after it. In other languages its brackets are balanced, and the fragments that it
/// names are in it; a blank line completes one that lacks no more than fragments.
pub(super) fn is_complete(text: &str) -> bool {
    if let Some((command, _)) = command(text)
        && !WITH_TEXT.contains(&command)
    {
        return true;
    }
    let argument = command(text).map_or(text, |(_, argument)| argument);
    if is_cypher(argument) {
        return is_ended(text);
    }
    let tokens = tokens(text);
    let count = |kind| tokens.iter().filter(|token| token.kind == kind).count();
    let opens = count(Kind::Open);
    if count(Kind::Close) < opens {
        return false;
    }
    let first = tokens.iter().find(|token| token.kind != Kind::Comment);
    let has_braces = tokens.iter().any(|token| token.text == "{");
    if first.is_some_and(|first| OPENERS.contains(&first.text)) && !has_braces {
        return false;
    }
    let is_defined = |name: &str| {
        tokens.windows(2).any(|pair| pair[0].text == "fragment" && pair[1].text == name)
    };
    let mut spreads = tokens.windows(2).filter(|pair| pair[0].kind == Kind::Spread);
    let lacks = spreads.any(|pair| {
        pair[1].kind == Kind::Word && pair[1].text != "on" && !is_defined(pair[1].text)
    });
    !lacks || text.lines().last().is_some_and(|line| line.trim().is_empty())
}

/// The name of a command that begins with `\`, and its argument; `None` for another text.
pub(super) fn command(text: &str) -> Option<(&str, &str)> {
    let text = text.trim().strip_prefix('\\')?;
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    Some((&text[..end], text[end..].trim()))
}

fn is_quads(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('<') || text.starts_with("_:")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<(usize, String)> {
        statements(text).into_iter().map(|it| (it.line, it.text)).collect()
    }

    #[test]
    fn statements_go_on_until_their_braces_are_balanced() {
        let text = "# all\n\n{ q(func: has(n)) {\n  n # }\n} }\n\\timing on\nschema\n{}\n\\explain {\n q(func: has(n)) { n }\n}\n\\load {a\n";
        let lines: Vec<(usize, usize)> =
            statements(text).iter().map(|it| (it.line, it.text.lines().count())).collect();
        assert_eq!(lines, [(3, 3), (6, 1), (7, 2), (9, 3), (12, 1)]);
    }

    #[test]
    fn cypher_goes_on_until_a_semicolon_or_a_blank_line() {
        let text =
            "MATCH (n)\nRETURN n.a,\n {b: ';'};\nreturn 1\n\n{ q(func: has(n)) { n } }\nRETURN 2";
        let lines: Vec<(usize, usize)> =
            statements(text).iter().map(|it| (it.line, it.text.lines().count())).collect();
        assert_eq!(lines, [(1, 3), (4, 2), (6, 1), (7, 1)]);
    }

    #[test]
    fn quads_that_follow_each_other_are_one_statement() {
        let text = "_:a <n> \"1\" .\n_:a <m> \"{\" .\n{ q(func: has(n)) { n } }\n<1> <n> \"x\" .\n\n<2> <n> \"y\" .";
        let all = texts(text);
        assert_eq!(all.iter().map(|it| it.0).collect::<Vec<usize>>(), [1, 3, 4, 6]);
        assert_eq!(all[0].1, "_:a <n> \"1\" .\n_:a <m> \"{\" .\n");
    }

    #[test]
    fn fragments_belong_to_the_query_before_them() {
        assert!(!is_complete("{ q(func: has(n)) { ...f } }"));
        assert!(is_complete("{ q(func: has(n)) { ...f } }\nfragment f { n }"));
        assert!(is_complete("{ q(func: has(n)) { ...f } }\n\n"));
        assert!(is_complete("{ queryX { ... on Y { a } } }"));
        for text in ["{", "query q($a: int)", "(", "upsert {", "\\explain {", "\\explain MATCH (n)"]
        {
            assert!(!is_complete(text), "{text}");
        }
        assert!(is_complete("\\explain MATCH (n)\nRETURN n;"));
        for text in ["}", "hello", "\\schema", "\\describe {", "[{\"a\": \"{\"}]", "schema {}"] {
            assert!(is_complete(text), "{text}");
        }
        assert_eq!(texts("{ q(func: has(n)) {").len(), 1);
    }
}
