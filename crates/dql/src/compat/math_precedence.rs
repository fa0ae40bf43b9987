//! The precedence of the operators of `math`, in which hardly two are equal.

use hexgraph_base::plan::MathFunction;

/// Returns the precedence of an operator; a greater one binds more strongly.
pub(crate) fn precedence(operator: MathFunction) -> u8 {
    // Nearly every operator has a rank of its own, as Dgraph answers:
    // `a % b * c` is `a % (b * c)`, and `a < b == c` is `(a < b) == c`.
    match operator {
        MathFunction::Multiply | MathFunction::Divide => 50,
        MathFunction::Dot => 49,
        MathFunction::Modulo => 48,
        MathFunction::Subtract => 47,
        MathFunction::Add => 46,
        MathFunction::Less => 10,
        MathFunction::Greater => 9,
        MathFunction::LessEqual => 8,
        MathFunction::GreaterEqual => 7,
        MathFunction::Equal => 6,
        _ => 5,
    }
}
