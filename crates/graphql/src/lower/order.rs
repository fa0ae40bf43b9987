//! Lowers the arguments `order`, `first`, `offset` and `after`.

use crate::lower::conditions::filter_value::text_of;
use crate::lower::refusal::Refusal;
use crate::lower::target::language;
use crate::model::TypeDef;
use crate::request::{Arguments, Field, Value};
use hexgraph_base::plan::{Order, OrderKey, Page};
use hexgraph_base::types::Uid;

/// The greatest number of sort keys; further ones are ignored.
const KEYS_MAX: usize = 100;

/// Returns the sort keys that `order` names, the most significant first.
pub(super) fn order(def: &TypeDef, arguments: &Arguments) -> Order {
    let mut keys = Order::new();
    let mut next = arguments.given("order");
    while let Some(value) = next.filter(|_| keys.len() < KEYS_MAX) {
        // `asc` counts where both are given.
        let key = |direction| value.get(direction).and_then(Value::as_str);
        let result = key("asc").map(|name| (name, false)).or(key("desc").map(|name| (name, true)));
        if let Some((name, descending)) = result
            && let Some(predicate) = def.field(name).and_then(|field| field.predicate.as_ref())
        {
            keys.push(OrderKey::Predicate {
                predicate: predicate.name.clone(),
                lang: language(&predicate.language),
                descending,
            });
        }
        next = value.get("then");
    }
    keys
}

/// Returns the page that the arguments request. `first: 0` means all nodes, as in Dgraph.
///
/// # Errors
///
/// When `after` is not a uid. If it were ignored, a client that pages through nodes would get the
/// first one again and again.
pub(super) fn page(field: &Field) -> Result<Page, Refusal> {
    let number = |name| number(&field.arguments, name);
    let after = match field.arguments.given("after") {
        Some(value) => uid(field, value)?.0,
        None => 0,
    };
    Ok(Page { first: number("first"), offset: number("offset"), after })
}

/// Returns the argument `offset`; 0 when it is negative.
pub(super) fn offset(arguments: &Arguments) -> u32 {
    u32::try_from(number(arguments, "offset")).unwrap_or(0)
}

fn number(arguments: &Arguments, name: &str) -> i32 {
    let number = arguments.given(name).and_then(Value::as_int).unwrap_or(0);
    i32::try_from(number).unwrap_or(if number < 0 { i32::MIN } else { i32::MAX })
}

/// Parses an argument as a uid.
///
/// # Errors
///
/// When it is not a uid.
pub(super) fn uid(field: &Field, value: &Value) -> Result<Uid, Refusal> {
    value.as_str().and_then(Uid::parse).ok_or_else(|| {
        let text = text_of(value).unwrap_or_default();
        Refusal::new(format!(
            "ID argument ({text}) of {} was not able to be parsed",
            field.shape.name
        ))
    })
}

/// Checks that a page of ordered nodes is not counted from the end, which Dgraph refuses as well.
/// With `@cascade` the page is cut when all nodes are there, and may be.
pub(super) fn check(order: &Order, page: Page, cascades: bool) -> Result<(), Refusal> {
    match order.first() {
        Some(OrderKey::Predicate { predicate, .. }) if page.first < 0 && !cascades => {
            Err(Refusal::new(format!(
                "We do not yet support negative or infinite count with sorting: {predicate} {}. Try flipping order and return first few elements instead.",
                page.first
            )))
        }
        _ => Ok(()),
    }
}
