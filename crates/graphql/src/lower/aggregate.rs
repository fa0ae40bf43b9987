//! Lowers `aggregateT` and `<field>Aggregate`. The plan fetches values; the aggregates are computed
//! when the answer is written.

use crate::lower::shape::{AggregateKey, AggregateOp, AggregateShape};
use crate::lower::target::fetched;
use crate::model::TypeDef;
use crate::request;
use hexgraph_base::plan;
use std::sync::Arc;

/// Returns the shape of an aggregate over nodes of a type, and the fields of the plan that fetch
/// its values. A predicate is fetched once, however many aggregates use it.
pub(in crate::lower) fn aggregate<'a>(
    def: &'a TypeDef,
    requested: &'a request::Field,
) -> (AggregateShape<'a>, Vec<Arc<plan::Field>>) {
    let mut shape = AggregateShape::default();
    let mut fields: Vec<Arc<plan::Field>> = Vec::new();
    let mut positions: Vec<&str> = Vec::new();
    for field in requested.selection.only().unwrap_or(&[]) {
        let name = field.shape.name.as_str();
        let op = match name {
            "__typename" => Some(AggregateOp::TypeName),
            "count" => Some(AggregateOp::Count),
            _ => suffixed(name).and_then(|(of, op)| {
                let predicate = def.field(of)?.predicate.as_ref()?;
                // `ageMin` and `ageMax` read the same values, which are fetched once.
                let existing = positions.iter().position(|position| *position == of);
                let position = existing.unwrap_or_else(|| {
                    positions.push(of);
                    fields.push(Arc::new(fetched(predicate)));
                    fields.len() - 1
                });
                Some(op(position))
            }),
        };
        if let Some(op) = op {
            shape.keys.push(AggregateKey { field, op });
        }
    }
    (shape, fields)
}

type Make = fn(usize) -> AggregateOp;

/// Splits the name of an aggregate, such as `ageMin`, into the field and what is computed.
fn suffixed(name: &str) -> Option<(&str, Make)> {
    let ops: [(&str, Make); 4] = [
        ("Min", AggregateOp::Min),
        ("Max", AggregateOp::Max),
        ("Sum", AggregateOp::Sum),
        ("Avg", AggregateOp::Avg),
    ];
    ops.into_iter().find_map(|(suffix, op)| Some((name.strip_suffix(suffix)?, op)))
}
