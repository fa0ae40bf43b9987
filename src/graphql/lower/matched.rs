//! The nodes that an update or a delete is about, as a variable.

use crate::graphql::lower::filter::filter;
use crate::graphql::lower::filter::has_type;
use crate::graphql::lower::root::node_block;
use crate::graphql::model::Model;
use crate::graphql::model::TypeDef;
use crate::graphql::request::Value;
use crate::plan::Block;
use crate::plan::BlockKind;
use crate::plan::Call;
use crate::plan::Comparison;
use crate::plan::Filter;
use crate::plan::VarId;

/// The block that puts the nodes of a type that pass a filter into a variable.
///
/// # Errors
///
/// What is wrong with a value of the filter, in the words of the reference.
pub fn lower_matched(
    model: &Model,
    def: &TypeDef,
    given: Option<&Value>,
    var: VarId,
) -> Result<Block, String> {
    let given = given.map(|value| filter(model, def, value)).transpose()?.flatten();
    let comes_first =
        |call: &Call| matches!(call, Call::Uid { .. } | Call::Compare { op: Comparison::Eq, .. });
    let block = match given {
        Some(Filter::Function(function)) if comes_first(&function.call) => {
            node_block(function.call, Some(has_type(def)))
        }
        filter => node_block(Call::Type(def.dgraph_type.clone()), filter),
    };
    Ok(Block {
        name: "var".to_owned(),
        kind: BlockKind::Hidden,
        var: Some(var),
        has_body: false,
        defines: vec![var],
        ..block
    })
}
