//! What messages about tables propose, as the command line spells it: the library names the
//! arguments of Python.

use hexgraph_base::types::Error;

/// Arguments whose values represent themselves, and the options.
const PLAIN: [(&str, &str); 7] = [
    ("`columns`", "--column"),
    ("`facets=`", "--facet"),
    ("`on=`", "--on"),
    ("id=None", "--no-id"),
    ("uid=True", "--uid"),
    ("prefix=True", "--prefix"),
    ("on_error=\"skip\"", "--skip-errors"),
];

/// What stands around a value, and the option. In `columns={'a': 'b'}` the value has two parts.
const VALUED: [(&str, &str, &str); 8] = [
    ("id=\"", "\"", "--id"),
    ("on=\"", "\"", "--on"),
    ("names=\"", "\"", "--names"),
    ("missing=\"", "\"", "--missing"),
    ("quote=\"", "\"", "--quote"),
    ("ragged=\"", "\"", "--ragged"),
    ("encoding=\"", "\"", "--encoding"),
    ("columns={'", "'}", "--column"),
];

/// The error with options instead of arguments.
pub(super) fn spelled_error(mut error: Error) -> Error {
    match &mut error {
        Error::Query { message, hint, .. } | Error::Schema { message, hint, .. } => {
            *message = spelled(message);
            *hint = spelled(hint);
        }
        Error::Load { message, .. } => *message = spelled(message),
        _ => {}
    }
    error
}

/// A text with options instead of arguments.
pub(super) fn spelled(text: &str) -> String {
    let mut text = text.to_owned();
    for (start, end, option) in VALUED {
        text = with_values(&text, start, end, option);
    }
    PLAIN.iter().fold(text, |text, (argument, option)| text.replace(argument, option))
}

fn with_values(text: &str, start: &str, end: &str, option: &str) -> String {
    let (mut done, mut rest) = (String::new(), text);
    while let Some((before, value, after)) = between(rest, start, end) {
        let word = in_shell(&value.replace("': '", "="));
        done.extend([before, option, " ", &word]);
        rest = after;
    }
    done + rest
}

/// The text before, within and after two marks; the first one begins a word.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let is_word = |at: usize| !text[..at].ends_with(|letter: char| letter.is_alphanumeric());
    let (at, _) = text.match_indices(start).find(|(at, _)| is_word(*at))?;
    let (value, after) = text[at + start.len()..].split_once(end)?;
    Some((&text[..at], value, after))
}

/// A text as a word of the shell.
pub(super) fn in_shell(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-./=,:".contains(letter);
    if text == "\t" {
        return "$'\\t'".to_owned();
    }
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_become_options() {
        for (python, command) in [
            (
                "say which column does, id=\"faa\", or id=None",
                "say which column does, --id faa, or --no-id",
            ),
            (
                "if it names the nodes say id=\"uid\", uid=True",
                "if it names the nodes say --id uid, --uid",
            ),
            ("id=\"the id\" or id=\"it's\"", r"--id 'the id' or --id 'it'\''s'"),
            ("say it with `on=`: on=\"code\"", "say it with --on: --on code"),
            ("say quote=\"\", or ragged=\"skip\"", "say --quote '', or --ragged skip"),
            ("it is not loaded: name it in `facets=`", "it is not loaded: name it in --facet"),
            ("leave them out with on_error=\"skip\"", "leave them out with --skip-errors"),
            ("columns={'name': 'T.name'} or prefix=True", "--column name=T.name or --prefix"),
            (
                "name it with `columns`, or say names=\"clean\"",
                "name it with --column, or say --names clean",
            ),
            ("an id=\"that does not end", "an id=\"that does not end"),
            ("position=\"x\"", "position=\"x\""),
        ] {
            assert_eq!(spelled(python), command);
        }
    }
}
