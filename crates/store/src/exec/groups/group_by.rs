//! `@groupby`: nodes by the values of keys, and aggregates over each group.
//!
//! The nodes that are grouped are the members of a list (the targets of an edge) or of a set (the
//! root of a block). There are four strategies to group them, [`GroupKind`], which give the same
//! groups; they differ in what they cost.

use super::partition::{GROUP_BYTES, NodePartition, result_bytes};
use crate::exec::access_path::GroupPath;
use crate::exec::columns::batches::Members;
use crate::exec::columns::rank::rank_of;
use crate::exec::control::context::{Context, Var};
use crate::exec::control::pending::Pending;
use crate::exec::control::tree::{
    EdgeField, FieldData, Group, GroupValue, Level, RootGroups, ValueMap,
};
use crate::exec::cost;
use crate::exec::math::variables::add_values;
use crate::storage::NodeSet;
use hexgraph_base::plan::{Field, FieldKind, GroupBy, GroupKey, VarId};
use hexgraph_base::types::{Error, Result, Value};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// A set of fewer nodes is copied to a list: the strategy is then chosen for the list.
const SET_MIN: usize = 1 << 14;

/// How members are grouped, before the table for them is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum GroupKind {
    /// By the postings of the key's index: for each value the stored nodes that have it. For one
    /// key, all of whose nodes are grouped, and a body of counts.
    Postings,
    /// By a counter for each target of an edge. For one key whose values are nodes, and a body of
    /// counts.
    Targets,
    /// By integer codes of the values of the keys, read from their columns; see
    /// [`KeyCodes`](super::key_codes::KeyCodes).
    Codes,
    /// By a list of the members of each group. For all keys and bodies.
    Lists,
}

impl Context<'_> {
    /// Groups the targets of each node, in all fields of a tree that request it. It is called when
    /// the lists of targets are final: `@cascade` and the pages remove targets before.
    pub(crate) fn group_fields(&self, level: &mut Level) -> Result<()> {
        let mut levels = vec![level];
        while let Some(level) = levels.pop() {
            for result in &mut level.fields {
                let FieldData::Edges(edges) = &mut result.data else { continue };
                if let Some(group_by) = &result.field.group_by {
                    edges.groups = Some(self.groups_of_lists(group_by, &result.field, edges)?);
                }
                levels.push(&mut edges.level);
            }
        }
        Ok(())
    }

    /// The groups of the targets of each node.
    fn groups_of_lists(
        &self,
        group_by: &GroupBy,
        field: &Field,
        edges: &EdgeField,
    ) -> Result<Vec<Vec<Group>>> {
        self.check_group_results(&field.fields)?;
        let (count, targets) = (edges.offsets.len() - 1, edges.targets.len());
        let each = cost::SETUP.and(cost::SORT.times(targets / count.max(1)));
        let groups = |positions: Range<usize>| {
            let list = |position| self.groups(group_by, &field.fields, edges.targets_of(position));
            positions.map(list).collect::<Result<Vec<_>>>()
        };
        let step = self.begin("group", &field.key, Some(field.at), None);
        let groups = self.lists(count, each, groups)?;
        self.end(&step, groups.iter().map(Vec::len).sum());
        Ok(groups)
    }

    /// Groups some nodes; the groups come in the order of the answer: small ones first.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for a body that requests something that a group does not have.
    pub(crate) fn groups(
        &self,
        group_by: &GroupBy,
        body: &[Arc<Field>],
        members: &[u32],
    ) -> Result<Vec<Group>> {
        // The targets of an edge list may come in the order of their values; sets of nodes ascend.
        let mut ascending = Vec::new();
        let mut members = members;
        if !members.is_sorted() {
            self.make_space(&mut ascending, members.len())?;
            ascending.extend_from_slice(members);
            ascending.sort_unstable();
            members = &ascending;
        }
        let kind = self.group_kind(group_by, body, Members::List(members));
        let groups = match self.group_unlisted(kind, group_by, body, Members::List(members))? {
            Some(groups) => groups,
            None => {
                self.record_group_path(GroupPath::Lists);
                self.listed_groups(group_by, body, members)?
            }
        };
        self.sorted_groups(groups)
    }

    /// How members are grouped: by the cheapest possible strategy, or in tests by any possible one.
    pub(crate) fn group_kind(
        &self,
        group_by: &GroupBy,
        body: &[Arc<Field>],
        members: Members<'_>,
    ) -> GroupKind {
        let counts_alone = body.iter().all(|field| field.kind == FieldKind::CountUid);
        let only = group_by.keys.first().filter(|_| group_by.keys.len() == 1);
        let key = only.filter(|_| counts_alone);
        let has_postings = |key: &GroupKey| match members {
            Members::Set(set) => self.has_all_of_index(key, set),
            Members::List(_) => false,
        };
        let is_short = matches!(members, Members::Set(set) if set.len() < SET_MIN);
        let cheapest = match key {
            _ if is_short => GroupKind::Lists,
            Some(key) if has_postings(key) => GroupKind::Postings,
            Some(key) if self.leads_to_nodes(key) => GroupKind::Targets,
            _ => GroupKind::Codes,
        };
        self.pick(cheapest, members.len(), || {
            let mut allowed = vec![GroupKind::Codes, GroupKind::Lists];
            if key.is_some_and(has_postings) {
                allowed.push(GroupKind::Postings);
            }
            if key.is_some_and(|key| self.leads_to_nodes(key)) {
                allowed.push(GroupKind::Targets);
            }
            allowed
        })
    }

    /// The groups of members by the strategy that [`Context::group_kind`] chose, with their numbers
    /// of members, in any order that is the same in each run. `None` where lists are needed: they
    /// were chosen, or a key has no codes.
    fn group_unlisted(
        &self,
        kind: GroupKind,
        group_by: &GroupBy,
        body: &[Arc<Field>],
        members: Members<'_>,
    ) -> Result<Option<Vec<(usize, Group)>>> {
        match (kind, members, group_by.keys.as_slice()) {
            (GroupKind::Postings, Members::Set(set), [key]) => {
                let counts = self.counts_of_all(key, set)?;
                let groups = counts.as_ref().map_or(0, Vec::len);
                self.control.charge(result_bytes(body.len()) * groups)?;
                self.record_group_path(GroupPath::Postings);
                let group = |(count, key)| counted(count, vec![key], body);
                Ok(counts.map(|counts| counts.into_iter().map(group).collect()))
            }
            (GroupKind::Targets, ..) => self.edge_groups(group_by, body, members),
            (GroupKind::Codes, ..) => self.column_groups(group_by, body, members),
            (GroupKind::Lists | GroupKind::Postings, ..) => Ok(None),
        }
    }

    /// The groups in the order of the answer: small ones first, and those of one size by their
    /// keys. What is sorted are numbers that compare as the groups do, and positions; keys are
    /// looked at where the numbers are equal.
    fn sorted_groups(&self, groups: Vec<(usize, Group)>) -> Result<Vec<Group>> {
        let has_rank = are_alike(&groups);
        let rank = |group: &Group| if has_rank { rank_of_group(group) } else { 0 };
        let _while_sorting =
            self.control.charge_while(size_of::<(usize, u64, usize)>() * groups.len())?;
        let ranked = groups.iter().enumerate();
        let ranked = ranked.map(|(position, (count, group))| (*count, rank(group), position));
        let order = self.sorted_by(ranked.collect(), cost::TEST, |one, other| {
            let of = |(_, _, position): &(usize, u64, usize)| &groups[*position].1;
            let ranks = (one.0, one.1).cmp(&(other.0, other.1));
            ranks.then_with(|| compare_groups(of(one), of(other))).then(one.2.cmp(&other.2))
        })?;
        let mut groups: Vec<Option<Group>> =
            groups.into_iter().map(|(_, group)| Some(group)).collect();
        Ok(order.into_iter().filter_map(|(_, _, position)| groups[position].take()).collect())
    }

    /// The groups of the root of a block, as columns if they are computed by codes.
    ///
    /// # Errors
    ///
    /// As [`Context::groups`].
    pub(crate) fn root_groups(
        &self,
        group_by: &GroupBy,
        body: &[Arc<Field>],
        members: Members<'_>,
    ) -> Result<RootGroups> {
        self.check_group_results(body)?;
        // Variables are read from groups as rows; see `publish_groups`.
        let has_vars = body.iter().any(|field| field.var.is_some());
        let kind = self.group_kind(group_by, body, members);
        if !has_vars
            && kind == GroupKind::Codes
            && let Some(columns) = self.groups_as_columns(group_by, body, members)?
        {
            return Ok(RootGroups::Columns(columns));
        }
        match members {
            Members::List(nodes) => self.groups(group_by, body, nodes),
            Members::Set(set) => self.groups_of_set(kind, group_by, body, set),
        }
        .map(RootGroups::Rows)
    }

    /// As [`Context::groups`], of a set; it is listed only if columns and indexes are not enough.
    ///
    /// # Errors
    ///
    /// As [`Context::groups`].
    fn groups_of_set(
        &self,
        kind: GroupKind,
        group_by: &GroupBy,
        body: &[Arc<Field>],
        members: &NodeSet,
    ) -> Result<Vec<Group>> {
        if let Some(groups) = self.group_unlisted(kind, group_by, body, Members::Set(members))? {
            return self.sorted_groups(groups);
        }
        self.control.charge(size_of::<u32>() * members.len())?;
        self.groups(group_by, body, &members.as_list())
    }

    /// The groups, with their numbers of members, in any order that is the same in each run: from
    /// the list of the members of each.
    fn listed_groups(
        &self,
        group_by: &GroupBy,
        body: &[Arc<Field>],
        members: &[u32],
    ) -> Result<Vec<(usize, Group)>> {
        self.control.charge(8 * members.len())?;
        let mut groups = Vec::new();
        // Made once for all groups: then a number costs a read by node id, and no search.
        let tables = self.number_tables(body, members)?;
        let mut pending = Pending::new(self.control);
        let is_listed = !only_counts(body);
        for NodePartition { keys, members } in self.partition(group_by, members)? {
            // Groups that are only counted are never listed.
            let list = if is_listed { members.as_list() } else { Cow::default() };
            pending.add(GROUP_BYTES + result_bytes(body.len()))?;
            let mut results = Vec::with_capacity(body.len());
            for (field, table) in body.iter().zip(&tables) {
                let result = self.group_result(field, table.as_deref(), members.len(), &list)?;
                pending.add(result.as_ref().map_or(0, Value::heap_size))?;
                results.push(result);
            }
            groups.push((members.len(), Group { keys, results }));
        }
        pending.charge()?;
        Ok(groups)
    }

    /// Adds the variables of a `@groupby` body to `result`: each holds the result of a group under
    /// the node that is its key. `keys` is the number of keys.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when there is not exactly one key, or its values are no nodes.
    pub(crate) fn publish_groups(
        &self,
        body: &[Arc<Field>],
        keys: usize,
        groups: &[Group],
        result: &mut BTreeMap<VarId, Var>,
    ) -> Result<()> {
        let vars: Vec<(usize, VarId)> = body
            .iter()
            .enumerate()
            .filter_map(|(position, field)| field.var.map(|var| (position, var)))
            .collect();
        if vars.is_empty() {
            return Ok(());
        }
        let refused = |message: String| {
            let at = body[vars[0].0].at;
            let hint = "a variable holds one value for each node: group by one edge predicate";
            Error::query_at(at, message).with_hint(hint)
        };
        if keys != 1 {
            return Err(refused(format!("a variable below `@groupby` with {keys} keys")));
        }
        self.control.charge(2 * size_of::<(u32, Value)>() * vars.len() * groups.len())?;
        let mut maps: Vec<BTreeMap<u32, Value>> = vec![BTreeMap::new(); vars.len()];
        for group in groups {
            let [GroupValue::Node(node)] = group.keys.as_slice() else {
                let message = "a variable below `@groupby` of a predicate that has values";
                return Err(refused(message.to_owned()));
            };
            for ((position, _), map) in vars.iter().zip(&mut maps) {
                if let Some(value) = &group.results[*position] {
                    map.insert(*node, value.clone());
                }
            }
        }
        for ((_, var), map) in vars.into_iter().zip(maps) {
            add_values(result, Some(var), ValueMap::from_sorted(map));
        }
        Ok(())
    }
}

/// A group of which only the number of members is requested.
fn counted(count: usize, keys: Vec<GroupValue>, body: &[Arc<Field>]) -> (usize, Group) {
    let results = body.iter().map(|_| Some(Value::Int(count as i64))).collect();
    (count, Group { keys, results })
}

/// True where the number of results and the type of the first key are the same in all groups, so
/// that what is left of the order begins with the first key.
fn are_alike(groups: &[(usize, Group)]) -> bool {
    let Some((_, first)) = groups.first() else { return true };
    let kind = |group: &Group| {
        let Some(GroupValue::Value(value)) = group.keys.first() else { return None };
        Some(value.as_ref().value_type())
    };
    let results = |group: &Group| group.results.iter().flatten().count();
    groups.iter().all(|(_, group)| kind(group) == kind(first) && results(group) == results(first))
}

/// A number that compares as the first key of a group does.
fn rank_of_group(group: &Group) -> u64 {
    match group.keys.first() {
        Some(GroupValue::Node(node)) => u64::from(*node),
        // Bools have no order in answers: their groups stay as they came.
        Some(GroupValue::Value(Value::Bool(_))) | None => 0,
        Some(GroupValue::Value(value)) => rank_of(value.as_ref()).unwrap_or(0),
    }
}

/// True for a body that aggregates nothing.
fn only_counts(body: &[Arc<Field>]) -> bool {
    !body.iter().any(|field| matches!(field.kind, FieldKind::AggregatePredicate { .. }))
}

impl GroupValue {
    fn compare(&self, other: &GroupValue) -> Ordering {
        match (self, other) {
            (GroupValue::Node(one), GroupValue::Node(other)) => one.cmp(other),
            (GroupValue::Value(one), GroupValue::Value(other)) => {
                one.as_ref().compare(other.as_ref()).unwrap_or(Ordering::Equal)
            }
            (GroupValue::Node(_), GroupValue::Value(_)) => Ordering::Less,
            (GroupValue::Value(_), GroupValue::Node(_)) => Ordering::Greater,
        }
    }
}

fn compare_groups(one: &Group, other: &Group) -> Ordering {
    let keys = one.keys.iter().zip(&other.keys).map(|(one, other)| one.compare(other));
    let results = |group: &Group| group.results.iter().flatten().count();
    let by_results = results(one).cmp(&results(other));
    keys.fold(by_results, Ordering::then)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::control::morsels::tests::{sharing, sharing_by};
    use crate::exec::control::stop::RequestContext;
    use crate::exec::cost::RandomChoice;
    use crate::exec::tests::random_graph::{NAMES, full_graph, graph};
    use fastrand::Rng;
    use hexgraph_base::plan::{AGGREGATES, Aggregate, Algebraic, Query};

    fn field(kind: FieldKind) -> Arc<Field> {
        Arc::new(Field {
            kind,
            at: Default::default(),
            alias: None,
            key: "f".to_owned(),
            var: None,
            filter: None,
            order: Default::default(),
            page: Default::default(),
            facets: None,
            facet_filter: None,
            cascade: None,
            normalize: false,
            group_by: None,
            fields: Vec::new(),
            has_body: false,
        })
    }

    fn random_field(rng: &mut Rng) -> Arc<Field> {
        let (op, name) = (rng.choice(AGGREGATES).unwrap().op, rng.choice(NAMES).unwrap());
        field(match rng.u8(..4) {
            0 => FieldKind::CountUid,
            _ => FieldKind::AggregatePredicate { op, name: name.to_owned(), langs: Vec::new() },
        })
    }

    fn shown(context: &Context<'_>, groups: Vec<(usize, Group)>) -> String {
        format!("{:?}", context.sorted_groups(groups).unwrap())
    }

    /// The groups of columns are those of lists, in their order and to the last bit.
    #[test]
    fn columns_group_as_lists_do() {
        let mut rng = Rng::with_seed(7);
        let (mut requested, mut by_columns, mut as_columns) = (0, 0, 0);
        for round in 0..24 {
            // The greater graphs have texts with codes.
            let nodes = if round % 8 == 0 { 3000 } else { rng.u64(20..200) };
            let version = graph(nodes, &mut rng);
            let (control, query) = (RequestContext::new(), Query::default());
            let context =
                Context { version: &version, query: &query, control: &control, vars: Vec::new() };
            let key = |name: &str| GroupKey {
                alias: None,
                predicate: name.to_owned(),
                langs: Vec::new(),
            };
            let body = [field(FieldKind::CountUid)];
            for name in NAMES {
                let all = version.predicate(name).map(|it| it.subjects()).unwrap_or_default();
                let counts = context.counts_of_all(&key(name), &all).unwrap();
                let Some(counts) = counts else { continue };
                let group_by = GroupBy { keys: vec![key(name)] };
                let listed = context.listed_groups(&group_by, &body, &all.to_vec()).unwrap();
                let group = |(count, key)| counted(count, vec![key], &body);
                let result = counts.into_iter().map(group).collect();
                assert_eq!(shown(&context, result), shown(&context, listed), "all with {name}");
            }
            for _ in 0..30 {
                let names = (0..rng.usize(1..4)).map(|_| rng.choice(NAMES).unwrap());
                let group_by = GroupBy { keys: names.map(&key).collect() };
                let body: Vec<_> = (0..rng.usize(..4)).map(|_| random_field(&mut rng)).collect();
                let fraction = *rng.choice([1.0, 0.9, 0.2].as_slice()).unwrap();
                let first = if rng.bool() { 0 } else { rng.u32(..nodes as u32) };
                let members: Vec<u32> =
                    (first..nodes as u32 * 2).filter(|_| rng.f64() < fraction).collect();
                requested += 1;
                let set = NodeSet::from(members.clone());
                let given = match rng.bool() {
                    true => Members::List(&members),
                    false => Members::Set(&set),
                };
                let Some(result) = context.column_groups(&group_by, &body, given).unwrap() else {
                    continue;
                };
                by_columns += 1;
                let choice = if rng.bool() {
                    RandomChoice::of(rng.u64(..))
                } else {
                    RandomChoice::default()
                };
                let control = sharing_by(3, *rng.choice(&[1, 100, 10_000]).unwrap(), choice);
                let shared = Context { control: &control, vars: Vec::new(), ..context };
                let together = shared.column_groups(&group_by, &body, given).unwrap();
                let together = together.expect("the keys are the same");
                let sorted = |result: &[(usize, Group)]| match choice.is_random() {
                    // The groups of another table come in another order.
                    true => shown(&context, result.to_vec()),
                    false => format!("{result:?}"),
                };
                assert_eq!(sorted(&together), sorted(&result), "{group_by:?}: {body:?}");
                let listed = context.listed_groups(&group_by, &body, &members).unwrap();
                assert_eq!(
                    shown(&context, result),
                    shown(&context, listed.clone()),
                    "{group_by:?} of {members:?}: {body:?}"
                );
                let expected = context.sorted_groups(listed).unwrap();
                for context in [&context, &shared] {
                    let columns = context.groups_as_columns(&group_by, &body, given).unwrap();
                    let Some(columns) = columns else { continue };
                    as_columns += 1;
                    assert_eq!(columns.len(), expected.len());
                    for (position, group) in expected.iter().enumerate() {
                        let (keys, results) = columns.row(position);
                        let keys: Vec<_> = keys.into_iter().map(GroupValue::Value).collect();
                        let result = format!("{:?}", Group { keys, results });
                        assert_eq!(result, format!("{group:?}"), "{group_by:?}: {body:?}");
                    }
                }
            }
        }
        assert!(requested < 2 * as_columns, "{as_columns} of {requested} twice were columns");
        assert!(requested < 2 * by_columns, "{by_columns} of {requested} were grouped by columns");
    }

    /// Columns without gaps or changes, which are read as they lie, are grouped as lists are, by
    /// one thread and by several: also groups of more floats than a block of their sums has.
    #[test]
    fn plain_columns_group_as_lists_do() {
        let mut rng = Rng::with_seed(8);
        let of = |op, name: &str| {
            let (op, name) = (Aggregate::Algebraic(op), name.to_owned());
            field(FieldKind::AggregatePredicate { op, name, langs: Vec::new() })
        };
        let bodies = [
            vec![field(FieldKind::CountUid)],
            vec![of(Algebraic::Sum, "age")],
            vec![of(Algebraic::Avg, "rate")],
            vec![of(Algebraic::Sum, "rate"), of(Algebraic::Avg, "share")],
            vec![of(Algebraic::Max, "age"), of(Algebraic::Sum, "age"), of(Algebraic::Sum, "rate")],
            vec![of(Algebraic::Sum, "share"), of(Algebraic::Min, "share")],
        ];
        let mut as_columns = 0;
        for _ in 0..3 {
            let version = full_graph(rng.u64(5_000..10_000), &mut rng);
            let query = Query::default();
            let all = version.predicate("age").unwrap().subjects();
            for (position, body) in bodies.iter().enumerate() {
                for key in ["age", "day", "city", "is"] {
                    let (alias, langs, predicate) = (None, Vec::new(), key.to_owned());
                    let group_by = GroupBy { keys: vec![GroupKey { alias, predicate, langs }] };
                    let mut expected = None;
                    let choice = RandomChoice::of(rng.u64(..));
                    let controls = [
                        RequestContext::new(),
                        sharing(2, 10_000),
                        sharing(3, 1),
                        sharing_by(2, 10_000, choice),
                        sharing_by(3, 100, choice),
                    ];
                    for control in controls {
                        let (version, query, vars) = (&version, &query, Vec::new());
                        let context = Context { version, query, control: &control, vars };
                        let expected = expected.get_or_insert_with(|| {
                            let listed = context.listed_groups(&group_by, body, &all.to_vec());
                            context.sorted_groups(listed.unwrap()).unwrap()
                        });
                        let members = Members::Set(&all);
                        let columns = context.groups_as_columns(&group_by, body, members).unwrap();
                        let Some(columns) = columns else { continue };
                        as_columns += 1;
                        let row = |position: usize| {
                            let (keys, results) = columns.row(position);
                            let keys = keys.into_iter().map(GroupValue::Value).collect();
                            Group { keys, results }
                        };
                        let result: Vec<Group> = (0..columns.len()).map(row).collect();
                        assert_eq!(
                            format!("{result:?}"),
                            format!("{expected:?}"),
                            "{position} by {key}"
                        );
                    }
                }
            }
        }
        assert!(3 * 6 * 4 * 5 / 2 < as_columns, "{as_columns} were columns");
    }
}
