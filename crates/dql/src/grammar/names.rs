//! The names of a schema, as a query writes them, in classes of predicates that allow the same.

use super::rules::{Expr, Grammar, optional, seq, text};
use crate::keywords::keywords;
use hexgraph_base::plan::{AGGREGATES, PredicateUse};
use hexgraph_base::schema::{NODE_TYPE, PredicateDef, Schema, is_reserved};
use hexgraph_base::types::ValueType;
use std::collections::{BTreeMap, BTreeSet};

/// A name of the schema that no query of the grammar has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Omitted {
    /// The name.
    pub name: String,
    /// Why it is left out.
    pub reason: &'static str,
}

/// The uses by which predicates are classed; in addition the aggregates are.
const USES: [PredicateUse; 12] = [
    PredicateUse::EqualAtRoot,
    PredicateUse::OrderedAtRoot,
    PredicateUse::CountAtRoot,
    PredicateUse::Terms,
    PredicateUse::FullText,
    PredicateUse::NGram,
    PredicateUse::Trigrams,
    PredicateUse::Pattern,
    PredicateUse::Geo,
    PredicateUse::Similar,
    PredicateUse::Reverse,
    PredicateUse::Sort,
];

/// What a value is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Literal {
    Text,
    Int,
    Float,
    Bool,
    Time,
    /// No literal: edges, geometries, vectors, binary values.
    None,
}

/// A predicate, with its name as a query writes it.
pub(super) struct Named<'s> {
    pub def: &'s PredicateDef,
    pub written: String,
}

/// Predicates that allow the same uses, and the rule that has their names.
pub(super) struct Class<'s> {
    /// One of them.
    pub def: &'s PredicateDef,
    /// The literal that their values are compared with.
    pub literal: Literal,
    names: Expr,
}

/// The names of a schema.
pub(super) struct SchemaNames<'s> {
    /// The predicates, ascending by name.
    pub predicates: Vec<Named<'s>>,
    /// The types.
    pub types: Vec<String>,
    /// What is left out.
    pub omitted: Vec<Omitted>,
}

impl<'s> SchemaNames<'s> {
    pub(super) fn new(schema: &'s Schema) -> SchemaNames<'s> {
        let reserved = keywords();
        let mut names =
            SchemaNames { predicates: Vec::new(), types: Vec::new(), omitted: Vec::new() };
        for def in schema.predicates.values() {
            if is_reserved(&def.name) && def.name != NODE_TYPE {
                continue;
            }
            let written = match def.value_type {
                ValueType::Password => Err("a password is not read"),
                _ => written(&def.name, &reserved),
            };
            match written {
                Ok(written) => names.predicates.push(Named { def, written }),
                Err(reason) => names.omit(&def.name, reason),
            }
        }
        for name in schema.types.keys().filter(|name| !is_reserved(name)) {
            match written(name, &reserved) {
                Ok(written) => names.types.push(written),
                Err(reason) => names.omit(name, reason),
            }
        }
        names
    }

    fn omit(&mut self, name: &str, reason: &'static str) {
        self.omitted.push(Omitted { name: name.to_owned(), reason });
    }

    /// The predicates in classes, each with a rule of its names.
    pub(super) fn classes(&self, grammar: &mut Grammar) -> Vec<Class<'s>> {
        let mut classes: BTreeMap<_, Vec<&Named<'s>>> = BTreeMap::new();
        for named in &self.predicates {
            let def = named.def;
            let aggregates = AGGREGATES.map(|row| PredicateUse::Aggregate(row.op));
            let uses = USES.into_iter().chain(aggregates);
            let uses: Vec<bool> = uses.map(|it| it.is_allowed(def)).collect();
            let key = (literal_of(def.value_type), def.value_type as u8, def.list, def.lang, uses);
            classes.entry(key).or_default().push(named);
        }
        let mut numbered = (1..).zip(classes);
        std::iter::from_fn(|| {
            let (number, ((literal, ..), members)) = numbered.next()?;
            let names = members.iter().map(|it| text(&it.written)).collect();
            let names = grammar.rule(format!("names_{number}"), Expr::Choice(names));
            Some(Class { def: members[0].def, literal, names })
        })
        .collect()
    }
}

impl Class<'_> {
    /// The names, with a language where they may have one.
    pub(super) fn names(&self, lang: &Expr) -> Expr {
        match self.def.lang {
            true => seq![self.names.clone(), optional(lang.clone())],
            false => self.names.clone(),
        }
    }

    /// The names alone.
    pub(super) fn bare_names(&self) -> Expr {
        self.names.clone()
    }
}

/// The literal that values of a type are compared with.
pub(super) fn literal_of(value_type: ValueType) -> Literal {
    match value_type {
        ValueType::String | ValueType::Default => Literal::Text,
        ValueType::Int => Literal::Int,
        ValueType::Float | ValueType::BigFloat => Literal::Float,
        ValueType::Bool => Literal::Bool,
        ValueType::DateTime => Literal::Time,
        _ => Literal::None,
    }
}

/// Returns a name as a query writes it: bare, or between `<` and `>` where it has other characters
/// or is a word of the language.
fn written(name: &str, reserved: &BTreeSet<String>) -> Result<String, &'static str> {
    let is_word = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let starts_well = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    if name == "uid" {
        return Err("`uid` in a query is the uid of a node");
    }
    if name.starts_with(['~', '-']) {
        return Err("a query reads its first character as an operator");
    }
    if starts_well && name.split('.').all(is_word) && !reserved.contains(&name.to_lowercase()) {
        return Ok(name.to_owned());
    }
    let is_refused = |letter: char| letter.is_control() || " <>\"{}|^`\\".contains(letter);
    match name.is_empty() || name.contains(is_refused) {
        true => Err("a query has no form for one of its characters"),
        false => Ok(format!("<{name}>")),
    }
}
