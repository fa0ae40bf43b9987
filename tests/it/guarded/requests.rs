//! Random requests.

use super::world::{
    BACK, KEYED, Kind, Node, SIMILAR, Scalar, THINGS, World, code, random_value, random_vector, uid,
};
use fastrand::Rng;
use std::collections::BTreeMap;

/// A query of one root field.
pub fn query(rng: &mut Rng, world: &World) -> String {
    match rng.u8(..16) {
        0 => format!("{{ {} }}", entities(rng, world)),
        1 | 2 => format!("{{ {} }}", similar(rng, world)),
        3 => format!("{{ {} }}", custom(rng, world)),
        4 => "{ owners { id code age } }".to_owned(),
        _ => format!("{{ {} }}", root(rng, world)),
    }
}

/// A subscription.
pub fn subscription(rng: &mut Rng, world: &World) -> String {
    let kind = Kind::random(rng);
    let name = kind.name;
    let text = match rng.u8(..12) {
        0 => custom(rng, world),
        // What reads little is told little, but for what the rules read.
        1..=3 => format!("query{name} {{ id }}"),
        4 => format!("aggregate{name} {{ count }}"),
        5 => format!("query{name}(filter: {{has: [{}]}}) {{ id }}", any_field(rng, kind)),
        _ => root(rng, world),
    };
    format!("subscription {{ {text} }}")
}

fn root(rng: &mut Rng, world: &World) -> String {
    let kind = Kind::random(rng);
    let (cascade, name) = (cascade(rng, kind), kind.name);
    match rng.u8(..6) {
        0 => format!("get{name}{}{cascade} {}", keys(rng, world, kind), selection(rng, kind, 2)),
        1 => {
            let arguments =
                filter(rng, kind).map_or(String::new(), |filter| format!("(filter: {filter})"));
            format!("aggregate{name}{arguments} {}", aggregates(kind))
        }
        _ => {
            let arguments = arguments(rng, world, kind);
            format!("query{name}{arguments}{cascade} {}", selection(rng, kind, 3))
        }
    }
}

/// The arguments that name one node.
fn keys(rng: &mut Rng, world: &World, kind: Kind) -> String {
    let node = rng.usize(..world.nodes.len());
    let by_id = format!("id: \"{}\"", uid(node));
    if kind.all_scalars().iter().all(|(_, scalar)| *scalar != Scalar::Code) {
        return format!("({by_id})");
    }
    match rng.u8(..4) {
        0 => format!("({by_id})"),
        1 => format!("({by_id}, code: {})", code(node)),
        _ => format!("(code: {})", code(rng.usize(..world.nodes.len()))),
    }
}

/// What another service asks by keys.
fn entities(rng: &mut Rng, world: &World) -> String {
    let keys: Vec<String> = (0..3)
        .map(|_| {
            let id = uid(rng.usize(..world.nodes.len()));
            format!("{{__typename: \"{KEYED}\", id: \"{id}\"}}")
        })
        .collect();
    let kind = Kind::of(KEYED).unwrap();
    let selection = selection(rng, kind, 2);
    format!("_entities(representations: [{}]) {{ ... on {KEYED} {selection} }}", keys.join(", "))
}

/// A query of the deployer.
fn custom(rng: &mut Rng, world: &World) -> String {
    let node = rng.usize(..world.nodes.len());
    match rng.bool() {
        true => format!(
            "people(code: {}) {{ id title age boss {{ id title }} groups {{ id title members {{ id }} }} }}",
            code(node)
        ),
        false => format!("person(id: \"{}\") {{ id title boss {{ id }} }}", uid(node)),
    }
}

/// What is near to a vector, or to a node's.
fn similar(rng: &mut Rng, world: &World) -> String {
    let (kind, count) = (Kind::of(SIMILAR).unwrap(), rng.u8(..5));
    // What `filter` leaves depends on which are the nearest.
    let filter = filter(rng, kind).map_or(String::new(), |filter| format!(", filter: {filter}"));
    let selection = selection(rng, kind, 2);
    if rng.bool() {
        let id = uid(rng.usize(..world.nodes.len()));
        return format!(
            "querySimilar{SIMILAR}ById(id: \"{id}\", by: emb, topK: {count}{filter}) {selection}"
        );
    }
    let [x, y] = random_vector(rng);
    format!(
        "querySimilar{SIMILAR}ByEmbedding(by: emb, topK: {count}, vector: [{x}, {y}]{filter}) {selection}"
    )
}

fn cascade(rng: &mut Rng, kind: Kind) -> String {
    match rng.u8(..10) {
        0 | 1 => " @cascade".to_owned(),
        2 => {
            let fields = any_field(rng, kind);
            format!(" @cascade(fields: [\"{fields}\"])")
        }
        _ => String::new(),
    }
}

/// The name of a field other than the uid.
fn any_field(rng: &mut Rng, kind: Kind) -> &'static str {
    let scalars = kind.all_scalars().into_iter().map(|(name, _)| name);
    let names: Vec<&str> = scalars.chain(kind.all_edges().into_iter().map(|edge| edge.0)).collect();
    names[rng.usize(..names.len())]
}

fn aggregates(kind: Kind) -> String {
    let fields = kind.all_scalars().into_iter().filter(|(_, scalar)| *scalar != Scalar::Bool);
    let fields: Vec<String> = fields.map(|(name, _)| format!("{name}Min {name}Max")).collect();
    format!("{{ count {} }}", fields.join(" "))
}

fn arguments(rng: &mut Rng, world: &World, kind: Kind) -> String {
    let mut parts = Vec::new();
    parts.extend(filter(rng, kind).map(|filter| format!("filter: {filter}")));
    if rng.u8(..3) == 0 {
        let sortable: Vec<&str> = kind
            .all_scalars()
            .into_iter()
            .filter(|(_, scalar)| *scalar != Scalar::Bool)
            .map(|(name, _)| name)
            .collect();
        let direction = if rng.bool() { "asc" } else { "desc" };
        parts.push(format!("order: {{{direction}: {}}}", sortable[rng.usize(..sortable.len())]));
    } else if rng.u8(..4) == 0 {
        parts.push(format!("after: \"{}\"", uid(rng.usize(..world.nodes.len()))));
    }
    if rng.bool() {
        parts.push(format!("first: {}", rng.u8(1..4)));
    }
    if rng.u8(..4) == 0 {
        parts.push(format!("offset: {}", rng.u8(..3)));
    }
    if parts.is_empty() { String::new() } else { format!("({})", parts.join(", ")) }
}

fn filter(rng: &mut Rng, kind: Kind) -> Option<String> {
    let scalars = kind.all_scalars();
    let (field, scalar) = scalars[rng.usize(..scalars.len())];
    let value = random_value(rng, scalar);
    let plain = match scalar {
        Scalar::Bool => format!("{{{field}: {value}}}"),
        Scalar::Int if rng.bool() => format!("{{{field}: {{ge: {value}}}}}"),
        _ => format!("{{{field}: {{eq: {value}}}}}"),
    };
    match rng.u8(..10) {
        0..=2 => None,
        3 => Some(format!("{{not: {plain}}}")),
        4 => Some(format!("{{has: [{}], or: {plain}}}", any_field(rng, kind))),
        5 => Some(format!("{{has: [{}]}}", any_field(rng, kind))),
        6 => Some(format!("{{not: {{has: [{}]}}}}", any_field(rng, kind))),
        _ => Some(plain),
    }
}

fn selection(rng: &mut Rng, kind: Kind, depth: usize) -> String {
    let mut parts = vec!["__typename id".to_owned()];
    parts.push(fields(rng, &kind.all_scalars(), &kind.all_edges(), depth));
    if kind.is_interface {
        for name in ["Doc", "Pic"] {
            let own = Kind::of(name).unwrap();
            parts.push(format!(
                "... on {name} {{ id {} }}",
                fields(rng, own.scalars, own.edges, depth)
            ));
        }
    }
    format!("{{ {} }}", parts.join(" "))
}

/// What is asked of a user, but for what `written` leads to.
pub fn plain_selection(rng: &mut Rng) -> String {
    let user = Kind::of("User").unwrap();
    let edges: Vec<_> = user.all_edges().into_iter().filter(|(name, ..)| *name != BACK).collect();
    format!("{{ __typename id {} }}", fields(rng, &user.all_scalars(), &edges, 2))
}

fn fields(
    rng: &mut Rng,
    scalars: &[(&'static str, Scalar)],
    edges: &[(&'static str, &'static str, bool)],
    depth: usize,
) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(scalars.iter().filter(|_| rng.bool()).map(|(name, _)| (*name).to_owned()));
    for (name, target, is_list) in edges.iter().filter(|_| depth > 0) {
        match Kind::of(target) {
            Some(target) if rng.u8(..3) == 0 => {
                let below = selection(rng, target, depth - 1);
                let arguments = match is_list {
                    true => super::requests::arguments(
                        rng,
                        &World { nodes: vec![some_node(target); 16] },
                        target,
                    ),
                    false => filter(rng, target)
                        .map_or(String::new(), |filter| format!("(filter: {filter})")),
                };
                parts.push(format!("{name}{arguments}{} {below}", cascade(rng, target)));
            }
            Some(target) if *is_list && rng.u8(..4) == 0 => {
                let arguments = filter(rng, target)
                    .map_or(String::new(), |filter| format!("(filter: {filter})"));
                parts.push(format!("{name}Aggregate{arguments} {}", aggregates(target)));
            }
            None if rng.u8(..2) == 0 => {
                let members = THINGS.map(|member| {
                    let kind = Kind::of(member).unwrap();
                    format!("... on {member} {{ id {} }}", fields(rng, kind.scalars, &[], 0))
                });
                let filter = things_filter(rng);
                parts.push(format!("{name}{filter} {{ __typename {} }}", members.join(" ")));
            }
            _ => {}
        }
    }
    parts.join(" ")
}

/// A filter of members of the union, as an argument.
fn things_filter(rng: &mut Rng) -> String {
    let member = THINGS[rng.usize(..THINGS.len())];
    match (rng.u8(..3), filter(rng, Kind::of(member).unwrap())) {
        (0, Some(filter)) => format!("(filter: {{{}Filter: {filter}}})", member.to_lowercase()),
        (1, _) => format!("(filter: {{memberTypes: [{member}]}})"),
        _ => String::new(),
    }
}

fn some_node(kind: Kind) -> Node {
    Node { kind, values: BTreeMap::new(), edges: BTreeMap::new(), vector: None, is_gone: false }
}

/// A filter for a mutation, and the nodes that it finds; only those before `born` are named by
/// their uids.
pub fn chosen(rng: &mut Rng, world: &World, born: usize, kind: Kind) -> (String, Vec<usize>) {
    let all = world.of(kind);
    match rng.u8(..3) {
        0 => ("{}".to_owned(), all),
        1 => {
            let value = random_value(rng, Scalar::Text);
            let has = |node: &usize| world.nodes[*node].values.get("title") == Some(&value);
            (format!("{{title: {{eq: {value}}}}}"), all.iter().copied().filter(has).collect())
        }
        _ => {
            let some: Vec<usize> =
                all.into_iter().filter(|node| *node < born && rng.bool()).collect();
            let ids: Vec<String> = some.iter().map(|node| format!("\"{}\"", uid(*node))).collect();
            (format!("{{id: [{}]}}", ids.join(", ")), some)
        }
    }
}

/// An object for an add, with links to the nodes before `born`. The nodes that it makes are put
/// into the world; their positions are returned, its own first.
pub fn input(rng: &mut Rng, world: &mut World, born: usize, kind: Kind) -> (String, Vec<usize>) {
    let position = world.nodes.len();
    let (mut parts, mut new) = (Vec::new(), vec![position]);
    let mut node = some_node(kind);
    for (name, scalar) in kind.all_scalars() {
        if rng.u8(..4) != 0 {
            let value = match scalar {
                Scalar::Code => code(position),
                scalar => random_value(rng, scalar),
            };
            parts.push(format!("{name}: {value}"));
            node.values.insert(name, value);
        }
    }
    world.nodes.push(node);
    for (name, target, is_list) in kind.all_edges() {
        let Some(target) = Kind::of(target).filter(|target| !target.is_interface) else { continue };
        let existing = world.of(target);
        let existing: Vec<usize> = existing.into_iter().filter(|node| *node < born).collect();
        let (text, end) = match rng.u8(..4) {
            0 if !existing.is_empty() => {
                let end = existing[rng.usize(..existing.len())];
                (format!("{{id: \"{}\"}}", uid(end)), end)
            }
            1 => {
                let end = world.nodes.len();
                let mut child = some_node(target);
                let value = random_value(rng, Scalar::Text);
                let text = format!("{{title: {value}}}");
                child.values.insert("title", value);
                world.nodes.push(child);
                new.push(end);
                (text, end)
            }
            _ => continue,
        };
        parts.push(if is_list { format!("{name}: [{text}]") } else { format!("{name}: {text}") });
        world.nodes[position].edges.insert(name, vec![end]);
    }
    world.turn_back();
    (format!("{{{}}}", parts.join(", ")), new)
}
