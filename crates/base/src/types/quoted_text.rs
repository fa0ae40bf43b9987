//! The user's text inside of messages.

use std::fmt::{self, Display, Write};

/// The longest message, in bytes: it names what is in the request, which may be a text of many
/// megabytes.
pub const MESSAGE_LEN_MAX: usize = 8 << 10;

/// A message, cut to [`MESSAGE_LEN_MAX`] bytes at the end of a character. No more of it is written
/// out than that, however long it would be.
pub fn bounded(message: impl Display) -> String {
    let mut out = Bounded { text: String::new(), is_cut: false };
    // It fails where the message is cut, and where what shows it fails by itself: what is there is
    // reported.
    let _ = write!(out, "{message}");
    if out.is_cut {
        out.text.push_str(" ...");
    }
    out.text
}

/// Takes no more than the longest message.
struct Bounded {
    text: String,
    is_cut: bool,
}

impl Write for Bounded {
    fn write_str(&mut self, chunk: &str) -> fmt::Result {
        let mut end = chunk.len().min(MESSAGE_LEN_MAX - self.text.len());
        while !chunk.is_char_boundary(end) {
            end -= 1;
        }
        self.text.push_str(&chunk[..end]);
        self.is_cut = end < chunk.len();
        if self.is_cut { Err(fmt::Error) } else { Ok(()) }
    }
}

/// The most characters of a text that a message shows.
const SHOWN_MAX: usize = 60;

/// The text between backquotes, on one line and cut to what a terminal has space for.
pub fn shown(text: &str) -> String {
    let mut letters = text.chars();
    let mut out = String::from("`");
    for letter in letters.by_ref().take(SHOWN_MAX) {
        out.push(if letter.is_control() { ' ' } else { letter });
    }
    out.push_str(if letters.next().is_some() { "...`" } else { "`" });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_cut() {
        let full = "é".repeat(MESSAGE_LEN_MAX / 2);
        assert_eq!(bounded(&full), full);
        assert_eq!(bounded(format_args!("{full}!")), format!("{full} ..."));
        let odd = format_args!("x{full}").to_string();
        assert_eq!(bounded(&odd), format!("{} ...", &odd[..MESSAGE_LEN_MAX - 1]));
        struct Endless;
        impl Display for Endless {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                loop {
                    f.write_str("again and ")?;
                }
            }
        }
        assert_eq!(bounded(Endless).len(), MESSAGE_LEN_MAX + 4);
    }

    #[test]
    fn quotes() {
        assert_eq!(
            shown(
                "a
b"
            ),
            "`a b`"
        );
        assert_eq!(shown(&"é".repeat(61)), format!("`{}...`", "é".repeat(60)));
    }
}
