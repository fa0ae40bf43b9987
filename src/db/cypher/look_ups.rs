//! Tests of a property as look-ups in the indexes of its predicates.

use super::names::{NamedProperty, parts_in};
use hexgraph_base::plan::{LookUp, LookUpIndex};
use hexgraph_base::types::{DateTime, Value as Stored, ValueType};
use hexgraph_cypher::{IndexAccess, IndexEstimate, IndexTest};
use hexgraph_scalar::{Comparison, Point, Srid, TextTest, Value};
use hexgraph_store::exec::{index_size, look_up_estimate, look_up_nodes};
use hexgraph_store::graph::{LangValues, Predicate};
use hexgraph_store::storage::NodeSet;
use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::Arc;

/// A range query is expected to have a quarter of all values.
const VALUES_PER_RANGE: u64 = 4;

/// The look-ups of a test: one for each part of each predicate that may have the property.
pub(super) struct LookUps<'p> {
    access: IndexAccess,
    parts: Vec<(&'p LangValues, LookUp)>,
}

/// What an index is searched for.
enum Sought {
    /// No stored value of the type passes.
    Nothing,
    LookUp(IndexAccess, LookUp),
    /// The index has no answer.
    Unknown,
}

impl<'p> LookUps<'p> {
    /// The look-ups of a test; `None` where an index has no answer.
    pub(super) fn of(property: &'p NamedProperty, test: &IndexTest) -> Option<LookUps<'p>> {
        let mut look_ups = LookUps { access: IndexAccess::Values, parts: Vec::new() };
        for predicate in predicates(property) {
            if predicate.def.list {
                return None;
            }
            for part in parts_in(predicate, &property.lang) {
                match sought(test, predicate.def.value_type, part) {
                    Sought::Nothing => {}
                    Sought::LookUp(access, look_up) => {
                        look_ups.access = access;
                        look_ups.parts.push((part, look_up));
                    }
                    Sought::Unknown => return None,
                }
            }
        }
        Some(look_ups)
    }

    /// Returns about how many nodes the indexes have; `None` where one is missing.
    pub(super) fn estimate(&self) -> Option<IndexEstimate> {
        let sizes = self.parts.iter().map(|(part, look_up)| look_up_estimate(part, look_up));
        Some(self.expecting(sizes.sum::<Option<usize>>()? as u64))
    }

    /// Returns the estimate of so many nodes.
    pub(super) fn expecting(&self, nodes: u64) -> IndexEstimate {
        IndexEstimate { access: self.access, nodes }
    }

    /// Returns the nodes of the indexes; `None` where one is missing.
    pub(super) fn nodes(&self) -> Option<NodeSet> {
        let mut nodes = NodeSet::default();
        for (part, look_up) in &self.parts {
            nodes = nodes.or(&look_up_nodes(part, look_up)?);
        }
        Some(nodes)
    }
}

/// Returns how many nodes the indexes of a property have for a test of an access, on average;
/// `None` where one is missing.
pub(super) fn nodes_per_test(property: &NamedProperty, access: IndexAccess) -> Option<u64> {
    let index = match access {
        IndexAccess::Values | IndexAccess::Range => LookUpIndex::Values,
        IndexAccess::Trigrams => LookUpIndex::Trigrams,
        IndexAccess::Cells => LookUpIndex::Geo,
    };
    let mut most = 0;
    for predicate in predicates(property) {
        for part in parts_in(predicate, &property.lang) {
            let (nodes, tokens) = index_size(part, index).filter(|_| !predicate.def.list)?;
            let tests = if access == IndexAccess::Range { VALUES_PER_RANGE } else { tokens.max(1) };
            most = most.max(nodes.div_ceil(tests));
        }
    }
    Some(most)
}

/// The predicates that may have a property, each once.
fn predicates(property: &NamedProperty) -> Vec<&Arc<Predicate>> {
    let owned = property.owned.iter().flat_map(|(_, predicates)| predicates);
    let mut distinct: Vec<&Arc<Predicate>> = Vec::new();
    for predicate in property.exact.iter().chain(owned) {
        if !distinct.iter().any(|it| Arc::ptr_eq(it, predicate)) {
            distinct.push(predicate);
        }
    }
    distinct
}

/// What to look up for a test in the index of a part, whose predicate has a type.
fn sought(test: &IndexTest, value_type: ValueType, part: &LangValues) -> Sought {
    match test {
        IndexTest::AnyOf(values) => any_of(values, value_type),
        IndexTest::Range(bounds) => range(bounds, value_type),
        IndexTest::Text(..) | IndexTest::Matches(_) if !value_type.is_text() => {
            if is_plain(value_type) { Sought::Nothing } else { Sought::Unknown }
        }
        IndexTest::Text(TextTest::StartsWith, text)
            if index_size(part, LookUpIndex::Values).is_some() =>
        {
            let low = Bound::Included(Stored::String((**text).into()));
            let look_up = LookUp::Between(low, after_prefix(text));
            Sought::LookUp(IndexAccess::Range, look_up)
        }
        IndexTest::Text(_, text) => by_trigrams(LookUp::Containing((**text).into())),
        IndexTest::Matches(pattern) => by_trigrams(LookUp::Matching((**pattern).into())),
        IndexTest::Near(center, metres) if value_type == ValueType::Geo => near(center, *metres),
        IndexTest::Near(..) => Sought::Unknown,
    }
}

fn by_trigrams(look_up: LookUp) -> Sought {
    Sought::LookUp(IndexAccess::Trigrams, look_up)
}

/// Whether queries see all values of a type as one kind, other than texts.
fn is_plain(value_type: ValueType) -> bool {
    matches!(value_type, ValueType::Int | ValueType::Float | ValueType::Bool | ValueType::DateTime)
}

/// The upper bound of all texts with a prefix.
fn after_prefix(prefix: &str) -> Bound<Stored> {
    let mut end: Vec<char> = prefix.chars().collect();
    while let Some(last) = end.pop() {
        // The step skips the surrogates, which are no characters.
        if let Some(next) = (last..=char::MAX).nth(1) {
            end.push(next);
            return Bound::Excluded(Stored::String(end.into_iter().collect()));
        }
    }
    Bound::Unbounded
}

fn any_of(values: &[Value], value_type: ValueType) -> Sought {
    let mut stored = Vec::with_capacity(values.len());
    for value in values {
        match bound_of(value, value_type) {
            BoundValue::Exact(value) => stored.push(value),
            BoundValue::Between { .. } | BoundValue::Above | BoundValue::Below => {}
            BoundValue::Incomparable => {}
            BoundValue::Unknown => return Sought::Unknown,
        }
    }
    match stored.is_empty() {
        true => Sought::Nothing,
        false => Sought::LookUp(IndexAccess::Values, LookUp::AnyOf(stored)),
    }
}

/// Where a value of Cypher is among the stored values of a type.
enum BoundValue {
    /// It equals this one.
    Exact(Stored),
    /// It is between two that are next to each other.
    Between { below: Stored, above: Stored },
    /// It is greater than all.
    Above,
    /// It is less than all.
    Below,
    /// No stored value equals it, or is less or greater.
    Incomparable,
    /// The index has no answer.
    Unknown,
}

/// 2^63, the first float beyond the ints.
const BEYOND: f64 = 9_223_372_036_854_775_808.0;

fn bound_of(value: &Value, value_type: ValueType) -> BoundValue {
    match (value, value_type) {
        (Value::String(text), ValueType::String | ValueType::Default) => {
            BoundValue::Exact(Stored::String((**text).into()))
        }
        (Value::Bool(truth), ValueType::Bool) => BoundValue::Exact(Stored::Bool(*truth)),
        (Value::Int(number), ValueType::Int) => BoundValue::Exact(Stored::Int(*number)),
        (Value::Int(number), ValueType::Float) => int_among_floats(*number),
        (Value::Float(number), ValueType::Float | ValueType::Int) if number.is_nan() => {
            BoundValue::Incomparable
        }
        (Value::Float(number), ValueType::Float) => BoundValue::Exact(Stored::Float(*number)),
        (Value::Float(number), ValueType::Int) => float_among_ints(*number),
        (Value::DateTime(time), ValueType::DateTime) => {
            let instant = time.timestamp();
            let nanos = i64::from(instant.subsec_nanosecond());
            let time = DateTime::from_unix(instant.as_second(), nanos);
            BoundValue::Exact(Stored::DateTime(time))
        }
        // A stored value without a type may be of any kind, and a bigfloat is another number.
        (_, value_type) if is_plain(value_type) || value_type == ValueType::String => {
            BoundValue::Incomparable
        }
        _ => BoundValue::Unknown,
    }
}

fn int_among_floats(number: i64) -> BoundValue {
    let near = number as f64;
    match (near as i128).cmp(&i128::from(number)) {
        Ordering::Equal => BoundValue::Exact(Stored::Float(near)),
        Ordering::Less => {
            BoundValue::Between { below: Stored::Float(near), above: Stored::Float(near.next_up()) }
        }
        Ordering::Greater => BoundValue::Between {
            below: Stored::Float(near.next_down()),
            above: Stored::Float(near),
        },
    }
}

fn float_among_ints(number: f64) -> BoundValue {
    if BEYOND <= number {
        return BoundValue::Above;
    }
    if number < -BEYOND {
        return BoundValue::Below;
    }
    let below = number.floor();
    match below == number {
        true => BoundValue::Exact(Stored::Int(below as i64)),
        // A float with a fraction is far from the least and the greatest int.
        false => BoundValue::Between {
            below: Stored::Int(below as i64),
            above: Stored::Int(below as i64 + 1),
        },
    }
}

/// The range of the stored values of a type that are on the given side of each bound.
fn range(bounds: &[(Comparison, Value)], value_type: ValueType) -> Sought {
    let (mut low, mut high) = (Bound::Unbounded, Bound::Unbounded);
    for (comparison, value) in bounds {
        let is_lower = matches!(comparison, Comparison::Greater | Comparison::GreaterOrEqual);
        let is_open = matches!(comparison, Comparison::Greater | Comparison::Less);
        let bound = match (bound_of(value, value_type), is_lower) {
            (BoundValue::Unknown, _) => return Sought::Unknown,
            (BoundValue::Incomparable, _)
            | (BoundValue::Above, true)
            | (BoundValue::Below, false) => return Sought::Nothing,
            (BoundValue::Above, false) | (BoundValue::Below, true) => continue,
            (BoundValue::Exact(value), _) if is_open => Bound::Excluded(value),
            (BoundValue::Exact(value), _)
            | (BoundValue::Between { above: value, .. }, true)
            | (BoundValue::Between { below: value, .. }, false) => Bound::Included(value),
        };
        let side = if is_lower { &mut low } else { &mut high };
        if matches!(side, Bound::Unbounded) || is_tighter(&bound, side, is_lower) {
            *side = bound;
        }
    }
    Sought::LookUp(IndexAccess::Range, LookUp::Between(low, high))
}

/// Whether a bound has fewer values on its side than another one.
fn is_tighter(one: &Bound<Stored>, other: &Bound<Stored>, is_lower: bool) -> bool {
    let value = |bound: &Bound<Stored>| match bound {
        Bound::Included(value) | Bound::Excluded(value) => Some(value.clone()),
        Bound::Unbounded => None,
    };
    let (Some(one), Some(other)) = (value(one), value(other)) else { return false };
    let order = one.as_ref().compare(other.as_ref());
    order.is_some_and(|order| if is_lower { order.is_gt() } else { order.is_lt() })
}

/// The cells around a point. A covering of the circle has its corners on it, so that its sides are
/// nearer to the centre, and of a sphere that is 0.11 % smaller than that of the distance.
fn near(center: &Point, metres: f64) -> Sought {
    /// More than both differences: 1 / cos(π / 100) is 1.0005.
    const MARGIN: f64 = 1.002;
    /// The smallest circle, smaller than any cell, and the largest, less than a hemisphere.
    const METRES: (f64, f64) = (1.0, 5_000_000.0);
    if metres < 0.0 || metres.is_nan() {
        return Sought::Nothing;
    }
    if center.srid() != Srid::Wgs84 || METRES.1 < metres {
        return Sought::Unknown;
    }
    let [longitude, latitude, ..] = *center.coordinates() else { return Sought::Unknown };
    let metres = (metres * MARGIN).max(METRES.0);
    Sought::LookUp(IndexAccess::Cells, LookUp::Near { longitude, latitude, metres })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_after_a_prefix_is_above_all_texts_with_it() {
        for prefix in ["a", "az", "\u{d7ff}", "a\u{10ffff}", "\u{7f}", "é"] {
            let Bound::Excluded(Stored::String(end)) = after_prefix(prefix) else {
                panic!("{prefix} has an end");
            };
            assert!(*format!("{prefix}\u{10ffff}\u{10ffff}") < *end, "{prefix} {end}");
            assert!(!end.starts_with(prefix));
        }
        assert!(matches!(after_prefix(""), Bound::Unbounded));
        assert!(matches!(after_prefix("\u{10ffff}"), Bound::Unbounded));
    }

    #[test]
    fn a_number_is_among_those_of_another_type() {
        let ints =
            |number: f64| format!("{:?}", Shown(bound_of(&Value::Float(number), ValueType::Int)));
        assert_eq!(ints(5.0), "Int(5)");
        assert_eq!(ints(5.5), "Int(5)..Int(6)");
        assert_eq!(ints(-5.5), "Int(-6)..Int(-5)");
        assert_eq!(ints(-BEYOND), format!("Int({})", i64::MIN));
        assert_eq!((ints(BEYOND), ints(f64::NEG_INFINITY)), ("above".into(), "below".into()));
        assert_eq!(ints(f64::NAN), "incomparable");
        let floats =
            |number| format!("{:?}", Shown(bound_of(&Value::Int(number), ValueType::Float)));
        assert_eq!(floats(1 << 53), "Float(9007199254740992.0)");
        let next = "Float(9007199254740992.0)..Float(9007199254740994.0)";
        assert_eq!(floats((1 << 53) + 1), next);
        assert_eq!(
            floats(-(1 << 53) - 1),
            "Float(-9007199254740994.0)..Float(-9007199254740992.0)"
        );
    }

    struct Shown(BoundValue);

    impl std::fmt::Debug for Shown {
        fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            match &self.0 {
                BoundValue::Exact(value) => write!(out, "{value:?}"),
                BoundValue::Between { below, above } => write!(out, "{below:?}..{above:?}"),
                BoundValue::Above => write!(out, "above"),
                BoundValue::Below => write!(out, "below"),
                BoundValue::Incomparable => write!(out, "incomparable"),
                BoundValue::Unknown => write!(out, "unknown"),
            }
        }
    }
}
