//! Authorization. A token is checked and becomes the claims of its bearer; the rules of a type and
//! these claims determine which nodes the bearer may read or change.

mod token_error;
mod claims;
mod keys;
mod signatures;
mod token;
#[cfg(test)]
mod rsa_tests;
mod claim_tests;
mod verdict;

pub use claims::Claims;
pub use keys::{FetchedKeys, KeySource};
pub use signatures::provide_signatures;
pub use token::{Audience, Verifier, bearer};
pub use token_error::{KeyError, TokenError, TokenFault};
pub(crate) use verdict::Remains;
pub use verdict::{Rulebook, Verdict};
