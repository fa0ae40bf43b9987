//! Predicates that the nodes of several types have: a table brings another type to a predicate by
//! giving it the same name.

use hexgraph_base::schema::{Schema, is_reserved};
use std::collections::BTreeSet;

/// A sentence names at most so many predicates and types.
const NAMED: usize = 5;

/// The columns whose predicates other types have, and not yet the types of the table.
pub(in crate::tables) struct SharedPredicates {
    /// The columns, with their predicates.
    columns: Vec<(String, String)>,
    /// The other types.
    types: BTreeSet<String>,
    /// The first type of the table.
    own: String,
}

impl SharedPredicates {
    /// Finds predicates of the columns that types other than those of the table have. `None` where
    /// there are none, where the table has no type, and where its types have them already.
    pub(in crate::tables) fn of<'c>(
        schema: &Schema,
        own: &[String],
        columns: impl Iterator<Item = (&'c str, &'c str)>,
    ) -> Option<SharedPredicates> {
        let first = own.first()?;
        let has = |of: &str, predicate: &str| {
            let def = schema.types.get(of);
            def.is_some_and(|def| def.fields.iter().any(|field| field == predicate))
        };
        let others: Vec<&String> =
            schema.types.keys().filter(|name| !own.contains(name) && !is_reserved(name)).collect();
        let mut shared =
            SharedPredicates { columns: Vec::new(), types: BTreeSet::new(), own: first.clone() };
        for (column, predicate) in columns {
            let existing = others.iter().filter(|name| has(name, predicate));
            let existing: Vec<String> = existing.map(|name| (*name).clone()).collect();
            if existing.is_empty() || own.iter().any(|name| has(name, predicate)) {
                continue;
            }
            shared.types.extend(existing);
            shared.columns.push((column.to_owned(), predicate.to_owned()));
        }
        (!shared.columns.is_empty()).then_some(shared)
    }

    /// What is shared with which types, as a sentence.
    pub(in crate::tables) fn note(&self) -> String {
        let names = self.columns.iter().map(|(_, predicate)| format!("`{predicate}`"));
        let are = if self.columns.len() == 1 { "is" } else { "are" };
        let (column, predicate) = &self.columns[0];
        let advice = self.retain_apart(column, predicate);
        format!("{} {are} shared with {}; {advice}", listed(names), self.others())
    }

    /// The same about one column.
    pub(in crate::tables) fn advice(&self, column: &str) -> Option<String> {
        let (column, predicate) = self.columns.iter().find(|(name, _)| name == column)?;
        let advice = self.retain_apart(column, predicate);
        Some(format!("`{predicate}` is shared with {}; {advice}", self.others()))
    }

    fn others(&self) -> String {
        listed(self.types.iter().cloned())
    }

    fn retain_apart(&self, column: &str, predicate: &str) -> String {
        let own = &self.own;
        format!("to keep them apart: columns={{'{column}': '{own}.{predicate}'}} or prefix=True")
    }
}

fn listed(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    let more = if NAMED < names.len() { ", …" } else { "" };
    format!("{}{more}", names[..names.len().min(NAMED)].join(", "))
}
