//! The fields of an object that its custom field needs, whether the client requests them or not.

use apollo_compiler::ast;

use crate::model::{Custom, CustomHttp, Field, Kind, Model, TypeDef};
use crate::remote::calls::declared_operation;
use crate::sdl::{template_variables, url_variables};

/// The scalars of positions. They are objects in answers, so lambda servers are not sent them.
const GEOMETRIES: [&str; 3] = ["Point", "Polygon", "MultiPolygon"];

/// Returns the fields of `def` that its custom field `field` needs, each once: those that its
/// templates name, and for a lambda all that hold scalars or values of enums.
pub fn needs<'a>(model: &Model, def: &'a TypeDef, field: &Field) -> Vec<&'a Field> {
    let names = match &field.custom {
        Some(Custom::Http(http)) => variables(http),
        _ if field.lambda => {
            let plain = |field: &&Field| !field.is_custom() && is_plain(model, field);
            return def.fields.iter().filter(plain).collect();
        }
        _ => return Vec::new(),
    };
    // A custom field can't need another: the checks of the schema refuse that.
    names.iter().filter_map(|name| def.field(name)).filter(|field| !field.is_custom()).collect()
}

/// Returns true for a field of scalars, positions apart, or of an enum.
fn is_plain(model: &Model, field: &Field) -> bool {
    let name = field.ty.name();
    model.get(name).is_none_or(|def| def.kind == Kind::Enum) && !GEOMETRIES.contains(&name)
}

/// Returns the names of the variables of a field's address and body, or else of its operation, each
/// once, in the order of their first use.
fn variables(http: &CustomHttp) -> Vec<String> {
    let result = url_variables(&http.url);
    let mut names = result.map_or_else(Vec::new, |url| [url.path, url.query].concat());
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
