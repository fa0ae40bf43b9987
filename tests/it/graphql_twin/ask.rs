//! Random queries: filters, orders, pages, selections.

use super::graph::Graph;
use super::lit::{Lit, name, object, plain};
use super::request::{Argument, Condition, Fragment, Part, Request, RequestedQuery};
use super::schema::{Field, Of, Scalar, Schema, lower_first};
use super::words::{chance, one_of, value};
use fastrand::Rng;
use std::collections::BTreeSet;

/// Makes queries for one state of the graph.
pub struct Asking<'a> {
    pub rng: &'a mut Rng,
    pub schema: &'a Schema,
    pub graph: &'a Graph,
    /// Keys of objects, which have to differ since their arguments do.
    used: BTreeSet<String>,
    /// From where keys and fragments are numbered.
    pub count: usize,
    /// What was asked for, so that it can be counted.
    pub features: BTreeSet<&'static str>,
}

impl<'a> Asking<'a> {
    pub fn new(rng: &'a mut Rng, schema: &'a Schema, graph: &'a Graph) -> Asking<'a> {
        let (used, features) = (BTreeSet::new(), BTreeSet::new());
        Asking { rng, schema, graph, used, count: 0, features }
    }

    fn chance(&mut self, percent: u32) -> bool {
        chance(self.rng, percent)
    }

    fn next(&mut self) -> usize {
        self.count += 1;
        self.count
    }

    /// A query of some root fields.
    pub fn query(&mut self) -> Request {
        let count = *one_of(self.rng, &[1, 1, 2, 3]);
        let mut roots: Vec<RequestedQuery> = (0..count).map(|_| self.root()).collect();
        if roots.iter().all(|root| !root.is_requested()) {
            roots[0].conditions.clear();
        }
        Request { is_mutation: false, roots }
    }

    fn root(&mut self) -> RequestedQuery {
        let kind = self.rng.usize(..self.schema.kinds.len());
        let type_name = self.schema.kinds[kind].name.clone();
        let word = match self.rng.u32(..10) {
            0 | 1 if self.has_get(kind) => "get",
            2 | 3 => "aggregate",
            _ => "query",
        };
        self.features.insert(word);
        let mut requested =
            RequestedQuery { name: format!("{word}{type_name}"), ..RequestedQuery::default() };
        requested.alias = (self.chance(30) || self.used.contains(&requested.name))
            .then(|| format!("r{}", self.next()));
        self.used.insert(requested.key().to_owned());
        requested.conditions = self.conditions(4);
        match word {
            "get" => {
                requested.arguments = self.key_arguments(kind);
                requested.cascade = self.cascade(kind, false);
                requested.below = self.selection(Of::Kind(kind), 3, requested.cascade.is_some());
            }
            "aggregate" => {
                requested.arguments.extend(self.filter_argument(Of::Kind(kind)));
                requested.below = self.aggregates(kind);
            }
            _ => {
                requested.cascade = self.cascade(kind, false);
                requested.arguments = self.list_arguments(Of::Kind(kind), true, true);
                requested.below = self.selection(Of::Kind(kind), 3, requested.cascade.is_some());
            }
        }
        requested
    }

    fn has_get(&self, kind: usize) -> bool {
        self.schema.id_field(kind).is_some() || !self.schema.unique_fields(kind).is_empty()
    }

    fn argument(&mut self, name: &str, ty: impl Into<String>, value: Lit) -> Argument {
        // Without a value for it, a variable of a type that may not be null is an error.
        let is_variable = self.chance(25);
        if is_variable {
            self.features.insert("variable");
        }
        Argument { name: name.to_owned(), ty: ty.into(), value, is_variable }
    }

    fn key_arguments(&mut self, kind: usize) -> Vec<Argument> {
        let mut arguments = Vec::new();
        let nodes = self.graph.of_kind(self.schema, kind);
        let node = (!nodes.is_empty()).then(|| *one_of(self.rng, &nodes));
        let id = self.schema.id_field(kind);
        let keys = self.schema.unique_fields(kind);
        let is_alone = keys.len() + usize::from(id.is_some()) == 1;
        for field in id.into_iter().chain(keys) {
            if !is_alone && !self.chance(60) {
                continue;
            }
            let scalar = field.scalar().expect("keys are scalars");
            let existing = node.filter(|_| chance(self.rng, 85)).and_then(|node| match scalar {
                Scalar::Id => Some(plain(self.graph.uid(node))),
                _ => self.graph.value(node, field).map(Lit::Plain),
            });
            let value = match (existing, scalar) {
                (Some(Lit::Plain(id)), Scalar::Id) if self.rng.bool() => {
                    plain(format!("{:#x}", id.as_u64().unwrap_or_default()))
                }
                (Some(value), _) => value,
                (None, Scalar::Id) => plain(*one_of(self.rng, &["0x3", "77", "0xzz", "0x1"])),
                (None, Scalar::Text) => plain("k3"),
                (None, _) => plain(2),
            };
            let mark = if is_alone { "!" } else { "" };
            let ty = format!("{}{mark}", scalar.name());
            arguments.push(self.argument(&field.name, ty, value));
        }
        arguments
    }

    /// `@cascade`, with fields or without.
    fn cascade(&mut self, kind: usize, is_inside: bool) -> Option<Vec<String>> {
        if is_inside || !self.chance(18) {
            return None;
        }
        self.features.insert("cascade");
        if self.rng.bool() {
            return Some(Vec::new());
        }
        let fields = self.schema.fields(kind);
        let count = self.rng.usize(1..3);
        Some((0..count).map(|_| one_of(self.rng, &fields).name.clone()).collect())
    }

    fn filter_argument(&mut self, of: Of) -> Option<Argument> {
        let filter = match of {
            Of::Kind(kind) if self.chance(55) => self.filter(kind, 2),
            Of::Union(union) if self.chance(40) => self.union_filter(union),
            _ => return None,
        };
        let ty = format!("{}Filter", self.schema.name_of(of));
        Some(self.argument("filter", ty, filter))
    }

    /// The arguments of a list.
    pub fn list_arguments(&mut self, of: Of, may_skip: bool, has_after: bool) -> Vec<Argument> {
        let mut arguments: Vec<Argument> = self.filter_argument(of).into_iter().collect();
        let mut is_ordered = false;
        if let Of::Kind(kind) = of {
            let fields = self.schema.fields(kind);
            // Languages have orders of their own, which are not the model's business.
            let plain = |field: &&Field| field.is_orderable() && !field.predicate.contains('@');
            let orderable: Vec<String> =
                fields.into_iter().filter(plain).map(|field| field.name.clone()).collect();
            if !orderable.is_empty() && self.chance(35) {
                self.features.insert("order");
                let order = self.order(&orderable);
                let ty = format!("{}Order", self.schema.kinds[kind].name);
                arguments.push(self.argument("order", ty, order));
                is_ordered = true;
            }
        }
        if self.chance(30) {
            self.features.insert("first");
            let least = if is_ordered { 0 } else { -2 };
            let first = plain(self.rng.i64(least..5));
            arguments.push(self.argument("first", "Int", first));
        }
        if may_skip && self.chance(20) {
            self.features.insert("offset");
            let offset = plain(self.rng.i64(-1..4));
            arguments.push(self.argument("offset", "Int", offset));
        } else if may_skip && has_after && !is_ordered && self.chance(8) {
            self.features.insert("after");
            let after = plain(format!("{:#x}", self.rng.u64(1..30)));
            arguments.push(self.argument("after", "ID", after));
        }
        arguments
    }

    fn order(&mut self, fields: &[String]) -> Lit {
        let word = if self.rng.bool() { "asc" } else { "desc" };
        let field = name(one_of(self.rng, fields).clone());
        let mut entries = vec![(word.to_owned(), field)];
        if self.chance(40) {
            entries.push(("then".to_owned(), self.order(fields)));
        }
        Lit::Object(entries)
    }

    /// A filter of a kind.
    pub fn filter(&mut self, kind: usize, depth: usize) -> Lit {
        let mut entries = Vec::new();
        let fields = self.schema.fields(kind);
        let requested: Vec<&Field> =
            fields.iter().copied().filter(|field| field.words().is_some()).collect();
        if !requested.is_empty() && self.chance(75) {
            let field = *one_of(self.rng, &requested);
            let term = self.function(field);
            entries.push((field.name.clone(), term));
        }
        let has_values = fields.iter().any(|field| !field.is_id());
        if self.chance(15) && has_values {
            self.features.insert("has");
            let fields: Vec<&Field> =
                fields.iter().copied().filter(|field| !field.is_id()).collect();
            let mut names = vec![name(one_of(self.rng, &fields).name.clone())];
            if self.chance(25) {
                names.push(name(one_of(self.rng, &fields).name.clone()));
            }
            let names = if names.len() == 1 && self.rng.bool() {
                names.remove(0)
            } else {
                Lit::List(names)
            };
            entries.push(("has".to_owned(), names));
        }
        let may_nest = depth > 0 && !requested.is_empty();
        if may_nest && self.chance(15) {
            self.features.insert("not");
            let negated = self.part(kind, depth - 1);
            entries.push(("not".to_owned(), negated));
        }
        for word in ["and", "or"] {
            if may_nest && self.chance(15) {
                self.features.insert(if word == "or" { "or" } else { "and" });
                let count = self.rng.usize(1..3);
                let mut items: Vec<Lit> = (0..count).map(|_| self.part(kind, depth - 1)).collect();
                let items =
                    if count == 1 && self.rng.bool() { items.remove(0) } else { Lit::List(items) };
                entries.push((word.to_owned(), items));
            }
        }
        if let Some(id) = self.schema.id_field(kind).filter(|_| chance(self.rng, 15)) {
            let has_or = entries.iter().any(|(key, _)| key == "or");
            self.features.insert(if has_or { "ids beside or" } else { "ids" });
            let ids =
                (0..self.rng.usize(1..4)).map(|_| plain(format!("{:#x}", self.rng.u64(1..30))));
            entries.push((id.name.clone(), Lit::List(ids.collect())));
        }
        Lit::Object(entries)
    }

    /// A filter within another; now and then one that asks for nothing.
    fn part(&mut self, kind: usize, depth: usize) -> Lit {
        match self.rng.u32(..100) {
            0..3 => {
                self.features.insert("empty filter");
                let none = || Lit::Object(Vec::new());
                let nested = Lit::List(vec![none()]);
                one_of(self.rng, &[none(), object("and", nested.clone()), object("or", nested)])
                    .clone()
            }
            _ => self.some_filter(kind, depth),
        }
    }

    /// A filter that restricts something.
    fn some_filter(&mut self, kind: usize, depth: usize) -> Lit {
        (0..5)
            .map(|_| self.filter(kind, depth))
            .find(|filter| {
                filter
                    .entries()
                    .iter()
                    .any(|(_, value)| value.entries().len() + value.items().len() > 0)
            })
            .unwrap_or_else(|| object("has", Lit::List(vec![self.any_value(kind)])))
    }

    fn any_value(&mut self, kind: usize) -> Lit {
        let fields = self.schema.fields(kind);
        let fields: Vec<&Field> = fields.into_iter().filter(|field| !field.is_id()).collect();
        name(one_of(self.rng, &fields).name.clone())
    }

    /// What is asked of a field.
    fn function(&mut self, field: &Field) -> Lit {
        let scalar = field.scalar().expect("only scalars are searched");
        if scalar == Scalar::Bool {
            return value(self.rng, scalar);
        }
        let words = field.words().expect("it can be searched");
        let word = *one_of(self.rng, &words);
        let function = match (word, scalar) {
            (_, Scalar::Point) => return self.near(),
            ("term", _) => *one_of(self.rng, &["allofterms", "anyofterms"]),
            ("fulltext", _) => *one_of(self.rng, &["alloftext", "anyoftext"]),
            ("regexp" | "trigram", _) => "regexp",
            ("hash", _) => *one_of(self.rng, &["eq", "in"]),
            (_, Scalar::Mood) => *one_of(self.rng, &["eq", "in", "le", "lt", "ge", "gt"]),
            _ => *one_of(self.rng, &["eq", "in", "le", "lt", "ge", "gt", "between"]),
        };
        self.features.insert(function);
        let value = match function {
            "allofterms" | "anyofterms" | "alloftext" | "anyoftext" => {
                plain(*one_of(self.rng, &["fox", "red FOX", "blue", "zebra red", "fox, blue"]))
            }
            "regexp" if scalar == Scalar::Mood => {
                plain(*one_of(self.rng, &["/CAL/", "/loud/i", "/WILD/"]))
            }
            "regexp" => plain(*one_of(self.rng, &["/fox/", "/RED/i", "/Red/", "/blue f/"])),
            "between" => {
                let (min, max) =
                    (self.requested_value(field, scalar), self.requested_value(field, scalar));
                Lit::Object(vec![("min".to_owned(), min), ("max".to_owned(), max)])
            }
            "in" => {
                let count = *one_of(self.rng, &[0, 1, 2, 3]);
                Lit::List((0..count).map(|_| self.requested_value(field, scalar)).collect())
            }
            "eq" if self.chance(8) => Lit::Null,
            _ => self.requested_value(field, scalar),
        };
        object(function, value)
    }

    fn requested_value(&mut self, field: &Field, scalar: Scalar) -> Lit {
        if field.unique.is_none() && field.name != super::family::MARK {
            return value(self.rng, scalar);
        }
        let number = self.rng.i64(0..40);
        match scalar {
            Scalar::Text => plain(format!("k{number}")),
            _ if field.name.starts_with("big") => plain(number + 3_000_000_000),
            _ => plain(number),
        }
    }

    fn near(&mut self) -> Lit {
        self.features.insert("near");
        let coordinate = value(self.rng, Scalar::Point);
        let entries =
            vec![("distance".to_owned(), plain(1000.5)), ("coordinate".to_owned(), coordinate)];
        object("near", Lit::Object(entries))
    }

    fn union_filter(&mut self, union: usize) -> Lit {
        self.features.insert("union filter");
        let members = self.schema.unions[union].1.clone();
        let mut entries = Vec::new();
        if self.rng.bool() {
            let types = members.iter().filter(|_| chance(self.rng, 50));
            let types = types.map(|kind| name(self.schema.kinds[*kind].name.clone()));
            entries.push(("memberTypes".to_owned(), Lit::List(types.collect())));
        }
        if self.rng.bool() {
            let member = *one_of(self.rng, &members);
            let key = lower_first(&self.schema.kinds[member].name);
            entries.push((format!("{key}Filter"), self.filter(member, 1)));
        }
        Lit::Object(entries)
    }

    fn conditions(&mut self, percent: u32) -> Vec<Condition> {
        let mut conditions = Vec::new();
        for is_include in [true, false] {
            if self.chance(percent) {
                self.features.insert("include or skip");
                let (value, is_variable) = (self.rng.bool(), self.rng.bool());
                conditions.push(Condition { is_include, value, is_variable });
            }
        }
        conditions
    }

    /// What is selected of objects. Within `@cascade` nothing is asked that some of the objects
    /// can't have.
    pub fn selection(&mut self, of: Of, depth: usize, is_cascade: bool) -> Vec<Part> {
        let mut parts = Vec::new();
        if self.chance(30) || matches!(of, Of::Union(_)) {
            parts.push(self.leaf("__typename"));
        }
        if let Of::Kind(kind) = of {
            for field in self.schema.fields(kind) {
                self.select(&mut parts, field, depth, is_cascade);
            }
        }
        let is_abstract = !matches!(of, Of::Kind(kind) if !self.schema.kinds[kind].is_interface);
        if is_abstract && !is_cascade {
            for kind in self.schema.concrete(of) {
                if self.chance(70) {
                    parts.push(self.fragment(kind, depth));
                }
            }
        } else if let Of::Kind(kind) = of {
            let on = self.schema.kinds[kind].parents.iter().copied().chain([kind]);
            let on: Vec<usize> = on.collect();
            if self.chance(10) && !is_cascade {
                let on = *one_of(self.rng, &on);
                parts.push(self.fragment(on, depth));
            }
        }
        if parts.is_empty() {
            parts.push(self.leaf("__typename"));
        }
        parts
    }

    fn fragment(&mut self, kind: usize, depth: usize) -> Part {
        self.features.insert("fragment");
        let parts = self.selection(Of::Kind(kind), depth.min(1), false);
        let name = self.chance(30).then(|| format!("f{}", self.next()));
        let on = Some(self.schema.kinds[kind].name.clone());
        Part::Fragment(Fragment { on, name, conditions: self.conditions(5), parts })
    }

    fn leaf(&mut self, name: &str) -> Part {
        let alias = self.chance(10).then(|| format!("k{}", self.next()));
        Part::Field(RequestedQuery { alias, name: name.to_owned(), ..RequestedQuery::default() })
    }

    fn select(&mut self, parts: &mut Vec<Part>, field: &Field, depth: usize, is_cascade: bool) {
        let Of::Scalar(scalar) = field.of else {
            if depth > 0 && self.chance(30) {
                let part = self.objects(field, depth, is_cascade);
                parts.push(part);
            }
            let is_list_of_kind = field.is_list() && matches!(field.of, Of::Kind(_));
            if depth > 0 && is_list_of_kind && self.chance(15) {
                let part = self.aggregate_below(field);
                parts.push(part);
            }
            return;
        };
        if !self.chance(if is_cascade { 25 } else { 45 }) {
            return;
        }
        let Part::Field(mut requested) = self.leaf(&field.name) else {
            unreachable!("leaves are fields")
        };
        if scalar == Scalar::Point {
            let names = ["longitude", "latitude"];
            requested.below = names.iter().map(|name| self.leaf(name)).collect();
            requested.alias = Some(format!("p{}", self.next()));
        }
        requested.conditions = self.conditions(2);
        parts.push(Part::Field(requested));
    }

    fn key_of_objects(&mut self, name: &str) -> Option<String> {
        let alias = !self.used.insert(name.to_owned()) || self.chance(15);
        alias.then(|| format!("o{}", self.next()))
    }

    fn objects(&mut self, field: &Field, depth: usize, is_cascade: bool) -> Part {
        let mut requested =
            RequestedQuery { name: field.name.clone(), ..RequestedQuery::default() };
        requested.alias = self.key_of_objects(&field.name);
        if let Of::Kind(kind) = field.of {
            let is_inside = is_cascade && self.rng.bool();
            requested.cascade = self.cascade(kind, is_inside);
        }
        let is_cascade = is_cascade || requested.cascade.is_some();
        requested.arguments = match field.is_list() {
            true => {
                let is_kind = matches!(field.of, Of::Kind(_));
                self.list_arguments(field.of, !is_cascade, is_kind)
            }
            false => self.filter_argument(field.of).into_iter().collect(),
        };
        requested.below = self.selection(field.of, depth - 1, is_cascade);
        if self.chance(6) && requested.cascade.is_none() {
            self.features.insert("merged");
            requested.arguments.iter_mut().for_each(|argument| argument.is_variable = false);
            let mut twin = requested.clone();
            twin.alias = Some(requested.key().to_owned()).filter(|key| *key != requested.name);
            twin.below = self.selection(field.of, 0, is_cascade);
            let parts = vec![Part::Field(requested), Part::Field(twin)];
            return Part::Fragment(Fragment {
                on: None,
                name: None,
                conditions: Vec::new(),
                parts,
            });
        }
        Part::Field(requested)
    }

    fn aggregate_below(&mut self, field: &Field) -> Part {
        let Of::Kind(kind) = field.of else { unreachable!("unions have no aggregates") };
        self.features.insert("aggregate below");
        let name = format!("{}Aggregate", field.name);
        let mut requested =
            RequestedQuery { alias: self.key_of_objects(&name), name, ..RequestedQuery::default() };
        requested.arguments.extend(self.filter_argument(field.of));
        requested.below = self.aggregates(kind);
        Part::Field(requested)
    }

    fn aggregates(&mut self, kind: usize) -> Vec<Part> {
        let mut parts = Vec::new();
        if self.chance(70) {
            parts.push(self.leaf("count"));
        }
        for field in self.schema.fields(kind) {
            let Some(scalar) = field.scalar().filter(|_| field.is_orderable()) else { continue };
            let words: &[&str] =
                if scalar.is_number() { &["Min", "Max", "Sum", "Avg"] } else { &["Min", "Max"] };
            for word in words {
                if self.chance(25) {
                    let part = self.leaf(&format!("{}{word}", field.name));
                    parts.push(part);
                }
            }
        }
        if parts.is_empty() || self.chance(10) {
            parts.push(self.leaf("__typename"));
        }
        parts
    }
}
