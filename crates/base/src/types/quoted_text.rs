//! The user's text inside of messages.

/// The most letters of a text that a message shows.
const SHOWN_MAX: usize = 60;

/// The text between backquotes, on one line and cut to what a terminal has room for.
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
