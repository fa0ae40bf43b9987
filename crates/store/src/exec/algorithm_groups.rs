//! The groups of nodes in the argument of an algorithm: nodes with the same value are of one group.

use crate::algo::Graph;
use crate::exec::columns::read::first_value;
use crate::exec::control::context::Context;
use crate::exec::control::pending::VALUE_ENTRY_BYTES;
use crate::exec::control::tree::Finder;
use crate::exec::cost;
use hexgraph_base::plan::GroupsBy;
use hexgraph_base::types::{Content, DateTime, Error, Result, ValueRef, ValueType, nearest};
use rustc_hash::FxHashMap;

/// The nodes that are read between two looks at the clock.
const NODES_A_CHECK: usize = cost::CHECK.per(cost::GATHER);

/// What identifies a group: the bits of a value, a time with its zone, or bytes.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Bits(u64),
    Time(DateTime),
    Bytes(Box<[u8]>),
}

impl Context<'_> {
    /// The group of each node of a graph, numbered from 0 on as they come. A node without a value
    /// is a group of its own.
    ///
    /// # Errors
    ///
    /// `Query` for a predicate that is not there, or has edges, lists or passwords, and for a
    /// variable without values; `Limit`.
    pub(super) fn node_groups(&self, graph: &Graph, by: &GroupsBy) -> Result<Vec<u32>> {
        self.control.charge(graph.len() * (size_of::<u32>() + VALUE_ENTRY_BYTES))?;
        match by {
            GroupsBy::Var(var) => {
                let map = self.expect_values(*var)?;
                let finder = Finder::new(&map, graph.len());
                self.numbered(graph, |node| finder.get(node).map(key_of))
            }
            GroupsBy::Predicate(name, langs) => {
                let Some(predicate) = self.predicate(name) else {
                    let existing = self.version.predicates().map(|(name, _)| &**name);
                    let hint = match nearest(name, existing) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => {
                            "name a predicate with values, or write `groups: val(x)`".to_owned()
                        }
                    };
                    return Err(
                        Error::query(format!("there is no predicate `{name}`")).with_hint(hint)
                    );
                };
                let is_secret = predicate.def.value_type == ValueType::Password;
                if predicate.is_edges() || predicate.def.list || is_secret {
                    let message = format!("`{name}` has no value to group by");
                    let hint = "name a predicate with one value for a node, which is no password";
                    return Err(Error::query(message).with_hint(hint));
                }
                let value = |node| first_value(predicate, langs, node);
                self.numbered(graph, |node| value(node).map(|value| key_of(value.as_ref())))
            }
        }
    }

    fn numbered(&self, graph: &Graph, key: impl Fn(u32) -> Option<Key>) -> Result<Vec<u32>> {
        let mut existing: FxHashMap<Key, u32> = FxHashMap::default();
        let mut groups = Vec::with_capacity(graph.len());
        let mut count = 0;
        for (number, node) in graph.nodes().iter().enumerate() {
            if number.is_multiple_of(NODES_A_CHECK) {
                self.control.check()?;
            }
            let group = match key(*node) {
                Some(key) => *existing.entry(key).or_insert(count),
                None => count,
            };
            // A new group, whether it can be looked up later or not.
            count += u32::from(group == count);
            groups.push(group);
        }
        Ok(groups)
    }
}

fn key_of(value: ValueRef<'_>) -> Key {
    match value.content() {
        Content::Int(number) => Key::Bits(number as u64),
        // 0 and -0 are one value.
        Content::Float(number) => Key::Bits((number + 0.0).to_bits()),
        Content::Bool(truth) => Key::Bits(u64::from(truth)),
        Content::Time(time) => Key::Time(time),
        Content::Text(text) => Key::Bytes(text.as_bytes().into()),
        Content::Numbers(numbers) => Key::Bytes(bytemuck::cast_slice(numbers).into()),
        Content::Bytes(bytes) => Key::Bytes(bytes.into()),
    }
}
