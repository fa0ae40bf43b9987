//! Addresses with variables, such as `/films/$id?lang=$lang`, and how values are put into them.

use serde_json::Value;

use crate::remote::message::call_error::CallError;
use crate::remote::message::interpolation::Values;

/// Hexadecimal digits as addresses have them.
const DIGITS: &[u8; 16] = b"0123456789ABCDEF";

/// Replaces the variables of an address by values, which are escaped. A variable is an entire
/// segment of the path or an entire value of the query. A pair of the query is left out when its
/// variable has no value, is empty when that is null, and is there once for each item of a list.
/// O(result).
///
/// # Errors
///
/// When a variable of the path has no value, or null.
pub(in crate::remote) fn filled(url: &str, values: &Values) -> Result<String, CallError> {
    let (url, fragment) = url.split_once('#').map_or((url, None), |(url, rest)| (url, Some(rest)));
    let (address, query) =
        url.split_once('?').map_or((url, None), |(url, query)| (url, Some(query)));
    let mut out = String::with_capacity(url.len() + 32);
    for (index, segment) in address.split('/').enumerate() {
        if index > 0 {
            out.push('/');
        }
        match segment.strip_prefix('$') {
            Some(name) => {
                let value = values.get(name).filter(|value| !value.is_null());
                let value =
                    value.ok_or_else(|| CallError::PathVariable { name: name.to_owned() })?;
                escape(&text_of(value), &mut out);
            }
            None => out.push_str(segment),
        }
    }
    let mut separator = '?';
    for pair in query.into_iter().flat_map(|query| query.split('&')) {
        add_pair(pair, values, &mut separator, &mut out);
    }
    if let Some(fragment) = fragment {
        out.push('#');
        out.push_str(fragment);
    }
    Ok(out)
}

/// Appends a pair of the query with its variable replaced. `separator` stands before it, and is `&`
/// from then on.
fn add_pair(pair: &str, values: &Values, separator: &mut char, out: &mut String) {
    let mut add = |key: &str, value: &str, is_plain: bool| {
        out.push(std::mem::replace(separator, '&'));
        out.push_str(key);
        if is_plain {
            out.push_str(value);
        } else {
            escape(value, out);
        }
    };
    let split = pair.split_once('=').and_then(|(_, value)| value.strip_prefix('$'));
    // A pair without a variable is copied as it is: whoever wrote the schema has escaped it.
    let Some(name) = split else { return add(pair, "", true) };
    let key = &pair[..pair.len() - name.len() - 1];
    match values.get(name) {
        None => {}
        Some(Value::Array(items)) => {
            items.iter().for_each(|item| add(key, &text_of(item), false));
        }
        Some(value) => add(key, &text_of(value), false),
    }
}

/// The text of a value before it is escaped; lists and objects as JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Appends a text with all bytes escaped that are no unreserved characters (RFC 3986, section 2.3),
/// so that a value is one segment or one value of the query, whatever it holds.
fn escape(text: &str, out: &mut String) {
    // A segment `..` would point to another resource (RFC 3986, section 5.2.4).
    let is_dots = matches!(text, "." | "..");
    for byte in text.bytes() {
        let is_plain =
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') && !is_dots;
        if is_plain {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(DIGITS[usize::from(byte >> 4)]));
            out.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(url: &str, values: Value) -> Result<String, CallError> {
        let Value::Object(values) = values else { panic!("an object") };
        filled(url, &values)
    }

    #[test]
    fn variables_are_replaced_and_escaped() {
        let url = "http://h:1/f/$id/x?a=$a&b=2&c=$c#t";
        let result = of(url, json!({"id": "a/b ü", "a": "x&y=1", "c": null}));
        assert_eq!(result.unwrap(), "http://h:1/f/a%2Fb%20%C3%BC/x?a=x%26y%3D1&b=2&c=#t");
        assert_eq!(of(url, json!({"id": 7})).unwrap(), "http://h:1/f/7/x?b=2#t");
        let refused = Err(CallError::PathVariable { name: "id".to_owned() });
        assert_eq!(of(url, json!({"a": 1})), refused);
        assert_eq!(of(url, json!({"id": null})), refused);
        assert_eq!(of("http://h?a=$a", json!({"a": [1, "x"]})).unwrap(), "http://h?a=1&a=x");
        assert_eq!(of("http://h/$a", json!({"a": ".."})).unwrap(), "http://h/%2E%2E");
        assert_eq!(of("http://h/", json!({})).unwrap(), "http://h/");
    }
}
