//! Functions of strings. Positions count characters, not bytes.

use super::call::Call;
use crate::error::Result;
use crate::values::Value;

pub(super) fn to_upper(call: &Call<'_>) -> Result<Value> {
    mapped(call, str::to_uppercase)
}

pub(super) fn to_lower(call: &Call<'_>) -> Result<Value> {
    mapped(call, str::to_lowercase)
}

fn mapped(call: &Call<'_>, map: impl Fn(&str) -> String) -> Result<Value> {
    let text = call.text(0)?;
    // A letter may become three.
    call.admit(text.len() as u128 * 3)?;
    Ok(Value::from(map(text)))
}

pub(super) fn trim(call: &Call<'_>) -> Result<Value> {
    trimmed(call, true, true)
}

pub(super) fn trim_left(call: &Call<'_>) -> Result<Value> {
    trimmed(call, true, false)
}

pub(super) fn trim_right(call: &Call<'_>) -> Result<Value> {
    trimmed(call, false, true)
}

fn trimmed(call: &Call<'_>, at_start: bool, at_end: bool) -> Result<Value> {
    let mut text: &str = call.text(0)?;
    let letters = if call.has(1) { Some(call.text(1)?) } else { None };
    let is_removed = |c: char| letters.map_or(c.is_whitespace(), |letters| letters.contains(c));
    if at_start {
        text = text.trim_start_matches(is_removed);
    }
    if at_end {
        text = text.trim_end_matches(is_removed);
    }
    Ok(Value::from(text))
}

pub(super) fn replace(call: &Call<'_>) -> Result<Value> {
    let (text, search, by) = (call.text(0)?, call.text(1)?, call.text(2)?);
    let count = text.matches(&**search).count() as u128;
    call.admit(text.len() as u128 + count * by.len() as u128)?;
    Ok(Value::from(text.replace(&**search, by)))
}

pub(super) fn split(call: &Call<'_>) -> Result<Value> {
    let text = call.text(0)?;
    let separators: Vec<&str> = match call.get(1) {
        Value::String(separator) => vec![separator],
        Value::List(items) => {
            let texts = items.iter().map(|item| match item {
                Value::String(text) => Some(&**text),
                _ => None,
            });
            let texts: Option<Vec<&str>> = texts.collect();
            texts.ok_or_else(|| call.wrong_kind(1, "a STRING or LIST of them"))?
        }
        _ => return Err(call.wrong_kind(1, "a STRING or LIST of them")),
    };
    if separators.contains(&"") {
        let letters = || text.chars().map(|c| Value::from(c.encode_utf8(&mut [0; 4]) as &str));
        return call.list_of(letters().count() as u128 * 2, letters());
    }
    let parts = split_by(text, &separators);
    // Each part is a value and a string of its own.
    call.admit(text.len() as u128 + 2 * parts.len() as u128 * size_of::<Value>() as u128)?;
    Value::list(parts.into_iter().map(Value::from).collect())
}

/// The parts between separators; at each position the first of them that is there counts.
fn split_by<'a>(text: &'a str, separators: &[&str]) -> Vec<&'a str> {
    let (mut parts, mut rest) = (Vec::new(), text);
    let next = |rest: &str| {
        let hits = separators.iter().filter_map(|it| Some((rest.find(it)?, it.len())));
        hits.min_by_key(|(start, _)| *start)
    };
    while let Some((start, length)) = next(rest) {
        parts.push(&rest[..start]);
        rest = &rest[start + length..];
    }
    parts.push(rest);
    parts
}

pub(super) fn substring(call: &Call<'_>) -> Result<Value> {
    let (text, start) = (call.text(0)?, length(call, 1)?);
    let count = if call.has(2) { length(call, 2)? } else { usize::MAX };
    let rest = &text[offset(text, start)..];
    Ok(Value::from(&rest[..offset(rest, count)]))
}

pub(super) fn left(call: &Call<'_>) -> Result<Value> {
    let (text, count) = (call.text(0)?, length(call, 1)?);
    Ok(Value::from(&text[..offset(text, count)]))
}

pub(super) fn right(call: &Call<'_>) -> Result<Value> {
    let (text, count) = (call.text(0)?, length(call, 1)?);
    let skipped = text.chars().count().saturating_sub(count);
    Ok(Value::from(&text[offset(text, skipped)..]))
}

/// A number of characters.
fn length(call: &Call<'_>, index: usize) -> Result<usize> {
    usize::try_from(call.int(index)?).map_err(|_| call.wrong_value(index, "0 or more"))
}

/// The byte at which a character begins; the length where there are fewer.
fn offset(text: &str, characters: usize) -> usize {
    text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at)
}

pub(super) fn char_length(call: &Call<'_>) -> Result<Value> {
    Ok(Value::Int(call.text(0)?.chars().count() as i64))
}

pub(super) fn byte_length(call: &Call<'_>) -> Result<Value> {
    Ok(Value::Int(call.text(0)?.len() as i64))
}
