//! `math(...)` as a program over columns that are read a batch at a time.
//!
//! An expression is compiled where no result is an error, whatever the numbers are: ints whose
//! bounds show that nothing leaves 64 bits, and floats. A batch of some thousand numbers stays in
//! the nearest cache from operator to operator. All other expressions are left to
//! [`super::evaluate`].
//!
//! An operator that may have no result (a division by a variable, a root) is compiled where nothing
//! but constants and operators on one operand are above it: a node without its result has none of
//! the expression. Elsewhere a missing result counts as 0.

use super::math_columns::{
    Arithmetic, Divisible, OperandValues, bounded_int_results, float_result, float_results,
};
use crate::exec::columns::number_columns::{NumberKind, NumberList, NumberSlice};
use hexgraph_base::plan::{Constant, MathExpr, MathFunction, VarId};
use hexgraph_base::types::stack;
use std::borrow::Cow;

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Program {
    node: Node,
    kind: NumberKind,
    /// True where a node may have no result.
    may_fail: bool,
}

#[derive(Debug)]
enum Node {
    /// The numbers of a column, by its position among the inputs.
    Input(usize),
    Int(i64),
    Float(f64),
    Unary(MathFunction, Box<Node>),
    Binary(Arithmetic, Box<(Node, Node)>),
    /// An operator on one operand that has no result for some numbers.
    Partial(MathFunction, Box<Node>),
    /// A quotient or a remainder by numbers that may be 0.
    Divided(Arithmetic, Box<(Node, Node)>),
}

/// The numbers of a batch: one for each node, or one for all of them.
enum Batch<'a> {
    Ints(Cow<'a, [i64]>),
    Floats(Cow<'a, [f64]>),
    Int(i64),
    Float(f64),
}

impl Program {
    /// Compiles an expression; `input` gives the index of a variable among the inputs and the
    /// bounds of its numbers. `None` where a result might be an error or of another type, where a
    /// variable is no column of numbers, and without any variable.
    pub(crate) fn compile(
        expr: &MathExpr,
        input: &mut dyn FnMut(VarId) -> Option<(usize, NumberKind)>,
    ) -> Option<Program> {
        let (node, kind) = compile(expr, input, true)?;
        let may_fail = node.may_fail();
        node.has_input().then_some(Program { node, kind, may_fail })
    }

    /// True where a node may have no result, though it has numbers.
    pub(crate) fn may_fail(&self) -> bool {
        self.may_fail
    }

    /// Bounds of the results.
    pub(crate) fn kind(&self) -> NumberKind {
        self.kind
    }

    /// True where inputs that lack nodes may be 0 there, as a missing operand is for a single
    /// operator: `lacks` says of an input whether it lacks a node of another one. No operator whose
    /// operands are all missing makes anything but the int 0 of them.
    pub(crate) fn counts_missing_as_zero(&self, lacks: &[bool]) -> bool {
        self.node
            .is_missing(lacks)
            .is_some_and(|is_missing| !is_missing || matches!(self.kind, NumberKind::Int { .. }))
    }

    /// Computes the results of a batch, for inputs of the same length, into one of two lists, by
    /// their type. Sets `has` to whether each node has one, and to an empty list where all do.
    /// `None`, which compiling rules out, for an error.
    pub(crate) fn run(
        &self,
        inputs: &[NumberSlice<'_>],
        len: usize,
        has: &mut Vec<bool>,
    ) -> Option<NumberList> {
        has.clear();
        Some(match self.node.eval(inputs, len, has)? {
            Batch::Ints(ints) => NumberList::Ints(ints.into_owned()),
            Batch::Floats(floats) => NumberList::Floats(floats.into_owned()),
            Batch::Int(int) => NumberList::Ints(vec![int; len]),
            Batch::Float(float) => NumberList::Floats(vec![float; len]),
        })
    }
}

/// `may_fail` allows operators that have no result for some numbers.
fn compile(
    expr: &MathExpr,
    input: &mut dyn FnMut(VarId) -> Option<(usize, NumberKind)>,
    may_fail: bool,
) -> Option<(Node, NumberKind)> {
    stack::require();
    let is_constant = |expr: &MathExpr| matches!(expr, MathExpr::Constant(_));
    match expr {
        MathExpr::Constant(Constant::Int(int)) => {
            Some((Node::Int(*int), NumberKind::Int { least: *int, greatest: *int }))
        }
        MathExpr::Constant(Constant::Float(float)) => {
            Some((Node::Float(*float), NumberKind::Float))
        }
        MathExpr::Value(_) => None,
        MathExpr::Var(var) => input(*var).map(|(position, kind)| (Node::Input(position), kind)),
        MathExpr::Call(function, operands) => match operands.as_slice() {
            [one] => {
                let (node, kind) = compile(one, input, may_fail)?;
                let is_partial = matches!(function, MathFunction::Ln | MathFunction::Sqrt);
                if is_partial && may_fail && node.has_input() {
                    let node = Node::Partial(*function, Box::new(node));
                    return Some((node, NumberKind::Float));
                }
                let kind = kind_of_one(*function, kind)?;
                Some((Node::Unary(*function, Box::new(node)), kind))
            }
            [one, other] => {
                let op = Arithmetic::of(*function)?;
                let (left, one_kind) = compile(one, input, may_fail && is_constant(other))?;
                let (right, other_kind) = compile(other, input, may_fail && is_constant(one))?;
                if op.divides() && !right.is_divisor() {
                    if !may_fail || !right.has_input() || left.may_fail() {
                        return None;
                    }
                    let kind = kind_of_division(op, one_kind, other_kind)?;
                    return Some((Node::Divided(op, Box::new((left, right))), kind));
                }
                let kind = kind_of_two(op, one_kind, other_kind)?;
                Some((Node::Binary(op, Box::new((left, right))), kind))
            }
            _ => None,
        },
    }
}

/// Bounds of the results of an operator on one operand; `None` where there may be none.
fn kind_of_one(function: MathFunction, kind: NumberKind) -> Option<NumberKind> {
    match (function, kind) {
        (MathFunction::Negate, NumberKind::Float) | (MathFunction::Exp, _) => {
            Some(NumberKind::Float)
        }
        (MathFunction::Negate, NumberKind::Int { least, greatest }) => {
            ints_between(-i128::from(greatest), -i128::from(least))
        }
        _ => None,
    }
}

/// As [`kind_of_one`], on two operands. A divisor is a constant other than 0.
fn kind_of_two(op: Arithmetic, one: NumberKind, other: NumberKind) -> Option<NumberKind> {
    let (NumberKind::Int { least: a, greatest: b }, NumberKind::Int { least: c, greatest: d }) =
        (one, other)
    else {
        return Some(NumberKind::Float);
    };
    // In 128 bits no sum and no product of two bounds overflows.
    let [a, b, c, d] = [a, b, c, d].map(i128::from);
    match op {
        Arithmetic::Add => ints_between(a + c, b + d),
        Arithmetic::Subtract => ints_between(a - d, b - c),
        Arithmetic::Multiply => {
            let products = [a * c, a * d, b * c, b * d];
            ints_between(*products.iter().min()?, *products.iter().max()?)
        }
        // By a constant, a quotient only rises or only falls with the dividend: its bounds are
        // those of the ends.
        Arithmetic::Divide => ints_between((a / c).min(b / c), (a / c).max(b / c)),
        // A remainder has the sign of the dividend, which may be either, and is less than the
        // divisor.
        Arithmetic::Modulo => ints_between(-(c.abs() - 1), c.abs() - 1),
        Arithmetic::Max => ints_between(a.max(c), b.max(d)),
        Arithmetic::Min => ints_between(a.min(c), b.min(d)),
    }
}

/// As [`kind_of_two`], of a quotient or a remainder by any number but 0.
fn kind_of_division(op: Arithmetic, one: NumberKind, other: NumberKind) -> Option<NumberKind> {
    let (NumberKind::Int { least: a, greatest: b }, NumberKind::Int { least: c, greatest: d }) =
        (one, other)
    else {
        return Some(NumberKind::Float);
    };
    let greatest = |one: i64, other: i64| i128::from(one).abs().max(i128::from(other).abs());
    // By 1 and by -1 a quotient is greatest. A remainder is less than the divisor.
    let is_rest = op == Arithmetic::Modulo;
    let most = if is_rest { (greatest(c, d) - 1).max(0) } else { greatest(a, b) };
    ints_between(-most, most)
}

fn ints_between(least: i128, greatest: i128) -> Option<NumberKind> {
    let (least, greatest) = (i64::try_from(least).ok()?, i64::try_from(greatest).ok()?);
    Some(NumberKind::Int { least, greatest })
}

impl Node {
    fn has_input(&self) -> bool {
        stack::require();
        match self {
            Node::Input(_) => true,
            Node::Int(_) | Node::Float(_) => false,
            Node::Unary(_, node) | Node::Partial(_, node) => node.has_input(),
            Node::Binary(_, nodes) | Node::Divided(_, nodes) => {
                nodes.0.has_input() || nodes.1.has_input()
            }
        }
    }

    /// True for a constant by which every number can be divided.
    fn is_divisor(&self) -> bool {
        matches!(self, Node::Int(int) if *int != 0)
            || matches!(self, Node::Float(float) if *float != 0.0)
    }

    fn may_fail(&self) -> bool {
        stack::require();
        match self {
            Node::Input(_) | Node::Int(_) | Node::Float(_) => false,
            Node::Unary(_, node) => node.may_fail(),
            Node::Binary(_, nodes) => nodes.0.may_fail() || nodes.1.may_fail(),
            Node::Partial(..) | Node::Divided(..) => true,
        }
    }

    /// Whether a node may have no operand of this operator, and those below make the int 0 of none;
    /// `None` where one makes something else of it. `lacks` as in
    /// [`Program::counts_missing_as_zero`].
    fn is_missing(&self, lacks: &[bool]) -> Option<bool> {
        stack::require();
        match self {
            Node::Input(position) => Some(lacks[*position]),
            Node::Int(_) | Node::Float(_) => Some(false),
            Node::Unary(function, node) => {
                let is_missing = node.is_missing(lacks)?;
                (!is_missing || *function == MathFunction::Negate).then_some(is_missing)
            }
            Node::Partial(_, node) => (!node.is_missing(lacks)?).then_some(false),
            Node::Binary(op, nodes) | Node::Divided(op, nodes) => {
                let (one, other) = &**nodes;
                let (left, right) = (one.is_missing(lacks)?, other.is_missing(lacks)?);
                match (one.has_input(), other.has_input()) {
                    // A node that lacks the operand has no result next to a constant, and 0 is read
                    // of it.
                    (true, false) if left => {
                        let keeps_zero = *op == Arithmetic::Multiply || op.divides();
                        (keeps_zero && matches!(other, Node::Int(_))).then_some(true)
                    }
                    (false, true) if right => {
                        let keeps_zero = *op == Arithmetic::Multiply;
                        (keeps_zero && matches!(one, Node::Int(_))).then_some(true)
                    }
                    // 0 divided by 0 has no result, which is not what is missing.
                    (true, true) if left && right => {
                        (!matches!(self, Node::Divided(..))).then_some(true)
                    }
                    (_, _) => Some(false),
                }
            }
        }
    }

    fn eval<'a>(
        &self,
        inputs: &[NumberSlice<'a>],
        len: usize,
        has: &mut Vec<bool>,
    ) -> Option<Batch<'a>> {
        stack::require();
        Some(match self {
            Node::Input(position) => match inputs[*position] {
                NumberSlice::Narrow(ints) => {
                    Batch::Ints(ints.iter().map(|&int| int.into()).collect())
                }
                NumberSlice::Ints(ints) => Batch::Ints(ints.into()),
                NumberSlice::Floats(floats) => Batch::Floats(floats.into()),
            },
            Node::Int(int) => Batch::Int(*int),
            Node::Float(float) => Batch::Float(*float),
            Node::Unary(function, node) => node.eval(inputs, len, has)?.unary(*function, len)?,
            Node::Partial(function, node) => {
                node.eval(inputs, len, has)?.partial(*function, has)?
            }
            Node::Binary(op, nodes) => {
                let one = nodes.0.eval(inputs, len, has)?;
                let other = nodes.1.eval(inputs, len, has)?;
                if let (Some(one), Some(other)) = (one.ints(), other.ints()) {
                    // The bounds were followed when the program was compiled.
                    Batch::Ints(bounded_int_results(*op, one, other, len)?.into())
                } else {
                    let (one, other) = (one.into_floats(), other.into_floats());
                    let (one, other) = (one.floats()?, other.floats()?);
                    Batch::Floats(float_results(*op, one, other, len)?.into())
                }
            }
            Node::Divided(op, nodes) => {
                let one = nodes.0.eval(inputs, len, has)?;
                let other = nodes.1.eval(inputs, len, has)?;
                if let (Some(one), Batch::Ints(divisors)) = (one.ints(), &other) {
                    return Some(Batch::Ints(divided(*op, one, divisors, has)?.into()));
                }
                let (one, other) = (one.into_floats(), other.into_floats());
                let (one, Batch::Floats(divisors)) = (one.floats()?, &other) else { return None };
                Batch::Floats(divided(*op, one, divisors, has)?.into())
            }
        })
    }
}

/// The quotients or remainders of a batch; 0, which is within all bounds, where the divisor is 0,
/// and that is noted in `has`.
fn divided<T: Divisible>(
    op: Arithmetic,
    one: OperandValues<'_, T>,
    divisors: &[T],
    has: &mut Vec<bool>,
) -> Option<Vec<T>> {
    note(has, divisors.iter().map(|divisor| !divisor.is_zero()));
    T::all_divided(op, one, divisors)
}

/// Notes which nodes of a batch have a result of one more operator.
fn note(has: &mut Vec<bool>, results: impl ExactSizeIterator<Item = bool> + Clone) {
    if results.clone().all(|has| has) {
        return;
    }
    has.resize(results.len(), true);
    has.iter_mut().zip(results).for_each(|(has, result)| *has &= result);
}

impl<'a> Batch<'a> {
    /// The results of an operator that has none for some numbers, which is noted in `has`. `None`
    /// for a constant.
    fn partial(self, function: MathFunction, has: &mut Vec<bool>) -> Option<Batch<'a>> {
        let Batch::Floats(floats) = self.into_floats() else { return None };
        let results = floats.iter().map(|float| float_result(function, *float));
        note(has, results.clone().map(|result| result.is_some()));
        Some(Batch::Floats(results.map(Option::unwrap_or_default).collect()))
    }

    fn ints(&self) -> Option<OperandValues<'_, i64>> {
        match self {
            Batch::Ints(ints) => Some(OperandValues::Column(ints)),
            Batch::Int(int) => Some(OperandValues::Constant(*int)),
            Batch::Floats(_) | Batch::Float(_) => None,
        }
    }

    fn floats(&self) -> Option<OperandValues<'_, f64>> {
        match self {
            Batch::Floats(floats) => Some(OperandValues::Column(floats)),
            Batch::Float(float) => Some(OperandValues::Constant(*float)),
            Batch::Ints(_) | Batch::Int(_) => None,
        }
    }

    fn into_floats(self) -> Batch<'a> {
        match self {
            Batch::Ints(ints) => Batch::Floats(ints.iter().map(|&int| int as f64).collect()),
            Batch::Int(int) => Batch::Float(int as f64),
            floats => floats,
        }
    }

    fn unary(self, function: MathFunction, len: usize) -> Option<Batch<'a>> {
        if let (MathFunction::Negate, Some(ints)) = (function, self.ints()) {
            let zero = OperandValues::Constant(0);
            let results = bounded_int_results(Arithmetic::Subtract, zero, ints, len)?;
            return Some(Batch::Ints(results.into()));
        }
        let operator = |float: f64| float_result(function, float);
        Some(match self.into_floats() {
            Batch::Floats(floats) => {
                Batch::Floats(floats.iter().map(|&float| operator(float)).collect::<Option<_>>()?)
            }
            Batch::Float(float) => Batch::Float(operator(float)?),
            Batch::Ints(_) | Batch::Int(_) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::control::tree::{Column, ValueMap};
    use crate::exec::math::evaluate;
    use proptest::prelude::*;
    use std::sync::Arc;

    /// Two columns of narrow ints, and one of floats.
    const INPUTS: usize = 3;

    fn expr() -> impl Strategy<Value = MathExpr> {
        let leaf = prop_oneof![
            4 => (0..INPUTS as u32).prop_map(|var| MathExpr::Var(VarId(var))),
            1 => prop_oneof![-3..4_i64, Just(i64::MAX)].prop_map(|int| MathExpr::Constant(Constant::Int(int))),
            1 => (-3.0..4.0).prop_map(|float| MathExpr::Constant(Constant::Float(float))),
        ];
        let function = prop::sample::select(vec![
            MathFunction::Add,
            MathFunction::Subtract,
            MathFunction::Multiply,
            MathFunction::Divide,
            MathFunction::Modulo,
            MathFunction::Max,
            MathFunction::Min,
            MathFunction::Pow,
        ]);
        let one =
            prop::sample::select(vec![MathFunction::Negate, MathFunction::Exp, MathFunction::Sqrt]);
        leaf.prop_recursive(4, 24, 2, move |inner| {
            prop_oneof![
                4 => (function.clone(), inner.clone(), inner.clone())
                    .prop_map(|(function, one, other)| MathExpr::Call(function, vec![one, other])),
                1 => (one.clone(), inner).prop_map(|(function, one)| MathExpr::Call(function, vec![one])),
            ]
        })
    }

    /// The numbers of the inputs for nodes 1 to 6, without those that an input lacks.
    fn maps(lacks: &[(usize, u32)]) -> Vec<Arc<ValueMap>> {
        let ints = |numbers: [i32; 6]| numbers.map(i64::from).to_vec();
        let columns = [
            Column::Int(ints([0, 1, -7, i32::MAX, i32::MIN, 60])),
            Column::Int(ints([5, 0, 3, i32::MIN, i32::MAX, -1])),
            Column::Float(vec![0.5, -0.0, 1e308, -1e308, 3.25, -2.0]),
        ];
        let map = |(position, column): (usize, &Column)| {
            let retained = (1..=6).filter(|node| !lacks.contains(&(position, *node)));
            let pairs = retained.map(|node| (node, column.get(node as usize - 1).to_value()));
            Arc::new(ValueMap::from_sorted(pairs))
        };
        columns.iter().enumerate().map(map).collect()
    }

    fn kind(position: usize) -> NumberKind {
        match position {
            2 => NumberKind::Float,
            _ => NumberKind::Int { least: i32::MIN.into(), greatest: i32::MAX.into() },
        }
    }

    /// The results of the program as they are shown, where each input that lacks a node has 0
    /// there; `None` for a node without a result.
    fn computed(program: &Program, maps: &[Arc<ValueMap>]) -> Vec<String> {
        let dense = |map: &Arc<ValueMap>, position| {
            let number = |node| map.get(node);
            match kind(position) {
                NumberKind::Float => NumberList::Floats(
                    (1..=6)
                        .map(|node| number(node).map_or(0.0, |it| float_of(&it.to_value())))
                        .collect(),
                ),
                NumberKind::Int { .. } => NumberList::Ints(
                    (1..=6)
                        .map(|node| number(node).map_or(0, |it| int_of(&it.to_value())))
                        .collect(),
                ),
            }
        };
        let inputs: Vec<NumberList> =
            maps.iter().enumerate().map(|(position, map)| dense(map, position)).collect();
        let slices: Vec<NumberSlice<'_>> = inputs.iter().map(NumberSlice::from).collect();
        let mut has = Vec::new();
        let results = program.run(&slices, 6, &mut has).expect("a compiled program has results");
        let shown: Vec<String> = match results {
            NumberList::Ints(ints) => ints.iter().map(|int| format!("{int}")).collect(),
            NumberList::Floats(floats) => floats.iter().map(|float| format!("{float:?}")).collect(),
        };
        let has = |position: usize| has.get(position).copied().unwrap_or(true);
        let shown = shown.into_iter().enumerate();
        shown.map(|(position, it)| if has(position) { it } else { "None".to_owned() }).collect()
    }

    fn float_of(value: &hexgraph_base::types::Value) -> f64 {
        if let hexgraph_base::types::Value::Float(float) = value { *float } else { f64::NAN }
    }

    fn int_of(value: &hexgraph_base::types::Value) -> i64 {
        if let hexgraph_base::types::Value::Int(int) = value { *int } else { i64::MIN }
    }

    /// The results of single values, as they are shown, for the nodes from 1 to 6.
    fn expected(expr: &MathExpr, maps: &[Arc<ValueMap>]) -> Vec<String> {
        let lookup = |var: VarId| Ok(Arc::clone(&maps[var.0 as usize]));
        let with = &mut evaluate::Evaluation::new(&lookup, 0.0);
        let map =
            evaluate::evaluate(expr, Some(&[1, 2, 3, 4, 5, 6]), with).expect("no result fails");
        (1..=6)
            .map(|node| match map.get(node).map(|value| value.to_value()) {
                Some(hexgraph_base::types::Value::Int(int)) => format!("{int}"),
                Some(hexgraph_base::types::Value::Float(float)) => format!("{float:?}"),
                other => format!("{other:?}"),
            })
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        /// A program has the same results as single values, also where nodes lack operands that
        /// count as 0.
        #[test]
        fn programs_compute_what_values_do(
            expr in expr(),
            lacks in prop::collection::vec((0..INPUTS, 1..7_u32), 0..6),
        ) {
            let mut used = [false; INPUTS];
            let mut input = |var: VarId| {
                used[var.0 as usize] = true;
                Some((var.0 as usize, kind(var.0 as usize)))
            };
            let Some(program) = Program::compile(&expr, &mut input) else { return Ok(()) };
            let all = maps(&[]);
            prop_assert_eq!(computed(&program, &all), expected(&expr, &all), "{:?}", expr);
            let some = maps(&lacks);
            let has_any = |node: u32| (0..INPUTS).any(|at| used[at] && some[at].get(node).is_some());
            let lacks_some =
                |at: usize| used[at] && (1..=6).any(|node| has_any(node) && some[at].get(node).is_none());
            let lacking: Vec<bool> = (0..INPUTS).map(lacks_some).collect();
            if !lacking[2] && program.counts_missing_as_zero(&lacking) {
                let (result, expected) = (computed(&program, &some), expected(&expr, &some));
                for node in 1..=6_u32 {
                    if has_any(node) {
                        let position = node as usize - 1;
                        prop_assert_eq!(&result[position], &expected[position], "{:?} of node {}", expr, node);
                    }
                }
            }
        }
    }

    #[test]
    fn what_may_fail_is_not_compiled() {
        let var = || MathExpr::Var(VarId(0));
        let int = |int| MathExpr::Constant(Constant::Int(int));
        let call = |function, one, other| MathExpr::Call(function, vec![one, other]);
        let compiles =
            |expr: &MathExpr| Program::compile(expr, &mut |_| Some((0, kind(0)))).is_some();
        assert!(compiles(&call(MathFunction::Multiply, var(), int(1 << 31))));
        assert!(!compiles(&call(MathFunction::Multiply, var(), int(1 << 33))), "may overflow");
        assert!(compiles(&call(MathFunction::Divide, var(), int(-1))));
        assert!(!compiles(&call(MathFunction::Divide, var(), int(0))));
        let quotient = call(MathFunction::Divide, int(1), var());
        assert!(compiles(&quotient), "a node whose divisor is 0 has no result");
        assert!(compiles(&call(MathFunction::Add, quotient.clone(), int(1))), "nor has this");
        assert!(
            !compiles(&call(MathFunction::Add, quotient, var())),
            "a missing result counts as 0"
        );
        assert!(!compiles(&call(MathFunction::Add, int(1), int(1))), "has no nodes");
        let root = MathExpr::Call(MathFunction::Sqrt, vec![var()]);
        assert!(compiles(&root) && !compiles(&call(MathFunction::Add, root, var())));
    }
}
