//! Checks which changes of the schema are allowed, and computes what they replace.

use std::collections::HashSet;

use crate::schema::definition::{is_reserved, predefined_predicates, predefined_types};
use crate::schema::{PredicateDef, Schema, SchemaText, TypeDef};
use crate::types::{Error, Result, ValueType, did_you_mean};

/// The change of one predicate. The indexes are rebuilt by comparing its two definitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The definition before the change; `None` for a new predicate.
    pub old: Option<PredicateDef>,
    /// The definition after the change, which replaces the old one completely.
    pub new: PredicateDef,
}

impl Schema {
    /// Returns what a schema text would change, in the order of the text, without the predicates
    /// that stay the same. `has_data` returns true if any node has a value or an edge of the
    /// predicate.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`] for the first declaration that is not allowed.
    pub fn check_change(
        &self,
        text: &SchemaText,
        has_data: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        for new in &text.predicates {
            check_predicate_name(new)?;
            let old = self.predicates.get(&new.name);
            if old == Some(new) {
                continue;
            }
            if let Some(old) = old {
                check_type_change(old, new, has_data)?;
            }
            changes.push(Change { old: old.cloned(), new: new.clone() });
        }
        let declared: HashSet<&str> = text.predicates.iter().map(|def| &*def.name).collect();
        for def in &text.types {
            check_type_name(def)?;
            self.check_fields(def, &declared)?;
        }
        Ok(changes)
    }

    /// Replaces definitions by those of a text, which [`Schema::check_change`] must have allowed.
    pub fn apply(&mut self, text: &SchemaText) {
        for def in &text.predicates {
            self.predicates.insert(def.name.clone(), def.clone());
        }
        for def in &text.types {
            self.types.insert(def.name.clone(), def.clone());
        }
    }

    /// Checks whether a type of this name may be declared. Its fields are not looked at.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`] for a name that only the engine may declare.
    pub fn check_type(&self, def: &TypeDef) -> Result<()> {
        check_type_name(def)
    }

    fn check_fields(&self, def: &TypeDef, declared: &HashSet<&str>) -> Result<()> {
        for field in &def.fields {
            let predicate = field.strip_prefix('~').unwrap_or(field);
            if !declared.contains(predicate) && !self.predicates.contains_key(predicate) {
                let existing = declared.iter().copied();
                let existing = existing.chain(self.predicates.keys().map(String::as_str));
                let hint = match did_you_mean(predicate, existing) {
                    near if near.is_empty() => match field.starts_with('~') {
                        true => format!("declare it: `{predicate}: [uid] @reverse .`"),
                        false => format!("declare it: `{predicate}: string .`"),
                    },
                    near => near,
                };
                let message =
                    format!("field `{field}` of type `{}` is no predicate of the schema", def.name);
                return Err(Error::schema(message).with_hint(hint));
            }
        }
        Ok(())
    }
}

fn check_predicate_name(new: &PredicateDef) -> Result<()> {
    if !is_reserved(&new.name) {
        return Ok(());
    }
    match predefined_predicates().into_iter().find(|def| def.name == new.name) {
        Some(def) if def == *new => Ok(()),
        Some(_) => Err(built_in("predicate", &new.name)),
        None => Err(reserved("predicate", &new.name)),
    }
}

fn check_type_name(new: &TypeDef) -> Result<()> {
    if !is_reserved(&new.name) {
        return Ok(());
    }
    match predefined_types().into_iter().find(|def| def.name == new.name) {
        Some(def) if def == *new => Ok(()),
        Some(_) => Err(built_in("type", &new.name)),
        None => Err(reserved("type", &new.name)),
    }
}

fn reserved(kind: &str, name: &str) -> Error {
    Error::schema(format!(
        "Can't alter {kind} `{name}` as it is prefixed with `dgraph.` which is reserved as the namespace for dgraph's internal types/predicates."
    ))
}

fn built_in(kind: &str, name: &str) -> Error {
    let message = format!("{kind} {name} is pre-defined and is not allowed to be modified");
    Error::schema(message).with_hint("leave it out")
}

fn refused_change(old: &PredicateDef, new: &PredicateDef, why: &str) -> Error {
    let (name, from, to) = (&new.name, old.type_text(), new.type_text());
    let message = format!("`{name}` can't become {to}, it is {from}: {why}");
    Error::schema(message).with_hint(format!("drop `{name}` first, or keep its type"))
}

fn check_type_change(
    old: &PredicateDef,
    new: &PredicateDef,
    has_data: &dyn Fn(&str) -> bool,
) -> Result<()> {
    let (from, to) = (old.value_type, new.value_type);
    let password = from == ValueType::Password || to == ValueType::Password;
    if password && from != to {
        return Err(refused_change(old, new, "passwords are hashes"));
    }
    if (from == ValueType::Uid) != (to == ValueType::Uid) && has_data(&new.name) {
        return Err(refused_change(old, new, "it has data"));
    }
    if old.list && !new.list {
        return Err(refused_change(old, new, "a list does not fit into one value"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::Value as Json;

    use super::*;
    use crate::schema::parse_schema;

    /// Checks a text against a schema that another text declared.
    fn check(old: &str, new: &str, data: bool) -> Result<Vec<Change>> {
        let mut schema = Schema::new();
        schema.apply(&parse_schema(old)?);
        schema.check_change(&parse_schema(new)?, &|_| data)
    }

    /// Each row: declared before, requested, whether there is data, a part of the error.
    #[test]
    fn refused_changes() {
        #[rustfmt::skip]
        let cases = [
            ("a: int .", "a: password .", false, "`a` can't become password, it is int"),
            ("a: password .", "a: string .", false, "`a` can't become string, it is password"),
            ("a: password .", "a: uid .", false, "can't become uid, it is password"),
            ("a: int .", "a: uid .", true, "`a` can't become uid, it is int: it has data (drop `a` first"),
            ("a: [uid] .", "a: string .", true, "can't become string, it is [uid]"),
            ("a: [string] .", "a: string .", true, "`a` can't become string, it is [string]: a list"),
            ("a: [uid] .", "a: uid .", true, "can't become uid, it is [uid]"),
            ("", "dgraph.foo: string .", false, "Can't alter predicate `dgraph.foo` as it is prefixed with `dgraph.` which is reserved"),
            ("", "type dgraph.Foo {}", false, "Can't alter type `dgraph.Foo` as it is prefixed"),
            ("", "dgraph.type: [string] .", false, "predicate dgraph.type is pre-defined and is not allowed to be modified"),
            ("", "type dgraph.graphql {}", false, "type dgraph.graphql is pre-defined and is not allowed to be modified"),
            ("", "type T {\n x\n}", false, "field `x` of type `T` is no predicate"),
            ("", "type T {\n <~x>\n}", false, "field `~x` of type `T` is no predicate"),
        ];
        for (old, new, data, part) in cases {
            let fault = check(old, new, data).expect_err(new).to_string();
            assert!(fault.contains(part), "{fault}");
        }
    }

    #[test]
    fn allowed_changes() {
        for (old, new, data) in [
            ("a: int .", "a: datetime @index(day) .", true),
            ("a: string .", "a: [string] .", true),
            ("a: uid .", "a: [uid] @reverse @count .", true),
            ("a: int .", "a: uid .", false),
            ("a: password .", "a: password @noconflict .", true),
            ("", "a: int .\ntype T {\n a\n <~a>\n dgraph.type\n}", false),
        ] {
            assert_eq!(check(old, new, data).unwrap().len(), 1, "{new}");
        }
    }

    #[test]
    fn what_stays_is_no_change() {
        let same = "a: int @index(int) .\ndgraph.type: [string] @index(exact) .";
        assert_eq!(check("a: int @index(int) .", same, true).unwrap(), []);
        let changes = check("a: int @index(int) .", "a: int .\nb: uid .", true).unwrap();
        assert_eq!(changes[0].old.as_ref().unwrap().indexes.len(), 1);
        assert_eq!((changes[0].new.indexes.len(), &changes[1].old), (0, &None));
    }

    /// Every recorded alter, in order. What made Dgraph refuse one may be data that is not
    /// looked at here, so there is data exactly where an alter failed.
    #[test]
    fn recorded_alters_agree() {
        let folder = std::env::var_os("HEXGRAPH_SHARED").map_or_else(
            || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
            PathBuf::from,
        );
        for file in ["suite", "suite_alpha", "suite_systest", "suite_unique", "suite_vector"] {
            let path = folder.join(format!("conformance/dql/{file}.jsonl"));
            let Ok(lines) = std::fs::read_to_string(&path) else {
                println!("skipped: no {}", path.display());
                continue;
            };
            let mut schema = Schema::new();
            let mut seen = 0;
            for line in lines.lines() {
                let case: Json = serde_json::from_str(line).unwrap();
                seen += usize::from(replay(&mut schema, &case));
            }
            assert!(10 < seen, "{file}: {seen}");
        }
    }

    fn replay(schema: &mut Schema, case: &Json) -> bool {
        let raw = case["op"] == "http" && case["path"] == "/alter";
        if case["op"] != "alter" && !raw {
            return false;
        }
        let body = case["body"].as_str().unwrap_or_default();
        let operation: Json =
            if raw { serde_json::from_str(body).unwrap_or_default() } else { case.clone() };
        if operation["drop_all"] == true {
            *schema = Schema::new();
        }
        if let Some(name) = operation["drop_attr"].as_str() {
            schema.predicates.remove(name);
        }
        let text = case["schema"].as_str().unwrap_or(if operation.is_null() { body } else { "" });
        // The server was about to stop, which says nothing of the text.
        let draining = case["result"].to_string().contains("draining mode");
        let refused = case.get("error").is_some() || !case["result"]["errors"].is_null();
        if text.is_empty() || draining {
            return false;
        }
        let checked =
            parse_schema(text).and_then(|new| schema.check_change(&new, &|_| refused).map(|_| new));
        assert_eq!(checked.is_err(), refused, "{}: {text}\n{checked:?}", case["id"]);
        if let Ok(new) = checked {
            schema.apply(&new);
        }
        true
    }
}
