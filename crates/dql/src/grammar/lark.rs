//! The text of a grammar for lark, as lark itself, outlines, guidance and llguidance read it.
//!
//! Tokens are regular expressions without capturing groups and lookaround, which all of these read.

use super::gbnf::{quoted, write_set};
use super::rules::{Expr, Grammar};
use hexgraph_base::types::stack;
use std::fmt::Write;

impl Grammar {
    /// Returns the grammar for lark; its first rule is called `start`. Comments are the lines of
    /// `notes`.
    pub fn to_lark(&self, notes: &[String]) -> String {
        let mut out = String::new();
        for note in notes {
            // Nothing can go wrong with writing to a string, here and below.
            let _ = writeln!(out, "// {note}");
        }
        for (index, rule) in self.rules.iter().enumerate() {
            out.push_str(&self.lark_name(index));
            out.push_str(": ");
            match &rule.body {
                body if rule.is_token => {
                    out.push('/');
                    regex(body, &mut out, false);
                    out.push('/');
                }
                Expr::Choice(parts) => {
                    for (index, part) in parts.iter().enumerate() {
                        out.push_str(if index == 0 { "" } else { "\n  | " });
                        self.lark(part, &mut out, false);
                    }
                }
                body => self.lark(body, &mut out, false),
            }
            out.push('\n');
        }
        out
    }

    fn lark_name(&self, index: usize) -> String {
        let rule = &self.rules[index];
        match index {
            0 => "start".to_owned(),
            _ if rule.is_token => rule.name.to_uppercase(),
            _ => rule.name.clone(),
        }
    }

    fn lark(&self, expr: &Expr, out: &mut String, is_part: bool) {
        stack::require();
        let needs_brackets = match expr {
            Expr::Sequence(parts) => parts.len() != 1,
            Expr::Choice(_) => true,
            _ => false,
        };
        if is_part && needs_brackets {
            out.push('(');
        }
        match expr {
            Expr::Text(text) => quoted(text, out),
            // Sets are in tokens only.
            Expr::Chars(_) => {}
            Expr::Rule(index) => out.push_str(&self.lark_name(*index)),
            Expr::Sequence(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { " " });
                    self.lark(part, out, matches!(part, Expr::Choice(_)));
                }
            }
            Expr::Choice(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { " | " });
                    self.lark(part, out, false);
                }
            }
            Expr::Optional(body) => {
                self.lark(body, out, true);
                out.push('?');
                return;
            }
            Expr::Repeat { body, least, most } => {
                self.lark(body, out, true);
                let _ = match most {
                    None if *least == 0 => write!(out, "*"),
                    None => write!(out, "+"),
                    Some(most) => write!(out, "~{least}..{most}"),
                };
                return;
            }
        }
        if is_part && needs_brackets {
            out.push(')');
        }
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
            let _ = match most {
                None => write!(out, "{{{least},}}"),
                Some(most) if most == least => write!(out, "{{{least}}}"),
                Some(most) => write!(out, "{{{least},{most}}}"),
            };
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
