//! A warning: what is answered, and was likely meant otherwise.

use hexgraph_base::types::Position;
use std::fmt;

/// A chunk of a query that is answered with nothing, whatever the data, or likely otherwise than
/// was meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What it is about, for programs.
    pub kind: WarningKind,
    /// What is wrong.
    pub message: String,
    /// The position in the text of the query.
    pub at: Position,
    /// What to write instead; empty when there is nothing to propose.
    pub hint: String,
}

/// What a warning is about. More kinds may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum WarningKind {
    /// A predicate that the schema does not have.
    UnknownPredicate,
    /// A type that the schema does not have.
    UnknownType,
    /// A language of a predicate that has none.
    NoLanguages,
    /// An edge without a selection.
    NoSelection,
    /// A page of the nodes that are grouped.
    GroupedPage,
    /// A variable that has no value at any node where it is used.
    NoValue,
    /// A variable that some nodes lack, where it counts as 0.
    MissingValues,
    /// A variable that is summed over all paths to a node, and is likely meant for one path.
    SummedPaths,
    /// An operator without a result for the types of its operands.
    NoResult,
    /// An argument or a directive that has no effect where it stands.
    Ignored,
    /// An algorithm whose rounds ended before its numbers stood still.
    NotConverged,
    /// A block that nests deeper than many readers of JSON go.
    DeepAnswer,
}

impl WarningKind {
    /// The name, as in the answers of the server.
    ///
    /// ```
    /// use hexgraph::db::WarningKind;
    ///
    /// assert!(!WarningKind::UnknownPredicate.name().is_empty());
    /// assert_ne!(WarningKind::UnknownPredicate.name(), WarningKind::UnknownType.name());
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            WarningKind::UnknownPredicate => "unknown_predicate",
            WarningKind::UnknownType => "unknown_type",
            WarningKind::NoLanguages => "no_languages",
            WarningKind::NoSelection => "no_selection",
            WarningKind::GroupedPage => "grouped_page",
            WarningKind::NoValue => "no_value",
            WarningKind::MissingValues => "missing_values",
            WarningKind::SummedPaths => "summed_ways",
            WarningKind::NoResult => "no_result",
            WarningKind::Ignored => "ignored",
            WarningKind::NotConverged => "not_converged",
            WarningKind::DeepAnswer => "deep_answer",
        }
    }

    /// True for names that the schema does not have, which are likely misspelt.
    ///
    /// ```
    /// use hexgraph::db::WarningKind;
    ///
    /// assert!(WarningKind::UnknownType.is_unknown_name());
    /// assert!(!WarningKind::DeepAnswer.is_unknown_name());
    /// ```
    pub fn is_unknown_name(self) -> bool {
        matches!(self, WarningKind::UnknownPredicate | WarningKind::UnknownType)
    }
}

/// All kinds.
#[cfg(test)]
const KINDS: [WarningKind; 12] = [
    WarningKind::UnknownPredicate,
    WarningKind::UnknownType,
    WarningKind::NoLanguages,
    WarningKind::NoSelection,
    WarningKind::GroupedPage,
    WarningKind::NoValue,
    WarningKind::MissingValues,
    WarningKind::SummedPaths,
    WarningKind::NoResult,
    WarningKind::Ignored,
    WarningKind::NotConverged,
    WarningKind::DeepAnswer,
];

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} column {}: ", self.at.line, self.at.shown_column())?;
        f.write_str(&self.without_position())
    }
}

impl Warning {
    /// What is wrong and what to write instead, for who has not seen the text of the query.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.alter("name: string .")?;
    /// let warnings = db.query("{ q(func: has(name)) { nmae } }")?.warnings();
    /// let text = warnings[0].without_position();
    /// assert!(text.contains("nmae") && !text.contains("line"));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn without_position(&self) -> String {
        let Warning { message, hint, .. } = self;
        if hint.is_empty() { message.clone() } else { format!("{message} ({hint})") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_about_http_names_all_kinds() {
        let page = include_str!("../../../../docs/http.md");
        let (_, table) = page.split_once("### Kinds of warnings").expect("the page has the table");
        for kind in KINDS {
            assert!(table.contains(&format!("`{}`", kind.name())), "{}", kind.name());
        }
        assert_eq!(KINDS.last().map(|kind| *kind as usize + 1), Some(KINDS.len()), "all are here");
    }
}
