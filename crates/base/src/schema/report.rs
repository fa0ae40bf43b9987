//! The report on a change of the schema: what it added, changed, dropped and built.

use std::fmt;

use crate::schema::{Options, PredicateDef, Schema, Tokenizer, TypeDef};

/// What a change of the schema added, changed, dropped and built.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SchemaReport {
    /// New predicates and types, and what existing ones gained: indexes, directives, fields.
    pub added: Vec<SchemaItem>,
    /// Predicates whose type changed.
    pub changed: Vec<SchemaItem>,
    /// What predicates and types lost: indexes, directives, fields.
    pub dropped: Vec<SchemaItem>,
    /// Indexes and reverse edges that were built from existing data.
    pub rebuilt: Vec<SchemaItem>,
    /// Predicates with values that have no equivalent in their new type: how many, and the first
    /// ones.
    pub unread: Vec<SchemaItem>,
}

/// One entry of a report: a predicate or a type, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaItem {
    /// The name of the predicate, or `type T` for a type.
    pub of: String,
    /// The part that the entry is about, as schema text.
    pub what: String,
}

impl fmt::Display for SchemaItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.of, self.what)
    }
}

impl SchemaReport {
    /// Returns true when nothing changed.
    pub fn is_empty(&self) -> bool {
        let SchemaReport { added, changed, dropped, rebuilt, unread } = self;
        [added, changed, dropped, rebuilt, unread].iter().all(|items| items.is_empty())
    }

    /// Returns the lists with their names.
    pub fn parts(&self) -> [(&'static str, &[SchemaItem]); 5] {
        [
            ("added", &self.added),
            ("changed", &self.changed),
            ("dropped", &self.dropped),
            ("rebuilt", &self.rebuilt),
            ("unread", &self.unread),
        ]
    }
}

impl Schema {
    /// Returns what happens when definitions replace those of this schema. `has_data` returns true
    /// if any node has a value or an edge of a predicate.
    pub fn report(
        &self,
        predicates: &[PredicateDef],
        types: &[TypeDef],
        has_data: &dyn Fn(&str) -> bool,
    ) -> SchemaReport {
        let mut report = SchemaReport::default();
        for new in predicates {
            report.predicate(self.predicates.get(&new.name), new, has_data(&new.name));
        }
        for new in types {
            report.fields(self.types.get(&new.name), new);
        }
        report
    }
}

impl SchemaReport {
    fn predicate(&mut self, old: Option<&PredicateDef>, new: &PredicateDef, has_data: bool) {
        let item = |what: String| SchemaItem { of: new.name.clone(), what };
        let now = words(&new.options());
        let before = old.map(|old| words(&old.options())).unwrap_or_default();
        let is_other = old.is_some_and(|old| old.type_text() != new.type_text());
        match old {
            None => {
                let mut what = new.type_text();
                now.iter().for_each(|word| {
                    what.push(' ');
                    what.push_str(word);
                });
                self.added.push(item(what));
            }
            Some(old) => {
                if is_other {
                    self.changed.push(item(format!(
                        "{} instead of {}",
                        new.type_text(),
                        old.type_text()
                    )));
                }
                let gained = now.iter().filter(|it| !before.contains(it));
                self.added.extend(gained.map(|it| item(it.clone())));
                let lost = before.iter().filter(|it| !now.contains(it));
                self.dropped.extend(lost.map(|it| item(it.clone())));
            }
        }
        if has_data {
            let is_built = |it: &&String| {
                let is_retained = it.starts_with("@index") || *it == "@reverse";
                is_retained && (!before.contains(it) || is_other && it.starts_with("@index"))
            };
            self.rebuilt.extend(now.iter().filter(is_built).map(|it| item(it.clone())));
        }
    }

    fn fields(&mut self, old: Option<&TypeDef>, new: &TypeDef) {
        let item = |what: String| SchemaItem { of: format!("type {}", new.name), what };
        let Some(old) = old else {
            self.added.push(item(new.fields.join(", ")));
            return;
        };
        let gained = new.fields.iter().filter(|it| !old.fields.contains(it));
        self.added.extend(gained.map(|it| item(it.clone())));
        let lost = old.fields.iter().filter(|it| !new.fields.contains(it));
        self.dropped.extend(lost.map(|it| item(it.clone())));
    }
}

/// Returns the options as schema text, one entry for each directive and each index.
fn words(options: &Options) -> Vec<String> {
    let index = |index: &Tokenizer| match index {
        Tokenizer::Hnsw(hnsw) if !hnsw.written().is_empty() => {
            let written = hnsw.written().iter();
            let written: Vec<String> =
                written.map(|(name, value)| format!("{name}: \"{value}\"")).collect();
            format!("@index(hnsw({}))", written.join(", "))
        }
        other => format!("@index({})", other.name()),
    };
    let mut words: Vec<String> = options.indexes.iter().map(index).collect();
    let flags = [
        (options.lang, "@lang"),
        (options.reverse, "@reverse"),
        (options.count, "@count"),
        (options.upsert, "@upsert"),
        (options.unique, "@unique"),
        (options.noconflict, "@noconflict"),
    ];
    words.extend(flags.iter().filter(|(is_set, _)| *is_set).map(|(_, word)| (*word).to_owned()));
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::parse_schema;

    #[test]
    fn all_differences_are_reported() {
        let mut schema = Schema::new();
        let old = "name: string @index(exact, term) @lang .\norigin: [uid] @reverse @count .\nage: int @index(int) .\n\
                   same: bool .\ntype T {\n name\n age\n}\n";
        schema.apply(&parse_schema(old).unwrap());
        let new = "name: string @index(exact, trigram) .\norigin: [uid] .\nage: float @index(float) .\nsame: bool .\n\
                   new: [string] @index(hash) @upsert .\ntype T {\n age\n new\n}\ntype U {\n name\n age\n}\n";
        let new = parse_schema(new).unwrap();
        let report = schema.report(&new.predicates, &new.types, &|name| name != "new");
        let reported =
            |items: &[SchemaItem]| items.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            reported(&report.added),
            [
                "name: @index(trigram)",
                "age: @index(float)",
                "new: [string] @index(hash) @upsert",
                "type T: new",
                "type U: name, age",
            ]
        );
        assert_eq!(reported(&report.changed), ["age: float instead of int"]);
        let dropped = [
            "name: @index(term)",
            "name: @lang",
            "origin: @reverse",
            "origin: @count",
            "age: @index(int)",
            "type T: name",
        ];
        assert_eq!(reported(&report.dropped), dropped);
        assert_eq!(reported(&report.rebuilt), ["name: @index(trigram)", "age: @index(float)"]);
        let old = parse_schema(old).unwrap();
        let again = schema.report(&old.predicates, &old.types, &|_| true);
        assert!(again.is_empty(), "{again:?}");
    }
}
