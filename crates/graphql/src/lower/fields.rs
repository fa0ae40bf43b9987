//! Lowers GraphQL selections to fields of the plan. A field that several object types select in the
//! same form is fetched once.

use apollo_compiler::Name;
use hexgraph_base::types::stack;

use crate::lower::aggregate::aggregate;
use crate::lower::cascade::{cascade, fetches, named_predicates};
use crate::lower::conditions::filter::{Sight, filter, has_type};
use crate::lower::conditions::rules::{Access, Caller};
use crate::lower::order;
use crate::lower::refusal::Refusal;
use crate::lower::shape::{
    Dimension, Key, Leaf, ObjectShape, ResolvedRemotely, ValueSource, Variant,
};
use crate::lower::target::{all, fetched, is_uid, plan_field};
use crate::model::{Kind, Model, Operation, Predicate, TypeDef};
use crate::remote::needs;
use crate::request::{Branch, GraphqlError, Selection};
use crate::{model, request};
use hexgraph_base::plan;
use hexgraph_base::plan::{Field, FieldKind, Filter};
use std::collections::HashSet;
use std::sync::Arc;

/// The most levels of a plan. The parser bounds the depth of a request already, so this is a second
/// check.
const DEPTH_MAX: usize = 250;

/// The most fields of a plan: fragments in fragments, on types that implement one interface,
/// multiply.
const FIELDS_MAX: usize = 200_000;

/// Lowers the selections of one root field.
pub(super) struct Lowering<'a> {
    /// The schema.
    pub model: &'a Model,
    /// The caller, whose rules apply.
    caller: Caller<'a>,
    /// The number of levels above.
    depth: usize,
    /// The number of fields that were lowered.
    count: usize,
}

/// The fields of one selection in the plan.
#[derive(Default)]
struct Fetched {
    fields: Vec<Arc<Field>>,
    /// The positions of fields that `@cascade` does not require: the request does not select them,
    /// or only counts them.
    hidden: Vec<usize>,
    /// The positions of edges that are fetched for an aggregate, and not for the field of these
    /// edges.
    aggregated: Vec<usize>,
    /// A remote server answers a `@custom` field here or below.
    has_remote_fields: bool,
    /// True for objects of several types, whose equal fields are fetched once.
    is_shared: bool,
}

impl Fetched {
    /// Returns the position of the field that fetches the values of a predicate, which is added
    /// where it is new.
    fn value(&mut self, predicate: &Predicate) -> usize {
        let field = fetched(predicate);
        let same = |existing: &Arc<Field>| !existing.has_body && existing.kind == field.kind;
        let position = self.fields.iter().position(same).unwrap_or_else(|| self.push(field));
        self.hidden.retain(|hidden| *hidden != position);
        position
    }

    /// Returns the position of the field that fetches values for a remote server. It is hidden
    /// unless the request selects them too.
    fn needed(&mut self, predicate: &Predicate) -> usize {
        // `value` takes the position off the list of hidden ones, since it is requested there; here
        // it is only needed, so the list is put back.
        let (count, hidden) = (self.fields.len(), self.hidden.clone());
        let position = self.value(predicate);
        self.hidden = hidden;
        self.hidden.extend((count == position).then_some(position));
        position
    }

    /// Returns the position of a field of edges. Equal fields of several types, which come from one
    /// fragment, are merged.
    fn edges(&mut self, field: Field) -> usize {
        let same = |existing: &Arc<Field>| **existing == field;
        let existing = self.is_shared.then(|| self.fields.iter().position(same)).flatten();
        existing.unwrap_or_else(|| self.push(field))
    }

    /// Returns the position of a field of edges that the request selects.
    fn requested(&mut self, field: Field) -> usize {
        let count = self.fields.len();
        let position = self.edges(field);
        if position < count {
            self.hidden.retain(|hidden| *hidden != position);
            self.aggregated.retain(|aggregated| *aggregated != position);
        }
        position
    }

    /// Returns the position of a field of edges that `@cascade` does not require.
    fn optional_edges(&mut self, field: Field) -> usize {
        let count = self.fields.len();
        let position = self.edges(field);
        self.hidden.extend((count == position).then_some(position));
        position
    }

    /// Adds edges whose values are aggregated, so that an object must have some where `@cascade`
    /// requires all.
    fn aggregated(&mut self, field: Field) {
        let count = self.fields.len();
        let position = self.edges(field);
        self.aggregated.extend((count == position).then_some(position));
    }

    fn push(&mut self, field: Field) -> usize {
        self.fields.push(Arc::new(field));
        self.fields.len() - 1
    }
}

/// A lowered selection.
pub(super) struct Selected<'a> {
    /// What to fetch.
    pub fields: Vec<Arc<Field>>,
    /// How to write it.
    pub shape: ObjectShape<'a>,
    /// The types that objects can have.
    pub types: Vec<&'a TypeDef>,
    /// The positions of fields that `@cascade` does not require.
    hidden: Vec<usize>,
    /// The positions of edges whose values are aggregated.
    aggregated: Vec<usize>,
}

impl Selected<'_> {
    /// Returns the fields that `@cascade` requires. It does not require fields that only remote
    /// servers need, and an aggregate does not count as the field that it aggregates.
    pub(super) fn cascade(&self, inherited: Option<&request::Cascade>) -> Option<plan::Cascade> {
        let named = inherited?;
        if named.fields.is_empty() && self.hidden.is_empty() {
            return Some(plan::Cascade::All);
        }
        let expected = named_predicates(&self.types, named);
        // Positions are added as the fields are, so both lists ascend.
        let is_named = |position: usize, kind: &FieldKind| {
            self.aggregated.binary_search(&position).is_err()
                && expected.iter().any(|predicate| fetches(kind, predicate))
        };
        let is_required = |position: usize, kind: &FieldKind| {
            matches!(kind, FieldKind::Predicate { .. })
                && self.hidden.binary_search(&position).is_err()
                && (named.fields.is_empty() || is_named(position, kind))
        };
        let positions = (0..self.fields.len())
            .filter(|position| is_required(*position, &self.fields[*position].kind));
        Some(plan::Cascade::Positions(positions.collect()))
    }
}

impl<'a> Lowering<'a> {
    /// Starts with one root field.
    pub(super) fn new(caller: Caller<'a>) -> Lowering<'a> {
        Lowering { model: caller.model, caller, depth: 0, count: 0 }
    }

    /// Lowers the selection of objects that are declared to be of a type.
    ///
    /// # Errors
    ///
    /// The error of an argument below, or of a request that is too large.
    pub(super) fn selection(
        &mut self,
        declared: &'a TypeDef,
        selection: &'a Selection,
        inherited: Option<&'a request::Cascade>,
    ) -> Result<Selected<'a>, GraphqlError> {
        stack::require();
        if DEPTH_MAX < self.depth {
            return Err(GraphqlError::new("the request is nested too deeply"));
        }
        // An error aborts the request, so the depth is counted down only at the end without one.
        self.depth += 1;
        let is_shared = declared.kind != Kind::Object;
        let mut fetched = Fetched { is_shared, ..Fetched::default() };
        let mut shape = ObjectShape::default();
        let mut types = Vec::new();
        // The stored types are read only if objects may be of several types.
        if is_shared {
            shape.type_position = Some(fetched.value(&Predicate::new("dgraph.type")));
        }
        // Where objects are of one type, the branches of others never apply.
        let is_one = |name: &Name| *name == *declared.name;
        let alone = selection.branches.iter().filter(|branch| branch.types.iter().any(is_one));
        let alone: Vec<&Branch> = match declared.kind {
            Kind::Object => alone.collect(),
            _ => selection.branches.iter().collect(),
        };
        for branch in alone {
            let defs: Vec<&'a TypeDef> =
                branch.types.iter().filter_map(|name| self.model.get(name)).collect();
            let first = match declared.kind {
                Kind::Object => Some(&declared),
                _ => defs.first(),
            };
            let Some(first) = first else { continue };
            let mut keys = Vec::with_capacity(branch.fields.len());
            for field in branch.fields.iter() {
                // A field that is selected on the interface is its field, whatever the object is.
                let first =
                    if is_selected_on_all(declared, selection, field) { &declared } else { first };
                let source = self.source(first, field, inherited, &mut fetched)?;
                keys.push(Key { field, source: Arc::new(source) });
            }
            types.extend_from_slice(&defs);
            shape.variants.push(Variant { types: defs, keys });
        }
        if is_shared {
            shape.unknown = selected_on_all(declared, &shape.variants);
            shape.absent = selected_on_any(declared, &shape.variants);
        }
        self.depth -= 1;
        shape.has_remote_fields = fetched.has_remote_fields;
        let Fetched { fields, hidden, aggregated, .. } = fetched;
        Ok(Selected { fields, shape, types, hidden, aggregated })
    }

    /// Lowers a field, and returns the source of its value.
    fn source(
        &mut self,
        def: &'a TypeDef,
        requested: &'a request::Field,
        inherited: Option<&'a request::Cascade>,
        fetched: &mut Fetched,
    ) -> Result<ValueSource<'a>, GraphqlError> {
        self.count += 1;
        if FIELDS_MAX < self.count {
            let message = format!("the request selects more than {FIELDS_MAX} fields");
            return Err(GraphqlError::at(requested.shape.location, message));
        }
        let name = requested.shape.name.as_str();
        let Some(field) = def.field(name) else {
            return match name {
                "__typename" => Ok(ValueSource::TypeName),
                "vector_distance" => Ok(ValueSource::Distance),
                _ => self.aggregated(def, requested, inherited, fetched),
            };
        };
        if field.is_custom() {
            fetched.has_remote_fields = true;
            let needs = needs(self.model, def, field).into_iter();
            let needs = needs.map(|needed| (needed, self.needed(needed, fetched))).collect();
            return Ok(ValueSource::ResolvedRemotely(Box::new(ResolvedRemotely {
                def,
                field,
                needs,
            })));
        }
        if is_uid(field) {
            return Ok(ValueSource::Uid);
        }
        let Some(predicate) = &field.predicate else { return Ok(ValueSource::Null) };
        // A geographic position is an object in requests and one value in the store.
        if Dimension::from_name(field.ty.name()).is_some() {
            return Ok(ValueSource::Geo(fetched.value(predicate)));
        }
        match self.model.get(field.ty.name()) {
            None => Ok(ValueSource::Leaf(fetched.value(predicate), leaf(field.ty.name()))),
            Some(values) if values.kind == Kind::Enum => {
                Ok(ValueSource::Leaf(fetched.value(predicate), Leaf::Enum(values)))
            }
            Some(target) => {
                let inherited = requested.cascade.as_ref().or(inherited);
                let selected = self.selection(target, &requested.selection, inherited)?;
                let edges = self.edges(predicate, target, requested, inherited.is_some())?;
                let cascade = selected.cascade(inherited);
                let edges = Field { fields: selected.fields, cascade, ..edges };
                fetched.has_remote_fields |= selected.shape.has_remote_fields;
                Ok(ValueSource::Edges(fetched.requested(edges), selected.shape))
            }
        }
    }

    /// Returns the source of a value that a remote server needs. Such servers get scalars and
    /// values of enums.
    fn needed(&self, field: &'a model::Field, fetched: &mut Fetched) -> ValueSource<'a> {
        if is_uid(field) {
            return ValueSource::Uid;
        }
        let Some(predicate) = &field.predicate else { return ValueSource::Null };
        let position = fetched.needed(predicate);
        match self.model.get(field.ty.name()) {
            None => ValueSource::Leaf(position, leaf(field.ty.name())),
            Some(values) if values.kind == Kind::Enum => {
                ValueSource::Leaf(position, Leaf::Enum(values))
            }
            Some(_) => ValueSource::Null,
        }
    }

    /// Lowers the edges of a field with the filter, order and page of its arguments.
    fn edges(
        &self,
        predicate: &Predicate,
        target: &'a TypeDef,
        requested: &'a request::Field,
        cascades: bool,
    ) -> Result<Field, GraphqlError> {
        let given = requested.arguments.given("filter");
        let sight = Sight::Of(&self.caller);
        let given = given.map(|value| filter(sight, target, value)).transpose();
        let given = given.map_err(|why| refused(requested, &why))?.flatten();
        let filter = self.admitted(target, given, predicate.reverse, Operation::Query);
        let order = order::order(target, &requested.arguments);
        let page = order::page(requested).map_err(|why| refused(requested, &why))?;
        order::check(&order, page, cascades).map_err(|why| refused(requested, &why))?;
        Ok(Field { filter, order, page, has_body: true, ..fetched(predicate) })
    }

    /// Joins a filter with the condition on all nodes: the type, where edges are read backwards and
    /// may come from nodes of any type, and the rules of `@auth`.
    pub(super) fn admitted(
        &self,
        target: &TypeDef,
        given: Option<Filter>,
        checks_type: bool,
        operation: Operation,
    ) -> Option<Filter> {
        let checked = (checks_type && target.kind != Kind::Union).then(|| has_type(target));
        let permitted = self.caller.access(target, operation).into_filter();
        let mut parts = Vec::new();
        for part in [given, checked, permitted].into_iter().flatten() {
            match part {
                Filter::And(inner) => parts.extend(inner),
                part => parts.push(part),
            }
        }
        all(parts)
    }

    /// Lowers `<field>Aggregate`. It aggregates all nodes, also those that `@cascade` removes. If
    /// it requests values of nodes, `@cascade` requires at least one node that it does not remove.
    fn aggregated(
        &mut self,
        def: &'a TypeDef,
        requested: &'a request::Field,
        inherited: Option<&'a request::Cascade>,
        fetched: &mut Fetched,
    ) -> Result<ValueSource<'a>, GraphqlError> {
        let name = requested.shape.name.strip_suffix("Aggregate");
        let field: Option<&model::Field> = name.and_then(|name| def.field(name));
        let target = field.and_then(|field| self.model.get(field.ty.name()));
        let predicate = field.and_then(|field| field.predicate.as_ref());
        let (Some(target), Some(predicate)) = (target, predicate) else {
            return Ok(ValueSource::Null);
        };
        let (mut shape, fields) = aggregate(target, requested);
        // Not even the number of nodes is reported to a caller who may see none of them.
        if self.caller.access(target, Operation::Query) == Access::None {
            shape.is_hidden = true;
        }
        let inherited = requested.cascade.as_ref().or(inherited);
        let edges = self.edges(predicate, target, requested, inherited.is_some())?;
        let Some(cascade) = cascade(&[target], inherited) else {
            return Ok(ValueSource::Aggregate(fetched.edges(Field { fields, ..edges }), shape));
        };
        if !fields.is_empty() {
            let fields = fields.clone();
            fetched.aggregated(Field { fields, cascade: Some(cascade), ..edges.clone() });
        }
        let free = Some(plan::Cascade::Fields(Vec::new()));
        let position = fetched.optional_edges(Field { fields, cascade: free, ..edges });
        Ok(ValueSource::Aggregate(position, shape))
    }
}

/// Returns true for a `@custom` field that the request selects on the interface itself, so that it
/// applies to all types.
fn is_selected_on_all(declared: &TypeDef, selection: &Selection, field: &request::Field) -> bool {
    let name = &field.shape.name;
    if declared.kind != Kind::Interface
        || !declared.field(name).is_some_and(|field| field.is_custom())
    {
        return false;
    }
    let same = |other: &request::Field| {
        other.shape.name == *name && other.shape.location == field.shape.location
    };
    selection.branches.iter().all(|branch| branch.fields.iter().any(same))
}

/// Returns the keys that are fields of the interface: they can be selected on a node of unknown
/// type.
fn selected_on_all<'a>(declared: &TypeDef, variants: &[Variant<'a>]) -> Vec<Key<'a>> {
    let keys = variants.first().into_iter().flat_map(|variant| &variant.keys);
    let of_interface = keys.filter(|key| declared.field(&key.field.shape.name).is_some());
    of_interface.map(|key| Key { field: key.field, source: Arc::clone(&key.source) }).collect()
}

/// Returns the union of the selections of the types, each key once, for an object without a type.
/// Its `__typename` is the type in the text.
fn selected_on_any<'a>(declared: &'a TypeDef, variants: &[Variant<'a>]) -> Vec<Key<'a>> {
    let mut seen: HashSet<&str> = HashSet::new();
    let mut keys = Vec::new();
    for variant in variants {
        for key in variant.keys.iter().filter(|key| seen.insert(key.field.shape.key.as_str())) {
            let source = match *key.source {
                ValueSource::TypeName => {
                    let on = key.field.shape.on.as_ref().map(Name::as_str);
                    Arc::new(ValueSource::Name(on.unwrap_or(&declared.name)))
                }
                _ => Arc::clone(&key.source),
            };
            keys.push(Key { field: key.field, source });
        }
    }
    keys
}

/// Returns how the values of a scalar are written.
pub(super) fn leaf(scalar: &str) -> Leaf<'static> {
    match scalar {
        "Int" => Leaf::Int,
        "Int64" => Leaf::Int64,
        "Float" => Leaf::Float,
        "Boolean" => Leaf::Boolean,
        "DateTime" => Leaf::DateTime,
        _ => Leaf::Text,
    }
}

/// Returns the error of a field whose DQL query fails, with Dgraph's message.
pub(super) fn refused(requested: &request::Field, why: &Refusal) -> GraphqlError {
    let message = why.message();
    let message = format!("Dgraph query failed because Dgraph execution failed because {message}");
    GraphqlError::at(requested.shape.location, message)
}

/// Makes the field of a node's uid, for a selection that would be empty.
pub(super) fn uid_field() -> Arc<plan::Field> {
    Arc::new(plan_field(FieldKind::Uid, "uid".to_owned()))
}
