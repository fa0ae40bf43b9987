//! Declares the types and predicates of a model in the schema language of the store.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write;

use crate::model::{Field, Kind, Language, Model, Predicate, TypeDef};
use crate::sdl::check::search::store_index;

/// The declaration of a predicate, of all its fields together.
#[derive(Debug, Default)]
struct Declared {
    /// The type; empty while only fields that read its edges backwards were seen.
    ty: String,
    /// The indexes with their options, as they are written.
    indexes: BTreeSet<String>,
    lang: bool,
    upsert: bool,
    reverse: bool,
}

impl Model {
    /// Returns the schema text that declares all types and predicates, each type with its
    /// predicates below it. Types come in the order of the model; a predicate comes below the first
    /// type that has it and does not inherit it. Types of one stored type are declared as one,
    /// which has the predicates of all. O(fields).
    pub fn to_dql_schema(&self) -> String {
        let declared = declare(self);
        let mut text = String::new();
        let mut written: HashSet<&str> = HashSet::new();
        for (name, types) in by_stored_type(self) {
            let mut predicates = String::new();
            let mut listed: HashSet<&str> = HashSet::new();
            push(&mut text, format_args!("type {} {{\n", in_brackets(name)));
            for (name, inherited) in types.into_iter().flat_map(|def| predicates_of(self, def)) {
                let Some(declared) = declared.get(name) else { continue };
                if !listed.insert(name) {
                    continue;
                }
                push(&mut text, format_args!("  {}\n", in_brackets(name)));
                // Each predicate is declared once, below the type that it belongs to.
                if !inherited && written.insert(name) {
                    declared.write(name, &mut predicates);
                }
            }
            text.push_str("}\n");
            text.push_str(&predicates);
        }
        text
    }
}

/// Returns the stored types with their types, in the order of the model.
fn by_stored_type(model: &Model) -> Vec<(&str, Vec<&TypeDef>)> {
    let mut groups: Vec<(&str, Vec<&TypeDef>)> = Vec::new();
    let mut positions: HashMap<&str, usize> = HashMap::new();
    for def in model.stored_types() {
        let position = *positions.entry(&def.dgraph_type).or_insert(groups.len());
        match groups.get_mut(position) {
            Some((_, types)) => types.push(def),
            None => groups.push((&def.dgraph_type, vec![def])),
        }
    }
    groups
}

/// Returns the predicates that a type lists, and whether an interface declares them.
fn predicates_of<'a>(model: &'a Model, def: &'a TypeDef) -> impl Iterator<Item = (&'a str, bool)> {
    let fields = def.fields.iter().filter_map(|field| {
        let predicate = field.predicate.as_ref().filter(|predicate| !predicate.reverse)?;
        Some((predicate.name.as_str(), field.inherited_from.is_some()))
    });
    let secret = def
        .secret
        .iter()
        .map(move |secret| (secret.predicate.as_str(), inherits_secret(model, def)));
    fields.chain(secret)
}

/// Returns true if the password of a type is that of an interface.
fn inherits_secret(model: &Model, def: &TypeDef) -> bool {
    let interfaces = def.interfaces.iter().filter_map(|name| model.get(name));
    interfaces
        .into_iter()
        .any(|interface| interface.secret.is_some() && interface.secret == def.secret)
}

/// Collects the declarations of all predicates.
fn declare(model: &Model) -> HashMap<&str, Declared> {
    let mut declared: HashMap<&str, Declared> = HashMap::new();
    for def in model.stored_types() {
        for field in &def.fields {
            let Some(predicate) = &field.predicate else { continue };
            let entry = declared.entry(&predicate.name).or_default();
            if predicate.reverse {
                entry.reverse = true;
            } else {
                declare_field(model, field, predicate, entry);
            }
        }
        if let Some(secret) = &def.secret {
            declared.entry(&secret.predicate).or_default().ty = "password".to_owned();
        }
    }
    // The type of a predicate that is only read backwards is open, so it is not declared.
    declared.retain(|_, declared| !declared.ty.is_empty());
    declared
}

/// Adds the requirements of a field on its predicate.
fn declare_field(model: &Model, field: &Field, predicate: &Predicate, entry: &mut Declared) {
    let is_enum = model.get(field.ty.name()).is_some_and(|def| def.kind == Kind::Enum);
    if entry.ty.is_empty() {
        entry.ty = store_type(field, is_enum);
    }
    entry.lang |= predicate.language != Language::Untagged;
    entry.upsert |= field.unique.is_some() || field.is_id();
    for index in &field.search {
        let mut text = store_index(&index.word).to_owned();
        if !index.options.is_empty() {
            let options: Vec<String> =
                index.options.iter().map(|(name, value)| format!("{name}: \"{value}\"")).collect();
            text.push_str(&format!("({})", options.join(", ")));
        }
        entry.indexes.insert(text);
    }
    // Enums are always indexed, and so is the key of an external entity.
    if field.search.is_empty() && (is_enum || field.is_id()) {
        entry.indexes.insert("hash".to_owned());
    }
}

/// Returns the type of a field's predicate.
fn store_type(field: &Field, is_enum: bool) -> String {
    let name = match field.ty.name() {
        _ if is_enum => "string",
        _ if field.embedding => return "float32vector".to_owned(),
        "Point" | "Polygon" | "MultiPolygon" => return "geo".to_owned(),
        "Boolean" => "bool",
        "Int" | "Int64" => "int",
        "Float" => "float",
        "String" | "ID" => "string",
        "DateTime" => "dateTime",
        _ => "uid",
    };
    if field.ty.is_list() { format!("[{name}]") } else { name.to_owned() }
}

impl Declared {
    fn write(&self, name: &str, out: &mut String) {
        push(out, format_args!("{}: {}", in_brackets(name), self.ty));
        if !self.indexes.is_empty() {
            let indexes: Vec<&str> = self.indexes.iter().map(String::as_str).collect();
            push(out, format_args!(" @index({})", indexes.join(", ")));
        }
        let flags = [(self.lang, " @lang"), (self.upsert, " @upsert"), (self.reverse, " @reverse")];
        for (_, flag) in flags.iter().filter(|(set, _)| *set) {
            out.push_str(flag);
        }
        out.push_str(" .\n");
    }
}

/// Writes a name as the schema language does: in angle brackets when it has other characters than
/// letters, digits and `_.-`.
fn in_brackets(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let starts = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    if starts && name.bytes().all(is_plain) { name.to_owned() } else { format!("<{name}>") }
}

fn push(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    out.write_fmt(arguments).expect("writing into a String never fails");
}
