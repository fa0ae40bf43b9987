//! Puts the generated definitions together and prints them, in the order and the sections of the
//! reference.

use apollo_compiler::Name;
use std::collections::{BTreeMap, HashSet};

use crate::generate::RootKind;
use crate::generate::definitions::facts::Form;
use crate::generate::definitions::filters::{FieldFilters, union_filter};
use crate::generate::definitions::input_types::{
    add_input, embedding, has_filter, order, orderable, patch, reference, union_reference,
    union_type, update_input,
};
use crate::generate::definitions::output_types::{
    aggregate_result, declared_field, declared_type, has_order, payload,
};
use crate::generate::definitions::root_fields::{
    Operation, can_add, can_update, is_subscribable, mutations, queries,
};
use crate::generate::layout::builtins::{print_builtins, print_federation};
use crate::generate::layout::print::{print_banner, print_section};
use crate::generate::layout::tree::{ArgumentEntry, Definition, Entry, Word, list, one, required};
use crate::generate::prune::prune;
use crate::model::{Field, Kind, Model, TypeDef};
use crate::sdl::Growth;
use crate::syntax::GraphqlError;

/// The generated API: its text, and what the text does not say.
#[derive(Default)]
pub(super) struct Generated {
    /// The entire schema.
    pub text: String,
    /// The root fields with what they do, in the order of the text.
    pub queries: Vec<Operation>,
    pub mutations: Vec<Operation>,
    pub subscriptions: Vec<Operation>,
    /// The filters that accept one function at a time, without the built-in ones.
    pub filters: HashSet<Name>,
}

/// Returns the text alone, to be compared with recorded ones.
#[cfg(test)]
pub(crate) fn generated_text(model: &Model, form: Form) -> String {
    generate(model, form, &Growth::default()).expect("nothing is bounded").text
}

/// What a type takes while its inputs, filters and root fields are generated, and once more when
/// they are printed.
const TYPE_BYTES: usize = 12 << 10;

/// What a field takes in them.
const FIELD_BYTES: usize = 2 << 10;

/// Generates the API of a model. O(fields), and the cost of pruning.
///
/// # Errors
///
/// Those of `growth`.
pub(super) fn generate(
    model: &Model,
    form: Form,
    growth: &Growth,
) -> Result<Generated, GraphqlError> {
    let mut generator = Generator::new(model, form);
    generator.add_custom();
    for def in &model.types {
        growth.reserve(TYPE_BYTES + FIELD_BYTES * def.fields.len())?;
        match def.kind {
            Kind::Union if !def.remote => generator.add_union(def),
            _ if def.is_stored() => generator.add_type(def),
            _ => {}
        }
    }
    // Filters of fields are inputs as all others, once their names are noted.
    let filters = generator.filters.names();
    generator.inputs.append(&mut generator.filters.made);
    prune(&mut generator.inputs, &mut generator.mutations);
    growth.reserve(0)?;
    Ok(Generated {
        text: generator.print(),
        queries: generator.queries,
        mutations: generator.mutations,
        subscriptions: generator.subscriptions,
        filters,
    })
}

/// The definitions that were generated so far. Those of a section are printed in the order of their
/// names.
struct Generator<'m> {
    model: &'m Model,
    form: Form,
    filters: FieldFilters,
    types: BTreeMap<String, Definition>,
    enums: BTreeMap<String, Definition>,
    inputs: BTreeMap<String, Definition>,
    queries: Vec<Operation>,
    mutations: Vec<Operation>,
    subscriptions: Vec<Operation>,
}

impl<'m> Generator<'m> {
    fn new(model: &'m Model, form: Form) -> Generator<'m> {
        Generator {
            model,
            form,
            filters: FieldFilters::default(),
            types: BTreeMap::new(),
            enums: BTreeMap::new(),
            inputs: BTreeMap::new(),
            queries: Vec::new(),
            mutations: Vec::new(),
            subscriptions: Vec::new(),
        }
    }

    /// Adds the root fields that the schema declares, and those of a federation.
    fn add_custom(&mut self) {
        let form = self.form;
        let custom = |field: &Field| (declared_field(field, form), RootKind::Custom);
        self.queries.extend(self.model.queries.iter().map(custom));
        self.mutations.extend(self.model.mutations.iter().map(custom));
        let subscribable = self.model.queries.iter().filter(|field| field.subscription);
        self.subscriptions.extend(subscribable.map(custom));
        if self.model.federated && form != Form::Service {
            let any = required(list(required(one("_Any"))));
            let entities = Entry::new("_entities", required(list(one("_Entity"))))
                .taking(vec![ArgumentEntry::new("representations", any)]);
            self.queries.push((entities, RootKind::Entities));
            let service = Entry::new("_service", required(one("_Service")));
            self.queries.push((service, RootKind::Service));
        }
    }

    /// Adds the inputs of a union.
    fn add_union(&mut self, def: &TypeDef) {
        put(&mut self.inputs, union_reference(def));
        put(&mut self.inputs, union_filter(def));
        put(&mut self.enums, union_type(def));
    }

    /// Adds all that is generated for a type whose nodes are stored.
    fn add_type(&mut self, def: &TypeDef) {
        self.add_reading(def);
        self.add_writing(def);
        // Mutations of another service's entities are generated all the same, as in Dgraph.
        if self.form.operates_on(def) {
            let queries = queries(def, self.form);
            if def.generate.subscription {
                let subscribable = queries.iter().filter(|(_, kind)| is_subscribable(*kind));
                self.subscriptions.extend(subscribable.cloned());
            }
            self.queries.extend(queries);
        }
        self.mutations.extend(mutations(self.model, def));
    }

    /// Adds filter, order and aggregates.
    fn add_reading(&mut self, def: &TypeDef) {
        put(&mut self.inputs, self.filters.type_filter(self.model, def));
        put(&mut self.types, aggregate_result(def));
        for names in [has_filter(def), orderable(def), embedding(def)] {
            if !names.fields.is_empty() {
                put(&mut self.enums, names);
            }
        }
        if has_order(def) {
            put(&mut self.inputs, order(def));
        }
    }

    /// Adds the inputs and payloads of mutations.
    fn add_writing(&mut self, def: &TypeDef) {
        put(&mut self.inputs, reference(self.model, def));
        if can_add(self.model, def) {
            put(&mut self.inputs, add_input(self.model, def));
            put(&mut self.types, payload("Add", def, self.form));
        }
        if can_update(self.model, def) {
            put(&mut self.inputs, patch(self.model, def));
            put(&mut self.inputs, update_input(def));
            put(&mut self.types, payload("Update", def, self.form));
        }
        if def.generate.delete {
            put(&mut self.types, payload("Delete", def, self.form));
        }
    }

    /// Prints all definitions.
    fn print(&self) -> String {
        let mut text = String::new();
        let declared = self.model.types.iter();
        let declared: Vec<Definition> =
            declared.map(|def| declared_type(self.model, def, self.form)).collect();
        print_section(&mut text, "Input Schema", &declared.iter().collect::<Vec<_>>());
        print_banner(&mut text, "Extended Definitions");
        print_builtins(&mut text, self.form == Form::Service);
        if self.model.federated && self.form != Form::Service {
            print_banner(&mut text, "Extended Apollo Definitions");
            let entities = self.model.types.iter().filter(|def| def.key.is_some());
            let entities: Vec<&str> = entities.map(|def| def.name.as_str()).collect();
            print_federation(&mut text, &entities);
        }
        print_section(&mut text, "Generated Types", &self.types.values().collect::<Vec<_>>());
        print_section(&mut text, "Generated Enums", &self.enums.values().collect::<Vec<_>>());
        print_section(&mut text, "Generated Inputs", &self.inputs.values().collect::<Vec<_>>());
        print_root(&mut text, "Generated Query", "Query", &self.queries);
        print_root(&mut text, "Generated Mutations", "Mutation", &self.mutations);
        print_root(&mut text, "Generated Subscriptions", "Subscription", &self.subscriptions);
        // Sections end in a blank line, the text in one line end.
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }
}

fn put(definitions: &mut BTreeMap<String, Definition>, definition: Definition) {
    definitions.insert(definition.name.clone(), definition);
}

/// Prints the type of the root fields of one kind of operation, if there are any.
fn print_root(text: &mut String, title: &str, name: &str, operations: &[Operation]) {
    if !operations.is_empty() {
        let fields = operations.iter().map(|(entry, _)| entry.clone());
        print_section(text, title, &[&Definition::new(Word::Type, name).with(fields)]);
    }
}
