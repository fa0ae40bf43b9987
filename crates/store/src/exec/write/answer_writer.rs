//! What nested and flat objects are written with: the sink, the version that values are read from,
//! and which facets and counts an object shows.

use super::columns::Selection;
use super::flat_rows::Flat;
use crate::exec::control::options::ExecOptions;
use crate::exec::control::tree::{EdgeField, FieldData, FieldResult, Level};
use crate::exec::select::facets::EdgeFacets;
use crate::graph::Version;
use hexgraph_base::plan::{Facets, Field, Query};
use hexgraph_base::types::{Sink, ValueRef};
use rustc_hash::FxHashMap;
use std::ptr;
use std::rc::Rc;

/// What is written of a request's answer.
#[derive(Clone, Copy)]
pub(crate) struct AnswerOptions<'a> {
    pub(crate) version: &'a Version,
    pub(crate) query: &'a Query,
    /// The options of the request, and the number of objects that each list gets at the most.
    pub(crate) options: (ExecOptions, usize),
}

impl<'a> AnswerOptions<'a> {
    /// A writer to a sink.
    pub(super) fn writer<'s>(self, sink: &'s mut dyn Sink) -> AnswerWriter<'a, 's> {
        let (options, objects_max) = self.options;
        let (version, selections) = (self.version, Selections::default());
        let flat = Flat::default();
        AnswerWriter { version, options, sink, path: None, objects_max, selections, flat }
    }
}

/// How the objects of levels are read as columns, determined once.
#[derive(Default)]
pub(crate) struct Selections<'a> {
    /// By the address of the level, which outlives the writer; `None` where they are not.
    existing: FxHashMap<*const Level, Option<Rc<Selection<'a>>>>,
    /// The number of the next selection.
    next: usize,
    /// The bytes that all of them hold.
    held: usize,
}

/// The state of the writing of an answer: where values are read from, where they go, and what is
/// left out.
pub(crate) struct AnswerWriter<'a, 's> {
    pub(crate) version: &'a Version,
    pub(crate) options: ExecOptions,
    pub(crate) sink: &'s mut dyn Sink,
    /// With `@ignorereflex`, the nodes from the root to the object that is written.
    pub(crate) path: Option<Vec<u32>>,
    /// The number of objects that each list gets at the most; the others are left out.
    pub(crate) objects_max: usize,
    pub(crate) selections: Selections<'a>,
    /// Where the objects of `@normalize` are made.
    pub(super) flat: Flat<'a>,
}

impl<'a> AnswerWriter<'a, '_> {
    /// How the objects of a level are read as columns; `None` where they are not.
    pub(super) fn selection(&mut self, level: &'a Level) -> Option<Rc<Selection<'a>>> {
        let Selections { existing, next, held } = &mut self.selections;
        let (version, sink) = (self.version, &mut *self.sink);
        let mut reserve = |bytes: usize| {
            *held += bytes;
            sink.announce(*held);
        };
        let of_level = || Selection::of(version, level, next, &mut reserve).map(Rc::new);
        existing.entry(ptr::from_ref(level)).or_insert_with(of_level).clone()
    }

    /// Reserves memory that is held until all is written.
    pub(super) fn hold_more(&mut self, bytes: usize) {
        self.selections.held += bytes;
        self.hold(0);
    }

    /// Reserves memory that is held in addition to the answer and all selections.
    pub(super) fn hold(&mut self, bytes: usize) {
        self.sink.announce(self.selections.held + bytes);
    }
}

/// An edge field whose facets are requested, and the node that the edge comes from.
pub(crate) struct Edge<'e> {
    pub(crate) field: &'e Field,
    pub(crate) facets: &'e Facets,
    pub(crate) stored: EdgeFacets<'e>,
    pub(crate) node: u32,
}

impl<'e> Edge<'e> {
    /// The edge of a field from a node; `None` when no facets are requested, or there are none.
    pub(crate) fn of(field: &'e Field, edges: &'e EdgeField, node: u32) -> Option<Edge<'e>> {
        let facets = field.facets.as_ref()?;
        let stored = EdgeFacets::new(&edges.predicate, edges.reverse)?;
        Some(Edge { field, facets, stored, node })
    }

    /// The part of a facet's key before the bar.
    pub(crate) fn key(&self) -> &str {
        &self.field.key
    }
}

/// The facets that are requested, with the keys that they get.
pub(crate) fn chosen<'v>(
    facets: &Facets,
    prefix: &str,
    result: &[(&str, ValueRef<'v>)],
) -> Vec<(String, ValueRef<'v>)> {
    let mut shown = Vec::new();
    let mut last = None;
    for (name, value) in result {
        // A key whose values are of several types is in several columns: one value is shown.
        if last == Some(*name) {
            continue;
        }
        last = Some(*name);
        if let Some(key) = shown_key(facets, prefix, name) {
            shown.push((key, *value));
        }
    }
    shown
}

/// The key under which a facet is shown; `None` when it was not requested.
pub(crate) fn shown_key(facets: &Facets, prefix: &str, name: &str) -> Option<String> {
    let item = facets.items.iter().find(|item| item.facet == name);
    let ordered = facets.order.iter().any(|key| key.facet == name);
    if !facets.all && item.is_none() && !ordered {
        return None;
    }
    match item.and_then(|item| item.alias.as_ref()) {
        Some(alias) => Some(alias.clone()),
        None => Some([prefix, "|", name].concat()),
    }
}

/// The fields `count(uid)` of a level: each is an object by itself.
pub(crate) fn counts_of(level: &Level) -> impl Iterator<Item = &Field> {
    let counts = |result: &&FieldResult| matches!(result.data, FieldData::CountUid);
    level.fields.iter().filter(counts).map(|result| &*result.field)
}
