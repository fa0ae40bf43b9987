//! `order`, `first`, `offset` and `after`.

use crate::lower::conditions::value::text_of;
use crate::lower::refusal::Refusal;
use crate::lower::target::language;
use crate::model::TypeDef;
use crate::request::{Arguments, Field, Value};
use hexgraph_base::plan::{Order, OrderKey, Page};
use hexgraph_base::types::Uid;

/// So many keys an order may have.
const KEYS_MAX: usize = 100;

/// The sort keys that `order` names, the outermost first.
pub(super) fn order(def: &TypeDef, arguments: &Arguments) -> Order {
    let mut keys = Order::new();
    let mut next = arguments.given("order");
    while let Some(value) = next.filter(|_| keys.len() < KEYS_MAX) {
        let key = |direction| value.get(direction).and_then(Value::as_str);
        let found = key("asc").map(|name| (name, false)).or(key("desc").map(|name| (name, true)));
        if let Some((name, descending)) = found
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

/// The part that is wanted. `first: 0` means all, as in the reference.
///
/// # Errors
///
/// When `after` is no uid: to begin anew would have whoever turns pages go in circles.
pub(super) fn page(field: &Field) -> Result<Page, Refusal> {
    let number = |name| number(&field.arguments, name);
    let after = match field.arguments.given("after") {
        Some(value) => uid(field, value)?.0,
        None => 0,
    };
    Ok(Page { first: number("first"), offset: number("offset"), after })
}

/// How many are left out.
pub(super) fn offset(arguments: &Arguments) -> u32 {
    u32::try_from(number(arguments, "offset")).unwrap_or(0)
}

fn number(arguments: &Arguments, name: &str) -> i32 {
    let number = arguments.given(name).and_then(Value::as_int).unwrap_or(0);
    i32::try_from(number).unwrap_or(if number < 0 { i32::MIN } else { i32::MAX })
}

/// The node that an argument of a field names.
///
/// # Errors
///
/// When it is no uid.
pub(super) fn uid(field: &Field, value: &Value) -> Result<Uid, Refusal> {
    value.as_str().and_then(Uid::parse).ok_or_else(|| {
        let text = text_of(value).unwrap_or_default();
        Refusal::new(format!(
            "ID argument ({text}) of {} was not able to be parsed",
            field.shape.name
        ))
    })
}

/// Refuses the last ones of an order, as the reference does.
pub(super) fn check(order: &Order, page: Page) -> Result<(), Refusal> {
    match order.first() {
        Some(OrderKey::Predicate { predicate, .. }) if page.first < 0 => {
            Err(Refusal::new(format!(
                "We do not yet support negative or infinite count with sorting: {predicate} {}. Try flipping order and return first few elements instead.",
                page.first
            )))
        }
        _ => Ok(()),
    }
}
