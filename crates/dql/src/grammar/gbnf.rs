//! The text of a grammar in GBNF, as llama.cpp reads it.

use super::print::{Notation, braces};
use super::rules::Grammar;

const GBNF: Notation = Notation {
    comment: "#",
    defines: " ::= ",
    alternative: " |\n  ",
    empty: "\"\"",
    name: |grammar, index| match index {
        0 => "root".to_owned(),
        index => grammar.rules[index].name.replace('_', "-"),
    },
    token: None,
    times: |least, most, out| match (least, most) {
        (0, None) => out.push('*'),
        _ => braces(least, most, out),
    },
};

impl Grammar {
    /// Returns the grammar in GBNF; its first rule is called `root`. Comments are the lines of
    /// `notes`.
    pub fn to_gbnf(&self, notes: &[String]) -> String {
        self.print(notes, &GBNF)
    }
}
