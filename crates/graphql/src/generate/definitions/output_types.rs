//! The types of answers: declared types, with arguments and aggregates for lists of objects,
//! payloads of mutations, and aggregates.

use crate::generate::definitions::facts::{Form, is_comparable, is_orderable, stored_target};
use crate::generate::layout::builtins::is_builtin_directive;
use crate::generate::layout::print::{directives_text, value_text};
use crate::generate::layout::tree::{
    ArgumentEntry, Definition, Entry, Word, list, lower_first, one,
};
use crate::model::{Argument, EnumValue, Field, Kind, Model, TypeDef};

/// Makes a declared type as the API has it.
pub(in crate::generate) fn declared_type(model: &Model, def: &TypeDef, form: Form) -> Definition {
    let word = match def.kind {
        Kind::Object => Word::Type,
        Kind::Interface => Word::Interface,
        Kind::Union => Word::Union,
        Kind::Enum => Word::Enum,
        Kind::Input => Word::Input,
    };
    let mut definition = Definition::new(word, &def.name);
    definition.description.clone_from(&def.description);
    definition.directives = shown_directives(&def.directives, form);
    definition.members.clone_from(&def.members);
    // Dgraph leaves interfaces out for a gateway.
    if form != Form::Service {
        definition.interfaces.clone_from(&def.interfaces);
    }
    match def.kind {
        Kind::Enum => definition.with(def.values.iter().map(enum_value)),
        Kind::Input => definition.with(def.input_fields.iter().map(input_field)),
        _ => definition.with(output_fields(model, def, form)),
    }
}

/// Returns the fields of a declared type, those that are generated last.
fn output_fields(model: &Model, def: &TypeDef, form: Form) -> Vec<Entry> {
    let mut entries: Vec<Entry> =
        def.fields.iter().map(|field| output_field(model, def, field, form)).collect();
    if !def.is_stored() {
        return entries;
    }
    if def.fields.iter().any(|field| field.embedding) {
        entries.push(Entry::new("vector_distance", one("Float")));
    }
    for field in def.fields.iter().filter(|field| field.ty.is_list() && !field.is_custom()) {
        if let Some(target) = stored_target(model, field).filter(|target| form.operates_on(target))
        {
            let filter = ArgumentEntry::new("filter", one(format!("{}Filter", target.name)));
            let result = one(format!("{}AggregateResult", target.name));
            let aggregate = Entry::new(format!("{}Aggregate", field.name), result);
            entries.push(aggregate.taking(vec![filter]));
        }
    }
    entries
}

/// Makes a field, with the generated arguments where it points to stored nodes.
fn output_field(model: &Model, def: &TypeDef, field: &Field, form: Form) -> Entry {
    let mut entry = declared_field(field, form);
    if !def.is_stored() || field.is_custom() {
        return entry;
    }
    let Some(target) = model.get(field.ty.name()) else { return entry };
    if !form.operates_on(target) || target.remote {
        return entry;
    }
    match (target.kind, field.ty.is_list()) {
        (Kind::Object | Kind::Interface, true) => {
            entry.arguments.extend(page_arguments(target, form));
            if !entry.arguments.iter().any(|argument| argument.name == "after") {
                entry.arguments.extend(form.after());
            }
        }
        (Kind::Object | Kind::Interface | Kind::Union, single_or_union) => {
            entry.arguments.push(filter_argument(target));
            if single_or_union {
                entry.arguments.extend(cut_arguments());
            }
        }
        _ => {}
    }
    entry
}

/// Makes a field with no more than what the schema declares.
pub(in crate::generate) fn declared_field(field: &Field, form: Form) -> Entry {
    let mut entry = Entry::new(&field.name, field.ty.clone());
    entry.description.clone_from(&field.description);
    entry.arguments = field.arguments.iter().map(declared_argument).collect();
    entry.directives = shown_directives(&field.directives, form);
    entry
}

fn declared_argument(argument: &Argument) -> ArgumentEntry {
    ArgumentEntry {
        name: argument.name.clone(),
        description: argument.description.clone(),
        ty: argument.ty.clone(),
        default: default_text(argument),
    }
}

/// Returns the default of an argument as it is printed.
fn default_text(argument: &Argument) -> String {
    let value = argument.default_value.as_ref();
    value.map_or_else(String::new, |value| format!(" = {}", value_text(value)))
}

fn input_field(field: &Argument) -> Entry {
    let mut entry = Entry::new(&field.name, field.ty.clone());
    entry.description.clone_from(&field.description);
    // An entry has no field for a default: it is printed where the directives are, before them.
    entry.directives = default_text(field) + &shown_directives(&field.directives, Form::Full);
    entry
}

fn enum_value(value: &EnumValue) -> Entry {
    let mut entry = Entry::value(&value.name);
    entry.description.clone_from(&value.description);
    entry.directives = shown_directives(&value.directives, Form::Full);
    entry
}

/// Returns the directives that are printed in a form of the API.
fn shown_directives(directives: &apollo_compiler::ast::DirectiveList, form: Form) -> String {
    let hidden =
        |name: &str| form == Form::Service && matches!(name, "auth" | "custom" | "generate");
    let shown = directives.iter();
    let shown =
        shown.filter(|directive| is_builtin_directive(&directive.name) && !hidden(&directive.name));
    directives_text(shown.map(|directive| &**directive))
}

fn filter_argument(target: &TypeDef) -> ArgumentEntry {
    ArgumentEntry::new("filter", one(format!("{}Filter", target.name)))
}

/// Returns the arguments of a list of nodes: `filter`, `order` if the type has an order, `first`,
/// `offset`.
pub(in crate::generate) fn page_arguments(target: &TypeDef, form: Form) -> Vec<ArgumentEntry> {
    let mut arguments = vec![filter_argument(target)];
    if has_order(target) {
        arguments.push(ArgumentEntry::new("order", one(format!("{}Order", target.name))));
    }
    arguments.extend(cut_arguments());
    debug_assert!(form.operates_on(target) || form == Form::Service);
    arguments
}

fn cut_arguments() -> [ArgumentEntry; 2] {
    ["first", "offset"].map(|name| ArgumentEntry::new(name, one("Int")))
}

/// Returns true if nodes of the type can be ordered by a field.
pub(in crate::generate) fn has_order(def: &TypeDef) -> bool {
    def.fields.iter().any(is_orderable)
}

/// Makes `AddTPayload`, `UpdateTPayload` or `DeleteTPayload`.
pub(in crate::generate) fn payload(prefix: &str, def: &TypeDef, form: Form) -> Definition {
    let nodes = Entry::new(lower_first(&def.name), list(one(&def.name)));
    let nodes = nodes.taking(page_arguments(def, form));
    let message = (prefix == "Delete").then(|| Entry::new("msg", one("String")));
    let definition = Definition::new(Word::Type, format!("{prefix}{}Payload", def.name));
    definition.with([nodes]).with(message).with([Entry::new("numUids", one("Int"))])
}

/// Makes `TAggregateResult`.
pub(in crate::generate) fn aggregate_result(def: &TypeDef) -> Definition {
    let count = Entry::new("count", one("Int"));
    let comparable = def.fields.iter().filter(|field| is_comparable(field));
    let values = comparable.flat_map(|field| {
        let ty = field.ty.name();
        let number = matches!(ty, "Int" | "Int64" | "Float");
        let extremes = [("Min", ty), ("Max", ty)];
        // Sums have the type of the values; means are always `Float`.
        let sums = number.then_some([("Sum", ty), ("Avg", "Float")]);
        extremes
            .into_iter()
            .chain(sums.into_iter().flatten())
            .map(|(suffix, ty)| Entry::new(format!("{}{suffix}", field.name), one(ty)))
    });
    Definition::new(Word::Type, format!("{}AggregateResult", def.name)).with([count]).with(values)
}
