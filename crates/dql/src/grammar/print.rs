//! Writes a grammar as text, in one of two notations.

use super::rules::{CharSet, Expr, Grammar};
use hexgraph_base::types::stack;
use std::fmt::Write;

/// How a notation writes what the two have in another form.
pub(super) struct Notation {
    /// What begins a comment.
    pub comment: &'static str,
    /// What stands between the name of a rule and its body.
    pub defines: &'static str,
    /// What stands between the alternatives of a rule.
    pub alternative: &'static str,
    /// A sequence of nothing.
    pub empty: &'static str,
    /// The name of a rule, by its index.
    pub name: fn(&Grammar, usize) -> String,
    /// Writes the body of a token, where tokens have a form of their own.
    pub token: Option<fn(&Expr, &mut String)>,
    /// Writes how often what stands before it is repeated: the least and the greatest number.
    pub times: fn(u32, Option<u32>, &mut String),
}

/// A grammar that is written in a notation.
struct Printer<'g> {
    grammar: &'g Grammar,
    notation: &'g Notation,
    out: String,
}

impl Grammar {
    /// Returns the text of the grammar. Comments are the lines of `notes`.
    pub(super) fn print(&self, notes: &[String], notation: &Notation) -> String {
        let mut printer = Printer { grammar: self, notation, out: String::new() };
        for note in notes {
            // Nothing can go wrong with writing to a string.
            let _ = writeln!(printer.out, "{} {note}", notation.comment);
        }
        for (index, rule) in self.rules.iter().enumerate() {
            printer.out.push_str(&(notation.name)(self, index));
            printer.out.push_str(notation.defines);
            match (&rule.body, notation.token) {
                (body, Some(token)) if rule.is_token => token(body, &mut printer.out),
                (Expr::Choice(parts), _) => printer.list(parts, notation.alternative),
                (body, _) => printer.expr(body),
            }
            printer.out.push('\n');
        }
        printer.out
    }
}

impl Printer<'_> {
    fn expr(&mut self, expr: &Expr) {
        stack::require();
        match expr {
            Expr::Text(text) => quoted(text, &mut self.out),
            Expr::Chars(set) => write_set(set, &mut self.out),
            Expr::Rule(index) => self.out.push_str(&(self.notation.name)(self.grammar, *index)),
            Expr::Sequence(parts) if parts.is_empty() => self.out.push_str(self.notation.empty),
            Expr::Sequence(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    self.out.push_str(if index == 0 { "" } else { " " });
                    match part {
                        Expr::Choice(_) => self.part(part),
                        _ => self.expr(part),
                    }
                }
            }
            Expr::Choice(parts) => self.list(parts, " | "),
            Expr::Optional(body) => {
                self.part(body);
                self.out.push('?');
            }
            Expr::Repeat { body, least, most } => {
                self.part(body);
                (self.notation.times)(*least, *most, &mut self.out);
            }
        }
    }

    /// Writes a part of a larger expression, in brackets where it needs them.
    fn part(&mut self, expr: &Expr) {
        let needs_brackets = match expr {
            Expr::Sequence(parts) => parts.len() != 1,
            Expr::Choice(_) => true,
            _ => false,
        };
        self.out.push_str(if needs_brackets { "(" } else { "" });
        self.expr(expr);
        self.out.push_str(if needs_brackets { ")" } else { "" });
    }

    fn list(&mut self, parts: &[Expr], between: &str) {
        for (index, part) in parts.iter().enumerate() {
            self.out.push_str(if index == 0 { "" } else { between });
            self.expr(part);
        }
    }
}

/// Writes a text between quotes.
fn quoted(text: &str, out: &mut String) {
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

/// Writes the numbers of a repetition as regular expressions have them.
pub(super) fn braces(least: u32, most: Option<u32>, out: &mut String) {
    let _ = match most {
        None => write!(out, "{{{least},}}"),
        Some(most) if most == least => write!(out, "{{{least}}}"),
        Some(most) => write!(out, "{{{least},{most}}}"),
    };
}
