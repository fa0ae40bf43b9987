//! Equivalence and order, whatever the values.

use super::samples::values;
use crate::{Comparison, Duration, NESTING_MAX, Value, compare, equals, order_prefix};
use proptest::prelude::*;
use rustc_hash::FxBuildHasher;
use std::cmp::Ordering;
use std::hash::BuildHasher;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn equivalence_agrees_with_hash_and_order(one in values(), other in values()) {
        prop_assert_eq!(&one, &one.clone());
        prop_assert_eq!(one == other, one.cmp(&other).is_eq());
        prop_assert_eq!(one.cmp(&other), other.cmp(&one).reverse());
        if one == other {
            prop_assert_eq!(FxBuildHasher.hash_one(&one), FxBuildHasher.hash_one(&other));
        }
    }

    #[test]
    fn prefixes_have_the_order_of_their_values(mut values in prop::collection::vec(values(), 2..30)) {
        values.sort();
        for pair in values.windows(2) {
            let (one, other) = (order_prefix(&pair[0]), order_prefix(&pair[1]));
            prop_assert!(one <= other && 0 < one && other < u64::MAX, "{pair:?}");
            if pair[0] == pair[1] {
                prop_assert_eq!(one, other, "{:?}", pair);
            }
        }
    }

    #[test]
    fn order_is_transitive(mut three in prop::array::uniform3(values())) {
        three.sort();
        prop_assert!(three[0] <= three[1] && three[1] <= three[2] && three[0] <= three[2]);
    }

    #[test]
    fn equals_is_symmetric_and_implies_equivalence(one in values(), other in values()) {
        prop_assert_eq!(equals(&one, &other), equals(&other, &one));
        if equals(&one, &other) == Some(true) {
            prop_assert_eq!(one, other);
        }
    }

    #[test]
    fn comparisons_agree_with_order(one in values(), other in values()) {
        let less = compare(&one, Comparison::Less, &other);
        let greater = compare(&other, Comparison::Greater, &one);
        prop_assert_eq!(less, greater);
        if less == Some(true) {
            prop_assert_eq!(one.cmp(&other), Ordering::Less);
        }
        if compare(&one, Comparison::LessOrEqual, &other) == Some(true) {
            prop_assert!(one <= other);
        }
    }
}

#[test]
fn large_integers_are_not_rounded() {
    let (int, float) = (Value::Int((1 << 53) + 1), Value::Float((1_u64 << 53) as f64));
    assert_eq!(equals(&int, &float), Some(false));
    assert_eq!(compare(&int, Comparison::Greater, &float), Some(true));
    assert!(Value::Int(i64::MAX) < Value::Float(i64::MAX as f64));
}

#[test]
fn kinds_are_sorted_as_opencypher_says() {
    let mut values = vec![
        Value::Null,
        Value::Float(f64::NAN),
        Value::Int(1),
        Value::Bool(false),
        Value::from("text"),
        Value::from(Duration::default()),
        Value::list(vec![Value::from("list")]).unwrap(),
        Value::Node(1),
        Value::map(vec![]).unwrap(),
    ];
    let sorted: Vec<Value> = values.iter().rev().cloned().collect();
    values.sort();
    assert_eq!(values, sorted);
}

#[test]
fn nesting_has_a_bound() {
    let mut value = Value::Null;
    for _ in 0..NESTING_MAX {
        value = Value::list(vec![value]).unwrap();
    }
    let error = Value::list(vec![value]).unwrap_err();
    assert!(error.to_string().contains("deeper than 100 levels"), "{error}");
}
