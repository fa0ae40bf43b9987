//! Data for a schema: nodes of each type, values that filters hit and miss, links with both ends.

use super::pools::Pools;
use super::record::quoted;
use fastrand::Rng;
use hexgraph::db::Database;
use hexgraph::internals::graphql::model::{Field, Kind, Language, Model, TypeDef};
use hexgraph::internals::graphql::sdl::{Settings, read};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// How many nodes of a type have a password: to make one takes long.
const PASSWORDS: usize = 2;

/// A database with a schema and data.
pub struct World {
    pub db: Database,
    pub model: Model,
    /// The nodes of each object type, ascending.
    pub nodes: BTreeMap<String, Vec<u64>>,
}

impl World {
    /// A world with so many nodes of each type, each time the same.
    pub fn new(schema: &str, pools: &Pools, count: usize) -> World {
        let db = Database::in_memory();
        db.set_graphql_schema(schema).unwrap_or_else(|error| panic!("{error}"));
        let model = read(schema, &Settings::default()).unwrap();
        let types = model.types.iter().filter(|def| def.kind == Kind::Object && !def.remote);
        let types: Vec<&TypeDef> = types.collect();
        let first = db.assign_uids((types.len() * count) as u64).unwrap().0;
        let mut nodes = BTreeMap::new();
        // Uids of the types alternate, so that no type has a range of its own.
        for (position, def) in types.iter().enumerate() {
            let uids = (0..count).map(|i| first + (i * types.len() + position) as u64);
            nodes.insert(def.name.clone(), uids.collect::<Vec<_>>());
        }
        let mut maker = Maker {
            model: &model,
            pools,
            nodes: &nodes,
            rng: Rng::with_seed(seed()),
            text: String::new(),
            taken: BTreeSet::new(),
            edges: BTreeSet::new(),
        };
        types.iter().for_each(|def| maker.values(def));
        for is_list in [false, true] {
            types.iter().for_each(|def| maker.links(def, is_list));
        }
        let text = maker.text;
        db.mutate(&text, "").unwrap_or_else(|error| panic!("{error}\n{text}"));
        World { db, model, nodes }
    }

    /// The object types of a type: itself, those that implement it, its members.
    pub fn concrete(&self, name: &str) -> Vec<&TypeDef> {
        concrete(&self.model, name)
    }

    /// The nodes of a type, interface or union.
    pub fn nodes_of(&self, name: &str) -> Vec<u64> {
        let types = self.concrete(name).into_iter();
        types.flat_map(|def| self.nodes[&def.name].iter().copied()).collect()
    }

    /// The type or interface that declares the predicate of a field, and the field.
    pub fn field(&self, predicate: &str) -> Option<&Field> {
        let (name, field) = predicate.split_once('.')?;
        let named = self.model.get(name).and_then(|def| def.field(field));
        named.or_else(|| {
            let fields = self.model.types.iter().flat_map(|def| &def.fields);
            let of = |field: &Field| field.predicate.as_ref().is_some_and(|p| p.name == predicate);
            fields.into_iter().find(|field| of(field))
        })
    }
}

/// The data are the same each time, unless `HEXGRAPH_SEED` asks for others.
fn seed() -> u64 {
    std::env::var("HEXGRAPH_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7)
}

fn concrete<'m>(model: &'m Model, name: &str) -> Vec<&'m TypeDef> {
    let def = model.get(name).unwrap_or_else(|| panic!("there is no {name}"));
    match def.kind {
        Kind::Object => vec![def],
        Kind::Interface => def.implementors.iter().filter_map(|name| model.get(name)).collect(),
        _ => def.members.iter().filter_map(|name| model.get(name)).collect(),
    }
}

struct Maker<'a> {
    model: &'a Model,
    pools: &'a Pools,
    nodes: &'a BTreeMap<String, Vec<u64>>,
    rng: Rng,
    text: String,
    /// Values of unique predicates, and the ends of links to one node.
    taken: BTreeSet<(String, String)>,
    edges: BTreeSet<(u64, String, u64)>,
}

impl Maker<'_> {
    fn line(&mut self, uid: u64, predicate: &str, value: &str) {
        writeln!(self.text, "<{uid:#x}> <{predicate}> {value} .").unwrap();
    }

    fn values(&mut self, def: &TypeDef) {
        for (position, &uid) in self.nodes[&def.name].iter().enumerate() {
            let interfaces = def.interfaces.iter().filter_map(|name| self.model.get(name));
            for name in interfaces.chain([def]).map(|def| &def.dgraph_type) {
                self.line(uid, "dgraph.type", &quoted(name));
            }
            for field in &def.fields {
                let is_key = def.key.as_ref().is_some_and(|key| key.field == field.name);
                self.value(field, uid, position, is_key);
            }
            let secret = def.secret.as_ref().filter(|_| position < PASSWORDS);
            let existing = secret.and_then(|secret| self.pools.get(&secret.predicate).first());
            if let (Some(secret), Some(password)) = (secret, existing) {
                self.line(uid, &secret.predicate, &quoted(password));
            }
        }
    }

    fn value(&mut self, field: &Field, uid: u64, position: usize, is_key: bool) {
        let Some(predicate) = field.predicate.as_ref().filter(|p| !p.reverse) else { return };
        let is_link = self.model.get(field.ty.name()).is_some_and(|def| def.kind != Kind::Enum);
        let is_missing = !field.ty.is_non_null() && position > 0 && self.rng.u8(..4) == 0;
        if is_link || is_missing || field.is_custom() || !predicate.language.is_writable() {
            return;
        }
        let (pool, language) = match &predicate.language {
            Language::Tagged(language) => {
                (format!("{}@{language}", predicate.name), format!("@{language}"))
            }
            _ => (predicate.name.clone(), String::new()),
        };
        if field.unique.is_some() || is_key {
            let value = self.unique(field, &predicate.name, position);
            return self.line(uid, &predicate.name, &value);
        }
        let count = if field.ty.is_list() && !field.embedding { self.rng.usize(1..4) } else { 1 };
        for _ in 0..count {
            let value = self.scalar(field, &pool);
            self.line(uid, &predicate.name, &(value + &language));
        }
    }

    /// A value that no other node has: the first nodes have those of the pool.
    fn unique(&mut self, field: &Field, predicate: &str, position: usize) -> String {
        let pool = self.pools.get(predicate).iter().map(|value| quoted(value));
        let is_number = field.ty.name().starts_with("Int");
        let own = (0..).map(|i| match is_number {
            true => quoted(&(1000 * position + i).to_string()),
            false => quoted(&format!("{}-{}-{i}", field.name, position)),
        });
        let mut values = pool.chain(own);
        let taken = |value: &String| self.taken.contains(&(predicate.to_owned(), value.clone()));
        let value = values.find(|value| !taken(value)).unwrap();
        self.taken.insert((predicate.to_owned(), value.clone()));
        value
    }

    fn scalar(&mut self, field: &Field, pool: &str) -> String {
        if field.embedding {
            let numbers: Vec<String> =
                (0..5).map(|_| format!("{:.2}", self.rng.f64() / 2.0)).collect();
            return quoted(&format!("[{}]", numbers.join(", ")));
        }
        let existing = self.pools.get(pool);
        if !existing.is_empty() && self.rng.bool() {
            return quoted(&existing[self.rng.usize(..existing.len())]);
        }
        let number = self.rng.u32(..200);
        let words = ["GraphQL", "graphql", "dust", "Rust", "abc", "log", "German", "Zoo", "ABBA"];
        let word = words[self.rng.usize(..words.len())];
        let other = words[self.rng.usize(..words.len())];
        match field.ty.name() {
            "Int" | "Int64" => quoted(&number.to_string()),
            "Float" => quoted(&format!("{}", f64::from(number) / 10.0)),
            "Boolean" => quoted(if number.is_multiple_of(2) { "true" } else { "false" }),
            "DateTime" => {
                quoted(&format!("{}-{:02}-01T00:00:00Z", 1990 + number / 8, 1 + number % 12))
            }
            "Point" | "Polygon" | "MultiPolygon" => self.shape(field.ty.name()),
            name => match self.model.get(name) {
                Some(def) => quoted(&def.values[self.rng.usize(..def.values.len())].name),
                None => quoted(&format!("{word} {other}")),
            },
        }
    }

    /// A geometry, near to where records ask or not.
    fn shape(&mut self, name: &str) -> String {
        let far = f64::from(self.rng.u8(..3)) * 10.0;
        let small = vec![[22.22, 11.11], [16.16, 15.15], [21.21, 20.2]];
        let large = vec![[10.0, 5.0], [35.0, 5.0], [35.0, 30.0], [10.0, 30.0]];
        let corners = if self.rng.bool() { small } else { large };
        let ring: Vec<Vec<f64>> = corners.iter().map(|[x, y]| vec![x + far, *y]).collect();
        let center = if far > 10.0 { vec![19.8, 15.4] } else { ring[0].clone() };
        let ring = [ring.as_slice(), &ring[..1]].concat();
        let coordinates: Value = match name {
            "Point" => center.into(),
            "Polygon" => vec![ring].into(),
            _ => vec![vec![ring]].into(),
        };
        let geometry = serde_json::json!({"type": name, "coordinates": coordinates});
        format!("{}^^<geo:geojson>", quoted(&geometry.to_string()))
    }

    /// Links to one node first, so that those that have to be there find a partner.
    fn links(&mut self, def: &TypeDef, is_list: bool) {
        let fields = def.fields.iter().filter(|field| field.ty.is_list() == is_list);
        for field in fields.filter(|field| !field.is_custom()) {
            let Some(predicate) = field.predicate.as_ref().filter(|p| !p.reverse) else { continue };
            let target = self.model.get(field.ty.name());
            if target.is_none_or(|def| def.kind == Kind::Enum) {
                continue;
            }
            for &uid in &self.nodes[&def.name] {
                let count = if is_list { self.rng.usize(..5) } else { 1 };
                if is_list || field.ty.is_non_null() || self.rng.u8(..4) > 0 {
                    (0..count).for_each(|_| self.link(field, &predicate.name, uid));
                }
            }
        }
    }

    /// Links a node to one of the type's, the first of them oftener, at both ends.
    fn link(&mut self, field: &Field, predicate: &str, uid: u64) {
        let types = concrete(self.model, field.ty.name());
        let target = types[self.rng.usize(..types.len())];
        let nodes = &self.nodes[&target.name];
        let inverse = field.inverse.as_ref().and_then(|inverse| target.field(&inverse.field));
        let end = |predicate: &str, uid: u64| (predicate.to_owned(), format!("{uid}"));
        if !field.ty.is_list() && self.taken.contains(&end(predicate, uid)) {
            return;
        }
        let start = self.rng.usize(..nodes.len()) * usize::from(self.rng.u8(..3) > 0);
        for i in 0..nodes.len() {
            let other = nodes[(start + i) % nodes.len()];
            let back = inverse.and_then(|field| field.predicate.as_ref().map(|p| (field, &p.name)));
            let single = back.filter(|(field, _)| !field.ty.is_list());
            if single.is_some_and(|(_, name)| self.taken.contains(&end(name, other))) {
                continue;
            }
            self.edge(uid, predicate, other, field.ty.is_list());
            if let Some((field, name)) = back {
                self.edge(other, name, uid, field.ty.is_list());
            }
            return;
        }
    }

    fn edge(&mut self, from: u64, predicate: &str, to: u64, is_list: bool) {
        if !is_list {
            self.taken.insert((predicate.to_owned(), format!("{from}")));
        }
        if self.edges.insert((from, predicate.to_owned(), to)) {
            self.line(from, predicate, &format!("<{to:#x}>"));
        }
    }
}
