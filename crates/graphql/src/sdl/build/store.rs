//! What the store has to know for a schema: its types and predicates as schema text.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write;

use crate::model::{Field, Kind, Language, Model, Predicate, TypeDef};
use crate::sdl::check::search::store_index;

/// What is declared of a predicate, all fields that share it taken together.
#[derive(Debug, Default)]
struct Declared {
    /// Empty as long as only the other end of its edges is known.
    ty: String,
    /// Names with options.
    indexes: BTreeSet<String>,
    lang: bool,
    upsert: bool,
    reverse: bool,
}

impl Model {
    /// The schema text that declares all types and predicates, each type with its predicates below.
    /// Types come in the order of the model; a predicate comes with the first that has it of its
    /// own. O(fields).
    pub fn to_dql_schema(&self) -> String {
        let declared = declare(self);
        let mut text = String::new();
        let mut written: HashSet<&str> = HashSet::new();
        for def in self.stored_types() {
            let mut predicates = String::new();
            let mut listed: HashSet<&str> = HashSet::new();
            push(&mut text, format_args!("type {} {{\n", in_brackets(&def.dgraph_type)));
            for (name, inherited) in predicates_of(self, def) {
                let Some(declared) = declared.get(name) else { continue };
                if !listed.insert(name) {
                    continue;
                }
                push(&mut text, format_args!("  {}\n", in_brackets(name)));
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

/// The predicates that a type lists, and whether they are declared with an interface.
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

fn inherits_secret(model: &Model, def: &TypeDef) -> bool {
    let interfaces = def.interfaces.iter().filter_map(|name| model.get(name));
    interfaces
        .into_iter()
        .any(|interface| interface.secret.is_some() && interface.secret == def.secret)
}

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
    declared.retain(|_, declared| !declared.ty.is_empty());
    declared
}

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
    // Enums are always indexed, and so is the key of a foreign entity.
    if field.search.is_empty() && (is_enum || field.is_id()) {
        entry.indexes.insert("hash".to_owned());
    }
}

/// The type of a field's predicate.
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

/// The name as schema text has it: in brackets when it has letters that others have not.
fn in_brackets(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let starts = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    if starts && name.bytes().all(is_plain) { name.to_owned() } else { format!("<{name}>") }
}

fn push(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    out.write_fmt(arguments).expect("writing into a String never fails");
}
