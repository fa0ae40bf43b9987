//! Reads the line `# Dgraph.Authorization`, which has a JSON form and an older form of four words.

use hexgraph_base::types::stack;
use serde_json::{Map, Value};

use crate::model::{Algorithm, Authorization, Keys};
use crate::syntax::GraphqlError;

/// Reads what follows `Dgraph.Authorization` in its line.
///
/// # Errors
///
/// When a setting is missing, wrong, or excludes another.
pub(in crate::sdl) fn read(text: &str) -> Result<Authorization, GraphqlError> {
    match serde_json::from_str::<Value>(text.trim()).ok().and_then(|value| Fields::of(&value)) {
        Some(fields) => fields.checked(),
        None => older_form(text),
    }
}

/// The JSON form as it is written. The case of keys does not matter.
#[derive(Debug, Default)]
struct Fields {
    header: String,
    namespace: String,
    algorithm: String,
    key: String,
    url: String,
    urls: Vec<String>,
    audience: Vec<String>,
    closed_by_default: bool,
}

impl Fields {
    /// Reads the members of an object; `None` when one has a value of the wrong type.
    fn of(value: &Value) -> Option<Fields> {
        let object = value.as_object()?;
        Some(Fields {
            header: text(object, "header")?,
            namespace: text(object, "namespace")?,
            algorithm: text(object, "algo")?,
            key: text(object, "verificationkey")?,
            url: text(object, "jwkurl")?,
            urls: texts(object, "jwkurls")?,
            audience: texts(object, "audience")?,
            closed_by_default: match find(object, "closedbydefault") {
                None | Some(Value::Null) => false,
                Some(value) => value.as_bool()?,
            },
        })
    }

    /// Checks that the settings are complete and go together.
    fn checked(mut self) -> Result<Authorization, GraphqlError> {
        let fetches = !self.url.is_empty() || !self.urls.is_empty();
        let mut missing = String::new();
        if fetches {
            if !self.url.is_empty() && !self.urls.is_empty() {
                return Err(GraphqlError::new(
                    "expecting either JWKUrl or JWKUrls, both were given",
                ));
            }
            if !self.key.is_empty() || !self.algorithm.is_empty() {
                let message = "expecting either JWKUrl/JWKUrls or (VerificationKey, Algo), both \
                               were given";
                return Err(GraphqlError::new(message));
            }
            if self.audience.is_empty() {
                missing.push_str(" `Audience` ");
            }
        } else {
            if self.key.is_empty() {
                missing.push_str(" `Verification key`/`JWKUrl`/`JWKUrls`");
            }
            if self.algorithm.is_empty() {
                missing.push_str(" `Algo`");
            }
        }
        if self.header.is_empty() {
            missing.push_str(" `Header`");
        }
        if self.namespace.is_empty() {
            missing.push_str(" `Namespace`");
        }
        if !missing.is_empty() {
            let message = format!("required field missing in Dgraph.Authorization:{missing}");
            return Err(GraphqlError::new(message));
        }
        let keys = if fetches {
            self.urls.extend((!self.url.is_empty()).then_some(self.url));
            Keys::Fetched(self.urls)
        } else {
            fixed_key(&self.algorithm, &self.key)?
        };
        Ok(Authorization {
            header: self.header,
            namespace: self.namespace,
            keys,
            audience: self.audience,
            closed_by_default: self.closed_by_default,
        })
    }
}

/// Returns the member of a name in any case.
fn find<'a>(object: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    stack::require();
    object.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value)
}

/// Reads a member that is text; empty when it is absent.
fn text(object: &Map<String, Value>, key: &str) -> Option<String> {
    match find(object, key) {
        None | Some(Value::Null) => Some(String::new()),
        Some(value) => value.as_str().map(str::to_owned),
    }
}

/// Reads a member that is a list of texts; empty when it is absent.
fn texts(object: &Map<String, Value>, key: &str) -> Option<Vec<String>> {
    match find(object, key) {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(value) => {
            value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
        }
    }
}

/// Reads the older form: `<header> <namespace> <algorithm> "<key>"`.
fn older_form(text: &str) -> Result<Authorization, GraphqlError> {
    // The line is not quoted: there is a key in it.
    let invalid = || {
        GraphqlError::new(
            "Invalid `Dgraph.Authorization` format: write `# Dgraph.Authorization {\"Header\": …, \"Namespace\": …, \"Algo\": …, \"VerificationKey\": …}`",
        )
    };
    if !text.starts_with(char::is_whitespace) {
        return Err(invalid());
    }
    let mut rest = text;
    let mut word = || {
        let start = rest.trim_start();
        let (word, behind) = start.split_at(start.find(char::is_whitespace)?);
        rest = behind;
        Some(word.to_owned())
    };
    let words = word().zip(word()).zip(word());
    let ((header, namespace), algorithm) = words.ok_or_else(invalid)?;
    let key = rest.trim_start().strip_prefix('"').and_then(|rest| rest.split_once('"'));
    let (key, _) = key.filter(|(key, _)| !key.is_empty()).ok_or_else(invalid)?;
    Ok(Authorization {
        header,
        namespace,
        keys: fixed_key(&algorithm, key)?,
        audience: Vec::new(),
        closed_by_default: false,
    })
}

/// Makes the key of the settings, which must suit the algorithm.
fn fixed_key(name: &str, key: &str) -> Result<Keys, GraphqlError> {
    let Some(algorithm) = Algorithm::from_name(name) else {
        let supported: Vec<&str> = Algorithm::ALL.iter().map(|(name, _)| *name).collect();
        // A word that can't be the name of an algorithm may be a key that is in the wrong position.
        let is_name = name.len() <= 5 && name.chars().all(|c| c.is_ascii_alphanumeric());
        let result = if is_name { name } else { "another word" };
        return Err(GraphqlError::new(format!(
            "invalid jwt algorithm: found {result}, but supported options are: {}",
            supported.join(",")
        )));
    };
    let key = if algorithm.is_rsa() { public_key(key)? } else { key.to_owned() };
    Ok(Keys::Fixed { algorithm, key })
}

/// Checks the form of a public key in PEM (RFC 7468), and replaces `\n` in it by line breaks.
/// Whether the key itself is valid is checked when it is used.
fn public_key(key: &str) -> Result<String, GraphqlError> {
    let key = key.replace("\\n", "\n");
    let begins = key.find("-----BEGIN ").and_then(|at| key[at + 11..].split_once("-----"));
    let body = begins.and_then(|(name, rest)| {
        rest.split_once(&format!("-----END {name}-----")).map(|(body, _)| body)
    });
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=\n\r \t".contains(&byte);
    match body {
        Some(body) if !body.trim().is_empty() && body.bytes().all(is_base64) => Ok(key),
        _ => Err(GraphqlError::new("invalid key: Key must be a PEM encoded PKCS1 or PKCS8 key")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        let json = r#" {"header":"X","NAMESPACE":"ns","Algo":"HS384","VerificationKey":"k",
                        "Audience":["a"],"ClosedByDefault":true}"#;
        let keys = |algorithm| Keys::Fixed { algorithm, key: "k".to_owned() };
        let expected = Authorization {
            header: "X".to_owned(),
            namespace: "ns".to_owned(),
            keys: keys(Algorithm::Hs384),
            audience: vec!["a".to_owned()],
            closed_by_default: true,
        };
        assert_eq!(read(json), Ok(expected.clone()));
        let older = Authorization {
            keys: keys(Algorithm::Hs256),
            audience: Vec::new(),
            closed_by_default: false,
            ..expected
        };
        assert_eq!(read(" X  ns HS256   \"k\" and more"), Ok(older));
    }

    #[test]
    fn sets_of_keys_are_named_by_addresses() {
        let read = |text: &str| read(text).map(|result| result.keys);
        let one = r#"{"Header":"X","Namespace":"n","JWKUrl":"http://a","Audience":["a"]}"#;
        assert_eq!(read(one), Ok(Keys::Fetched(vec!["http://a".to_owned()])));
        let both = r#"{"JWKUrl":"http://a","JWKUrls":["b"]}"#;
        let reported = "expecting either JWKUrl or JWKUrls, both were given";
        assert_eq!(read(both), Err(GraphqlError::new(reported)));
        let lonely = r#"{"Header":"X","Namespace":"n","JWKUrl":"http://a"}"#;
        let reported = "required field missing in Dgraph.Authorization: `Audience` ";
        assert_eq!(read(lonely), Err(GraphqlError::new(reported)));
    }

    #[test]
    fn faults_are_reported() {
        let reported = |text: &str| read(text).expect_err(text).message;
        let missing = "required field missing in Dgraph.Authorization: \
                       `Verification key`/`JWKUrl`/`JWKUrls` `Algo` `Header` `Namespace`";
        assert_eq!(reported("{}"), missing);
        assert!(reported(" H N ES256 \"k\"").starts_with("invalid jwt algorithm: found ES256"));
        assert!(reported(" H N RS256 \"k\"").starts_with("invalid key"));
        for near in [" H N", " H N hunter2", "hunter2", " H N HS256 hunter2", " H N hunter2 \"k\""]
        {
            assert!(!reported(near).contains("hunter2"), "{}", reported(near));
        }
        assert!(reported(" H N").starts_with("Invalid `Dgraph.Authorization` format: write "));
        assert!(reported("{\"Header\": 3}").starts_with("Invalid"));
    }
}
