//! `describe`: types with their fields, predicates and edges, in as many tokens as the caller has.
//!
//! The names of types come first, then the fields of the types with the most nodes, then predicates
//! that belong to no type. What does not fit is counted.

use super::answer::{Cuts, Outcome, ToolAnswer, shortened};
use super::call::{ParamKind, SECONDS, ToolDef, param};
use super::model::{Model, is_edge};
use hexgraph_base::types::{Error, did_you_mean};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The sizes of a description in tokens, and the bytes of JSON that are one.
const SIZES: &[i64] = &[500, 2_000, 4_000, 8_000];
const BYTES_PER_TOKEN: usize = 4;

/// The part of a description that names of types may need, in percent.
const NAMES_PART: usize = 40;

/// The characters of a definition that are shown.
const DEFINITION_LEN: usize = 160;

/// The names that a cut lists.
const NAMES_SHOWN: usize = 5;

pub(super) const DESCRIBE: ToolDef = ToolDef {
    name: "describe",
    title: "Describe the database",
    what: "Describes the database: types with their nodes and fields, predicates with their definitions and counts, where edges go to. \
        Call it first. `name` describes one type or predicate.",
    params: &[
        param(
            "size",
            ParamKind::Size(SIZES, 2_000),
            "the size of the description in tokens, about",
        ),
        param("name", ParamKind::Text, "a type or a predicate, to be described alone"),
        SECONDS,
    ],
    writes: false,
    run: |call| {
        let model = call.model()?;
        let budget = call.arguments.number("size") * BYTES_PER_TOKEN;
        let mut cuts = Cuts::default();
        let data = match call.arguments.text("name") {
            Some(name) => describe_one(&model, name, budget, &mut cuts)?,
            None => describe_all(&model, budget, &mut cuts),
        };
        Ok(ToolAnswer { data, cuts, commit: model.commit, ..ToolAnswer::default() })
    },
};

/// The bytes of a description that are left.
struct Capacity {
    left: usize,
}

impl Capacity {
    /// Whether there is space for a value with its key; then it is reserved.
    fn fits(&mut self, key: &str, value: &Value) -> bool {
        // Quotes, a colon and a comma.
        let length = key.len() + value.to_string().len() + 4;
        let fits = length <= self.left;
        if fits {
            self.left -= length;
        }
        fits
    }
}

/// Describes all types and predicates.
fn describe_all(model: &Model, budget: usize, cuts: &mut Cuts) -> Map<String, Value> {
    let mut data = Map::new();
    data.insert("nodes".to_owned(), model.nodes.into());
    let edges: u64 = model.edges().iter().map(|name| model.values(name)).sum();
    data.insert("edges".to_owned(), edges.into());
    let mut capacity = Capacity { left: budget.saturating_sub(200) * NAMES_PART / 100 };
    let before = capacity.left;
    let sorted = model.types_by_size();
    let mut types = Vec::new();
    for (name, nodes) in &sorted {
        let head = json!({"type": name, "nodes": nodes, "fields": {}});
        if !capacity.fits("", &head) {
            break;
        }
        types.push(head);
    }
    if types.len() < sorted.len() {
        let rest = sorted[types.len()..].iter().map(|(name, _)| *name);
        cuts.note(format!(
            "types: {} of {} are not listed: {}",
            sorted.len() - types.len(),
            sorted.len(),
            some(rest)
        ));
    }
    capacity.left = budget.saturating_sub(200).saturating_sub(before - capacity.left);
    add_fields(model, &mut types, &mut capacity, cuts);
    data.insert("types".to_owned(), Value::Array(types));
    let of_types: BTreeSet<&String> = model.catalog.types.values().flatten().collect();
    let others = model.catalog.predicates.keys().filter(|name| !of_types.contains(name));
    let others: Vec<&str> = others.map(String::as_str).collect();
    let mut shown = Map::new();
    let mut rest = Vec::new();
    for name in others {
        let line = field_line(model, name).into();
        match capacity.fits(name, &line) {
            true => drop(shown.insert(name.to_owned(), line)),
            false => rest.push(name),
        }
    }
    if !rest.is_empty() {
        let names = some(rest.iter().copied());
        cuts.note(format!("predicates of no type: {} are not listed: {names}", rest.len()));
    }
    data.insert("predicates_of_no_type".to_owned(), Value::Object(shown));
    if 0 < model.unsampled {
        cuts.note(format!("targets: of {} edges they were not sampled", model.unsampled));
    }
    if !cuts.is_empty() {
        cuts.note("a greater `size` shows more, and `name` shows one type or predicate");
    }
    data
}

/// Adds fields to types, as many as fit.
fn add_fields(model: &Model, types: &mut [Value], capacity: &mut Capacity, cuts: &mut Cuts) {
    let (mut left_out, mut of_types) = (0, Vec::new());
    for described in types {
        let name = described["type"].as_str().unwrap_or_default().to_owned();
        let fields = model.catalog.types.get(&name).map_or(&[][..], Vec::as_slice);
        let mut missing = 0;
        for field in fields {
            let line = field_line(model, field).into();
            match missing == 0 && capacity.fits(field, &line) {
                true => described["fields"][field] = line,
                false => missing += 1,
            }
        }
        if 0 < missing {
            left_out += missing;
            of_types.push(name);
        }
    }
    if 0 < left_out {
        let names = some(of_types.iter().map(String::as_str));
        cuts.note(format!(
            "fields: {left_out} of {} types are not listed: {names}",
            of_types.len()
        ));
    }
}

/// Describes one type or predicate.
fn describe_one(
    model: &Model,
    name: &str,
    budget: usize,
    cuts: &mut Cuts,
) -> Outcome<Map<String, Value>> {
    let name = name.trim_matches(['<', '>']);
    let mut data = Map::new();
    if let Some(nodes) = model.types.get(name) {
        let mut types = [json!({"type": name, "nodes": nodes, "fields": {}})];
        add_fields(model, &mut types, &mut Capacity { left: budget }, cuts);
        let [described] = types;
        data.insert("type".to_owned(), described);
    }
    if let Some(definition) = model.catalog.predicates.get(name) {
        let of_types =
            model.catalog.types.iter().filter(|(_, fields)| fields.iter().any(|it| it == name));
        let types: Vec<&String> = of_types.map(|(name, _)| name).collect();
        let (nodes, values) = model.counts.get(name).copied().unwrap_or_default();
        let mut described = json!({"predicate": name, "definition": definition, "nodes": nodes, "values": values, "types": types});
        if is_edge(definition) {
            described["targets"] = json!(model.targets.get(name));
        }
        data.insert("predicate".to_owned(), described);
    }
    if data.is_empty() {
        let names = model.catalog.types.keys().chain(model.catalog.predicates.keys());
        let hint = did_you_mean(name, names.map(String::as_str));
        let fault = Error::query(format!("the schema has neither a type nor a predicate {name:?}"));
        return Err(fault.with_hint(hint).into());
    }
    Ok(data)
}

/// The definition of a predicate, where its edges go to, and how many values or edges there are.
fn field_line(model: &Model, name: &str) -> String {
    let definition = model.catalog.predicates.get(name).map_or("not in the schema", String::as_str);
    let (head, length) = shortened(definition, DEFINITION_LEN);
    let mut line = format!("{head}{}", if length.is_some() { "…" } else { "" });
    if is_edge(definition) {
        let targets = model.targets.get(name).into_iter().flatten().map(String::as_str);
        let targets: Vec<&str> = targets.collect();
        if !targets.is_empty() {
            line += &format!(" → {}", some(targets.into_iter()));
        }
        return format!("{line}; {} edges", model.values(name));
    }
    format!("{line}; {} values", model.values(name))
}

/// The first of some names, and how many more there are.
fn some<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    let shown = names[..names.len().min(NAMES_SHOWN)].join(", ");
    match names.len().saturating_sub(NAMES_SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::mcp::model::Models;
    use crate::cli::mcp::model::tests::films;
    use hexgraph::db::{Database, RequestContext};

    fn described(database: &Database, size: usize) -> (Map<String, Value>, Cuts) {
        let model = Models::default().of(database, &RequestContext::new()).unwrap();
        let mut cuts = Cuts::default();
        (describe_all(&model, size * BYTES_PER_TOKEN, &mut cuts), cuts)
    }

    #[test]
    fn a_small_schema_is_there_with_counts_and_targets() {
        let (data, cuts) = described(&films(), 2_000);
        assert_eq!(cuts.lines(), [""; 0]);
        assert_eq!(data["nodes"], 4);
        assert_eq!(data["edges"], 3);
        let [person, film] = data["types"].as_array().unwrap().as_slice() else { panic!() };
        assert_eq!((&person["type"], &person["nodes"]), (&json!("Person"), &json!(3)));
        assert_eq!(film["fields"]["starring"], "[uid] @reverse → Person; 2 edges");
        assert_eq!(film["fields"]["year"], "int @index(int); 1 values");
        assert!(data["predicates_of_no_type"]["motto"].as_str().unwrap().contains("trigram"));
    }

    #[test]
    fn all_sizes_hold_and_cuts_count_what_is_missing() {
        let database = Database::in_memory();
        let mut schema = String::new();
        for number in 0..300 {
            schema += &format!("field_{number}: string @index(term) .\nloose_{number}: int .\n");
            schema += &format!("type Type_{number} {{\n field_{number}\n}}\n");
        }
        database.alter(&schema).unwrap();
        let mut shown = 0;
        for size in SIZES {
            let (data, cuts) = described(&database, *size as usize);
            let length = Value::Object(data.clone()).to_string().len();
            assert!(length <= *size as usize * BYTES_PER_TOKEN, "{size}: {length}");
            let types = data["types"].as_array().unwrap().len();
            assert!(shown < types && types <= 300, "{size}: {types}");
            shown = types;
            if types < 300 {
                let expected = format!("types: {} of 300 are not listed", 300 - types);
                assert!(cuts.lines()[0].starts_with(&expected), "{:?}", cuts.lines());
            }
            assert!(cuts.lines().join("\n").contains("predicates of no type: "), "{size}");
        }
    }
}
