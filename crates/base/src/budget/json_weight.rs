//! How much memory a text of JSON takes once it is read into values.
//!
//! `{"a":0}` has seven bytes and takes 700, so what a text holds is counted before it is read, and
//! reserved in the budget.

use serde_json::Value;

/// A member of an object: its name and its value.
const MEMBER: usize = size_of::<String>() + size_of::<Value>();

/// The first node of the map that an object is has eleven positions, and is made for one member as
/// well.
const OBJECT: u64 = 11 * MEMBER as u64 + 16;

/// A list begins with four positions.
const LIST: u64 = 4 * size_of::<Value>() as u64;

/// What follows a comma: in a list, which doubles and is copied while it grows, three
/// positions; in a map, whose nodes are half full where names ascend, two.
const ITEM: u64 = 3 * size_of::<Value>() as u64 + 16;

/// The least that the allocator gives for a text.
const TEXT: u64 = 16;

/// An upper estimate of the bytes that the values of a text use. O(length), without reading values.
pub fn json_weight(text: &[u8]) -> u64 {
    let mut weight = text.len() as u64;
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        weight += match byte {
            b'{' => OBJECT,
            b'[' => LIST,
            b',' => ITEM,
            b'"' => {
                skip_text(&mut rest);
                TEXT
            }
            _ => 0,
        };
    }
    weight
}

/// Passes by a text whose first quotation mark was passed.
fn skip_text(rest: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => return,
            b'\\' => drop(rest.next()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_may_be_many_values() {
        let of = |text: &str| json_weight(text.as_bytes());
        assert_eq!(of("[0,0,0]"), 7 + LIST + 2 * ITEM);
        assert_eq!(of(r#"{"a":{"b":[]}}"#), 14 + 2 * OBJECT + LIST + 2 * TEXT);
        // What stands within texts is no value.
        assert_eq!(of(r#"["{,[\"{","\\",{}]"#), 18 + LIST + 2 * TEXT + 2 * ITEM + OBJECT);
        assert_eq!(of(r#""never ends {{"#), 14 + TEXT);
        assert_eq!(of(""), 0);
        assert!(2 * MEMBER as u64 <= ITEM, "a member of a map whose nodes are half full");
    }
}
