//! Writes a finished tree as N-Quads: a line for each fact, level by level.

use crate::exec::columns::read::{Langs, typed};
use crate::exec::control::tree::{
    BlockResult, EdgeField, FieldData, FieldResult, Level, ValueField, is_visible,
};
use crate::graph::Version;
use hexgraph_base::answer::{JsonSink, write_json_text};
use hexgraph_base::plan::{Block, Field, FieldKind, Query};
use hexgraph_base::types::{Error, Result, Sink, ValueRef, stack};
use std::io::Write;

/// Says whether the answer to a query can be written as N-Quads.
///
/// # Errors
///
/// [`Error::Query`] that names what has no form in N-Quads: groups, `count(uid)`, `@normalize`,
/// `@ignorereflex`, `checkpwd`, facets.
pub(crate) fn check(query: &Query) -> Result<()> {
    if query.schema.is_some() {
        return Err(unfit("a schema query is"));
    }
    for block in &query.blocks {
        if block.normalize {
            return Err(unfit("the directive @normalize is").or_at(block.at));
        }
        if block.ignore_reflex {
            return Err(unfit("the directive @ignorereflex is").or_at(block.at));
        }
        if block.group_by.is_some() {
            return Err(unfit("@groupby is").or_at(block.at));
        }
        block.fields.iter().try_for_each(|field| check_field(field))?;
    }
    Ok(())
}

fn check_field(field: &Field) -> Result<()> {
    stack::require();
    let kind = match &field.kind {
        FieldKind::CountUid => Some("count(uid) is"),
        FieldKind::CheckPassword { .. } => Some("checkpwd is"),
        FieldKind::Predicate { .. }
        | FieldKind::Uid
        | FieldKind::Count { .. }
        | FieldKind::Val(_)
        | FieldKind::AggregateVar(..)
        | FieldKind::AggregatePredicate { .. }
        | FieldKind::Math(_)
        | FieldKind::Expand(_) => unfit_directive(field),
    };
    match kind {
        Some(kind) => Err(unfit(kind).or_at(field.at)),
        None => field.fields.iter().try_for_each(|field| check_field(field)),
    }
}

fn unfit(what: &str) -> Error {
    Error::query(format!("{what} not supported in the RDF output format")).with_hint("ask for JSON")
}

/// Writes the facts of all visible blocks. `look` is called with the length after each few of them.
///
/// # Errors
///
/// As [`check`]; [`Error::Query`] for a stored value that the schema's type can't hold any more;
/// those of `look`.
pub(crate) fn write(
    version: &Version,
    query: &Query,
    blocks: &[BlockResult],
    out: &mut Vec<u8>,
    look: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<()> {
    check(query)?;
    let mut writer = Writer { version, out, look };
    for result in blocks {
        let block: &Block = &query.blocks[result.block];
        if is_visible(block) {
            writer.level(&result.level)?;
        }
    }
    for result in blocks {
        for path in &result.paths {
            for (step, &hop) in path.hops.iter().enumerate() {
                let field = &query.blocks[result.block].fields[hop];
                writer.edge(path.nodes[step], &field.key, path.nodes[step + 1]);
            }
        }
    }
    Ok(())
}

struct Writer<'a, 'o> {
    version: &'a Version,
    out: &'o mut Vec<u8>,
    look: &'o mut dyn FnMut(usize) -> Result<()>,
}

impl Writer<'_, '_> {
    fn level(&mut self, level: &Level) -> Result<()> {
        // Fields of levels that are begun.
        let mut rest = vec![(level, level.fields.iter())];
        while let Some((level, fields)) = rest.last_mut() {
            let level = *level;
            let Some(result) = fields.next() else {
                rest.pop();
                continue;
            };
            for (position, &node) in level.nodes.iter().enumerate() {
                // The one node of a constant has no uid.
                if level.is_alive(position) && node != u32::MAX {
                    self.field(result, position, node)?;
                    (self.look)(self.out.len())?;
                }
            }
            if let FieldData::Edges(edges) = &result.data {
                rest.push((&edges.level, edges.level.fields.iter()));
            }
        }
        Ok(())
    }

    fn field(&mut self, result: &FieldResult, position: usize, node: u32) -> Result<()> {
        let field = &result.field;
        match &result.data {
            FieldData::Values(values) => self.values(field, values, node),
            FieldData::Edges(edges) => {
                self.edges(field, edges, position, node);
                Ok(())
            }
            FieldData::Counts(counts) => {
                self.fact(node, &field.key, ValueRef::Int(counts[position] as i64));
                Ok(())
            }
            FieldData::Column(map) => {
                let hidden = matches!(field.kind, FieldKind::Val(_)) && map.constant.is_some();
                if let Some(value) = map.get(node).filter(|_| !hidden) {
                    self.fact(node, &field.key, value);
                }
                Ok(())
            }
            FieldData::Nothing | FieldData::Uid | FieldData::CountUid | FieldData::Passwords(_) => {
                Ok(())
            }
        }
    }

    fn edges(&mut self, field: &Field, edges: &EdgeField, position: usize, node: u32) {
        if edges.level.fields.is_empty() {
            return;
        }
        for &target in edges.targets_of(position) {
            let alive =
                edges.level.position(target).is_none_or(|position| edges.level.is_alive(position));
            if alive {
                self.edge(node, name_of(field), target);
            }
        }
    }

    fn values(&mut self, field: &Field, values: &ValueField, node: u32) -> Result<()> {
        let FieldKind::Predicate { langs, .. } = &field.kind else { return Ok(()) };
        if values.is_hidden(node) {
            return Ok(());
        }
        let predicate = &values.predicate;
        let expected = predicate.def.value_type;
        if langs.iter().any(|lang| lang == "*") {
            for (_, list) in values.in_all_langs(node) {
                for value in list.iter() {
                    self.fact(node, name_of(field), typed(value, expected)?.as_ref());
                }
            }
            return Ok(());
        }
        if langs.is_empty() && field.facets.is_none() && 1 < predicate.untagged().len() {
            for value in predicate.untagged_values(node)? {
                self.fact(node, name_of(field), value.as_ref());
            }
            return Ok(());
        }
        if let Some((_, list)) = predicate.values_in(Langs::First(langs), node) {
            for position in values.positions(node, list.len()) {
                self.fact(node, name_of(field), typed(list.get(position), expected)?.as_ref());
            }
        }
        Ok(())
    }

    fn edge(&mut self, node: u32, name: &str, target: u32) {
        let (node, target) = (self.version.nodes.uid(node), self.version.nodes.uid(target));
        self.put(format_args!("<{node}> <{name}> <{target}> .\n"));
    }

    fn fact(&mut self, node: u32, name: &str, value: ValueRef<'_>) {
        if matches!(value, ValueRef::Geo(_) | ValueRef::Password(_)) {
            return;
        }
        let uid = self.version.nodes.uid(node);
        self.put(format_args!("<{uid}> <{name}> "));
        match value {
            ValueRef::String(text) | ValueRef::Default(text) => write_json_text(text, self.out),
            ValueRef::Vector(numbers) => self.vector(numbers),
            // Times stand as in JSON, truths and big floats bare, other numbers as quoted text.
            ValueRef::DateTime(_) | ValueRef::BigFloat(_) | ValueRef::Bool(_) => {
                self.as_json(value, "");
            }
            ValueRef::Int(_)
            | ValueRef::Float(_)
            | ValueRef::Geo(_)
            | ValueRef::Password(_)
            | ValueRef::Binary(_) => self.as_json(value, "\""),
        }
        self.out.extend_from_slice(b" .\n");
    }

    /// Writes a value as in JSON, between quotes.
    fn as_json(&mut self, value: ValueRef<'_>, quote: &str) {
        let mut json = JsonSink::new();
        json.value(value);
        self.put(format_args!("{quote}{}{quote}", json.into_string()));
    }

    /// Writes the numbers of a vector as Dgraph's encoder of JSON does: an answer in JSON has them
    /// with an exponent.
    fn vector(&mut self, numbers: &[f32]) {
        self.out.push(b'[');
        for (position, number) in numbers.iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            let size = number.abs();
            match size == 0.0 || (1e-6..1e21).contains(&size) {
                true => self.put(format_args!("{comma}{number}")),
                false if size < 1.0 => self.put(format_args!("{comma}{number:e}")),
                false => {
                    let text = format!("{number:e}").replace('e', "e+");
                    self.put(format_args!("{comma}{text}"));
                }
            }
        }
        self.out.push(b']');
    }

    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        self.out.write_fmt(text).expect("a vector takes what is written to it");
    }
}

/// The directive of a field that facts can't express.
fn unfit_directive(field: &Field) -> Option<&'static str> {
    if field.group_by.is_some() {
        return Some("@groupby is");
    }
    if field.facets.is_some() {
        return Some("facets are");
    }
    field.normalize.then_some("the directive @normalize is")
}

/// The alias of a field, or its predicate without languages.
fn name_of(field: &Field) -> &str {
    if let Some(alias) = &field.alias {
        return alias;
    }
    if let FieldKind::Predicate { name, reverse: false, .. } = &field.kind {
        return name;
    }
    &field.key
}
