//! The schema of another GraphQL server, read from its introspection.

use std::collections::HashMap;

use serde_json::Value;

use crate::model::TypeRef;
use crate::remote::message::call_error::AnswerError;

/// The query that is sent. It requests references to types up to seven wrappings deep: lists, and
/// types that are not null.
pub(in crate::remote) const QUESTION: &str = "query { __schema { queryType { name } mutationType { name } \
    types { kind name fields(includeDeprecated: true) { name args { ...I } type { ...T } } \
    inputFields { ...I } } } } \
    fragment I on __InputValue { name defaultValue type { ...T } } \
    fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name \
    ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } } } } }";

/// The schema of another server, as far as it is compared.
#[derive(Debug, Default)]
pub(in crate::remote) struct RemoteSchema {
    /// The name of the type of queries.
    pub(in crate::remote) query: Option<String>,
    /// The name of the type of mutations.
    pub(in crate::remote) mutation: Option<String>,
    /// All types by their names.
    pub(in crate::remote) types: HashMap<String, RemoteType>,
}

/// A type of another server.
#[derive(Debug, Default)]
pub(in crate::remote) struct RemoteType {
    /// The kind, as introspection names it: `OBJECT`, `SCALAR`, ...
    pub(in crate::remote) kind: String,
    pub(in crate::remote) fields: Vec<RemoteField>,
    pub(in crate::remote) inputs: Vec<RemoteInput>,
}

/// A field of a type.
#[derive(Debug)]
pub(in crate::remote) struct RemoteField {
    pub(in crate::remote) name: String,
    pub(in crate::remote) arguments: Vec<RemoteInput>,
    pub(in crate::remote) ty: TypeRef,
}

/// An argument, or a field of an input.
#[derive(Debug)]
pub(in crate::remote) struct RemoteInput {
    pub(in crate::remote) name: String,
    pub(in crate::remote) ty: TypeRef,
    pub(in crate::remote) has_default: bool,
}

impl RemoteInput {
    /// Returns true if a request must give a value.
    pub(in crate::remote) fn is_required(&self) -> bool {
        self.ty.is_non_null() && !self.has_default
    }
}

impl RemoteType {
    /// Returns true for scalars and enums, whose values have no fields.
    pub(in crate::remote) fn is_leaf(&self) -> bool {
        matches!(self.kind.as_str(), "SCALAR" | "ENUM")
    }

    /// Returns the field of a name.
    pub(in crate::remote) fn field(&self, name: &str) -> Option<&RemoteField> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl RemoteSchema {
    /// Reads an answer to [`QUESTION`].
    ///
    /// # Errors
    ///
    /// When the body is no JSON, or has no schema.
    pub(in crate::remote) fn read(body: &[u8]) -> Result<RemoteSchema, AnswerError> {
        let body: Value = serde_json::from_slice(body)
            .map_err(|error| AnswerError::NotJson { reason: error.to_string() })?;
        let schema = body.pointer("/data/__schema").filter(|schema| schema.is_object());
        let Some(schema) = schema else {
            // A server that refuses introspection says so in its first error.
            let reported = body.pointer("/errors/0/message").and_then(Value::as_str);
            let refused = |message: &str| AnswerError::Refused { message: message.to_owned() };
            return Err(reported.map_or(AnswerError::NoSchema, refused));
        };
        let name_of = |path: &str| Some(schema.pointer(path)?.as_str()?.to_owned());
        let types = list(schema, "types");
        let types =
            types.iter().filter_map(|ty| Some((text(ty, "name")?.to_owned(), read_type(ty)?)));
        Ok(RemoteSchema {
            query: name_of("/queryType/name"),
            mutation: name_of("/mutationType/name"),
            types: types.collect(),
        })
    }
}

/// Reads a type; `None` when a part is missing.
fn read_type(ty: &Value) -> Option<RemoteType> {
    let fields = list(ty, "fields").iter().filter_map(|field| {
        Some(RemoteField {
            name: text(field, "name")?.to_owned(),
            arguments: inputs(field, "args"),
            ty: read_ref(field.get("type")?)?,
        })
    });
    Some(RemoteType {
        kind: text(ty, "kind")?.to_owned(),
        fields: fields.collect(),
        inputs: inputs(ty, "inputFields"),
    })
}

/// Reads the arguments of a field, or the fields of an input type.
fn inputs(owner: &Value, key: &str) -> Vec<RemoteInput> {
    let inputs = list(owner, key).iter().filter_map(|input| {
        Some(RemoteInput {
            name: text(input, "name")?.to_owned(),
            ty: read_ref(input.get("type")?)?,
            has_default: input.get("defaultValue").is_some_and(|value| !value.is_null()),
        })
    });
    inputs.collect()
}

/// Reads a reference to a type; `None` when a part is missing. The reader of JSON bounds how deep
/// it is.
fn read_ref(ty: &Value) -> Option<TypeRef> {
    let inside = || ty.get("ofType").filter(|inside| inside.is_object());
    match text(ty, "kind")? {
        "NON_NULL" => {
            let mut inside = read_ref(inside()?)?;
            match &mut inside {
                TypeRef::Named { non_null, .. } | TypeRef::List { non_null, .. } => {
                    *non_null = true;
                }
            }
            Some(inside)
        }
        "LIST" => {
            let element = Box::new(read_ref(inside()?)?);
            Some(TypeRef::List { element, non_null: false })
        }
        _ => Some(TypeRef::named(text(ty, "name")?)),
    }
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
