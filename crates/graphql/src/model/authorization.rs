//! The settings of tokens, which a schema has in the line `# Dgraph.Authorization`.

/// How tokens are located, read and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authorization {
    /// The name of the header in which requests send the token.
    pub header: String,
    /// The name of the claim whose members are the claims that rules read.
    pub namespace: String,
    /// The keys that signatures are checked with.
    pub keys: Keys,
    /// The audiences that a token may be meant for; empty when the schema names none.
    pub audience: Vec<String>,
    /// True if every request needs a valid token, also those of types without rules.
    pub closed_by_default: bool,
}

/// The keys that signatures are checked with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keys {
    /// One key, which is in the schema.
    Fixed {
        /// The only algorithm that is accepted.
        algorithm: Algorithm,
        /// The secret for HMAC; a public key in PEM for RSA.
        key: String,
    },
    /// The addresses of sets of keys (JWK), which are fetched.
    Fetched(Vec<String>),
}

/// The algorithm of a token's signature.
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
    /// All algorithms with their names in tokens and schemas.
    pub const ALL: [(&str, Algorithm); 6] = [
        ("HS256", Algorithm::Hs256),
        ("HS384", Algorithm::Hs384),
        ("HS512", Algorithm::Hs512),
        ("RS256", Algorithm::Rs256),
        ("RS384", Algorithm::Rs384),
        ("RS512", Algorithm::Rs512),
    ];

    /// Returns the algorithm of a name, which is compared with its case.
    pub fn from_name(name: &str) -> Option<Algorithm> {
        Algorithm::ALL
            .iter()
            .find(|(existing, _)| *existing == name)
            .map(|(_, algorithm)| *algorithm)
    }

    /// Returns true for RSA, whose key is a public key in PEM.
    pub fn is_rsa(self) -> bool {
        matches!(self, Algorithm::Rs256 | Algorithm::Rs384 | Algorithm::Rs512)
    }
}
