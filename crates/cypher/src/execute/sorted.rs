//! Values in the order in which `<` and `=` compare them.

use crate::ast::CompareOp;
use hexgraph_scalar::{Kind, Value};
use std::ops::Range;

/// Values that `=` and `<` compare with each other; `None` for those that have no such order.
pub(super) fn class_of(value: &Value) -> Option<Kind> {
    match value.kind() {
        Kind::Float => Some(Kind::Int),
        kind @ (Kind::Bool
        | Kind::Int
        | Kind::String
        | Kind::Date
        | Kind::LocalTime
        | Kind::Time
        | Kind::LocalDateTime
        | Kind::DateTime) => Some(kind),
        _ => None,
    }
}

pub(super) fn is_nan(value: &Value) -> bool {
    matches!(value, Value::Float(number) if number.is_nan())
}

/// The operator with its sides exchanged.
pub(super) fn mirrored(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Less => CompareOp::Greater,
        CompareOp::LessEqual => CompareOp::GreaterEqual,
        CompareOp::Greater => CompareOp::Less,
        CompareOp::GreaterEqual => CompareOp::LessEqual,
        CompareOp::Equal | CompareOp::Unequal => op,
    }
}

/// The positions of the entries for which `entry op value` is true. The values of the entries
/// ascend, and each has a class and is not NaN; those of one class are contiguous and in the order
/// of the comparison. An `op` of `<>` counts as `=`.
pub(super) fn matching<T>(
    entries: &[T],
    value_of: impl Fn(&T) -> &Value,
    op: CompareOp,
    value: &Value,
) -> Range<usize> {
    let Some(class) = class_of(value).filter(|_| !is_nan(value)) else { return 0..0 };
    let first =
        |passes: &dyn Fn(&Value) -> bool| entries.partition_point(|it| passes(value_of(it)));
    let less = || first(&|it| it < value);
    let not_greater = || first(&|it| it <= value);
    match op {
        CompareOp::Less => first(&|it| class_of(it) < Some(class))..less(),
        CompareOp::LessEqual => first(&|it| class_of(it) < Some(class))..not_greater(),
        CompareOp::Greater => not_greater()..first(&|it| class_of(it) <= Some(class)),
        CompareOp::GreaterEqual => less()..first(&|it| class_of(it) <= Some(class)),
        CompareOp::Equal | CompareOp::Unequal => less()..not_greater(),
    }
}
