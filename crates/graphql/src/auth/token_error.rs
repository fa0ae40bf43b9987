//! Errors of tokens and of the keys that check them. The words are Dgraph's where it has
//! some.

use jsonwebtoken::Algorithm;
use thiserror::Error;

/// Why a caller is not let in, as the answer to the request says it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TokenError {
    /// Something else than one word follows `Bearer`. The text is not reported: it is
    /// somebody's token, or near to one.
    #[error("invalid Bearer-formatted header value for JWT (one word stands behind `Bearer`)")]
    Header,
    /// The schema requires a token in every request, and this one has none.
    #[error("a valid JWT is required but was not provided")]
    Absent,
    /// The token can't be read, its signature does not hold, or its time is over.
    #[error("unable to parse jwt token:{0}")]
    Invalid(#[from] TokenFault),
    /// The token is meant for others than the audiences of the schema.
    #[error("JWT `aud` value doesn't match with the audience")]
    Audience,
    /// The token names an audience, and the schema has none.
    #[error("audience value was expected but not provided")]
    AudienceUnexpected,
    /// The keys that would check the token can't be had.
    #[error(transparent)]
    Keys(#[from] KeyError),
}

/// Errors of a token itself.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TokenFault {
    /// A token has three parts with dots between them.
    #[error("token is malformed: token contains an invalid number of segments")]
    Segments,
    /// The token has more bytes than are looked at.
    #[error("token is malformed: token is too long")]
    Length,
    /// A part is not the base64 of a JSON object.
    #[error("token is malformed: could not read the {part}")]
    Unreadable {
        /// `header` or `claim`.
        part: &'static str,
    },
    /// The claim that holds the claims of rules is text, but not the text of a JSON object.
    #[error("token is malformed: the claim `{claim}` is no JSON object: {reason}")]
    Namespace {
        /// The name of the claim.
        claim: String,
        /// What the reader of JSON says.
        reason: String,
    },
    /// The header names something that has to be understood next to the signature, and nothing is.
    #[error("token is unverifiable: its header has `crit`, and no extension is supported here")]
    Critical,
    /// The token is signed by another algorithm than the schema's.
    #[error(
        "token is unverifiable: error while executing keyfunc: unexpected signing method: Expected {expected:?} Found {result}"
    )]
    Algorithm {
        /// The algorithm of the schema.
        expected: Algorithm,
        /// The name in the token's header.
        result: String,
    },
    /// The token is signed by an algorithm that is not supported.
    #[error("token is unverifiable: signing method ({result}) is unavailable")]
    UnknownAlgorithm {
        /// The name in the token's header.
        result: String,
    },
    /// The header does not say which key of a set signed the token.
    #[error("token is unverifiable: error while executing keyfunc: kid not present in JWT")]
    KeyUnnamed,
    /// No set has the key that the header names.
    #[error("token is unverifiable: error while executing keyfunc: Invalid kid")]
    KeyUnknown,
    /// The key that the header names is for another algorithm.
    #[error(
        "token is unverifiable: error while executing keyfunc: the key is for another method than {result}"
    )]
    KeyAlgorithm {
        /// The name in the token's header.
        result: String,
    },
    /// The signature by HMAC does not hold.
    #[error("token signature is invalid: signature is invalid")]
    Signature,
    /// The signature by RSA does not hold.
    #[error("token signature is invalid: crypto/rsa: verification error")]
    RsaSignature,
    /// `exp` or `nbf` is no number.
    #[error("token has invalid claims: {claim} is invalid")]
    Time {
        /// The name of the claim.
        claim: &'static str,
    },
    /// The time of `exp` has come.
    #[error("token has invalid claims: token is expired")]
    Expired,
    /// The time of `nbf` has not come yet.
    #[error("token has invalid claims: token is not valid yet")]
    Early,
}

/// Why there are no keys to check tokens with.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum KeyError {
    /// The text of the schema is no public key. It is not reported: it may be a secret in the wrong
    /// position.
    #[error("invalid key: Key must be a PEM encoded PKCS1 or PKCS8 key")]
    Pem,
    /// The address did not answer, or not with a text.
    #[error("{address}: {reason}")]
    Unanswered {
        /// The address of the set of keys.
        address: String,
        /// What went wrong.
        reason: String,
    },
    /// The answer is no set of keys. What was read is not quoted: it may be a key.
    #[error(
        "no set of keys at {address}: it is not as RFC 7517 has it at line {line}, column {column}"
    )]
    NoSet {
        /// The address of the set of keys.
        address: String,
        /// The line of the answer where reading stopped, from 1.
        line: usize,
        /// The column of that line, from 1.
        column: usize,
    },
}
