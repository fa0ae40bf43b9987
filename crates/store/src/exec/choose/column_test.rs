//! A condition on values as a test of the rows of a column, as it is stored: without a value for
//! each row, in loops that become vector instructions where the column has numbers.

use super::column_rows::{Count, RetainBits, RetainListed, RowLoop};
use super::compare::ValueCondition;
use crate::exec::columns::batches::RowFinder;
use crate::exec::columns::read::typed_or_none;
use crate::exec::cost::{self, Cost};
use crate::graph::{LangValues, Row};
use crate::storage::{FrozenBitmap, TextArray, Values, bit_of};
use hexgraph_base::geo::GeoQuery;
use hexgraph_base::text::{Regex, within_distance};
use hexgraph_base::types::{DateTime, Geometry, Result, Value, ValueRef, ValueType};
use std::ops::{Bound, RangeInclusive};
use std::sync::{Arc, OnceLock};

/// The test of a column that has one value for each of its nodes.
pub(crate) struct ColumnTest<'a> {
    rows: Stored<'a>,
    /// The type that the condition is on, and the condition, for what changed since the column was
    /// built.
    value_type: ValueType,
    expected: Condition,
    /// The other conditions of a test that is made of several.
    others: Vec<Condition>,
}

/// A condition on a value.
#[derive(Clone)]
pub(crate) enum Condition {
    /// It compares with others.
    Compares(ValueCondition),
    /// It is a text that meets a condition.
    Matches(TextCondition),
    /// It is a geometry with the queried relation to the queried one.
    Relates(Arc<GeoQuery>),
}

/// A condition on a text, which is not empty.
#[derive(Clone)]
pub(crate) enum TextCondition {
    /// It matches the pattern.
    Matches(Box<Regex>),
    /// It differs from the text in at most so many characters.
    Near(Box<str>, usize),
}

impl TextCondition {
    /// Whether a value is a text that meets it.
    pub(super) fn holds(&self, value: ValueRef<'_>) -> bool {
        matchable(value).is_some_and(|text| match self {
            TextCondition::Matches(regex) => regex.is_match(text),
            TextCondition::Near(other, distance) => within_distance(text, other, *distance),
        })
    }

    /// Whether it has memory that only one thread at a time can use.
    pub(super) fn has_memory(&self) -> bool {
        matches!(self, TextCondition::Matches(_))
    }
}

impl From<TextCondition> for Condition {
    fn from(condition: TextCondition) -> Condition {
        Condition::Matches(condition)
    }
}

impl From<ValueCondition> for Condition {
    fn from(condition: ValueCondition) -> Condition {
        Condition::Compares(condition)
    }
}

impl Condition {
    pub(super) fn holds(&self, value: ValueRef<'_>) -> bool {
        match self {
            Condition::Compares(expected) => expected.holds(value),
            Condition::Matches(text) => text.holds(value),
            Condition::Relates(query) => {
                let ValueRef::Geo(text) = value else { return false };
                Geometry::parse_json(text).is_ok_and(|geometry| query.matches(&geometry))
            }
        }
    }

    /// What it costs to evaluate it for a node, about.
    pub(super) fn cost(&self) -> Cost {
        match self {
            Condition::Compares(_) => cost::TEST,
            Condition::Matches(_) => cost::PATTERN,
            Condition::Relates(_) => cost::GEOMETRY,
        }
    }

    /// Whether it has memory that only one thread at a time can use.
    pub(super) fn has_memory(&self) -> bool {
        matches!(self, Condition::Matches(text) if text.has_memory())
    }
}

/// What is stored, and what of it passes.
enum Stored<'a> {
    /// Ints of four bytes, or instants as seconds.
    Small(&'a [i32], RangeInclusive<i64>),
    /// Ints of eight bytes.
    Wide(&'a [i64], RangeInclusive<i64>),
    /// Floats.
    Floats(&'a [f64], RangeInclusive<f64>),
    /// Instants as days.
    Days(&'a [i16], RangeInclusive<i64>),
    /// Texts, and those that pass.
    Texts(&'a TextArray, Vec<String>),
    /// Numbers of texts, the texts, and for each of these whether it passes, once many rows were
    /// tested.
    Codes(&'a [u16], &'a TextArray, OnceLock<Vec<bool>>),
}

/// The seconds of a day.
pub(crate) const DAY: i64 = 86_400;

impl<'a> ColumnTest<'a> {
    /// The test of a predicate's values, which are compared as a type. The condition comes back
    /// where the column is stored otherwise, or it is none that is seen there. Patterns are matched
    /// with the distinct texts of a column, once each, and not with the text of each node.
    pub(super) fn new(
        part: &'a LangValues,
        value_type: ValueType,
        expected: Condition,
    ) -> std::result::Result<ColumnTest<'a>, Condition> {
        let rows = match &expected {
            Condition::Compares(expected) => Stored::of(part, value_type, expected),
            Condition::Matches(_) => Stored::of_codes(part, value_type),
            Condition::Relates(_) => None,
        };
        match rows {
            Some(rows) => Ok(ColumnTest { rows, value_type, expected, others: Vec::new() }),
            None => Err(expected),
        }
    }

    /// The test that both are, of the same column of numbers or instants; `None` for other columns.
    pub(crate) fn both(&self, other: &ColumnTest<'a>) -> Option<ColumnTest<'a>> {
        let rows = match (&self.rows, &other.rows) {
            (Stored::Small(ints, one), Stored::Small(_, two)) => {
                Stored::Small(ints, narrowed(one, two))
            }
            (Stored::Wide(ints, one), Stored::Wide(_, two)) => {
                Stored::Wide(ints, narrowed(one, two))
            }
            (Stored::Floats(floats, one), Stored::Floats(_, two)) => {
                Stored::Floats(floats, narrowed(one, two))
            }
            (Stored::Days(days, one), Stored::Days(_, two)) => {
                Stored::Days(days, narrowed(one, two))
            }
            _ => return None,
        };
        let mut others = self.others.clone();
        others.push(other.expected.clone());
        others.extend(other.others.iter().cloned());
        Some(ColumnTest {
            rows,
            value_type: self.value_type,
            expected: self.expected.clone(),
            others,
        })
    }

    /// What the test of a row costs, about.
    pub(super) fn cost(&self) -> Cost {
        if matches!(self.rows, Stored::Texts(..)) { cost::TEXT } else { cost::ROW }
    }

    /// True when what is stored in a row passes.
    pub(crate) fn holds_row(&self, row: usize) -> bool {
        match &self.rows {
            Stored::Small(ints, range) => range.contains(&ints[row].into()),
            Stored::Wide(ints, range) => range.contains(&ints[row]),
            Stored::Floats(floats, range) => range.contains(&floats[row]),
            Stored::Days(days, range) => range.contains(&days[row].into()),
            Stored::Texts(texts, expected) => is_one_of(expected, texts.get_bytes(row)),
            Stored::Codes(codes, texts, passing) => {
                let code = usize::from(codes[row]);
                let existing = passing.get().and_then(|passing| passing.get(code));
                existing.copied().unwrap_or_else(|| self.holds_text(texts, code))
            }
        }
    }

    /// Whether the only value of a changed node passes.
    pub(crate) fn holds_changed(&self, row: Option<&Row>) -> bool {
        let only = row.filter(|row| row.len() == 1).map(Row::first);
        match (&self.rows, only) {
            (_, None) => false,
            (Stored::Small(_, range) | Stored::Wide(_, range), Some(ValueRef::Int(int)))
                if self.value_type == ValueType::Int =>
            {
                range.contains(&int)
            }
            (Stored::Floats(_, range), Some(ValueRef::Float(float))) => range.contains(&float),
            (_, Some(value)) => typed_or_none(value, self.value_type)
                .is_some_and(|value| self.holds(value.as_ref())),
        }
    }

    /// Whether a value passes.
    fn holds(&self, value: ValueRef<'_>) -> bool {
        self.expected.holds(value) && self.others.iter().all(|expected| expected.holds(value))
    }

    /// Whether the text with a number passes.
    fn holds_text(&self, texts: &TextArray, code: usize) -> bool {
        self.holds(ValueRef::String(texts.get(code)))
    }

    /// For each text of a column whether it passes.
    fn passing<'t>(&self, texts: &TextArray, passing: &'t OnceLock<Vec<bool>>) -> &'t [bool] {
        let holds = |code| self.holds_text(texts, code);
        passing.get_or_init(|| (0..texts.len()).map(holds).collect())
    }

    /// The nodes that changed since the column was built, ascending, and whether each passes now.
    /// O(changes).
    pub(crate) fn changes(&self, part: &LangValues) -> Vec<(u32, bool)> {
        self.changes_between(part, 0, u32::MAX)
    }

    /// As [`ColumnTest::changes`], of the nodes between two, both included. O(changes between).
    fn changes_between(&self, part: &LangValues, first: u32, last: u32) -> Vec<(u32, bool)> {
        match &self.rows {
            Stored::Small(_, range) | Stored::Wide(_, range) => {
                if let Some(ints) = part.changed_ints() {
                    return listed(between(&ints, first, last), range);
                }
            }
            Stored::Floats(_, range) => {
                if let Some(floats) = part.changed_floats() {
                    return listed(between(&floats, first, last), range);
                }
            }
            Stored::Days(..) | Stored::Texts(..) | Stored::Codes(..) => {}
        }
        let changes = part.changed_between(first, last);
        changes.map(|(node, row)| (node, self.holds_changed(row))).collect()
    }

    /// The number of rows that pass. O(rows), in loops without branches where there are numbers.
    ///
    /// # Errors
    ///
    /// Those of `check`, which is called every few thousand rows.
    pub(crate) fn count(&self, check: impl Fn() -> Result<()>) -> Result<usize> {
        self.run(usize::MAX, Count { check })
    }

    /// Adds those of some ascending nodes to `retained` whose stored value, in their row among the
    /// subjects, passes. Costs about a nanosecond a node where the nodes have no gap between them,
    /// and there are numbers.
    pub(super) fn retain(
        &self,
        (subjects, finder): (&FrozenBitmap, &mut RowFinder),
        nodes: &[u32],
        retained: &mut Vec<u32>,
    ) {
        self.run(nodes.len(), RetainListed { subjects, finder, nodes, retained });
    }

    /// Retains those of some nodes that pass now, as words of bits that begin at the id `first`, a
    /// multiple of 64. Costs some 25 nanoseconds a word where most nodes have a number, and a few
    /// for each node where they are few; and O(changes between).
    pub(super) fn retain_bits(&self, part: &LangValues, first: u32, words: &mut [u64]) {
        let Some(last) = (64 * words.len()).checked_sub(1) else { return };
        let mut changes = self.changes_between(part, first, first.saturating_add(last as u32));
        changes.retain(|(node, _)| {
            let (position, bit) = bit_of(first, *node);
            words[position] & bit != 0
        });
        let subjects = &part.stored().subjects;
        let nodes = words.iter().map(|word| word.count_ones() as usize).sum();
        self.run(nodes, RetainBits { subjects, first, words });
        for (node, holds) in changes {
            let (position, bit) = bit_of(first, node);
            words[position] = if holds { words[position] | bit } else { words[position] & !bit };
        }
    }

    /// Calls a function with the rows and their test, which will test about so many rows.
    fn run<L: RowLoop>(&self, requested: usize, work: L) -> L::Output {
        match &self.rows {
            Stored::Small(ints, range) => match within(range, i32::MIN..=i32::MAX) {
                Some((low, high)) => work.run(ints, |int| (low <= int) & (int <= high)),
                None => work.run(ints, |_| false),
            },
            Stored::Wide(ints, range) => {
                let (low, high) = (*range.start(), *range.end());
                work.run(ints, |int| (low <= int) & (int <= high))
            }
            Stored::Floats(floats, range) => {
                let (low, high) = (*range.start(), *range.end());
                work.run(floats, |float| (low <= float) & (float <= high))
            }
            Stored::Days(days, range) => match within(range, i16::MIN..=i16::MAX) {
                Some((low, high)) => work.run(days, |day| (low <= day) & (day <= high)),
                None => work.run(days, |_| false),
            },
            Stored::Codes(codes, texts, passing) if texts.len() <= requested => {
                let passing = self.passing(texts, passing);
                work.run(codes, |code| is_passing(passing, texts, code))
            }
            Stored::Codes(codes, texts, _) => {
                work.run(codes, |code| self.holds_text(texts, usize::from(code)))
            }
            Stored::Texts(texts, expected) => {
                work.run_texts(texts.len(), |row| is_one_of(expected, texts.get_bytes(row)))
            }
        }
    }
}

impl<'a> Stored<'a> {
    /// What is stored of a predicate's values; `None` as [`ColumnTest::new`].
    fn of(
        part: &'a LangValues,
        value_type: ValueType,
        expected: &ValueCondition,
    ) -> Option<Stored<'a>> {
        let column = part.stored();
        if column.rows.is_some() {
            return None;
        }
        let ints = || expected.int_range().map(|(low, high)| low..=high);
        Some(match (&column.values, value_type) {
            (Values::SmallInt(numbers), ValueType::Int) => {
                Stored::Small(numbers.as_slice(), ints()?)
            }
            (Values::Int(numbers), ValueType::Int) => Stored::Wide(numbers.as_slice(), ints()?),
            (Values::Float(floats), ValueType::Float) => {
                Stored::Floats(floats.as_slice(), expected.float_range()?)
            }
            (Values::SmallTime(seconds), ValueType::DateTime) => {
                Stored::Small(seconds.as_slice(), units_between(expected, 1)?)
            }
            (Values::Days(days), ValueType::DateTime) => {
                Stored::Days(days.as_slice(), units_between(expected, DAY)?)
            }
            (Values::Text { value_type: stored, texts }, ValueType::String) if stored.is_text() => {
                Stored::Texts(texts, texts_of(expected)?)
            }
            (Values::Coded { .. }, _) => return Stored::of_codes(part, value_type),
            _ => return None,
        })
    }

    /// As [`Stored::of`], of a column of few distinct texts, for any condition on texts.
    fn of_codes(part: &'a LangValues, value_type: ValueType) -> Option<Stored<'a>> {
        let column = part.stored();
        let Values::Coded { value_type: stored, codes, texts } = &column.values else {
            return None;
        };
        let are_texts = value_type == ValueType::String && stored.is_text();
        (column.rows.is_none() && are_texts)
            .then(|| Stored::Codes(codes.as_slice(), texts, OnceLock::new()))
    }
}

/// The text of a value that patterns are matched with: an empty one matches none.
fn matchable(value: ValueRef<'_>) -> Option<&str> {
    match value {
        ValueRef::String(text) | ValueRef::Default(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// What is in both of two ranges.
fn narrowed<T: Copy + PartialOrd>(
    one: &RangeInclusive<T>,
    other: &RangeInclusive<T>,
) -> RangeInclusive<T> {
    let low = if one.start() < other.start() { other.start() } else { one.start() };
    let high = if other.end() < one.end() { other.end() } else { one.end() };
    *low..=*high
}

/// The texts of a condition "one of these", ascending.
fn texts_of(expected: &ValueCondition) -> Option<Vec<String>> {
    let ValueCondition::AnyOf(values) = expected else { return None };
    let text =
        |value: &Value| if let Value::String(text) = value { Some(text.clone()) } else { None };
    let mut texts: Vec<String> = values.iter().map(text).collect::<Option<_>>()?;
    texts.sort_unstable();
    Some(texts)
}

/// Whether a text is one of some, which ascend.
#[inline]
fn is_one_of(expected: &[String], text: &[u8]) -> bool {
    match expected {
        [one] => one.as_bytes() == text,
        all => all.binary_search_by(|expected| expected.as_bytes().cmp(text)).is_ok(),
    }
}

/// Whether the text with a number passes. One that there is not, in a file that is damaged, unwinds
/// as any look at it does.
#[inline]
fn is_passing(passing: &[bool], texts: &TextArray, code: u16) -> bool {
    let existing = passing.get(usize::from(code));
    existing.copied().unwrap_or_else(|| texts.get(code.into()).is_empty())
}

/// Those of some changes, which ascend, that are about nodes between two.
fn between<T>(changes: &[(u32, Option<T>)], first: u32, last: u32) -> &[(u32, Option<T>)] {
    let start = changes.partition_point(|(node, _)| *node < first);
    let end = changes.partition_point(|(node, _)| *node <= last);
    &changes[start..end.max(start)]
}

/// Changed nodes, and whether the number of each is in a range.
fn listed<T: PartialOrd + Copy>(
    changes: &[(u32, Option<T>)],
    range: &RangeInclusive<T>,
) -> Vec<(u32, bool)> {
    let holds = |now: Option<T>| now.is_some_and(|now| range.contains(&now));
    changes.iter().map(|(node, now)| (*node, holds(*now))).collect()
}

/// The range of integers that a condition on instants accepts, in units of so many seconds since
/// 1970; `None` for one that is no range of instants.
fn units_between(expected: &ValueCondition, unit: i64) -> Option<RangeInclusive<i64>> {
    const NANOS: i128 = 1_000_000_000;
    let unit = i128::from(unit) * NANOS;
    let nanos = |time: &DateTime| i128::from(time.seconds) * NANOS + i128::from(time.nanos);
    // Instants lie within 2^63 seconds, so what is taken of their quotients fits 64 bits, but for
    // the next one.
    let clamped = |units: i128| units.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    let low = |bound: Bound<i128>| match bound {
        Bound::Included(nanos) => clamped(-(-nanos).div_euclid(unit)),
        Bound::Excluded(nanos) => clamped(nanos.div_euclid(unit) + 1),
        Bound::Unbounded => i64::MIN,
    };
    let high = |bound: Bound<i128>| match bound {
        Bound::Included(nanos) => clamped(nanos.div_euclid(unit)),
        Bound::Excluded(nanos) => clamped(-(-nanos).div_euclid(unit) - 1),
        Bound::Unbounded => i64::MAX,
    };
    let (first, last) = expected
        .bounds(|value| if let Value::DateTime(time) = value { Some(nanos(time)) } else { None })?;
    Some(low(first)..=high(last))
}

/// The ends of a range among all narrower numbers; `None` where it has none of them.
fn within<T>(range: &RangeInclusive<i64>, all: RangeInclusive<T>) -> Option<(T, T)>
where
    T: Copy + Into<i64> + TryFrom<i64>,
{
    let low = T::try_from((*range.start()).max((*all.start()).into())).ok()?;
    let high = T::try_from((*range.end()).min((*all.end()).into())).ok()?;
    Some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::choose::tester::Tester;
    use crate::exec::columns::batches::Members;
    use crate::exec::control::context::Context;
    use crate::exec::control::stop::RequestContext;
    use crate::exec::tests::random_graph::graph;
    use fastrand::Rng;
    use hexgraph_base::plan::{Comparison, Query};

    /// A value that a predicate may be compared with, near to those that it has.
    fn bound(name: &str, rng: &mut Rng) -> Value {
        let time = |text: &str| Value::DateTime(DateTime::parse(text).unwrap());
        match name {
            "age" => Value::Int(*rng.choice(&[-3, -1, 0, 4, 9, i64::MIN, i64::MAX]).unwrap()),
            "wide" => Value::Int(rng.i64(0..5) * 1_000_000_007),
            "rate" => {
                let floats = [0.1, 0.0, -0.0, 3.25, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
                Value::Float(*rng.choice(&floats).unwrap())
            }
            "day" | "at" => {
                let times = [
                    "1971-03-02",
                    "1971-03-02T00:00:00.5Z",
                    "1971-03-01T23:59:59Z",
                    "2001-02-03T04:05:06Z",
                    "0001-01-01",
                    "9999-12-31",
                    "1969-12-31",
                ];
                time(rng.choice(times).unwrap())
            }
            _ => Value::String((*rng.choice(&["a", "b", "", "é", "c", "1"]).unwrap()).to_owned()),
        }
    }

    fn condition(name: &str, rng: &mut Rng) -> ValueCondition {
        let op = [Comparison::Ge, Comparison::Gt, Comparison::Le, Comparison::Lt];
        match rng.u8(..4) {
            0 => ValueCondition::AnyOf((0..rng.usize(..4)).map(|_| bound(name, rng)).collect()),
            1 => ValueCondition::Between(bound(name, rng), bound(name, rng)),
            _ => ValueCondition::Than(rng.choice(op).unwrap(), bound(name, rng)),
        }
    }

    /// What a column tests is what values say one by one, on graphs with and without changes.
    #[test]
    fn columns_say_what_values_do() {
        let mut rng = Rng::with_seed(23);
        let (mut seen, mut passed, mut pairs) = ([0; 6], 0, 0);
        for round in 0..90 {
            let version = graph(rng.u64(20..700), &mut rng);
            let (control, query) = (RequestContext::new(), Query::default());
            let context =
                Context { version: &version, query: &query, control: &control, vars: Vec::new() };
            for name in ["age", "wide", "rate", "day", "at", "city", "plain"] {
                let Some(predicate) = context.predicate(name) else { continue };
                let predicate = &**predicate;
                for _ in 0..4 {
                    let expected = condition(name, &mut rng);
                    let tester = Tester::of_values(predicate, None, expected.clone().into());
                    let Tester::Column { part, rows } = &tester else { continue };
                    let second = condition(name, &mut rng);
                    if let Tester::Column { rows: other, .. } =
                        Tester::of_values(predicate, None, second.clone().into())
                        && let Some(rows) = rows.both(&other)
                    {
                        let both = Tester::Column { part, rows };
                        let two = [&expected, &second].map(|expected| Tester::Value {
                            predicate,
                            lang: None,
                            expected: expected.clone().into(),
                        });
                        for node in 0..900 {
                            let right = two.iter().all(|one| one.test(node));
                            assert_eq!(both.test(node), right, "{name} {expected:?} {second:?}");
                            pairs += usize::from(right);
                        }
                    }
                    seen[match &rows.rows {
                        Stored::Small(..) if name == "age" => 0,
                        Stored::Small(..) => 1,
                        Stored::Wide(..) => 2,
                        Stored::Floats(..) => 3,
                        Stored::Days(..) => 4,
                        Stored::Texts(..) | Stored::Codes(..) => 5,
                    }] += 1;
                    let alone =
                        Tester::Value { predicate, lang: None, expected: expected.clone().into() };
                    let nodes: Vec<u32> = (0..900).filter(|_| rng.u8(..4) != 0).collect();
                    let right: Vec<u32> =
                        nodes.iter().copied().filter(|node| alone.test(*node)).collect();
                    let reported = format!("{name} {expected:?} in round {round}");
                    let each = nodes.iter().copied().filter(|node| tester.test(*node));
                    assert_eq!(each.collect::<Vec<u32>>(), right, "{reported}");
                    let retained = context.retain_passing(Members::List(&nodes), &tester).unwrap();
                    assert_eq!(retained, right, "{reported}");
                    let now = rows.changes(part);
                    let right = now.iter().map(|(node, _)| (*node, alone.test(*node)));
                    assert_eq!(now, right.collect::<Vec<_>>(), "{reported}");
                    let stored = part.stored().subjects.len();
                    let held = (0..stored).filter(|row| rows.holds_row(*row)).count();
                    assert_eq!(rows.count(|| Ok(())).unwrap(), held, "{reported}");
                    passed += held;
                }
            }
        }
        assert!(seen.iter().all(|seen| 20 < *seen), "{seen:?}");
        assert!(10_000 < passed && 1_000 < pairs, "{passed}, {pairs} by pairs");
    }
}
