//! The functions of a filter, for those who read a query once it is planned.

use hexgraph_base::plan::{Filter, Function};
use hexgraph_base::types::stack;

/// Calls `each` with the functions of a filter in the order of its text, those of conditions on
/// neighbours included.
pub(super) fn each_function(filter: Option<&Filter>, each: &mut impl FnMut(&Function)) {
    stack::require();
    match filter {
        None => {}
        Some(Filter::And(parts) | Filter::Or(parts)) => {
            parts.iter().for_each(|part| each_function(Some(part), each));
        }
        Some(Filter::Not(part)) => each_function(Some(part), each),
        Some(Filter::Function(function)) => each(function),
        Some(Filter::SemiJoin(join)) => each_function(join.filter.as_ref(), each),
    }
}
