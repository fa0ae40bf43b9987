//! Completes values of other servers and of queries in DQL: JSON of any form becomes what the types
//! of the schema allow (GraphQL specification, *Value Completion*).

use super::coerced::{coerced, shown};
use super::nulls::{Faults, NullPropagation, Spoiled, Written, mismatch};
use super::remote_results::{RemoteResults, Slot};
use crate::db::query::checked::Capacity;
use apollo_compiler::ast::Type;
use hexgraph_base::answer::write_json_text;
use hexgraph_base::types::{Error, stack};
use hexgraph_graphql::model::{Kind, Model, TypeDef};
use hexgraph_graphql::request::{Field, GraphqlError, PathStep};
use serde_json::{Map, Value as Json};

/// The completion of one field's value.
pub(in crate::db::graphql) struct Completion<'a> {
    model: &'a Model,
    /// The answers of other servers for fields below this one.
    result: &'a RemoteResults,
    out: Vec<u8>,
    capacity: Capacity<'a>,
    path: Vec<PathStep>,
    faults: Faults,
    /// True if the keys of objects are the response keys of the request rather than the names of
    /// the fields.
    is_by_key: bool,
    stopped: Option<Error>,
}

/// The result of a completion.
pub(in crate::db::graphql) struct Completed<'a> {
    /// The buffer that was given, with the value appended.
    pub value: Vec<u8>,
    /// The errors so far.
    pub errors: Vec<GraphqlError>,
    /// True if the value is null although its type forbids it; nothing was appended then.
    pub spoils: bool,
    /// The reason why the request fails without an answer.
    pub stopped: Option<Error>,
    /// The given capacity, with the reservation for the value.
    pub capacity: Capacity<'a>,
}

impl<'a> Completion<'a> {
    /// Creates the completion of the value at a path. The value is appended to `out`.
    pub(in crate::db::graphql) fn at(
        model: &'a Model,
        result: &'a RemoteResults,
        path: Vec<PathStep>,
        out: Vec<u8>,
        capacity: Capacity<'a>,
    ) -> Completion<'a> {
        let (faults, is_by_key, stopped) = (Faults::default(), false, None);
        Completion { model, result, out, capacity, path, faults, is_by_key, stopped }
    }

    /// Completes a value of the field that is given as JSON.
    pub(in crate::db::graphql) fn local(
        mut self,
        field: &'a Field,
        value: Option<&Json>,
    ) -> Completed<'a> {
        let written = self.value(&field.shape.ty, field, value.unwrap_or(&Json::Null));
        self.ended(written)
    }

    /// Completes the value of a field that another server has answered.
    pub(in crate::db::graphql) fn remote(mut self, field: &'a Field, slot: Slot) -> Completed<'a> {
        let written = self.elsewhere(field, slot);
        self.ended(written)
    }

    fn ended(self, written: Written) -> Completed<'a> {
        let Completion { out, faults, stopped, capacity, .. } = self;
        let errors = faults.into_list();
        Completed { value: out, errors, spoils: written.is_err(), stopped, capacity }
    }

    fn elsewhere(&mut self, field: &'a Field, slot: Slot) -> Written {
        let Some(remote) = self.result.get(slot) else {
            let ty = &field.shape.ty;
            return self.value(ty, field, &Json::Null);
        };
        for reported in &remote.reply.reported {
            let path = self.path.iter().chain(&reported.path).cloned().collect();
            let fault = GraphqlError::at(field.shape.location, reported.message.clone());
            self.report_fault(GraphqlError { path, ..fault });
        }
        if remote.is_failed {
            // Why is reported already.
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

    fn value(&mut self, ty: &Type, field: &'a Field, result: &Json) -> Written {
        stack::require();
        self.nullable(ty, |completion| completion.non_null(ty, field, result))
    }

    fn non_null(&mut self, ty: &Type, field: &'a Field, result: &Json) -> Written {
        match (ty.is_list(), result) {
            (true, Json::Null) => self.empty_list(),
            (false, Json::Null) => self.missing(ty, field),
            (true, Json::Array(items)) => self.list(ty.item_type(), field, items),
            (true, _) => self.spoil(field, mismatch("An item", "a list of items")),
            // A query of one node gives a list of one.
            (false, Json::Array(items)) if items.len() == 1 => self.non_null(ty, field, &items[0]),
            (false, Json::Array(items)) if items.is_empty() => {
                self.non_null(ty, field, &Json::Null)
            }
            (false, Json::Array(_)) => self.spoil(field, mismatch("A list", "just one item")),
            (false, result) if field.selection.is_empty() => self.scalar(ty, field, result),
            (false, result) => self.object(ty, field, result),
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

    fn object(&mut self, ty: &Type, field: &'a Field, result: &Json) -> Written {
        let Json::Object(members) = result else {
            return self.unfit(ty, field, result);
        };
        if !self.goes_on() {
            return Err(Spoiled);
        }
        let def = concrete(self.model, ty.inner_named_type(), members);
        let name = def.map_or(ty.inner_named_type().as_str(), |def| def.name.as_str());
        let requested = requested_of(field, def);
        self.out.push(b'{');
        for (index, requested) in requested.into_iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            write_json_text(&requested.shape.key, &mut self.out);
            self.out.push(b':');
            self.path.push(PathStep::Key(requested.shape.key.as_str().into()));
            let written = self.member(def, name, requested, members);
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
        requested: &'a Field,
        members: &Map<String, Json>,
    ) -> Written {
        if requested.shape.name == "__typename" {
            write_json_text(type_name, &mut self.out);
            return Ok(());
        }
        let existing = def.and_then(|def| def.field(&requested.shape.name));
        if existing.is_some_and(|existing| existing.is_custom()) {
            return self.elsewhere(requested, Slot::of_object(requested, members));
        }
        let key = match self.is_by_key {
            true => requested.shape.key.as_str(),
            false => {
                existing.map_or(requested.shape.name.as_str(), |existing| existing.remote_key())
            }
        };
        self.value(&requested.shape.ty, requested, members.get(key).unwrap_or(&Json::Null))
    }

    /// Writes a scalar or an enum, coerced as Dgraph does.
    fn scalar(&mut self, ty: &Type, field: &'a Field, result: &Json) -> Written {
        if result.is_object() {
            return self.spoil(field, mismatch("An object type", "a scalar"));
        }
        match coerced(self.model, ty.inner_named_type(), result) {
            Some(json) => {
                self.out.extend_from_slice(json.as_bytes());
                Ok(())
            }
            None => self.unfit(ty, field, result),
        }
    }

    fn unfit(&mut self, ty: &Type, field: &'a Field, result: &Json) -> Written {
        let (result, name, ty) = (shown(result), &field.shape.name, ty.inner_named_type());
        self.spoil(
            field,
            format!("Error coercing value '{result}' for field '{name}' to type {ty}."),
        )
    }
}

impl NullPropagation for Completion<'_> {
    fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    fn faults(&mut self) -> &mut Faults {
        &mut self.faults
    }

    fn goes_on(&mut self) -> bool {
        let length = self.out.len() + self.faults.bytes();
        self.stopped = self.stopped.take().or_else(|| self.capacity.look(length).err());
        self.stopped.is_none()
    }

    fn steps(&self) -> Vec<PathStep> {
        self.path.clone()
    }
}

/// The type of an object: what its `dgraph.type` or `__typename` says, where it may be one of
/// several.
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

/// The selection of an object of a type; for an object without a type, the union of the selections
/// of its possible types.
fn requested_of<'a>(field: &'a Field, def: Option<&TypeDef>) -> Vec<&'a Field> {
    if let Some(fields) = field.selection.only() {
        return fields.iter().collect();
    }
    let mut requested: Vec<&Field> = Vec::new();
    for branch in &field.selection.branches {
        let is_meant = def.is_none_or(|def| branch.types.iter().any(|ty| ty.as_str() == def.name));
        for inner in branch.fields.iter().filter(|_| is_meant) {
            if !requested.iter().any(|it| it.shape.key == inner.shape.key) {
                requested.push(inner);
            }
        }
    }
    requested
}
