//! What of a request is told in the audit log: its text, without what may be secret.

use hexgraph::db::without_passwords;
use serde_json::Value;

/// A longer text is cut to this many bytes.
const TEXT_LEN_MAX: usize = 4096;

/// Bodies beyond this length are not looked into.
const BODY_LEN_MAX: usize = 1 << 20;

/// What is told of a request: of a query in DQL the text with passwords blanked out; of GraphQL and of mutations the text without
/// what stands in quotation marks, since that may be a password or what nobody but the database may know; of a definition all;
/// of a login nothing. Values of variables are not told.
pub(in crate::http) fn told_text(path: &str, media_type: &str, body: &[u8]) -> Option<String> {
    if body.is_empty() || path.ends_with("/login") {
        return None;
    }
    if BODY_LEN_MAX < body.len() {
        return Some(format!("({} bytes)", body.len()));
    }
    let text = std::str::from_utf8(body).ok()?;
    let is_json = media_type == "application/json";
    let query = || {
        let members = is_json.then(|| serde_json::from_str::<Value>(text).ok()).flatten();
        match members {
            Some(members) => members.get("query").and_then(Value::as_str).map(str::to_owned),
            None => Some(text.to_owned()),
        }
    };
    let told = match path {
        "/query" => without_passwords(&query()?).0.into_owned(),
        "/graphql" | "/admin" => without_literals(&query()?),
        "/alter" | "/admin/schema" | "/admin/schema/validate" => text.to_owned(),
        _ if is_json => match serde_json::from_str::<Value>(text) {
            Ok(value) => without_values(value).to_string(),
            Err(_) => return Some(format!("({} bytes)", body.len())),
        },
        _ => without_literals(text),
    };
    Some(cut(told))
}

/// A text without what stands in quotation marks.
pub(in crate::http) fn without_literals(text: &str) -> String {
    let mut told = String::with_capacity(text.len());
    let (mut is_inside, mut is_escaped) = (false, false);
    for c in text.chars() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_inside => is_escaped = true,
            '"' => {
                is_inside = !is_inside;
                told.push_str(if is_inside { "\"…" } else { "\"" });
            }
            _ if is_inside => {}
            c => told.push(c),
        }
    }
    told
}

/// A value of JSON whose texts are blanked out: the names of members stay.
fn without_values(value: Value) -> Value {
    match value {
        Value::String(_) => Value::String("…".to_owned()),
        Value::Array(items) => items.into_iter().map(without_values).collect(),
        Value::Object(members) => {
            let blank = |(name, value)| (name, without_values(value));
            Value::Object(members.into_iter().map(blank).collect())
        }
        other => other,
    }
}

fn cut(mut text: String) -> String {
    if TEXT_LEN_MAX < text.len() {
        let end = (0..=TEXT_LEN_MAX).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or_default());
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_told() {
        let (dql, json, rdf) = ("application/dql", "application/json", "application/rdf");
        for (path, kind, body, want) in [
            (
                "/query",
                dql,
                "{ q(func: eq(name, \"Ada\")) { name } }",
                "{ q(func: eq(name, \"Ada\")) { name } }",
            ),
            (
                "/query",
                json,
                r#"{"query":"{ q(func: uid(1)) { uid } }","variables":{"$p":"hunter2"}}"#,
                "{ q(func: uid(1)) { uid } }",
            ),
            (
                "/query",
                dql,
                "{ q(func: uid(1)) { checkpwd(pw, \"hunter2\") } }",
                "{ q(func: uid(1)) { checkpwd(pw, ***) } }",
            ),
            (
                "/graphql",
                json,
                r#"{"query":"mutation { addUser(input: [{ name: \"a\", password: \"hun\\\"ter2\" }]) { numUids } }"}"#,
                "mutation { addUser(input: [{ name: \"…\", password: \"…\" }]) { numUids } }",
            ),
            ("/mutate", rdf, "{ set { <1> <pw> \"hunter2\" . } }", "{ set { <1> <pw> \"…\" . } }"),
            (
                "/mutate",
                json,
                r#"{"set":[{"n":1,"pw":"hunter2"}]}"#,
                r#"{"set":[{"n":1,"pw":"…"}]}"#,
            ),
            ("/alter", dql, "name: string .", "name: string ."),
        ] {
            assert_eq!(
                told_text(path, kind, body.as_bytes()).as_deref(),
                Some(want),
                "{path} {body}"
            );
        }
        assert_eq!(told_text("/login", json, br#"{"password":"hunter2"}"#), None);
        assert_eq!(told_text("/mutate", json, b"{\"pw\":\"hunter2"), Some("(14 bytes)".to_owned()));
        let long = format!("{{ q(func: uid(1)) {{ {} }} }}", "ä ".repeat(5000));
        let told = told_text("/query", dql, long.as_bytes()).unwrap();
        assert!(told.len() < TEXT_LEN_MAX + 4 && told.ends_with('…'));
        assert_eq!(
            told_text("/mutate", rdf, &vec![b'x'; 2 << 20]),
            Some("(2097152 bytes)".to_owned())
        );
    }
}
