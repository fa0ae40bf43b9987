//! What a query in the making knows: the graph, its variables, what it has used.

use crate::twin::case::Lists;
use crate::twin::graph::Graph;
use crate::twin::schema::Definition;
use crate::twin::words;
use crate::twin::words::{chance, one_of};
use fastrand::Rng;
use hexgraph::types::{Value, ValueType};
use std::collections::BTreeSet;

/// What a variable holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Nodes,
    Number,
    Text,
    Time,
    Bool,
    /// One number for all nodes.
    Constant,
}

/// A variable.
#[derive(Debug, Clone)]
pub struct Variable {
    pub name: String,
    pub kind: Kind,
    pub used: bool,
    /// The block that defines it.
    pub block: usize,
}

/// A query in the making.
pub struct Generator<'g> {
    pub rng: Rng,
    pub graph: &'g Graph,
    pub uids: Vec<u64>,
    pub variables: Vec<Variable>,
    /// The number of the block that is being written.
    pub block: usize,
    /// Variables of nodes of the levels above, in the block that is being written.
    pub above: Vec<String>,
    /// What the query uses, for the count.
    pub features: BTreeSet<&'static str>,
    /// The lists of its `$` variables.
    pub lists: Lists,
    /// The predicate of the last order by one.
    pub ordered_by: Option<String>,
    names: usize,
}

impl<'g> Generator<'g> {
    /// A query to be.
    /// Uids of 2^31 and more that no data has come behind all others in the engine: they are left
    /// out.
    pub fn new(seed: u64, graph: &'g Graph, uids: &'g [u64]) -> Generator<'g> {
        let nodes = graph.nodes();
        let is_ordered = |uid: &&u64| **uid < 1 << 31 || nodes.contains(*uid);
        Generator {
            rng: Rng::with_seed(seed),
            graph,
            uids: uids.iter().filter(is_ordered).copied().collect(),
            variables: Vec::new(),
            block: 0,
            above: Vec::new(),
            features: BTreeSet::new(),
            lists: Lists::new(),
            ordered_by: None,
            names: 0,
        }
    }

    /// True so often in a hundred.
    pub fn chance(&mut self, percent: u32) -> bool {
        chance(&mut self.rng, percent)
    }

    /// Notes what the query uses.
    pub fn uses(&mut self, feature: &'static str) {
        self.features.insert(feature);
    }

    /// A name that is not taken.
    pub fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// Defines a variable.
    pub fn define(&mut self, kind: Kind) -> String {
        let name = self.fresh("v");
        self.variables.push(Variable { name: name.clone(), kind, used: false, block: self.block });
        name
    }

    /// A variable of an earlier block, or with `own` of this one, too.
    pub fn variable(&mut self, expected: impl Fn(Kind) -> bool, own: bool) -> Option<String> {
        let fits = |variable: &&mut Variable| {
            expected(variable.kind) && (own || variable.block < self.block)
        };
        let mut all: Vec<&mut Variable> = self.variables.iter_mut().filter(fits).collect();
        if all.is_empty() {
            return None;
        }
        let position = self.rng.usize(..all.len());
        all[position].used = true;
        Some(all[position].name.clone())
    }

    /// Notes that a variable is used.
    pub fn read(&mut self, name: &str) {
        for variable in self.variables.iter_mut().filter(|variable| variable.name == name) {
            variable.used = true;
        }
    }

    /// A predicate that fits.
    pub fn predicate(&mut self, fits: impl Fn(&Definition) -> bool) -> Option<&'g Definition> {
        let graph = self.graph;
        let all: Vec<&Definition> =
            graph.schema.predicates.values().filter(|it| fits(it)).collect();
        if all.is_empty() { None } else { Some(*one_of(&mut self.rng, &all)) }
    }

    /// A uid, mostly of the graph.
    pub fn uid(&mut self) -> String {
        let uid = match self.rng.u32(..20) {
            0 => 0x7777,
            _ => *one_of(&mut self.rng, &self.uids),
        };
        if self.chance(80) { format!("{uid:#x}") } else { uid.to_string() }
    }

    /// A value of a predicate as a text: mostly one that is there.
    pub fn value(&mut self, definition: &Definition) -> String {
        if self.chance(65) {
            let own = |((_, name, _), _): &(&(u64, String, String), _)| *name == definition.name;
            let result: Vec<_> =
                self.graph.values.iter().filter(own).flat_map(|(_, it)| it).collect();
            if !result.is_empty() {
                let (value, _) = *one_of(&mut self.rng, &result);
                if let Ok(Value::String(text)) = value.as_ref().convert(ValueType::String) {
                    return text;
                }
            }
        }
        words::literal(&mut self.rng, definition.value_type)
    }

    /// A language that functions and fields may name; with its `@`.
    pub fn lang(&mut self, definition: &Definition) -> String {
        if definition.lang && self.chance(45) {
            self.uses("language");
            let lang = *one_of(&mut self.rng, &["en", "de", "fr", "en", "de", "it", "."]);
            return format!("@{lang}");
        }
        String::new()
    }
}

/// A string of DQL.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
