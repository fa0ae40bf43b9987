//! What a custom field of a type needs to know of an object: other fields, asked for or not.

use apollo_compiler::ast;

use crate::model::{Custom, CustomHttp, Field, Kind, Model, TypeDef};
use crate::remote::calls::declared_operation;
use crate::sdl::{template_variables, url_variables};

/// Types of values that are objects to the store.
const GEOMETRIES: [&str; 3] = ["Point", "Polygon", "MultiPolygon"];

/// The fields of `def` that a custom field of it needs, each once: those that its templates name, for a lambda all that
/// hold plain values.
pub fn needs<'a>(model: &Model, def: &'a TypeDef, field: &Field) -> Vec<&'a Field> {
    let names = match &field.custom {
        Some(Custom::Http(http)) => variables(http),
        _ if field.lambda => {
            let plain = |field: &&Field| !field.is_custom() && is_plain(model, field);
            return def.fields.iter().filter(plain).collect();
        }
        _ => return Vec::new(),
    };
    names.iter().filter_map(|name| def.field(name)).filter(|field| !field.is_custom()).collect()
}

fn is_plain(model: &Model, field: &Field) -> bool {
    let name = field.ty.name();
    model.get(name).is_none_or(|def| def.kind == Kind::Enum) && !GEOMETRIES.contains(&name)
}

/// The variables of a field's address and body, or of its operation.
fn variables(http: &CustomHttp) -> Vec<String> {
    let found = url_variables(&http.url);
    let mut names = found.map_or_else(Vec::new, |url| [url.path, url.query].concat());
    match (&http.body, &http.graphql) {
        (Some(body), _) => {
            names.extend(template_variables(body, false).unwrap_or_default());
        }
        (None, Some(text)) => {
            let operation: Option<ast::OperationDefinition> = declared_operation::parse(text);
            let variables = operation.iter().flat_map(|operation| &operation.variables);
            names.extend(variables.map(|variable| variable.name.to_string()));
        }
        (None, None) => {}
    }
    let mut seen: Vec<String> = Vec::with_capacity(names.len());
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}
