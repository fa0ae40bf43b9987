//! The columns that the rows of a block have, with their types, as far as the query and the schema
//! determine them.

use crate::exec::control::tree::{Column, EdgeField, FieldData, FieldResult, Level, ValueMap};
use crate::graph::Version;
use hexgraph_base::answer::{Form, Shape};
use hexgraph_base::plan::{Block, Field, FieldKind, GroupBy};
use hexgraph_base::schema::PredicateDef;
use hexgraph_base::types::{Value, ValueType, stack};

/// The columns of a level's objects, `flat` where nested ones are multiplied into them. What only
/// the data determines, facets and languages, is left out.
pub(crate) fn of_level(version: &Version, level: &Level, flat: bool) -> Vec<Shape> {
    stack::require();
    let mut shapes = Vec::with_capacity(level.fields.len());
    for result in &level.fields {
        let field = &result.field;
        if let (FieldData::Edges(edges), true) = (&result.data, flat) {
            shapes.extend(of_edges(version, field, edges, true));
            continue;
        }
        if (flat && field.alias.is_none()) || has_all_languages(field) {
            continue;
        }
        shapes.push(Shape { key: field.key.clone(), form: form_of(version, result) });
    }
    shapes
}

/// The columns of the groups of a block: its keys, and what is computed of each group.
pub(crate) fn of_groups(version: &Version, block: &Block, group_by: &GroupBy) -> Vec<Shape> {
    let keys = group_by.keys.iter().map(|key| {
        let name = key.predicate.trim_start_matches('~');
        let form = match version.schema.predicates.get(name) {
            Some(def) if def.value_type != ValueType::Uid && !key.predicate.starts_with('~') => {
                of_type(def.value_type)
            }
            Some(_) => Form::Text,
            None => Form::Unknown,
        };
        let key = key.alias.clone().unwrap_or_else(|| match key.langs.as_slice() {
            [] => key.predicate.clone(),
            langs => format!("{}@{}", key.predicate, langs.join(":")),
        });
        Shape { key, form }
    });
    let fields = block.fields.iter().map(|field| Shape {
        key: match (&field.kind, &field.alias) {
            (FieldKind::CountUid, None) => "count".to_owned(),
            _ => field.key.clone(),
        },
        form: if field.kind == FieldKind::CountUid { Form::Int } else { Form::Unknown },
    });
    keys.chain(fields).collect()
}

fn has_all_languages(field: &Field) -> bool {
    matches!(&field.kind, FieldKind::Predicate { langs, .. } if langs.iter().any(|lang| lang == "*"))
}

fn form_of(version: &Version, result: &FieldResult) -> Form {
    match &result.data {
        FieldData::Uid => Form::Text,
        FieldData::Values(values) => of_def(&values.predicate.def),
        FieldData::Edges(edges) if edges.groups.is_some() || result.field.normalize => {
            Form::Unknown
        }
        FieldData::Edges(edges) => {
            let object = Form::Object(of_edges(version, &result.field, edges, false));
            match edges.reverse || edges.predicate.def.list {
                true => Form::List(Box::new(object)),
                false => object,
            }
        }
        FieldData::Counts(_) | FieldData::CountUid => Form::Int,
        FieldData::Column(column) => of_column(column),
        FieldData::Passwords(_) => Form::Bool,
        FieldData::Nothing => of_field(version, &result.field),
    }
}

/// The columns of the targets of edges. Without a target they are those of the query's text.
fn of_edges(version: &Version, field: &Field, edges: &EdgeField, flat: bool) -> Vec<Shape> {
    match edges.level.fields.is_empty() {
        true if flat => Vec::new(),
        true => of_fields(version, field),
        false => of_level(version, &edges.level, flat),
    }
}

fn of_fields(version: &Version, field: &Field) -> Vec<Shape> {
    let shown = field.fields.iter().filter(|field| !has_all_languages(field));
    let shown = shown.filter(|field| !matches!(field.kind, FieldKind::Expand(_)));
    shown.map(|field| Shape { key: field.key.clone(), form: of_field(version, field) }).collect()
}

/// What a field gives by its text and the schema alone.
fn of_field(version: &Version, field: &Field) -> Form {
    match &field.kind {
        FieldKind::Uid => Form::Text,
        FieldKind::Count { .. } | FieldKind::CountUid => Form::Int,
        FieldKind::CheckPassword { .. } => Form::Bool,
        FieldKind::Predicate { name, reverse, .. } => {
            let Some(def) = version.schema.predicates.get(name) else { return Form::Unknown };
            if def.value_type != ValueType::Uid {
                return of_def(def);
            }
            if field.group_by.is_some() || field.normalize || !field.has_body {
                return Form::Unknown;
            }
            let object = Form::Object(of_fields(version, field));
            if *reverse || def.list { Form::List(Box::new(object)) } else { object }
        }
        FieldKind::Val(_)
        | FieldKind::AggregateVar(..)
        | FieldKind::AggregatePredicate { .. }
        | FieldKind::Math(_)
        | FieldKind::Expand(_) => Form::Unknown,
    }
}

fn of_def(def: &PredicateDef) -> Form {
    let item = of_type(def.value_type);
    if def.list { Form::List(Box::new(item)) } else { item }
}

fn of_type(value_type: ValueType) -> Form {
    match value_type {
        ValueType::Int => Form::Int,
        ValueType::Float | ValueType::BigFloat => Form::Float,
        ValueType::Bool => Form::Bool,
        ValueType::DateTime => Form::Time,
        ValueType::Vector => Form::List(Box::new(Form::Float)),
        ValueType::String | ValueType::Geo => Form::Text,
        // Values of any type, or none that is shown.
        ValueType::Default | ValueType::Uid | ValueType::Password | ValueType::Binary => {
            Form::Unknown
        }
    }
}

fn of_column(column: &ValueMap) -> Form {
    let of_value = |value: &Value| of_type(value.value_type());
    match (&column.values, &column.constant) {
        (_, Some(value)) => of_value(value),
        (Column::Int(_), _) => Form::Int,
        (Column::Float(_), _) => Form::Float,
        (Column::Any(values), _) => values.first().map_or(Form::Unknown, of_value),
    }
}
