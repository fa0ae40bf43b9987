//! The types and the nodes of a case.

use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    Text,
    Int,
    Bool,
    /// A text that no two nodes have.
    Code,
}

/// A type as the schema declares it.
#[derive(Clone, Copy)]
pub struct Kind {
    pub name: &'static str,
    pub is_interface: bool,
    pub parent: Option<&'static str>,
    pub scalars: &'static [(&'static str, Scalar)],
    /// Name, type, whether it is a list.
    pub edges: &'static [(&'static str, &'static str, bool)],
}

/// The field that reads `Item.owner` backwards.
pub const BACK: &str = "written";

pub const KINDS: [Kind; 5] = [
    Kind {
        name: "User",
        is_interface: false,
        parent: None,
        scalars: &[
            ("title", Scalar::Text),
            ("age", Scalar::Int),
            ("active", Scalar::Bool),
            ("code", Scalar::Code),
        ],
        edges: &[
            ("boss", "User", false),
            ("groups", "Group", true),
            ("things", "Thing", true),
            ("docs", "Item", true),
            (BACK, "Item", true),
        ],
    },
    Kind {
        name: "Group",
        is_interface: false,
        parent: None,
        scalars: &[("title", Scalar::Text), ("open", Scalar::Bool)],
        edges: &[("members", "User", true), ("lead", "User", false)],
    },
    Kind {
        name: "Item",
        is_interface: true,
        parent: None,
        scalars: &[("title", Scalar::Text), ("public", Scalar::Bool)],
        edges: &[("owner", "User", false)],
    },
    Kind {
        name: "Doc",
        is_interface: false,
        parent: Some("Item"),
        scalars: &[("pages", Scalar::Int)],
        edges: &[("group", "Group", false), ("refs", "Item", true)],
    },
    Kind {
        name: "Pic",
        is_interface: false,
        parent: Some("Item"),
        scalars: &[("width", Scalar::Int)],
        edges: &[("shows", "User", true)],
    },
];

/// The type whose nodes have vectors.
pub const SIMILAR: &str = "Doc";

/// The type that other services know by a key.
pub const KEYED: &str = "Group";

/// The members of the union.
pub const THINGS: [&str; 2] = ["Doc", "Group"];

const TITLES: [&str; 4] = ["ann", "bob", "cy", "zz"];

impl Kind {
    pub fn of(name: &str) -> Option<Kind> {
        KINDS.into_iter().find(|kind| kind.name == name)
    }

    pub fn random(rng: &mut fastrand::Rng) -> Kind {
        KINDS[rng.usize(..KINDS.len())]
    }

    /// The field of the nodes in a payload.
    pub fn list(&self) -> String {
        self.name.to_lowercase()
    }

    /// It and its interface.
    pub fn lineage(&self) -> impl Iterator<Item = Kind> {
        [Some(*self), self.parent.and_then(Kind::of)].into_iter().flatten()
    }

    pub fn all_scalars(&self) -> Vec<(&'static str, Scalar)> {
        self.lineage().flat_map(|kind| kind.scalars.iter().copied()).collect()
    }

    pub fn all_edges(&self) -> Vec<(&'static str, &'static str, bool)> {
        self.lineage().flat_map(|kind| kind.edges.iter().copied()).collect()
    }

    /// Whether a node of the concrete type is one of these.
    pub fn holds(&self, concrete: Kind) -> bool {
        concrete.lineage().any(|kind| kind.name == self.name)
    }

    pub fn predicate(&self, field: &str) -> String {
        let has = |kind: &Kind| {
            kind.scalars.iter().any(|existing| existing.0 == field)
                || kind.edges.iter().any(|existing| existing.0 == field)
        };
        let name = self.lineage().find(has).unwrap().name;
        if field == "owner" { "item.owner".to_owned() } else { format!("{name}.{field}") }
    }
}

/// A node of a concrete type.
#[derive(Clone)]
pub struct Node {
    pub kind: Kind,
    pub values: BTreeMap<&'static str, Value>,
    pub edges: BTreeMap<&'static str, Vec<usize>>,
    /// What documents are similar by.
    pub vector: Option<[f64; 2]>,
    /// Taken away; positions of other nodes stay.
    pub is_gone: bool,
}

#[derive(Clone)]
pub struct World {
    pub nodes: Vec<Node>,
}

pub fn uid(node: usize) -> String {
    format!("{:#x}", 0x100 + node)
}

pub fn random_value(rng: &mut fastrand::Rng, scalar: Scalar) -> Value {
    match scalar {
        Scalar::Text => json!(TITLES[rng.usize(..3)]),
        Scalar::Int => json!(rng.i64(0..4)),
        Scalar::Bool => json!(rng.bool()),
        Scalar::Code => code(rng.usize(..16)),
    }
}

/// The code of a node.
pub fn code(node: usize) -> Value {
    json!(format!("c{node}"))
}

pub fn random_vector(rng: &mut fastrand::Rng) -> [f64; 2] {
    [rng.f64(), rng.f64()]
}

/// A random value for a node, which need not be there.
fn value_of(rng: &mut fastrand::Rng, node: usize, scalar: Scalar) -> Option<Value> {
    match scalar {
        Scalar::Code => Some(code(node)),
        scalar => (rng.u8(..4) != 0).then(|| random_value(rng, scalar)),
    }
}

/// The schema, with what `directive` says of each type.
pub fn sdl(directive: impl Fn(&str) -> String) -> String {
    let mut out = format!("union Thing = {}\n", THINGS.join(" | "));
    for kind in KINDS {
        let word = if kind.is_interface { "interface" } else { "type" };
        let implements =
            kind.parent.map_or(String::new(), |parent| format!(" implements {parent}"));
        let key = if kind.name == KEYED { " @key(fields: \"id\")" } else { "" };
        let directive = directive(kind.name);
        out += &format!("{word} {}{implements} @withSubscription{key} {directive} {{\n", kind.name);
        if kind.parent.is_none() {
            out += "  id: ID!\n";
        }
        for (name, scalar) in kind.scalars {
            let ty = match scalar {
                Scalar::Text => "String @search(by: [hash])",
                Scalar::Int => "Int @search",
                Scalar::Bool => "Boolean @search",
                Scalar::Code => "String @id",
            };
            out += &format!("  {name}: {ty}\n");
        }
        if kind.name == SIMILAR {
            out += "  emb: [Float!] @embedding @search(by: [\"hnsw(metric: euclidean)\"])\n";
        }
        for (name, target, is_list) in kind.edges {
            let ty = if *is_list { format!("[{target}]") } else { (*target).to_owned() };
            let stored = if *name == BACK {
                " @dgraph(pred: \"~item.owner\")"
            } else if *name == "owner" {
                " @dgraph(pred: \"item.owner\")"
            } else {
                ""
            };
            out += &format!("  {name}: {ty}{stored}\n");
        }
        out += "}\n";
    }
    out + CUSTOM
}

/// Queries of the deployer.
const CUSTOM: &str = r#"
    type Query {
        people(code: String): [User] @withSubscription @custom(dql: """query q($code: string) {
            people(func: type(User)) @filter(not eq(User.code, $code)) { ...person }
        } fragment person {
            id: uid title: User.title age: count(User.groups) boss: User.boss { id: uid title: User.title }
            groups: User.groups (first: 2) { id: uid title: Group.title members: Group.members { id: uid } }
        }""")
        person(id: String!): User @withSubscription @custom(dql: """query q($id: string) {
            person(func: uid($id)) @filter(type(User)) { id: uid title: User.title boss: User.boss { id: uid } }
        }""")
        owners: [User] @custom(dql: """{
            var(func: has(item.owner)) @filter(type(Item)) { who as item.owner @filter(type(User)) }
            owners(func: uid(who), orderasc: User.code, first: 3) { id: uid code: User.code age: count(~item.owner) }
        }""")
    }
"#;

/// The predicates of all values.
pub fn predicates() -> Vec<String> {
    let of = |kind: Kind| kind.scalars.iter().map(move |(name, _)| kind.predicate(name));
    KINDS.into_iter().flat_map(of).collect()
}

/// A node of an answer as text.
pub fn line(node: &Value) -> String {
    let types = node["dgraph.type"].as_array().unwrap();
    let mut types: Vec<&str> = types.iter().map(|name| name.as_str().unwrap()).collect();
    types.sort_unstable();
    let values = predicates().into_iter().filter_map(|name| {
        let value = node.get(&name)?;
        Some(format!("{name}={value}"))
    });
    format!("{} {}", types.join(","), values.collect::<Vec<_>>().join(" "))
}

fn random_values(
    rng: &mut fastrand::Rng,
    node: usize,
    kind: Kind,
) -> BTreeMap<&'static str, Value> {
    let each = kind.all_scalars().into_iter();
    each.filter_map(|(name, scalar)| Some((name, value_of(rng, node, scalar)?))).collect()
}

impl World {
    pub fn random(rng: &mut fastrand::Rng) -> World {
        // Larger ones take more than one batch to fill a page.
        let (count, sparse) = if rng.u8(..6) == 0 { (200, 60) } else { (rng.usize(4..16), 3) };
        let concrete: Vec<Kind> = KINDS.into_iter().filter(|kind| !kind.is_interface).collect();
        let kinds: Vec<Kind> = (0..count).map(|_| concrete[rng.usize(..concrete.len())]).collect();
        let nodes = kinds.iter().enumerate().map(|(position, kind)| Node {
            kind: *kind,
            values: random_values(rng, position, *kind),
            edges: kind
                .all_edges()
                .into_iter()
                .map(|(name, target, is_list)| {
                    let mut ends: Vec<usize> = (0..count)
                        .filter(|end| is_of(kinds[*end], target) && rng.u8(..sparse) == 0)
                        .collect();
                    if !is_list {
                        ends.truncate(1);
                    }
                    (name, ends)
                })
                .collect(),
            vector: (kind.name == SIMILAR).then(|| random_vector(rng)),
            is_gone: false,
        });
        let mut world = World { nodes: nodes.collect() };
        world.turn_back();
        world
    }

    /// Reads the edges of owners backwards.
    pub fn turn_back(&mut self) {
        let mut back = vec![Vec::new(); self.nodes.len()];
        for (position, node) in self.nodes.iter().enumerate().filter(|(_, node)| !node.is_gone) {
            for owner in node.edges.get("owner").into_iter().flatten() {
                back[*owner].push(position);
            }
        }
        for (node, items) in self.nodes.iter_mut().zip(back) {
            if node.kind.name == "User" {
                node.edges.insert(BACK, items);
            }
        }
    }

    pub fn of(&self, kind: Kind) -> Vec<usize> {
        let is_there =
            |node: &usize| !self.nodes[*node].is_gone && kind.holds(self.nodes[*node].kind);
        (0..self.nodes.len()).filter(is_there).collect()
    }

    /// Changes something: a value, an edge, a node more or less.
    pub fn change(&mut self, rng: &mut fastrand::Rng) {
        let position = rng.usize(..self.nodes.len());
        match rng.u8(..8) {
            0 => *self = self.only(|node| node != position),
            1 => {
                let concrete: Vec<Kind> =
                    KINDS.into_iter().filter(|kind| !kind.is_interface).collect();
                let (position, kind) = (self.nodes.len(), concrete[rng.usize(..concrete.len())]);
                let values = random_values(rng, position, kind);
                let (edges, vector) = (BTreeMap::new(), None);
                self.nodes.push(Node { kind, values, edges, vector, is_gone: false });
            }
            2..=4 => {
                let scalars = self.nodes[position].kind.all_scalars();
                let (name, scalar) = scalars[rng.usize(..scalars.len())];
                match value_of(rng, position, scalar) {
                    Some(value) => self.nodes[position].values.insert(name, value),
                    None => self.nodes[position].values.remove(name),
                };
            }
            _ => self.change_edge(rng, position),
        }
        self.turn_back();
    }

    fn change_edge(&mut self, rng: &mut fastrand::Rng, position: usize) {
        let edges = self.nodes[position].kind.all_edges();
        let (name, target, is_list) = edges[rng.usize(..edges.len())];
        let end = rng.usize(..self.nodes.len());
        let is_there = |node: &Node| !node.is_gone && is_of(node.kind, target);
        let fits = is_there(&self.nodes[end]) && !self.nodes[position].is_gone;
        let ends = self.nodes[position].edges.entry(name).or_default();
        if !is_list {
            ends.clear();
        }
        match ends.iter().position(|existing| *existing == end) {
            Some(existing) => drop(ends.remove(existing)),
            None if fits => ends.push(end),
            None => {}
        }
    }

    /// Without the nodes that `retain` refuses, and the edges to them.
    pub fn only(&self, retain: impl Fn(usize) -> bool) -> World {
        let mut world = self.clone();
        for (position, node) in world.nodes.iter_mut().enumerate() {
            node.is_gone |= !retain(position);
            node.edges.values_mut().for_each(|ends| ends.retain(|end| retain(*end)));
        }
        world
    }

    pub fn nquads(&self) -> String {
        let mut out = String::new();
        for (position, node) in self.nodes.iter().enumerate().filter(|(_, node)| !node.is_gone) {
            let subject = uid(position);
            for kind in node.kind.lineage() {
                out += &format!("<{subject}> <dgraph.type> \"{}\" .\n", kind.name);
            }
            for (name, value) in &node.values {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                out += &format!("<{subject}> <{}> \"{text}\" .\n", node.kind.predicate(name));
            }
            if let Some([x, y]) = node.vector {
                out += &format!("<{subject}> <{SIMILAR}.emb> \"[{x}, {y}]\" .\n");
            }
            for (name, ends) in node.edges.iter().filter(|(name, _)| **name != BACK) {
                for end in ends {
                    out +=
                        &format!("<{subject}> <{}> <{}> .\n", node.kind.predicate(name), uid(*end));
                }
            }
        }
        out
    }

    /// As [`super::dump`].
    pub fn dump(&self) -> Vec<String> {
        let nodes = self.nodes.iter().filter(|node| !node.is_gone).map(|node| {
            let mut shown = serde_json::Map::new();
            let types = node.kind.lineage().map(|kind| json!(kind.name));
            shown.insert("dgraph.type".to_owned(), types.collect());
            for (name, value) in &node.values {
                shown.insert(node.kind.predicate(name), value.clone());
            }
            line(&Value::Object(shown))
        });
        let mut lines: Vec<String> = nodes.collect();
        lines.sort();
        lines
    }
}

/// Whether a node of the concrete type may stand at the end of an edge.
pub fn is_of(concrete: Kind, target: &str) -> bool {
    match Kind::of(target) {
        Some(kind) => kind.holds(concrete),
        None => THINGS.contains(&concrete.name),
    }
}
