//! Texts and uids as JSON strings.

use crate::types::Uid;

/// Writes a text as a JSON string. Besides what JSON requires, `<`, `>`, `&` and the line
/// separators U+2028 and U+2029 are escaped, so that the answer may be in HTML and in scripts.
pub fn write_json_text(text: &str, out: &mut Vec<u8>) {
    write_quoted(text.as_bytes(), &TEXT_ESCAPES, out);
}

/// Writes a text as a JSON string with no more escapes than JSON requires (RFC 8259, section 7).
pub fn write_plain_text(text: &str, out: &mut Vec<u8>) {
    write_quoted(text.as_bytes(), &KEY_ESCAPES, out);
}

/// Writes a uid as a JSON string in hexadecimal, such as `"0x1f"`.
pub(super) fn write_uid(uid: Uid, out: &mut Vec<u8>) {
    out.push(b'"');
    uid.text().append_to(out);
    out.push(b'"');
}

const HEX: &[u8; 16] = b"0123456789abcdef";

/// For each byte how it is written: 0 as it is, [`CODE`] as `\u00XX`, [`SEPARATOR`] depending on
/// the two bytes after it, and any other entry as a backslash and that letter.
type Escapes = [u8; 256];

const CODE: u8 = 1;
const SEPARATOR: u8 = 2;
static TEXT_ESCAPES: Escapes = escapes(true);
static KEY_ESCAPES: Escapes = escapes(false);

const fn escapes(for_html: bool) -> Escapes {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = CODE;
        byte += 1;
    }
    table[b'\n' as usize] = b'n';
    table[b'\r' as usize] = b'r';
    table[b'\t' as usize] = b't';
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    if for_html {
        table[b'<' as usize] = CODE;
        table[b'>' as usize] = CODE;
        table[b'&' as usize] = CODE;
        table[FIRST_OF_SEPARATOR as usize] = SEPARATOR;
    }
    table
}

/// Marks the first byte of U+2028 and U+2029 in UTF-8, with which other characters begin as well.
const FIRST_OF_SEPARATOR: u8 = 0xe2;

fn write_quoted(text: &[u8], escapes: &Escapes, out: &mut Vec<u8>) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let mut rest = text;
    loop {
        let plain = plain_len(rest, escapes);
        out.extend_from_slice(&rest[..plain]);
        let Some(&byte) = rest.get(plain) else { break };
        let special = &rest[plain..];
        let used = match escapes[usize::from(byte)] {
            CODE => {
                let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
                out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digits[0], digits[1]]);
                1
            }
            SEPARATOR => write_separator(special, out),
            letter => {
                out.extend_from_slice(&[b'\\', letter]);
                1
            }
        };
        rest = &special[used..];
    }
    out.push(b'"');
}

/// Returns the number of bytes before the first that may need an escape.
fn plain_len(text: &[u8], escapes: &Escapes) -> usize {
    // Without a branch inside, the compiler looks at all sixteen at once.
    let is_special = |byte: u8| {
        (byte < 0x20)
            | (byte == b'"')
            | (byte == b'\\')
            | (byte == b'<')
            | (byte == b'>')
            | (byte == b'&')
            | (byte == FIRST_OF_SEPARATOR)
    };
    // What is special here includes all that either table escapes, and some bytes that the table of
    // keys does not: such a byte only stops the fast path, and the tail consults the table.
    let (blocks, _) = text.as_chunks::<16>();
    let quiet = blocks
        .iter()
        .take_while(|block| !block.iter().fold(false, |any, &byte| any | is_special(byte)))
        .count();
    let skipped = quiet * 16;
    let tail = text[skipped..].iter().position(|&byte| escapes[usize::from(byte)] != 0);
    tail.map_or(text.len(), |at| skipped + at)
}

/// Writes the character at the start of `letter`, escaped if it is U+2028 or U+2029. Returns its
/// length in bytes.
fn write_separator(letter: &[u8], out: &mut Vec<u8>) -> usize {
    match letter {
        // In UTF-8 U+2028 and U+2029 are e2 80 a8 and e2 80 a9, so the last four bits are those of
        // the code.
        [_, 0x80, last @ (0xa8 | 0xa9), ..] => {
            out.extend_from_slice(b"\\u202");
            out.push(HEX[usize::from(last & 15)]);
            3
        }
        _ => {
            // The bytes after this one are no first bytes of a character, so they follow as plain
            // ones.
            out.push(FIRST_OF_SEPARATOR);
            1
        }
    }
}
