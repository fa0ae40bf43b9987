//! Authorization: tokens → claims, rules and claims → who may do what.

mod token_error;
mod claims;
mod keys;
mod token;
mod claim_tests;
mod verdict;

pub use claims::Claims;
pub use keys::{FetchedKeys, KeySource};
pub use token::{Audience, Verifier, bearer};
pub use token_error::{KeyError, TokenError, TokenFault};
pub(crate) use verdict::Remains;
pub use verdict::{Rulebook, Verdict};
