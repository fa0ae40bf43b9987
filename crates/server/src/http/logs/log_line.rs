//! [`log`]: a line on standard error.

use hexgraph_base::types::DateTime;
use serde_json::{Map, Value};
use std::io::{Write, stderr};
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// The format of all lines of a process.
static FORMAT: OnceLock<LogFormat> = OnceLock::new();

/// How lines are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// An object on each line, for programs.
    Json,
}

/// How grave a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// All is as it should be.
    Info,
    /// The server goes on, and an operator should know.
    Warning,
    /// Something has failed.
    Error,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// Sets the format of this process. The first call decides.
pub fn set_log_format(format: LogFormat) {
    let _ = FORMAT.set(format);
}

/// Writes a line. Where nobody reads it, nothing else can be done.
pub fn log(level: Level, message: &str, fields: &[(&str, Value)]) {
    let line = match FORMAT.get().copied().unwrap_or_default() {
        LogFormat::Text => text_line(level, message, fields),
        LogFormat::Json => json_line(level, message, fields),
    };
    let _ = stderr().lock().write_all(line.as_bytes());
}

fn text_line(level: Level, message: &str, fields: &[(&str, Value)]) -> String {
    let level = match level {
        Level::Info => String::new(),
        _ => format!("{}: ", level.name()),
    };
    let fields = fields.iter().map(|(name, value)| match value {
        // Quoted, so that a value with blanks has an end.
        Value::String(text) if !text.contains(char::is_whitespace) => format!(" {name}={text}"),
        value => format!(" {name}={value}"),
    });
    // A terminal executes some of the control characters that JSON leaves as they are.
    let fields = fields.collect::<String>().replace(char::is_control, "\u{fffd}");
    format!("{level}{message}{fields}\n")
}

fn json_line(level: Level, message: &str, fields: &[(&str, Value)]) -> String {
    let mut line = Map::new();
    line.insert("time".to_owned(), now().into());
    line.insert("level".to_owned(), level.name().into());
    line.insert("message".to_owned(), message.into());
    line.extend(fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    format!("{}\n", Value::Object(line))
}

/// The present time, in UTC.
pub(in crate::http) fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or_default();
    let mut out = Vec::with_capacity(32);
    DateTime::from_unix(seconds, i64::from(since.subsec_millis()) * 1_000_000).write(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_line_is_one_line() {
        let fields = [("id", json!("a\nb")), ("seconds", json!(0.5)), ("route", json!("/query"))];
        let text = text_line(Level::Warning, "slow request", &fields);
        assert_eq!(text, "warning: slow request id=\"a\\nb\" seconds=0.5 route=/query\n");
        let sent = [("query", json!("{\r\n\x1b[2J \u{9b}1m}")), ("id", json!("\x1b[2J"))];
        let want = "request query=\"{\\r\\n\\u001b[2J \u{fffd}1m}\" id=\u{fffd}[2J\n";
        assert_eq!(text_line(Level::Info, "request", &sent), want);
        let json = json_line(Level::Info, "first\nsecond \"", &fields);
        assert_eq!(json.matches('\n').count(), 1);
        let line: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(
            [&line["level"], &line["message"], &line["id"]],
            ["info", "first\nsecond \"", "a\nb"]
        );
    }
}
