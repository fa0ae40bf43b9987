//! Writes a finished tree as nested objects, reading values as it goes.
//!
//! An object whose fields are all empty is taken back, and so is a list of which nothing is left.

use super::algorithm_rows::write_rows;
use super::answer_writer::{AnswerWriter, Edge, Wanted, chosen, counts_of, shown_key};
use super::columns::rows::Rows;
use super::groups::GroupList;
use super::normalize::write_flat;
use crate::exec::control::tree::{
    BlockResult, EdgeField, FieldData, FieldResult, Level, ValueField, all_langs_key, is_visible,
};
use crate::exec::select::facets::EdgeFacets;
use crate::exec::select::read::{Langs, typed};
use crate::graph::{LangValues, Predicate, ValueList};
use hexgraph_base::plan::{Block, BlockKind, Facets, Field, FieldKind, Query};
use hexgraph_base::types::{Result, Sink, ValueRef, ValueType, stack};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// Writes the `data` object of a request, at most `objects_max` objects of each list.
pub(crate) fn write<'a>(
    wanted: Wanted<'a>,
    blocks: &'a [BlockResult],
    sink: &mut dyn Sink,
) -> Result<()> {
    sink.begin_object();
    let mut writer = wanted.writer(sink);
    for result in blocks {
        let block = &wanted.query.blocks[result.block];
        if is_visible(block) {
            writer.block(block, result)?;
        }
    }
    writer.all_paths(wanted.query, blocks);
    writer.sink.end_object();
    Ok(())
}

/// Adds to each predicate the nodes that it was asked of.
pub(crate) fn count_touched<'l>(level: &'l Level, touched: &mut BTreeMap<&'l str, u64>) {
    stack::require();
    for result in &level.fields {
        let name = match &result.field.kind {
            FieldKind::Predicate { name, .. }
            | FieldKind::Count { name, .. }
            | FieldKind::CheckPassword { name, .. } => name.as_str(),
            FieldKind::Uid => "uid",
            _ => continue,
        };
        *touched.entry(name).or_default() += level.nodes.len() as u64;
        if let FieldData::Edges(edges) = &result.data {
            count_touched(&edges.level, touched);
        }
    }
}

impl<'a> AnswerWriter<'a, '_> {
    /// Writes a block under its name.
    pub(super) fn block(&mut self, block: &'a Block, result: &'a BlockResult) -> Result<()> {
        if let (Some(groups), Some(group_by)) = (&result.groups, &block.group_by) {
            if !groups.is_empty() {
                self.sink.key(&block.name);
                self.sink.begin_array();
                self.groups(GroupList::of(groups), group_by, &block.fields);
                self.sink.end_array();
            }
            return Ok(());
        }
        self.sink.key(&block.name);
        self.sink.begin_array();
        if let Some(found) = &result.algorithm {
            write_rows(self, &block.name, found);
            self.sink.end_array();
            return Ok(());
        }
        if block.kind == BlockKind::Empty {
            self.empty_block(&result.level, block.normalize)?;
            self.sink.end_array();
            return Ok(());
        }
        self.root_counts(block, result);
        self.roots(block, result, 0..result.roots.len())?;
        self.sink.end_array();
        Ok(())
    }

    /// Writes the numbers of a block's roots that are asked for, each as an object.
    pub(super) fn root_counts(&mut self, block: &Block, result: &BlockResult) {
        for field in counts_of(&result.level).filter(|field| is_shown(field, block.normalize)) {
            self.count_object(field, result.count.unwrap_or(result.roots.len()));
        }
    }

    /// Writes the objects of some of a block's roots.
    pub(super) fn roots(
        &mut self,
        block: &'a Block,
        result: &'a BlockResult,
        places: Range<usize>,
    ) -> Result<()> {
        self.path = block.ignore_reflex.then(Vec::new);
        let roots = &result.roots[places.clone()];
        self.list(&result.level, roots, places.start, block.normalize, None)
    }

    /// Writes the objects of some nodes of a level, whose first one is probably at a place of the level.
    fn list(
        &mut self,
        level: &'a Level,
        nodes: &[u32],
        near: usize,
        normalize: bool,
        edge: Option<&Edge<'_>>,
    ) -> Result<()> {
        let mut rows = match edge {
            None if !normalize => Rows::of(self, level, nodes.len()),
            _ => None,
        };
        let kept: Vec<u32>;
        let nodes = match &level.alive {
            // Whoever has gone is written as nothing, and is no column.
            Some(alive) if rows.is_some() => {
                let is_alive = |node: &u32| level.place(*node).is_some_and(|place| alive[place]);
                kept = nodes.iter().copied().filter(is_alive).collect();
                &kept
            }
            _ => nodes,
        };
        let (mut at, mut next, mut written) = (0, near, 0);
        while at < nodes.len() && written < self.objects_max {
            if let Some(rows) = &mut rows {
                let done = rows.write(self, &nodes[at..], next);
                (at, next, written) = (at + done, next + done, written + done);
            }
            let Some(&node) = nodes.get(at) else { break };
            at += 1;
            // Nodes mostly come in the order of their level, so the next place is the first guess.
            let Some(place) = level.place_near(node, next) else { continue };
            next = place + 1;
            written += match normalize {
                true => write_flat(self, level, place, edge).map(|()| 1)?,
                false => usize::from(self.object(level, place, edge)?),
            };
        }
        Ok(())
    }

    /// Each aggregate of an empty block is an object by itself.
    fn empty_block(&mut self, level: &'a Level, normalize: bool) -> Result<()> {
        for result in level.fields.iter().filter(|result| is_shown(&result.field, normalize)) {
            let FieldData::Column(map) = &result.data else { continue };
            self.sink.begin_object();
            self.sink.key(&result.field.key);
            match &map.constant {
                Some(value) => self.sink.value(value.as_ref()),
                None => self.sink.null(),
            }
            self.sink.end_object();
        }
        Ok(())
    }

    fn count_object(&mut self, field: &Field, count: usize) {
        self.sink.begin_object();
        self.sink.key(field.alias.as_deref().unwrap_or("count"));
        self.sink.int(count as i64);
        self.sink.end_object();
    }

    /// Writes the object of a node, with the facets of the edge that led to it behind the fields.
    /// Gives whether there was anything to write.
    fn object(&mut self, level: &'a Level, place: usize, edge: Option<&Edge<'_>>) -> Result<bool> {
        stack::require();
        let node = level.nodes[place];
        if !level.is_alive(place) || self.path.as_ref().is_some_and(|path| path.contains(&node)) {
            return Ok(false);
        }
        // Kept for `@ignorereflex` alone, which leaves out whoever stands above already.
        if let Some(path) = &mut self.path {
            path.push(node);
        }
        self.sink.begin_object();
        let mut rest = level.fields.as_slice();
        while let [result, others @ ..] = rest {
            let same = same_edges(result, others);
            match same {
                _ if may_repeat(&result.field) => self.repeated(level, place, rest)?,
                0 => self.field(level, place, result)?,
                _ => self.merged_edges(&rest[..=same], place, node)?,
            }
            rest = &others[same..];
        }
        if let Some(path) = &mut self.path {
            path.pop();
        }
        if self.sink.is_empty() {
            self.sink.discard_object();
            return Ok(false);
        }
        if let Some(edge) = edge {
            self.edge_facets(edge, node);
        }
        let has_uid = level.fields.iter().any(|result| result.field.key == "uid");
        if self.options.debug && !has_uid {
            self.sink.key("uid");
            self.sink.uid(self.version.nodes.uid(node));
        }
        self.sink.end_object();
        Ok(true)
    }

    fn field(&mut self, level: &'a Level, place: usize, result: &'a FieldResult) -> Result<()> {
        let node = level.nodes[place];
        let field = &result.field;
        match &result.data {
            FieldData::Nothing | FieldData::CountUid => {}
            FieldData::Uid => {
                self.sink.key(&field.key);
                self.sink.uid(self.version.nodes.uid(node));
            }
            FieldData::Values(values) if values.shares_key => {
                self.shared_values(level, field, values, node)?;
            }
            FieldData::Values(values) => self.values(field, values, node)?,
            FieldData::Edges(edges) => self.edges(field, edges, place, node)?,
            FieldData::Counts(counts) => {
                self.sink.key(&field.key);
                self.sink.int(counts[place] as i64);
            }
            FieldData::Column(map) => {
                // One value for all is shown at the node that stands for it.
                let hidden = matches!(field.kind, FieldKind::Val(_))
                    && map.constant.is_some()
                    && node != u32::MAX;
                if let Some(value) = map.get(node).filter(|_| !hidden) {
                    self.sink.key(&field.key);
                    self.sink.value(value);
                }
            }
            FieldData::Passwords(answers) => {
                self.sink.key(&field.key);
                self.sink.value(ValueRef::Bool(answers[place]));
            }
        }
        Ok(())
    }

    /// The first of `rest`, a field whose key others of the level may have: the values of all are an
    /// array at the place of the first, so that no object has a key twice.
    fn repeated(&mut self, level: &'a Level, place: usize, rest: &'a [FieldResult]) -> Result<()> {
        let Some((first, others)) = rest.split_first() else { return Ok(()) };
        let is_same =
            |other: &FieldResult| other.field.key == first.field.key && may_repeat(&other.field);
        let before = &level.fields[..level.fields.len() - rest.len()];
        if before.iter().any(is_same) {
            return Ok(());
        }
        if !others.iter().any(is_same) {
            return self.field(level, place, first);
        }
        self.sink.key(&first.field.key);
        self.sink.begin_array();
        for result in rest.iter().filter(|result| is_same(result)) {
            match &result.data {
                FieldData::Counts(counts) => self.sink.int(counts[place] as i64),
                FieldData::Passwords(answers) => self.sink.value(ValueRef::Bool(answers[place])),
                FieldData::Column(map) => {
                    if let Some(value) = map.get(level.nodes[place]) {
                        self.sink.value(value);
                    }
                }
                _ => {}
            }
        }
        self.end_edges();
        Ok(())
    }

    fn values(&mut self, field: &Field, values: &ValueField, node: u32) -> Result<()> {
        let FieldKind::Predicate { name, langs, .. } = &field.kind else { return Ok(()) };
        if values.is_hidden(node) {
            return Ok(());
        }
        let predicate = &values.predicate;
        if langs.iter().any(|lang| lang == "*") {
            return self.all_langs(field, name, values, node, |_| true);
        }
        if langs.is_empty() && field.facets.is_none() && 1 < predicate.untagged().len() {
            return self.untagged(&field.key, predicate, node);
        }
        if !predicate.def.list && field.facets.is_none() {
            return match predicate.first_in(langs, node) {
                Some(value) => self.value(&field.key, value, predicate.def.value_type),
                None => Ok(()),
            };
        }
        if let Some((_, list)) = predicate.values_in(Langs::First(langs), node) {
            self.value_list(&field.key, field, predicate, &list, values.places(node, list.len()))?;
        }
        Ok(())
    }

    /// The values of a predicate whose `@lang` was taken away: those of all languages.
    fn untagged(&mut self, key: &str, predicate: &Predicate, node: u32) -> Result<()> {
        let values = predicate.untagged_values(node)?;
        match values.as_slice() {
            [] => {}
            [value] if !predicate.def.list => {
                self.sink.key(key);
                self.sink.value(value.as_ref());
            }
            values => {
                self.sink.key(key);
                self.sink.begin_array();
                values.iter().for_each(|value| self.sink.value(value.as_ref()));
                self.sink.end_array();
            }
        }
        Ok(())
    }

    /// `name@*`: every language under its own key, the untagged value last.
    fn all_langs(
        &mut self,
        field: &Field,
        name: &str,
        values: &ValueField,
        node: u32,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<()> {
        let name = field.alias.as_deref().unwrap_or(name);
        let (untagged, tagged): (Vec<_>, Vec<_>) =
            values.in_all_langs(node).partition(|(part, _)| part.lang.is_empty());
        let all = tagged.into_iter().chain(untagged);
        let all = all.map(|(part, list)| (key_in(name, part), list));
        let mut all = all.filter(|(key, _)| is_wanted(key));
        let wanted = values.predicate.def.value_type;
        let Some(facets) = &field.facets else {
            return all.try_for_each(|(key, list)| self.value(&key, list.get(0), wanted));
        };
        let all: Vec<(Cow<'_, str>, ValueList<'_>)> = all.collect();
        let shown = all.iter().map(|(key, list)| chosen(facets, key, &list.facets(0)));
        let shown = first_shown(shown.collect());
        for ((key, list), shown) in all.iter().zip(&shown) {
            self.facets(shown);
            self.value(key, list.get(0), wanted)?;
        }
        Ok(())
    }

    /// The values of `l@en` or `l@*` where both are asked for: those of one key are an array at the place of the former.
    fn shared_values(
        &mut self,
        level: &'a Level,
        field: &Field,
        values: &ValueField,
        node: u32,
    ) -> Result<()> {
        let FieldKind::Predicate { name, .. } = &field.kind else { return Ok(()) };
        let of = |result: &'a FieldResult| match &result.data {
            FieldData::Values(values) if values.shares_key => Some((&*result.field, values)),
            _ => None,
        };
        let mut sharing = level.fields.iter().filter_map(of);
        let has = |field: &Field, values: &ValueField| {
            let FieldKind::Predicate { langs, .. } = &field.kind else { return false };
            !values.is_hidden(node) && values.predicate.first_in(langs, node).is_some()
        };
        if all_langs_key(field).is_some() {
            let single: Vec<&str> = sharing
                .filter(|(field, values)| all_langs_key(field).is_none() && has(field, values))
                .map(|(field, _)| field.key.as_str())
                .collect();
            return self.all_langs(field, name, values, node, |key| !single.contains(&key));
        }
        if !has(field, values) {
            return Ok(());
        }
        let first = |(other, values): (&Field, &'a ValueField)| {
            let plain = all_langs_key(other)?;
            let mut all = values.in_all_langs(node);
            let (_, list) = all.find(|(part, _)| key_in(plain, part) == field.key)?;
            Some((list.get(0), values.predicate.def.value_type))
        };
        let Some((more, wanted)) = sharing.find_map(first) else {
            return self.values(field, values, node);
        };
        let FieldKind::Predicate { langs, .. } = &field.kind else { return Ok(()) };
        let own = values.predicate.values_in(Langs::First(langs), node);
        let Some((_, own)) = own else { return Ok(()) };
        if let Some(facets) = &field.facets {
            let places = values.places(node, own.len());
            self.value_facets(&field.key, facets, &values.predicate, &own, places);
        }
        self.sink.key(&field.key);
        self.sink.begin_array();
        for (value, wanted) in [(own.get(0), values.predicate.def.value_type), (more, wanted)] {
            self.sink.value(typed(value, wanted)?.as_ref());
        }
        self.sink.end_array();
        Ok(())
    }

    fn value_list(
        &mut self,
        key: &str,
        field: &Field,
        predicate: &Predicate,
        list: &ValueList<'_>,
        places: impl Iterator<Item = usize> + Clone,
    ) -> Result<()> {
        if let Some(facets) = &field.facets {
            self.value_facets(key, facets, predicate, list, places.clone());
        }
        let wanted = predicate.def.value_type;
        if !predicate.def.list {
            return self.value(key, list.get(0), wanted);
        }
        self.sink.key(key);
        self.sink.begin_array();
        for place in places.take(self.objects_max) {
            self.sink.value(typed(list.get(place), wanted)?.as_ref());
        }
        self.sink.end_array();
        Ok(())
    }

    fn value(&mut self, key: &str, value: ValueRef<'_>, wanted: ValueType) -> Result<()> {
        self.sink.key(key);
        // Nearly always; a detour through what may be converted would double the time of a value.
        if value.value_type() == wanted {
            self.sink.value(value);
            return Ok(());
        }
        self.sink.value(typed(value, wanted)?.as_ref());
        Ok(())
    }

    /// Facets of values: before the value; those of a list as a map by position.
    fn value_facets(
        &mut self,
        key: &str,
        facets: &Facets,
        predicate: &Predicate,
        list: &ValueList<'_>,
        places: impl Iterator<Item = usize>,
    ) {
        let found: Vec<Vec<(&str, ValueRef<'_>)>> =
            places.map(|place| list.facets(place)).collect();
        if !predicate.def.list {
            return self.facets(&chosen(facets, key, &found[0]));
        }
        let mut names: Vec<&str> = found.iter().flatten().map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let Some(shown) = shown_key(facets, key, name) else { continue };
            self.sink.key(&shown);
            self.sink.begin_object();
            for (place, facets) in found.iter().enumerate() {
                if let Some((_, value)) = facets.iter().find(|(other, _)| *other == name) {
                    self.sink.key(&place.to_string());
                    self.sink.value(*value);
                }
            }
            self.sink.end_object();
        }
    }

    fn edges(
        &mut self,
        field: &'a Field,
        edges: &'a EdgeField,
        place: usize,
        node: u32,
    ) -> Result<()> {
        if let (Some(groups), Some(group_by)) = (&edges.groups, &field.group_by) {
            let groups = &groups[place];
            if !groups.is_empty() {
                self.sink.key(&field.key);
                self.sink.begin_array();
                self.groups(GroupList::Rows(groups), group_by, &field.fields);
                self.sink.end_array();
            }
            return Ok(());
        }
        let targets = edges.targets_of(place);
        if targets.is_empty() || edges.level.fields.is_empty() && !self.options.debug {
            return Ok(());
        }
        let edge = Edge::of(field, edges, node);
        self.sink.key(&field.key);
        let single =
            edges.is_single() && !field.normalize && counts_of(&edges.level).next().is_none();
        if single {
            let written = match edges.level.place(targets[0]) {
                Some(place) => self.object(&edges.level, place, edge.as_ref())?,
                None => false,
            };
            if !written {
                // The key waits for a value that does not come: an array is opened to be taken
                // back with its key.
                self.sink.begin_array();
                self.sink.discard_array();
            }
            return Ok(());
        }
        self.sink.begin_array();
        self.edge_items(field, edges, targets, edge.as_ref())?;
        self.end_edges();
        Ok(())
    }

    fn edge_items(
        &mut self,
        field: &'a Field,
        edges: &'a EdgeField,
        targets: &[u32],
        edge: Option<&Edge<'_>>,
    ) -> Result<()> {
        self.list(&edges.level, targets, 0, field.normalize, edge)?;
        for count in counts_of(&edges.level).filter(|count| is_shown(count, field.normalize)) {
            self.count_object(count, targets.len());
        }
        Ok(())
    }

    /// Neighbouring fields with one key, such as `friend @groupby(age)` and `friend`: one array.
    fn merged_edges(&mut self, results: &'a [FieldResult], place: usize, node: u32) -> Result<()> {
        self.sink.key(&results[0].field.key);
        self.sink.begin_array();
        for FieldResult { field, data } in results {
            let FieldData::Edges(edges) = data else { continue };
            match (&edges.groups, &field.group_by) {
                (Some(groups), Some(group_by)) if !groups[place].is_empty() => {
                    self.groups(GroupList::Rows(&groups[place]), group_by, &field.fields);
                }
                (Some(_), _) => {}
                _ => {
                    let edge = Edge::of(field, edges, node);
                    self.edge_items(field, edges, edges.targets_of(place), edge.as_ref())?;
                }
            }
        }
        self.end_edges();
        Ok(())
    }

    fn end_edges(&mut self) {
        if self.sink.is_empty() {
            self.sink.discard_array();
        } else {
            self.sink.end_array();
        }
    }

    fn edge_facets(&mut self, edge: &Edge<'_>, target: u32) {
        let name = edge.key();
        self.facets(&chosen(edge.facets, name, &edge.stored.all(edge.node, target)));
    }

    /// Facets of one edge or value; those that share an alias are an array.
    fn facets(&mut self, all: &[(String, ValueRef<'_>)]) {
        for (place, (key, value)) in all.iter().enumerate() {
            if all[..place].iter().any(|(other, _)| other == key) {
                continue;
            }
            self.sink.key(key);
            let mut more = all[place + 1..].iter().filter(|(other, _)| other == key).peekable();
            if more.peek().is_none() {
                self.sink.value(*value);
                continue;
            }
            self.sink.begin_array();
            self.sink.value(*value);
            more.for_each(|(_, value)| self.sink.value(*value));
            self.sink.end_array();
        }
    }

    /// Writes `_path_`, where there are paths: those of all blocks in one array, since no object has a key twice.
    pub(super) fn all_paths(&mut self, query: &Query, blocks: &[BlockResult]) {
        if blocks.iter().all(|result| result.paths.is_empty()) {
            return;
        }
        self.sink.key("_path_");
        self.sink.begin_array();
        for result in blocks {
            self.paths(&query.blocks[result.block], result);
        }
        self.sink.end_array();
    }

    /// Each path as objects nested along its edges, the total weight outermost.
    fn paths(&mut self, block: &Block, result: &BlockResult) {
        for path in &result.paths {
            self.sink.begin_object();
            self.path_objects(block, path);
            self.sink.key("_weight_");
            // Whole numbers up to 2^53 are exact as floats, and this is a round number below that.
            if path.weight.fract() == 0.0 && path.weight.abs() < 1e15 {
                self.sink.int(path.weight as i64);
            } else {
                self.sink.value(ValueRef::Float(path.weight));
            }
            self.sink.end_object();
        }
    }

    /// The objects of a path, each inside the one before it. A loop, since a path may have more
    /// hops than a stack has room for.
    fn path_objects(&mut self, block: &Block, path: &crate::exec::control::tree::Path) {
        for &hop in &path.hops {
            self.sink.key(&path_key(&block.fields[hop]));
            self.sink.begin_object();
        }
        for (step, &node) in path.nodes.iter().enumerate().rev() {
            self.sink.key("uid");
            self.sink.uid(self.version.nodes.uid(node));
            if let Some(before) = step.checked_sub(1) {
                self.path_facets(&block.fields[path.hops[before]], path.nodes[before], node);
                self.sink.end_object();
            }
        }
    }

    fn path_facets(&mut self, field: &Field, node: u32, target: u32) {
        let FieldKind::Predicate { name, reverse, .. } = &field.kind else { return };
        let Some(facets) = &field.facets else { return };
        let Some(predicate) = self.version.predicate(name) else { return };
        if let Some(stored) = EdgeFacets::new(predicate, *reverse) {
            let found = stored.all(node, target);
            self.facets(&chosen(facets, &path_key(field), &found));
        }
    }
}

/// The key of an edge in a path: its predicate, whatever its alias.
fn path_key(field: &Field) -> String {
    match &field.kind {
        FieldKind::Predicate { name, reverse: true, .. } => format!("~{name}"),
        FieldKind::Predicate { name, .. } => name.clone(),
        _ => field.key.clone(),
    }
}

/// True for fields that may stand in a selection beside others of the same key: counts in several
/// languages, several passwords, aggregates for several variables.
fn may_repeat(field: &Field) -> bool {
    let kind = &field.kind;
    field.alias.is_none()
        && matches!(
            kind,
            FieldKind::Count { .. } | FieldKind::CheckPassword { .. } | FieldKind::AggregateVar(..)
        )
}

/// The number of fields directly behind a field of edges that are edges under the same key.
fn same_edges(result: &FieldResult, others: &[FieldResult]) -> usize {
    let is_edges = |result: &FieldResult| matches!(result.data, FieldData::Edges(_));
    if !is_edges(result) {
        return 0;
    }
    let same = |other: &&FieldResult| is_edges(other) && other.field.key == result.field.key;
    others.iter().take_while(same).count()
}

/// `@normalize` shows what has an alias, and nothing else.
fn is_shown(field: &Field, normalize: bool) -> bool {
    !normalize || field.alias.is_some()
}

/// The key of a value in one of the languages of `@*`.
fn key_in<'k>(plain: &'k str, part: &LangValues) -> Cow<'k, str> {
    match &*part.lang {
        "" => Cow::Borrowed(plain),
        lang => Cow::Owned(format!("{plain}@{lang}")),
    }
}

/// Facets of several values, each value's in a list: what has one alias stands together at the first of them.
fn first_shown(mut all: Vec<Vec<(String, ValueRef<'_>)>>) -> Vec<Vec<(String, ValueRef<'_>)>> {
    let mut firsts: FxHashMap<String, usize> = FxHashMap::default();
    for place in 0..all.len() {
        for (key, value) in std::mem::take(&mut all[place]) {
            let first = *firsts.entry(key.clone()).or_insert(place);
            all[first].push((key, value));
        }
    }
    all
}
