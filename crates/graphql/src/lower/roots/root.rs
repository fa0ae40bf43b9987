//! Lowers root fields to plans.

use super::block::{get_block, node_block, wrong, wrong_at};
use super::entities::entities;
use super::similar::{SimilarTo, similar};
use crate::generate::RootKind;
use crate::lower::aggregate::aggregate;
use crate::lower::cascade::cascade;
use crate::lower::conditions::filter::{Sight, has_type, root_filter};
use crate::lower::conditions::filter_value::text_of;
use crate::lower::conditions::rules::{Access, Caller};
use crate::lower::fields::{Lowering, Selected, refused};
use crate::lower::order;
use crate::lower::shape::{Lowered, ObjectShape, RootShape};
use crate::lower::target::{all, filter_of, plan_field};
use crate::model::{Operation, TypeDef};
use crate::request::{Field, GraphqlError, Value};
use hexgraph_base::plan::{Block, BlockKind, Call, Comparison, FieldKind, Filter, Query, VarId};
use std::sync::Arc;

/// Lowers a field of `Query` that is answered from the store. `to` is used for `querySimilarT...`
/// only.
///
/// # Errors
///
/// The fault of a wrong argument, worded as in Dgraph.
pub fn lower<'a>(
    caller: Caller<'a>,
    field: &'a Field,
    to: SimilarTo,
) -> Result<Lowered<'a>, GraphqlError> {
    let Some(root) = &field.shape.root else { return Err(wrong(field, "it is no root field")) };
    if root.kind == RootKind::Entities {
        return entities(caller, field);
    }
    let def = caller.model.get(&root.type_name);
    let def = def.ok_or_else(|| wrong(field, "there is no such type"))?;
    match root.kind {
        RootKind::Get => get(caller, def, field),
        RootKind::CheckPassword => check_password(caller, def, field),
        RootKind::Query => list(caller, def, field, None),
        RootKind::Aggregate => aggregated(caller, def, field),
        RootKind::SimilarById | RootKind::SimilarByEmbedding => similar(caller, def, field, to),
        _ => Err(wrong(field, "it is not answered from the store")),
    }
}

/// Lowers a list of nodes with given uids, as in the payload of a mutation. `field` is the field of
/// the list with its arguments and its selection. Nodes that were deleted or are not of the type
/// are left out.
///
/// # Errors
///
/// As [`lower`].
pub fn lower_nodes<'a>(
    caller: Caller<'a>,
    type_name: &str,
    field: &'a Field,
    mut uids: Vec<u64>,
) -> Result<Lowered<'a>, GraphqlError> {
    let def = caller.model.get(type_name).ok_or_else(|| wrong(field, "there is no such type"))?;
    uids.sort_unstable();
    uids.dedup();
    list(caller, def, field, Some(Call::Uid { uids, vars: Vec::new() }))
}

/// Returns a hidden block that selects the nodes of a type that pass a filter, for a mutation.
///
/// # Errors
///
/// As [`lower`].
pub fn lower_filter(
    caller: Caller<'_>,
    type_name: &str,
    operation: Operation,
    field: &Field,
    filter: Option<&Value>,
) -> Result<Block, GraphqlError> {
    let def = caller.model.get(type_name).ok_or_else(|| wrong(field, "there is no such type"))?;
    let block = chosen(caller, def, operation, field, filter, None)?;
    Ok(Block { name: "var".to_owned(), kind: BlockKind::Hidden, has_body: false, ..block })
}

/// Returns a hidden block whose only variable holds those of the given nodes that pass a condition.
/// `uids` must ascend.
pub fn lower_permitted(uids: Vec<u64>, filter: Filter) -> Block {
    let block = node_block(Call::Uid { uids, vars: Vec::new() }, Some(filter));
    let var = VarId(0);
    Block {
        name: "var".to_owned(),
        kind: BlockKind::Hidden,
        has_body: false,
        var: Some(var),
        defines: vec![var],
        ..block
    }
}

/// Lowers `getT`.
fn get<'a>(
    caller: Caller<'a>,
    def: &'a TypeDef,
    field: &'a Field,
) -> Result<Lowered<'a>, GraphqlError> {
    let block = get_block(caller, def, Operation::Query, field)?;
    let (query, shape) = with_selection(caller, def, field, block)?;
    Ok(Lowered { query, shape: RootShape::One(shape) })
}

/// Adds the selection of a field to its block.
fn with_selection<'a>(
    caller: Caller<'a>,
    def: &'a TypeDef,
    field: &'a Field,
    mut block: Block,
) -> Result<(Query, ObjectShape<'a>), GraphqlError> {
    let inherited = field.cascade.as_ref();
    let selected = Lowering::new(caller).selection(def, &field.selection, inherited)?;
    block.cascade = selected.cascade(inherited);
    let Selected { fields, shape, .. } = selected;
    block.fields = fields;
    Ok((Query { blocks: vec![block], ..Query::default() }, shape))
}

/// Lowers `checkTPassword`.
fn check_password<'a>(
    caller: Caller<'a>,
    def: &'a TypeDef,
    field: &'a Field,
) -> Result<Lowered<'a>, GraphqlError> {
    let secret = def.secret.as_ref().ok_or_else(|| wrong(field, "there is no password"))?;
    let password = field.arguments.given(&secret.field).and_then(text_of).unwrap_or_default();
    let block = get_block(caller, def, Operation::Password, field)?;
    let (mut query, shape) = with_selection(caller, def, field, block)?;
    let kind = FieldKind::CheckPassword { name: secret.predicate.clone(), password };
    // The comparison is an additional field, so that the shape knows its position.
    let fields = &mut query.blocks[0].fields;
    let position = fields.len();
    fields.push(Arc::new(plan_field(kind, "checkpwd".to_owned())));
    Ok(Lowered { query, shape: RootShape::Checked(position, shape) })
}

/// Lowers a list of nodes: `queryT`, or given nodes.
fn list<'a>(
    caller: Caller<'a>,
    def: &'a TypeDef,
    field: &'a Field,
    nodes: Option<Call>,
) -> Result<Lowered<'a>, GraphqlError> {
    let mut block = filtered(caller, def, field, nodes)?;
    block.order = order::order(def, &field.arguments);
    block.page = order::page(field).map_err(|why| wrong_at(field, &why))?;
    order::check(&block.order, block.page, field.cascade.is_some())
        .map_err(|why| refused(field, &why))?;
    let (query, shape) = with_selection(caller, def, field, block)?;
    Ok(Lowered { query, shape: RootShape::List(shape) })
}

/// Lowers `aggregateT`.
fn aggregated<'a>(
    caller: Caller<'a>,
    def: &'a TypeDef,
    field: &'a Field,
) -> Result<Lowered<'a>, GraphqlError> {
    let mut block = filtered(caller, def, field, None)?;
    let (mut shape, fields) = aggregate(def, field);
    shape.is_hidden = caller.access(def, Operation::Query) == Access::None;
    block.fields = fields;
    if block.fields.is_empty() {
        // An aggregate without fields still needs the number of nodes.
        block.fields.push(Arc::new(plan_field(FieldKind::CountUid, "count".to_owned())));
    }
    block.is_aggregated = true;
    block.cascade = cascade(&[def], field.cascade.as_ref());
    let query = Query { blocks: vec![block], ..Query::default() };
    Ok(Lowered { query, shape: RootShape::Aggregate(shape) })
}

/// Returns the block that selects the nodes of a type, or those of `nodes`, that pass the filter of
/// the field.
fn filtered(
    caller: Caller<'_>,
    def: &TypeDef,
    field: &Field,
    nodes: Option<Call>,
) -> Result<Block, GraphqlError> {
    chosen(caller, def, Operation::Query, field, field.arguments.given("filter"), nodes)
}

/// Makes the block that selects nodes by a filter, for an operation that the rules permit.
fn chosen(
    caller: Caller<'_>,
    def: &TypeDef,
    operation: Operation,
    field: &Field,
    filter: Option<&Value>,
    nodes: Option<Call>,
) -> Result<Block, GraphqlError> {
    let sight = match operation {
        Operation::Query => Sight::Of(&caller),
        _ => Sight::Changing(caller.model),
    };
    let given = filter.map(|value| root_filter(sight, def, value)).transpose();
    let given = given.map_err(|why| refused(field, &why))?.flatten();
    let (named, rest) = given.map_or((None, None), |given| (given.named, given.rest));
    let named = named.map(|uids| Call::Uid { uids, vars: Vec::new() });
    let lowering = Lowering::new(caller);
    // When the caller gives nodes and the filter names nodes, the result is their intersection.
    let (root, more) = match (nodes, named) {
        (Some(nodes), Some(named)) => (Some(nodes), Some(filter_of(named))),
        (nodes, named) => (nodes.or(named), None),
    };
    // Nodes that are named by their uids may be of any type, so their type is checked.
    let is_rooted = root.is_some();
    let filter = lowering.admitted(def, rest, is_rooted, operation);
    if let Some(root) = root {
        return Ok(node_block(root, all(more.into_iter().chain(filter).collect())));
    }
    Ok(match filter {
        Some(Filter::Function(function)) if comes_first(&function.call) => {
            node_block(function.call, Some(has_type(def)))
        }
        filter => node_block(Call::Type(def.dgraph_type.clone()), filter),
    })
}

/// Whether a filter is better evaluated as the root: an index answers equality, and few nodes are
/// left for the type check.
fn comes_first(call: &Call) -> bool {
    matches!(call, Call::Compare { op: Comparison::Eq, .. })
}
