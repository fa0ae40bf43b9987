//! The text of a grammar in GBNF, as llama.cpp reads it.

use super::rules::{CharSet, Expr, Grammar};
use hexgraph_base::types::stack;
use std::fmt::Write;

impl Grammar {
    /// Returns the grammar in GBNF; its first rule is called `root`. Comments are the lines of
    /// `notes`.
    pub fn to_gbnf(&self, notes: &[String]) -> String {
        let mut out = String::new();
        for note in notes {
            // Nothing can go wrong with writing to a string, here and below.
            let _ = writeln!(out, "# {note}");
        }
        for (index, rule) in self.rules.iter().enumerate() {
            out.push_str(&self.gbnf_name(index));
            out.push_str(" ::= ");
            match &rule.body {
                Expr::Choice(parts) => {
                    for (index, part) in parts.iter().enumerate() {
                        out.push_str(if index == 0 { "" } else { " |\n  " });
                        self.gbnf(part, &mut out, false);
                    }
                }
                body => self.gbnf(body, &mut out, false),
            }
            out.push('\n');
        }
        out
    }

    fn gbnf_name(&self, index: usize) -> String {
        match index {
            0 => "root".to_owned(),
            index => self.rules[index].name.replace('_', "-"),
        }
    }

    /// Writes an expression; as a part of a larger one (`is_part`) in brackets where it needs them.
    fn gbnf(&self, expr: &Expr, out: &mut String, is_part: bool) {
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
            Expr::Chars(set) => write_set(set, out),
            Expr::Rule(index) => out.push_str(&self.gbnf_name(*index)),
            Expr::Sequence(parts) => {
                if parts.is_empty() {
                    out.push_str("\"\"");
                }
                for (index, part) in parts.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { " " });
                    self.gbnf(part, out, matches!(part, Expr::Choice(_)));
                }
            }
            Expr::Choice(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { " | " });
                    self.gbnf(part, out, false);
                }
            }
            Expr::Optional(body) => {
                self.gbnf(body, out, true);
                out.push('?');
                return;
            }
            Expr::Repeat { body, least, most } => {
                self.gbnf(body, out, true);
                let _ = match (least, most) {
                    (0, None) => write!(out, "*"),
                    (least, None) => write!(out, "{{{least},}}"),
                    (least, Some(most)) if least == most => write!(out, "{{{least}}}"),
                    (least, Some(most)) => write!(out, "{{{least},{most}}}"),
                };
                return;
            }
        }
        if is_part && needs_brackets {
            out.push(')');
        }
    }
}

/// Writes a text between quotes.
pub(super) fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            letter => out.push(letter),
        }
    }
    out.push('"');
}

/// Writes a set of characters.
pub(super) fn write_set(set: &CharSet, out: &mut String) {
    out.push('[');
    if set.is_negated {
        out.push('^');
    }
    for &(first, last) in &set.ranges {
        push_in_set(first, out);
        if first != last {
            out.push('-');
            push_in_set(last, out);
        }
    }
    out.push(']');
}

/// Writes a character of a set. Escapes of two hexadecimal digits are common to GBNF and the
/// regular expressions of lark.
fn push_in_set(letter: char, out: &mut String) {
    match letter {
        '\\' | ']' | '^' | '-' | '[' => out.extend(['\\', letter]),
        '\0'..' ' | '\u{7f}'..='\u{9f}' => {
            let _ = write!(out, "\\x{:02x}", letter as u32);
        }
        letter => out.push(letter),
    }
}
