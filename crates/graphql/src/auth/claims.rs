//! What a token says of its bearer, as rules see it.

use serde_json::{Map, Value};

use crate::auth::TokenFault;

/// The claims of a caller by their names. A caller without a token has none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Claims {
    existing: Map<String, Value>,
    /// When the token expires, in seconds since 1970; `None` when it does not, or when there is no
    /// token.
    expires: Option<f64>,
}

impl Claims {
    /// Collects all claims of a token's payload. Those in the claim `namespace`, an object or the
    /// JSON text of one, stand next to the others and hide those of the same name.
    ///
    /// # Errors
    ///
    /// When the namespace holds a text that is no object.
    pub fn of_payload(
        mut payload: Map<String, Value>,
        namespace: &str,
    ) -> Result<Claims, TokenFault> {
        let inside = match payload.remove(namespace) {
            Some(Value::Object(inside)) => inside,
            Some(Value::String(text)) => serde_json::from_str(&text).map_err(|error| {
                TokenFault::Namespace { claim: namespace.to_owned(), reason: error.to_string() }
            })?,
            _ => Map::new(),
        };
        // `exp` counts where the token has it, not inside of the namespace.
        let expires = payload.get("exp").and_then(Value::as_f64);
        payload.extend(inside);
        Ok(Claims { existing: payload, expires })
    }

    /// Makes claims that come from no token, and so never expire.
    pub fn new(claims: Map<String, Value>) -> Claims {
        Claims { existing: claims, expires: None }
    }

    /// Returns when the token expires that the claims come from, in seconds since 1970.
    pub fn expires(&self) -> Option<f64> {
        self.expires
    }

    /// Returns the value of a claim. A claim that is `null` counts as missing.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.existing.get(name).filter(|value| !value.is_null())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(payload: Value) -> Result<Claims, TokenFault> {
        let Value::Object(payload) = payload else { panic!("an object") };
        Claims::of_payload(payload, "https://a/b")
    }

    #[test]
    fn the_namespace_hides_its_siblings() {
        let claims = of(json!({"USER": "out", "sub": 1, "https://a/b": {"USER": "in", "N": null}}));
        let claims = claims.expect("an object");
        assert_eq!(claims.get("USER"), Some(&json!("in")));
        assert_eq!(claims.get("sub"), Some(&json!(1)));
        assert_eq!(claims.get("N"), None);
        assert_eq!(claims.get("https://a/b"), None);
    }

    #[test]
    fn the_namespace_may_be_text() {
        let claims = of(json!({"https://a/b": "{\"ROLE\": [\"A\"]}"})).expect("an object");
        assert_eq!(claims.get("ROLE"), Some(&json!(["A"])));
        let error = of(json!({"https://a/b": "[1]"})).expect_err("it is no object");
        let reported = "token is malformed: the claim `https://a/b` is no JSON object: ";
        assert!(error.to_string().starts_with(reported), "{error}");
    }
}
