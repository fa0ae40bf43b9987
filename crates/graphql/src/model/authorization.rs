//! How tokens are read and checked: the line `# Dgraph.Authorization`.

/// The settings of tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authorization {
    /// The header of a request that holds the token.
    pub header: String,
    /// The claim of the token that holds the claims which rules read.
    pub namespace: String,
    /// What a signature is checked with.
    pub keys: Keys,
    /// One of these must be among the token's `aud`, if it has one. Empty: all will do.
    pub audience: Vec<String>,
    /// Every request needs a valid token.
    pub closed_by_default: bool,
}

/// What a signature is checked with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keys {
    /// One key.
    Fixed {
        /// The only algorithm that is accepted.
        algorithm: Algorithm,
        /// The secret's bytes for HMAC, a public key in PEM for RSA.
        key: String,
    },
    /// Sets of keys to be fetched from addresses.
    Fetched(Vec<String>),
}

/// How a token is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Algorithm {
    Hs256,
    Hs384,
    Hs512,
    Rs256,
    Rs384,
    Rs512,
}

impl Algorithm {
    /// All, with their names.
    pub const ALL: [(&str, Algorithm); 6] = [
        ("HS256", Algorithm::Hs256),
        ("HS384", Algorithm::Hs384),
        ("HS512", Algorithm::Hs512),
        ("RS256", Algorithm::Rs256),
        ("RS384", Algorithm::Rs384),
        ("RS512", Algorithm::Rs512),
    ];

    /// The algorithm of a name.
    pub fn from_name(name: &str) -> Option<Algorithm> {
        Algorithm::ALL.iter().find(|(known, _)| *known == name).map(|(_, algorithm)| *algorithm)
    }

    /// True when the key is a public key in PEM.
    pub fn is_rsa(self) -> bool {
        matches!(self, Algorithm::Rs256 | Algorithm::Rs384 | Algorithm::Rs512)
    }
}
