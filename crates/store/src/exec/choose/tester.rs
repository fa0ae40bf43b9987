//! Functions as tests of single nodes, without an index.
//!
//! A filter over few nodes, and one that can stop after a page, tests node by node; the arguments
//! are converted and compiled once.

use super::asked_set::RequestedSet;
use super::column_test::{ColumnTest, Condition};
use super::compare::ValueCondition;
use crate::exec::columns::batches::{BATCH, EdgeCounts, EdgeTargets, Members, RowFinder, Rows};
use crate::exec::columns::read::typed_or_none;
use crate::exec::control::context::Context;
use crate::exec::control::morsels::SOME_MORSELS;
use crate::exec::control::morsels::joined;
use crate::exec::control::tree::ValueMap;
use crate::exec::cost::{self, Cost};
use crate::graph::{Direction, LangValues, NumberRun, Predicate, ValueList};
use crate::storage::{FrozenBitmap, NodeSet, TextArray, Values};
use hexgraph_base::plan::Call;
use hexgraph_base::types::{Result, ValueRef, ValueType};
use std::slice;
use std::sync::Arc;

/// What a function costs as a test of a node, about, before its test is made.
pub(crate) fn cost_of_call(call: &Call) -> Cost {
    match call {
        Call::Geo { .. } => cost::GEOMETRY,
        Call::Text { .. } => cost::PATTERN,
        Call::UidIn { .. } => cost::CELL,
        Call::Compare { .. }
        | Call::Between { .. }
        | Call::Terms { .. }
        | Call::CustomTerms { .. }
        | Call::Has(_)
        | Call::Type(_)
        | Call::Uid { .. }
        | Call::SimilarTo { .. } => cost::TEST,
    }
}

/// A test of one node.
pub(crate) enum Tester<'a> {
    /// The same answer for every node.
    Constant(bool),
    /// The node is in the set.
    Member(RequestedSet),
    /// A value of the node meets a condition.
    Value {
        /// The predicate.
        predicate: &'a Predicate,
        /// The language.
        lang: Option<&'a str>,
        /// The condition.
        expected: Condition,
    },
    /// What is stored of the node, in one row, meets a condition.
    Column {
        /// The nodes that have a value, and what changed since they were stored.
        part: &'a LangValues,
        /// The test of the rows.
        rows: ColumnTest<'a>,
    },
    /// The number of values or edges of the node meets a condition.
    Count {
        /// Counts the values or edges of the node.
        counter: Counter<'a>,
        /// The condition on the number.
        expected: ValueCondition,
    },
    /// The value that a variable has for the node meets a condition.
    Var {
        /// The variable.
        map: Arc<ValueMap>,
        /// The condition on the value.
        expected: ValueCondition,
    },
    /// The node has the predicate.
    Has(&'a Predicate, Option<&'a str>, bool),
    /// The node has an edge to one of these.
    EdgeTo(&'a Predicate, bool, RequestedSet),
    /// The node has more edges than the number says whose targets pass the test.
    Reaches(&'a Direction, usize, Box<Tester<'a>>),
    /// The node passes every test.
    And(Vec<Tester<'a>>),
    /// The node passes one of the tests.
    Or(Vec<Tester<'a>>),
    /// The node does not pass the test.
    Not(Box<Tester<'a>>),
    /// The node passes another test.
    Same(&'a Tester<'a>),
}

impl<'a> Tester<'a> {
    /// A test of a predicate's values in a language, in the form that costs least.
    pub(crate) fn of_values(
        predicate: &'a Predicate,
        lang: Option<&'a str>,
        expected: Condition,
    ) -> Tester<'a> {
        // With several languages, or a list, any of the values may meet the condition.
        let [part] = predicate.parts(lang) else {
            return Tester::Value { predicate, lang, expected };
        };
        match ColumnTest::new(part, comparable(predicate.def.value_type), expected) {
            Ok(rows) => Tester::Column { part, rows },
            Err(expected) => Tester::Value { predicate, lang, expected },
        }
    }
}

/// The nodes that have a value of a predicate in a language; `None` where any of several values may
/// meet a condition.
pub(crate) fn subjects_with(predicate: &Predicate, lang: Option<&str>) -> Option<NodeSet> {
    let [part] = predicate.parts(lang) else { return None };
    Some(part.subjects())
}

/// Counts the values or the edges of single nodes, for `count(p)`.
#[derive(Clone, Copy)]
pub(crate) struct Counter<'a> {
    /// The predicate.
    pub(crate) predicate: &'a Predicate,
    /// True for incoming edges.
    pub(crate) reverse: bool,
    /// The language, `None` for all of them together in a filter.
    pub(crate) lang: Option<&'a str>,
}

impl Counter<'_> {
    /// The number of values or edges of a node.
    pub(crate) fn count(&self, node: u32) -> u64 {
        if let Some(edges) = self.predicate.direction(self.reverse) {
            return edges.count(node) as u64;
        }
        match self.lang {
            Some(lang) => {
                self.predicate.values(lang).map_or(0, |part| part.values(node).len()) as u64
            }
            None => self.predicate.langs().iter().map(|part| part.values(node).len() as u64).sum(),
        }
    }
}

impl Counter<'_> {
    /// Those of some nodes, which ascend, whose number of values or edges meets a condition. Edges
    /// are counted a batch of nodes at a time.
    fn passing(&self, expected: &ValueCondition, nodes: &[u32]) -> Vec<u32> {
        let edges = self.predicate.direction(self.reverse);
        let (Some(edges), Some((low, high))) = (edges, expected.int_range()) else {
            let holds = |node: &u32| expected.holds(ValueRef::Int(self.count(*node) as i64));
            return nodes.iter().copied().filter(holds).collect();
        };
        let (mut retained, mut counts) = (Vec::new(), EdgeCounts::new(edges));
        for batch in nodes.chunks(BATCH) {
            let counted = batch.iter().zip(counts.read(batch));
            let passing = counted.filter(|(_, count)| (low..=high).contains(*count));
            retained.extend(passing.map(|(node, _)| *node));
        }
        retained
    }
}

impl Tester<'_> {
    /// True when the node passes the test.
    pub(crate) fn test(&self, node: u32) -> bool {
        match self {
            Tester::Constant(answer) => *answer,
            Tester::Member(set) => set.contains(node),
            Tester::Value { predicate, lang, expected } => {
                let value_type = comparable(predicate.def.value_type);
                let mut parts = predicate.parts(*lang).iter();
                parts.any(|part| expected.holds_for_any(value_type, &part.values(node)))
            }
            Tester::Column { part, rows } => match part.changed(node) {
                Some(row) => rows.holds_changed(row),
                None => {
                    let row = part.stored().subjects.row_of(node);
                    row.is_some_and(|row| rows.holds_row(row))
                }
            },
            Tester::Count { counter, expected } => {
                expected.holds(ValueRef::Int(counter.count(node) as i64))
            }
            Tester::Var { map, expected } => {
                map.get(node).is_some_and(|value| expected.holds(value))
            }
            Tester::Has(predicate, lang, reverse) => has(predicate, *lang, *reverse, node),
            Tester::EdgeTo(predicate, reverse, targets) => {
                edge_to(predicate, *reverse, targets, node)
            }
            Tester::Reaches(edges, more_than, passes) => {
                reaches(&edges.targets(node), *more_than, passes)
            }
            Tester::And(parts) => parts.iter().all(|part| part.test(node)),
            Tester::Or(parts) => parts.iter().any(|part| part.test(node)),
            Tester::Not(part) => !part.test(node),
            Tester::Same(tester) => tester.test(node),
        }
    }

    /// Returns the nodes of an ascending list that pass, ascending.
    fn passing(&self, nodes: &[u32]) -> Vec<u32> {
        let one_by_one = || nodes.iter().copied().filter(|&node| self.test(node)).collect();
        let (part, rows) = match self {
            Tester::Column { part, rows } => (part, rows),
            Tester::Value { predicate, lang, expected } => {
                let [part] = predicate.parts(*lang) else { return one_by_one() };
                return expected.passing(part, comparable(predicate.def.value_type), nodes);
            }
            Tester::Member(set) => {
                let mut retained = nodes.to_vec();
                set.set().retain(&mut retained, true);
                return retained;
            }
            Tester::Count { counter, expected } => return counter.passing(expected, nodes),
            Tester::Same(tester) => return tester.passing(nodes),
            Tester::And(parts) => {
                // Each part tests only what the parts before it left.
                return parts.iter().fold(nodes.to_vec(), |nodes, part| part.passing(&nodes));
            }
            Tester::Or(parts) => return passing_any(parts, nodes),
            Tester::Not(part) => return sorted_difference(nodes, &part.passing(nodes)),
            Tester::Has(predicate, lang, reverse) => {
                return having(predicate, *lang, *reverse, nodes);
            }
            Tester::EdgeTo(predicate, reverse, targets) => {
                let Some(edges) = predicate.direction(*reverse) else { return Vec::new() };
                return self.passing_edges(edges, nodes, |stored| targets.has_any(stored));
            }
            Tester::Reaches(edges, more_than, passes) => {
                return self
                    .passing_edges(edges, nodes, |stored| reaches(stored, *more_than, passes));
            }
            Tester::Constant(_) | Tester::Var { .. } => return one_by_one(),
        };
        let (subjects, mut finder) = (&part.stored().subjects, RowFinder::default());
        let mut retained = Vec::new();
        part.by_changes(nodes, |run| match run {
            NumberRun::Stored(nodes) => {
                rows.retain((subjects, &mut finder), nodes, &mut retained);
            }
            NumberRun::Changed(node, row) if rows.holds_changed(row) => retained.push(node),
            NumberRun::Changed(..) => {}
        });
        retained
    }

    /// Whether those of some candidates that pass are counted in a column as it is stored: where
    /// all nodes that have a value in it are candidates.
    pub(crate) fn counts(&self, candidates: &NodeSet) -> bool {
        matches!(self, Self::Column { part, .. } if candidates.is_sure_superset(&part.subjects()))
    }

    /// The nodes that have one of the values that the test requires; `None` for a test that
    /// requires none.
    pub(crate) fn subjects(&self) -> Option<NodeSet> {
        if let Tester::Column { part, .. } = self {
            return Some(part.subjects());
        }
        let Tester::Value { predicate, lang, .. } = self else { return None };
        subjects_with(predicate, *lang)
    }

    /// The nodes of an ascending list whose edges pass: `stored` tests edges that did not change,
    /// and the test itself a node whose edges did.
    fn passing_edges(
        &self,
        edges: &Direction,
        nodes: &[u32],
        stored: impl Fn(&[u32]) -> bool,
    ) -> Vec<u32> {
        let mut retained = Vec::new();
        EdgeTargets::new(edges).for_each_by_changes(nodes, |position, targets| {
            let passes = match targets {
                Some(targets) => stored(targets),
                None => self.test(nodes[position]),
            };
            if passes {
                retained.push(nodes[position]);
            }
        });
        retained
    }

    /// What the test of a node costs, about.
    pub(crate) fn cost(&self) -> Cost {
        match self {
            Tester::Constant(_) => cost::ROW,
            Tester::Column { rows, .. } => rows.cost(),
            Tester::Member(_) => cost::ENTRY,
            Tester::Value { expected, .. } => expected.cost(),
            Tester::Has(..) | Tester::Var { .. } | Tester::Count { .. } => cost::TEST,
            Tester::EdgeTo(..) => cost::CELL,
            Tester::Reaches(_, _, part) => cost::LIST.and(part.cost().times(4)),
            Tester::And(parts) | Tester::Or(parts) => parts.iter().map(Tester::cost).sum(),
            Tester::Not(part) => part.cost(),
            Tester::Same(tester) => tester.cost(),
        }
    }

    /// Gets ready for a test of about so many nodes, and returns the bytes that this takes.
    fn expect(&self, nodes: usize) -> usize {
        let targets_of = |edges: &Direction| {
            let each = edges.total() as usize / edges.subjects_max().max(1);
            nodes.saturating_mul(each.max(1))
        };
        match self {
            Tester::EdgeTo(predicate, reverse, ends) => {
                predicate.direction(*reverse).map_or(0, |edges| ends.expect(targets_of(edges)))
            }
            // A set is intersected with many nodes at once; only the targets of edges are probed
            // one by one.
            Tester::Reaches(edges, _, part) => match &**part {
                Tester::Member(set) => set.expect(targets_of(edges)),
                part => part.expect(targets_of(edges)),
            },
            other => other.parts().iter().map(|part| part.expect(nodes)).sum(),
        }
    }

    /// The same test for another thread. A regular expression has memory that only one thread at a
    /// time can use: two that use one take longer together than one alone.
    pub(crate) fn for_thread(&self) -> Tester<'_> {
        match self {
            Tester::Value { predicate, lang, expected } if expected.has_memory() => {
                Tester::Value { predicate, lang: *lang, expected: expected.clone() }
            }
            Tester::And(parts) => Tester::And(for_thread(parts)),
            Tester::Or(parts) => Tester::Or(for_thread(parts)),
            Tester::Not(part) => Tester::Not(Box::new(part.for_thread())),
            Tester::Reaches(edges, more_than, part) => {
                Tester::Reaches(edges, *more_than, Box::new(part.for_thread()))
            }
            other => Tester::Same(other),
        }
    }

    /// The tests that this one is made of.
    fn parts(&self) -> &[Tester<'_>] {
        match self {
            Tester::And(parts) | Tester::Or(parts) => parts,
            Tester::Not(part) | Tester::Reaches(_, _, part) => slice::from_ref(part),
            Tester::Same(tester) => slice::from_ref(tester),
            Tester::Constant(_)
            | Tester::Member(_)
            | Tester::Value { .. }
            | Tester::Column { .. }
            | Tester::Count { .. }
            | Tester::Var { .. }
            | Tester::Has(..)
            | Tester::EdgeTo(..) => &[],
        }
    }

    /// Whether a thread needs a test of its own.
    fn has_memory(&self) -> bool {
        matches!(self, Tester::Value { expected, .. } if expected.has_memory())
            || self.parts().iter().any(Tester::has_memory)
    }

    /// How many nodes are tested between two checks.
    fn chunk_len(&self) -> usize {
        cost::CHECK.per(self.cost().max(cost::TEST))
    }
}

impl Condition {
    /// Whether some value of a list, converted to the type of the schema, passes.
    fn holds_for_any(&self, value_type: ValueType, values: &ValueList<'_>) -> bool {
        values.iter().any(|value| {
            typed_or_none(value, value_type).is_some_and(|value| self.holds(value.as_ref()))
        })
    }

    /// The nodes of an ascending list one of whose values passes, from change to change: so nodes
    /// that did not change are not looked up among the changes.
    fn passing(&self, part: &LangValues, value_type: ValueType, nodes: &[u32]) -> Vec<u32> {
        let column = part.stored();
        let (mut retained, mut finder, mut ends) = (Vec::new(), RowFinder::default(), Vec::new());
        let texts = match &column.values {
            Values::Text { value_type: ValueType::String | ValueType::Default, texts }
                if column.rows.is_none() && value_type == ValueType::String =>
            {
                Some(texts)
            }
            _ => None,
        };
        part.by_changes(nodes, |run| match (run, texts) {
            (NumberRun::Stored(nodes), Some(texts)) => {
                self.retain_texts(
                    texts,
                    (&column.subjects, &mut finder),
                    nodes,
                    &mut ends,
                    &mut retained,
                );
            }
            (NumberRun::Stored(nodes), None) => {
                retained.extend(nodes.iter().copied().filter(|&node| {
                    column.positions(node).is_some_and(|positions| {
                        self.holds_for_any(value_type, &ValueList::Stored(column, positions))
                    })
                }))
            }
            (NumberRun::Changed(node, Some(row)), _)
                if self.holds_for_any(value_type, &ValueList::Changed(row)) =>
            {
                retained.push(node);
            }
            (NumberRun::Changed(..), _) => {}
        });
        retained
    }

    /// Adds those of some ascending nodes to `retained` whose stored text passes. Texts that lie
    /// contiguously are checked as one; `ends` is space for where they end.
    fn retain_texts(
        &self,
        texts: &TextArray,
        (subjects, finder): (&FrozenBitmap, &mut RowFinder),
        nodes: &[u32],
        ends: &mut Vec<usize>,
        retained: &mut Vec<u32>,
    ) {
        let mut requested = nodes.iter().copied();
        finder.for_each_chunk(subjects, nodes, |rows| match rows {
            Rows::Run(rows) => {
                let (text, mut start) = (texts.run(rows, ends), 0);
                for (&end, node) in ends.iter().zip(&mut requested) {
                    let passes = self.holds(ValueRef::String(&text[start..end]));
                    retained.extend(passes.then_some(node));
                    start = end;
                }
            }
            rows => rows.for_each(|row| {
                let passes = row.is_some_and(|row| self.holds(ValueRef::String(texts.get(row))));
                retained.extend(requested.next().filter(|_| passes));
            }),
        });
    }
}

fn for_thread<'s>(parts: &'s [Tester<'_>]) -> Vec<Tester<'s>> {
    parts.iter().map(Tester::for_thread).collect()
}

/// The type in which values of a predicate are compared: those without one as text.
pub(crate) fn comparable(value_type: ValueType) -> ValueType {
    if value_type == ValueType::Default { ValueType::String } else { value_type }
}

/// True when the node has the predicate, in the language where one is named.
pub(crate) fn has(predicate: &Predicate, lang: Option<&str>, reverse: bool, node: u32) -> bool {
    if let Some(edges) = predicate.direction(reverse) {
        return edges.has(node);
    }
    predicate.parts(lang).iter().any(|part| part.has(node))
}

fn edge_to(predicate: &Predicate, reverse: bool, ends: &RequestedSet, node: u32) -> bool {
    let Some(edges) = predicate.direction(reverse) else { return false };
    match ends.few() {
        // A few are searched for among the node's edges, which may have changed: then they are not
        // put together.
        Some(few) => few.iter().any(|end| edges.contains(node, end)),
        None => ends.has_any(&edges.targets(node)),
    }
}

/// Whether more edges than the number have targets that pass.
fn reaches(targets: &[u32], more_than: usize, passes: &Tester<'_>) -> bool {
    targets.iter().filter(|target| passes.test(**target)).nth(more_than).is_some()
}

/// The nodes of an ascending list that have the predicate, in the language where one is named.
fn having(predicate: &Predicate, lang: Option<&str>, reverse: bool, nodes: &[u32]) -> Vec<u32> {
    let subjects = match (predicate.direction(reverse), predicate.parts(lang)) {
        (Some(edges), _) => edges.subjects(),
        (None, [part]) => part.subjects(),
        (None, _) => {
            let has = |node: &u32| has(predicate, lang, reverse, *node);
            return nodes.iter().copied().filter(has).collect();
        }
    };
    let mut retained = nodes.to_vec();
    subjects.retain(&mut retained, true);
    retained
}

/// The nodes of an ascending list that pass one of some tests, each of which tests the nodes that
/// passed none before.
fn passing_any(parts: &[Tester<'_>], nodes: &[u32]) -> Vec<u32> {
    let (mut passed, mut rest) = (Vec::new(), nodes.to_vec());
    for part in parts {
        let mut more = part.passing(&rest);
        rest = sorted_difference(&rest, &more);
        passed.append(&mut more);
    }
    // No node is there twice, since it is not tested again once it has passed.
    passed.sort_unstable();
    passed
}

/// The nodes of an ascending list that are not in another, all of whose nodes are in the first.
fn sorted_difference(nodes: &[u32], part: &[u32]) -> Vec<u32> {
    let mut left_out = part.iter().peekable();
    let mut rest = Vec::with_capacity(nodes.len() - part.len());
    rest.extend(nodes.iter().copied().filter(|node| left_out.next_if_eq(&node).is_none()));
    rest
}

impl Context<'_> {
    /// Retains the nodes of an ascending list that pass, testing each; many are divided among
    /// threads. Checks regularly whether to stop.
    pub(crate) fn retain_passing(
        &self,
        nodes: Members<'_>,
        tester: &Tester<'_>,
    ) -> Result<Vec<u32>> {
        self.control.charge(tester.expect(nodes.len()))?;
        let chunk_len = tester.chunk_len();
        if nodes.len() <= chunk_len {
            return Ok(tester.passing(&nodes.as_list()));
        }
        let _while_testing = self.control.charge_while(2 * size_of::<u32>() * nodes.len())?;
        let retain = |tester: &Tester<'_>, nodes: &[u32]| {
            let mut retained = Vec::new();
            for chunk in nodes.chunks(chunk_len) {
                self.check()?;
                retained.push(tester.passing(chunk));
            }
            Ok(joined(retained))
        };
        let Some(spread) = self.control.spread(nodes.len(), tester.cost())? else {
            return retain(tester, &nodes.as_list());
        };
        // A set is listed by the threads, too, each its morsels.
        if !tester.has_memory() {
            return spread.collect(|range| retain(tester, &nodes.range(range))).map(joined);
        }
        // What a regular expression remembers is made anew for each morsel.
        let spread = spread.with_few(SOME_MORSELS);
        spread.collect(|range| retain(&tester.for_thread(), &nodes.range(range))).map(joined)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::choose::column_test::TextCondition;
    use crate::exec::control::stop::RequestContext;
    use crate::exec::tests::random_graph::graph;
    use fastrand::Rng;
    use hexgraph_base::plan::{Comparison, Query};
    use hexgraph_base::types::Value;

    /// What is retained of many nodes, from change to change, is what passes when each node is
    /// tested by itself.
    #[test]
    fn lists_keep_what_passes_alone() {
        let mut rng = Rng::with_seed(11);
        let (mut retained, mut requested) = (0, 0);
        for _ in 0..60 {
            let version = graph(rng.u64(20..400), &mut rng);
            let (control, query) = (RequestContext::new(), Query::default());
            let context =
                Context { version: &version, query: &query, control: &control, vars: Vec::new() };
            let predicate = |name: &str| context.predicate(name).map(|it| &**it);
            let mut nodes: Vec<u32> = (0..500).filter(|_| rng.bool()).collect();
            nodes.truncate(rng.usize(1..500));
            for (name, value) in [
                ("rate", Value::Float(0.15)),
                ("city", Value::String("b".into())),
                ("rank", Value::Int(1)),
            ] {
                let (Some(values), Some(knows), Some(likes)) =
                    (predicate(name), predicate("knows"), predicate("likes"))
                else {
                    continue;
                };
                let op = rng.choice([Comparison::Ge, Comparison::Lt]).unwrap();
                let value = || {
                    let expected = ValueCondition::Than(op, value.clone());
                    Tester::Value { predicate: values, lang: None, expected: expected.into() }
                };
                let likes_edges = likes.direction(false).unwrap();
                let targets = NodeSet::from((0..rng.u32(1..9)).collect::<Vec<u32>>());
                let tests = [
                    value(),
                    Tester::Not(Box::new(value())),
                    Tester::Has(values, None, false),
                    Tester::Has(knows, None, true),
                    Tester::EdgeTo(likes, false, targets.clone().into()),
                    Tester::Reaches(likes_edges, 0, Box::new(Tester::Member(targets.into()))),
                    Tester::Reaches(likes_edges, 0, Box::new(value())),
                    Tester::Or(vec![
                        value(),
                        Tester::Has(likes, None, false),
                        Tester::Constant(false),
                    ]),
                    Tester::And(vec![Tester::Has(knows, None, false), value()]),
                ];
                for (position, test) in tests.iter().enumerate() {
                    let alone: Vec<u32> =
                        nodes.iter().copied().filter(|node| test.test(*node)).collect();
                    assert_eq!(test.passing(&nodes), alone, "test {position} of {name}");
                    let of_many = context.retain_passing(Members::List(&nodes), test).unwrap();
                    assert_eq!(of_many, alone, "test {position} of {name} that expects many");
                    (retained, requested) = (retained + alone.len(), requested + nodes.len());
                }
            }
        }
        assert!(
            requested / 10 < retained && retained < requested / 10 * 9,
            "{retained} of {requested}"
        );
    }

    /// A pattern matches the same nodes in every form of a column: of few distinct texts, of any,
    /// of several languages, with changes and without.
    #[test]
    fn patterns_match_texts_in_every_form() {
        let mut rng = Rng::with_seed(17);
        let (mut columns, mut others, mut passed) = (0, 0, 0);
        for round in 0..60 {
            // Only of many texts few distinct ones are stored once.
            let count = if round % 4 == 0 { 3_000 } else { rng.u64(20..600) };
            let version = graph(count, &mut rng);
            let (control, query) = (RequestContext::new(), Query::default());
            let context =
                Context { version: &version, query: &query, control: &control, vars: Vec::new() };
            for name in ["city", "plain", "name", "said"] {
                let Some(predicate) = context.predicate(name) else { continue };
                let pattern = rng.choice(["a", "^b?$", "[^a]", "c|1", "é"]).unwrap();
                let regex = hexgraph_base::text::compile(pattern, "").unwrap();
                let expected = TextCondition::Matches(Box::new(regex.clone()));
                let tester = Tester::of_values(predicate, None, expected.into());
                match &tester {
                    Tester::Column { .. } => columns += 1,
                    _ => others += 1,
                }
                let nodes: Vec<u32> = (0..count as u32 + 90).filter(|_| rng.u8(..5) != 0).collect();
                let matches = |node: &u32| {
                    predicate.parts(None).iter().any(|part| {
                        part.values(*node).iter().any(|value| match value {
                            ValueRef::String(text) | ValueRef::Default(text) => {
                                !text.is_empty() && regex.is_match(text)
                            }
                            _ => false,
                        })
                    })
                };
                let right: Vec<u32> = nodes.iter().copied().filter(matches).collect();
                assert_eq!(tester.passing(&nodes), right, "{name} by {pattern}");
                let alone = nodes.iter().copied().filter(|node| tester.test(*node));
                assert_eq!(alone.collect::<Vec<u32>>(), right, "{name} by {pattern}, one by one");
                passed += right.len();
            }
        }
        assert!(20 < columns && 20 < others && 2_000 < passed, "{columns}, {others}, {passed}");
    }
}
