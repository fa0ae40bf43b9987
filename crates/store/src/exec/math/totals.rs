//! Aggregates of plain numbers, which come in slices.
//!
//! Ints are added up in 64 bits as far as these suffice and then in 128, in loops without a test,
//! which become vector instructions. Floats are added as [`FloatRun`] says, so that the sum is the
//! same bits however the numbers are cut into slices and parts.

use super::float_sums::FloatRun;
use super::sums::{Sum, clamp};
use crate::exec::columns::batches::BATCH;
use crate::exec::columns::number_columns::NumberSlice;
use crate::exec::columns::rank::foremost;
use crate::graph::PatchedFloats;
use crate::storage::vectorized;
use hexgraph_base::plan::Algebraic;
use hexgraph_base::types::{Result, Value};

/// The numbers that are added to several aggregates at a time: as many as a sum of floats adds side
/// by side.
const CHUNK: usize = 2 * BATCH;

/// The state of an aggregate.
#[derive(Clone)]
pub(crate) struct Totals {
    op: Algebraic,
    count: usize,
    running: Running,
}

/// The aggregate of the numbers so far.
#[derive(Clone)]
enum Running {
    /// There was no number.
    Nothing,
    /// A sum of ints, or the least or the greatest one.
    Int(i128),
    /// The least or the greatest float.
    Float(f64),
    /// A sum of floats.
    Floats(FloatRun),
}

impl Totals {
    /// An aggregate of no numbers.
    pub(crate) fn new(op: Algebraic) -> Totals {
        Totals { op, count: 0, running: Running::Nothing }
    }

    /// The same aggregate of no numbers, for those of a part, before which so many have been, if
    /// that number is given. It is [put after](Totals::absorb) the parts before.
    pub(crate) fn part(&self, are_floats: bool, before: Option<usize>) -> Totals {
        let running = match are_floats && self.is_sum() {
            true => Running::Floats(FloatRun::behind(before)),
            false => Running::Nothing,
        };
        Totals { op: self.op, count: 0, running }
    }

    /// The aggregate of the same pass that also computes another one: of sums that of the mean.
    pub(crate) fn pass_of(op: Algebraic) -> Algebraic {
        if op == Algebraic::Avg { Algebraic::Sum } else { op }
    }

    /// Another aggregate of the same numbers, which is of the same pass; `None` where it is not.
    pub(crate) fn reported_as(&self, op: Algebraic) -> Option<Totals> {
        (Totals::pass_of(self.op) == Totals::pass_of(op)).then(|| Totals { op, ..self.clone() })
    }

    /// Adds numbers to several aggregates, few enough at a time that those after the first read
    /// them in the nearest cache.
    pub(crate) fn add_to_all(all: &mut [Totals], numbers: NumberSlice<'_>) {
        if let [one] = all {
            return one.add(numbers);
        }
        for start in (0..numbers.len()).step_by(CHUNK) {
            let some = numbers.part(start, start + CHUNK);
            all.iter_mut().for_each(|one| one.add(some));
        }
    }

    /// Adds numbers after those before, which were of the same type.
    pub(crate) fn add(&mut self, numbers: NumberSlice<'_>) {
        let count = numbers.len();
        if count == 0 {
            return;
        }
        self.count += count;
        self.running = match numbers {
            // Folds of ints, and not of references to them, become vector instructions.
            NumberSlice::Narrow(ints) => self.with_ints(vectorized(|| match self.op {
                Algebraic::Min => ints.iter().copied().fold(i32::MAX, i32::min).into(),
                Algebraic::Max => ints.iter().copied().fold(i32::MIN, i32::max).into(),
                Algebraic::Sum | Algebraic::Avg => sum_of_narrow(ints),
            })),
            NumberSlice::Ints(ints) => self.with_ints(vectorized(|| match self.op {
                Algebraic::Min => ints.iter().copied().fold(i64::MAX, i64::min).into(),
                Algebraic::Max => ints.iter().copied().fold(i64::MIN, i64::max).into(),
                Algebraic::Sum | Algebraic::Avg => sum_of_ints(ints),
            })),
            NumberSlice::Floats(floats) => self.with_floats(floats),
        };
    }

    /// As [`Totals::add`] for a sum, of floats, some of them changed.
    pub(crate) fn add_patched(&mut self, floats: PatchedFloats<'_>) {
        debug_assert!(self.is_sum(), "others do not ask for the order");
        if floats.len() == 0 {
            return;
        }
        self.count += floats.len();
        if !matches!(self.running, Running::Floats(_)) {
            self.running = Running::Floats(FloatRun::default());
        }
        if let Running::Floats(run) = &mut self.running {
            run.add_patched(floats);
        }
    }

    fn with_ints(&self, more: i128) -> Running {
        let Running::Int(existing) = self.running else { return Running::Int(more) };
        Running::Int(match self.op {
            Algebraic::Min => existing.min(more),
            Algebraic::Max => existing.max(more),
            Algebraic::Sum | Algebraic::Avg => existing + more,
        })
    }

    fn with_floats(&mut self, floats: &[f64]) -> Running {
        let existing = match &mut self.running {
            Running::Floats(run) => {
                run.add(floats);
                return std::mem::replace(&mut self.running, Running::Nothing);
            }
            Running::Float(existing) => Some(*existing),
            Running::Nothing | Running::Int(_) => None,
        };
        match self.op {
            Algebraic::Min => {
                let existing = existing.unwrap_or(f64::INFINITY);
                Running::Float(foremost_float(existing, floats, |float, least| float < least))
            }
            Algebraic::Max => {
                let existing = existing.unwrap_or(f64::NEG_INFINITY);
                Running::Float(foremost_float(existing, floats, |float, greatest| greatest < float))
            }
            Algebraic::Sum | Algebraic::Avg => {
                let mut run = FloatRun::default();
                run.add(floats);
                Running::Floats(run)
            }
        }
    }

    /// Puts the next part after what was added so far.
    pub(crate) fn absorb(&mut self, part: &Totals) {
        if part.count == 0 {
            return;
        }
        self.count += part.count;
        self.running = match (std::mem::replace(&mut self.running, Running::Nothing), &part.running)
        {
            (Running::Nothing, Running::Int(more)) => Running::Int(*more),
            (Running::Nothing, Running::Float(more)) => Running::Float(*more),
            (Running::Nothing, Running::Floats(part)) => {
                let mut run = FloatRun::default();
                run.absorb(part);
                Running::Floats(run)
            }
            (Running::Int(existing), Running::Int(more)) => {
                self.running = Running::Int(existing);
                self.with_ints(*more)
            }
            (Running::Float(existing), Running::Float(more)) => {
                self.running = Running::Float(existing);
                self.with_floats(&[*more])
            }
            (Running::Floats(mut run), Running::Floats(part)) => {
                run.absorb(part);
                Running::Floats(run)
            }
            (existing, _) => existing,
        };
    }

    /// Adds up what waits to be added with what follows, so that a part retains few values.
    pub(crate) fn settle(&mut self) {
        if let Running::Floats(run) = &mut self.running {
            run.settle();
        }
    }

    /// Adjusts a sum of ints by a count delta and a sum delta.
    pub(crate) fn raise(&mut self, (count, increase): (i64, i128)) {
        debug_assert!(self.is_sum(), "a least number can't be taken out");
        let existing = if let Running::Int(existing) = self.running { existing } else { 0 };
        self.running = Running::Int(existing + increase);
        self.count = self.count.saturating_add_signed(count as isize);
    }

    /// Whether this is a sum, or a mean. Of ints numbers can be taken out again; a sum of floats
    /// depends on their order.
    pub(crate) fn is_sum(&self) -> bool {
        self.op.is_sum()
    }

    /// The aggregate; `None` when there were no numbers.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Query`] for a sum of ints that is no 64-bit int.
    pub(crate) fn finish(self) -> Result<Option<Value>> {
        match (&self.running, self.op) {
            // The least and the greatest are some of the ints that were added.
            (Running::Int(int), Algebraic::Min | Algebraic::Max) if self.count != 0 => {
                Ok(Some(Value::Int(*int as i64)))
            }
            (Running::Float(float), Algebraic::Min | Algebraic::Max) => {
                Ok(Some(Value::Float(clamp(*float))))
            }
            (_, Algebraic::Avg) => Ok(self.into_sum().and_then(Sum::mean)),
            _ => self.into_sum().map(Sum::value).transpose(),
        }
    }

    /// The sum, for a sum or a mean; `None` when there were no numbers.
    pub(crate) fn into_sum(self) -> Option<Sum> {
        // A part may have none, and all may have been taken out again.
        if self.count == 0 {
            return None;
        }
        match self.running {
            Running::Nothing => None,
            Running::Int(total) => Some(Sum::of_int_total(total, self.count)),
            Running::Float(_) => unreachable!("sums of floats are runs"),
            Running::Floats(run) => Some(Sum::of_float_total(run.total(), self.count)),
        }
    }
}

/// The float that comes before all others; of zeros with different signs the first one.
fn foremost_float(
    existing: f64,
    floats: &[f64],
    comes_before: impl Fn(f64, f64) -> bool + Copy,
) -> f64 {
    let result = foremost(floats, existing, comes_before);
    if result != 0.0 {
        return result;
    }
    floats
        .iter()
        .fold(existing, |best, float| if comes_before(*float, best) { *float } else { best })
}

/// The sum of numbers of 32 bits. No slice in memory has so many that the sum of some of them needs
/// more than 64 bits.
#[inline]
fn sum_of_narrow(ints: &[i32]) -> i128 {
    ints.chunks(1 << 30)
        .map(|ints| i128::from(ints.iter().map(|int| i64::from(*int)).sum::<i64>()))
        .sum()
}

/// The sum of numbers of 64 bits: that of their upper halves and that of their lower ones, and
/// neither overflows.
#[inline]
fn sum_of_ints(ints: &[i64]) -> i128 {
    const SIGN: u64 = 1 << 63;
    let sum_of_some = |ints: &[i64]| {
        let (mut upper, mut lower) = (0_u64, 0_u64);
        for int in ints {
            // With the sign bit inverted it is the distance from the least int, and both halves are
            // positive.
            let distance = *int as u64 ^ SIGN;
            upper += distance >> 32;
            lower += distance & u64::from(u32::MAX);
        }
        (i128::from(upper) << 32) + i128::from(lower) - i128::from(SIGN) * ints.len() as i128
    };
    // So many numbers below 2^32 have a sum below 2^62.
    ints.chunks(1 << 30).map(sum_of_some).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::math::aggregate::algebraic;
    use hexgraph_base::types::ValueRef;
    use proptest::prelude::*;

    const OPS: [Algebraic; 4] = [Algebraic::Min, Algebraic::Max, Algebraic::Sum, Algebraic::Avg];

    fn bits(value: Result<Option<Value>>) -> String {
        // A zero is printed with its sign, and any other float so that it reads back.
        format!("{value:?}")
    }

    /// Two slices added one after the other, which is the same as a part each that are put
    /// together.
    fn added<'n, T>(
        op: Algebraic,
        (one, other): (&'n [T], &'n [T]),
        slice: impl Fn(&'n [T]) -> NumberSlice<'n>,
    ) -> Totals {
        let mut totals = Totals::new(op);
        totals.add(slice(one));
        totals.add(slice(other));
        for before in [None, Some(one.len())] {
            let are_floats = matches!(slice(one), NumberSlice::Floats(_));
            let (mut full, mut second) = (Totals::new(op), totals.part(are_floats, before));
            let mut first = totals.part(are_floats, Some(0));
            first.add(slice(one));
            second.add(slice(other));
            first.settle();
            full.absorb(&first);
            full.absorb(&second);
            assert_eq!(bits(full.finish()), bits(totals.clone().finish()));
        }
        totals
    }

    proptest! {
        /// One pass computes for each aggregate what it computes alone, whichever others are
        /// requested.
        #[test]
        fn several_in_one_pass(
            ints in prop::collection::vec(any::<i64>(), 0..9000),
            floats in prop::collection::vec(-1e9..1e9, 0..9000),
        ) {
            let mut together: Vec<Totals> =
                [Algebraic::Max, Algebraic::Sum, Algebraic::Min].map(Totals::new).to_vec();
            let mut of_floats = together.clone();
            Totals::add_to_all(&mut together, NumberSlice::Ints(&ints));
            Totals::add_to_all(&mut of_floats, NumberSlice::Floats(&floats));
            for op in OPS {
                for (existing, numbers) in
                    [(&together, NumberSlice::Ints(&ints)), (&of_floats, NumberSlice::Floats(&floats))]
                {
                    let mut alone = Totals::new(op);
                    alone.add(numbers);
                    let reported = existing.iter().find_map(|totals| totals.reported_as(op));
                    prop_assert_eq!(reported.map(|it| bits(it.finish())), Some(bits(alone.finish())));
                }
            }
        }

        /// Numbers in slices have the same aggregate as one by one.
        #[test]
        fn slices_are_numbers_one_by_one(
            narrow in prop::collection::vec(any::<i32>(), 0..70),
            ints in prop::collection::vec(
                prop_oneof![any::<i64>(), Just(i64::MIN), Just(i64::MAX), -5..5_i64], 0..70
            ),
            floats in prop::collection::vec(
                prop_oneof![-1e9..1e9, Just(1e308), Just(0.25), Just(0.0), Just(-0.0)], 0..70
            ),
            cut in 0..70_usize,
        ) {
            for op in OPS {
                let totals = added(op, narrow.split_at(cut.min(narrow.len())), NumberSlice::Narrow);
                let values = narrow.iter().map(|int| ValueRef::Int(i64::from(*int)));
                prop_assert_eq!(bits(totals.finish()), bits(algebraic(op, values)));

                let totals = added(op, ints.split_at(cut.min(ints.len())), NumberSlice::Ints);
                let values = ints.iter().map(|int| ValueRef::Int(*int));
                prop_assert_eq!(bits(totals.finish()), bits(algebraic(op, values)));

                let floats = floats.repeat(50);
                let cut = (40 * cut).min(floats.len());
                let totals = added(op, floats.split_at(cut), NumberSlice::Floats);
                let values = floats.iter().map(|float| ValueRef::Float(*float));
                prop_assert_eq!(bits(totals.finish()), bits(algebraic(op, values)));
            }
        }
    }
}
