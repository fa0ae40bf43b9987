//! Completes values of other servers and of queries in DQL: JSON of any form becomes what the types of the schema allow (GraphQL specification, *Value
//! Completion*).

use super::found::{Found, Slot};
use super::nulls::{NullPropagation, Spoiled, Written};
use crate::db::ask::checked::too_long;
use apollo_compiler::ast::Type;
use hexgraph_base::answer::write_json_text;
use hexgraph_base::types::{Error, Value, ValueRef, ValueType, stack};
use hexgraph_graphql::model::{Kind, Model, TypeDef};
use hexgraph_graphql::request::{Fault, Field, PathStep};
use serde_json::{Map, Value as Json};

/// The completion of one field's value.
pub(in crate::db::graphql) struct Completion<'a> {
    model: &'a Model,
    /// The answers of other servers for fields below this one.
    found: &'a Found,
    out: Vec<u8>,
    bytes_max: u64,
    path: Vec<PathStep>,
    faults: Vec<Fault>,
    /// True if the keys of objects are the response keys of the request rather than the names of the fields.
    is_by_key: bool,
    stopped: Option<Error>,
}

/// The result of a completion.
pub(in crate::db::graphql) struct Completed {
    /// The buffer that was given, with the value appended.
    pub value: Vec<u8>,
    /// The errors that were found on the way.
    pub errors: Vec<Fault>,
    /// True if the value is null although its type forbids it; nothing was appended then.
    pub spoils: bool,
    /// The reason why the whole request ends without an answer.
    pub stopped: Option<Error>,
}

impl<'a> Completion<'a> {
    /// Creates the completion of the value at a path. The value is appended to `out`.
    pub(in crate::db::graphql) fn at(
        model: &'a Model,
        found: &'a Found,
        path: Vec<PathStep>,
        out: Vec<u8>,
        bytes_max: u64,
    ) -> Completion<'a> {
        let (faults, is_by_key, stopped) = (Vec::new(), false, None);
        Completion { model, found, out, bytes_max, path, faults, is_by_key, stopped }
    }

    /// Completes a value of the field that is given as JSON.
    pub(in crate::db::graphql) fn local(
        mut self,
        field: &'a Field,
        value: Option<&Json>,
    ) -> Completed {
        let written = self.value(&field.shape.ty, field, value.unwrap_or(&Json::Null));
        self.ended(written)
    }

    /// Completes the value of a field that another server has answered.
    pub(in crate::db::graphql) fn remote(mut self, field: &'a Field, slot: Slot) -> Completed {
        let written = self.elsewhere(field, slot);
        self.ended(written)
    }

    fn ended(self, written: Written) -> Completed {
        let Completion { out, faults, stopped, .. } = self;
        Completed { value: out, errors: faults, spoils: written.is_err(), stopped }
    }

    fn elsewhere(&mut self, field: &'a Field, slot: Slot) -> Written {
        let Some(remote) = self.found.get(slot) else {
            let ty = &field.shape.ty;
            return self.value(ty, field, &Json::Null);
        };
        for told in &remote.reply.told {
            let path = self.path.iter().chain(&told.path).cloned().collect();
            let fault = Fault::at(field.shape.location, told.message.clone());
            self.faults.push(Fault { path, ..fault });
        }
        if remote.is_failed {
            // Why is told already.
            let ty = &field.shape.ty;
            let null: &[u8] = match ty.is_list() {
                true => b"[]",
                false if ty.is_non_null() => return Err(Spoiled),
                false => b"null",
            };
            self.out.extend_from_slice(null);
            return Ok(());
        }
        let outside = std::mem::replace(&mut self.is_by_key, remote.is_by_key);
        let written = self.value(&field.shape.ty, field, &remote.reply.value);
        self.is_by_key = outside;
        written
    }

    fn value(&mut self, ty: &Type, field: &'a Field, found: &Json) -> Written {
        stack::require();
        self.nullable(ty, |completion| completion.non_null(ty, field, found))
    }

    fn non_null(&mut self, ty: &Type, field: &'a Field, found: &Json) -> Written {
        match (ty.is_list(), found) {
            (true, Json::Null) => self.empty_list(),
            (false, Json::Null) => self.missing(ty, field),
            (true, Json::Array(items)) => self.list(ty.item_type(), field, items),
            (true, _) => self.spoil(
                field,
                "An item was returned, but GraphQL was expecting a list of items. This indicates an internal error - probably a mismatch between the GraphQL and Dgraph/remote schemas. The value was resolved as null (which may trigger GraphQL error propagation) and as much other data as possible returned.".to_owned(),
            ),
            // A query of one node gives a list of one.
            (false, Json::Array(items)) if items.len() == 1 => self.non_null(ty, field, &items[0]),
            (false, Json::Array(items)) if items.is_empty() => self.non_null(ty, field, &Json::Null),
            (false, Json::Array(_)) => self.spoil(
                field,
                "A list was returned, but GraphQL was expecting just one item. This indicates an internal error - probably a mismatch between the GraphQL and Dgraph/remote schemas. The value was resolved as null (which may trigger GraphQL error propagation) and as much other data as possible returned.".to_owned(),
            ),
            (false, found) if field.selection.is_empty() => self.scalar(ty, field, found),
            (false, found) => self.object(ty, field, found),
        }
    }

    fn list(&mut self, ty: &Type, field: &'a Field, items: &[Json]) -> Written {
        self.out.push(b'[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            self.path.push(PathStep::Index(index));
            let written = self.value(ty, field, item);
            self.path.pop();
            written?;
        }
        self.out.push(b']');
        Ok(())
    }

    fn object(&mut self, ty: &Type, field: &'a Field, found: &Json) -> Written {
        let Json::Object(members) = found else {
            let name = ty.inner_named_type();
            return self.spoil(
                field,
                format!(
                    "Error coercing value '{found}' for field '{}' to type {name}.",
                    field.shape.name
                ),
            );
        };
        if self.bytes_max < self.out.len() as u64 {
            self.stopped = Some(too_long(self.bytes_max));
        }
        if self.stopped.is_some() {
            return Err(Spoiled);
        }
        // An object of an unknown type has the fields that its declared type has.
        let def = concrete(self.model, ty.inner_named_type(), members);
        let name = def.map_or(ty.inner_named_type().as_str(), |def| def.name.as_str());
        let asked = field.selection.only().unwrap_or_else(|| field.selection.of(name));
        self.out.push(b'{');
        for (index, asked) in asked.iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            write_json_text(&asked.shape.key, &mut self.out);
            self.out.push(b':');
            self.path.push(PathStep::Key(asked.shape.key.as_str().into()));
            let written = self.member(def, name, asked, members);
            self.path.pop();
            written?;
        }
        self.out.push(b'}');
        Ok(())
    }

    fn member(
        &mut self,
        def: Option<&'a TypeDef>,
        type_name: &str,
        asked: &'a Field,
        members: &Map<String, Json>,
    ) -> Written {
        if asked.shape.name == "__typename" {
            write_json_text(type_name, &mut self.out);
            return Ok(());
        }
        let known = def.and_then(|def| def.field(&asked.shape.name));
        if known.is_some_and(|known| known.is_custom()) {
            return self.elsewhere(asked, Slot::of_object(asked, members));
        }
        let key = match self.is_by_key {
            true => asked.shape.key.as_str(),
            false => known.map_or(asked.shape.name.as_str(), |known| known.remote_key()),
        };
        self.value(&asked.shape.ty, asked, members.get(key).unwrap_or(&Json::Null))
    }

    /// Writes a scalar, coerced as the reference does.
    fn scalar(&mut self, ty: &Type, field: &'a Field, found: &Json) -> Written {
        let name = ty.inner_named_type();
        let text = match found {
            Json::String(text) => text.clone(),
            other => other.to_string(),
        };
        let done = match (name.as_str(), found) {
            ("String" | "ID", _) => Some(json_text(&text)),
            ("Boolean", Json::Bool(_)) => Some(text.clone()),
            ("Boolean", Json::Number(number)) => Some((number.as_f64() != Some(0.0)).to_string()),
            ("Boolean", _) => text.parse::<bool>().ok().map(|truth| truth.to_string()),
            ("Int", _) => {
                whole(&text).filter(|it| i32::try_from(*it).is_ok()).map(|it| it.to_string())
            }
            ("Int64", _) => whole(&text).map(|it| it.to_string()),
            ("Float", _) => {
                text.parse::<f64>().ok().filter(|it| it.is_finite()).map(|_| text.clone())
            }
            ("DateTime", _) => moment(&text),
            _ => match self.model.get(name).filter(|def| def.kind == Kind::Enum) {
                Some(def) => def.values.iter().any(|it| it.name == text).then(|| json_text(&text)),
                None => Some(found.to_string()),
            },
        };
        match done {
            Some(json) => {
                self.out.extend_from_slice(json.as_bytes());
                Ok(())
            }
            None => self.spoil(
                field,
                format!(
                    "Error coercing value '{text}' for field '{}' to type {name}.",
                    field.shape.name
                ),
            ),
        }
    }
}

impl NullPropagation for Completion<'_> {
    fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    fn faults(&mut self) -> &mut Vec<Fault> {
        &mut self.faults
    }

    fn steps(&self) -> Vec<PathStep> {
        self.path.clone()
    }
}

/// The type of an object: what its `dgraph.type` or `__typename` says, where it may be one of several.
pub(in crate::db::graphql) fn concrete<'a>(
    model: &'a Model,
    declared: &str,
    members: &Map<String, Json>,
) -> Option<&'a TypeDef> {
    let declared = model.get(declared)?;
    if declared.kind == Kind::Object {
        return Some(declared);
    }
    let stored = members.get("dgraph.type").or(members.get("__typename"));
    let one = stored.map(std::slice::from_ref).unwrap_or(&[]);
    let names = stored.and_then(Json::as_array).map_or(one, Vec::as_slice);
    let named = |name: &str| {
        let mut types = model.types.iter().filter(|def| def.kind == Kind::Object);
        types.find(|def| def.dgraph_type == name || def.name == name)
    };
    names.iter().filter_map(Json::as_str).find_map(named)
}

fn json_text(text: &str) -> String {
    let mut out = Vec::new();
    write_json_text(text, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn whole(text: &str) -> Option<i64> {
    let float = || text.parse::<f64>().ok().filter(|it| it.fract() == 0.0 && it.abs() < 9e18);
    text.parse().ok().or_else(|| float().map(|it| it as i64))
}

fn moment(text: &str) -> Option<String> {
    match ValueRef::String(text).convert(ValueType::DateTime) {
        Ok(Value::DateTime(time)) => {
            let mut out = Vec::new();
            time.write(&mut out);
            Some(json_text(&String::from_utf8_lossy(&out)))
        }
        _ => None,
    }
}
