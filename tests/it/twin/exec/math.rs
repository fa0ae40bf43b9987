//! `math(...)` over maps from nodes to values.

use super::level::number;
use super::state::{Outcome, ValueMap, refuse};
use hexgraph::internals::plan::{Constant, MathExpr, MathFunction, VarId};
use hexgraph::types::Value;
use std::collections::{BTreeMap, BTreeSet};

type Lookup<'l> = dyn Fn(VarId) -> Outcome<ValueMap> + 'l;

/// The values of an expression; a constant one has its value at each of the nodes, where there are
/// nodes at all.
pub fn evaluate(
    expr: &MathExpr,
    nodes: Option<&BTreeSet<u64>>,
    lookup: &Lookup<'_>,
) -> Outcome<ValueMap> {
    let mut map = eval(expr, lookup)?;
    if let (Some(value), Some(nodes)) = (map.constant.clone(), nodes) {
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
            // Text alone is compared with nothing, and decides nothing.
            if !has_variable(&operands[0]) {
                if is_comparison(*function) {
                    return Ok(ValueMap::default());
                }
                if *function == MathFunction::Cond && maps[0].constant.is_some() {
                    return refuse("a condition without variables");
                }
            }
            match maps.as_slice() {
                [one] => {
                    over_nodes(one.of.keys().copied().collect(), one.constant.is_some(), |node| {
                        match at(one, node) {
                            Some(value) => unary(*function, value),
                            None => Ok(None),
                        }
                    })
                }
                [one, other] => binary(*function, one, other),
                [condition, yes, no] => cond(condition, yes, no),
                _ => refuse("a function of that many arguments"),
            }
        }
    }
}

fn has_variable(expr: &MathExpr) -> bool {
    match expr {
        MathExpr::Constant(_) | MathExpr::Value(_) => false,
        MathExpr::Var(_) => true,
        MathExpr::Call(_, operands) => operands.iter().any(has_variable),
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
    apply: impl Fn(Option<u64>) -> Outcome<Option<Value>>,
) -> Outcome<ValueMap> {
    if is_constant {
        return match apply(None)? {
            Some(value) => Ok(ValueMap { constant: Some(value), ..ValueMap::default() }),
            None => refuse("constants without a result"),
        };
    }
    let mut of = BTreeMap::new();
    for node in nodes {
        of.extend(apply(Some(node))?.map(|value| (node, value)));
    }
    Ok(ValueMap { of, constant: None })
}

fn binary(function: MathFunction, one: &ValueMap, other: &ValueMap) -> Outcome<ValueMap> {
    let is_constant = one.constant.is_some() && other.constant.is_some();
    let mut nodes: BTreeSet<u64> = one.of.keys().copied().collect();
    if !is_comparison(function) {
        nodes.extend(other.of.keys());
    }
    over_nodes(nodes, is_constant, |node| {
        if is_comparison(function) {
            let pair = at(one, node).zip(at(other, node));
            let holds = pair.and_then(|(left, right)| compared(function, left, right));
            return Ok(holds.map(Value::Bool));
        }
        let zero = Value::Int(0);
        let left = at(one, node).unwrap_or(&zero);
        let right = at(other, node).unwrap_or(&zero);
        arithmetic(function, left, right)
    })
}

fn cond(condition: &ValueMap, yes: &ValueMap, no: &ValueMap) -> Outcome<ValueMap> {
    match &condition.constant {
        Some(Value::Bool(true)) => return Ok(yes.clone()),
        Some(Value::Bool(false)) => return Ok(no.clone()),
        Some(_) => return Ok(ValueMap::default()),
        None => {}
    }
    over_nodes(condition.of.keys().copied().collect(), false, |node| {
        let Some(Value::Bool(truth)) = at(condition, node) else { return Ok(None) };
        Ok(at(if *truth { yes } else { no }, node).cloned())
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

fn unary(function: MathFunction, value: &Value) -> Outcome<Option<Value>> {
    let Some(float) = number(value) else { return Ok(None) };
    let result = match function {
        MathFunction::Negate => match value {
            Value::Int(number) => return int(-i128::from(*number)),
            _ => -float,
        },
        MathFunction::Floor | MathFunction::Ceil if matches!(value, Value::Int(_)) => {
            return Ok(Some(value.clone()));
        }
        MathFunction::Floor => float.floor(),
        MathFunction::Ceil => float.ceil(),
        MathFunction::Exp => float.exp(),
        MathFunction::Ln if 0.0 <= float => float.ln(),
        MathFunction::Sqrt if 0.0 <= float => float.sqrt(),
        _ => return Ok(None),
    };
    Ok(Some(finite(result)))
}

/// An int, if it is one of 64 bits.
fn int(number: i128) -> Outcome<Option<Value>> {
    match i64::try_from(number) {
        Ok(number) => Ok(Some(Value::Int(number))),
        Err(_) => refuse("math that leaves the ints"),
    }
}

fn arithmetic(function: MathFunction, one: &Value, other: &Value) -> Outcome<Option<Value>> {
    if let (Value::Int(one), Value::Int(other)) = (one, other) {
        let (left, right) = (i128::from(*one), i128::from(*other));
        return match function {
            MathFunction::Add => int(left + right),
            MathFunction::Subtract => int(left - right),
            MathFunction::Multiply => int(left * right),
            MathFunction::Divide | MathFunction::Modulo if right == 0 => Ok(None),
            MathFunction::Divide => int(left / right),
            MathFunction::Modulo => int(left % right),
            MathFunction::Max => int(left.max(right)),
            MathFunction::Min => int(left.min(right)),
            _ => Ok(floats(function, *one as f64, *other as f64).map(finite)),
        };
    }
    let pair = number(one).zip(number(other));
    Ok(pair.and_then(|(one, other)| floats(function, one, other)).map(finite))
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
            let has_log = 0.0 <= one && 0.0 < other && other != 1.0;
            has_log.then(|| one.ln() / other.ln())
        }
        _ => None,
    }
}

fn finite(number: f64) -> Value {
    Value::Float(if number.is_nan() { 0.0 } else { number.clamp(f64::MIN, f64::MAX) })
}
