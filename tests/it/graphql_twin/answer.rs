//! The answer of a query, by loops over nodes.

use super::filter::{Sense, parse_uid, passes, passes_at_root, passes_of, sense_of};
use super::graph::{Graph, compare};
use super::lit::Lit;
use super::request::{Part, RequestedQuery, holds};
use super::schema::{Field, Many, Of, Scalar, Schema};
use super::shape::{Group, groups, of_any};
use super::words::stored;
use serde_json::{Map, Value as Json, json};
use std::cmp::Ordering;

/// Answers from one graph.
pub struct Answering<'a> {
    pub graph: &'a Graph,
    pub schema: &'a Schema,
    /// Whether a null had to go up, or a root field failed.
    pub has_errors: bool,
    /// Whether there is more than one right answer.
    pub is_undecided: bool,
}

/// A null that goes up.
struct Up;

/// The fields that `@cascade` names; all where there are none.
type Cascade<'c> = Option<&'c [String]>;

impl<'a> Answering<'a> {
    pub fn new(graph: &'a Graph, schema: &'a Schema) -> Answering<'a> {
        Answering { graph, schema, has_errors: false, is_undecided: false }
    }

    /// The answer of a root field of a query.
    pub fn root(&mut self, requested: &RequestedQuery) -> Json {
        let group = Group { fields: vec![requested] };
        let named =
            |word: &str| requested.name.strip_prefix(word).and_then(|name| self.schema.kind(name));
        if let Some(kind) = named("query") {
            return self.list(self.graph.of_kind(self.schema, kind), Of::Kind(kind), &group);
        }
        if let Some(kind) = named("aggregate") {
            if self.is_wrong(Of::Kind(kind), requested) {
                self.has_errors = true;
                return Json::Null;
            }
            let nodes = self.graph.of_kind(self.schema, kind);
            let none = Lit::Null;
            let filter = requested.argument("filter").unwrap_or(&none);
            let (graph, schema) = (self.graph, self.schema);
            let passes = |node: &usize| passes_at_root(graph, schema, kind, *node, filter);
            let nodes = nodes.into_iter().filter(passes).collect();
            return self.aggregate(kind, nodes, &group);
        }
        let kind = named("get").expect("roots are of these words");
        if self.is_wrong(Of::Kind(kind), requested) {
            self.has_errors = true;
            return Json::Null;
        }
        let Some(named) = self.named_nodes(kind, requested) else { return Json::Null };
        let nodes = self.chosen(named, Of::Kind(kind), requested, None, &group, true);
        match nodes[..] {
            [] => Json::Null,
            [node] => self
                .object(node, Of::Kind(kind), &group, cascade_of(requested))
                .unwrap_or(Json::Null),
            // Values of an interface may be those of several types.
            _ => {
                self.has_errors = true;
                Json::Null
            }
        }
    }

    /// The nodes that `get` names.
    fn named_nodes(&mut self, kind: usize, requested: &RequestedQuery) -> Option<Vec<usize>> {
        let given: Vec<_> =
            requested.arguments.iter().filter(|argument| argument.value != Lit::Null).collect();
        if given.is_empty() {
            return None;
        }
        let mut nodes = self.graph.of_kind(self.schema, kind);
        for argument in given {
            let field = self.schema.field(kind, &argument.name)?;
            if field.is_id() {
                let Some(uid) = parse_uid(&argument.value) else {
                    self.has_errors = true;
                    return None;
                };
                nodes.retain(|node| self.graph.nodes[*node].uid == Some(uid));
            } else {
                let value = stored(field.scalar()?, &argument.value);
                nodes.retain(|node| self.graph.values(*node, field).contains(&value));
            }
        }
        Some(nodes)
    }

    fn passes(&self, kind: usize, node: usize, filter: &Lit) -> bool {
        passes(self.graph, self.schema, kind, node, filter)
    }

    /// A list at a root or in a payload.
    pub fn list(&mut self, nodes: Vec<usize>, of: Of, group: &Group<'_>) -> Json {
        let requested = group.first();
        if self.is_wrong(of, requested) {
            self.has_errors = true;
            return json!([]);
        }
        if requested.argument("first").is_some_and(|first| first.to_string().starts_with('-'))
            && requested.argument("order").is_some_and(|order| !sort_keys(order).is_empty())
            && cascade_of(requested).is_none()
        {
            self.has_errors = true;
            return json!([]);
        }
        let nodes = self.chosen(nodes, of, requested, None, group, true);
        let cascade = cascade_of(requested);
        nodes
            .into_iter()
            .map(|node| self.object(node, of, group, cascade).unwrap_or(Json::Null))
            .collect()
    }

    /// The nodes that are left after filter, `@cascade`, order and page.
    fn chosen(
        &mut self,
        mut nodes: Vec<usize>,
        of: Of,
        requested: &RequestedQuery,
        inherited: Cascade<'_>,
        group: &Group<'_>,
        is_root: bool,
    ) -> Vec<usize> {
        let cascade = cascade_of(requested).or(inherited);
        let none = Lit::Null;
        let filter = requested.argument("filter").unwrap_or(&none);
        let is_gone = |node: &usize| self.graph.nodes[*node].is_gone;
        self.is_undecided |= nodes.iter().any(is_gone) && cascade.is_some();
        nodes.retain(|node| match of {
            Of::Kind(kind) if is_root => {
                passes_at_root(self.graph, self.schema, kind, *node, filter)
            }
            _ => passes_of(self.graph, self.schema, of, *node, filter),
        });
        nodes.retain(|node| self.is_retained(*node, of, group, cascade));
        nodes.sort_by_key(|node| self.graph.uid(*node));
        if let (Some(order), Of::Kind(kind)) = (requested.argument("order"), of) {
            let keys = sort_keys(order);
            nodes.sort_by(|one, other| self.by_keys(kind, &keys, *one, *other));
            let is_empty = |name: &str| {
                let field = self.schema.field(kind, name);
                let mut all = 0..self.graph.nodes.len();
                field.is_some_and(|field| !all.any(|node| self.graph.has(node, field)))
            };
            // Whether a key that nobody has ends the comparison is not said.
            self.is_undecided |= keys.len() > 1 && keys.iter().any(|(name, _)| is_empty(name));
        }
        if let Some(after) = requested.argument("after") {
            let after = parse_uid(after).unwrap_or_default();
            nodes.retain(|node| self.graph.uid(*node) > after);
        }
        page(nodes, requested)
    }

    /// Two that lack a key are compared by the next one, and in the end by their numbers, backwards
    /// where that key of several goes down.
    fn by_keys(&self, kind: usize, keys: &[(String, bool)], one: usize, other: usize) -> Ordering {
        let mut backwards = false;
        for (name, is_down) in keys {
            let Some(field) = self.schema.field(kind, name) else { continue };
            let (left, right) = (self.graph.value(one, field), self.graph.value(other, field));
            let result = match (left, right) {
                (None, None) => {
                    backwards |= *is_down && keys.len() > 1;
                    continue;
                }
                (None, _) => Ordering::Greater,
                (_, None) => Ordering::Less,
                (Some(left), Some(right)) if *is_down => compare(&right, &left),
                (Some(left), Some(right)) => compare(&left, &right),
            };
            if result != Ordering::Equal {
                return result;
            }
        }
        match backwards {
            true => self.graph.uid(other).cmp(&self.graph.uid(one)),
            false => Ordering::Equal,
        }
    }

    /// Whether `@cascade` lets an object stay.
    fn is_retained(
        &mut self,
        node: usize,
        of: Of,
        group: &Group<'_>,
        cascade: Cascade<'_>,
    ) -> bool {
        let Some(names) = cascade else { return true };
        let kind = self.kind_of(node, of);
        for below in groups(self.schema, kind, group.below()) {
            let requested = below.first();
            if let (Some(kind), Some(name)) = (kind, requested.name.strip_suffix("Aggregate")) {
                if names.is_empty() && !self.has_values(node, kind, name, &below) {
                    return false;
                }
                continue;
            }
            let counts = names.is_empty() || names.contains(&requested.name);
            let field = kind.and_then(|kind| self.schema.field(kind, &requested.name));
            let Some(field) = field.filter(|_| counts) else { continue };
            let is_there = match field.of {
                Of::Scalar(_) => self.graph.has(node, field),
                of => {
                    let targets = self.graph.targets(node, field);
                    !self.chosen(targets, of, requested, cascade, &below, false).is_empty()
                }
            };
            if !is_there {
                return false;
            }
        }
        true
    }

    /// Whether one of the nodes that an aggregate is made of has all values that it asks for; it
    /// may ask for none.
    fn has_values(&mut self, node: usize, kind: usize, name: &str, group: &Group<'_>) -> bool {
        let field = self.schema.field(kind, name).expect("it is a field");
        let Of::Kind(target) = field.of else { unreachable!("unions have no aggregates") };
        let requested = groups(self.schema, None, group.below());
        let names = requested.iter().map(|below| below.first().name.as_str());
        let names = names.filter(|name| !matches!(*name, "count" | "__typename"));
        let fields: Vec<&Field> = names
            .map(|name| self.schema.field(target, &name[..name.len() - 3]).expect("a field"))
            .collect();
        let none = Lit::Null;
        let filter = group.first().argument("filter").unwrap_or(&none);
        let has_all = |node: usize| fields.iter().all(|field| self.graph.has(node, field));
        let mut targets = self.graph.targets(node, field).into_iter();
        fields.is_empty() || targets.any(|node| self.passes(target, node, filter) && has_all(node))
    }

    /// The concrete type of an object; of one that is gone, the type of the field.
    fn kind_of(&self, node: usize, of: Of) -> Option<usize> {
        match of {
            Of::Kind(kind) if self.graph.nodes[node].is_gone => {
                (!self.schema.kinds[kind].is_interface).then_some(kind)
            }
            _ => Some(self.graph.nodes[node].kind),
        }
    }

    fn object(
        &mut self,
        node: usize,
        of: Of,
        group: &Group<'_>,
        cascade: Cascade<'_>,
    ) -> Option<Json> {
        // Of an object without a type that is one of a union, the model does not know what is
        // shown.
        self.is_undecided |= matches!(of, Of::Union(_)) && self.graph.nodes[node].is_gone;
        let Some(kind) = self.kind_of(node, of) else { return self.absent(node, of, group) };
        let mut members = Map::new();
        for below in groups(self.schema, Some(kind), group.below()) {
            let value = self.field(node, kind, &below, cascade).ok()?;
            members.insert(below.first().key().to_owned(), value);
        }
        Some(Json::Object(members))
    }

    /// An object that lost its type, where that would say which one it is: all that any type is
    /// asked for, of which only the number is there.
    fn absent(&mut self, node: usize, of: Of, group: &Group<'_>) -> Option<Json> {
        let mut members = Map::new();
        for (on, requested) in of_any(self.schema, of, group.below()) {
            let value = match on {
                _ if requested.name == "__typename" => Json::from(self.schema.name_of(on)),
                Of::Kind(kind) => {
                    self.field(node, kind, &Group { fields: vec![requested] }, None).ok()?
                }
                _ => unreachable!("a union has no fields"),
            };
            members.insert(requested.key().to_owned(), value);
        }
        Some(Json::Object(members))
    }

    /// Whether a filter here or below can't be asked, so that nothing of the root field is
    /// answered.
    fn is_wrong(&self, of: Of, requested: &RequestedQuery) -> bool {
        let is_here = |filter| sense_of(self.schema, of, filter) == Sense::Wrong;
        let types = self.schema.concrete(of);
        requested.argument("filter").is_some_and(is_here)
            || self.is_wrong_below(of, &types, &requested.below)
    }

    /// Whether a selection of objects of some types asks for what is wrong.
    fn is_wrong_below(&self, of: Of, types: &[usize], parts: &[Part]) -> bool {
        // Nothing is asked of objects that no type has.
        if types.is_empty() {
            return false;
        }
        let is_wrong = |part: &Part| match (part, of) {
            (Part::Field(requested), Of::Kind(kind)) if requested.is_requested() => {
                let name = requested.name.strip_suffix("Aggregate").unwrap_or(&requested.name);
                let field = self.schema.field(kind, name);
                field.is_some_and(|field| self.is_wrong(field.of, requested))
            }
            (Part::Fragment(fragment), of) if holds(&fragment.conditions) => {
                let kind = fragment.on.as_ref().and_then(|name| self.schema.kind(name));
                let inner = kind.map_or(of, Of::Kind);
                let mut left = self.schema.concrete(inner);
                left.retain(|kind| types.contains(kind));
                self.is_wrong_below(inner, &left, &fragment.parts)
            }
            _ => false,
        };
        parts.iter().any(is_wrong)
    }

    fn field(
        &mut self,
        node: usize,
        kind: usize,
        group: &Group<'_>,
        cascade: Cascade<'_>,
    ) -> Result<Json, Up> {
        let requested = group.first();
        if requested.name == "__typename" {
            return Ok(Json::from(self.schema.kinds[kind].name.clone()));
        }
        let Some(field) = self.schema.field(kind, &requested.name) else {
            return Ok(self.aggregate_below(node, kind, group));
        };
        let value = match field.of {
            Of::Scalar(scalar) => self.scalar(node, field, scalar, group),
            of => {
                let targets = self.graph.targets(node, field);
                let cascade = cascade_of(requested).or(cascade);
                let nodes = self.chosen(targets, of, requested, cascade, group, false);
                let objects: Vec<Option<Json>> =
                    nodes.into_iter().map(|node| self.object(node, of, group, cascade)).collect();
                match field.many {
                    Many::One => objects.into_iter().next().flatten().unwrap_or(Json::Null),
                    Many::Loose => {
                        objects.into_iter().map(|object| object.unwrap_or(Json::Null)).collect()
                    }
                    Many::Tight => {
                        objects.into_iter().collect::<Option<Json>>().unwrap_or(Json::Null)
                    }
                }
            }
        };
        if value.is_null() && field.is_required {
            self.has_errors = true;
            return Err(Up);
        }
        Ok(value)
    }

    fn scalar(&self, node: usize, field: &Field, scalar: Scalar, group: &Group<'_>) -> Json {
        if scalar == Scalar::Id {
            return Json::from(format!("{:#x}", self.graph.uid(node)));
        }
        let values = self.graph.values(node, field);
        if field.is_list() {
            return Json::Array(values);
        }
        let value = values.into_iter().next().unwrap_or(Json::Null);
        if scalar != Scalar::Point || value.is_null() {
            return value;
        }
        let mut members = Map::new();
        for part in group.below() {
            let Part::Field(part) = part else { continue };
            let shown = match part.name.as_str() {
                "__typename" => json!("Point"),
                name => value[name].clone(),
            };
            members.insert(part.key().to_owned(), shown);
        }
        Json::Object(members)
    }

    fn aggregate_below(&mut self, node: usize, kind: usize, group: &Group<'_>) -> Json {
        let requested = group.first();
        let name = requested.name.strip_suffix("Aggregate").expect("no other fields are generated");
        let field = self.schema.field(kind, name).expect("it is a field");
        let Of::Kind(target) = field.of else { unreachable!("unions have no aggregates") };
        let none = Lit::Null;
        let filter = requested.argument("filter").unwrap_or(&none);
        let targets = self.graph.targets(node, field);
        let nodes = targets.into_iter().filter(|node| self.passes(target, *node, filter)).collect();
        self.aggregate(target, nodes, group)
    }

    fn aggregate(&mut self, kind: usize, nodes: Vec<usize>, group: &Group<'_>) -> Json {
        let mut members = Map::new();
        for below in groups(self.schema, None, group.below()) {
            let requested = below.first();
            let value = match requested.name.as_str() {
                "count" => json!(nodes.len()),
                "__typename" => json!(format!("{}AggregateResult", self.schema.kinds[kind].name)),
                name => {
                    let (name, word) = name.split_at(name.len() - 3);
                    let field = self.schema.field(kind, name).expect("aggregates name fields");
                    let values = nodes.iter().filter_map(|node| self.graph.value(*node, field));
                    aggregated(word, values.collect())
                }
            };
            members.insert(requested.key().to_owned(), value);
        }
        Json::Object(members)
    }
}

/// What is said of values in one word; null of none.
fn aggregated(word: &str, mut values: Vec<Json>) -> Json {
    values.sort_by(compare);
    if values.is_empty() {
        return Json::Null;
    }
    match word {
        "Min" => values[0].clone(),
        "Max" => values[values.len() - 1].clone(),
        _ => {
            let full: Option<Vec<i64>> = values.iter().map(Json::as_i64).collect();
            if let Some(full) = full {
                let sum: i64 = full.iter().sum();
                return if word == "Sum" {
                    json!(sum)
                } else {
                    json!(sum as f64 / full.len() as f64)
                };
            }
            let sum: f64 = values.iter().filter_map(Json::as_f64).sum();
            json!(if word == "Sum" { sum } else { sum / values.len() as f64 })
        }
    }
}

fn cascade_of(requested: &RequestedQuery) -> Cascade<'_> {
    requested.cascade.as_deref()
}

/// The fields of an order, and whether each goes down.
fn sort_keys(order: &Lit) -> Vec<(String, bool)> {
    let mut keys = Vec::new();
    let mut next = Some(order);
    while let Some(order) = next {
        match (order.given("asc"), order.given("desc")) {
            (Some(name), _) => keys.push((name.to_string(), false)),
            (None, Some(name)) => keys.push((name.to_string(), true)),
            (None, None) => {}
        }
        next = order.given("then");
    }
    keys
}

fn page(nodes: Vec<usize>, requested: &RequestedQuery) -> Vec<usize> {
    let number =
        |name| requested.argument(name).and_then(|value| value.json().as_i64()).unwrap_or(0);
    let (first, offset) = (number("first"), number("offset").max(0) as usize);
    match first {
        0 => nodes.into_iter().skip(offset).collect(),
        1.. => nodes.into_iter().skip(offset).take(first as usize).collect(),
        // The last ones are counted from the end, whatever the offset.
        _ => {
            let skip = nodes.len().saturating_sub(first.unsigned_abs() as usize);
            nodes.into_iter().skip(skip).collect()
        }
    }
}
