//! A body of lines of JSON that run one query many times: the first line has the query, each line
//! after it the values of its variables for one time.

use hexgraph::db::{ParameterValue, Variables};
use hexgraph_base::types::BYTE_ORDER_MARK;
use serde_json::{Map, Value};

/// The media types of lines of JSON; the first one is that of answers.
pub(in crate::http) const LINES: &[&str] = &["application/x-ndjson", "application/jsonl"];

/// The most memory that a line takes as values of variables, for each byte of it: `[0,0]` has two
/// bytes for a number.
pub(in crate::http) const BYTES_PER_BYTE: u64 = 64;

/// How far a body is read.
#[derive(Debug, Default)]
pub(in crate::http) struct LineReader {
    /// The position after the last line that was read.
    at: usize,
    /// The number of that line, from 1.
    number: usize,
    /// The number of rows of arguments that were read.
    rows: usize,
}

/// A line that is not blank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) struct JsonLine<'b> {
    /// Its number in the body, from 1.
    pub number: usize,
    /// Its bytes, without the line feed.
    pub bytes: &'b [u8],
}

impl LineReader {
    /// The query of a body, which is its first line: `{"query": "…"}`.
    ///
    /// # Errors
    ///
    /// The message for a line that is none.
    pub(in crate::http) fn query(&mut self, body: &[u8]) -> Result<String, String> {
        let line = self.line(body);
        let line = line.ok_or(r#"the body is empty: its first line is {"query": "…"}"#)?;
        let mut members = line.members()?;
        match (members.remove("query"), members.is_empty()) {
            (Some(Value::String(text)), true) => Ok(text),
            (Some(Value::String(_)), false) => {
                let more = members.keys().next().cloned().unwrap_or_default();
                let number = line.number;
                Err(format!(
                    "line {number}: unexpected {more:?} next to `query`: write variables in the lines after it"
                ))
            }
            _ => Err(format!(r#"line {}: the first line is {{"query": "…"}}"#, line.number)),
        }
    }

    /// The first line that is not blank, which is still to be read; empty where there is none.
    pub(in crate::http) fn head<'b>(&self, body: &'b [u8]) -> &'b [u8] {
        let next = LineReader { at: self.at, ..LineReader::default() }.line(body);
        next.map_or(&[], |line| line.bytes)
    }

    /// The next row of arguments and its number from 0; `None` at the end of the body. Blank lines
    /// are left out.
    pub(in crate::http) fn row<'b>(&mut self, body: &'b [u8]) -> Option<(usize, JsonLine<'b>)> {
        let line = self.line(body)?;
        self.rows += 1;
        Some((self.rows - 1, line))
    }

    fn line<'b>(&mut self, body: &'b [u8]) -> Option<JsonLine<'b>> {
        while self.at < body.len() {
            if self.at == 0 && body.starts_with(BYTE_ORDER_MARK) {
                self.at = BYTE_ORDER_MARK.len();
            }
            let rest = &body[self.at..];
            let end = rest.iter().position(|&byte| byte == b'\n');
            let bytes = &rest[..end.unwrap_or(rest.len())];
            self.at += end.map_or(rest.len(), |end| end + 1);
            self.number += 1;
            if !bytes.trim_ascii().is_empty() {
                return Some(JsonLine { number: self.number, bytes });
            }
        }
        None
    }
}

impl JsonLine<'_> {
    /// The values of variables that the line has, which is an object. Names may come with their `$`
    /// or without; null is left out, so that the default in the query counts.
    ///
    /// # Errors
    ///
    /// The message for a line that is no such object, with its number.
    pub(in crate::http) fn variables(&self) -> Result<Variables, String> {
        let mut variables = Variables::new();
        for (name, value) in self.members()? {
            if value.is_null() {
                continue;
            }
            let name = name.trim_start_matches('$');
            let given = given_of(value).map_err(|result| {
                let number = self.number;
                format!("line {number}: variable ${name} must be a text, a number, a boolean or a list of these, not {result}")
            })?;
            variables.insert(format!("${name}"), given);
        }
        Ok(variables)
    }

    fn members(&self) -> Result<Map<String, Value>, String> {
        let number = self.number;
        match serde_json::from_slice(self.bytes) {
            Ok(Value::Object(members)) => Ok(members),
            Ok(other) => Err(format!("line {number}: it is no object but {}", kind_of(&other))),
            Err(error) => {
                let (column, message) = (error.column(), error.to_string());
                let reason = message.split(" at line ").next().unwrap_or(&message);
                Err(format!("line {number}, byte {column}: it is no JSON: {reason}"))
            }
        }
    }
}

/// A value as the text that it has in DQL; for one that has none what it is.
fn given_of(value: Value) -> Result<ParameterValue, &'static str> {
    match value {
        Value::Array(items) => {
            items.into_iter().map(text_of).collect::<Result<_, _>>().map(ParameterValue::list)
        }
        value => text_of(value).map(ParameterValue::from),
    }
}

fn text_of(value: Value) -> Result<String, &'static str> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(truth) => Ok(truth.to_string()),
        other => Err(kind_of(&other)),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a complete body: the query, and for each row its variables as they are shown, or the
    /// message.
    fn read(body: &str) -> (Result<String, String>, Vec<String>) {
        let mut reader = LineReader::default();
        let query = reader.query(body.as_bytes());
        let mut rows = Vec::new();
        while let Some((row, line)) = reader.row(body.as_bytes()) {
            assert_eq!(row, rows.len());
            rows.push(match line.variables() {
                Ok(variables) => variables
                    .iter()
                    .map(|(name, value)| format!("{name}={}", value.text()))
                    .collect::<Vec<_>>()
                    .join(" "),
                Err(message) => message,
            });
        }
        (query, rows)
    }

    #[test]
    fn lines_are_rows() {
        let body = "{\"query\":\"{ q }\"}\r\n\n{\"a\":\"x\",\"$b\":7,\"c\":true,\"d\":null}\r\n  \n{}\n{\"a\":1.5}";
        let (query, rows) = read(body);
        assert_eq!(query.as_deref(), Ok("{ q }"));
        assert_eq!(rows, ["$a=x $b=7 $c=true", "", "$a=1.5"]);
    }

    /// Each row: what is wrong, and what is said of it.
    #[test]
    fn what_is_wrong_names_its_line() {
        #[rustfmt::skip]
        let rows = [
            ("[1]", "line 3: it is no object but a list"),
            ("7", "line 3: it is no object but a number"),
            ("{\"a\":", "line 3, byte 5: it is no JSON: EOF while parsing a value"),
            ("{\"a\":1} {", "line 3, byte 9: it is no JSON: trailing characters"),
            ("{\"a\":{}}", "line 3: variable $a must be a text, a number, a boolean or a list of these, not an object"),
            ("{\"a\":[1,[2]]}", "line 3: variable $a must be a text, a number, a boolean or a list of these, not a list"),
            ("{\"a\":\"\u{fffd}\u{0}\"}", "line 3, byte 10: it is no JSON: control character (\\u0000-\\u001F) found while parsing a string"),
        ];
        for (line, message) in rows {
            let body = format!("{{\"query\":\"\"}}\n\n{line}\n{{}}");
            assert_eq!(read(&body).1, [message, ""]);
        }
        let deep = format!("{{\"query\":\"\"}}\n{{\"a\":{}", "[".repeat(100_000));
        assert_eq!(read(&deep).1.len(), 1, "no recursion without end");
        let mut reader = LineReader::default();
        let body = b"{\"query\":\"\"}\n{\"a\":\"\xff\"}";
        reader.query(body).unwrap();
        assert!(reader.row(body).unwrap().1.variables().unwrap_err().starts_with("line 2, byte"));
    }

    #[test]
    fn the_first_line_is_the_query() {
        let wrong = |body: &str| read(body).0.unwrap_err();
        assert!(wrong("").contains("the body is empty"));
        assert!(wrong("\n \n").contains("the body is empty"));
        assert!(wrong("{\"query\":7}").starts_with("line 1: the first line is"));
        assert!(wrong("{\"a\":7}").starts_with("line 1: the first line is"));
        assert!(
            wrong("{\"query\":\"\",\"variables\":{}}")
                .contains("unexpected \"variables\" next to `query`")
        );
        assert!(wrong("{ q(func: uid(1)) { uid } }").starts_with("line 1, byte 3: it is no JSON"));
    }
}
