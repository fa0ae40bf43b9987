//! The query that precedes a mutation. It finds out which of the nodes that the inputs name exist
//! and are of the type.
//!
//! The query has one block for all IDs of a type and one for all values of an `@id` field, so its
//! number of blocks depends on the schema and not on the size of the input.

use std::collections::HashMap;

use crate::lower::{has_type, node_block, plan_field};
use crate::model::{Field, TypeDef};
use hexgraph_base::plan;
use hexgraph_base::plan::{
    Argument, Block, BlockKind, Call, Comparison, FieldKind, Operand, PredicateRef, Query, VarId,
    Variable,
};
use hexgraph_base::types::{Uid, Value};

/// One block of the query.
#[derive(Debug)]
enum Lookup<'a> {
    /// Finds which of these nodes are of the type.
    Ids { def: &'a TypeDef, uids: Vec<u64> },
    /// Finds which nodes of the type have one of these values.
    Values { def: &'a TypeDef, predicate: &'a str, texts: Vec<String> },
}

/// All look-ups of a mutation. They are collected while its inputs are read, and executed by one
/// query.
#[derive(Debug, Default)]
pub(super) struct Lookups<'a> {
    list: Vec<Lookup<'a>>,
    /// The positions of the blocks in `list` by type and predicate. The predicate is empty for IDs.
    positions: HashMap<(&'a str, &'a str), usize>,
}

impl<'a> Lookups<'a> {
    /// Adds the look-up of whether a node exists and is of a type.
    pub(super) fn id(&mut self, def: &'a TypeDef, uid: u64) {
        let position = self.position(&def.name, "", || Lookup::Ids { def, uids: Vec::new() });
        if let Lookup::Ids { uids, .. } = &mut self.list[position] {
            uids.push(uid);
        }
    }

    /// Adds the look-up of the nodes of a type that have a value. Returns the position of the
    /// block.
    pub(super) fn value(&mut self, def: &'a TypeDef, field: &'a Field, text: &str) -> usize {
        let predicate = field.predicate.as_ref().map_or("", |predicate| &predicate.name);
        let position = self.position(&def.name, predicate, || Lookup::Values {
            def,
            predicate,
            texts: Vec::new(),
        });
        if let Lookup::Values { texts, .. } = &mut self.list[position] {
            texts.push(text.to_owned());
        }
        position
    }

    /// Returns the position of the block for the IDs of a type, if there is one.
    pub(super) fn ids_of(&self, def: &TypeDef) -> Option<usize> {
        self.positions.get(&(def.name.as_str(), "")).copied()
    }

    fn position(
        &mut self,
        type_name: &'a str,
        predicate: &'a str,
        new: impl FnOnce() -> Lookup<'a>,
    ) -> usize {
        *self.positions.entry((type_name, predicate)).or_insert_with(|| {
            self.list.push(new());
            self.list.len() - 1
        })
    }

    /// Returns the nodes that were matched, each with the type that it was looked up by.
    pub(super) fn nodes(&self, result: &LookupResult) -> Vec<(u64, &'a TypeDef)> {
        let mut nodes = Vec::new();
        for (position, lookup) in self.list.iter().enumerate() {
            let (Lookup::Ids { def, .. } | Lookup::Values { def, .. }) = lookup;
            nodes.extend(result.of(position).map(|uid| (uid, *def)));
        }
        nodes
    }

    /// Returns the query. Each look-up is a block with one variable, which [`name_of`] names.
    pub(super) fn query(&self) -> Query {
        let mut query = Query::default();
        for (position, lookup) in self.list.iter().enumerate() {
            let var = VarId(position as u32);
            query.variables.push(Variable { name: name_of(position) });
            query.blocks.push(block_of(lookup, var));
        }
        query
    }
}

/// Returns the name of the variable of a block.
fn name_of(position: usize) -> String {
    format!("matched{position}")
}

/// Makes the block of a look-up, which assigns what it finds to a variable.
fn block_of(lookup: &Lookup<'_>, var: VarId) -> Block {
    let (def, root, values) = match lookup {
        Lookup::Ids { def, uids } => {
            // Objects may name one node several times; the executor requires ascending uids.
            let mut uids = uids.clone();
            uids.sort_unstable();
            uids.dedup();
            (def, Call::Uid { uids, vars: Vec::new() }, None)
        }
        Lookup::Values { def, predicate, texts } => {
            let name = (*predicate).to_owned();
            let left = Operand::Predicate(PredicateRef { name, reverse: false, lang: None });
            let arguments = texts.iter().cloned().map(Argument::Text).collect();
            (def, Call::Compare { op: Comparison::Eq, left, arguments }, Some(*predicate))
        }
    };
    let fields: Vec<_> = values.map(|name| value_field(name, var).into()).into_iter().collect();
    Block {
        name: "var".to_owned(),
        kind: BlockKind::Hidden,
        // A block of IDs assigns its nodes; one of values assigns each node's value.
        var: if fields.is_empty() { Some(var) } else { None },
        has_body: !fields.is_empty(),
        is_aggregated: false,
        fields,
        defines: vec![var],
        ..node_block(root, Some(has_type(def)))
    }
}

/// Returns the field that assigns the values of a predicate to a variable.
fn value_field(predicate: &str, var: VarId) -> plan::Field {
    let (name, reverse, langs) = (predicate.to_owned(), false, Vec::new());
    let kind = FieldKind::Predicate { name, reverse, langs };
    plan::Field { var: Some(var), ..plan_field(kind, predicate.to_owned()) }
}

/// The results of the query.
#[derive(Debug, Default)]
pub struct LookupResult {
    /// For each block of IDs the nodes that exist, ascending.
    ids: HashMap<usize, Vec<u64>>,
    /// For each block of values the nodes by the text of their value.
    values: HashMap<usize, HashMap<String, Vec<u64>>>,
    /// The nodes that an upsert may change, ascending; `None` for all.
    permitted: Option<Vec<u64>>,
    /// The nodes that may not be linked, ascending: for whoever names them below a field they are
    /// not there.
    hidden: Vec<u64>,
    /// The node that an update changes, when it is one.
    updated: Option<u64>,
}

impl LookupResult {
    /// Sets the node that an update changes, when its filter matches exactly one. Values of `@id`
    /// fields that the node has already may be given to it again.
    pub fn update(&mut self, uid: u64) {
        self.updated = Some(uid);
    }

    /// The node that an update changes, when it is one.
    pub(super) fn updated(&self) -> Option<u64> {
        self.updated
    }

    /// Adds the nodes of a variable of the query, which ascend. Variables of other names than those
    /// of the look-ups are ignored.
    pub fn add_uids(&mut self, variable: &str, uids: Vec<Uid>) {
        if let Some(position) = position_of(variable) {
            self.ids.insert(position, uids.into_iter().map(|uid| uid.0).collect());
        }
    }

    /// Adds the nodes and values of a variable of the query. Variables of other names than those of
    /// the look-ups are ignored.
    pub fn add_values(&mut self, variable: &str, values: Vec<(Uid, Value)>) {
        let Some(position) = position_of(variable) else { return };
        let by_text = self.values.entry(position).or_default();
        for (uid, value) in values {
            // The text of the value as the inputs have it, since nodes are looked up by that. An
            // `@id` field is a String or an integer.
            let text = match value {
                Value::String(text) | Value::Default(text) => text,
                Value::Int(number) => number.to_string(),
                Value::Float(number) => number.to_string(),
                Value::Bool(value) => value.to_string(),
                _ => continue,
            };
            by_text.entry(text).or_default().push(uid.0);
        }
    }

    /// Sets which existing nodes an upsert may change. Others stay as they are.
    pub fn permit_upserts(&mut self, uids: impl IntoIterator<Item = u64>) {
        let mut uids: Vec<u64> = uids.into_iter().collect();
        uids.sort_unstable();
        self.permitted = Some(uids);
    }

    /// Returns true if an upsert may change a node.
    pub(super) fn may_upsert(&self, uid: u64) -> bool {
        self.permitted.as_ref().is_none_or(|uids| uids.binary_search(&uid).is_ok())
    }

    /// Adds existing nodes that authorization rules hide from the caller: they can't be linked, as
    /// if they did not exist.
    pub fn hide(&mut self, uids: impl IntoIterator<Item = u64>) {
        self.hidden.extend(uids);
        self.hidden.sort_unstable();
    }

    /// Returns true if a node may be linked.
    pub(super) fn may_link(&self, uid: u64) -> bool {
        self.hidden.binary_search(&uid).is_err()
    }

    /// Returns all nodes of a block.
    fn of(&self, position: usize) -> impl Iterator<Item = u64> {
        let ids = self.ids.get(&position).into_iter().flatten();
        let values = self.values.get(&position).into_iter().flat_map(HashMap::values).flatten();
        ids.chain(values).copied()
    }

    /// Returns true if a block of IDs has a node.
    pub(super) fn has_id(&self, position: usize, uid: u64) -> bool {
        self.ids.get(&position).is_some_and(|uids| uids.binary_search(&uid).is_ok())
    }

    /// Returns the nodes of a block for a value.
    pub(super) fn nodes(&self, position: usize, text: &str) -> &[u64] {
        let by_text = self.values.get(&position);
        by_text.and_then(|by_text| by_text.get(text)).map_or(&[], Vec::as_slice)
    }
}

/// Returns the position of the block of a variable: the inverse of [`name_of`].
fn position_of(variable: &str) -> Option<usize> {
    variable.strip_prefix("matched")?.parse().ok()
}

/// What a block of the query requests.
#[cfg(test)]
pub(crate) struct LookupRequest {
    /// The variable.
    pub variable: String,
    /// The predicate; empty for IDs.
    pub predicate: String,
    /// The values, or the IDs.
    pub texts: Vec<String>,
    /// The nodes are those of an interface.
    pub is_interface: bool,
}

#[cfg(test)]
impl Lookups<'_> {
    /// What the blocks request.
    pub(super) fn requested(&self) -> Vec<LookupRequest> {
        let requested = |(position, lookup): (usize, &Lookup<'_>)| {
            let (def, predicate, texts) = match lookup {
                Lookup::Ids { def, uids } => {
                    (def, "", uids.iter().map(|uid| Uid(*uid).to_string()).collect())
                }
                Lookup::Values { def, predicate, texts } => (def, *predicate, texts.clone()),
            };
            let is_interface = def.kind == crate::model::Kind::Interface;
            let predicate = predicate.to_owned();
            LookupRequest { variable: name_of(position), predicate, texts, is_interface }
        };
        self.list.iter().enumerate().map(requested).collect()
    }
}
