//! Root functions: the nodes that a block starts from. They must be answered from an index.

use super::compare::ValueCondition;
use super::function::{
    estimate_expected, is_reported, no_tokenizer, number_column, ordered_count, ordered_set,
    pays_to_scan, type_of, var_type,
};
use super::geo_function::GeoCall;
use super::similar::Similar;
use super::tester::{Counter, Tester, comparable};
use super::text_function::root_text;
use crate::exec::access_path::RootPath;
use crate::exec::columns::batches::Members;
use crate::exec::control::context::Context;
use crate::exec::cost;
use crate::graph::Predicate;
use crate::storage::NodeSet;
use hexgraph_base::plan::{Call, Comparison, Function, Operand, PredicateRef, PredicateUse, VarId};
use hexgraph_base::schema::{PredicateDef, Tokenizer};
use hexgraph_base::types::{Error, Result, Value, ValueType};

/// A page is filled by tests of nodes where the index would read this many times as many nodes.
const READ_PER_TEST: usize = cost::TEST.per(cost::ENTRY);

impl<'a> Context<'a> {
    /// The nodes of a root function. The estimate is only for those who look at the steps of the
    /// request; no access path is chosen by it, since a block has one root function.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when the function needs an index that the schema does not have.
    pub(crate) fn root<'f>(&self, function: &'f Function) -> Result<NodeSet>
    where
        'a: 'f,
    {
        let reported = self.control.trace().filter(|_| is_reported(function));
        let estimate = reported.and_then(|_| self.estimate(function));
        let step = self.begin("root", "", Some(function.at), estimate);
        let nodes = self.root_nodes(function).map_err(|error| error.or_at(function.at))?;
        self.end(&step, nodes.len());
        Ok(nodes)
    }

    /// The number of nodes of a root function that compares values, if the index of entire values
    /// has it without a list of them. `None` for any other function, and for one that is refused.
    pub(crate) fn counted_root(&self, function: &Function) -> Option<usize> {
        let count = self.root_count(function)?;
        if !self.pick(true, count, || vec![true, false]) {
            return None;
        }
        let estimate = self.control.trace().and_then(|_| self.estimate(function));
        let step = self.begin("root", "", Some(function.at), estimate);
        self.record_path(RootPath::CountIndex);
        self.end(&step, count);
        Some(count)
    }

    /// The number of nodes of a root function that compares values, off the index of entire values;
    /// `None` as for [`Context::counted_root`]. O(log tokens), and a step for each changed token.
    pub(crate) fn root_count(&self, function: &Function) -> Option<usize> {
        let (Operand::Predicate(name), op, expected) = self.comparison(&function.call)? else {
            return None;
        };
        let (predicate, expected) = self.compared(name, op, &expected).ok()??;
        ordered_count(predicate, name.lang.as_deref(), &expected)
    }

    fn root_nodes<'f>(&self, function: &'f Function) -> Result<NodeSet>
    where
        'a: 'f,
    {
        match &function.call {
            Call::Compare { op, left, arguments } => {
                let expected = |value_type| self.expected(*op, arguments, value_type);
                self.root_compare(left, *op, &expected)
            }
            Call::Between { left, low, high } => {
                let expected = |value_type| self.expected_between(low, high, value_type);
                // `Ge` represents all comparisons that need an order.
                self.root_compare(left, Comparison::Ge, &expected)
            }
            Call::Text { predicate, test } => root_text(self, function, predicate, test),
            Call::UidIn { .. } => Err(Error::query("`uid_in` can't be the function of a block")
                .with_hint("use it in a filter")),
            Call::CustomTerms { tokenizer } => Err(no_tokenizer(tokenizer)),
            Call::Uid { uids, vars } => Ok(self.root_of(RootPath::Uids, self.uid_set(uids, vars))),
            Call::Type(name) => {
                let nodes = self.type_nodes(name).unwrap_or_default();
                Ok(self.root_of(RootPath::Type, nodes))
            }
            Call::Has(name) => {
                let nodes = self.having(name)?;
                Ok(self.root_of(RootPath::Subjects, nodes))
            }
            Call::Terms { predicate, index, expects, text } => {
                let nodes = self.term_set(predicate, *index, *expects, text)?;
                Ok(self.root_of(RootPath::Postings, nodes))
            }
            Call::Geo { relation, predicate, arguments } => {
                let call = GeoCall { relation: *relation, name: predicate, arguments };
                let nodes = self.geo_nodes(call, None)?;
                Ok(self.root_of(RootPath::Cells, nodes))
            }
            Call::SimilarTo { predicate, count, target, options, admits } => {
                let admits = admits.as_deref();
                let similar = Similar { predicate, count, target, options, admits };
                let nodes = self.similar_set(similar)?;
                Ok(self.root_of(RootPath::Vectors, nodes))
            }
        }
    }

    /// The nodes of a function with one access path, which is reported.
    fn root_of(&self, path: RootPath, nodes: NodeSet) -> NodeSet {
        self.record_path(path);
        nodes
    }

    fn root_compare<'f>(
        &self,
        left: &'f Operand,
        op: Comparison,
        expected: &dyn Fn(ValueType) -> Result<ValueCondition>,
    ) -> Result<NodeSet>
    where
        'a: 'f,
    {
        match left {
            Operand::Predicate(name) => self.root_compare_values(name, op, expected),
            Operand::Count(name) => {
                let expected = expected(ValueType::Int);
                let expected = expected.map_err(|error| error.or_hint("a count is an int"))?;
                self.root_compare_counts(name, &expected)
            }
            Operand::Val(var) => self.root_compare_var(*var, expected),
            Operand::Len(_) => Err(Error::query("`len` can't be the function of a block")
                .with_hint("use it in a filter")),
        }
    }

    fn root_compare_values<'f>(
        &self,
        name: &'f PredicateRef,
        op: Comparison,
        expected: &dyn Fn(ValueType) -> Result<ValueCondition>,
    ) -> Result<NodeSet>
    where
        'a: 'f,
    {
        let Some((predicate, expected)) = self.compared(name, op, expected)? else {
            self.record_path(RootPath::Nothing);
            return Ok(NodeSet::default());
        };
        let path = self.values_path(predicate, name, &expected);
        if path != RootPath::Scan
            && let Some(nodes) = ordered_set(predicate, name.lang.as_deref(), &expected)
        {
            self.record_path(path);
            return Ok(nodes);
        }
        self.record_path(RootPath::Scan);
        let candidates = self.has_set(predicate, name)?;
        let tester = Tester::of_values(predicate, name.lang.as_deref(), expected.into());
        self.passing_members(&candidates, &tester)
    }

    /// How the nodes of a comparison of values are selected. Reads no data.
    pub(crate) fn values_path(
        &self,
        predicate: &Predicate,
        name: &PredicateRef,
        expected: &ValueCondition,
    ) -> RootPath {
        let cheapest = match scans(predicate, name, expected) {
            true => RootPath::Scan,
            false => RootPath::of_values(expected),
        };
        self.pick(cheapest, 0, || vec![RootPath::of_values(expected), RootPath::Scan])
    }

    /// The predicate of a comparison at a root, and the condition on its values; `None` while
    /// nothing has the predicate.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when the predicate has no index for it, and for wrong arguments.
    pub(crate) fn compared<'f>(
        &self,
        name: &'f PredicateRef,
        op: Comparison,
        expected: &dyn Fn(ValueType) -> Result<ValueCondition>,
    ) -> Result<Option<(&'a Predicate, ValueCondition)>>
    where
        'a: 'f,
    {
        let Some(predicate) = self.resolve(name)? else { return Ok(None) };
        let def = &predicate.def;
        // Only the index of entire values answers it; with another one each node that has the
        // predicate is tested.
        if !PredicateUse::EqualAtRoot.is_allowed(def) {
            return Err(no_value_index(def, op));
        }
        if op != Comparison::Eq && !PredicateUse::OrderedAtRoot.is_allowed(def) {
            return Err(no_order_index(def));
        }
        let expected = expected(comparable(def.value_type));
        let expected = expected.map_err(|error| error.or_hint(type_of(def)))?;
        Ok(Some((predicate, expected)))
    }

    fn root_compare_counts<'f>(
        &self,
        name: &'f PredicateRef,
        expected: &ValueCondition,
    ) -> Result<NodeSet>
    where
        'a: 'f,
    {
        if wants_below_one(expected) {
            let message = "the function of a block can't find counts of zero or less";
            let hint = "nodes without the predicate are not tracked: use it in a filter";
            return Err(Error::query(message).with_hint(hint));
        }
        let Some(predicate) = self.resolve(name)? else {
            self.record_path(RootPath::Nothing);
            return Ok(NodeSet::default());
        };
        if !PredicateUse::CountAtRoot.is_allowed(&predicate.def) {
            let name = &name.name;
            let message = format!("predicate `{name}` has no index of its counts");
            let hint =
                format!("add `@count` to the schema of `{name}`, or use the function in a filter");
            return Err(Error::query(message).with_hint(hint));
        }
        let both = || vec![RootPath::Degrees, RootPath::Scan];
        if self.pick(RootPath::Degrees, 0, both) == RootPath::Degrees
            && let Some(nodes) = counted_nodes(predicate, name.reverse, expected)
        {
            self.record_path(RootPath::Degrees);
            return Ok(nodes);
        }
        self.record_path(RootPath::Scan);
        let candidates = match predicate.direction(name.reverse) {
            Some(edges) => edges.subjects(),
            None => predicate.subjects(),
        };
        let counter = Counter { predicate, reverse: name.reverse, lang: name.lang.as_deref() };
        let tester = Tester::Count { counter, expected: expected.clone() };
        Ok(NodeSet::from(self.retain_passing(Members::Set(&candidates), &tester)?))
    }

    /// The test of a root function that compares a number of edges, and the nodes that have any:
    /// for a page of the first ones, which few tests fill. `None` for any other function, where the
    /// condition is no range of ints, and where the function is refused. Reads no data.
    pub(crate) fn count_test<'f>(&self, function: &'f Function) -> Option<(Tester<'f>, NodeSet)>
    where
        'a: 'f,
    {
        let (Operand::Count(name), _, expected) = self.comparison(&function.call)? else {
            return None;
        };
        let expected = expected(ValueType::Int).ok()?;
        let predicate = self.resolve(name).ok()?.filter(|predicate| predicate.def.count)?;
        let edges = predicate.direction(name.reverse)?;
        if wants_below_one(&expected) || expected.int_range().is_none() {
            return None;
        }
        let counter = Counter { predicate, reverse: name.reverse, lang: name.lang.as_deref() };
        Some((Tester::Count { counter, expected }, edges.subjects()))
    }

    /// The test of a root function that compares ints which have an index, and the nodes that have
    /// one: for a page of `expected` nodes, which is expected to be filled by far fewer tests than
    /// the index has nodes. `None` where it is not, and for any other function. Reads no data.
    pub(crate) fn range_test<'f>(
        &self,
        function: &'f Function,
        expected: usize,
    ) -> Option<(Tester<'f>, NodeSet)>
    where
        'a: 'f,
    {
        let (Operand::Predicate(name), op, _) = self.comparison(&function.call)? else {
            return None;
        };
        // What is equal to a value are mostly few.
        if op == Comparison::Eq {
            return None;
        }
        let predicate = self.predicate(&name.name)?;
        let is_int = predicate.def.value_type == ValueType::Int && name.lang.is_none();
        let part = predicate.only_untagged().filter(|_| is_int && !name.reverse)?;
        part.complete_index()?;
        let (result, subjects) = (self.estimate(function)?, part.subjects());
        let requested = expected.saturating_mul(subjects.len() / result.max(1) + 1);
        let pays = requested.saturating_mul(READ_PER_TEST) <= result;
        if !self.pick(pays, result, || vec![true, false]) {
            return None;
        }
        let tester = self.tester(function).ok()?;
        matches!(tester, Tester::Column { .. }).then_some((tester, subjects))
    }

    fn root_compare_var(
        &self,
        var: VarId,
        expected: &dyn Fn(ValueType) -> Result<ValueCondition>,
    ) -> Result<NodeSet> {
        self.record_path(RootPath::Variable);
        let map = self.expect_values(var)?;
        let Some(value_type) = var_type(&map) else { return Ok(NodeSet::default()) };
        // Dgraph ignores an argument of a wrong type here and returns nothing.
        let Ok(expected) = expected(comparable(value_type)) else { return Ok(NodeSet::default()) };
        let nodes = map.iter().filter(|(_, value)| expected.holds(*value)).map(|(node, _)| node);
        Ok(NodeSet::from(nodes.collect::<Vec<_>>()))
    }
}

impl RootPath {
    /// How an index of values answers a comparison.
    pub(crate) fn of_values(expected: &ValueCondition) -> RootPath {
        match expected {
            ValueCondition::AnyOf(_) => RootPath::IndexEquality,
            ValueCondition::Than(..) | ValueCondition::Between(..) => RootPath::IndexRange,
        }
    }
}

/// Whether those of all nodes whose number or instant is in a range are selected faster from the
/// column than from its index: where they are many. Reads no data.
fn scans(predicate: &Predicate, name: &PredicateRef, expected: &ValueCondition) -> bool {
    let Some(part) = number_column(predicate, name) else { return false };
    let subjects = part.subjects().len();
    let is_range = matches!(expected, ValueCondition::Than(..) | ValueCondition::Between(..));
    let result = estimate_expected(predicate, None, expected).filter(|_| is_range);
    result.is_some_and(|result| pays_to_scan(result, subjects))
}

/// The index that a comparison of values needs.
fn value_index(value_type: ValueType) -> &'static str {
    match value_type {
        ValueType::String | ValueType::Default => "exact",
        ValueType::DateTime => "day",
        ValueType::Uid | ValueType::Password | ValueType::Binary | ValueType::Vector => "",
        other => Tokenizer::of_values(other).map_or("", Tokenizer::name),
    }
}

fn no_value_index(def: &PredicateDef, op: Comparison) -> Error {
    let name = &def.name;
    if def.value_type == ValueType::Uid {
        let message = format!("`{name}` is an edge, which can't be compared with a value");
        return Error::query(message).with_hint(format!("write `uid_in({name}, 0x1)` in a filter"));
    }
    let message = format!("predicate `{name}` has no index of its values");
    let hint = match (value_index(def.value_type), op) {
        ("", _) => "use the function in a filter".to_owned(),
        (index, _) => {
            format!(
                "add `@index({index})` to the schema of `{name}`, or use the function in a filter"
            )
        }
    };
    Error::query(message).with_hint(hint)
}

fn no_order_index(def: &PredicateDef) -> Error {
    let name = &def.name;
    let message = format!("predicate `{name}` has no index that knows an order");
    let hint = match def.value_type.is_text() {
        true => {
            format!(
                "add `@index(exact)` to the schema of `{name}`, or use the function in a filter"
            )
        }
        false => "use the function in a filter".to_owned(),
    };
    Error::query(message).with_hint(hint)
}

/// Whether a bound of the condition is that of a count below one. Other conditions that zero meets,
/// such as `le(count(p), 5)`, are answered with the nodes that have at least one. All values are
/// ints by now.
fn wants_below_one(expected: &ValueCondition) -> bool {
    let number = |value: &Value| if let Value::Int(number) = value { *number } else { 0 };
    match expected {
        ValueCondition::AnyOf(values) => values.iter().any(|value| number(value) <= 0),
        ValueCondition::Than(Comparison::Gt, value) => number(value) < 0,
        ValueCondition::Than(Comparison::Lt, value) => number(value) <= 1,
        ValueCondition::Than(_, value) => number(value) <= 0,
        ValueCondition::Between(low, high) => number(low) <= 0 || number(high) <= 0,
    }
}

/// The nodes whose number of edges meets a condition; `None` where the condition is no range of
/// ints, or the predicate has no edges but values. Then each node is counted.
fn counted_nodes(
    predicate: &Predicate,
    reverse: bool,
    expected: &ValueCondition,
) -> Option<NodeSet> {
    let (low, high) = expected.int_range()?;
    Some(NodeSet::from(predicate.direction(reverse)?.nodes_with_count(low, high)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::control::stop::RequestContext;
    use crate::exec::tests::random_graph::graph;
    use fastrand::Rng;
    use hexgraph_base::plan::{Argument, Query};

    /// What an index counts, and what a column is scanned for, is what each node says by itself; on
    /// graphs with and without changes.
    #[test]
    fn ranges_are_what_each_node_says() {
        let mut rng = Rng::with_seed(9);
        let (mut counted, mut result) = (0, 0);
        for round in 0..24 {
            // Columns of the greater graphs are scanned.
            let nodes = if round % 12 == 0 { 6_000 } else { rng.u64(20..300) };
            let version = graph(nodes, &mut rng);
            let (control, query) = (RequestContext::new(), Query::default());
            let context =
                Context { version: &version, query: &query, control: &control, vars: Vec::new() };
            for (name, values) in [
                ("rank", ["-9223372036854775807", "0", "1000000007", "9223372036854775807"]),
                ("share", ["-1e300", "-0", "0.1", "3.25"]),
                ("name", ["", "a", "b", "t3"]),
                ("since", ["0001", "2001-02-03", "2001-02-03T04:05:06Z", "2030"]),
            ] {
                let name = PredicateRef { name: name.to_owned(), reverse: false, lang: None };
                let left = || Operand::Predicate(name.clone());
                let pick = |rng: &mut Rng| Argument::Text((*rng.choice(&values).unwrap()).into());
                let mut calls = vec![Call::Compare {
                    op: Comparison::Eq,
                    left: left(),
                    arguments: (0..3).map(|_| pick(&mut rng)).collect(),
                }];
                for op in [Comparison::Ge, Comparison::Gt, Comparison::Le, Comparison::Lt] {
                    calls.push(Call::Compare { op, left: left(), arguments: vec![pick(&mut rng)] });
                }
                let (low, high) = (pick(&mut rng), pick(&mut rng));
                calls.push(Call::Between { left: left(), low, high });
                for call in calls {
                    let function = Function { call, at: Default::default() };
                    let Some(predicate) = context.predicate(&name.name) else { continue };
                    let tester = context.tester(&function).unwrap();
                    let expected: Vec<u32> =
                        predicate.subjects().iter().filter(|node| tester.test(*node)).collect();
                    let nodes = context.root(&function).unwrap();
                    assert_eq!(nodes.to_vec(), expected, "{function:?}");
                    let count = context.counted_root(&function);
                    assert_eq!(count.unwrap_or(expected.len()), expected.len(), "{function:?}");
                    (counted, result) =
                        (counted + usize::from(count.is_some()), result + expected.len());
                }
            }
        }
        assert!(400 < counted && 10_000 < result, "{counted} were counted, {result} nodes found");
    }
}
