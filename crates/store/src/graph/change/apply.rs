//! The predicates that a mutation changes, while it changes them.

use super::effect::Effect;
use super::keys::{ConflictKey, PredicateKeys};
use crate::graph::build::compact::{is_due, settle_due};
use crate::graph::build::parts::{EdgePart, FacetsBuilder, ValuePart};
use crate::graph::build::stored_form::{build_edge_store, build_values};
use crate::graph::build::value_order::compare_values;
use crate::graph::build::without::{Removed, edges_without, values_without};
use crate::graph::thresholds::Thresholds;
use crate::graph::version::delta::{FacetList, Row};
use crate::graph::version::edges::EdgeStore;
use crate::graph::version::graph_version::Version;
use crate::graph::version::predicate::{Predicate, PredicateData};
use crate::graph::version::values::LangValues;
use crate::graph::version::weight::of_compaction;
use crate::index::{IndexKind, TokenKey};
use crate::storage::{NodeSet, ValuesBuilder};
use hexgraph_base::schema::PredicateDef;
use hexgraph_base::types::{Error, Result, Uid, Value, ValueRef, ValueType, parallel};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Copies of the changed predicates. A copy shares its data with the version.
pub(in crate::graph) struct Draft<'a> {
    version: &'a Version,
    touched: BTreeMap<String, Predicate>,
    /// Values that were set where no two nodes may have the same.
    unique: Vec<UniqueSet>,
    /// The conflict keys of what was changed.
    keys: Vec<ConflictKey>,
    /// What was done in effect; what was set is not counted when `is_again`.
    effect: Effect,
    /// True if the changes are replayed: conflict keys are not collected, and uniqueness is not
    /// checked.
    is_again: bool,
}

/// A value that was set where no two nodes may have the same.
struct UniqueSet {
    name: Arc<str>,
    lang: Arc<str>,
    node: u32,
    token: TokenKey,
}

impl UniqueSet {
    /// The position where it was set; by this they are sorted.
    fn position(&self) -> (&str, &str, u32) {
        (&self.name, &self.lang, self.node)
    }
}

/// A value that is to be set.
pub(in crate::graph) struct ValueChange<'a> {
    /// The predicate.
    pub name: &'a str,
    /// The language, empty for none.
    pub lang: &'a str,
    /// The node.
    pub node: u32,
    /// The value, converted.
    pub value: Value,
    /// Its facets.
    pub facets: FacetList,
}

/// An edge that is to be set.
pub(in crate::graph) struct EdgeChange<'a> {
    /// The predicate.
    pub name: &'a str,
    /// The node where it starts.
    pub node: u32,
    /// The target node.
    pub target: u32,
    /// Its facets.
    pub facets: FacetList,
}

impl<'a> Draft<'a> {
    /// A draft of the version after `version`, which has the schema and the nodes of the next one.
    pub(in crate::graph) fn new(version: &'a Version) -> Draft<'a> {
        let (touched, unique, keys) = (BTreeMap::new(), Vec::new(), Vec::new());
        Draft { version, touched, unique, keys, effect: Effect::default(), is_again: false }
    }

    /// As [`Draft::new`], for changes that were executed before: their conflict keys are not
    /// collected, and whether two nodes have a value that only one may have is not checked.
    pub(in crate::graph) fn again(version: &'a Version) -> Draft<'a> {
        Draft { is_again: true, ..Draft::new(version) }
    }

    /// The node id of a uid, `None` if it is unknown.
    pub(in crate::graph) fn node(&self, uid: Uid) -> Option<u32> {
        self.version.nodes.node(uid)
    }

    /// The definition of a predicate.
    pub(in crate::graph) fn definition(&self, name: &str) -> Option<Arc<PredicateDef>> {
        if let Some(predicate) = self.touched.get(name) {
            return Some(Arc::clone(&predicate.def));
        }
        if let Some(predicate) = self.version.predicate(name) {
            return Some(Arc::clone(&predicate.def));
        }
        self.version.schema.predicates.get(name).cloned().map(Arc::new)
    }

    /// The data of a predicate as it is now; `None` when there is none.
    pub(in crate::graph) fn current(&self, name: &str) -> Option<&Predicate> {
        self.touched.get(name).or_else(|| self.version.predicate(name).map(|stored| &**stored))
    }

    /// The conflict keys of a predicate's changes, to add those of deletes: they do not depend on
    /// the data. `None` if keys are not collected.
    pub(super) fn keys_of<'k>(&'k mut self, def: &'k PredicateDef) -> Option<PredicateKeys<'k>> {
        (!self.is_again).then(|| PredicateKeys::new(def, &mut self.keys))
    }

    /// Deletes all values of a node in all languages, or all its edges.
    pub(in crate::graph) fn clear(&mut self, name: &str, node: u32) {
        let Draft { version, touched, keys, effect, .. } = self;
        let Some(predicate) = predicate_of(version, touched, name) else { return };
        let Predicate { def, data } = predicate;
        let uid = version.nodes.uid(node);
        let mut keys = PredicateKeys::new(def, keys);
        match data {
            PredicateData::Values(langs) => {
                for values in langs.iter_mut().filter(|values| values.has(node)) {
                    let old = values.values(node);
                    effect.values_deleted += old.len() as u64;
                    keys.replaced(uid, values, &old);
                    keys.count(uid);
                    values.set_row(node, None, def.value_type);
                }
            }
            PredicateData::Edges(edges) => {
                // Before the edges go: their targets are part of the keys.
                let targets = edges.forward.targets(node);
                effect.edges_deleted += targets.len() as u64;
                for &target in targets.iter() {
                    keys.edge_gone(uid, version.nodes.uid(target));
                }
                clear_edges(edges, node);
            }
        }
    }

    /// True if so many deletes of a predicate run in bulk, as by [`Draft::remove`]: when the
    /// changed rows would be due for compaction anyway, and memory suffices for a copy.
    pub(super) fn is_bulk_delete(&self, name: &str, deletes: usize) -> bool {
        let thresholds = &self.version.thresholds;
        self.current(name)
            .is_some_and(|predicate| is_due(predicate, |_, rows| thresholds.is_due(deletes, rows)))
    }

    /// Deletes what is removed of some predicates, each named once, by rebuilding them without it.
    /// Without enough memory it is deleted node by node.
    pub(super) fn remove(&mut self, removed: Vec<(&str, Removed)>) {
        let reservation = self.version.budget.reservation();
        let mut jobs = Vec::new();
        for (name, removed) in removed {
            let Some(predicate) = self.current(name) else { continue };
            if reservation.reserve(of_compaction(predicate, |_, _| true) as u64).is_ok() {
                jobs.push((name, predicate.clone(), removed));
                continue;
            }
            removed.nodes().iter().for_each(|node| self.clear(name, *node));
            for (node, target) in removed.edges() {
                self.remove_edge(name, *node, *target);
            }
        }
        let (version, is_again) = (self.version, self.is_again);
        let done = parallel::map(&jobs, |(_, predicate, removed)| {
            without(version, predicate, removed, is_again)
        });
        for ((name, ..), (predicate, keys, effect)) in jobs.into_iter().zip(done) {
            self.touched.insert(name.to_owned(), predicate);
            self.keys.extend(keys);
            self.effect += effect;
        }
    }

    /// Deletes the values of a node in one language.
    pub(super) fn clear_lang(&mut self, name: &str, lang: &str, node: u32) {
        self.remove_values(name, lang, node, |_| true);
    }

    /// Deletes values of a node in one language: those that look the same in a query as one of
    /// `expected`. O((values of the node + expected) * log expected).
    pub(super) fn remove_expected(
        &mut self,
        name: &str,
        lang: &str,
        node: u32,
        expected: Vec<Value>,
    ) {
        let Draft { version, touched, .. } = self;
        let Some(predicate) = predicate_of(version, touched, name) else { return };
        let value_type = predicate.def.value_type;
        let mut expected: Vec<Value> =
            expected.iter().map(|value| in_type(value, value_type)).collect();
        if let [expected] = expected.as_slice() {
            return self.remove_values(name, lang, node, |value| value == expected);
        }
        expected.sort_by(|one, other| compare_values(one.as_ref(), other.as_ref()));
        let is_there = |value: &Value| {
            let order = |other: &Value| compare_values(other.as_ref(), value.as_ref());
            let first = expected.partition_point(|other| order(other).is_lt());
            let mut alike = expected[first..].iter().take_while(|other| order(other).is_eq());
            alike.any(|other| other == value)
        };
        // Zero equals itself with either sign, and is the only number that does not sort next to
        // its equal.
        let is_zero = |value: &Value| matches!(value, Value::Float(number) if *number == 0.0);
        let has_zero = expected.iter().any(is_zero);
        let is_meant = |value: &Value| (has_zero && is_zero(value)) || is_there(value);
        self.remove_values(name, lang, node, is_meant);
    }

    /// Deletes those values of a node in one language for which `is_meant` is true. It gets them in
    /// the type of the predicate.
    pub(super) fn remove_values(
        &mut self,
        name: &str,
        lang: &str,
        node: u32,
        is_meant: impl Fn(&Value) -> bool,
    ) {
        let Draft { version, touched, keys, effect, .. } = self;
        let Some(predicate) = predicate_of(version, touched, name) else { return };
        let value_type = predicate.def.value_type;
        let PredicateData::Values(langs) = &mut predicate.data else { return };
        let Some(values) = langs.iter_mut().find(|values| *values.lang == *lang) else { return };
        let mut row = values.values(node).to_values();
        let mut removed = Vec::new();
        row.retain(|(value, _)| {
            let is_meant = is_meant(&in_type(value, value_type));
            if is_meant {
                removed.push(value.clone());
            }
            !is_meant
        });
        if removed.is_empty() {
            return;
        }
        effect.values_deleted += removed.len() as u64;
        let uid = version.nodes.uid(node);
        let mut keys = PredicateKeys::new(&predicate.def, keys);
        keys.count(uid);
        removed.iter().for_each(|value| keys.value_gone(uid, values, value.as_ref()));
        values.set_row(node, Row::of(row), value_type);
    }

    /// Deletes one edge.
    pub(super) fn remove_edge(&mut self, name: &str, node: u32, target: u32) {
        let Draft { version, touched, keys, effect, .. } = self;
        let Some(predicate) = predicate_of(version, touched, name) else { return };
        let PredicateData::Edges(edges) = &mut predicate.data else { return };
        if edges.forward.contains(node, target) {
            effect.edges_deleted += 1;
            let (uid, target_uid) = (version.nodes.uid(node), version.nodes.uid(target));
            let mut keys = PredicateKeys::new(&predicate.def, keys);
            keys.edge_gone(uid, target_uid);
            edges.forward.remove(node, target);
            if let Some(reverse) = &mut edges.reverse {
                reverse.remove(target, node);
            }
        }
    }

    /// Sets edges. For a predicate that is no list, the last one of a node wins.
    pub(super) fn set_edges(&mut self, mut changes: Vec<EdgeChange<'_>>) {
        // The sort is stable: the last one stays the last.
        changes.sort_by(|one, other| compare_names(one.name, other.name));
        for run in changes.chunk_by_mut(|one, next| is_same_name(one.name, next.name)) {
            let Draft { version, touched, keys, effect, is_again, .. } = self;
            let Some(predicate) = predicate_of(version, touched, run[0].name) else { continue };
            let def = Arc::clone(&predicate.def);
            let PredicateData::Edges(edges) = &mut predicate.data else { continue };
            if !*is_again {
                effect.edges_set += add_edge_keys(version, &def, edges, run, keys);
            }
            // As many as would be compacted anyway: they go into a new base at once.
            if version.thresholds.is_bulk(run.len(), edges.forward.base.subjects.len()) {
                let parts = vec![EdgePart::of(&edges.forward), edge_part(run)];
                *edges = build_edge_store(&def, parts);
                continue;
            }
            for change in run {
                let facets = std::mem::take(&mut change.facets);
                set_edge(edges, def.list, change.node, change.target, facets);
            }
        }
    }

    /// Sets values. For a predicate that is no list, the last one of a node wins.
    pub(super) fn set_values(&mut self, mut changes: Vec<ValueChange<'_>>) {
        // Stable, so of the values of one node the one that was set last comes last.
        changes.sort_by(|one, other| {
            compare_names(one.name, other.name)
                .then_with(|| compare_names(one.lang, other.lang))
                .then_with(|| one.node.cmp(&other.node))
        });
        let is_one_column = |one: &ValueChange<'_>, next: &ValueChange<'_>| {
            is_same_name(one.name, next.name) && is_same_name(one.lang, next.lang)
        };
        for run in changes.chunk_by_mut(is_one_column) {
            self.set_column(run[0].name, run[0].lang, run);
        }
    }

    fn set_column(&mut self, name: &str, lang: &str, changes: &mut [ValueChange<'_>]) {
        let Draft { version, touched, keys, effect, is_again, .. } = self;
        let Some(predicate) = predicate_of(version, touched, name) else { return };
        let def = Arc::clone(&predicate.def);
        let PredicateData::Values(langs) = &mut predicate.data else { return };
        let position = match langs.binary_search_by(|values| (*values.lang).cmp(lang)) {
            Ok(position) => position,
            Err(position) => {
                langs.insert(
                    position,
                    build_values(&def, lang, Vec::new(), None, &version.thresholds),
                );
                position
            }
        };
        // Before `set_row` takes the values out of the changes.
        let mut tokens = Vec::new();
        if def.unique && !*is_again {
            let token = |it: &ValueChange<'_>| Some((it.node, TokenKey::of(it.value.as_ref())?));
            tokens.extend(changes.iter().filter_map(token));
        }
        let values = &mut langs[position];
        if !*is_again {
            effect.values_set += add_value_keys(version, &def, values, changes, keys);
        }
        if version.thresholds.is_bulk(changes.len(), values.base.column.subjects.len()) {
            let parts = vec![ValuePart::of(values), value_part(changes, def.value_type)];
            *values = build_values(&def, lang, parts, Some(&values.base), &version.thresholds);
        } else {
            for run in changes.chunk_by_mut(|one, next| one.node == next.node) {
                set_row(values, &def, run);
            }
        }
        let (name, lang): (Arc<str>, Arc<str>) = (name.into(), lang.into());
        let unique = |(node, token)| {
            let (name, lang) = (Arc::clone(&name), Arc::clone(&lang));
            UniqueSet { name, lang, node, token }
        };
        self.unique.extend(tokens.into_iter().map(unique));
    }

    /// Checks that no two nodes have one of the values that were set where they may not. A value
    /// that the request takes away from a node is not free for another one yet, unless it sets
    /// the former to another value: so two nodes can swap theirs.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] with the value and the predicate.
    pub(in crate::graph) fn check_unique(&mut self) -> Result<()> {
        self.unique.sort_by(|one, other| one.position().cmp(&other.position()));
        let is_set = |name: &str, lang: &str, node: u32| {
            self.unique.binary_search_by(|set| set.position().cmp(&(name, lang, node))).is_ok()
        };
        for UniqueSet { name, lang, node, token } in &self.unique {
            let after = nodes_with(self.touched.get(&**name), lang, token);
            let before = nodes_with(self.version.predicate(name).map(AsRef::as_ref), lang, token);
            let mut others = before.iter().filter(|other| other != node);
            if 1 < after.len() || others.any(|other| !is_set(name, lang, other)) {
                return Err(not_unique(name, token));
            }
        }
        Ok(())
    }

    /// What was done so far in effect.
    pub(super) fn effect(&self) -> Effect {
        self.effect
    }

    /// The changed predicates. Overdue changes are compacted into their base. Adds the conflict
    /// keys of the changes.
    pub(in crate::graph) fn finish(
        self,
        keys: &mut Vec<ConflictKey>,
    ) -> Vec<(Arc<str>, Arc<Predicate>)> {
        keys.extend(self.keys);
        let (reservation, thresholds) =
            (self.version.budget.reservation(), &self.version.thresholds);
        let is_again = self.is_again;
        // Nobody waits for single commits of a replayed log, and no thread compacts concurrently.
        let is_large = |changes, rows| match is_again {
            true => thresholds.is_bulk(changes, rows),
            false => thresholds.is_overdue(changes, rows),
        };
        let clean = |(name, predicate): (String, Predicate)| {
            // Without enough memory now, a later commit compacts.
            let compactions = is_due(&predicate, is_large)
                && reservation.reserve(of_compaction(&predicate, is_large) as u64).is_ok();
            let predicate = match compactions {
                true => settle_due(&predicate, thresholds, is_large),
                false => predicate,
            };
            (Arc::from(name), Arc::new(predicate))
        };
        self.touched.into_iter().map(clean).collect()
    }
}

/// A predicate without what is removed of it, the conflict keys of that, and the values deleted in
/// effect. Equals deletes node by node, against which it is tested.
fn without(
    version: &Version,
    predicate: &Predicate,
    removed: &Removed,
    is_again: bool,
) -> (Predicate, Vec<ConflictKey>, Effect) {
    let (mut keys, mut effect) = (Vec::new(), Effect::default());
    let def = &predicate.def;
    let data = match &predicate.data {
        PredicateData::Values(langs) => {
            let mut left = Vec::with_capacity(langs.len());
            for values in langs {
                let mut keys = PredicateKeys::new(def, &mut keys);
                let mut count = 0;
                for &node in removed.nodes() {
                    let old = values.values(node);
                    count += old.len();
                    if !is_again && !old.is_empty() && keys.has_more_than_nodes() {
                        let uid = version.nodes.uid(node);
                        keys.replaced(uid, values, &old);
                        keys.count(uid);
                    }
                }
                effect.values_deleted += count as u64;
                left.push(match count {
                    0 => values.clone(),
                    _ => values_without(values, def, removed, &version.thresholds),
                });
            }
            PredicateData::Values(left)
        }
        PredicateData::Edges(edges) => {
            let mut keys = PredicateKeys::new(def, &mut keys);
            let has_keys = !is_again && keys.has_more_than_nodes();
            let mut gone = |node, target| {
                effect.edges_deleted += 1;
                if has_keys {
                    keys.edge_gone(version.nodes.uid(node), version.nodes.uid(target));
                }
            };
            for &node in removed.nodes() {
                edges.forward.targets(node).iter().for_each(|target| gone(node, *target));
            }
            for &(node, target) in removed.edges() {
                let is_single = removed.nodes().binary_search(&node).is_err();
                if is_single && edges.forward.contains(node, target) {
                    gone(node, target);
                }
            }
            match effect.edges_deleted {
                0 => predicate.data.clone(),
                _ => PredicateData::Edges(edges_without(edges, def, removed)),
            }
        }
    };
    (Predicate { def: Arc::clone(def), data }, keys, effect)
}

/// Compares names, most of which are not only equal but the same allocation.
fn compare_names(one: &str, other: &str) -> Ordering {
    if std::ptr::eq(one, other) { Ordering::Equal } else { one.cmp(other) }
}

fn is_same_name(one: &str, other: &str) -> bool {
    compare_names(one, other).is_eq()
}

/// The copy of a predicate; `None` when the schema does not know it.
fn predicate_of<'t>(
    version: &Version,
    touched: &'t mut BTreeMap<String, Predicate>,
    name: &str,
) -> Option<&'t mut Predicate> {
    if !touched.contains_key(name) {
        let predicate = match version.predicate(name) {
            Some(stored) => Predicate::clone(stored),
            None => Predicate::empty(version.schema.predicates.get(name)?.clone()),
        };
        touched.insert(name.to_owned(), predicate);
    }
    touched.get_mut(name)
}

/// Adds the conflict keys of edges that are about to be set. Returns how many of them change
/// anything.
fn add_edge_keys(
    version: &Version,
    def: &PredicateDef,
    edges: &EdgeStore,
    changes: &[EdgeChange<'_>],
    keys: &mut Vec<ConflictKey>,
) -> u64 {
    let mut keys = PredicateKeys::new(def, keys);
    let mut in_effect = 0;
    let uid = |node| version.nodes.uid(node);
    for EdgeChange { node, target, facets, .. } in changes {
        keys.edge(uid(*node), uid(*target));
        let is_new = !edges.forward.contains(*node, *target);
        if is_new {
            keys.count(uid(*node));
            keys.reverse_count(uid(*target));
        }
        in_effect += u64::from(is_new || !facets.is_empty());
        if !def.list {
            let targets = edges.forward.targets(*node);
            for replaced in targets.iter().filter(|replaced| *replaced != target) {
                keys.edge_gone(uid(*node), uid(*replaced));
            }
        }
    }
    in_effect
}

/// Adds the conflict keys of values that are about to be set. Returns how many of them change
/// anything.
fn add_value_keys(
    version: &Version,
    def: &PredicateDef,
    values: &LangValues,
    changes: &[ValueChange<'_>],
    keys: &mut Vec<ConflictKey>,
) -> u64 {
    let mut keys = PredicateKeys::new(def, keys);
    let mut in_effect = 0;
    for run in changes.chunk_by(|one, next| one.node == next.node) {
        let (uid, old) = (version.nodes.uid(run[0].node), values.values(run[0].node));
        // A list may be long, and as many values may be set in it. Usually a commit sets one.
        let mut sorted: Vec<ValueRef<'_>> = Vec::new();
        if 1 < run.len() {
            sorted.extend(old.iter());
            sorted.sort_by(|one, other| compare_values(*one, *other));
        }
        for ValueChange { value, facets, .. } in run {
            let value = value.as_ref();
            keys.value(uid, values, value);
            if !def.list {
                keys.replaced(uid, values, &old);
            }
            let is_there = match run {
                [_] => old.iter().any(|old| compare_values(old, value).is_eq()),
                _ => sorted.binary_search_by(|old| compare_values(*old, value)).is_ok(),
            };
            let is_new = !is_there;
            if def.count && is_new {
                keys.count(uid);
            }
            in_effect += u64::from(is_new || !facets.is_empty());
        }
    }
    in_effect
}

impl Predicate {
    /// A predicate without data.
    pub fn empty(def: PredicateDef) -> Predicate {
        let data = match def.value_type {
            ValueType::Uid => PredicateData::Edges(build_edge_store(&def, Vec::new())),
            _ => PredicateData::Values(vec![build_values(
                &def,
                "",
                Vec::new(),
                None,
                &Thresholds::default(),
            )]),
        };
        Predicate { def: Arc::new(def), data }
    }
}

/// Checks that no two nodes have a value, which was set where they may not.
///
/// # Errors
///
/// [`Error::Query`] with the value and the predicate.
pub(in crate::graph) fn check_alone(
    version: &Version,
    (name, lang): (&str, &str),
    value: ValueRef<'_>,
) -> Result<()> {
    let Some(token) = TokenKey::of(value) else { return Ok(()) };
    let predicate = version.predicate(name).map(AsRef::as_ref);
    match nodes_with(predicate, lang, &token).len() {
        0 | 1 => Ok(()),
        _ => Err(not_unique(name, &token)),
    }
}

fn not_unique(name: &str, token: &TokenKey) -> Error {
    let value = match token {
        TokenKey::Text(text) => text.to_string(),
        TokenKey::Int(number) => number.to_string(),
        other => format!("{other:?}"),
    };
    Error::query(format!("another node has the value `{value}` of `{name}`, which is `@unique`"))
}

/// The nodes that have a value.
fn nodes_with(predicate: Option<&Predicate>, lang: &str, token: &TokenKey) -> NodeSet {
    let index = predicate.and_then(|predicate| predicate.values(lang)?.index(IndexKind::Ordered));
    index.map(|index| index.nodes(token)).unwrap_or_default()
}

fn set_edge(edges: &mut EdgeStore, list: bool, node: u32, target: u32, facets: FacetList) {
    // An edge that is there already only gets other facets.
    if !list && *edges.forward.targets(node) != [target] {
        clear_edges(edges, node);
    }
    edges.forward.add(node, target, facets);
    if let Some(reverse) = &mut edges.reverse
        && !reverse.contains(target, node)
    {
        reverse.add(target, node, FacetList::new());
    }
}

/// Sets values of one node.
fn set_row(values: &mut LangValues, def: &PredicateDef, changes: &mut [ValueChange<'_>]) {
    let node = changes[0].node;
    let new = changes.iter_mut().map(|change| {
        // Moved out of the change, which nobody reads again, so that no text is copied.
        let value = std::mem::replace(&mut change.value, Value::Bool(false));
        (value, std::mem::take(&mut change.facets))
    });
    let row = match def.list {
        true => united(values.values(node).to_values(), new.collect()),
        false => new.last().into_iter().collect(),
    };
    values.set_row(node, Row::of(row), def.value_type);
}

fn value_part(changes: &[ValueChange<'_>], value_type: ValueType) -> ValuePart {
    let mut values = ValuesBuilder::new(value_type);
    let mut facets = FacetsBuilder::default();
    for (row, change) in changes.iter().enumerate() {
        values.push(change.value.as_ref());
        for (key, value) in &change.facets {
            facets.push(row as u32, key, value.as_ref());
        }
    }
    let nodes = changes.iter().map(|change| change.node).collect();
    ValuePart { nodes, values: values.finish(), facets: facets.finish() }
}

fn edge_part(changes: &[EdgeChange<'_>]) -> EdgePart {
    let mut facets = FacetsBuilder::default();
    for (row, change) in changes.iter().enumerate() {
        for (key, value) in &change.facets {
            facets.push(row as u32, key, value.as_ref());
        }
    }
    EdgePart {
        nodes: changes.iter().map(|change| change.node).collect(),
        targets: changes.iter().map(|change| change.target).collect(),
        facets: facets.finish(),
    }
}

/// A stored value in the type of its predicate, if it can be converted. A predicate of type default
/// may contain values of any type, and shows the text of each.
fn in_type(value: &Value, value_type: ValueType) -> Value {
    if value.value_type() == value_type {
        return value.clone();
    }
    value.as_ref().convert(value_type).unwrap_or_else(|_| value.clone())
}

fn clear_edges(edges: &mut EdgeStore, node: u32) {
    let targets = edges.forward.targets(node).into_owned();
    if targets.is_empty() {
        return;
    }
    // The targets were copied first, since the reverse edges are found by them.
    edges.forward.clear(node);
    if let Some(reverse) = &mut edges.reverse {
        for target in targets {
            reverse.remove(target, node);
        }
    }
}

/// A row of a list with more values, each once, with the facets that it was given last.
fn united(
    mut values: Vec<(Value, FacetList)>,
    new: Vec<(Value, FacetList)>,
) -> Vec<(Value, FacetList)> {
    values.extend(new);
    values.sort_by(|(one, _), (other, _)| compare_values(one.as_ref(), other.as_ref()));
    // Of equal values `dedup` retains the first. The sort is stable, so in the reverse order that
    // is the last one given.
    values.reverse();
    values.dedup_by(|(one, _), (other, _)| compare_values(one.as_ref(), other.as_ref()).is_eq());
    values.reverse();
    values
}
