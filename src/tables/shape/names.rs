//! Names of predicates for columns whose own names can be none.

use crate::tables::shape::options::Names;
use hexgraph_base::formats::is_name;
use hexgraph_base::types::{Error, Result};
use std::borrow::Cow;
use std::collections::HashSet;

/// Chooses the names of the predicates of one table.
pub(in crate::tables) struct NameChooser {
    rule: Names,
    /// The names of columns, which a name that is made must not be.
    own: HashSet<String>,
    /// The names of predicates so far.
    used: HashSet<String>,
    /// Columns whose predicates have other names.
    pub renamed: Vec<(String, String)>,
    /// What else there is to say.
    others: Vec<String>,
}

impl NameChooser {
    /// Begins with the names of all columns.
    pub(in crate::tables) fn new<'n>(
        rule: Names,
        own: impl Iterator<Item = &'n String>,
    ) -> NameChooser {
        let own = own.cloned().collect();
        NameChooser { rule, own, used: HashSet::new(), renamed: Vec::new(), others: Vec::new() }
    }

    /// Notes the predicate that the options give a column.
    pub(in crate::tables) fn reserve(&mut self, given: Option<&Cow<'_, str>>) {
        self.used.extend(given.map(|name| name.to_string()));
    }

    /// The name for the predicate of the column at a position: its own where that can be one and no
    /// other column has it; else one that is made of it, `First_Name` of `First Name` and `x_2` of
    /// a second `x`.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`] where the rule is to refuse such names.
    pub(in crate::tables) fn choose<'n>(
        &mut self,
        own: &'n str,
        position: usize,
    ) -> Result<Cow<'n, str>> {
        let clean = clean(own);
        let is_used = self.used.contains(&*clean);
        if self.rule == Names::Retain || own == clean && !own.is_empty() && !is_used {
            self.used.insert(own.to_owned());
            return Ok(Cow::Borrowed(own));
        }
        if self.rule == Names::Error {
            let reason = if own == clean {
                "another column has this name"
            } else {
                "no predicate can have this name"
            };
            let hint = "name its predicate with `columns`, or say names=\"clean\"";
            return Err(Error::schema(format!("column {own:?}: {reason}; {hint}")));
        }
        let base = if clean.is_empty() { format!("column{position}") } else { clean.into_owned() };
        let numbered = (2..).map(|number| format!("{base}_{number}"));
        let mut names = std::iter::once(base.clone()).chain(numbered);
        let name = names
            .find(|name| !self.used.contains(name) && !self.own.contains(name))
            .expect("numbers do not end");
        self.used.insert(name.clone());
        self.renamed.push((own.to_owned(), name.clone()));
        Ok(Cow::Owned(name))
    }

    /// Adds a sentence about a name.
    pub(in crate::tables) fn note(&mut self, sentence: String) {
        self.others.push(sentence);
    }

    /// The renamed columns, as sentences.
    pub(in crate::tables) fn notes(&self) -> impl Iterator<Item = String> {
        let renamed = self.renamed.iter();
        let renamed =
            renamed.map(|(column, name)| format!("column {column:?} is the predicate {name}"));
        renamed.chain(self.others.iter().cloned())
    }
}

/// The name without what no name of a predicate may have: each run of such characters becomes one
/// `_`. Empty where nothing is left.
pub(in crate::tables) fn clean(own: &str) -> Cow<'_, str> {
    if is_name(own) && !own.contains(['~', '@']) {
        return Cow::Borrowed(own);
    }
    let is_right = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '-');
    let words = own.split(|letter| !is_right(letter)).filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("_");
    if is_name(&name) { Cow::Owned(name) } else { Cow::Borrowed("") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each row: the names of columns => those of predicates.
    #[test]
    fn names_are_made() {
        #[rustfmt::skip]
        let cases: &[(&[&str], &[&str])] = &[
            (&["a", "price($)", "naïve", "a.b"], &["a", "price($)", "naïve", "a.b"]),
            (&["First Name", " x ", "a|b"], &["First_Name", "x", "a_b"]),
            (&["x", "x", "x"], &["x", "x_2", "x_3"]),
            (&["x", "x", "x_2"], &["x", "x_3", "x_2"]),
            (&["", "-", "\"\""], &["column0", "column1", "column2"]),
            (&["a b", "a_b"], &["a_b_2", "a_b"]),
        ];
        for (own, want) in cases {
            let all: Vec<String> = own.iter().map(|name| (*name).to_owned()).collect();
            let mut names = NameChooser::new(Names::Clean, all.iter());
            let choose =
                |(position, own): (usize, &&str)| names.choose(own, position).unwrap().into_owned();
            assert_eq!(own.iter().enumerate().map(choose).collect::<Vec<_>>(), *want);
            let mut names = NameChooser::new(Names::Error, all.iter());
            let refused =
                own.iter().enumerate().any(|(position, own)| names.choose(own, position).is_err());
            assert_eq!(refused, own != want);
        }
    }
}
