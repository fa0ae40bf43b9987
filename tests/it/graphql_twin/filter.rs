//! What a filter means, node by node.

use super::graph::{Graph, compare};
use super::lit::Lit;
use super::schema::{Field, Of, Scalar, Schema, lower_first};
use super::words::stored;
use serde_json::Value as Json;
use std::cmp::Ordering;

/// What a filter asks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sense {
    /// Nothing: everything passes.
    Open,
    /// Something.
    Asks,
    /// What can't be asked: it negates nothing; or, of a mutation, one of its alternatives asks for
    /// nothing.
    Wrong,
}

/// What the filter of a kind asks. `is_change` of a mutation.
pub fn sense(schema: &Schema, kind: usize, filter: &Lit, is_change: bool) -> Sense {
    let mut result = Sense::Open;
    let mut note = |sense: Sense| {
        if sense == Sense::Wrong || result == Sense::Open {
            result = sense;
        }
    };
    let inner = |filter: &Lit| sense(schema, kind, filter, is_change);
    let mut is_undone = false;
    for (key, value) in filter.entries() {
        match key.as_str() {
            _ if *value == Lit::Null => {}
            "and" => value.items().iter().for_each(|item| note(inner(item))),
            "or" => {
                let each: Vec<Sense> = value.items().iter().map(inner).collect();
                is_undone |= each.contains(&Sense::Open);
                each.into_iter().for_each(&mut note);
            }
            "not" => note(match inner(value) {
                Sense::Open => Sense::Wrong,
                sense => sense,
            }),
            "has" if value.items().is_empty() => {}
            "has" => note(Sense::Asks),
            name => {
                let field = schema.field(kind, name).expect("filters name fields");
                if asks(field, value) {
                    note(Sense::Asks);
                }
            }
        }
    }
    match result {
        Sense::Wrong => Sense::Wrong,
        _ if is_undone && is_change => Sense::Wrong,
        _ if is_undone => Sense::Open,
        result => result,
    }
}

/// Whether something is asked of a field: a function of null asks nothing, but for `eq`.
fn asks(field: &Field, requested: &Lit) -> bool {
    let is_plain = matches!(field.scalar(), Some(Scalar::Id | Scalar::Bool));
    let function = requested.entries().first();
    is_plain || function.is_some_and(|(word, value)| word == "eq" || *value != Lit::Null)
}

/// What a filter asks that may be one of a union.
pub fn sense_of(schema: &Schema, of: Of, filter: &Lit) -> Sense {
    let union = match of {
        Of::Scalar(_) => return Sense::Open,
        Of::Kind(kind) => return sense(schema, kind, filter, false),
        Of::Union(union) => union,
    };
    let types = filter.given("memberTypes");
    let mut result = if types.is_some() { Sense::Asks } else { Sense::Open };
    for kind in &schema.unions[union].1 {
        let name = &schema.kinds[*kind].name;
        if types.is_some_and(|types| !types.items().contains(&Lit::Name(name.clone()))) {
            continue;
        }
        let own = filter.get(&format!("{}Filter", lower_first(name)));
        match own.map_or(Sense::Open, |own| sense(schema, *kind, own, false)) {
            Sense::Wrong => return Sense::Wrong,
            Sense::Asks => result = Sense::Asks,
            Sense::Open => {}
        }
    }
    result
}

/// Whether a node passes the filter of a root: nodes that it names are all that there are.
pub fn passes_at_root(
    graph: &Graph,
    schema: &Schema,
    kind: usize,
    node: usize,
    filter: &Lit,
) -> bool {
    let is_name = |(key, _): &&(String, Lit)| {
        schema.field(kind, key).is_some_and(|field| field.scalar() == Some(Scalar::Id))
    };
    let (named, rest): (Vec<_>, Vec<_>) = filter.entries().iter().partition(is_name);
    let part = |entries: Vec<&(String, Lit)>| Lit::Object(entries.into_iter().cloned().collect());
    let holds = |entries| passes(graph, schema, kind, node, &part(entries));
    holds(named) && holds(rest)
}

/// Whether a node passes the filter of a kind: all keys hold, or the part `or` does.
pub fn passes(graph: &Graph, schema: &Schema, kind: usize, node: usize, filter: &Lit) -> bool {
    let inner = |filter: &Lit| passes(graph, schema, kind, node, filter);
    let (mut all, mut either) = (None, None);
    for (key, value) in filter.entries() {
        let term = match key.as_str() {
            _ if *value == Lit::Null => None,
            // Items that ask nothing, and an empty list, are as none, also beside an `or`.
            "and" => {
                let asks = |item: &&Lit| sense(schema, kind, item, false) != Sense::Open;
                let items: Vec<&Lit> = value.items().iter().filter(asks).collect();
                (!items.is_empty()).then(|| items.into_iter().all(inner))
            }
            "or" => {
                let items = value.items();
                either = (!items.is_empty()).then(|| items.iter().any(inner));
                continue;
            }
            "not" => Some(!inner(value)),
            "has" => Some(value.items().iter().all(|name| {
                let field = schema.field(kind, &name.to_string());
                field.is_some_and(|field| graph.has(node, field))
            })),
            name => {
                let field = schema.field(kind, name).expect("filters name fields");
                field_passes(graph, node, field, value)
            }
        };
        if let Some(term) = term {
            all = Some(all.unwrap_or(true) && term);
        }
    }
    match (all, either) {
        (None, None) => true,
        (Some(all), Some(either)) => all || either,
        (one, other) => one.or(other) == Some(true),
    }
}

/// Whether a node passes the filter of a field that may lead to a union.
pub fn passes_of(graph: &Graph, schema: &Schema, of: Of, node: usize, filter: &Lit) -> bool {
    let union = match of {
        Of::Scalar(_) => return true,
        Of::Kind(kind) => return passes(graph, schema, kind, node, filter),
        Of::Union(union) => union,
    };
    if graph.nodes[node].is_gone {
        return sense_of(schema, of, filter) == Sense::Open;
    }
    let kind = graph.nodes[node].kind;
    if let Some(types) = filter.given("memberTypes") {
        let name = Lit::Name(schema.kinds[kind].name.clone());
        if !types.items().contains(&name) {
            return false;
        }
    }
    let is_member = schema.unions[union].1.contains(&kind);
    let own = filter.get(&format!("{}Filter", lower_first(&schema.kinds[kind].name)));
    is_member && own.is_none_or(|filter| passes(graph, schema, kind, node, filter))
}

/// Whether a node passes what is asked of one field; `None` when nothing is.
fn field_passes(graph: &Graph, node: usize, field: &Field, requested: &Lit) -> Option<bool> {
    let scalar = field.scalar()?;
    if scalar == Scalar::Id {
        let uid = graph.nodes[node].uid.filter(|_| !graph.nodes[node].is_gone);
        return Some(requested.items().iter().any(|id| uid.is_some() && parse_uid(id) == uid));
    }
    let values = graph.values(node, field);
    if scalar == Scalar::Bool {
        return Some(values.contains(&requested.json()));
    }
    let (word, value) = requested.entries().first()?;
    if *value == Lit::Null {
        return (word == "eq").then_some(values.is_empty());
    }
    if let "allofterms" | "alloftext" = word.as_str() {
        // The words of a list may stand in several of its texts.
        let have: Vec<String> = values.iter().filter_map(Json::as_str).flat_map(terms).collect();
        let requested = terms(value.json().as_str().unwrap_or_default());
        return Some(!requested.is_empty() && requested.iter().all(|term| have.contains(term)));
    }
    Some(values.iter().any(|have| holds(scalar, word, value, have)))
}

/// The node that an ID names.
pub fn parse_uid(id: &Lit) -> Option<u64> {
    let Lit::Plain(id) = id else { return None };
    if let Some(number) = id.as_u64() {
        return Some(number);
    }
    let text = id.as_str()?;
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Whether a function holds for one value.
fn holds(scalar: Scalar, word: &str, requested: &Lit, have: &Json) -> bool {
    let against = |requested: &Lit| compare(have, &stored(scalar, requested));
    let text = || requested.json().as_str().unwrap_or_default().to_owned();
    match word {
        "eq" => against(requested) == Ordering::Equal,
        "in" => requested.items().iter().any(|requested| against(requested) == Ordering::Equal),
        "le" => against(requested) != Ordering::Greater,
        "lt" => against(requested) == Ordering::Less,
        "ge" => against(requested) != Ordering::Less,
        "gt" => against(requested) == Ordering::Greater,
        "between" => {
            let bound = |name| requested.get(name).map_or(Ordering::Equal, against);
            bound("min") != Ordering::Less && bound("max") != Ordering::Greater
        }
        "anyofterms" | "anyoftext" => {
            let (requested, have) = (terms(&text()), terms(have.as_str().unwrap_or_default()));
            requested.iter().any(|term| have.contains(term))
        }
        "regexp" => {
            let (inner, flags) = text()[1..]
                .rsplit_once('/')
                .map_or_else(Default::default, |(one, other)| (one.to_owned(), other.to_owned()));
            let (inner, have) = match flags.as_str() {
                "i" => (inner.to_lowercase(), have.to_string().to_lowercase()),
                _ => (inner, have.to_string()),
            };
            have.contains(&inner)
        }
        "near" => {
            let coordinate = requested.get("coordinate").cloned().unwrap_or(Lit::Null);
            stored(Scalar::Point, &coordinate) == *have
        }
        other => panic!("the model has no function {other}"),
    }
}

/// The words of a text: small letters, without what stands between them.
fn terms(text: &str) -> Vec<String> {
    let plain = text.to_lowercase().replace('ï', "i");
    let words = plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}
