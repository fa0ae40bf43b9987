//! Errors with the line of a text that they are about, and a mark below the position.

use hexgraph_base::types::{Error, Position};

/// The most characters of a line that are shown.
const SHOWN_MAX: usize = 66;

/// An error, with the text that it is about where there is one.
pub(super) struct Failure {
    error: Error,
    text: String,
}

/// The result of a command.
pub(super) type Done = std::result::Result<(), Failure>;

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { error, text: String::new() }
    }
}

impl Failure {
    /// Creates the failure of an error that is about a text.
    pub(super) fn about(text: &str) -> impl Fn(Error) -> Failure {
        move |error| Failure { error, text: text.to_owned() }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.error)?;
        let at = match &self.error {
            Error::Syntax { at, .. } => Some(*at),
            Error::Schema { at, .. } | Error::Query { at, .. } => *at,
            _ => None,
        };
        let Some(at) = at else { return Ok(()) };
        let line = self.text.split('\n').nth((at.line as usize).saturating_sub(1));
        match line.map(|line| line.trim_end_matches('\r')).filter(|line| !line.is_empty()) {
            Some(line) => write!(f, "\n{}", marked(line, at)),
            None => Ok(()),
        }
    }
}

/// Returns the line, cut to the width of a terminal, and below it a mark at the position.
fn marked(line: &str, at: Position) -> String {
    let position = line.char_indices().take_while(|(start, _)| *start < at.column as usize).count();
    let count = line.chars().count();
    let start = if SHOWN_MAX < count { position.saturating_sub(SHOWN_MAX / 2) } else { 0 };
    let shown: String = line.chars().skip(start).take(SHOWN_MAX).collect();
    let head = if start == 0 { "" } else { "..." };
    let tail = if start + SHOWN_MAX < count { "..." } else { "" };
    let indent = line.chars().skip(start).take(position - start);
    let indent: String = indent.map(|letter| if letter == '\t' { '\t' } else { ' ' }).collect();
    format!("    {head}{shown}{tail}\n    {}{indent}^", " ".repeat(head.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, line: u32, column: u32) -> String {
        Failure::about(text)(Error::syntax(Position { line, column }, "wrong")).to_string()
    }

    #[test]
    fn the_mark_is_below_the_position() {
        assert_eq!(
            shown("{\n  q(é x)\n}", 2, 7),
            "line 2 column 8: wrong\n      q(é x)\n          ^"
        );
        assert_eq!(shown("\tx", 1, 1), "line 1 column 2: wrong\n    \tx\n    \t^");
        assert_eq!(shown("x\r\n", 1, 1), "line 1 column 2: wrong\n    x\n     ^");
        assert_eq!(shown("", 1, 0), "line 1 column 1: wrong");
        assert_eq!(Failure::from(Error::query("why")).to_string(), "why");
    }

    #[test]
    fn long_lines_are_cut_around_the_position() {
        let text = format!("{}HERE{}", "a".repeat(200), "b".repeat(200));
        let shown = shown(&text, 1, 200);
        let lines: Vec<&str> = shown.lines().skip(1).collect();
        let mark = lines[1].find('^').unwrap();
        assert_eq!(&lines[0][mark..mark + 4], "HERE");
        assert!(lines[0].starts_with("    ...a") && lines[0].ends_with("b..."), "{shown}");
    }
}
