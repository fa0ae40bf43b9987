//! Filters: an input for each type, whose keys are the fields that its nodes can be chosen by.

use apollo_compiler::Name;
use std::collections::{BTreeMap, HashSet};

use crate::generate::definitions::facts::{id_of, is_multi_language, is_settable};
use crate::generate::layout::builtins::{equality_keys, filter_keys};
use crate::generate::layout::tree::{Definition, Entry, Word, list, lower_first, one, required};
use crate::model::{Field, Kind, Model, TypeDef, TypeRef};

/// The filters of fields that types needed so far, without the built-in ones.
#[derive(Default)]
pub(in crate::generate) struct FieldFilters {
    /// The filters by their names.
    pub made: BTreeMap<String, Definition>,
}

impl FieldFilters {
    /// Returns their names: a request may use one function of each at a time.
    pub(in crate::generate) fn names(&self) -> HashSet<Name> {
        self.made.keys().map(|name| Name::new_unchecked(name)).collect()
    }

    /// Makes `TFilter`.
    pub(in crate::generate) fn type_filter(&mut self, model: &Model, def: &TypeDef) -> Definition {
        let name = format!("{}Filter", def.name);
        let id = id_of(def).map(|id| Entry::new(&id.name, list(required(one("ID")))));
        let mut definition = Definition::new(Word::Input, &name).with(id);
        // A filter by ID alone needs no `and` and `or`.
        let ids = definition.fields.len();
        for field in &def.fields {
            if let Some(filter) = self.field_filter(model, field) {
                definition.fields.push(Entry::new(&field.name, one(filter)));
            }
        }
        if def.fields.iter().any(|field| !field.is_id() && is_settable(model, field)) {
            definition.fields.push(Entry::new("has", list(one(format!("{}HasFilter", def.name)))));
        }
        if definition.fields.len() > ids {
            definition.fields.push(Entry::new("and", list(one(&name))));
            definition.fields.push(Entry::new("or", list(one(&name))));
        }
        definition.fields.push(Entry::new("not", one(name)));
        definition
    }

    /// Returns the name of the filter of a field, and makes it where it is new; `None` when nodes
    /// can't be chosen by the field.
    fn field_filter(&mut self, model: &Model, field: &Field) -> Option<String> {
        if field.is_id() || field.is_custom() || field.stored_elsewhere || is_multi_language(field)
        {
            return None;
        }
        // The index that `@id` needs is among them.
        let words: Vec<String> = field.search.iter().map(|index| index.word.clone()).collect();
        if words.is_empty() {
            return None;
        }
        match field.ty.name() {
            ty @ ("Int" | "Int64" | "DateTime") => Some(format!("{ty}Filter")),
            "Float" => (!field.embedding).then(|| "FloatFilter".into()),
            "Boolean" => Some("Boolean".into()),
            "Point" => Some("PointGeoFilter".into()),
            "Polygon" | "MultiPolygon" => Some("PolygonGeoFilter".into()),
            "String" => Some(self.text_filter(None, words)),
            other => match model.get(other)?.kind {
                Kind::Enum => Some(self.text_filter(Some(other), words)),
                _ => None,
            },
        }
    }

    /// Returns the name of the filter that has the functions of all the indexes, and makes it where
    /// it is new.
    fn text_filter(&mut self, enumeration: Option<&str>, mut words: Vec<String>) -> String {
        words.sort();
        words.dedup();
        let parts: Vec<String> = words.iter().map(|word| part_name(enumeration, word)).collect();
        let name = parts.join("_");
        // A single index of texts has a built-in filter; several are one filter with the functions
        // of all.
        let builtin = enumeration.is_none() || !words.iter().any(|word| is_equality(word));
        if (parts.len() > 1 || !builtin) && !self.made.contains_key(&name) {
            let keys = words.iter().zip(&parts).flat_map(|(word, part)| match enumeration {
                Some(ty) if is_equality(word) => enum_keys(ty, word),
                _ => filter_keys(part),
            });
            let entries = keys.map(|(key, ty)| Entry::new(key, written(&ty)));
            self.made.insert(name.clone(), Definition::new(Word::Input, &name).with(entries));
        }
        name
    }
}

/// Makes the filter of a union: the types that are requested, and a filter for each.
pub(in crate::generate) fn union_filter(def: &TypeDef) -> Definition {
    let types = Entry::new("memberTypes", list(required(one(format!("{}Type", def.name)))));
    let members = def.members.iter().map(|member| {
        Entry::new(format!("{}Filter", lower_first(member)), one(format!("{member}Filter")))
    });
    Definition::new(Word::Input, format!("{}Filter", def.name)).with([types]).with(members)
}

/// Returns true for an index that compares entire values.
fn is_equality(word: &str) -> bool {
    matches!(word, "hash" | "exact")
}

/// Returns the name of the filter by one index, of texts or of an enum.
fn part_name(enumeration: Option<&str>, word: &str) -> String {
    let part = match (enumeration, word) {
        (Some(ty), "hash" | "exact") => return format!("{ty}_{word}"),
        (_, "exact") => "StringExactFilter",
        (_, "fulltext") => "StringFullTextFilter",
        (_, "hash") => "StringHashFilter",
        (_, "ngram") => "StringNgramFilter",
        (_, "regexp" | "trigram") => "StringRegExpFilter",
        _ => "StringTermFilter",
    };
    part.to_owned()
}

/// Returns the keys that compare values of an enum. `between` takes a value where a range is
/// expected, as in Dgraph; requests that use it get a message with what to write instead.
fn enum_keys(ty: &str, word: &str) -> Vec<(&'static str, String)> {
    let mut keys = equality_keys(ty);
    if word == "exact" {
        keys.extend(["le", "lt", "ge", "gt", "between"].map(|key| (key, ty.to_owned())));
    }
    keys
}

/// Reads a type that is written `T` or `[T]`.
fn written(ty: &str) -> TypeRef {
    match ty.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(element) => list(one(element)),
        None => one(ty),
    }
}
