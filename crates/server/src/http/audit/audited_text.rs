//! What of a request is reported in the audit log: its text, without what may be secret.

use hexgraph::db::{without_passwords, without_strings};
use serde_json::{Deserializer, Map, Value};

/// A longer text is cut to this many bytes.
const TEXT_LEN_MAX: usize = 4096;

/// Bodies beyond this length are not looked into.
const BODY_LEN_MAX: usize = 1 << 20;

/// What the comments of a GraphQL schema begin with that have a secret after it: the key of tokens,
/// and values for other servers.
const SECRET_COMMENTS: [&str; 2] = ["Dgraph.Authorization", "Dgraph.Secret"];

/// What is logged of a request: of a query in DQL or Cypher the text with passwords blanked out; of
/// GraphQL and of mutations the text without what is in quotation marks, since that may be a
/// password or confidential data; of a definition all but the secrets in its comments; of a login
/// nothing. Values of variables are not logged.
pub(in crate::http) fn audited_text(path: &str, media_type: &str, body: &[u8]) -> Option<String> {
    if body.is_empty() || path.ends_with("/login") {
        return None;
    }
    let length = || format!("({} bytes)", body.len());
    if BODY_LEN_MAX < body.len() {
        return Some(length());
    }
    let text = std::str::from_utf8(body).ok()?;
    let is_json = media_type == "application/json";
    let reported = match path {
        "/query" | "/cypher" if is_json => match serde_json::from_str(text) {
            Ok(members) => {
                without_passwords(&text_of(&members, |key| key == "query")?).0.into_owned()
            }
            Err(_) => length(),
        },
        "/query" | "/cypher" => without_passwords(text).0.into_owned(),
        // As it is read: what stands after the object and the case of its keys do not matter.
        "/graphql" | "/admin" if is_json => match Deserializer::from_str(text).into_iter().next() {
            Some(Ok(members)) => {
                without_literals(&text_of(&members, |key| key.eq_ignore_ascii_case("query"))?)
            }
            _ => length(),
        },
        "/alter" | "/admin/schema" | "/admin/schema/validate" => without_secrets(text),
        "/mutate" if !is_json => without_strings(text),
        _ if is_json => match serde_json::from_str::<Value>(text) {
            Ok(value) => without_values(value).to_string(),
            Err(_) => length(),
        },
        _ => without_literals(text),
    };
    Some(cut(reported))
}

/// The text of the last member of such a name.
fn text_of(members: &Map<String, Value>, is_it: impl Fn(&str) -> bool) -> Option<String> {
    let result = members.iter().rfind(|(key, value)| is_it(key) && value.is_string());
    result.and_then(|(_, value)| value.as_str()).map(str::to_owned)
}

/// A text of GraphQL without what is in quotation marks, be it in a string or in a comment. From an
/// unterminated string on nothing is logged: such a text is refused.
pub(in crate::http) fn without_literals(text: &str) -> String {
    let mut reported = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\'', '#']) {
        reported.push_str(&rest[..at]);
        rest = &rest[at..];
        let len = match rest.strip_prefix('#') {
            Some(_) => {
                let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
                let quote = rest[..end].find('"');
                reported.push_str(&rest[..quote.unwrap_or(end)]);
                reported.push_str(quote.map_or("", |_| "\"…\""));
                Some(end)
            }
            None => {
                reported.push_str("\"…\"");
                literal_len(rest)
            }
        };
        let Some(len) = len else { return reported };
        rest = &rest[len..];
    }
    reported.push_str(rest);
    reported
}

/// The length of the literal at the start of a text, if it is terminated.
fn literal_len(text: &str) -> Option<usize> {
    if let Some(block) = text.strip_prefix("\"\"\"") {
        let mut marks = block.match_indices("\"\"\"").map(|(at, _)| at);
        let end = marks.find(|&at| !block[..at].ends_with('\\'))?;
        return Some(end + 6);
    }
    let mut is_escaped = false;
    for (at, c) in text.strip_prefix('"')?.char_indices() {
        match c {
            '\n' | '\r' => return None,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return Some(at + 2),
            _ => {}
        }
    }
    None
}

/// A definition without the values in the comments that settings and secrets are in.
fn without_secrets(text: &str) -> String {
    let mut reported = String::with_capacity(text.len());
    let mut rest = text;
    let next = |rest: &str| {
        SECRET_COMMENTS.iter().filter_map(|word| Some(rest.find(word)? + word.len())).min()
    };
    while let Some(at) = next(rest) {
        reported.push_str(&rest[..at]);
        reported.push_str(" …");
        rest = &rest[at..];
        rest = &rest[rest.find(['\n', '\r']).unwrap_or(rest.len())..];
    }
    reported.push_str(rest);
    reported
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
    fn secrets_are_not_recorded() {
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
            ("/cypher", "application/cypher", "MATCH (n) RETURN 'a'", "MATCH (n) RETURN 'a'"),
            ("/cypher", json, r#"{"query":"RETURN $p","params":{"p":"hunter2"}}"#, "RETURN $p"),
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
            // The text that is executed is the text that is reported.
            (
                "/graphql",
                json,
                r#"{"Query":"{ queryUser(filter: { n: { eq: \"a\" } }) { n } }"} rest"#,
                "{ queryUser(filter: { n: { eq: \"…\" } }) { n } }",
            ),
            (
                "/graphql",
                "application/graphql",
                "{ # it\"s\n checkUserPassword(name: \"a\", pwd: \"\"\"hun\"ter\\\"\"\"2\"\"\") { name } } # all",
                "{ # it\"…\"\n checkUserPassword(name: \"…\", pwd: \"…\") { name } } # all",
            ),
            (
                "/graphql",
                "application/graphql",
                "{ checkUserPassword(pwd: 'hunter2') { name } }",
                "{ checkUserPassword(pwd: \"…\"",
            ),
            (
                "/graphql",
                "application/graphql",
                "{ checkUserPassword(pwd: \"hun\nter2\") { name } }",
                "{ checkUserPassword(pwd: \"…\"",
            ),
            (
                "/query",
                dql,
                "query q($x: string) { q(func: uid(1)) { checkpwd(p, $x = \"hunter2\") } }",
                "query q($x: string) { q(func: uid(1)) { checkpwd(p, $x = ***) } }",
            ),
            (
                "/query",
                json,
                r#"{"query":"{ q(func: uid(1)) { uid } }","variables":{"$p":"hunter2"}"#,
                "(67 bytes)",
            ),
            (
                "/mutate",
                rdf,
                "{ set {\n# it\"s\n<1> <pw> \"hunter2\" . # \"\n} }",
                "{ set {\n# it\"…\"\n<1> <pw> \"…\" . # \"…\"\n} }",
            ),
            (
                "/admin/schema",
                dql,
                "type A { n: Int }\n# Dgraph.Secret key \"hunter2\"\n#Dgraph.Authorization {\"VerificationKey\":\"hunter2\"}",
                "type A { n: Int }\n# Dgraph.Secret …\n#Dgraph.Authorization …",
            ),
        ] {
            assert_eq!(
                audited_text(path, kind, body.as_bytes()).as_deref(),
                Some(want),
                "{path} {body}"
            );
        }
        assert_eq!(audited_text("/login", json, br#"{"password":"hunter2"}"#), None);
        assert_eq!(
            audited_text("/mutate", json, b"{\"pw\":\"hunter2"),
            Some("(14 bytes)".to_owned())
        );
        let long = format!("{{ q(func: uid(1)) {{ {} }} }}", "ä ".repeat(5000));
        let reported = audited_text("/query", dql, long.as_bytes()).unwrap();
        assert!(reported.len() < TEXT_LEN_MAX + 4 && reported.ends_with('…'));
        assert_eq!(
            audited_text("/mutate", rdf, &vec![b'x'; 2 << 20]),
            Some("(2097152 bytes)".to_owned())
        );
    }
}
