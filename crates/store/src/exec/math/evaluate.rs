//! `math(...)`: expressions over value variables, node by node.
//!
//! An operation runs over the nodes that either operand has; a missing operand counts as the int 0
//! (comparisons: over those of the left operand). A step that fails (division by zero, a root of a
//! negative number) leaves its node without a value; with constants alone it fails the request. An
//! int that does not fit into 64 bits always fails the request: there is a value, so leaving it out
//! would be a false answer.

use super::math_columns::{self, Arithmetic};
use crate::exec::control::tree::{Column, ValueMap};
use hexgraph_base::plan::{Constant, MathExpr, MathFunction, VarId};
use hexgraph_base::types::{Content, Error, Result, Value, ValueRef, ValueType, stack};
use std::cmp::Ordering;
use std::sync::Arc;

type Lookup<'a> = dyn Fn(VarId) -> Result<Arc<ValueMap>> + 'a;

/// What an expression is evaluated with, and what is noticed meanwhile.
pub(crate) struct Evaluation<'a> {
    lookup: &'a Lookup<'a>,
    /// The seconds from 1970 to the moment that is now.
    now: f64,
    /// The variables of operands, if one has nodes that the other lacks, where they count as 0; a
    /// variable may be there twice.
    pub(super) uneven: Vec<VarId>,
    /// True while every operator has a result for each node of its operands: then the results are
    /// those of all nodes that have a variable.
    pub(super) is_complete: bool,
    /// The first operator that has no result for the types of its operands.
    pub(super) mismatch: Option<Mismatch>,
}

/// An operator that has no result for the types of its operands, whatever their values.
#[derive(Debug)]
pub(crate) struct Mismatch {
    pub(super) function: MathFunction,
    /// The types of the operands; the variable of one that is nothing else.
    pub(super) operands: Vec<(ValueType, Option<VarId>)>,
}

impl<'a> Evaluation<'a> {
    /// What is needed: a lookup of the values of a variable, and the seconds from 1970 to now.
    pub(crate) fn new(lookup: &'a Lookup<'a>, now: f64) -> Evaluation<'a> {
        Evaluation { lookup, now, uneven: Vec::new(), is_complete: true, mismatch: None }
    }
}

/// Evaluates an expression. A constant one has its value for each of `nodes`; where no nodes are
/// given, as in an empty block, it stays a constant.
///
/// # Errors
///
/// [`Error::Query`] for a failing operation on constants, for an int that does not fit into 64
/// bits, and for a `cond` whose condition is a constant.
pub(crate) fn evaluate(
    expr: &MathExpr,
    nodes: Option<&[u32]>,
    with: &mut Evaluation<'_>,
) -> Result<ValueMap> {
    let result = with.eval(expr)?;
    // Shared where the expression is a variable alone, which others read, too.
    let mut map = Arc::try_unwrap(result).unwrap_or_else(|shared| ValueMap::clone(&shared));
    if let (Some(value), Some(nodes)) = (&map.constant, nodes) {
        let value = value.clone();
        map = ValueMap::from_sorted(nodes.iter().map(|&node| (node, value.clone())));
    }
    Ok(unify(map))
}

impl Evaluation<'_> {
    fn eval(&mut self, expr: &MathExpr) -> Result<Arc<ValueMap>> {
        stack::require();
        match expr {
            MathExpr::Constant(Constant::Int(number)) => {
                Ok(Arc::new(ValueMap::constant(Value::Int(*number))))
            }
            MathExpr::Constant(Constant::Float(number)) => {
                Ok(Arc::new(ValueMap::constant(Value::Float(*number))))
            }
            MathExpr::Value(value) => Ok(Arc::new(ValueMap::constant(value.clone()))),
            MathExpr::Var(var) => (self.lookup)(*var),
            MathExpr::Call(function, operands) => {
                let values = operands.iter().map(|operand| self.eval(operand));
                let values = values.collect::<Result<Vec<_>>>()?;
                let starts_with_literal = operands.first().is_some_and(is_literal);
                // A comparison runs over the nodes of its left operand, and a literal has none.
                if starts_with_literal && function.is_comparison() {
                    self.is_complete = false;
                    return Ok(Arc::default());
                }
                if *function == MathFunction::Cond
                    && starts_with_literal
                    && values[0].constant.is_some()
                {
                    let message = "the condition of `cond` is a constant";
                    let hint = "compare a variable, as in `cond(x > 1, x, 0)`";
                    return Err(Error::query(message).with_hint(hint));
                }
                self.call(*function, operands, &values).map(Arc::new)
            }
        }
    }

    fn call(
        &mut self,
        function: MathFunction,
        exprs: &[MathExpr],
        operands: &[Arc<ValueMap>],
    ) -> Result<ValueMap> {
        let result = match operands {
            [one] => {
                let (result, are_columns) = self.unary(function, one)?;
                self.is_complete &= result.nodes.len() == one.nodes.len();
                if are_columns {
                    return Ok(result);
                }
                result
            }
            [one, other] => {
                let are_alike = are_of_same_nodes(one, other);
                if !are_alike && !function.is_comparison() {
                    exprs.iter().for_each(|expr| math_vars(expr, &mut self.uneven));
                }
                let columns = math_columns::binary(function, one, other, are_alike);
                if let Some((result, is_complete)) = columns {
                    self.is_complete &= is_complete;
                    return Ok(result);
                }
                let result = one_by_one(function, one, other, are_alike)?;
                let nodes = one.nodes.len().max(other.nodes.len());
                self.is_complete &= are_alike && result.nodes.len() == nodes;
                result
            }
            [condition, yes, no] if function == MathFunction::Cond => {
                self.is_complete = false;
                cond(condition, yes, no)
            }
            _ => {
                let message = "a math function has the wrong number of arguments";
                return Err(Error::query(message));
            }
        };
        self.note_types(function, exprs, operands);
        Ok(result)
    }

    /// The results, and whether they were computed as an entire column.
    fn unary(&self, function: MathFunction, operand: &ValueMap) -> Result<(ValueMap, bool)> {
        if let Some(value) = &operand.constant {
            let result = apply_one(function, value.as_ref(), self.now)?;
            let result = result.map(ValueMap::constant);
            return Ok((result.ok_or_else(|| constant_failed(function))?, true));
        }
        if let Some(hit) = math_columns::unary(function, operand) {
            return Ok((hit, true));
        }
        let results = operand.iter();
        let results = results.map(|(node, value)| (node, apply_one(function, value, self.now)));
        Ok((collect(results)?, false))
    }

    /// Notes the types of the operands where no values of these types have a result. The values of
    /// an operand are of one type, or numbers. O(1).
    fn note_types(
        &mut self,
        function: MathFunction,
        exprs: &[MathExpr],
        operands: &[Arc<ValueMap>],
    ) {
        if self.mismatch.is_some() {
            return;
        }
        let first = |map: &ValueMap| match &map.constant {
            Some(value) => Some(value.as_ref().value_type()),
            None => (0 < map.values.len()).then(|| map.values.get(0).value_type()),
        };
        let types: Option<Vec<ValueType>> = operands.iter().map(|map| first(map)).collect();
        if let Some(types) = types.filter(|types| !may_have_result(function, types)) {
            let vars = exprs
                .iter()
                .map(|expr| if let MathExpr::Var(var) = expr { Some(*var) } else { None });
            let operands = types.into_iter().zip(vars).collect();
            self.mismatch = Some(Mismatch { function, operands });
        }
    }
}

/// Adds the variables of an expression, each as often as it is there.
pub(super) fn math_vars(expr: &MathExpr, vars: &mut Vec<VarId>) {
    stack::require();
    match expr {
        MathExpr::Constant(_) | MathExpr::Value(_) => {}
        MathExpr::Var(var) => vars.push(*var),
        MathExpr::Call(_, operands) => {
            operands.iter().for_each(|operand| math_vars(operand, vars));
        }
    }
}

/// False where an operator has no result for any values of some types.
fn may_have_result(function: MathFunction, types: &[ValueType]) -> bool {
    let is_number =
        |it: &ValueType| matches!(it, ValueType::Int | ValueType::Float | ValueType::BigFloat);
    let vectors = types.iter().filter(|it| **it == ValueType::Vector).count();
    match (function, types) {
        (MathFunction::Cond, [condition, ..]) => *condition == ValueType::Bool,
        (MathFunction::Since, [one]) => *one == ValueType::DateTime,
        (MathFunction::Negate, [ValueType::Vector]) => true,
        (MathFunction::Equal | MathFunction::NotEqual, [ValueType::Bool, ValueType::Bool]) => true,
        (_, [ValueType::Bool, ValueType::Bool]) => false,
        (_, [one, other]) if function.is_comparison() => {
            one == other || is_number(one) && is_number(other)
        }
        (MathFunction::Dot, _) => vectors == 2,
        (MathFunction::Add | MathFunction::Subtract, [_, _]) if 0 < vectors => vectors == 2,
        (MathFunction::Multiply, [_, _]) if vectors == 1 => {
            types.iter().all(|it| *it == ValueType::Vector || is_number(it))
        }
        (MathFunction::Divide, [ValueType::Vector, divisor]) => is_number(divisor),
        _ => types.iter().all(is_number),
    }
}

/// True where operands have the same nodes, or one has a value for all nodes.
fn are_of_same_nodes(one: &ValueMap, other: &ValueMap) -> bool {
    one.constant.is_some() || other.constant.is_some() || one.nodes == other.nodes
}

/// True for an expression without variables.
fn is_literal(expr: &MathExpr) -> bool {
    match expr {
        MathExpr::Constant(_) | MathExpr::Value(_) => true,
        MathExpr::Var(_) => false,
        MathExpr::Call(_, operands) => operands.iter().all(is_literal),
    }
}

/// As [`math_columns::binary`], for values of any types: node by node.
fn one_by_one(
    function: MathFunction,
    one: &ValueMap,
    other: &ValueMap,
    are_alike: bool,
) -> Result<ValueMap> {
    let apply = |one, other| apply(function, one, other);
    match (&one.constant, &other.constant) {
        (Some(one), Some(other)) => {
            let result = apply(one.as_ref(), other.as_ref())?;
            result.map(ValueMap::constant).ok_or_else(|| constant_failed(function))
        }
        (Some(_), None) if function.is_comparison() => Ok(ValueMap::default()),
        (Some(one), None) => {
            collect(other.iter().map(|(node, other)| (node, apply(one.as_ref(), other))))
        }
        (None, Some(other)) => {
            collect(one.iter().map(|(node, one)| (node, apply(one, other.as_ref()))))
        }
        // Both lists ascend, so operands of one node stand at one position and need no search.
        (None, None) if are_alike => {
            let pairs = one.iter().zip(other.iter());
            collect(pairs.map(|((node, one), (_, other))| (node, apply(one, other))))
        }
        // What a value is compared with has to be there.
        (None, None) if function.is_comparison() => {
            let pairs = one.iter().filter_map(|(node, left)| Some((node, left, other.get(node)?)));
            collect(pairs.map(|(node, left, right)| (node, apply(left, right))))
        }
        (None, None) => {
            let zero = ValueRef::Int(0);
            collect(both(one, other).into_iter().map(|node| {
                let left = one.get(node).unwrap_or(zero);
                let right = other.get(node).unwrap_or(zero);
                (node, apply(left, right))
            }))
        }
    }
}

/// The results of the nodes that have one.
fn collect(results: impl Iterator<Item = (u32, Result<Option<Value>>)>) -> Result<ValueMap> {
    let mut map = ValueMap::default();
    for (node, result) in results {
        if let Some(value) = result? {
            map.nodes.push(node);
            map.values.push(value);
        }
    }
    Ok(map)
}

/// The nodes of either map.
fn both(one: &ValueMap, other: &ValueMap) -> Vec<u32> {
    let mut nodes = [one.nodes.as_slice(), other.nodes.as_slice()].concat();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

fn cond(condition: &ValueMap, yes: &ValueMap, no: &ValueMap) -> ValueMap {
    match &condition.constant {
        Some(Value::Bool(true)) => return yes.clone(),
        Some(Value::Bool(false)) => return no.clone(),
        Some(_) => return ValueMap::default(),
        None => {}
    }
    ValueMap::from_sorted(condition.iter().filter_map(|(node, value)| {
        let ValueRef::Bool(truth) = value else { return None };
        let chosen = if truth { yes } else { no };
        chosen.get(node).map(|value| (node, value.to_value()))
    }))
}

/// The error for a result of ints that is no int.
fn overflow(function: MathFunction, operands: &[i64]) -> Error {
    let name = function.name();
    let operands: Vec<String> = operands.iter().map(i64::to_string).collect();
    let message = format!(
        "`{name}` of {} does not fit into an int, which goes from {} to {}",
        operands.join(" and "),
        i64::MIN,
        i64::MAX
    );
    Error::query(message).with_hint("compute with floats: multiply a variable by 1.0 first")
}

fn constant_failed(function: MathFunction) -> Error {
    let message = format!("`{}` has no result for these constants", function.name());
    Error::query(message)
}

/// When ints and floats meet in one result, all become floats.
fn unify(map: ValueMap) -> ValueMap {
    if !matches!(map.values, Column::Any(_)) {
        return map;
    }
    let mixed = {
        let mut kinds = map.iter().map(|(_, value)| matches!(value, ValueRef::Float(_)));
        match kinds.next() {
            Some(first) => kinds.any(|kind| kind != first),
            None => false,
        }
    };
    if !mixed
        || map.iter().any(|(_, value)| !matches!(value, ValueRef::Int(_) | ValueRef::Float(_)))
    {
        return map;
    }
    ValueMap::from_sorted(
        map.iter().map(|(node, value)| (node, Value::Float(value.to_f64().unwrap_or(0.0)))),
    )
}

/// A result as a value: what overflows becomes the greatest float, as in Dgraph.
fn finite(number: f64) -> Option<Value> {
    Some(Value::Float(super::sums::clamp(number)))
}

/// Applies an operator to a value; `None` where it has no result.
///
/// # Errors
///
/// [`Error::Query`] for an int that does not fit into 64 bits.
fn apply_one(function: MathFunction, value: ValueRef<'_>, now: f64) -> Result<Option<Value>> {
    if let (MathFunction::Negate, ValueRef::Int(number)) = (function, value) {
        let negated = number.checked_neg().ok_or_else(|| overflow(function, &[number]));
        return negated.map(|number| Some(Value::Int(number)));
    }
    Ok(float_of_one(function, value, now))
}

/// An operator on one value, all but the negation of an int.
fn float_of_one(function: MathFunction, value: ValueRef<'_>, now: f64) -> Option<Value> {
    if let (MathFunction::Floor | MathFunction::Ceil, ValueRef::Int(number)) = (function, value) {
        return Some(Value::Int(number));
    }
    match function {
        MathFunction::Negate => negated(value),
        MathFunction::Floor => finite(value.to_f64()?.floor()),
        MathFunction::Ceil => finite(value.to_f64()?.ceil()),
        MathFunction::Exp => finite(value.to_f64()?.exp()),
        MathFunction::Ln => finite(value.to_f64().filter(|number| 0.0 <= *number)?.ln()),
        MathFunction::Sqrt => finite(value.to_f64().filter(|number| 0.0 <= *number)?.sqrt()),
        MathFunction::Since => {
            let ValueRef::DateTime(time) = value else { return None };
            finite(now - time.seconds as f64 - f64::from(time.nanos) / 1e9)
        }
        MathFunction::Add
        | MathFunction::Subtract
        | MathFunction::Multiply
        | MathFunction::Divide
        | MathFunction::Modulo
        | MathFunction::Cond
        | MathFunction::Pow
        | MathFunction::LogBase
        | MathFunction::Max
        | MathFunction::Min
        | MathFunction::Dot
        | MathFunction::Less
        | MathFunction::Greater
        | MathFunction::LessEqual
        | MathFunction::GreaterEqual
        | MathFunction::Equal
        | MathFunction::NotEqual => None,
    }
}

/// The negation of a number that is no int, or of a vector.
fn negated(value: ValueRef<'_>) -> Option<Value> {
    match value.content() {
        Content::Float(number) => Some(Value::Float(-number)),
        Content::Numbers(numbers) => {
            Some(Value::Vector(numbers.iter().map(|number| -number).collect()))
        }
        Content::Text(_) if value.value_type() == ValueType::BigFloat => {
            big_floats(Arithmetic::Subtract, ValueRef::BigFloat("0"), value)
        }
        Content::Int(_)
        | Content::Bool(_)
        | Content::Time(_)
        | Content::Text(_)
        | Content::Bytes(_) => None,
    }
}

/// Applies an operator to two values; `None` where it has no result.
///
/// # Errors
///
/// As [`apply_one`].
fn apply(function: MathFunction, one: ValueRef<'_>, other: ValueRef<'_>) -> Result<Option<Value>> {
    if let Some(op) = Arithmetic::of(function) {
        return arithmetic(op, function, one, other);
    }
    let ordered =
        |holds: fn(Ordering) -> bool| order_of(one, other).map(|order| Value::Bool(holds(order)));
    Ok(match function {
        MathFunction::Less => ordered(Ordering::is_lt),
        MathFunction::Greater => ordered(Ordering::is_gt),
        MathFunction::LessEqual => ordered(Ordering::is_le),
        MathFunction::GreaterEqual => ordered(Ordering::is_ge),
        MathFunction::Equal => are_equal(one, other).map(Value::Bool),
        MathFunction::NotEqual => are_equal(one, other).map(|equal| Value::Bool(!equal)),
        // A broken power of a negative number is none, as is its root.
        MathFunction::Pow => two_floats(one, other)
            .map(|(one, other)| one.powf(other))
            .filter(|power| !power.is_nan())
            .and_then(finite),
        MathFunction::LogBase => two_floats(one, other)
            .filter(|(one, other)| 0.0 <= *one && 0.0 < *other && *other != 1.0)
            .and_then(|(one, other)| finite(one.ln() / other.ln())),
        MathFunction::Dot => dot(one, other),
        MathFunction::Add
        | MathFunction::Subtract
        | MathFunction::Multiply
        | MathFunction::Divide
        | MathFunction::Modulo
        | MathFunction::Max
        | MathFunction::Min
        | MathFunction::Negate
        | MathFunction::Floor
        | MathFunction::Ceil
        | MathFunction::Since
        | MathFunction::Exp
        | MathFunction::Ln
        | MathFunction::Sqrt
        | MathFunction::Cond => None,
    })
}

/// The order of two values; `None` for bools, and for values without an order.
fn order_of(one: ValueRef<'_>, other: ValueRef<'_>) -> Option<Ordering> {
    let are_bools = matches!((one, other), (ValueRef::Bool(_), ValueRef::Bool(_)));
    let are_comparable = one.value_type() == other.value_type()
        || one.to_f64().is_some() && other.to_f64().is_some();
    (are_comparable && !are_bools).then(|| one.compare(other))?
}

/// Whether two values are equal; `None` for those that can't be compared.
fn are_equal(one: ValueRef<'_>, other: ValueRef<'_>) -> Option<bool> {
    if let (ValueRef::Bool(one), ValueRef::Bool(other)) = (one, other) {
        return Some(one == other);
    }
    order_of(one, other).map(Ordering::is_eq)
}

/// An operator on two numbers, or on vectors; `function` names it.
///
/// # Errors
///
/// As [`apply_one`].
fn arithmetic(
    op: Arithmetic,
    function: MathFunction,
    one: ValueRef<'_>,
    other: ValueRef<'_>,
) -> Result<Option<Value>> {
    Ok(match (one, other) {
        (ValueRef::Int(one), ValueRef::Int(other)) => {
            if op.divides() && other == 0 {
                return Ok(None);
            }
            let result = int(op, one, other).ok_or_else(|| overflow(function, &[one, other]))?;
            Some(Value::Int(result))
        }
        (ValueRef::Vector(_), _) | (_, ValueRef::Vector(_)) => vectors(op, one, other),
        (ValueRef::BigFloat(_), _) | (_, ValueRef::BigFloat(_)) => big_floats(op, one, other),
        _ => two_floats(one, other).and_then(|(one, other)| floats(op, one, other)),
    })
}

/// An operator on two ints, the second not 0 for a division; `None` where the result is no int.
fn int(op: Arithmetic, one: i64, other: i64) -> Option<i64> {
    match op {
        Arithmetic::Add => one.checked_add(other),
        Arithmetic::Subtract => one.checked_sub(other),
        Arithmetic::Multiply => one.checked_mul(other),
        Arithmetic::Divide => one.checked_div(other),
        // Only the quotient of the least int and -1 overflows; the remainder is 0.
        Arithmetic::Modulo => Some(one.wrapping_rem(other)),
        Arithmetic::Max => Some(one.max(other)),
        Arithmetic::Min => Some(one.min(other)),
    }
}

fn floats(op: Arithmetic, one: f64, other: f64) -> Option<Value> {
    if op.divides() && other == 0.0 {
        return None;
    }
    finite(match op {
        Arithmetic::Add => one + other,
        Arithmetic::Subtract => one - other,
        Arithmetic::Multiply => one * other,
        Arithmetic::Divide => one / other,
        Arithmetic::Modulo => one % other,
        Arithmetic::Max => one.max(other),
        Arithmetic::Min => one.min(other),
    })
}

/// Two numbers as floats; `None` where one is no number.
fn two_floats(one: ValueRef<'_>, other: ValueRef<'_>) -> Option<(f64, f64)> {
    let is_big = |value| matches!(value, ValueRef::BigFloat(_));
    if is_big(one) || is_big(other) {
        return Some((one.to_big_float()?.to_f64(), other.to_big_float()?.to_f64()));
    }
    Some((one.to_f64()?, other.to_f64()?))
}

/// The scalar product of two vectors of one length.
fn dot(one: ValueRef<'_>, other: ValueRef<'_>) -> Option<Value> {
    let (ValueRef::Vector(one), ValueRef::Vector(other)) = (one, other) else { return None };
    let products = one.iter().zip(other).map(|(a, b)| f64::from(*a) * f64::from(*b));
    if one.len() == other.len() { finite(products.sum()) } else { None }
}

/// An operator on two vectors of one length, or on a vector and a number.
fn vectors(op: Arithmetic, one: ValueRef<'_>, other: ValueRef<'_>) -> Option<Value> {
    if let (ValueRef::Vector(one), ValueRef::Vector(other)) = (one, other) {
        if one.len() != other.len() {
            return None;
        }
        let pairs = one.iter().zip(other);
        return match op {
            Arithmetic::Add => Some(Value::Vector(pairs.map(|(a, b)| a + b).collect())),
            Arithmetic::Subtract => Some(Value::Vector(pairs.map(|(a, b)| a - b).collect())),
            Arithmetic::Multiply
            | Arithmetic::Divide
            | Arithmetic::Modulo
            | Arithmetic::Max
            | Arithmetic::Min => None,
        };
    }
    let (numbers, factor) = match (one, other) {
        (ValueRef::Vector(numbers), scalar) => (numbers, scalar),
        (scalar, ValueRef::Vector(numbers)) if op == Arithmetic::Multiply => (numbers, scalar),
        _ => return None,
    };
    let factor = factor.to_f64()? as f32;
    if factor.is_infinite() {
        return None;
    }
    match op {
        Arithmetic::Multiply => Some(Value::Vector(numbers.iter().map(|x| x * factor).collect())),
        Arithmetic::Divide if factor != 0.0 => {
            Some(Value::Vector(numbers.iter().map(|x| x / factor).collect()))
        }
        Arithmetic::Add
        | Arithmetic::Subtract
        | Arithmetic::Divide
        | Arithmetic::Modulo
        | Arithmetic::Max
        | Arithmetic::Min => None,
    }
}

fn big_floats(op: Arithmetic, one: ValueRef<'_>, other: ValueRef<'_>) -> Option<Value> {
    let (one, other) = (one.to_big_float()?, other.to_big_float()?);
    match op {
        Arithmetic::Add => one.add(&other).map(Value::BigFloat),
        Arithmetic::Subtract => one.sub(&other).map(Value::BigFloat),
        Arithmetic::Multiply => one.mul(&other).map(Value::BigFloat),
        Arithmetic::Divide => one.div(&other).map(Value::BigFloat),
        Arithmetic::Modulo => floats(op, one.to_f64(), other.to_f64()),
        Arithmetic::Max => {
            Some(Value::BigFloat(if one.compare(&other).is_ge() { one } else { other }))
        }
        Arithmetic::Min => {
            Some(Value::BigFloat(if one.compare(&other).is_le() { one } else { other }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const FUNCTIONS: [MathFunction; 9] = [
        MathFunction::Add,
        MathFunction::Subtract,
        MathFunction::Multiply,
        MathFunction::Divide,
        MathFunction::Modulo,
        MathFunction::Max,
        MathFunction::Min,
        MathFunction::Less,
        MathFunction::Equal,
    ];

    /// A constant, or a column of ints or floats.
    fn operand() -> impl Strategy<Value = ValueMap> {
        let int = || prop_oneof![-3..4_i64, Just(i64::MAX), Just(i64::MIN)];
        let float = || prop_oneof![-3.0..4.0, Just(0.0), Just(-0.0), Just(1e308), Just(0.5)];
        let ints = prop::collection::btree_map(0..12_u32, int().prop_map(Value::Int), 0..8);
        let floats = prop::collection::btree_map(0..12_u32, float().prop_map(Value::Float), 0..8);
        let map = |pairs: BTreeMap<u32, Value>| ValueMap::from_sorted(pairs);
        prop_oneof![
            3 => ints.prop_map(map),
            3 => floats.prop_map(map),
            1 => int().prop_map(|it| ValueMap::constant(Value::Int(it))),
            1 => float().prop_map(|it| ValueMap::constant(Value::Float(it))),
        ]
    }

    proptest! {
        /// Columns have the same results as single values.
        #[test]
        fn columns_compute_what_values_do(one in operand(), other in operand()) {
            for function in FUNCTIONS {
                let are_alike = are_of_same_nodes(&one, &other);
                let result = math_columns::binary(function, &one, &other, are_alike);
                let Some((result, is_complete)) = result else { continue };
                let nodes = match (&one.constant, &other.constant) {
                    (None, None) => both(&one, &other).len(),
                    _ => one.nodes.len().max(other.nodes.len()),
                };
                prop_assert_eq!(is_complete, result.nodes.len() == nodes);
                let expected = one_by_one(function, &one, &other, are_alike).unwrap();
                let shown = |map: ValueMap| {
                    map.iter().map(|pair| format!("{pair:?}")).collect::<Vec<_>>()
                };
                prop_assert_eq!(shown(result), shown(expected), "{:?}", function);
            }
        }
    }
}
