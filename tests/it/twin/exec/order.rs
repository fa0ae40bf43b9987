//! Order and pages of lists of nodes.

use super::state::{Outcome, Twin, refuse};
use hexgraph::internals::plan::{Order, OrderKey, Page};
use hexgraph::internals::text::Collation;
use hexgraph::types::{Value, ValueType};
use std::cmp::Ordering;

fn collation_of(lang: &str) -> Option<Collation> {
    Collation::of(lang).expect("the tests have collations")
}

/// The part of a list that is requested; `after` is seen to elsewhere.
pub fn cut(nodes: &[u64], page: Page) -> Vec<u64> {
    if page.first < 0 {
        let count = page.first.unsigned_abs() as usize;
        return nodes.iter().rev().take(count).rev().copied().collect();
    }
    let offset = page.offset.max(0) as usize;
    let first = if page.first == 0 { usize::MAX } else { page.first as usize };
    nodes.iter().skip(offset).take(first).copied().collect()
}

/// What is compared of two nodes.
struct Key {
    value: Option<Value>,
    descending: bool,
}

impl Twin<'_> {
    /// Refuses an order that can't be.
    pub fn check_order(&self, order: &Order, page: Page) -> Outcome<()> {
        for key in order {
            let OrderKey::Predicate { predicate, .. } = key else { continue };
            if page.first < 0 {
                return refuse("the last ones of an order");
            }
            let Some(definition) = self.definition(predicate) else {
                return refuse("an order by an unknown predicate");
            };
            if definition.list || !definition.is_ordered() {
                return refuse("an order by what has none");
            }
        }
        if let [OrderKey::Var { var, .. }] = order.as_slice() {
            self.values_of(*var)?;
        }
        Ok(())
    }

    /// Sorts a list and takes its page. `is_root` for that of a block.
    pub fn sort(
        &self,
        order: &Order,
        nodes: Vec<u64>,
        page: Page,
        is_root: bool,
    ) -> Outcome<Vec<u64>> {
        if let [OrderKey::Var { var, .. }] = order.as_slice() {
            let map = self.values_of(*var)?;
            let with: Vec<u64> =
                nodes.iter().copied().filter(|node| map.of.contains_key(node)).collect();
            // Where no node has a value, there is no order.
            return match with.is_empty() {
                true => Ok(cut(&nodes, page)),
                false => Ok(cut(&self.sorted(order, with, None), page)),
            };
        }
        if let ([OrderKey::Predicate { lang: Some(lang), .. }, _, ..], true) =
            (order.as_slice(), is_root && 0 < page.first)
        {
            return Ok(self.page_by_first(order, lang, nodes, page));
        }
        let lang = match order.as_slice() {
            [OrderKey::Predicate { lang: Some(lang), .. }] => Some(lang.as_str()),
            _ => None,
        };
        Ok(cut(&self.sorted(order, nodes, lang), page))
    }

    /// Sorts by all keys, texts by the rules of a language where one is given.
    fn sorted(&self, order: &[OrderKey], mut nodes: Vec<u64>, lang: Option<&str>) -> Vec<u64> {
        let collation = lang.and_then(collation_of);
        nodes.sort_by(|one, other| {
            let keys = |node| order.iter().map(|key| self.key(key, node)).collect::<Vec<_>>();
            compare(&keys(*one), &keys(*other), collation.as_ref(), one.cmp(other))
        });
        nodes
    }

    fn key(&self, key: &OrderKey, node: u64) -> Key {
        match key {
            OrderKey::Predicate { predicate, lang, descending } => {
                let values = match lang {
                    Some(lang) => self.function_values(node, predicate, Some(lang)),
                    None => self.first_untagged(node, predicate),
                };
                let value = values.into_iter().next().map(|(value, _)| value);
                Key { value, descending: *descending }
            }
            OrderKey::Var { var, descending } => {
                let value = self.values_of(*var).ok().and_then(|map| map.of.get(&node).cloned());
                Key { value, descending: *descending }
            }
        }
    }

    /// With several keys of which the first has a language, the page is the one by that key alone,
    /// with all that equal its first and last node, and only then sorted by all keys.
    fn page_by_first(
        &self,
        order: &[OrderKey],
        lang: &str,
        nodes: Vec<u64>,
        page: Page,
    ) -> Vec<u64> {
        let collation = collation_of(lang);
        let first = &order[..1];
        let all = self.sorted(first, nodes, Some(lang));
        let tied = |one: usize, other: usize| {
            let key = |position: usize| [self.key(&order[0], all[position])];
            compare(&key(one), &key(other), collation.as_ref(), Ordering::Equal).is_eq()
        };
        let offset = page.offset.max(0) as usize;
        let mut start = offset.min(all.len());
        while 0 < start && start < all.len() && tied(start - 1, start) {
            start -= 1;
        }
        let mut end = (offset + page.first as usize).min(all.len()).max(start);
        while 0 < end && end < all.len() && tied(end - 1, end) {
            end += 1;
        }
        let middle = self.sorted(order, all[start..end].to_vec(), None);
        cut(&[all[..start].to_vec(), middle].concat(), page)
    }
}

/// Compares by each key in turn. Nodes without a value come last, and those are equal; in the end
/// the uids tell, backwards where both lack one of several keys that descends.
fn compare(
    one: &[Key],
    other: &[Key],
    collation: Option<&Collation>,
    by_uid: Ordering,
) -> Ordering {
    let mut backwards = false;
    for (left, right) in one.iter().zip(other) {
        let order = match (&left.value, &right.value) {
            (None, None) => {
                backwards |= 1 < one.len() && left.descending;
                continue;
            }
            (None, Some(_)) => return Ordering::Greater,
            (Some(_), None) => return Ordering::Less,
            (Some(left), Some(right)) => compare_values(left, right, collation),
        };
        if order.is_ne() {
            return if left.descending { order.reverse() } else { order };
        }
    }
    if backwards { by_uid.reverse() } else { by_uid }
}

fn compare_values(one: &Value, other: &Value, collation: Option<&Collation>) -> Ordering {
    if let (Some(collation), Value::String(one), Value::String(other)) = (collation, one, other) {
        return collation.compare(one, other);
    }
    if one.value_type() == ValueType::Bool {
        return format!("{one:?}").cmp(&format!("{other:?}"));
    }
    one.as_ref().compare(other.as_ref()).unwrap_or(Ordering::Equal)
}
