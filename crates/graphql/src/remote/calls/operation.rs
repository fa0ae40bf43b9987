//! Operations for other GraphQL servers: the operation of the schema, whose field gets the
//! selection that the client requests.
//!
//! A field is sent with the key that it has in the answer to the client, so that one field may be
//! selected twice, with other arguments. Our custom fields are not sent, but the fields that they
//! need, under keys that do not show in the answer.

use apollo_compiler::{Name, Node, ast};
use hexgraph_base::types::stack;

use crate::model;
use crate::model::{Kind, Model, TypeDef};
use crate::remote::calls::declared_operation::remote_name;
use crate::remote::calls::needs::needs;
use crate::request::{Field, Selection, Value};

/// Returns the text of an operation whose field, of the type `type_name`, has the selection of
/// `requested`.
pub(in crate::remote) fn text(
    model: &Model,
    operation: &ast::OperationDefinition,
    type_name: &str,
    requested: &Field,
) -> String {
    let mut operation = operation.clone();
    if let Some(ast::Selection::Field(field)) = operation.selection_set.first_mut() {
        let selection = selection(model, type_name, &requested.selection);
        field.make_mut().selection_set = selection;
    }
    ast::Definition::OperationDefinition(Node::new(operation)).serialize().no_indent().to_string()
}

/// Makes the selection set for objects of a type. Requests are of bounded depth.
fn selection(model: &Model, type_name: &str, requested: &Selection) -> Vec<ast::Selection> {
    stack::require();
    if requested.is_empty() {
        return Vec::new();
    }
    let declared = model.get(type_name);
    let is_abstract = declared.is_some_and(|def| def.kind != Kind::Object);
    let mut out = Vec::new();
    // The selection of each object depends on its type.
    if is_abstract {
        out.push(plain("__typename"));
    }
    match requested.only() {
        Some(fields) if !is_abstract => out.extend(members(model, declared, fields)),
        _ => {
            for branch in &requested.branches {
                for name in branch.types.iter() {
                    let selection_set = members(model, model.get(name), &branch.fields);
                    let type_condition = Some(name.clone());
                    let fragment = ast::InlineFragment {
                        type_condition,
                        directives: ast::DirectiveList::new(),
                        selection_set,
                    };
                    out.push(ast::Selection::InlineFragment(Node::new(fragment)));
                }
            }
        }
    }
    // A selection set may not be empty.
    if out.is_empty() {
        out.push(plain("__typename"));
    }
    out
}

/// Makes the selections for objects of one type, with the fields that its custom fields need.
fn members(model: &Model, def: Option<&TypeDef>, fields: &[Field]) -> Vec<ast::Selection> {
    let mut out = Vec::new();
    let mut hidden: Vec<&str> = Vec::new();
    for requested in fields.iter().filter(|field| field.shape.name != "__typename") {
        let existing = def.and_then(|def| def.field(&requested.shape.name));
        match (def, existing) {
            (Some(def), Some(field)) if field.is_custom() => {
                hidden.extend(needs(model, def, field).iter().map(|field| field.name.as_str()));
            }
            (Some(_), Some(field)) => out.push(member(model, field, requested)),
            // `postsAggregate` is generated here; no other server knows it.
            (Some(_), None) => {}
            (None, _) => out.push(plain_as(&requested.shape.key, &requested.shape.name)),
        }
    }
    hidden.sort_unstable();
    hidden.dedup();
    for name in hidden {
        let key = hidden_key(fields, name);
        let remote = def.and_then(|def| def.field(name)).map_or(name, remote_name);
        match (Name::new(&key), Name::new(remote)) {
            (Ok(key), Ok(name)) if fields.iter().all(|field| field.shape.key != key) => {
                out.push(plain_as(&key, &name));
            }
            _ => {}
        }
    }
    if out.is_empty() {
        out.push(plain("__typename"));
    }
    out
}

/// Makes the selection of one field. Arguments that only we know, such as `first`, are not sent.
fn member(model: &Model, field: &model::Field, requested: &Field) -> ast::Selection {
    let name = Name::new(remote_name(field)).unwrap_or_else(|_| requested.shape.name.clone());
    let is_declared = |name: &Name| field.arguments.iter().any(|existing| *name == *existing.name);
    let arguments = requested.arguments.iter().filter(|(name, _)| is_declared(name));
    let arguments = arguments.map(|(name, value)| {
        Node::new(ast::Argument { name: name.clone(), value: Node::new(literal(value)) })
    });
    ast::Selection::Field(Node::new(ast::Field {
        alias: (requested.shape.key != name).then(|| requested.shape.key.clone()),
        name,
        arguments: arguments.collect(),
        directives: ast::DirectiveList::new(),
        selection_set: selection(model, field.ty.name(), &requested.selection),
    }))
}

/// Returns the key, in the answer of another GraphQL server, of a field that a custom field needs:
/// the name, unless the client uses it as the key of something else.
pub fn hidden_key(fields: &[Field], name: &str) -> String {
    let is_it = |field: &&Field| field.shape.key == name && field.shape.name == name;
    let is_free = fields.iter().all(|field| field.shape.key != name);
    if is_free || fields.iter().any(|field| is_it(&field)) {
        return name.to_owned();
    }
    format!("required_{name}")
}

/// A field without arguments and selections, under its name.
fn plain(name: &'static str) -> ast::Selection {
    let name = Name::new_static(name).expect("it is a name");
    plain_as(&name, &name)
}

/// A field without arguments and selections, under a key.
fn plain_as(key: &Name, name: &Name) -> ast::Selection {
    ast::Selection::Field(Node::new(ast::Field {
        alias: (key != name).then(|| key.clone()),
        name: name.clone(),
        arguments: Vec::new(),
        directives: ast::DirectiveList::new(),
        selection_set: Vec::new(),
    }))
}

/// Converts the value of an argument to a literal of GraphQL.
fn literal(value: &Value) -> ast::Value {
    stack::require();
    match value {
        Value::Null => ast::Value::Null,
        Value::Int(number) => ast::Value::Int(ast::IntValue::new_parsed(&number.to_string())),
        Value::Float(number) => ast::Value::Float((*number).into()),
        Value::Boolean(truth) => ast::Value::Boolean(*truth),
        Value::String(text) => ast::Value::String(text.to_string()),
        Value::Enum(name) => ast::Value::Enum(name.clone()),
        Value::List(items) => {
            ast::Value::List(items.iter().map(|item| Node::new(literal(item))).collect())
        }
        Value::Object(members) => {
            let members = members.iter();
            let pairs = members.map(|(name, value)| (name.clone(), Node::new(literal(value))));
            ast::Value::Object(pairs.collect())
        }
    }
}
