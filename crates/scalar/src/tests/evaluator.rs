//! Evaluates the syntax tree of an expression with the functions of this crate: enough for queries
//! that read no graph.

use crate::{
    Accumulator, Arithmetic, Comparison, Context, List, Result, TextTest, Value, aggregate, and,
    arithmetic, compare, contains, equals, function, matches, negate, or, property, slice,
    subscript, text_test, truth, xor,
};
use hexgraph_cypher::ast::{
    Access, ArithmeticOp, Case, CompareOp, Expr, ExprKind, ListComprehension, QuantifierKind, Test,
};
use std::cell::RefCell;
use std::collections::HashMap;

/// The variables of a row, and the parameters.
pub(super) type Row = HashMap<String, Value>;

/// What a query needs that is not evaluated here.
pub(super) enum Stop {
    Failed(String),
    Skipped(String),
}

impl From<Box<crate::ScalarError>> for Stop {
    fn from(error: Box<crate::ScalarError>) -> Stop {
        Stop::Failed(error.to_string())
    }
}

pub(super) type Evaluated = std::result::Result<Value, Stop>;

fn skipped<T>(what: &str) -> std::result::Result<T, Stop> {
    Err(Stop::Skipped(what.to_owned()))
}

/// Evaluates an expression for a row. Parameters are variables with a `$` in front.
pub(super) fn evaluate(expr: &Expr, row: &Row, context: &Context) -> Evaluated {
    let eval = |expr: &Expr| evaluate(expr, row, context);
    let condition = |expr: &Expr| Ok::<_, Stop>(truth(&eval(expr)?)?);
    let chain = |items: &[Expr], join: fn(Option<bool>, Option<bool>) -> Option<bool>| {
        let mut result = condition(&items[0])?;
        for item in &items[1..] {
            result = join(result, condition(item)?);
        }
        Ok(Value::from(result))
    };
    match &expr.kind {
        ExprKind::Null => Ok(Value::Null),
        ExprKind::Boolean(value) => Ok(Value::Bool(*value)),
        ExprKind::Integer(value) => i64::try_from(*value)
            .map(Value::Int)
            .map_err(|_| Stop::Failed("IntegerOverflow".to_owned())),
        ExprKind::Float(value) if value.is_finite() => Ok(Value::Float(*value)),
        ExprKind::Float(_) => Err(Stop::Failed("FloatingPointOverflow".to_owned())),
        ExprKind::String(text) => Ok(Value::from(&**text)),
        ExprKind::Parameter(name) => variable(row, &format!("${name}")),
        ExprKind::Variable(name) => variable(row, name),
        ExprKind::List(items) => {
            Ok(Value::list(items.iter().map(eval).collect::<std::result::Result<_, _>>()?)?)
        }
        ExprKind::Map(entries) => {
            let entries =
                entries.iter().map(|(key, value)| Ok((key.text.to_string().into(), eval(value)?)));
            Ok(Value::map(entries.collect::<std::result::Result<_, Stop>>()?)?)
        }
        ExprKind::Or(items) => chain(items, or),
        ExprKind::Xor(items) => chain(items, xor),
        ExprKind::And(items) => chain(items, and),
        ExprKind::Not(inner) => Ok(Value::from(condition(inner)?.map(|value| !value))),
        ExprKind::Compare(first, rest) => comparisons(&eval(first)?, rest, &eval),
        ExprKind::Test(first, tests) => tested(eval(first)?, tests, &eval, context),
        ExprKind::Arithmetic(first, rest) => {
            let mut result = eval(first)?;
            for (operator, other) in rest {
                result = arithmetic(result, operator_of(*operator), eval(other)?, context)?;
            }
            Ok(result)
        }
        // The smallest integer has no positive one.
        ExprKind::Signed(true, inner) if matches!(inner.kind, ExprKind::Integer(it) if it == 1 << 63) => {
            Ok(Value::Int(i64::MIN))
        }
        ExprKind::Signed(true, inner) => Ok(negate(eval(inner)?)?),
        ExprKind::Signed(false, inner) => eval(inner),
        ExprKind::Access(first, steps) => accessed(eval(first)?, steps, &eval, context),
        ExprKind::Call(call) => {
            let arguments: Vec<Value> =
                call.arguments.iter().map(eval).collect::<std::result::Result<_, _>>()?;
            if let Some(aggregate) = aggregate(&call.name.text) {
                return aggregated(aggregate.start(call.distinct), &call.arguments, context);
            }
            let Some(function) = function(&call.name.text) else { return skipped(&call.name.text) };
            Ok(function.call(&arguments, context)?)
        }
        ExprKind::CountStar => aggregated(aggregate("count").unwrap().start(false), &[], context),
        ExprKind::Case(case) => chosen(case, &eval),
        ExprKind::ListComprehension(it) => comprehended(it, row, context),
        ExprKind::Quantifier(kind, it) => quantified(*kind, it, row, context),
        ExprKind::Reduce(reduce) => {
            let Value::List(items) = eval(&reduce.list)? else { return Ok(Value::Null) };
            let mut inner = row.clone();
            let mut result = eval(&reduce.start)?;
            for item in items.iter() {
                inner.insert(reduce.accumulator.text.to_string(), result);
                inner.insert(reduce.variable.text.to_string(), item.clone());
                result = evaluate(&reduce.step, &inner, context)?;
            }
            Ok(result)
        }
        _ => skipped("an expression of the graph"),
    }
}

thread_local! {
    /// The rows that are aggregated.
    static GROUP: RefCell<Vec<Row>> = const { RefCell::new(Vec::new()) };
}

/// Evaluates an expression with aggregates of a group; `row` has what is equal in it.
pub(super) fn evaluate_group(
    expr: &Expr,
    row: &Row,
    group: &[Row],
    context: &Context,
) -> Evaluated {
    let before = GROUP.replace(group.to_vec());
    let result = evaluate(expr, row, context);
    GROUP.set(before);
    result
}

/// The result of an aggregate; two halves of the group are accumulated and merged.
fn aggregated(mut accumulator: Accumulator, arguments: &[Expr], context: &Context) -> Evaluated {
    let group = GROUP.with_borrow(Vec::clone);
    let aggregate = accumulator.aggregate();
    let mut second = aggregate.start(accumulator.is_distinct());
    let middle = group.len() / 2;
    for (index, row) in group.iter().enumerate() {
        let values: Vec<Value> = arguments
            .iter()
            .map(|it| evaluate(it, row, context))
            .collect::<std::result::Result<_, _>>()?;
        let accumulator = if index < middle { &mut accumulator } else { &mut second };
        accumulator.update(&values, context)?;
    }
    accumulator.merge(second, context)?;
    Ok(accumulator.finish()?)
}

fn variable(row: &Row, name: &str) -> Evaluated {
    row.get(name).cloned().ok_or_else(|| Stop::Failed(format!("no variable {name}")))
}

fn comparisons(
    first: &Value,
    rest: &[(CompareOp, Expr)],
    eval: &dyn Fn(&Expr) -> Evaluated,
) -> Evaluated {
    let mut result = Some(true);
    let mut left = first.clone();
    for (operator, expr) in rest {
        let right = eval(expr)?;
        let holds = match operator {
            CompareOp::Equal => equals(&left, &right),
            CompareOp::Unequal => equals(&left, &right).map(|value| !value),
            CompareOp::Less => compare(&left, Comparison::Less, &right),
            CompareOp::LessEqual => compare(&left, Comparison::LessOrEqual, &right),
            CompareOp::Greater => compare(&left, Comparison::Greater, &right),
            CompareOp::GreaterEqual => compare(&left, Comparison::GreaterOrEqual, &right),
        };
        result = and(result, holds);
        left = right;
    }
    Ok(Value::from(result))
}

fn tested(
    first: Value,
    tests: &[Test],
    eval: &dyn Fn(&Expr) -> Evaluated,
    context: &Context,
) -> Evaluated {
    let mut value = first;
    for test in tests {
        let result = match test {
            Test::StartsWith(part) => text_test(&value, TextTest::StartsWith, &eval(part)?),
            Test::EndsWith(part) => text_test(&value, TextTest::EndsWith, &eval(part)?),
            Test::Contains(part) => text_test(&value, TextTest::Contains, &eval(part)?),
            Test::Matches(pattern) => matches(&value, &eval(pattern)?, context)?,
            Test::In(list) => contains(&eval(list)?, &value)?,
            Test::IsNull(negated) => Some(value.is_null() != *negated),
            Test::IsType(..) => return skipped("IS ::"),
        };
        value = Value::from(result);
    }
    Ok(value)
}

fn operator_of(operator: ArithmeticOp) -> Arithmetic {
    match operator {
        // Lists and strings alone are joined, and `+` joins these likewise.
        ArithmeticOp::Add | ArithmeticOp::Concatenate => Arithmetic::Add,
        ArithmeticOp::Subtract => Arithmetic::Subtract,
        ArithmeticOp::Multiply => Arithmetic::Multiply,
        ArithmeticOp::Divide => Arithmetic::Divide,
        ArithmeticOp::Modulo => Arithmetic::Modulo,
        ArithmeticOp::Power => Arithmetic::Power,
    }
}

fn accessed(
    first: Value,
    steps: &[Access],
    eval: &dyn Fn(&Expr) -> Evaluated,
    context: &Context,
) -> Evaluated {
    let mut value = first;
    for step in steps {
        value = match step {
            Access::Property(name) => property(&value, &name.text)?,
            Access::Index(key) => subscript(&value, &eval(key)?)?,
            Access::Slice(from, to) => {
                let bound = |expr: &Option<Expr>| expr.as_ref().map(eval).transpose();
                let (from, to) = (bound(from)?, bound(to)?);
                slice(&value, from.as_ref(), to.as_ref(), context)?
            }
        };
    }
    Ok(value)
}

fn chosen(case: &Case, eval: &dyn Fn(&Expr) -> Evaluated) -> Evaluated {
    let subject = case.subject.as_ref().map(eval).transpose()?;
    for (when, then) in &case.branches {
        let when = eval(when)?;
        let is_chosen = match &subject {
            Some(subject) => equals(subject, &when),
            None => truth(&when)?,
        };
        if is_chosen == Some(true) {
            return eval(then);
        }
    }
    case.otherwise.as_ref().map_or(Ok(Value::Null), eval)
}

/// For each element the row with it.
fn rows_of<'a>(
    it: &'a ListComprehension,
    items: &'a List,
    row: &'a Row,
) -> impl Iterator<Item = (Value, Row)> + 'a {
    items.iter().map(move |item| {
        let mut inner = row.clone();
        inner.insert(it.variable.text.to_string(), item.clone());
        (item.clone(), inner)
    })
}

fn listed(expr: &Expr, row: &Row, context: &Context) -> std::result::Result<Option<List>, Stop> {
    match evaluate(expr, row, context)? {
        Value::Null => Ok(None),
        Value::List(items) => Ok(Some(items)),
        other => Err(Stop::Failed(format!("a {} is no LIST", other.kind().name()))),
    }
}

fn comprehended(it: &ListComprehension, row: &Row, context: &Context) -> Evaluated {
    let Some(items) = listed(&it.list, row, context)? else { return Ok(Value::Null) };
    let mut result = Vec::new();
    for (item, inner) in rows_of(it, &items, row) {
        let filter = it.filter.as_ref().map(|filter| evaluate(filter, &inner, context));
        let is_in = filter.transpose()?.map_or(Ok(Some(true)), |value| truth(&value))?;
        if is_in == Some(true) {
            let value = it.result.as_ref().map(|expr| evaluate(expr, &inner, context));
            result.push(value.unwrap_or(Ok(item))?);
        }
    }
    Ok(Value::list(result)?)
}

fn quantified(
    kind: QuantifierKind,
    it: &ListComprehension,
    row: &Row,
    context: &Context,
) -> Evaluated {
    let Some(items) = listed(&it.list, row, context)? else { return Ok(Value::Null) };
    let mut truths = Vec::new();
    for (item, inner) in rows_of(it, &items, row) {
        let value = it.filter.as_ref().map(|filter| evaluate(filter, &inner, context));
        truths.push(truth(&value.unwrap_or(Ok(item))?)?);
    }
    let count = |value: Option<bool>| truths.iter().filter(|it| **it == value).count();
    let (holds, fails, unknown) = (count(Some(true)), count(Some(false)), count(None));
    Ok(Value::from(match kind {
        QuantifierKind::All if 0 < fails => Some(false),
        QuantifierKind::Any if 0 < holds => Some(true),
        QuantifierKind::None if 0 < holds => Some(false),
        QuantifierKind::Single if 1 < holds => Some(false),
        _ if 0 < unknown => None,
        QuantifierKind::All | QuantifierKind::None => Some(true),
        QuantifierKind::Any => Some(false),
        QuantifierKind::Single => Some(holds == 1),
    }))
}

/// The value of an expression without variables.
pub(super) fn constant(text: &str, context: &Context) -> Result<Value> {
    let parsed = hexgraph_cypher::parse(&format!("RETURN {text} AS x")).unwrap();
    let clauses = &parsed.statement().query.branches[0].clauses;
    let hexgraph_cypher::ast::ClauseKind::Return(projection) = &clauses[0].kind else {
        unreachable!()
    };
    match evaluate(&projection.items[0].expr, &Row::new(), context) {
        Ok(value) => Ok(value),
        Err(Stop::Failed(message) | Stop::Skipped(message)) => {
            Err(crate::ScalarError::new(crate::Fault::Argument, message, ""))
        }
    }
}
