//! Math and aggregates.

use super::generator::{Generator, Kind};
use super::selection::Selection;
use crate::twin::piece::text;
use crate::twin::words::one_of;

impl Generator<'_> {
    /// Adds aggregates of the level below, and math.
    pub fn computed_fields(&mut self, selection: &mut Selection) {
        for (name, kind) in selection.below.clone() {
            if self.chance(55) {
                self.aggregate(selection, &name, kind);
            }
        }
        if self.chance(16)
            && let Some(expr) = self.math(true)
        {
            self.uses("math");
            let item = match self.chance(50) {
                true => format!("{}: math({expr})", self.fresh("m")),
                false => {
                    let name = self.define(Kind::Number);
                    selection.keys.insert(format!("val({name})"));
                    selection.values.push((name.clone(), Kind::Number));
                    format!("{name} as math({expr})")
                }
            };
            selection.items.push(text(item));
        }
    }

    fn aggregate(&mut self, selection: &mut Selection, name: &str, kind: Kind) {
        if !matches!(kind, Kind::Number | Kind::Text | Kind::Time) {
            return;
        }
        self.read(name);
        self.uses("aggregate");
        let call = self.aggregate_of(kind == Kind::Number, &format!("val({name})"));
        let item = match (self.chance(40), kind) {
            (true, Kind::Number) => {
                let var = self.define(Kind::Number);
                selection.values.push((var.clone(), Kind::Number));
                format!("{var} as {call}")
            }
            (true, _) => format!("{}: {call}", self.fresh("g")),
            _ => call.clone(),
        };
        if selection.keys.insert(call) {
            selection.items.push(text(item));
        }
    }

    /// A call of an aggregate that takes numbers, or texts and times.
    pub fn aggregate_of(&mut self, are_numbers: bool, argument: &str) -> String {
        let fraction = *one_of(&mut self.rng, &["0", "0.25", "0.5", "0.9", "1"]);
        let calls = [
            format!("min({argument})"),
            format!("max({argument})"),
            format!("count(distinct {argument})"),
            format!("sum({argument})"),
            format!("avg({argument})"),
            format!("median({argument})"),
            format!("quantile({argument}, {fraction})"),
            format!("stddev({argument})"),
            format!("variance({argument})"),
        ];
        let calls = if are_numbers { &calls[..] } else { &calls[..3] };
        one_of(&mut self.rng, calls).clone()
    }

    /// An expression over variables of numbers.
    pub fn math(&mut self, own: bool) -> Option<String> {
        let numeric = |kind| matches!(kind, Kind::Number | Kind::Constant);
        let first = self.variable(|kind| kind == Kind::Number, own)?;
        let mut expr = first;
        for _ in 0..self.rng.usize(1..4) {
            let other = match self.chance(50) {
                true => self.variable(numeric, false).unwrap_or_else(|| "2".to_owned()),
                false => (*one_of(&mut self.rng, &["1", "2", "3", "0.5", "10"])).to_owned(),
            };
            expr = match self.rng.u32(..16) {
                0..=2 => format!("{expr} + {other}"),
                3..=4 => format!("{expr} - {other}"),
                5..=6 => format!("{expr} * {other}"),
                7..=8 => format!("({expr}) / {other}"),
                9 => format!("({expr}) % {other}"),
                10 => format!("max({expr}, {other})"),
                11 => format!("min({expr}, {other})"),
                12 => format!("{}({expr})", one_of(&mut self.rng, &["floor", "ceil", "sqrt", "-"])),
                13 => format!("pow({expr}, {})", one_of(&mut self.rng, &["2", "0.5"])),
                14 => format!("ln({expr})"),
                _ => {
                    let op = *one_of(&mut self.rng, &["<", ">", "<=", ">=", "==", "!="]);
                    format!("cond(({expr}) {op} {other}, {expr}, {other})")
                }
            };
        }
        Some(expr)
    }
}
