//! Lowers `querySimilarT...`: the nodes whose vectors are nearest to a given one.

use super::block::{get_block, node_block, wrong};
use crate::lower::conditions::filter::{RootFilter, Sight, has_type, root_filter};
use crate::lower::conditions::filter_value::{number_of, text_of};
use crate::lower::conditions::rules::{Access, Caller};
use crate::lower::fields::{Lowering, refused, uid_field};
use crate::lower::metric::Metric;
use crate::lower::shape::{Lowered, ObjectShape, RootShape};
use crate::lower::target::{all, fetched, reference};
use crate::model;
use crate::model::{Operation, Predicate, TypeDef};
use crate::request::{Field, GraphqlError, Value};
use hexgraph_base::plan::{Argument, Call, Filter, Query};
use std::sync::Arc;

/// The vector that others are compared with.
pub enum SimilarTo {
    /// The vector of the request.
    OfRequest,
    /// This vector, which was read from another node.
    Of(Vec<f32>),
}

/// Lowers a search for the nodes whose vectors are nearest to a vector.
pub(in crate::lower) fn similar<'a>(
    caller: Caller<'a>,
    def: &'a TypeDef,
    field: &'a Field,
    to: SimilarTo,
) -> Result<Lowered<'a>, GraphqlError> {
    let by = embedding(def, field)?;
    let predicate = by.predicate.as_ref().ok_or_else(|| wrong(field, "it is not stored"))?;
    let count = field.arguments.given("topK").and_then(text_of).unwrap_or_default();
    let vector = match to {
        SimilarTo::Of(vector) => vector,
        SimilarTo::OfRequest => given_vector(field),
    };
    // Nodes that the rules hide do not count among the `topK`. Nodes that the filter of the request
    // refuses do, as in Dgraph, so the answer may have fewer.
    let admits = match caller.access(def, Operation::Query) {
        Access::Where(permitted) => all(vec![has_type(def), permitted]).map(Box::new),
        Access::All | Access::None => None,
    };
    let call = nearest(predicate, field, &vector, count, admits);
    let mut lowering = Lowering::new(caller);
    let mut selected = lowering.selection(def, &field.selection, field.cascade.as_ref())?;
    let given = field.arguments.given("filter");
    let given = given.map(|value| root_filter(Sight::Of(&caller), def, value)).transpose();
    let given = given.map_err(|why| refused(field, &why))?.flatten();
    let given = given.and_then(RootFilter::into_filter);
    let filter = lowering.admitted(def, given, true, Operation::Query);
    // The executor finds the nodes; their distances are computed again when the answer is written.
    let position = selected.fields.len();
    selected.fields.push(Arc::new(fetched(predicate)));
    let mut block = node_block(call, filter);
    block.fields = selected.fields;
    let query = Query { blocks: vec![block], ..Query::default() };
    let (metric, object) = (metric(by), selected.shape);
    Ok(Lowered { query, shape: RootShape::Similar { position, vector, metric, object } })
}

/// Makes the function that finds the nearest nodes.
fn nearest(
    predicate: &Predicate,
    field: &Field,
    vector: &[f32],
    count: String,
    admits: Option<Box<Filter>>,
) -> Call {
    // The executor reads vectors as texts, as DQL has them.
    let numbers: Vec<String> = vector.iter().map(ToString::to_string).collect();
    let options = ["ef", "distance_threshold"]
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), text_of(field.arguments.given(name)?)?)));
    Call::SimilarTo {
        predicate: reference(predicate),
        count,
        target: Argument::Text(format!("[{}]", numbers.join(","))),
        options: options.collect(),
        admits,
    }
}

/// Lowers the look-up of the node that others should be similar to. The first field of its only
/// block is the vector.
///
/// # Errors
///
/// The fault of a wrong argument.
pub fn lower_reference<'a>(
    caller: Caller<'a>,
    field: &'a Field,
) -> Result<Lowered<'a>, GraphqlError> {
    let (def, by) = embedding_of(caller, field)?;
    let mut block = get_block(caller, def, Operation::Query, field)?;
    let vector = by.predicate.as_ref().map(|predicate| Arc::new(fetched(predicate)));
    block.fields = vec![vector.unwrap_or_else(uid_field)];
    let query = Query { blocks: vec![block], ..Query::default() };
    Ok(Lowered { query, shape: RootShape::One(ObjectShape::default()) })
}

fn embedding_of<'a>(
    caller: Caller<'a>,
    field: &Field,
) -> Result<(&'a TypeDef, &'a model::Field), GraphqlError> {
    let name = field.shape.root.as_ref().map_or("", |root| root.type_name.as_str());
    let def = caller.model.get(name).ok_or_else(|| wrong(field, "there is no such type"))?;
    Ok((def, embedding(def, field)?))
}

fn embedding<'a>(def: &'a TypeDef, field: &Field) -> Result<&'a model::Field, GraphqlError> {
    let name = field.arguments.given("by").and_then(Value::as_str).unwrap_or_default();
    let result = def.field(name).filter(|by| by.embedding);
    result.ok_or_else(|| wrong(field, &format!("{name} is no embedding of {}", def.name)))
}

/// Returns the vector that the request gives.
fn given_vector(field: &Field) -> Vec<f32> {
    let numbers = field.arguments.given("vector").and_then(Value::as_list).unwrap_or(&[]);
    numbers.iter().filter_map(|number| Some(number_of(number)? as f32)).collect()
}

fn metric(field: &model::Field) -> Metric {
    let options = field.search.iter().flat_map(|index| &index.options);
    let named = options.into_iter().find(|(name, _)| name == "metric");
    match named.map(|(_, metric)| metric.as_str()) {
        Some("cosine") => Metric::Cosine,
        Some("dotproduct") => Metric::DotProduct,
        _ => Metric::Euclidean,
    }
}
