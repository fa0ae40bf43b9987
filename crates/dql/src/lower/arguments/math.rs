//! Lowers `math(...)`: groups operators by their precedence, and resolves constants, variables and
//! functions.

use super::number;
use crate::compat::math_precedence::precedence;
use crate::lower::request::Lowering;
use crate::lower::variables::Reader;
use crate::syntax::ast::{MathOperand, MathSequence};
use crate::syntax::token::Text;
use hexgraph_base::plan::{Constant, MathExpr, MathFunction};
use hexgraph_base::types::{Result, Value, nearest, parse_vector, stack};

/// The greatest height of an expression tree: what walks the tree later recurses once for each
/// level. A chain such as `a + b + c` groups from the left, so it has a level for each of its
/// operators.
const HEIGHT_MAX: usize = 300;

/// The functions, each with the number of its operands.
pub(super) const FUNCTIONS: [(&str, MathFunction, usize); 12] = [
    ("floor", MathFunction::Floor, 1),
    ("ceil", MathFunction::Ceil, 1),
    ("since", MathFunction::Since, 1),
    ("exp", MathFunction::Exp, 1),
    ("ln", MathFunction::Ln, 1),
    ("sqrt", MathFunction::Sqrt, 1),
    ("pow", MathFunction::Pow, 2),
    ("logbase", MathFunction::LogBase, 2),
    ("max", MathFunction::Max, 2),
    ("min", MathFunction::Min, 2),
    ("dot", MathFunction::Dot, 2),
    ("cond", MathFunction::Cond, 3),
];

/// An expression with the height of its tree, so that the height need not be computed again at each
/// level.
struct Tall {
    expression: MathExpr,
    height: usize,
}

impl<'a> Lowering<'a> {
    /// Lowers an expression.
    pub(in crate::lower) fn math(&mut self, sequence: &'a MathSequence) -> Result<MathExpr> {
        Ok(self.sequence(sequence)?.expression)
    }

    /// Groups operands and operators by precedence, with two stacks (the shunting-yard algorithm of
    /// Dijkstra). An operator is applied when one of lower or equal precedence follows it, so
    /// operators of equal precedence group from the left.
    fn sequence(&mut self, sequence: &'a MathSequence) -> Result<Tall> {
        stack::check()?;
        let mut operands = vec![self.operand(&sequence.first)?];
        let mut operators: Vec<MathFunction> = Vec::new();
        let at = position(&sequence.first);
        for (operator, operand) in &sequence.rest {
            while let Some(&top) = operators.last()
                && precedence(top) >= precedence(*operator)
            {
                operators.pop();
                self.reduce(at, top, &mut operands)?;
            }
            operators.push(*operator);
            let operand = self.operand(operand)?;
            operands.push(operand);
        }
        while let Some(operator) = operators.pop() {
            self.reduce(at, operator, &mut operands)?;
        }
        Ok(operands.pop().expect("each operator takes two operands and leaves one"))
    }

    /// Applies an operator to the two operands on top. `at`, the position of errors, is that of the
    /// first operand of the entire sequence.
    fn reduce(&self, at: u32, operator: MathFunction, operands: &mut Vec<Tall>) -> Result<()> {
        let right = operands.pop().expect("an operator stands between two operands");
        let left = operands.pop().expect("an operator stands between two operands");
        let divides = matches!(operator, MathFunction::Divide | MathFunction::Modulo);
        if divides && is_zero(&right.expression) {
            return Err(self.error_with(
                at,
                "division by zero",
                "the divisor is a constant, change it",
            ));
        }
        operands.push(self.call(at, operator, vec![left, right])?);
        Ok(())
    }

    fn call(&self, at: u32, function: MathFunction, operands: Vec<Tall>) -> Result<Tall> {
        let height = 1 + operands.iter().map(|operand| operand.height).max().unwrap_or(0);
        if height > HEIGHT_MAX {
            let message = format!("an expression of more than {HEIGHT_MAX} levels");
            let hint = "split it with variables";
            return Err(self.error_with(at, message, hint));
        }
        let operands = operands.into_iter().map(|operand| operand.expression).collect();
        Ok(Tall { expression: MathExpr::Call(function, operands), height })
    }

    fn operand(&mut self, operand: &'a MathOperand) -> Result<Tall> {
        stack::check()?;
        let expression = match operand {
            MathOperand::Group(sequence) => return self.sequence(sequence),
            MathOperand::Negate(inner) => {
                let inner = self.operand(inner)?;
                return self.call(position(operand), MathFunction::Negate, vec![inner]);
            }
            MathOperand::Call(name, arguments) => return self.math_function(name, arguments),
            MathOperand::Name(name) => match constant(self.text(name)) {
                Some(constant) => MathExpr::Constant(constant),
                None => MathExpr::Var(self.read_in(name, Reader::Math)),
            },
            MathOperand::Variable(name) => self.variable(name)?,
        };
        Ok(Tall { expression, height: 1 })
    }

    /// Lowers a `$variable`: its declared type decides how its value is read. A number becomes a
    /// constant, as if it stood in the text; values of other types are carried along as they are.
    fn variable(&self, name: &'a Text) -> Result<MathExpr> {
        let text = self.value_of(name)?;
        let type_name = self.values.type_of(self.text(name)).unwrap_or_default();
        let value = match type_name {
            _ if text.is_empty() => None,
            "int" => number::int(text).map(|int| MathExpr::Constant(Constant::Int(int))),
            "bool" => number::boolean(text).map(|truth| MathExpr::Value(Value::Bool(truth))),
            "string" => Some(MathExpr::Value(Value::String(text.to_owned()))),
            "float32vector" => {
                parse_vector(text).ok().map(|numbers| MathExpr::Value(Value::Vector(numbers)))
            }
            // This is `float`, and any other type, whose value has to be a number instead of an
            // operand.
            _ => text.parse().ok().map(|float| MathExpr::Constant(Constant::Float(float))),
        };
        value.ok_or_else(|| {
            let message = format!("variable {} has no value of its type", self.text(name));
            self.error_with(name.start, message, "give it one with the request, or a default")
        })
    }

    fn math_function(&mut self, name: &'a Text, arguments: &'a [MathSequence]) -> Result<Tall> {
        let text = self.text(name);
        let mut existing = FUNCTIONS.iter();
        let result = existing.find(|(function, _, _)| function.eq_ignore_ascii_case(text));
        let Some(&(_, function, arity)) = result else {
            let hint = match nearest(text, FUNCTIONS.iter().map(|(name, _, _)| *name)) {
                Some(name) => format!("did you mean `{name}`?"),
                None => {
                    let names: Vec<&str> = FUNCTIONS.iter().map(|(name, _, _)| *name).collect();
                    format!("valid are {}", names.join(", "))
                }
            };
            let message = format!("`{text}` is no function of `math`");
            return Err(self.error_with(name.start, message, hint));
        };
        if arguments.len() != arity {
            let message = format!("`{text}` takes {arity} operands, found {}", arguments.len());
            let operands = ["x", "y", "z"][..arity.min(3)].join(", ");
            let hint = format!("write `{text}({operands})`");
            return Err(self.error_with(name.start, message, hint));
        }
        let operands =
            arguments.iter().map(|argument| self.sequence(argument)).collect::<Result<_>>()?;
        self.call(name.start, function, operands)
    }
}

/// Returns the offset of an operand, or of some part of it.
fn position(operand: &MathOperand) -> u32 {
    match operand {
        MathOperand::Name(name) | MathOperand::Variable(name) | MathOperand::Call(name, _) => {
            name.start
        }
        MathOperand::Group(sequence) => position(&sequence.first),
        MathOperand::Negate(inner) => position(inner),
    }
}

/// Parses a word as a number; `None` when it is the name of a variable.
fn constant(text: &str) -> Option<Constant> {
    if !text.as_bytes().first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    signed_constant(text)
}

/// Parses a number. One without a point that needs more than 64 bits is a float.
fn signed_constant(text: &str) -> Option<Constant> {
    match text.parse() {
        Ok(int) => Some(Constant::Int(int)),
        Err(_) => text.parse().ok().map(Constant::Float),
    }
}

/// Returns true for the constant zero, and for a function of a constant whose value is zero.
fn is_zero(expression: &MathExpr) -> bool {
    let value = |constant: Constant| match constant {
        Constant::Int(int) => int as f64,
        Constant::Float(float) => float,
    };
    // Only constants: a computed divisor is checked at run time.
    match expression {
        MathExpr::Constant(constant) => value(*constant) == 0.0,
        MathExpr::Call(function, operands) => match (function, &operands[..]) {
            (MathFunction::Negate | MathFunction::Sqrt, [MathExpr::Constant(constant)]) => {
                value(*constant) == 0.0
            }
            (MathFunction::Ln, [MathExpr::Constant(constant)]) => value(*constant) == 1.0,
            (MathFunction::Floor, [MathExpr::Constant(constant)]) => {
                value(*constant).floor() == 0.0
            }
            (MathFunction::Ceil, [MathExpr::Constant(constant)]) => value(*constant).ceil() == 0.0,
            _ => false,
        },
        MathExpr::Var(_) | MathExpr::Value(_) => false,
    }
}
