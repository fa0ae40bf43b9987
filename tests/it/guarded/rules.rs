//! Random rules: their text for the schema, and what they say of a node.

use super::world::{KINDS, Kind, Scalar, World, random_value};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

pub type Claims = Map<String, Value>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    Query,
    Add,
    Update,
    Delete,
    Password,
}

impl Op {
    pub const ALL: [Op; 5] = [Op::Query, Op::Add, Op::Update, Op::Delete, Op::Password];
}

/// The rules of all types, interfaces by themselves.
#[derive(Debug)]
pub struct Rules(BTreeMap<(&'static str, Op), Rule>);

#[derive(Debug)]
enum Rule {
    Role(&'static str),
    Query(Sel),
    And(Vec<Rule>),
    Or(Vec<Rule>),
    Not(Box<Rule>),
}

/// A selection in the query of a rule.
#[derive(Debug)]
struct Sel {
    test: Option<Test>,
    offset: usize,
    values: Vec<&'static str>,
    edges: Vec<(&'static str, Sel)>,
}

/// A filter of one field.
#[derive(Debug)]
struct Test {
    field: &'static str,
    scalar: Scalar,
    expected: Requested,
    negated: bool,
}

#[derive(Debug)]
enum Requested {
    ParameterValue(Value),
    Claim(&'static str),
}

impl std::fmt::Debug for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(type_of(*self))
    }
}

fn type_of(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Text | Scalar::Code => "String",
        Scalar::Int => "Int",
        Scalar::Bool => "Boolean",
    }
}

fn claim_of(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Text => "USER",
        Scalar::Int => "LEVEL",
        Scalar::Bool => "FLAG",
        Scalar::Code => "CODE",
    }
}

pub fn random_claims(rng: &mut fastrand::Rng) -> Claims {
    let mut claims = Claims::new();
    let mut put = |rng: &mut fastrand::Rng, name: &str, value: Value| {
        if rng.u8(..5) != 0 {
            claims.insert(name.to_owned(), value);
        }
    };
    for scalar in [Scalar::Text, Scalar::Int, Scalar::Bool, Scalar::Code] {
        let value = random_value(rng, scalar);
        put(rng, claim_of(scalar), value);
    }
    let role = if rng.bool() { json!("ADMIN") } else { json!(["USER", "OTHER"]) };
    put(rng, "ROLE", role);
    claims
}

impl Rules {
    pub fn random(rng: &mut fastrand::Rng) -> Rules {
        let mut rules = BTreeMap::new();
        for kind in KINDS {
            for op in Op::ALL {
                let has_password = kind.name == "User";
                if (op != Op::Password || has_password) && rng.u8(..3) != 0 {
                    rules.insert((kind.name, op), rule(rng, kind, 2));
                }
            }
        }
        Rules(rules)
    }

    /// `@auth(...)` of a type; what is said of passwords only where there are some.
    pub fn directive(&self, kind: &str, has_passwords: bool) -> String {
        let is_expected = |op: Op| op != Op::Password || has_passwords;
        let of = self.0.iter().filter(|((name, op), _)| *name == kind && is_expected(*op));
        let parts = of.map(|((_, op), rule)| {
            let name = format!("{op:?}").to_lowercase();
            format!("{name}: {}", rule.text(kind))
        });
        let parts: Vec<String> = parts.collect();
        if parts.is_empty() { String::new() } else { format!("@auth({})", parts.join(" ")) }
    }

    /// The rules of an operation, for people.
    pub fn reported(&self, op: Op) -> String {
        let of = self.0.iter().filter(|((_, existing), _)| *existing == op);
        of.map(|((kind, _), rule)| format!("{kind}: {}\n", rule.text(kind))).collect()
    }

    /// Whether a type has a rule of its own or of its interface.
    pub fn has(&self, op: Op, kind: Kind) -> bool {
        kind.lineage().any(|kind| self.0.contains_key(&(kind.name, op)))
    }

    pub fn permit(&self, world: &World, op: Op, node: usize, claims: &Claims) -> bool {
        let of = world.nodes[node].kind.lineage().filter_map(|kind| self.0.get(&(kind.name, op)));
        of.into_iter().all(|rule| rule.holds(world, node, claims, false))
    }
}

fn rule(rng: &mut fastrand::Rng, kind: Kind, depth: usize) -> Rule {
    let below = |rng: &mut fastrand::Rng| rule(rng, kind, depth - 1);
    match rng.u8(..if depth == 0 { 4 } else { 7 }) {
        0 => Rule::Role(if rng.bool() { "ADMIN" } else { "USER" }),
        1..=3 => Rule::Query(Sel { offset: 0, ..selection(rng, kind, 2) }),
        4 => Rule::And(vec![below(rng), below(rng)]),
        5 => Rule::Or(vec![below(rng), below(rng)]),
        _ => Rule::Not(Box::new(below(rng))),
    }
}

fn selection(rng: &mut fastrand::Rng, kind: Kind, depth: usize) -> Sel {
    let (scalars, edges) = (kind.all_scalars(), kind.all_edges());
    let test = (rng.u8(..3) != 0).then(|| {
        let (field, scalar) = scalars[rng.usize(..scalars.len())];
        let expected = match rng.bool() {
            true => Requested::ParameterValue(random_value(rng, scalar)),
            false => Requested::Claim(claim_of(scalar)),
        };
        Test { field, scalar, expected, negated: rng.u8(..5) == 0 }
    });
    let edges = edges.into_iter().filter_map(|(name, target, is_list)| {
        let target = Kind::of(target).filter(|_| depth > 0 && rng.u8(..4) == 0)?;
        let below = selection(rng, target, depth - 1);
        let offset = if is_list && rng.u8(..4) == 0 { 1 } else { 0 };
        Some((name, Sel { offset, ..below }))
    });
    let edges = edges.collect();
    let values = scalars.into_iter().map(|(name, _)| name).filter(|_| rng.u8(..4) == 0).collect();
    Sel { test, offset: 0, values, edges }
}

impl Rule {
    fn text(&self, kind: &str) -> String {
        let list = |rules: &[Rule]| {
            rules.iter().map(|rule| rule.text(kind)).collect::<Vec<_>>().join(", ")
        };
        match self {
            Rule::Role(role) => format!(r#"{{ rule: "{{$ROLE: {{eq: \"{role}\"}}}}" }}"#),
            Rule::And(rules) => format!("{{ and: [{}] }}", list(rules)),
            Rule::Or(rules) => format!("{{ or: [{}] }}", list(rules)),
            Rule::Not(rule) => format!("{{ not: {} }}", rule.text(kind)),
            Rule::Query(selection) => {
                let mut claims = Vec::new();
                selection.note_claims(&mut claims);
                claims.sort_unstable();
                claims.dedup();
                let declared = match claims.is_empty() {
                    true => String::new(),
                    false => format!("({})", claims.join(", ")),
                };
                format!(
                    "{{ rule: \"\"\"query{declared} {{ query{kind}{} }}\"\"\" }}",
                    selection.text()
                )
            }
        }
    }

    /// Negations reach down to single rules; what lacks a claim holds in no case.
    fn holds(&self, world: &World, node: usize, claims: &Claims, negated: bool) -> bool {
        let each = |rule: &Rule| rule.holds(world, node, claims, negated);
        match self {
            Rule::Role(role) => {
                let has = match claims.get("ROLE") {
                    Some(Value::Array(roles)) => roles.contains(&json!(role)),
                    Some(one) => one == role,
                    None => false,
                };
                has != negated
            }
            Rule::And(rules) if negated => rules.iter().any(each),
            Rule::Or(rules) if negated => rules.iter().all(each),
            Rule::And(rules) => rules.iter().all(each),
            Rule::Or(rules) => rules.iter().any(each),
            Rule::Not(rule) => rule.holds(world, node, claims, !negated),
            Rule::Query(selection) => {
                let mut expected = Vec::new();
                selection.note_claims(&mut expected);
                let existing = expected.iter().all(|declared| {
                    let name = declared[1..].split(':').next().unwrap();
                    claims.contains_key(name)
                });
                existing && selection.holds(world, node, claims) != negated
            }
        }
    }
}

impl Sel {
    fn note_claims(&self, claims: &mut Vec<String>) {
        if let Some(Test { scalar, expected: Requested::Claim(name), .. }) = &self.test {
            claims.push(format!("${name}: {}!", type_of(*scalar)));
        }
        self.edges.iter().for_each(|(_, below)| below.note_claims(claims));
    }

    /// The arguments and the braces after a field's name.
    fn text(&self) -> String {
        let mut arguments = Vec::new();
        if let Some(test) = &self.test {
            let expected = match &test.expected {
                Requested::ParameterValue(value) => value.to_string(),
                Requested::Claim(name) => format!("${name}"),
            };
            let expected =
                if test.scalar == Scalar::Bool { expected } else { format!("{{eq: {expected}}}") };
            let plain = format!("{{{}: {expected}}}", test.field);
            let full = if test.negated { format!("{{not: {plain}}}") } else { plain };
            arguments.push(format!("filter: {full}"));
        }
        if self.offset > 0 {
            arguments.push(format!("offset: {}", self.offset));
        }
        let arguments = match arguments.is_empty() {
            true => String::new(),
            false => format!("({})", arguments.join(", ")),
        };
        let edges: Vec<String> =
            self.edges.iter().map(|(name, below)| format!("{name}{}", below.text())).collect();
        format!("{arguments} {{ __typename {} {} }}", self.values.join(" "), edges.join(" "))
    }

    fn holds(&self, world: &World, node: usize, claims: &Claims) -> bool {
        let result = &world.nodes[node];
        let passes = self.test.as_ref().is_none_or(|test| {
            let expected = match &test.expected {
                Requested::ParameterValue(value) => Some(value),
                Requested::Claim(name) => claims.get(*name),
            };
            (result.values.get(test.field) == expected && expected.is_some()) != test.negated
        });
        passes
            && self.values.iter().all(|name| result.values.contains_key(name))
            && self.edges.iter().all(|(name, below)| {
                let ends = result.edges.get(name).map_or(&[][..], Vec::as_slice);
                ends.iter().filter(|end| below.holds(world, **end, claims)).count() > below.offset
            })
    }
}
