//! Which nodes the uids of a record stand for: those of the type that it means.

use super::record::Record;
use super::world::World;
use regex::{Captures, Regex};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

fn regex(text: &str) -> Regex {
    Regex::new(text).unwrap()
}

static UIDS: LazyLock<Regex> =
    LazyLock::new(|| regex(r"uid\((0x[1-9a-f][0-9a-f]*(?:, 0x[0-9a-f]+)*)\)"));
static TYPE: LazyLock<Regex> = LazyLock::new(|| regex(r"type\((\w+)\)"));
static BLOCK: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^\s*(?:\w+ as )?(\w+?)_\w*\d+(?: as var)?\(func"));
static EDGE: LazyLock<Regex> = LazyLock::new(|| regex(r"([\w.]+) @filter"));
static UID: LazyLock<Regex> = LazyLock::new(|| regex(r"\b0x[0-9a-f]+\b"));

/// What to write for the uids of a record.
pub type Renaming = BTreeMap<String, String>;

/// The types that the uids of some DQL are meant to have, in the order they occur.
pub fn uids(world: &World, text: &str) -> Vec<(String, String)> {
    let mut result: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        let Some(ty) = type_of(world, line) else { continue };
        for uid in UIDS
            .captures_iter(line)
            .flat_map(|result| result[1].split(", ").map(str::to_owned).collect::<Vec<_>>())
        {
            if result.iter().all(|(existing, _)| *existing != uid) {
                result.push((uid, ty.clone()));
            }
        }
    }
    result
}

/// The type that a line of DQL is about.
fn type_of(world: &World, line: &str) -> Option<String> {
    if let Some(result) = TYPE.captures_iter(line).last() {
        return Some(result[1].to_owned());
    }
    let existing = |name: &str| world.model.get(name).map(|def| def.name.clone());
    if let Some(ty) = BLOCK.captures(line).and_then(|result| existing(&result[1])) {
        return Some(ty);
    }
    let field = EDGE.captures(line).and_then(|result| world.field(&result[1]))?;
    Some(field.ty.name().to_owned())
}

/// Nodes for the uids of a record, others in each round.
pub fn renaming(world: &World, record: &Record, round: usize) -> Renaming {
    let mut renaming = Renaming::new();
    for (position, (uid, ty)) in uids(world, &record.dql()).into_iter().enumerate() {
        let nodes = world.nodes_of(&ty);
        let node = nodes[(position + round * 3) % nodes.len()];
        renaming.insert(uid, format!("{node:#x}"));
    }
    renaming
}

/// The record about other nodes.
pub fn renamed(record: &Record, renaming: &Renaming) -> Record {
    Record(in_value(&record.0, renaming))
}

fn in_value(value: &Value, renaming: &Renaming) -> Value {
    match value {
        Value::String(text) => Value::String(in_text(text, renaming)),
        Value::Array(items) => items.iter().map(|item| in_value(item, renaming)).collect(),
        Value::Object(map) => {
            map.iter().map(|(key, item)| (key.clone(), in_value(item, renaming))).collect()
        }
        value => value.clone(),
    }
}

fn in_text(text: &str, renaming: &Renaming) -> String {
    // Some are written with zeros in front.
    let plain = |uid: &str| format!("0x{}", uid[2..].trim_start_matches('0'));
    let other = |result: &Captures<'_>| match renaming.get(&plain(&result[0])) {
        Some(name) => name.clone(),
        None => result[0].to_owned(),
    };
    UID.replace_all(text, other).into_owned()
}
