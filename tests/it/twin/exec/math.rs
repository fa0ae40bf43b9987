//! `math(...)` over maps from nodes to values.

use super::level::number;
use super::state::Outcome;
use super::state::ValueMap;
use super::state::refuse;
use hexgraph::plan::Constant;
use hexgraph::plan::MathExpr;
use hexgraph::plan::MathFunction;
use hexgraph::plan::VarId;
use hexgraph::types::Value;
use std::collections::BTreeMap;
use std::collections::BTreeSet;

type Lookup<'l> = dyn Fn(VarId) -> Outcome<ValueMap> + 'l;

/// The values of an expression; a constant one has its value at each of the nodes.
pub fn evaluate(expr: &MathExpr, nodes: &BTreeSet<u64>, lookup: &Lookup<'_>) -> Outcome<ValueMap> {
    let mut map = eval(expr, lookup)?;
    if let (Some(value), false) = (map.constant.clone(), nodes.is_empty()) {
        map.of = nodes.iter().map(|node| (*node, value.clone())).collect();
        map.constant = None;
    }
    let floats = map.of.values().any(|value| matches!(value, Value::Float(_)));
    if floats && map.of.values().all(|value| number(value).is_some()) {
        for value in map.of.values_mut() {
            *value = Value::Float(number(value).unwrap());
        }
    }
    Ok(map)
}

fn eval(expr: &MathExpr, lookup: &Lookup<'_>) -> Outcome<ValueMap> {
    let constant = |value| ValueMap { constant: Some(value), ..ValueMap::default() };
    match expr {
        MathExpr::Constant(Constant::Int(number)) => Ok(constant(Value::Int(*number))),
        MathExpr::Constant(Constant::Float(number)) => Ok(constant(Value::Float(*number))),
        MathExpr::Value(value) => Ok(constant(value.clone())),
        MathExpr::Var(var) => lookup(*var),
        MathExpr::Call(function, operands) => {
            let mut maps = Vec::new();
            for operand in operands {
                maps.push(eval(operand, lookup)?);
            }
            match maps.as_slice() {
                [one] => {
                    over_nodes(one.of.keys().copied().collect(), one.constant.is_some(), |node| {
                        unary(*function, at(one, node)?)
                    })
                }
                [one, other] => binary(*function, one, other),
                [condition, yes, no] => cond(condition, yes, no),
                _ => refuse("a function of that many arguments"),
            }
        }
    }
}

/// The value at a node; at none, the constant.
fn at(map: &ValueMap, node: Option<u64>) -> Option<&Value> {
    map.constant.as_ref().or_else(|| map.of.get(&node?))
}

/// Applies a function at each node, or once where all is constant; then it must have a result.
fn over_nodes(
    nodes: BTreeSet<u64>,
    is_constant: bool,
    apply: impl Fn(Option<u64>) -> Option<Value>,
) -> Outcome<ValueMap> {
    if is_constant {
        return match apply(None) {
            Some(value) => Ok(ValueMap { constant: Some(value), ..ValueMap::default() }),
            None => refuse("constants without a result"),
        };
    }
    let of: BTreeMap<u64, Value> =
        nodes.into_iter().filter_map(|node| Some((node, apply(Some(node))?))).collect();
    Ok(ValueMap { of, constant: None })
}

fn binary(function: MathFunction, one: &ValueMap, other: &ValueMap) -> Outcome<ValueMap> {
    let is_constant = one.constant.is_some() && other.constant.is_some();
    let mut nodes: BTreeSet<u64> = one.of.keys().copied().collect();
    if !is_comparison(function) {
        nodes.extend(other.of.keys());
    }
    over_nodes(nodes, is_constant, |node| {
        let zero = Value::Int(0);
        let left = at(one, node).unwrap_or(&zero);
        let right = at(other, node).unwrap_or(&zero);
        if is_comparison(function) {
            return compared(function, left, right).map(Value::Bool);
        }
        arithmetic(function, left, right)
    })
}

fn cond(condition: &ValueMap, yes: &ValueMap, no: &ValueMap) -> Outcome<ValueMap> {
    match &condition.constant {
        Some(Value::Bool(true)) => return Ok(yes.clone()),
        Some(_) => return Ok(no.clone()),
        None => {}
    }
    over_nodes(condition.of.keys().copied().collect(), false, |node| {
        let Some(Value::Bool(truth)) = at(condition, node) else { return None };
        at(if *truth { yes } else { no }, node).cloned()
    })
}

fn is_comparison(function: MathFunction) -> bool {
    use MathFunction::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    matches!(function, Less | Greater | LessEqual | GreaterEqual | Equal | NotEqual)
}

fn compared(function: MathFunction, one: &Value, other: &Value) -> Option<bool> {
    if let (Value::Bool(one), Value::Bool(other)) = (one, other) {
        return match function {
            MathFunction::Equal => Some(one == other),
            MathFunction::NotEqual => Some(one != other),
            _ => None,
        };
    }
    let order = one.as_ref().compare(other.as_ref())?;
    Some(match function {
        MathFunction::Less => order.is_lt(),
        MathFunction::Greater => order.is_gt(),
        MathFunction::LessEqual => order.is_le(),
        MathFunction::GreaterEqual => order.is_ge(),
        MathFunction::Equal => order.is_eq(),
        _ => order.is_ne(),
    })
}

fn unary(function: MathFunction, value: &Value) -> Option<Value> {
    let float = number(value)?;
    let result = match function {
        MathFunction::Negate => match value {
            Value::Int(number) => return number.checked_neg().map(Value::Int),
            _ => -float,
        },
        MathFunction::Floor | MathFunction::Ceil if matches!(value, Value::Int(_)) => {
            return Some(value.clone());
        }
        MathFunction::Floor => float.floor(),
        MathFunction::Ceil => float.ceil(),
        MathFunction::Exp => float.exp(),
        MathFunction::Ln if 0.0 <= float => float.ln(),
        MathFunction::Sqrt if 0.0 <= float => float.sqrt(),
        _ => return None,
    };
    Some(finite(result))
}

fn arithmetic(function: MathFunction, one: &Value, other: &Value) -> Option<Value> {
    if let (Value::Int(one), Value::Int(other)) = (one, other) {
        let result = match function {
            MathFunction::Add => one.checked_add(*other),
            MathFunction::Subtract => one.checked_sub(*other),
            MathFunction::Multiply => one.checked_mul(*other),
            MathFunction::Divide => one.checked_div(*other),
            MathFunction::Modulo => one.checked_rem(*other),
            MathFunction::Max => Some(*one.max(other)),
            MathFunction::Min => Some(*one.min(other)),
            _ => return floats(function, *one as f64, *other as f64).map(finite),
        };
        return result.map(Value::Int);
    }
    floats(function, number(one)?, number(other)?).map(finite)
}

fn floats(function: MathFunction, one: f64, other: f64) -> Option<f64> {
    match function {
        MathFunction::Add => Some(one + other),
        MathFunction::Subtract => Some(one - other),
        MathFunction::Multiply => Some(one * other),
        MathFunction::Divide => (other != 0.0).then(|| one / other),
        MathFunction::Modulo => (other != 0.0).then(|| one % other),
        MathFunction::Max => Some(one.max(other)),
        MathFunction::Min => Some(one.min(other)),
        // A broken power of a negative number is none.
        MathFunction::Pow => Some(one.powf(other)).filter(|power| !power.is_nan()),
        MathFunction::LogBase => {
            let has_log = 0.0 < one && 0.0 < other && other != 1.0;
            has_log.then(|| one.ln() / other.ln())
        }
        _ => None,
    }
}

fn finite(number: f64) -> Value {
    Value::Float(if number.is_nan() { 0.0 } else { number.clamp(f64::MIN, f64::MAX) })
}
