//! The fields of one object: values, counts, facets.

use super::answer_writer::{AnswerWriter, Edge, chosen, shown_key};
use crate::exec::columns::read::{Langs, typed};
use crate::exec::control::tree::{FieldData, FieldResult, Level, ValueField, all_langs_key};
use crate::graph::{LangValues, Predicate, ValueList};
use hexgraph_base::plan::{Facets, Field, FieldKind};
use hexgraph_base::types::{Result, ValueRef, ValueType};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

impl<'a> AnswerWriter<'a, '_> {
    /// Writes a number of nodes as an object by itself.
    pub(super) fn count_object(&mut self, field: &Field, count: usize) {
        self.sink.begin_object();
        self.sink.key(field.alias.as_deref().unwrap_or("count"));
        self.sink.int(count as i64);
        self.sink.end_object();
    }

    /// Writes a field of a node, which is no field of edges.
    pub(super) fn field(
        &mut self,
        level: &'a Level,
        position: usize,
        result: &'a FieldResult,
    ) -> Result<()> {
        let node = level.nodes[position];
        let field = &result.field;
        match &result.data {
            FieldData::Nothing | FieldData::CountUid | FieldData::Edges(_) => {}
            FieldData::Uid => {
                self.sink.key(&field.key);
                self.sink.uid(self.version.nodes.uid(node));
            }
            FieldData::Values(values) if values.shares_key => {
                self.shared_values(level, field, values, node)?;
            }
            FieldData::Values(values) => self.values(field, values, node)?,
            FieldData::Counts(counts) => {
                self.sink.key(&field.key);
                self.sink.int(counts[position] as i64);
            }
            FieldData::Column(map) => {
                // One value for all is shown at the node that represents it.
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
                self.sink.value(ValueRef::Bool(answers[position]));
            }
        }
        Ok(())
    }

    /// The first of `rest`, a field whose key others of the level may have: the values of all are
    /// an array at the position of the first, so that no object has a key twice.
    pub(super) fn repeated(
        &mut self,
        level: &'a Level,
        position: usize,
        rest: &'a [FieldResult],
    ) -> Result<()> {
        let Some((first, others)) = rest.split_first() else { return Ok(()) };
        let is_same =
            |other: &FieldResult| other.field.key == first.field.key && may_repeat(&other.field);
        let before = &level.fields[..level.fields.len() - rest.len()];
        if before.iter().any(is_same) {
            return Ok(());
        }
        if !others.iter().any(is_same) {
            return self.field(level, position, first);
        }
        self.sink.key(&first.field.key);
        self.sink.begin_array();
        for result in rest.iter().filter(|result| is_same(result)) {
            match &result.data {
                FieldData::Counts(counts) => self.sink.int(counts[position] as i64),
                FieldData::Passwords(answers) => self.sink.value(ValueRef::Bool(answers[position])),
                FieldData::Column(map) => {
                    if let Some(value) = map.get(level.nodes[position]) {
                        self.sink.value(value);
                    }
                }
                FieldData::Nothing
                | FieldData::Uid
                | FieldData::Values(_)
                | FieldData::Edges(_)
                | FieldData::CountUid => {}
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
            self.value_list(
                &field.key,
                field,
                predicate,
                &list,
                values.positions(node, list.len()),
            )?;
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
        is_expected: impl Fn(&str) -> bool,
    ) -> Result<()> {
        let name = field.alias.as_deref().unwrap_or(name);
        let (untagged, tagged): (Vec<_>, Vec<_>) =
            values.in_all_langs(node).partition(|(part, _)| part.lang.is_empty());
        let all = tagged.into_iter().chain(untagged);
        let all = all.map(|(part, list)| (key_in(name, part), list));
        let mut all = all.filter(|(key, _)| is_expected(key));
        let expected = values.predicate.def.value_type;
        let Some(facets) = &field.facets else {
            return all.try_for_each(|(key, list)| self.value(&key, list.get(0), expected));
        };
        let all: Vec<(Cow<'_, str>, ValueList<'_>)> = all.collect();
        let shown = all.iter().map(|(key, list)| chosen(facets, key, &list.facets(0)));
        let shown = first_shown(shown.collect());
        for ((key, list), shown) in all.iter().zip(&shown) {
            self.facets(shown);
            self.value(key, list.get(0), expected)?;
        }
        Ok(())
    }

    /// The values of `l@en` or `l@*` if both are requested: those of one key are an array at the
    /// position of the former.
    fn shared_values(
        &mut self,
        level: &'a Level,
        field: &Field,
        values: &ValueField,
        node: u32,
    ) -> Result<()> {
        let FieldKind::Predicate { name, .. } = &field.kind else { return Ok(()) };
        let of = |result: &'a FieldResult| {
            let FieldData::Values(values) = &result.data else { return None };
            values.shares_key.then_some((&*result.field, values))
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
        let Some((more, expected)) = sharing.find_map(first) else {
            return self.values(field, values, node);
        };
        let FieldKind::Predicate { langs, .. } = &field.kind else { return Ok(()) };
        let own = values.predicate.values_in(Langs::First(langs), node);
        let Some((_, own)) = own else { return Ok(()) };
        if let Some(facets) = &field.facets {
            let positions = values.positions(node, own.len());
            self.value_facets(&field.key, facets, &values.predicate, &own, positions);
        }
        self.sink.key(&field.key);
        self.sink.begin_array();
        for (value, expected) in [(own.get(0), values.predicate.def.value_type), (more, expected)] {
            self.sink.value(typed(value, expected)?.as_ref());
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
        positions: impl Iterator<Item = usize> + Clone,
    ) -> Result<()> {
        if let Some(facets) = &field.facets {
            self.value_facets(key, facets, predicate, list, positions.clone());
        }
        let expected = predicate.def.value_type;
        if !predicate.def.list {
            return self.value(key, list.get(0), expected);
        }
        self.sink.key(key);
        self.sink.begin_array();
        for position in positions.take(self.objects_max) {
            self.sink.value(typed(list.get(position), expected)?.as_ref());
        }
        self.sink.end_array();
        Ok(())
    }

    fn value(&mut self, key: &str, value: ValueRef<'_>, expected: ValueType) -> Result<()> {
        self.sink.key(key);
        // Nearly always; a detour through what may be converted would double the time of a value.
        if value.value_type() == expected {
            self.sink.value(value);
            return Ok(());
        }
        self.sink.value(typed(value, expected)?.as_ref());
        Ok(())
    }

    /// Facets of values: before the value; those of a list as a map by position.
    fn value_facets(
        &mut self,
        key: &str,
        facets: &Facets,
        predicate: &Predicate,
        list: &ValueList<'_>,
        positions: impl Iterator<Item = usize>,
    ) {
        let result: Vec<Vec<(&str, ValueRef<'_>)>> =
            positions.map(|position| list.facets(position)).collect();
        if !predicate.def.list {
            return self.facets(&chosen(facets, key, &result[0]));
        }
        let mut names: Vec<&str> = result.iter().flatten().map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let Some(shown) = shown_key(facets, key, name) else { continue };
            self.sink.key(&shown);
            self.sink.begin_object();
            for (position, facets) in result.iter().enumerate() {
                if let Some((_, value)) = facets.iter().find(|(other, _)| *other == name) {
                    self.sink.key(&position.to_string());
                    self.sink.value(*value);
                }
            }
            self.sink.end_object();
        }
    }

    /// Closes an array, or takes it back where nothing is in it.
    pub(super) fn end_edges(&mut self) {
        if self.sink.is_empty() {
            self.sink.discard_array();
        } else {
            self.sink.end_array();
        }
    }

    pub(super) fn edge_facets(&mut self, edge: &Edge<'_>, target: u32) {
        let name = edge.key();
        self.facets(&chosen(edge.facets, name, &edge.stored.all(edge.node, target)));
    }

    /// Facets of one edge or value; those with one alias are an array.
    pub(super) fn facets(&mut self, all: &[(String, ValueRef<'_>)]) {
        for (position, (key, value)) in all.iter().enumerate() {
            if all[..position].iter().any(|(other, _)| other == key) {
                continue;
            }
            self.sink.key(key);
            let mut more = all[position + 1..].iter().filter(|(other, _)| other == key).peekable();
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
}

/// True for fields that may occur in a selection with others of the same key: counts in several
/// languages, several passwords, aggregates for several variables.
pub(super) fn may_repeat(field: &Field) -> bool {
    let kind = &field.kind;
    field.alias.is_none()
        && matches!(
            kind,
            FieldKind::Count { .. } | FieldKind::CheckPassword { .. } | FieldKind::AggregateVar(..)
        )
}

/// The number of fields directly after a field of edges that are edges under the same key.
pub(super) fn same_edges(result: &FieldResult, others: &[FieldResult]) -> usize {
    let is_edges = |result: &FieldResult| matches!(result.data, FieldData::Edges(_));
    if !is_edges(result) {
        return 0;
    }
    let same = |other: &&FieldResult| is_edges(other) && other.field.key == result.field.key;
    others.iter().take_while(same).count()
}

/// `@normalize` shows what has an alias, and nothing else.
pub(super) fn is_shown(field: &Field, normalize: bool) -> bool {
    !normalize || field.alias.is_some()
}

/// The key of a value in one of the languages of `@*`.
fn key_in<'k>(plain: &'k str, part: &LangValues) -> Cow<'k, str> {
    match &*part.lang {
        "" => Cow::Borrowed(plain),
        lang => Cow::Owned(format!("{plain}@{lang}")),
    }
}

/// Facets of several values, each value's in a list: what has one alias stands together at the
/// first of them.
fn first_shown(mut all: Vec<Vec<(String, ValueRef<'_>)>>) -> Vec<Vec<(String, ValueRef<'_>)>> {
    let mut firsts: FxHashMap<String, usize> = FxHashMap::default();
    for position in 0..all.len() {
        for (key, value) in std::mem::take(&mut all[position]) {
            let first = *firsts.entry(key.clone()).or_insert(position);
            all[first].push((key, value));
        }
    }
    all
}
