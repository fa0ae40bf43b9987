//! The text of a grammar for lark, as lark itself, outlines, guidance and llguidance read it.
//!
//! Tokens are regular expressions without capturing groups and lookaround, which all of these read.

use super::print::{Notation, braces, write_set};
use super::rules::{Expr, Grammar};
use hexgraph_base::types::stack;
use std::fmt::Write;

const LARK: Notation = Notation {
    comment: "//",
    defines: ": ",
    alternative: "\n  | ",
    empty: "",
    name: |grammar, index| {
        let rule = &grammar.rules[index];
        match index {
            0 => "start".to_owned(),
            _ if rule.is_token => rule.name.to_uppercase(),
            _ => rule.name.clone(),
        }
    },
    token: Some(|body, out| {
        out.push('/');
        regex(body, out, false);
        out.push('/');
    }),
    times: |least, most, out| {
        // Nothing can go wrong with writing to a string.
        let _ = match most {
            None if least == 0 => write!(out, "*"),
            None => write!(out, "+"),
            Some(most) => write!(out, "~{least}..{most}"),
        };
    },
};

impl Grammar {
    /// Returns the grammar for lark; its first rule is called `start`. Comments are the lines of
    /// `notes`.
    pub fn to_lark(&self, notes: &[String]) -> String {
        self.print(notes, &LARK)
    }
}

/// Writes the body of a token as a regular expression.
fn regex(expr: &Expr, out: &mut String, is_part: bool) {
    stack::require();
    let is_group = match expr {
        Expr::Choice(parts) => 1 < parts.len(),
        Expr::Sequence(parts) => is_part && parts.len() != 1,
        Expr::Text(text) => is_part && text.chars().count() != 1,
        _ => false,
    };
    if is_group {
        out.push_str("(?:");
    }
    match expr {
        Expr::Text(text) => text.chars().for_each(|letter| escaped(letter, out)),
        Expr::Chars(set) => write_set(set, out),
        // Tokens name no rules.
        Expr::Rule(_) => {}
        Expr::Sequence(parts) => parts.iter().for_each(|part| regex(part, out, false)),
        Expr::Choice(parts) => {
            for (index, part) in parts.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "|" });
                regex(part, out, false);
            }
        }
        Expr::Optional(body) => {
            regex(body, out, true);
            out.push('?');
        }
        Expr::Repeat { body, least, most } => {
            regex(body, out, true);
            braces(*least, *most, out);
        }
    }
    if is_group {
        out.push(')');
    }
}

fn escaped(letter: char, out: &mut String) {
    match letter {
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '/' | '\\' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '^'
        | '$' => {
            out.extend(['\\', letter]);
        }
        letter => out.push(letter),
    }
}
