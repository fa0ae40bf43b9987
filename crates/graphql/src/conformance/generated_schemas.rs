//! The generated schemas that were recorded from Dgraph, compared definition by definition,
//! in their order.

use apollo_compiler::ast::{Definition, Document};
use std::fs;

use crate::conformance::records::{folder, settings};
use crate::generate::{Form, generated_text};
use crate::sdl::read;

/// The definitions as text. The wording of the scalars' descriptions is our own.
fn definitions(text: &str) -> Vec<String> {
    let document = match Document::parse(text, "schema.graphql") {
        Ok(document) => document,
        Err(fault) => panic!("{}\n{text}", fault.errors),
    };
    let definitions = document.definitions.into_iter().map(|definition| match definition {
        Definition::ScalarTypeDefinition(mut scalar) => {
            scalar.make_mut().description = None;
            scalar.to_string()
        }
        other => other.to_string(),
    });
    definitions.collect()
}

fn compare(pairs: &str, form: Form) {
    let Some(folder) = folder() else { return };
    let mut faults = Vec::new();
    for entry in fs::read_dir(folder.join(pairs).join("input")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let model = match read(&fs::read_to_string(&path).unwrap(), &settings()) {
            Ok(model) => model,
            Err(fault) => {
                faults.push(format!("{name}: {fault:?}"));
                continue;
            }
        };
        let recorded = fs::read_to_string(folder.join(pairs).join("output").join(&name)).unwrap();
        let recorded = definitions(&recorded);
        let ours = definitions(&generated_text(&model, form));
        for definition in recorded.iter().filter(|definition| !ours.contains(definition)) {
            faults.push(format!("{name}: lacks\n{definition}"));
        }
        for definition in ours.iter().filter(|definition| !recorded.contains(definition)) {
            faults.push(format!("{name}: should not have\n{definition}"));
        }
        if ours.len() == recorded.len()
            && ours != recorded
            && !faults.iter().any(|f| f.starts_with(&name))
        {
            faults.push(format!("{name}: differs in order"));
        }
    }
    assert!(faults.is_empty(), "{}\n{} faults", faults.join("\n"), faults.len());
}

#[test]
fn generated_schemas_are_the_recorded_ones() {
    compare("schemagen", Form::Plain);
}

#[test]
fn schemas_for_a_gateway_are_the_recorded_ones() {
    compare("apolloservice", Form::Service);
}
