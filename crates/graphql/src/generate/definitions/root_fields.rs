//! The root fields of a type: its queries and mutations, with their arguments.

use crate::generate::RootKind;
use crate::generate::definitions::facts::{Form, has_key, id_of, is_settable, unique_of};
use crate::generate::definitions::output_types::page_arguments;
use crate::generate::layout::tree::{ArgumentEntry, Entry, list, one, required};
use crate::model::{Kind, Model, TypeDef, TypeRef};

/// The reason that `getT` of an interface is deprecated, in Dgraph's words.
const INTERFACE_KEYS_DEPRECATED: &str = "@id argument for get query on interface is being deprecated. \
    Only those @id fields which have interface argument set to true will be available in getQuery argument \
    on interface post v21.11.0, please update your schema accordingly.";

/// A root field and what it does.
pub(in crate::generate) type Operation = (Entry, RootKind);

/// Makes the queries of a type, in the order of Dgraph.
pub(in crate::generate) fn queries(def: &TypeDef, form: Form) -> Vec<Operation> {
    let mut queries = Vec::new();
    let keyed = has_key(def);
    if def.generate.get && keyed {
        queries.push((get(def), RootKind::Get));
    }
    // A search for similar nodes goes with `getT`, as in Dgraph.
    if def.generate.get && def.fields.iter().any(|field| field.embedding) {
        if keyed {
            queries.push((similar_by_id(def), RootKind::SimilarById));
        }
        queries.push((similar_by_embedding(def), RootKind::SimilarByEmbedding));
    }
    if def.generate.password && keyed {
        queries.extend(check_password(def).map(|entry| (entry, RootKind::CheckPassword)));
    }
    if def.generate.query {
        let mut arguments = page_arguments(def, form);
        arguments.extend(form.after());
        let entry = Entry::new(format!("query{}", def.name), list(one(&def.name)));
        queries.push((entry.taking(arguments), RootKind::Query));
    }
    if def.generate.aggregate {
        let result = one(format!("{}AggregateResult", def.name));
        let entry = Entry::new(format!("aggregate{}", def.name), result);
        queries.push((entry.taking(vec![filter(def)]), RootKind::Aggregate));
    }
    queries
}

/// Returns true if a query of this kind is a subscription too.
pub(in crate::generate) fn is_subscribable(kind: RootKind) -> bool {
    matches!(kind, RootKind::Get | RootKind::Query | RootKind::Aggregate)
}

/// Makes the mutations of a type, in the order of Dgraph.
pub(in crate::generate) fn mutations(model: &Model, def: &TypeDef) -> Vec<Operation> {
    let mut mutations = Vec::new();
    if can_add(model, def) {
        mutations.push((add(def), RootKind::Add));
    }
    if can_update(model, def) {
        let input = ArgumentEntry::new("input", required(one(format!("Update{}Input", def.name))));
        mutations.push((mutation("update", "Update", def, vec![input]), RootKind::Update));
    }
    if def.generate.delete {
        let filter = ArgumentEntry::new("filter", required(one(format!("{}Filter", def.name))));
        mutations.push((mutation("delete", "Delete", def, vec![filter]), RootKind::Delete));
    }
    mutations
}

/// Returns true if the type has `addT`. Pruning may remove it later.
pub(in crate::generate) fn can_add(model: &Model, def: &TypeDef) -> bool {
    let settable = def.fields.iter().any(|field| is_settable(model, field));
    def.kind == Kind::Object && def.generate.add && settable
}

/// Returns true if the type has `updateT`. Pruning may remove it later.
pub(in crate::generate) fn can_update(model: &Model, def: &TypeDef) -> bool {
    def.generate.update
        && def.fields.iter().any(|field| !field.is_id() && is_settable(model, field))
}

/// Makes `getT`.
fn get(def: &TypeDef) -> Entry {
    let mut entry =
        Entry::new(format!("get{}", def.name), one(&def.name)).taking(key_arguments(def));
    // Dgraph will drop other keys of interfaces, and says so.
    let mut keys = unique_of(def).filter_map(|field| field.unique);
    if def.kind == Kind::Interface && keys.any(|key| !key.interface) {
        entry.directives = format!(" @deprecated(reason: \"{INTERFACE_KEYS_DEPRECATED}\")");
    }
    entry
}

/// Returns the arguments that name a node. A single key is required; several keys are optional.
fn key_arguments(def: &TypeDef) -> Vec<ArgumentEntry> {
    let keys: Vec<_> = id_of(def).into_iter().chain(unique_of(def)).collect();
    let several = keys.len() > 1;
    let arguments = keys.iter().map(|key| {
        let ty: TypeRef = one(key.ty.name());
        ArgumentEntry::new(&key.name, if several { ty } else { required(ty) })
    });
    arguments.collect()
}

/// Makes `checkTPassword`, if the type has a password and a key.
fn check_password(def: &TypeDef) -> Option<Entry> {
    let secret = def.secret.as_ref()?;
    let key = id_of(def).or_else(|| unique_of(def).next())?;
    let arguments = vec![
        ArgumentEntry::new(&key.name, key.ty.clone()),
        ArgumentEntry::new(&secret.field, required(one("String"))),
    ];
    let name = format!("check{}Password", def.name);
    Some(Entry::new(name, one(&def.name)).taking(arguments))
}

/// Makes `querySimilarTById`.
fn similar_by_id(def: &TypeDef) -> Entry {
    let mut arguments = key_arguments(def);
    arguments.push(ArgumentEntry::new("by", required(one(format!("{}Embedding", def.name)))));
    arguments.push(ArgumentEntry::new("topK", required(one("Int"))));
    arguments.extend(similar_options(def));
    let name = format!("querySimilar{}ById", def.name);
    Entry::new(name, list(one(&def.name))).taking(arguments)
}

/// Makes `querySimilarTByEmbedding`.
fn similar_by_embedding(def: &TypeDef) -> Entry {
    let mut arguments = vec![
        ArgumentEntry::new("by", required(one(format!("{}Embedding", def.name)))),
        ArgumentEntry::new("topK", required(one("Int"))),
        ArgumentEntry::new("vector", required(list(required(one("Float"))))),
    ];
    arguments.extend(similar_options(def));
    let name = format!("querySimilar{}ByEmbedding", def.name);
    Entry::new(name, list(one(&def.name))).taking(arguments)
}

/// Returns the optional arguments of a search for similar nodes.
fn similar_options(def: &TypeDef) -> [ArgumentEntry; 3] {
    [
        ArgumentEntry::new("ef", one("Int")),
        ArgumentEntry::new("distance_threshold", one("Float")),
        filter(def),
    ]
}

fn filter(def: &TypeDef) -> ArgumentEntry {
    ArgumentEntry::new("filter", one(format!("{}Filter", def.name)))
}

/// Makes `addT`, with `upsert` where nodes have `@id` fields to find them by.
fn add(def: &TypeDef) -> Entry {
    let input = list(required(one(format!("Add{}Input", def.name))));
    let mut arguments = vec![ArgumentEntry::new("input", required(input))];
    if unique_of(def).next().is_some() {
        arguments.push(ArgumentEntry::new("upsert", one("Boolean")));
    }
    mutation("add", "Add", def, arguments)
}

fn mutation(verb: &str, payload: &str, def: &TypeDef, arguments: Vec<ArgumentEntry>) -> Entry {
    let result = one(format!("{payload}{}Payload", def.name));
    Entry::new(format!("{verb}{}", def.name), result).taking(arguments)
}
