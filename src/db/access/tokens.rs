//! The tokens that a login gives: JSON web tokens (RFC 7519), which this server alone signs and
//! checks.

use super::rules::Member;
use hexgraph_base::types::{AccessError, Error, Result, Uid};
use hexgraph_graphql::auth::provide_signatures;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use ring::{digest, hmac};
use serde_json::{Map, Value as Json, json};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The longest token that is looked at, in bytes.
const TOKEN_LEN_MAX: usize = 1 << 14;

/// The least bytes of a secret: as many as a signature by HMAC with SHA-256 has (RFC 7518, section
/// 3.2).
pub(super) const SECRET_LEN_MIN: usize = 32;

/// How tokens are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SigningMethod {
    /// HMAC with SHA-256.
    #[default]
    Hs256,
    /// HMAC with SHA-384.
    Hs384,
    /// HMAC with SHA-512.
    Hs512,
}

impl SigningMethod {
    /// The method of a name like `HS256`.
    ///
    /// ```
    /// use hexgraph::db::access::SigningMethod;
    ///
    /// assert_eq!(SigningMethod::of_name("HS512")?, SigningMethod::Hs512);
    /// assert!(SigningMethod::of_name("none").is_err());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for another name.
    pub fn of_name(name: &str) -> Result<SigningMethod> {
        match name {
            "HS256" => Ok(SigningMethod::Hs256),
            "HS384" => Ok(SigningMethod::Hs384),
            "HS512" => Ok(SigningMethod::Hs512),
            _ => Err(Error::query(format!("jwt-alg is {name}: expected HS256, HS384 or HS512"))),
        }
    }

    fn algorithm(self) -> Algorithm {
        match self {
            SigningMethod::Hs256 => Algorithm::HS256,
            SigningMethod::Hs384 => Algorithm::HS384,
            SigningMethod::Hs512 => Algorithm::HS512,
        }
    }
}

/// Signs and checks tokens.
pub(super) struct Signer {
    method: Algorithm,
    signing: EncodingKey,
    checking: DecodingKey,
    /// What the marks of transactions are made with.
    marks: hmac::Key,
}

/// What a token says of who has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Claims {
    /// A token for requests: the user, the node that represents the user, where the token has it,
    /// and its end. It also names the groups at the time of the login, for those who read tokens.
    Access { user: String, node: Option<Uid>, namespace: u64, expires: SystemTime },
    /// A token for another login: the user, and a mark of the password that it was given for.
    Refresh { user: String, namespace: u64, mark: String },
}

impl Signer {
    pub(super) fn new(secret: &[u8], method: SigningMethod) -> Signer {
        provide_signatures();
        // A key of their own, so that no mark reveals the signature of a token.
        let marks = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), b"hexgraph transaction");
        Signer {
            method: method.algorithm(),
            signing: EncodingKey::from_secret(secret),
            checking: DecodingKey::from_secret(secret),
            marks: hmac::Key::new(hmac::HMAC_SHA256, marks.as_ref()),
        }
    }

    /// A token for requests that holds for a time.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] when it can't be signed.
    pub(super) fn access(
        &self,
        (user, namespace): (&str, u64),
        member: &Member,
        ttl: Duration,
    ) -> Result<String> {
        let Member { uid, groups } = member;
        self.sign(json!({
            "exp": end(ttl), "groups": groups, "namespace": namespace, "uid": uid.to_string(), "userid": user,
        }))
    }

    /// A token for another login that holds for a time, as long as the mark of the password stays.
    ///
    /// # Errors
    ///
    /// As [`Signer::access`].
    pub(super) fn refresh(
        &self,
        (user, namespace): (&str, u64),
        mark: &str,
        ttl: Duration,
    ) -> Result<String> {
        self.sign(json!({
            "exp": end(ttl), "mark": mark, "namespace": namespace, "userid": user,
        }))
    }

    fn sign(&self, claims: Json) -> Result<String> {
        let signed = encode(&Header::new(self.method), &claims, &self.signing);
        signed.map_err(|error| Error::internal(error.to_string()))
    }

    /// What a token says, if it holds.
    ///
    /// # Errors
    ///
    /// [`AccessError::Unauthenticated`] in the words of Dgraph, which clients look for.
    pub(super) fn claims(&self, token: &str) -> std::result::Result<Claims, AccessError> {
        let refused = |why: &str| AccessError::Unauthenticated {
            message: format!("unable to parse jwt token: {why}"),
        };
        if token.split('.').count() != 3 {
            return Err(refused(
                "token is malformed: token contains an invalid number of segments",
            ));
        }
        if TOKEN_LEN_MAX < token.len() {
            return Err(refused("token is malformed: token is too long"));
        }
        // The header is the sender's word: the only method that is accepted is that of the server.
        let mut validation = Validation::new(self.method);
        validation.leeway = 0;
        validation.validate_nbf = true;
        validation.validate_aud = false;
        let decoded = decode::<Map<String, Json>>(token, &self.checking, &validation);
        let decoded = decoded.map_err(|error| match error.kind() {
            ErrorKind::ExpiredSignature => refused("token has invalid claims: Token is expired"),
            ErrorKind::ImmatureSignature => {
                refused("token has invalid claims: token is not valid yet")
            }
            ErrorKind::InvalidSignature => {
                refused("token signature is invalid: signature is invalid")
            }
            ErrorKind::InvalidAlgorithm | ErrorKind::InvalidAlgorithmName => {
                refused("token is unverifiable: unexpected signing method")
            }
            ErrorKind::MissingRequiredClaim(_) | ErrorKind::InvalidClaimFormat(_) => {
                refused("token has invalid claims: exp is invalid")
            }
            _ => refused("token is malformed: could not read it"),
        })?;
        let claims = decoded.claims;
        let text = |name: &str| claims.get(name).and_then(Json::as_str).map(str::to_owned);
        let user = text("userid").filter(|user| !user.is_empty());
        let user = user.ok_or_else(|| refused("userid in claims is not a string"))?;
        let namespace = claims.get("namespace").and_then(Json::as_u64);
        let namespace = namespace.ok_or_else(|| refused("namespace in claims is no number"))?;
        match (claims.get("groups"), text("mark")) {
            (Some(Json::Array(_)), None) => {
                // The library has refused tokens without this number, and those that ended before
                // now.
                let seconds = claims.get("exp").and_then(Json::as_u64).unwrap_or_default();
                let expires = UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
                let expires = expires.ok_or_else(|| refused("exp in claims is too large"))?;
                let digits = claims.get("uid").and_then(Json::as_str).unwrap_or_default();
                let node = digits.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16));
                let node = node.and_then(std::result::Result::ok).map(Uid);
                Ok(Claims::Access { user, node, namespace, expires })
            }
            (None, Some(mark)) => Ok(Claims::Refresh { user, namespace, mark }),
            _ => Err(refused("groups in claims are no list")),
        }
    }

    /// The mark of a plain password: of the first user's default one.
    pub(super) fn mark_of(&self, password: &str) -> String {
        let mut mark = hmac::Context::with_key(&self.marks);
        mark.update(b"first password\0");
        mark.update(password.as_bytes());
        hex(&mark.sign().as_ref()[..8])
    }

    /// The mark of a transaction: without it nobody can continue a transaction by guessing its
    /// number.
    pub(super) fn transaction_mark(&self, namespace: u64, start: u64) -> String {
        let mut mark = hmac::Context::with_key(&self.marks);
        mark.update(&namespace.to_be_bytes());
        mark.update(&start.to_be_bytes());
        hex(mark.sign().as_ref())
    }
}

/// A mark of a password, so that tokens which were given for another one are reported.
pub(super) fn password_mark(hash: &str) -> String {
    hex(&digest::digest(&digest::SHA256, hash.as_bytes()).as_ref()[..8])
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn end(ttl: Duration) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.saturating_add(ttl).as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &[u8] = b"a secret of thirty-two bytes or more";

    fn member(groups: &[&str]) -> Member {
        Member { uid: Uid(0x2a), groups: groups.iter().map(|name| (*name).to_owned()).collect() }
    }

    fn reported(signer: &Signer, token: &str) -> String {
        match signer.claims(token) {
            Ok(claims) => format!("{claims:?}"),
            Err(error) => error.message().replace("unable to parse jwt token: ", ""),
        }
    }

    #[test]
    fn tokens_hold_for_their_time_and_their_use() {
        let signer = Signer::new(SECRET, SigningMethod::Hs256);
        let hour = Duration::from_secs(3600);
        let access = signer.access(("ada", 3), &member(&["dev", "all"]), hour).unwrap();
        let Ok(Claims::Access { user, node, namespace, expires }) = signer.claims(&access) else {
            panic!()
        };
        assert_eq!((user.as_str(), node, namespace), ("ada", Some(Uid(0x2a)), 3));
        assert!(SystemTime::now() < expires);
        let mark = password_mark("$2a$hash");
        let refresh = signer.refresh(("ada", 3), &mark, hour).unwrap();
        assert_eq!(
            signer.claims(&refresh),
            Ok(Claims::Refresh { user: "ada".to_owned(), namespace: 3, mark })
        );
        let over = signer.access(("ada", 0), &member(&[]), Duration::ZERO).unwrap();
        std::thread::sleep(Duration::from_millis(1100));
        assert_eq!(reported(&signer, &over), "token has invalid claims: Token is expired");
    }

    #[test]
    fn tokens_of_others() {
        let signer = Signer::new(SECRET, SigningMethod::Hs256);
        let hour = Duration::from_secs(3600);
        let good = signer.access(("groot", 0), &member(&["guardians"]), hour).unwrap();
        let other = Signer::new(b"another secret of thirty-two bytes!!", SigningMethod::Hs256);
        let signature = "token signature is invalid: signature is invalid";
        assert_eq!(reported(&other, &good), signature);
        let longer = Signer::new(SECRET, SigningMethod::Hs512)
            .access(("groot", 0), &member(&[]), hour)
            .unwrap();
        assert_eq!(reported(&signer, &longer), "token is unverifiable: unexpected signing method");
        // Its parts, swapped with those of another, or without a signature.
        let parts: Vec<&str> = good.split('.').collect();
        let refresh = signer.refresh(("groot", 0), "x", hour).unwrap();
        let swapped = format!("{}.{}.{}", parts[0], refresh.split('.').nth(1).unwrap(), parts[2]);
        assert_eq!(reported(&signer, &swapped), signature);
        let none = format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{}.", parts[1]);
        assert!(reported(&signer, &none).starts_with("token is "), "{}", reported(&signer, &none));
        let segments = "token is malformed: token contains an invalid number of segments";
        for bad in ["", "wrongToken", "a.b", "a.b.c.d"] {
            assert_eq!(reported(&signer, bad), segments, "{bad}");
        }
        for bad in ["..", "a.b.c", "é.é.é"] {
            assert!(reported(&signer, bad).starts_with("token is malformed"), "{bad}");
        }
        let long = format!("{}.{}", "a".repeat(TOKEN_LEN_MAX), "a.a");
        assert_eq!(reported(&signer, &long), "token is malformed: token is too long");
    }

    #[test]
    fn claims_of_another_kind() {
        let signer = Signer::new(SECRET, SigningMethod::Hs256);
        let later = end(Duration::from_secs(60));
        for (claims, why) in [
            (
                json!({ "userid": "a", "groups": [], "namespace": 0 }),
                "token has invalid claims: exp is invalid",
            ),
            (
                json!({ "exp": later, "groups": [], "namespace": 0 }),
                "userid in claims is not a string",
            ),
            (
                json!({ "exp": later, "userid": "a", "groups": [], "namespace": "7" }),
                "namespace in claims is no number",
            ),
            (
                json!({ "exp": later, "userid": "a", "namespace": 0 }),
                "groups in claims are no list",
            ),
            (
                json!({ "exp": later, "userid": "a", "namespace": 0, "groups": "guardians" }),
                "groups in claims are no list",
            ),
            (
                json!({ "exp": later, "userid": "a", "namespace": 0, "groups": [], "mark": "x" }),
                "groups in claims are no list",
            ),
            (
                json!({ "exp": later, "nbf": later, "userid": "a", "namespace": 0, "groups": [] }),
                "token has invalid claims: token is not valid yet",
            ),
        ] {
            assert_eq!(reported(&signer, &signer.sign(claims.clone()).unwrap()), why, "{claims}");
        }
    }
}
