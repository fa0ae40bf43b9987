//! The texts of one predicate for many nodes, outside of any block: what nodes are called.

use super::fill::fill;
use super::source::{Source, ValueKind};
use crate::exec::columns::read::first_value;
use crate::exec::control::stop::RequestContext;
use crate::exec::cost;
use crate::graph::Predicate;
use hexgraph_base::answer::{CellOffsets, Cells, Texts};
use hexgraph_base::types::{Result, Value};

/// The nodes that are read one by one between two looks at the clock.
const NODES_A_CHECK: usize = cost::CHECK.per(cost::GATHER);

/// The untagged texts of a predicate for some nodes, a cell for each node; `None` where no node has
/// one. Where the nodes ascend and the predicate has all texts in one column, threads read that a
/// batch at a time.
///
/// # Errors
///
/// Those of [`RequestContext::check`], [`RequestContext::charge`] and [`RequestContext::reserve`].
pub fn names_of(
    control: &RequestContext,
    predicate: &Predicate,
    nodes: &[u32],
) -> Result<Option<Texts>> {
    // Geometries are texts in a table, too, and no names.
    if predicate.def.value_type.is_text()
        && nodes.is_sorted_by(|one, other| one < other)
        && let Ok(Some(source)) = Source::untagged(predicate, nodes)
        && source.kind() == ValueKind::Text
        && let Some(mut columns) = fill(control, nodes, &[source])?
        && let Some(Cells::Text(texts)) = columns.pop()
    {
        let has_some = texts.valid.is_empty() && !nodes.is_empty() || texts.valid.contains(&true);
        return Ok(has_some.then_some(texts));
    }
    one_by_one(control, predicate, nodes)
}

fn one_by_one(
    control: &RequestContext,
    predicate: &Predicate,
    nodes: &[u32],
) -> Result<Option<Texts>> {
    let (mut bytes, mut ends) = (Vec::new(), CellOffsets::default());
    let mut valid = Vec::with_capacity(nodes.len());
    for nodes in nodes.chunks(NODES_A_CHECK) {
        control.check()?;
        let before = bytes.len();
        for node in nodes {
            let value = first_value(predicate, &[], *node);
            let text = if let Some(Value::String(text) | Value::Default(text)) = value {
                Some(text)
            } else {
                None
            };
            bytes.extend_from_slice(text.as_deref().unwrap_or_default().as_bytes());
            ends.push(bytes.len());
            valid.push(text.is_some());
        }
        // Where texts end takes four bytes, and whether they are there one; lists have as much
        // spare capacity.
        control.charge(2 * (bytes.len() - before + 5 * nodes.len()))?;
    }
    if !valid.contains(&true) {
        return Ok(None);
    }
    let valid = if valid.contains(&false) { valid } else { Vec::new() };
    Ok(Some(Texts { bytes, offsets: ends, valid }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::tests::random_graph::graph;
    use fastrand::Rng;

    #[test]
    fn names_of_a_column_are_those_of_each_node() {
        let control = RequestContext::new();
        let mut columns = 0;
        for seed in 0..60 {
            let rng = &mut Rng::with_seed(seed);
            let version = graph(200, rng);
            let mut nodes: Vec<u32> = (0..240).filter(|_| rng.u8(..4) != 0).collect();
            for name in ["city", "name", "said", "plain", "age", "day"] {
                let Some(predicate) = version.predicate(name) else { continue };
                let expected = one_by_one(&control, predicate, &nodes).unwrap();
                assert_eq!(
                    names_of(&control, predicate, &nodes).unwrap(),
                    expected,
                    "{name}, {seed}"
                );
                let is_name = matches!(name, "city" | "name" | "said" | "plain");
                assert!(is_name || expected.is_none(), "{name}, {seed}");
                columns += usize::from(expected.is_some());
            }
            rng.shuffle(&mut nodes);
            let predicate = version.predicate("name").unwrap();
            let expected = one_by_one(&control, predicate, &nodes).unwrap();
            assert_eq!(names_of(&control, predicate, &nodes).unwrap(), expected, "{seed}");
        }
        assert!(100 < columns, "{columns} columns had names");
    }
}
