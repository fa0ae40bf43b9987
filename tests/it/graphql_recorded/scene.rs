//! What a mutation's record says of the data before it, made true.

use super::graph::Graph;
use super::record::{Record, quoted};
use super::shape::{Renaming, uids};
use super::world::World;
use hexgraph::internals::graphql::model::Kind;
use regex::Regex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

static LOOKUP: LazyLock<Regex> = LazyLock::new(|| {
    let function = r#"(?:uid\((0x[0-9a-f]+)\)|eq\(([\w.]+), "((?:[^"\\]|\\.)*)"\))"#;
    Regex::new(&format!(r"(\w+?)_(\d+)\(func: {function}\)")).unwrap()
});

/// A question whether there is a node.
struct Lookup {
    name: String,
    ty: String,
    uid: String,
    predicate: String,
    value: String,
}

fn lookups(record: &Record) -> Vec<Lookup> {
    let text = |result: &regex::Captures<'_>, group: usize| {
        result.get(group).map_or(String::new(), |result| result.as_str().to_owned())
    };
    let all = LOOKUP.captures_iter(record.text("dgquery"));
    let all = all.map(|result| Lookup {
        name: format!("{}_{}", &result[1], &result[2]),
        ty: text(&result, 1),
        uid: text(&result, 3),
        predicate: text(&result, 4),
        value: text(&result, 5),
    });
    all.collect()
}

/// The uids that look-ups found, by their names.
fn existing(record: &Record) -> BTreeMap<String, String> {
    let uid = |value: &Value| value.as_str().or(value[0]["uid"].as_str()).map(str::to_owned);
    let all = record.json("qnametouid").into_iter().chain(record.json("queryjson"));
    all.filter_map(|(name, value)| Some((name, uid(&value)?))).collect()
}

/// Which nodes the uids of a record are, and the N-Quads to delete and to set so that its look-ups
/// find what they found.
pub struct Scene {
    pub renaming: Renaming,
    pub delete: String,
    pub set: String,
}

impl Scene {
    pub fn of(world: &World, base: &Graph, record: &Record, round: usize) -> Scene {
        let mut scene =
            Scene { renaming: Renaming::new(), delete: String::new(), set: String::new() };
        let existing = existing(record);
        let lookups = lookups(record);
        let mut used: BTreeMap<String, usize> = BTreeMap::new();
        let mut claimed = Vec::new();
        for lookup in &lookups {
            if !lookup.value.is_empty() {
                scene.free(base, &lookup.predicate, &lookup.value);
            }
            let Some(uid) = existing.get(&lookup.name) else { continue };
            // Found by the second of two like questions: in another type of the interface.
            let mut earlier = lookups.iter().take_while(|other| other.name != lookup.name);
            let is_elsewhere = earlier.any(|other| {
                !existing.contains_key(&other.name)
                    && !lookup.value.is_empty()
                    && (&other.ty, &other.predicate, &other.value)
                        == (&lookup.ty, &lookup.predicate, &lookup.value)
            });
            if !scene.renaming.contains_key(uid) {
                let ty = if is_elsewhere { sibling(world, &lookup.ty) } else { lookup.ty.clone() };
                let node = scene.take(world, &ty, &mut used, round);
                scene.renaming.insert(uid.to_owned(), node);
            }
            if !lookup.value.is_empty() {
                claimed.push((uid.to_owned(), lookup.predicate.clone(), lookup.value.clone()));
            }
        }
        for (uid, predicate, value) in claimed {
            let node = &scene.renaming[&uid];
            writeln!(scene.set, "<{node}> <{predicate}> {} .", quoted(&value)).unwrap();
        }
        // Look-ups that found nothing name no node.
        let missing = |uid: &String| lookups.iter().any(|lookup| lookup.uid == *uid);
        for (uid, ty) in uids(world, &record.dql()) {
            if !scene.renaming.contains_key(&uid) && !missing(&uid) {
                let node = scene.take(world, &ty, &mut used, round);
                scene.renaming.insert(uid, node);
            }
        }
        scene
    }

    fn take(
        &self,
        world: &World,
        ty: &str,
        used: &mut BTreeMap<String, usize>,
        round: usize,
    ) -> String {
        let nodes = world.nodes_of(ty);
        let position = used.entry(ty.to_owned()).or_default();
        let mut names = nodes.iter().cycle().skip(*position + round * 3).take(nodes.len());
        *position += 1;
        let taken = |name: &String| self.renaming.values().any(|existing| existing == name);
        names.find_map(|uid| Some(format!("{uid:#x}")).filter(|name| !taken(name))).unwrap()
    }

    /// Takes a value from those who have it.
    fn free(&mut self, base: &Graph, predicate: &str, value: &str) {
        for uid in base.with(predicate, value) {
            writeln!(self.delete, "<{uid:#x}> <{predicate}> {} .", quoted(value)).unwrap();
            writeln!(self.set, "<{uid:#x}> <{predicate}> \"other-{uid}\" .").unwrap();
        }
    }
}

/// Another type of an interface of a type.
fn sibling(world: &World, ty: &str) -> String {
    let types = world.model.types.iter();
    let interfaces = types.filter(|def| def.kind == Kind::Interface);
    let mut siblings = interfaces.filter(|def| def.implementors.iter().any(|name| name == ty));
    let result = siblings.find_map(|def| def.implementors.iter().find(|name| *name != ty));
    result.unwrap_or_else(|| panic!("{ty} is alone")).clone()
}
