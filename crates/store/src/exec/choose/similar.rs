//! `similar_to`: the nodes whose vectors are nearest.
//!
//! As a filter it is the same set, of all nodes, and not the nearest among the candidates.
//!
//! The index has no conditions. So if only some nodes are admitted, more and more of the nearest
//! ones are requested until enough of them pass. A node that does not pass does not count, and the
//! remaining candidates do not show how near it is.

use crate::exec::control::context::Context;
use crate::graph::{Nearest, Predicate};
use crate::index::as_vector;
use crate::storage::NodeSet;
use hexgraph_base::plan::{Argument, Filter, PredicateRef};
use hexgraph_base::types::{Error, Result, Uid, Value, ValueRef, ValueType, parse_vector};

/// Each time too few of the nearest nodes are admitted, this many times as many are requested.
const GROWTH: usize = 4;

/// The arguments of `similar_to` as they are written.
#[derive(Clone, Copy)]
pub(crate) struct Similar<'a> {
    /// The predicate.
    pub(crate) predicate: &'a PredicateRef,
    /// The number of neighbours, as text.
    pub(crate) count: &'a str,
    /// A vector, a uid, or a variable.
    pub(crate) target: &'a Argument,
    /// The options, `ef` and `distance_threshold`, each at most once: the languages refuse others.
    pub(crate) options: &'a [(String, String)],
    /// The filter that the neighbours have to pass.
    pub(crate) admits: Option<&'a Filter>,
}

impl<'a> Context<'a> {
    /// The nearest nodes.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for arguments that make no sense, and without a vector index.
    pub(crate) fn similar_set(&self, similar: Similar<'_>) -> Result<NodeSet> {
        let Some(predicate) = self.resolve(similar.predicate)? else {
            return Ok(NodeSet::default());
        };
        predicate.vector_metric()?;
        let mut expected = expected(similar)?;
        let Some(vector) = self.target_vector(predicate, similar.target)? else {
            return Ok(NodeSet::default());
        };
        expected.vector = &vector;
        expected.pool = self.control.sharing_pool();
        match similar.admits {
            Some(admits) => self.nearest_admitted(predicate, expected, admits),
            None => predicate.nearest(&expected).map(set_of),
        }
    }

    /// The nearest of the nodes that pass. Each round searches anew and tests all of its results.
    /// Where one node in n passes, about n times as many are searched in the end as are requested,
    /// and at most four times that.
    fn nearest_admitted(
        &self,
        predicate: &Predicate,
        mut expected: Nearest<'_>,
        admits: &Filter,
    ) -> Result<NodeSet> {
        let (most, mut before) = (expected.count, None);
        loop {
            self.check()?;
            let mut near = predicate.nearest(&expected)?;
            let result = near.len();
            let passed = self.filter(admits, set_of(near.clone()))?;
            // The last one: as many as before, although more were requested. There are no others.
            if most <= passed.len() || result < expected.count || before == Some(result) {
                near.retain(|node| passed.contains(*node));
                near.truncate(most);
                return Ok(set_of(near));
            }
            before = Some(result);
            expected.count = expected.count.saturating_mul(GROWTH);
        }
    }

    /// The vector that others should be near to; `None` when a variable or a node has none.
    fn target_vector(&self, predicate: &Predicate, target: &Argument) -> Result<Option<Vec<f32>>> {
        let text = match target {
            Argument::Text(text) => text.clone(),
            Argument::Val(var) => {
                let map = self.expect_values(*var)?;
                // A constant is a value that all nodes have, such as that of an aggregate.
                let mut values = map.constant.iter().map(Value::as_ref).collect::<Vec<_>>();
                values.extend(map.iter().map(|(_, value)| value));
                let Some((first, rest)) = values.split_first() else { return Ok(None) };
                if rest.iter().any(|other| !is_same(*first, *other)) {
                    let name = self.var_name(*var);
                    let message =
                        format!("`similar_to` takes one vector, and variable `{name}` has several");
                    let hint = "choose one with `first: 1` where it is defined";
                    return Err(Error::query(message).with_hint(hint));
                }
                if let ValueRef::Vector(numbers) = first {
                    return Ok(Some(numbers.to_vec()));
                }
                let text = first.convert(ValueType::String);
                if let Ok(Value::String(text)) = text { text } else { String::new() }
            }
        };
        if let Ok(vector) = parse_vector(&text) {
            return Ok(Some(vector));
        }
        let Some(uid) = Uid::parse(&text) else {
            let message = format!("`{text}` in `similar_to` is no vector and no uid");
            return Err(Error::query(message).with_hint("a vector is written `\"[0.1, 0.2]\"`"));
        };
        let (node, values) = (self.version.nodes.node(uid), predicate.values(""));
        let value = node.zip(values).and_then(|(node, values)| values.first(node));
        let vector = value.and_then(as_vector).filter(|vector| !vector.is_empty());
        Ok(vector.map(|vector| vector.into_owned()))
    }
}

fn set_of(mut nodes: Vec<u32>) -> NodeSet {
    nodes.sort_unstable();
    NodeSet::from(nodes)
}

fn is_same(one: ValueRef<'_>, other: ValueRef<'_>) -> bool {
    match (one, other) {
        (ValueRef::Vector(one), ValueRef::Vector(other)) => one == other,
        _ => one.to_value() == other.to_value(),
    }
}

/// Reads the number of neighbours and the options.
fn expected<'v>(similar: Similar<'_>) -> Result<Nearest<'v>> {
    let refused = || {
        let message = format!(
            "the number of neighbours in `similar_to` is a whole number, found `{}`",
            similar.count
        );
        Error::query(message).with_hint("write `similar_to(predicate, 10, \"[0.1, 0.2]\")`")
    };
    // As in Dgraph, numbers beyond 32 bits are refused.
    let count: i32 = similar.count.parse().map_err(|_| refused())?;
    let mut expected =
        Nearest { vector: &[], count: 0, width: None, distance_max: None, pool: None };
    for (name, text) in similar.options {
        let text = text.trim();
        let expected_text =
            if name == "ef" { "a whole number above 0" } else { "a number from 0 on" };
        let refused =
            || Error::query(format!("`{name}` of `similar_to` is {expected_text}, found `{text}`"));
        if name == "ef" {
            let width: i32 = text.parse().map_err(|_| refused())?;
            expected.width =
                Some(usize::try_from(width).ok().filter(|&it| 0 < it).ok_or_else(refused)?);
        } else {
            let most: f64 = text.parse().map_err(|_| refused())?;
            expected.distance_max = Some(Some(most).filter(|it| 0.0 <= *it).ok_or_else(refused)?);
        }
    }
    expected.count = match usize::try_from(count) {
        // Without options Dgraph gives the nearest one for 0, with them none.
        Ok(0) if similar.options.is_empty() => 1,
        Ok(count) => count,
        Err(_) => return Err(refused()),
    };
    Ok(expected)
}
