//! Gathers the nodes of an answer that have custom fields, all nodes of a level at once.

use super::waves::Waves;
use crate::db::graphql::reply::answer::variant_at;
use crate::db::graphql::reply::leaf::write_stored;
use crate::db::graphql::reply::remote_results::Slot;
use hexgraph_base::plan::FieldKind;
use hexgraph_base::types::stack;
use hexgraph_graphql::lower::{Key, Leaf, ObjectShape, ResolvedRemotely, RootShape, ValueSource};
use hexgraph_graphql::model;
use hexgraph_graphql::remote::{Values, json_of};
use hexgraph_graphql::request::{Field, Value};
use hexgraph_store::exec::{Answer, FieldData, Langs, Level};
use hexgraph_store::graph::Version;
use serde_json::Value as Json;
use std::collections::HashSet;

/// The number of nodes between two looks at the context.
const NODES_INTERVAL: usize = 1 << 12;

/// Adds all custom fields in the answer to a root field to the next requests.
pub(in crate::db::graphql) fn gather<'a>(
    field: &'a Field,
    shape: &'a RootShape<'a>,
    answer: &'a Answer,
    waves: &mut Waves<'a>,
) {
    let mut gather = Gather { version: answer.version(), waves, given: None };
    match shape {
        RootShape::One(object) | RootShape::List(object) | RootShape::Similar { object, .. } => {
            if let Some(block) = answer.block(0) {
                gather.object(&block.level, object);
            }
        }
        RootShape::Checked(check, object) => {
            if let Some(block) = answer.block(0)
                && let FieldData::Passwords(agrees) = &block.level.fields[*check].data
                && agrees.iter().all(|agrees| *agrees)
            {
                gather.object(&block.level, object);
            }
        }
        RootShape::Entities(positions, objects) => {
            let items = field.arguments.given("representations").and_then(Value::as_list);
            // An entity that is named twice is requested once.
            let mut seen = HashSet::new();
            for (position, item) in positions.iter().zip(items.unwrap_or(&[])) {
                if !seen.insert(position.block) {
                    continue;
                }
                if let Some(block) = answer.block(position.block) {
                    gather.given = Some(item);
                    gather.object(&block.level, &objects[position.shape]);
                }
            }
        }
        RootShape::Aggregate(_) => {}
    }
}

/// The walk over an answer.
struct Gather<'a, 'r> {
    version: &'a Version,
    waves: &'r mut Waves<'a>,
    /// What another service says of an entity: it knows better than the store.
    given: Option<&'a Value>,
}

impl<'a> Gather<'a, '_> {
    fn object(&mut self, level: &'a Level, shape: &'a ObjectShape<'a>) {
        stack::require();
        if !shape.has_remote_fields {
            return;
        }
        // The selection of objects without one of the types is part of a type's selection, too.
        let all = shape.variants.iter().flat_map(|variant| &variant.keys);
        if all.clone().any(|key| matches!(*key.source, ValueSource::ResolvedRemotely(_))) {
            for position in (0..level.nodes.len()).filter(|position| level.is_alive(*position)) {
                if position.is_multiple_of(NODES_INTERVAL) && self.waves.is_stopped() {
                    return;
                }
                let (_, keys) = variant_at(level, position, shape);
                for key in keys {
                    if let ValueSource::ResolvedRemotely(remote) = &*key.source {
                        self.node(level, position, key, remote);
                    }
                }
            }
        }
        // What the gateway says of an entity is not said of the nodes below it.
        let given = self.given.take();
        for key in all {
            if let ValueSource::Edges(at, below) = &*key.source
                && let FieldData::Edges(edges) = &level.fields[*at].data
            {
                self.object(&edges.level, below);
            }
        }
        self.given = given;
    }

    fn node(
        &mut self,
        level: &'a Level,
        position: usize,
        key: &'a Key<'a>,
        remote: &'a ResolvedRemotely<'a>,
    ) {
        let mut values = Values::new();
        for (field, source) in &remote.needs {
            let given = self.given.and_then(|given| given.get(&field.name));
            let value = match (given, source) {
                (Some(given), _) => Some(json_of(given)),
                (None, ValueSource::Uid) => {
                    Some(Json::String(self.version.nodes.uid(level.nodes[position]).to_string()))
                }
                (None, ValueSource::Leaf(at, leaf)) => stored(level, *at, position, field, *leaf),
                _ => None,
            };
            values.extend(value.map(|value| (field.name.clone(), value)));
        }
        let slot = Slot::of_node(key, level, position);
        self.waves.want(remote.def, remote.field, key.field, slot, values);
    }
}

/// The value of a node as JSON; nothing where there is none that its type allows.
fn stored(
    level: &Level,
    at: usize,
    position: usize,
    field: &model::Field,
    leaf: Leaf<'_>,
) -> Option<Json> {
    let result = &level.fields[at];
    let (FieldData::Values(values), FieldKind::Predicate { langs, .. }) =
        (&result.data, &result.field.kind)
    else {
        return None;
    };
    let (_, list) = values.predicate.values_in(Langs::First(langs), level.nodes[position])?;
    let json = |value| {
        let mut out = Vec::new();
        write_stored(value, values.predicate.def.value_type, leaf, &mut out).ok()?;
        serde_json::from_slice(&out).ok()
    };
    match field.ty.is_list() {
        true => Some(Json::Array(list.iter().filter_map(json).collect())),
        false => json(list.get(0)),
    }
}
