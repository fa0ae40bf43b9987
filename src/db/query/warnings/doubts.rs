//! What was noted when a query was executed, in words: variables without a value, sums that are
//! likely misunderstood, operators without a result.

use super::warning::{Warning, WarningKind};
use hexgraph_base::plan::{Facets, Field, FieldKind, MathFunction, Query, VarId};
use hexgraph_base::types::{Position, ValueType, bounded, stack};
use hexgraph_store::exec::{Doubt, Doubtful};
use std::sync::Arc;

/// The warnings of what was noted. O(length of the query) for each.
pub(in crate::db) fn doubtful(query: &Query, doubts: &[Doubt]) -> Vec<Warning> {
    doubts.iter().map(|doubt| warning_of(query, doubt)).collect()
}

fn warning_of(query: &Query, doubt: &Doubt) -> Warning {
    let name = |var: &VarId| query.variables[var.0 as usize].name.as_str();
    let (kind, message, hint) = match &doubt.what {
        Doubtful::NoneToFilter(var) => none(name(var), "that this filter asks", "no node passes"),
        Doubtful::NoneToCompute(var) => none(name(var), "of this block", "it counts as 0"),
        Doubtful::SomeMissing { var, lacking, nodes } => {
            let name = name(var);
            let message = format!(
                "`{name}` has no value at {lacking} of the {nodes} nodes that are computed, and counts as 0 there"
            );
            let hint = match predicate_of(query, *var) {
                Some(predicate) => {
                    format!("leave them out by `@filter(has({predicate}))` if it is unknown there")
                }
                None => "leave them out by a filter if it is unknown there".to_owned(),
            };
            (WarningKind::MissingValues, message, hint)
        }
        Doubtful::SharedBelow { var, op, uid } => {
            let (name, op) = (name(var), op.name());
            let message = format!(
                "`{name}` of a node is a sum over all edges that lead to it, and several lead to {uid}: `{op}(val({name}))` counts those of other nodes, too"
            );
            let requested = match facet_of(query, *var) {
                Some((edge, facet)) => format!("`{edge} @facets({facet}) {{ uid }}`"),
                None => "the values of both ends".to_owned(),
            };
            let hint = format!(
                "for the edges of each node alone ask for {requested}, and compute with the rows of `flatten()`"
            );
            (WarningKind::SummedPaths, message, hint)
        }
        Doubtful::SharedAbove { var, uid } => {
            let name = name(var);
            let message = format!(
                "`{name}` comes down to a node as the sum over all nodes above it, and {uid} has several"
            );
            let hint = "to compute with each of them alone ask for the values of both levels, and compute with the rows of `flatten()`";
            (WarningKind::SummedPaths, message, hint.to_owned())
        }
        Doubtful::NotConverged { name, rounds, residual } => {
            return not_converged(name, *rounds, residual, doubt.at);
        }
        Doubtful::NoResult { function, operands } => {
            // The condition alone decides.
            let reported = if *function == MathFunction::Cond { 1 } else { operands.len() };
            let kinds: Vec<&str> =
                operands[..reported].iter().map(|(kind, _)| kind.name()).collect();
            let kinds = match kinds.as_slice() {
                [one, other] if one == other => format!("two values of type {one}"),
                [one] => format!("values of type {one}"),
                kinds => format!("values of types {}", kinds.join(" and ")),
            };
            let message = format!("`{}` has no result for {kinds}", function.name());
            (WarningKind::NoResult, message, result_hint(*function, operands, name))
        }
    };
    Warning { kind, message: bounded(message), at: doubt.at, hint: bounded(hint) }
}

/// The warning of an algorithm whose rounds ended before its numbers stood still.
pub(in crate::db) fn not_converged(
    name: &str,
    rounds: usize,
    residual: &str,
    at: Position,
) -> Warning {
    let shown = if rounds == 1 { "round" } else { "rounds" };
    let message = format!(
        "`{name}` did not converge: after {rounds} {shown} the last one still changed all numbers by {residual} together"
    );
    let hint = format!(
        "`iterations: {}` makes more, and a greater `tolerance` waits for less",
        rounds.saturating_mul(10)
    );
    Warning { kind: WarningKind::NotConverged, message, at, hint }
}

fn none(name: &str, position: &str, effect: &str) -> (WarningKind, String, String) {
    let message = format!("`{name}` has no value at any node {position}, so {effect}");
    let hint = "a value of other nodes is carried along edges: `~located_in { m as math(n) }` adds up those of the nodes above";
    (WarningKind::NoValue, message, hint.to_owned())
}

/// What to write instead of an operator that has no result.
fn result_hint<'q>(
    function: MathFunction,
    operands: &[(ValueType, Option<VarId>)],
    name: impl Fn(&VarId) -> &'q str,
) -> String {
    let shown =
        |position: usize, other: &'q str| operands[position].1.as_ref().map_or(other, &name);
    let is_time = |(kind, _): &(ValueType, Option<VarId>)| *kind == ValueType::DateTime;
    match (function, operands) {
        (MathFunction::Subtract, [one, other]) if is_time(one) && is_time(other) => format!(
            "`since({}) - since({})` is the seconds between them",
            shown(1, "start"),
            shown(0, "end")
        ),
        (MathFunction::Since, _) => "it takes a datetime".to_owned(),
        (MathFunction::Cond, _) => {
            "its condition is a comparison, as in `cond(x > 1, x, 0)`".to_owned()
        }
        (_, operands) => match operands.iter().position(is_time) {
            Some(position) => {
                format!("`since({})` is the seconds from then to now", shown(position, "x"))
            }
            None if function.is_comparison() => {
                "values of one type are compared, and numbers; of bools `==` and `!=` alone"
                    .to_owned()
            }
            None => "`math` computes with numbers and vectors".to_owned(),
        },
    }
}

/// The predicate whose values a variable has.
fn predicate_of(query: &Query, var: VarId) -> Option<&str> {
    find(query, &|field| match &field.kind {
        FieldKind::Predicate { name, .. } if field.var == Some(var) => Some(name.as_str()),
        _ => None,
    })
}

/// The edge and the facet whose values a variable has.
fn facet_of(query: &Query, var: VarId) -> Option<(String, &str)> {
    find(query, &|field| {
        let FieldKind::Predicate { name, reverse, .. } = &field.kind else { return None };
        let Facets { items, .. } = field.facets.as_ref()?;
        let item = items.iter().find(|item| item.var == Some(var))?;
        Some((format!("{}{name}", if *reverse { "~" } else { "" }), item.facet.as_str()))
    })
}

fn find<'q, T>(query: &'q Query, test: &dyn Fn(&'q Field) -> Option<T>) -> Option<T> {
    query.blocks.iter().find_map(|block| find_in(&block.fields, test))
}

fn find_in<'q, T>(fields: &'q [Arc<Field>], test: &dyn Fn(&'q Field) -> Option<T>) -> Option<T> {
    stack::require();
    fields.iter().find_map(|field| test(field).or_else(|| find_in(&field.fields, test)))
}
