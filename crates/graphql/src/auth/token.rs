//! JSON web tokens: whether one holds, and its claims.

use jsonwebtoken::dangerous::insecure_decode_claims;
use jsonwebtoken::{Algorithm as Signing, DecodingKey, crypto};
use serde_json::{Map, Value};
use std::sync::Arc;

use crate::auth::keys::{KeySets, NamedKey};
use crate::auth::signatures::provide_signatures;
use crate::auth::{Claims, KeyError, KeySource, TokenError, TokenFault};
use crate::model::{Algorithm, Authorization, Keys};

/// The longest token that is looked at, in bytes.
const TOKEN_MAX: usize = 1 << 16;

/// Returns the token in the value of a header, which stands there bare or after `Bearer`; `None`
/// when the value is empty.
///
/// # Errors
///
/// When something else than one word follows `Bearer`: the entire request is refused then.
pub fn bearer(value: &str) -> Result<Option<&str>, TokenError> {
    // `get` gives nothing where the seventh byte is within a character: then it is no `Bearer`.
    let begins = value.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("bearer "));
    if !begins {
        return Ok((!value.is_empty()).then_some(value));
    }
    match value.split(' ').collect::<Vec<_>>()[..] {
        [_, token] => Ok(Some(token)),
        _ => Err(TokenError::Header),
    }
}

/// Whether a token must name an audience (`aud`) where the settings of the schema name some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// The token must name one of them.
    Needed,
    /// The token must name one of them, or none at all.
    Optional,
}

/// Checks tokens by the settings of a schema, the line `# Dgraph.Authorization`.
pub struct Verifier {
    settings: Authorization,
    keys: ExistingKeys,
}

/// The keys that signatures are checked with.
enum ExistingKeys {
    /// One key, and the only algorithm that is accepted.
    Fixed(Signing, DecodingKey),
    /// Sets of keys; the token names one of them.
    Fetched(KeySets),
}

impl Verifier {
    /// Makes a verifier, and fetches all sets of keys at once, so that a wrong address is reported
    /// when the schema is set.
    ///
    /// # Errors
    ///
    /// When a key can't be read, or a set of keys can't be fetched.
    pub fn new(settings: &Authorization, source: Arc<dyn KeySource>) -> Result<Verifier, KeyError> {
        provide_signatures();
        let keys = match &settings.keys {
            Keys::Fetched(addresses) => ExistingKeys::Fetched(KeySets::new(addresses, source)?),
            _ => return Verifier::later(settings, source),
        };
        Ok(Verifier { settings: settings.clone(), keys })
    }

    /// Makes a verifier that fetches each set of keys when it is needed first.
    ///
    /// # Errors
    ///
    /// When a key can't be read.
    pub fn later(
        settings: &Authorization,
        source: Arc<dyn KeySource>,
    ) -> Result<Verifier, KeyError> {
        provide_signatures();
        let keys = match &settings.keys {
            Keys::Fixed { algorithm, key } if algorithm.is_rsa() => {
                let key = DecodingKey::from_rsa_pem(key.as_bytes()).map_err(|_| KeyError::Pem)?;
                ExistingKeys::Fixed(signing(*algorithm), key)
            }
            Keys::Fixed { algorithm, key } => {
                ExistingKeys::Fixed(signing(*algorithm), DecodingKey::from_secret(key.as_bytes()))
            }
            Keys::Fetched(addresses) => ExistingKeys::Fetched(KeySets::later(addresses, source)),
        };
        Ok(Verifier { settings: settings.clone(), keys })
    }

    /// Checks a token and returns its claims; no claims when there is no token. `now` is in seconds
    /// since 1970. Costs a signature, and a request to the server of the keys where their time is
    /// over.
    ///
    /// # Errors
    ///
    /// When the token does not hold, and when there has to be one.
    pub fn claims(
        &self,
        token: Option<&str>,
        now: u64,
        audience: Audience,
    ) -> Result<Claims, TokenError> {
        // A schema may leave types without rules open to callers without a token.
        let Some(token) = token else {
            return match self.settings.closed_by_default {
                true => Err(TokenError::Absent),
                false => Ok(Claims::default()),
            };
        };
        let payload = self.payload(token)?;
        check_times(&payload, now)?;
        self.check_audience(&payload, audience)?;
        Ok(Claims::of_payload(payload, &self.settings.namespace)?)
    }

    /// Checks the signature of a token and returns its payload.
    fn payload(&self, token: &str) -> Result<Map<String, Value>, TokenFault> {
        let parts: Vec<&str> = token.split('.').collect();
        let [header, payload, signature] = parts[..] else { return Err(TokenFault::Segments) };
        if TOKEN_MAX < token.len() {
            return Err(TokenFault::Length);
        }
        let (header, payload) = (object(header, "header")?, object(payload, "claim")?);
        if header.contains_key("crit") {
            return Err(TokenFault::Critical);
        }
        // The signature is over the text of the other two parts, as it came. The three parts have
        // two dots between them: the last is left out with the signature after it.
        let signed = &token[..token.len() - signature.len() - 1];
        let named = header.get("alg").and_then(Value::as_str).unwrap_or_default();
        let result = Algorithm::from_name(named).map(signing);
        let verify = |algorithm, key: &DecodingKey| match crypto::verify(
            signature,
            signed.as_bytes(),
            key,
            algorithm,
        ) {
            Ok(true) => Ok(()),
            _ if named.starts_with('R') => Err(TokenFault::RsaSignature),
            _ => Err(TokenFault::Signature),
        };
        match &self.keys {
            ExistingKeys::Fixed(requested, key) => {
                // The header is the sender's word: it never chooses the algorithm, else the public
                // key of RSA could be used as a secret of HMAC.
                if result != Some(*requested) {
                    let result = named.to_owned();
                    return Err(TokenFault::Algorithm { expected: *requested, result });
                }
                verify(*requested, key)?;
            }
            ExistingKeys::Fetched(sets) => {
                let name = header.get("kid").and_then(Value::as_str);
                let name = name.ok_or(TokenFault::KeyUnnamed)?;
                let unknown = || TokenFault::UnknownAlgorithm { result: named.to_owned() };
                let algorithm = result.ok_or_else(unknown)?;
                let check = |existing: &NamedKey| match existing.is_for(algorithm) {
                    true => verify(algorithm, &existing.key),
                    false => Err(TokenFault::KeyAlgorithm { result: named.to_owned() }),
                };
                // Two sets may have keys of one name: the token holds when one of them signed it.
                // Without a key of that name there is no result, which is another error than a
                // wrong signature.
                let tried = sets.find(name).iter().map(check).reduce(Result::or);
                tried.unwrap_or(Err(TokenFault::KeyUnknown))?;
            }
        }
        Ok(payload)
    }

    /// Checks that `aud`, a text or a list of texts, names one of the audiences of the settings.
    fn check_audience(
        &self,
        payload: &Map<String, Value>,
        audience: Audience,
    ) -> Result<(), TokenError> {
        let existing = &self.settings.audience;
        let meant: Option<Vec<&str>> = match payload.get("aud") {
            None | Some(Value::Null) if existing.is_empty() || audience == Audience::Optional => {
                return Ok(());
            }
            // A list with something else than texts names nobody.
            Some(Value::Array(all)) => all.iter().map(Value::as_str).collect(),
            Some(Value::String(one)) => Some(vec![one]),
            _ => None,
        };
        match meant {
            Some(_) if existing.is_empty() => Err(TokenError::AudienceUnexpected),
            Some(meant) if meant.iter().any(|meant| existing.iter().any(|it| it == meant)) => {
                Ok(())
            }
            _ => Err(TokenError::Audience),
        }
    }
}

/// Reads a part of a token: base64 of a JSON object. `part` names it in the error.
fn object(text: &str, part: &'static str) -> Result<Map<String, Value>, TokenFault> {
    // The library decodes the middle part of what it is given, and looks at no other.
    insecure_decode_claims(format!(".{text}.")).map_err(|_| TokenFault::Unreadable { part })
}

/// Checks `exp` and `nbf`, without leeway. `now` is in seconds since 1970.
fn check_times(payload: &Map<String, Value>, now: u64) -> Result<(), TokenFault> {
    let now = now as f64;
    let time = |claim: &'static str| match payload.get(claim) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_f64().map(Some).ok_or(TokenFault::Time { claim }),
    };
    if time("exp")?.is_some_and(|end| end <= now) {
        return Err(TokenFault::Expired);
    }
    if time("nbf")?.is_some_and(|start| now < start) {
        return Err(TokenFault::Early);
    }
    Ok(())
}

/// The algorithm as the library of signatures names it.
fn signing(algorithm: Algorithm) -> Signing {
    match algorithm {
        Algorithm::Hs256 => Signing::HS256,
        Algorithm::Hs384 => Signing::HS384,
        Algorithm::Hs512 => Signing::HS512,
        Algorithm::Rs256 => Signing::RS256,
        Algorithm::Rs384 => Signing::RS384,
        Algorithm::Rs512 => Signing::RS512,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::FetchedKeys;
    use jsonwebtoken::{EncodingKey, Header};
    use serde_json::json;

    struct File(&'static str);

    impl KeySource for File {
        fn fetch(&self, _: &str) -> Result<FetchedKeys, KeyError> {
            Ok(FetchedKeys { text: self.0.to_owned(), lifetime: None })
        }
    }

    const NOW: u64 = 1_000;

    fn settings(keys: Keys) -> Authorization {
        Authorization {
            header: "X".to_owned(),
            namespace: "ns".to_owned(),
            keys,
            audience: vec!["a".to_owned()],
            closed_by_default: false,
        }
    }

    fn fixed(algorithm: Algorithm) -> Verifier {
        let keys = Keys::Fixed { algorithm, key: "secret".to_owned() };
        Verifier::new(&settings(keys), Arc::new(File(""))).expect("a key")
    }

    fn signed(algorithm: Signing, secret: &str, payload: &Value) -> String {
        let header = Header { kid: Some("k".to_owned()), ..Header::new(algorithm) };
        let key = EncodingKey::from_secret(secret.as_bytes());
        jsonwebtoken::encode(&header, payload, &key).expect("a token")
    }

    fn reported(payload: &Value) -> Result<Claims, TokenError> {
        let token = signed(Signing::HS256, "secret", payload);
        fixed(Algorithm::Hs256).claims(Some(&token), NOW, Audience::Needed)
    }

    #[test]
    fn claims_come_from_the_namespace() {
        let claims =
            reported(&json!({"ns": {"USER": "u"}, "exp": 1001, "aud": "a"})).expect("valid");
        assert_eq!(claims.get("USER"), Some(&json!("u")));
        for (algorithm, signing) in
            [(Algorithm::Hs384, Signing::HS384), (Algorithm::Hs512, Signing::HS512)]
        {
            let token = signed(signing, "secret", &json!({"aud": ["b", "a"]}));
            fixed(algorithm).claims(Some(&token), NOW, Audience::Needed).expect("valid");
        }
    }

    #[test]
    fn times_and_audiences_are_checked() {
        let error = |payload| reported(&payload).expect_err("refused").to_string();
        let prefix = "unable to parse jwt token:token has invalid claims: token is ";
        assert_eq!(error(json!({"exp": 1000})), format!("{prefix}expired"));
        assert_eq!(error(json!({"nbf": 1001})), format!("{prefix}not valid yet"));
        assert!(error(json!({"exp": "x"})).ends_with("exp is invalid"));
        let reported = TokenError::Audience.to_string();
        for other in [json!(["b", "c"]), json!("b"), json!(""), json!([]), json!(5), json!({})] {
            assert_eq!(error(json!({"aud": other})), reported, "{other}");
        }
        for other in [json!(null), json!(["a", 5]), json!(true)] {
            assert_eq!(error(json!({"aud": other})), reported, "{other}");
        }
        assert_eq!(error(json!({})), reported);
        // As Dgraph has it: whoever names nobody is meant for all. What is no name is none
        // there, either.
        let verifier = fixed(Algorithm::Hs256);
        let optional = |payload: Value| {
            let token = signed(Signing::HS256, "secret", &payload);
            verifier.claims(Some(&token), NOW, Audience::Optional).map(drop)
        };
        assert_eq!(optional(json!({})), Ok(()));
        for other in [json!(5), json!("b"), json!([5])] {
            assert_eq!(optional(json!({"aud": other})), Err(TokenError::Audience), "{other}");
        }
    }

    #[test]
    fn forgeries_are_refused() {
        let verifier = fixed(Algorithm::Hs256);
        let reported = |token: &str| {
            let reported = verifier.claims(Some(token), NOW, Audience::Needed);
            reported.expect_err("refused").to_string()
        };
        let prefix = "unable to parse jwt token:token";
        let wrong = signed(Signing::HS256, "other", &json!({}));
        assert_eq!(
            reported(&wrong),
            format!("{prefix} signature is invalid: signature is invalid")
        );
        let other = signed(Signing::HS512, "secret", &json!({}));
        let keyfunc = "is unverifiable: error while executing keyfunc:";
        let method = "unexpected signing method: Expected HS256 Found";
        assert_eq!(reported(&other), format!("{prefix} {keyfunc} {method} HS512"));
        // {"alg":"none"} and {}
        assert_eq!(
            reported("eyJhbGciOiJub25lIn0.e30."),
            format!("{prefix} {keyfunc} {method} none")
        );
        let segments = "is malformed: token contains an invalid number of segments";
        assert_eq!(reported("nonsense"), format!("{prefix} {segments}"));
        assert!(reported("a.b.c").contains("is malformed"));
        // {"alg":"HS256","crit":["b64"],"b64":false} and {"alg":"HS256","crit":[]}, whatever the
        // signature.
        for header in [
            "eyJhbGciOiJIUzI1NiIsImNyaXQiOlsiYjY0Il0sImI2NCI6ZmFsc2V9",
            "eyJhbGciOiJIUzI1NiIsImNyaXQiOltdfQ",
        ] {
            let reported = reported(&format!("{header}.e30.x"));
            let want = "is unverifiable: its header has `crit`, and no extension is supported here";
            assert_eq!(reported, format!("{prefix} {want}"));
        }
    }

    #[test]
    fn sets_of_keys_are_searched_by_name() {
        // The secret of the key is `secret`.
        let set = r#"{"keys": [{"kty": "oct", "kid": "k", "k": "c2VjcmV0"}]}"#;
        let keys = Keys::Fetched(vec!["here".to_owned()]);
        let verifier = Verifier::new(&settings(keys), Arc::new(File(set))).expect("a set");
        let claims = |token: &str| verifier.claims(Some(token), NOW, Audience::Needed).map(drop);
        let token = signed(Signing::HS256, "secret", &json!({"USER": 1, "aud": "a"}));
        assert_eq!(claims(&token), Ok(()));
        let wrong = signed(Signing::HS256, "wrong", &json!({"aud": "a"}));
        assert_eq!(claims(&wrong), Err(TokenError::Invalid(TokenFault::Signature)));
    }

    #[test]
    fn keys_are_for_what_they_say() {
        let key = |more: &str| {
            format!(r#"{{"keys": [{{"kty": "oct", "kid": "k", "k": "c2VjcmV0"{more}}}]}}"#)
        };
        let token = signed(Signing::HS256, "secret", &json!({"aud": "a"}));
        let reported = |more: &str| {
            let text: &'static str = key(more).leak();
            let keys = Keys::Fetched(vec!["here".to_owned()]);
            let verifier = Verifier::new(&settings(keys), Arc::new(File(text))).expect("a set");
            verifier.claims(Some(&token), NOW, Audience::Needed).map(drop)
        };
        for fit in ["", r#", "alg": "HS256""#, r#", "use": "sig""#, r#", "key_ops": ["verify"]"#] {
            assert_eq!(reported(fit), Ok(()), "{fit}");
        }
        for other in ["HS512", "RS256", "RSA-OAEP", "unheard of"] {
            let error = reported(&format!(r#", "alg": "{other}""#)).expect_err(other);
            let result = "HS256".to_owned();
            assert_eq!(error, TokenError::Invalid(TokenFault::KeyAlgorithm { result }));
        }
        for other in [r#", "use": "enc""#, r#", "key_ops": ["wrapKey"]"#] {
            let unknown = TokenError::Invalid(TokenFault::KeyUnknown);
            assert_eq!(reported(other), Err(unknown), "{other}");
        }
    }

    #[test]
    fn keys_are_not_reported() {
        for text in [r#"{"keys": "hunter2"}"#, r#"{"keys": [{"kty": "hunter2"}, "hunter2"]}"#] {
            let keys = Keys::Fetched(vec!["here".to_owned()]);
            if let Err(error) = Verifier::new(&settings(keys), Arc::new(File(text))) {
                let error = error.to_string();
                assert!(error.starts_with("no set of keys at here") && !error.contains("hunter2"));
            }
        }
    }

    #[test]
    fn nobody_needs_a_token_unless_all_do() {
        let mut verifier = fixed(Algorithm::Hs256);
        assert_eq!(verifier.claims(None, NOW, Audience::Needed), Ok(Claims::default()));
        verifier.settings.closed_by_default = true;
        let refused = verifier.claims(None, NOW, Audience::Needed).expect_err("refused");
        assert_eq!(refused.to_string(), "a valid JWT is required but was not provided");
    }

    #[test]
    fn headers_may_say_bearer() {
        assert_eq!(bearer(""), Ok(None));
        assert_eq!(bearer("a b"), Ok(Some("a b")));
        assert_eq!(bearer("beaRer x"), Ok(Some("x")));
        let reported =
            "invalid Bearer-formatted header value for JWT (one word stands behind `Bearer`)";
        assert_eq!(bearer("Bearer a b").expect_err("refused").to_string(), reported);
    }
}
