//! Lowers `first`, `offset`, `after`, `orderasc` and `orderdesc`, which blocks and fields have in
//! common.

use crate::lower::arguments::number;
use crate::lower::request::Lowering;
use crate::syntax::ast::{Argument, Call, Value};
use hexgraph_base::plan::{Order, OrderKey, Page};
use hexgraph_base::types::{Error, Result};

/// The greatest number of sort keys.
pub(in crate::lower) const ORDER_KEYS_MAX: usize = 100;

/// The arguments that blocks and fields have in common.
#[derive(Default)]
pub(in crate::lower) struct Paging {
    /// The sort keys.
    pub order: Order,
    /// The page.
    pub page: Page,
    has_first: bool,
    has_offset: bool,
    has_after: bool,
}

impl<'a> Lowering<'a> {
    /// Adds an argument of paging or order. Returns false when the argument is another one.
    pub(in crate::lower) fn paging(
        &mut self,
        argument: &'a Argument,
        paging: &mut Paging,
    ) -> Result<bool> {
        let Argument { key, value } = argument;
        let seen = match self.text(key) {
            "first" => {
                paging.page.first = self.int32(key.start, value)?;
                &mut paging.has_first
            }
            "offset" => {
                paging.page.offset = self.int32(key.start, value)?;
                &mut paging.has_offset
            }
            "after" => {
                let text = self.scalar(key.start, value)?;
                let uid = number::uint(text);
                let message = || format!("`after: {text}` is no uid");
                let hint = "write the last uid of the page before: `after: 0x1f`";
                paging.page.after =
                    uid.ok_or_else(|| self.error_with(key.start, message(), hint))?;
                &mut paging.has_after
            }
            "orderasc" => return self.order(argument, false, &mut paging.order).map(|()| true),
            "orderdesc" => return self.order(argument, true, &mut paging.order).map(|()| true),
            _ => return Ok(false),
        };
        // The value was read before this, so an error in it is reported rather than that it is the
        // second.
        if std::mem::replace(seen, true) {
            return Err(self.repeated(argument));
        }
        Ok(true)
    }

    /// Returns the text of a name, a string or a `$variable`. A `$variable` that holds a list
    /// gives the text of the list, such as `[one, other]`.
    pub(in crate::lower) fn text_of_list(&self, at: u32, value: &'a Value) -> Result<&'a str> {
        match value {
            Value::Variable(name) => self.value_of(name),
            value => self.scalar(at, value),
        }
    }

    /// Returns the text of a name, a string or a `$variable`; any other value is an error.
    pub(in crate::lower) fn scalar(&self, at: u32, value: &'a Value) -> Result<&'a str> {
        match value {
            Value::Word(text, None) | Value::Quoted(text) => Ok(self.text(text)),
            Value::Variable(name) => {
                let value = self.held(name)?;
                if value.items.is_none() {
                    return Ok(value.text);
                }
                let message =
                    format!("variable {} is a list, and one value belongs here", self.text(name));
                let hint = "a list may be the value of `eq`, `uid` and `uid_in`";
                Err(self.error_with(name.start, message, hint))
            }
            _ => Err(self.error(at, "expected a plain value")),
        }
    }

    /// Makes the error for an argument that is given twice.
    pub(in crate::lower) fn repeated(&self, argument: &'a Argument) -> Error {
        let key = self.text(&argument.key);
        let message = format!("`{key}` is given twice");
        self.error_with(argument.key.start, message, "remove one of them")
    }

    fn int32(&self, at: u32, value: &'a Value) -> Result<i32> {
        let text = self.scalar(at, value)?;
        let number = number::int(text).and_then(|number| i32::try_from(number).ok());
        let message = || format!("`{text}` is not a 32-bit integer");
        number.ok_or_else(|| self.error_with(at, message(), "write `first: 10, offset: 20`"))
    }

    fn order(&mut self, argument: &'a Argument, descending: bool, order: &mut Order) -> Result<()> {
        let key = match &argument.value {
            Value::Word(name, langs) => {
                let lang = langs.as_ref().map(|langs| self.text(langs));
                if lang.is_some_and(|lang| lang.contains(':')) {
                    let message = "an order by more than one language";
                    return Err(self.error_with(name.start, message, "name one: `name@en`"));
                }
                let predicate = self.text(name).to_owned();
                OrderKey::Predicate { predicate, lang: lang.map(str::to_owned), descending }
            }
            Value::Variable(name) => {
                let predicate = self.value_of(name)?.to_owned();
                OrderKey::Predicate { predicate, lang: None, descending }
            }
            Value::Call(call) if self.text(&call.name).eq_ignore_ascii_case("val") => {
                OrderKey::Var { var: self.only_variable(call)?, descending }
            }
            Value::Call(call) => {
                return Err(self.wrong_order(call, self.text(&argument.key)));
            }
            _ => {
                let message = "an order needs a predicate or a variable";
                let hint = "write `orderasc: name` or `orderasc: val(x)`";
                return Err(self.error_with(argument.key.start, message, hint));
            }
        };
        self.check_order(argument, order, &key)?;
        order.push(key);
        Ok(())
    }

    /// Makes the error for a function that can't be a sort key.
    fn wrong_order(&self, call: &'a Call, key: &str) -> Error {
        let name = self.text(&call.name);
        let message = format!("found `{name}()` in an order");
        let counted = match &call.arguments[..] {
            [Value::Word(counted, None)] if name.eq_ignore_ascii_case("count") => {
                self.text(counted)
            }
            _ => return self.error_with(call.name.start, message, "expected `val(x)`"),
        };
        // Most who write this want `orderasc: count(friend)`, which takes a variable.
        let hint = format!(
            "count in a block before: `var(func: has({counted})) {{ n as count({counted}) }} \
             q(func: uid(n), {key}: val(n)) {{ ... }}`"
        );
        self.error_with(call.name.start, message, hint)
    }

    fn check_order(&self, argument: &'a Argument, order: &Order, key: &OrderKey) -> Result<()> {
        if order.len() >= ORDER_KEYS_MAX {
            let message = format!("an order of more than {ORDER_KEYS_MAX} keys");
            return Err(self.error(argument.key.start, message));
        }
        for other in order {
            match (other, key) {
                (
                    OrderKey::Predicate { predicate: first, .. },
                    OrderKey::Predicate { predicate: second, .. },
                ) if first != second => {}
                (OrderKey::Predicate { .. }, OrderKey::Predicate { predicate, .. }) => {
                    let message = format!("`{predicate}` is ordered by twice");
                    return Err(self.error_with(argument.key.start, message, "remove one of them"));
                }
                _ => {
                    let message = "an order by `val()` must be the only one";
                    return Err(self.error_with(argument.key.start, message, "remove the others"));
                }
            }
        }
        Ok(())
    }
}
