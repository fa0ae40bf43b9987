//! Lowers `uid` and `uid_in`, whose arguments are uids, variables and `$variables`.

use super::number;
use crate::lower::request::Lowering;
use crate::lower::variables::Reader;
use crate::syntax::ast::{self, Value};
use crate::syntax::token::Text;
use hexgraph_base::plan::{Call, VarId};
use hexgraph_base::types::Result;

impl<'a> Lowering<'a> {
    /// Lowers `uid(...)`.
    pub(in crate::lower) fn uid(&mut self, call: &'a ast::Call) -> Result<Call> {
        let mut uids = Vec::with_capacity(call.arguments.len());
        let mut vars = Vec::new();
        let mut has_variable = false;
        for value in &call.arguments {
            match value {
                Value::Word(text, None) | Value::Quoted(text) => match self.uid_literal(text)? {
                    Some(uid) => uids.push(uid),
                    None => {
                        // Variables are mostly written small and without quotes.
                        let is_id = matches!(value, Value::Quoted(_))
                            || self.text(text).starts_with(|first: char| first.is_uppercase());
                        let reader = if is_id { Reader::Uid } else { Reader::Other };
                        vars.push(self.read_in(text, reader));
                    }
                },
                Value::Variable(name) => {
                    if std::mem::replace(&mut has_variable, true) {
                        let message = "`uid` takes only one `$` variable";
                        return Err(self.error_with(name.start, message, "give it a list of uids"));
                    }
                    self.uid_list(name, &mut uids)?;
                }
                _ => {
                    let message = "`uid` takes uids and variables only";
                    return Err(self.error_with(
                        call.name.start,
                        message,
                        "write `uid(0x1, 0x2, x)`",
                    ));
                }
            }
        }
        uids.sort_unstable();
        Ok(Call::Uid { uids, vars })
    }

    /// Parses a word as a uid; `None` when it is the name of a variable.
    fn uid_literal(&self, text: &'a Text) -> Result<Option<u64>> {
        let word = self.text(text);
        if number::is_too_large(word) {
            let message = format!("the uid `{word}` is too large");
            return Err(self.error_with(text.start, message, "uids have 64 bits"));
        }
        Ok(number::uint(word))
    }

    /// Adds the uids in the value of a `$variable`: a single one, or a list in square brackets.
    fn uid_list(&self, name: &'a Text, uids: &mut Vec<u64>) -> Result<()> {
        let held = self.held(name)?;
        let value = held.text.trim();
        let wrong = |part: &str| {
            let variable = self.text(name);
            let message = format!("variable {variable} holds `{part}`, which is no uid");
            self.error_with(name.start, message, "a list of uids is written `[0x1, 0x2]`")
        };
        if let Some(items) = held.items {
            for item in items {
                uids.push(number::uint(item).ok_or_else(|| wrong(item))?);
            }
            return Ok(());
        }
        let list = match value.strip_prefix('[') {
            Some(rest) => rest.strip_suffix(']').ok_or_else(|| wrong(value))?,
            None => {
                return number::uint(value).map(|uid| uids.push(uid)).ok_or_else(|| wrong(value));
            }
        };
        for part in list.split(',').map(str::trim) {
            uids.push(number::uint(part).ok_or_else(|| wrong(part))?);
        }
        Ok(())
    }

    /// Lowers `uid_in(p, ...)`.
    pub(in crate::lower) fn uid_in(&mut self, call: &'a ast::Call) -> Result<Call> {
        let predicate = self.attribute(call)?;
        let (mut uids, mut vars) = (Vec::new(), Vec::new());
        if call.arguments.len() < 2 {
            return Err(self.wrong_count(call, "at least one uid", 0));
        }
        for value in &call.arguments[1..] {
            match value {
                Value::Variable(name) if self.held(name)?.items.is_some() => {
                    self.uid_list(name, &mut uids)?;
                }
                Value::List(_, values) => {
                    for value in values {
                        uids.push(self.number_in(call, value)?);
                    }
                }
                Value::Call(inner) if self.text(&inner.name).eq_ignore_ascii_case("uid") => {
                    vars.push(self.nested_uid(inner)?);
                }
                value => uids.push(self.number_in(call, value)?),
            }
        }
        Ok(Call::UidIn { predicate, uids, vars })
    }

    fn number_in(&self, call: &'a ast::Call, value: &'a Value) -> Result<u64> {
        let text = self.scalar(call.name.start, value)?;
        let message = || format!("`{text}` in `uid_in` is no uid");
        let hint = "a variable is written `uid(x)`";
        number::uint(text).ok_or_else(|| self.error_with(call.name.start, message(), hint))
    }

    fn nested_uid(&mut self, inner: &'a ast::Call) -> Result<VarId> {
        match &inner.arguments[..] {
            [Value::Word(text, None)] if number::uint(self.text(text)).is_none() => {
                Ok(self.read(text))
            }
            _ => {
                let message = "`uid` inside of a function takes exactly one variable";
                let hint = "uids need no `uid`: `uid_in(friend, 0x1)`";
                Err(self.error_with(inner.name.start, message, hint))
            }
        }
    }
}
