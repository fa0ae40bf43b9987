//! Random mutations.

use super::ask::Asking;
use super::graph::Graph;
use super::input::Inputs;
use super::lit::{Lit, plain};
use super::request::{Argument, Part, Request, RequestedQuery};
use super::schema::{Of, Schema};
use super::words::{chance, one_of};
use fastrand::Rng;
use std::collections::BTreeSet;

/// Makes mutations for one state of the graph.
pub struct Changes<'a> {
    pub rng: &'a mut Rng,
    pub schema: &'a Schema,
    pub graph: &'a Graph,
    pub fresh: &'a mut i64,
    pub features: BTreeSet<&'static str>,
}

impl Changes<'_> {
    /// A mutation of some root fields.
    pub fn mutation(&mut self) -> Request {
        let count = *one_of(self.rng, &[1, 1, 1, 2, 3]);
        let roots = (0..count).map(|position| self.root(position)).collect();
        Request { is_mutation: true, roots }
    }

    fn inputs(&mut self) -> Inputs<'_> {
        Inputs { rng: self.rng, schema: self.schema, graph: self.graph, fresh: self.fresh }
    }

    fn root(&mut self, position: usize) -> RequestedQuery {
        let kind = self.rng.usize(..self.schema.kinds.len());
        let can_add = !self.schema.kinds[kind].is_interface;
        let few = self.graph.of_kind(self.schema, kind).len() < 4;
        let word = match self.rng.u32(..20) {
            0 if !few => "delete",
            0..7 if few && can_add => "add",
            1..9 => "update",
            _ if can_add => "add",
            _ => "update",
        };
        self.features.insert(word);
        let name = self.schema.kinds[kind].name.clone();
        let arguments = match word {
            "add" => self.add_arguments(kind),
            "update" => vec![self.update_argument(kind)],
            _ => vec![self.argument("filter", format!("{name}Filter!"), |own| own.filter(kind))],
        };
        let alias = Some(format!("m{position}"));
        let below = self.payload(kind, position, word == "delete");
        RequestedQuery {
            alias,
            name: format!("{word}{name}"),
            arguments,
            below,
            ..RequestedQuery::default()
        }
    }

    fn argument(
        &mut self,
        name: &str,
        ty: String,
        value: impl FnOnce(&mut Self) -> Lit,
    ) -> Argument {
        let value = value(self);
        Argument { name: name.to_owned(), ty, value, is_variable: chance(self.rng, 30) }
    }

    fn filter(&mut self, kind: usize) -> Lit {
        let nodes = self.graph.of_kind(self.schema, kind);
        let id = self.schema.id_field(kind).map(|field| field.name.clone());
        match (id, self.rng.u32(..10)) {
            (Some(id), 0..5) if !nodes.is_empty() => {
                let node = *one_of(self.rng, &nodes);
                let id_value = self.inputs().id(node);
                super::lit::object(id, Lit::List(vec![id_value]))
            }
            (Some(id), 8) if chance(self.rng, 20) => super::lit::object(id, Lit::Null),
            (_, 9) => Lit::Object(Vec::new()),
            _ => Asking::new(self.rng, self.schema, self.graph).filter(kind, 2),
        }
    }

    fn add_arguments(&mut self, kind: usize) -> Vec<Argument> {
        let name = self.schema.kinds[kind].name.clone();
        let count = *one_of(self.rng, &[0, 1, 1, 1, 2, 2, 3]);
        let mut items: Vec<Lit> = (0..count).map(|_| self.inputs().object(kind, None, 2)).collect();
        let can_upsert = !self.schema.unique_fields(kind).is_empty();
        let is_upsert = can_upsert && chance(self.rng, 50);
        if is_upsert {
            self.features.insert("upsert");
            for item in &mut items {
                if chance(self.rng, 60) {
                    self.name_existing(kind, item);
                }
            }
        }
        let items = if count == 1 && self.rng.bool() { items.remove(0) } else { Lit::List(items) };
        let mut arguments = vec![self.argument("input", format!("[Add{name}Input!]!"), |_| items)];
        if is_upsert || can_upsert && chance(self.rng, 10) {
            arguments.push(self.argument("upsert", "Boolean".to_owned(), |_| plain(is_upsert)));
        }
        arguments
    }

    /// Gives an object a value of a node that is there.
    fn name_existing(&mut self, kind: usize, object: &mut Lit) {
        let nodes = self.graph.of_kind(self.schema, kind);
        let fields = self.schema.unique_fields(kind);
        if nodes.is_empty() {
            return;
        }
        let (node, field) = (*one_of(self.rng, &nodes), *one_of(self.rng, &fields));
        let (Lit::Object(entries), Some(value)) = (object, self.graph.value(node, field)) else {
            return;
        };
        entries.retain(|(name, _)| *name != field.name);
        entries.push((field.name.clone(), Lit::Plain(value)));
    }

    fn update_argument(&mut self, kind: usize) -> Argument {
        let name = self.schema.kinds[kind].name.clone();
        let filter = self.filter(kind);
        let mut entries = vec![("filter".to_owned(), filter)];
        let mut used = Vec::new();
        let which = self.rng.u32(..10);
        if which < 7 {
            let mut set = self.inputs().patch(kind, &[]);
            // Perhaps one of the node that the filter names.
            if chance(self.rng, 10) && !self.schema.unique_fields(kind).is_empty() {
                self.name_existing(kind, &mut set);
            }
            used.extend(set.entries().iter().map(|(name, _)| name.clone()));
            // Of both, what happens to one link must not depend on the order.
            let edges =
                self.schema.fields(kind).into_iter().filter(|field| field.scalar().is_none());
            used.extend(edges.map(|field| field.name.clone()));
            entries.push(("set".to_owned(), set));
        }
        if which >= 5 {
            self.features.insert("remove");
            let remove = self.inputs().removal(kind, &used);
            entries.push(("remove".to_owned(), remove));
        }
        self.argument("input", format!("Update{name}Input!"), |_| Lit::Object(entries))
    }

    fn payload(&mut self, kind: usize, position: usize, is_delete: bool) -> Vec<Part> {
        let mut parts = vec![Part::Field(RequestedQuery {
            name: "numUids".to_owned(),
            ..RequestedQuery::default()
        })];
        if is_delete {
            parts.push(Part::Field(RequestedQuery {
                name: "msg".to_owned(),
                ..RequestedQuery::default()
            }));
        }
        let name = self.schema.kinds[kind].list();
        if chance(self.rng, 70) {
            let mut asking = Asking::new(self.rng, self.schema, self.graph);
            // Fragments of several payloads must not have the same names.
            asking.count = 1000 * position;
            let arguments = match chance(asking.rng, 30) {
                true => asking.list_arguments(Of::Kind(kind), true, false),
                false => Vec::new(),
            };
            let below = asking.selection(Of::Kind(kind), 2, false);
            parts.push(Part::Field(RequestedQuery {
                name,
                arguments,
                below,
                ..RequestedQuery::default()
            }));
        }
        parts
    }
}
