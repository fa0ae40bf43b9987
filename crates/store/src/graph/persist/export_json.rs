//! Exports a version as JSON lines, one object for each node, in the form of mutations.

use super::export::{is_exported, is_made_anew};
use crate::graph::version::graph_version::Version;
use crate::graph::version::predicate::{Predicate, PredicateData};
use crate::graph::version::values::ValueList;
use crate::storage::text_of;
use hexgraph_base::types::{DateTime, Error, Result, ValueRef, ValueType};
use roaring::RoaringBitmap;
use std::io::Write;

/// The number of bytes that are buffered before they are written, plus the object of the last node.
const BUFFER_LEN: usize = 1 << 16;

/// Writes the nodes of a version in the order of their uids, and returns the number of their values
/// and edges. With the schema they load back to the same graph, with one exception, since JSON has
/// fewer types: in predicates of type default all values but numbers and bools become texts.
/// `check` is called before each writing; its error ends the export.
///
/// # Errors
///
/// [`Error::Io`] when it can't be written; [`Error::Query`] for passwords, which JSON could only
/// set anew, and for names that mean something else in JSON; what `check` returns.
pub fn export_json(
    version: &Version,
    out: &mut dyn Write,
    check: &dyn Fn() -> Result<()>,
) -> Result<u64> {
    let mut predicates: Vec<(&str, &Predicate)> = Vec::new();
    let mut nodes = RoaringBitmap::new();
    for (name, predicate) in version.predicates() {
        let subjects = predicate.subjects();
        if is_exported(name) && !subjects.is_empty() {
            check_predicate(name, predicate)?;
            nodes |= subjects.to_bitmap();
            predicates.push((name, predicate));
        }
    }
    // Sorted, since a version has them in a hash table, and equal graphs must give equal texts.
    predicates.sort_by_key(|(name, _)| *name);
    let mut object = Object { version, text: Vec::new(), count: 0 };
    for node in nodes {
        object.write(node, &predicates);
        if BUFFER_LEN <= object.text.len() {
            check()?;
            object.flush(out)?;
        }
    }
    object.flush(out)?;
    Ok(object.count)
}

fn check_predicate(name: &str, predicate: &Predicate) -> Result<()> {
    if predicate.def.value_type == ValueType::Password {
        let what = format!("predicate {name} holds passwords, which JSON could only set anew");
        return Err(Error::query(format!("{what}: export .rdf")));
    }
    if name == "namespace" || name.contains('|') {
        let what = format!("predicate {name:?} means something else in JSON");
        return Err(Error::query(format!("{what}: export .rdf")));
    }
    Ok(())
}

/// The lines that are not written yet.
struct Object<'a> {
    version: &'a Version,
    text: Vec<u8>,
    /// The number of values and edges in all lines, written or not.
    count: u64,
}

impl Object<'_> {
    fn write(&mut self, node: u32, predicates: &[(&str, &Predicate)]) {
        let start = self.text.len();
        self.put("{");
        self.uid(node);
        let named = self.text.len();
        for (name, predicate) in predicates {
            let is_list = predicate.def.list;
            match &predicate.data {
                PredicateData::Edges(edges) => {
                    let forward = &edges.forward;
                    if !forward.has(node) {
                        continue;
                    }
                    self.key(name, "");
                    self.put(if is_list { "[" } else { "" });
                    for (at, &target) in forward.targets(node).iter().enumerate() {
                        self.put(if at == 0 { "{" } else { ",{" });
                        self.uid(target);
                        for (key, value) in forward.facets(node, target) {
                            self.key(name, &format!("|{key}"));
                            self.facet(value);
                        }
                        self.put("}");
                        self.count += 1;
                    }
                    self.put(if is_list { "]" } else { "" });
                }
                PredicateData::Values(langs) => {
                    for values in langs.iter().filter(|values| values.has(node)) {
                        let lang = match &*values.lang {
                            "" => String::new(),
                            lang => format!("@{lang}"),
                        };
                        self.values((name, &lang), is_list, &values.values(node));
                    }
                }
            }
        }
        if self.text.len() == named {
            // It has the engine's own types and nothing else.
            self.text.truncate(start);
        } else {
            self.put("}\n");
        }
    }

    /// Appends the values of a predicate in one language, then their facets: for a single value
    /// `"name|key": facet`, for a list `"name|key": {"0": facet, ...}` by the position of the value
    /// in the list.
    fn values(&mut self, (name, lang): (&str, &str), is_list: bool, values: &ValueList<'_>) {
        let is_reported = |position: &usize| !is_made_anew(name, values.get(*position));
        let positions: Vec<usize> = (0..values.len()).filter(is_reported).collect();
        if positions.is_empty() {
            return;
        }
        self.key(name, lang);
        self.put(if is_list { "[" } else { "" });
        for (at, &position) in positions.iter().enumerate() {
            self.put(if at == 0 { "" } else { "," });
            self.value(values.get(position));
            self.count += 1;
        }
        self.put(if is_list { "]" } else { "" });
        let facets: Vec<_> = positions.iter().map(|&position| values.facets(position)).collect();
        let mut keys: Vec<&str> = facets.iter().flatten().map(|(key, _)| *key).collect();
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            self.key(name, &format!("{lang}|{key}"));
            self.put(if is_list { "{" } else { "" });
            let positions = facets.iter().enumerate();
            let of_key = positions.filter_map(|(position, own)| {
                own.iter().find(|(other, _)| *other == key).map(|(_, value)| (position, *value))
            });
            for (at, (position, value)) in of_key.enumerate() {
                if is_list {
                    self.put(&format!("{}\"{position}\":", if at == 0 { "" } else { "," }));
                }
                self.facet(value);
            }
            self.put(if is_list { "}" } else { "" });
        }
    }

    fn uid(&mut self, node: u32) {
        let uid = self.version.nodes.uid(node).0;
        self.put(&format!("\"uid\":\"{uid:#x}\""));
    }

    /// Appends the comma and the key of a member. The first member of each object is its uid.
    fn key(&mut self, name: &str, rest: &str) {
        self.put(",");
        self.quoted(&format!("{name}{rest}"));
        self.put(":");
    }

    fn value(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Int(number) => self.put(itoa::Buffer::new().format(number)),
            // Rust writes the shortest decimal that is read as the same float, with its point.
            ValueRef::Float(number) if number.is_finite() => self.put(&format!("{number:?}")),
            // JSON has no infinities; a mutation reads these texts as such. NaN is never stored.
            ValueRef::Float(number) => self.quoted(if number < 0.0 { "-Inf" } else { "Inf" }),
            ValueRef::Bool(truth) => self.put(if truth { "true" } else { "false" }),
            ValueRef::String(text) | ValueRef::Default(text) if is_read_otherwise(text) => {
                self.typed(text);
            }
            _ => self.quoted(&value.to_text()),
        }
    }

    /// Appends the value of a facet: a text that would be read as a time says that it is none.
    fn facet(&mut self, value: ValueRef<'_>) {
        match text_of(value).filter(|text| DateTime::parse(text).is_ok()) {
            Some(text) => self.typed(text),
            None => self.value(value),
        }
    }

    /// Appends a text that says that it is one.
    fn typed(&mut self, text: &str) {
        self.put("{\"@value\":");
        self.quoted(text);
        self.put(",\"@type\":\"xs:string\"}");
    }

    fn quoted(&mut self, text: &str) {
        serde_json::to_writer(&mut self.text, text).expect("memory takes all that is written");
    }

    fn put(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
    }

    fn flush(&mut self, out: &mut dyn Write) -> Result<()> {
        let written = out.write_all(&self.text);
        self.text.clear();
        written.map_err(|error| Error::io("writing the export", error))
    }
}

/// Whether a text would be parsed as more than a value: as a variable, `uid(v)` or `val(v)`, or as
/// a vector.
fn is_read_otherwise(text: &str) -> bool {
    let text = text.trim_start();
    let rest = text.strip_prefix("uid").or(text.strip_prefix("val"));
    text.starts_with('[') || rest.is_some_and(|rest| rest.trim_start().starts_with('('))
}
