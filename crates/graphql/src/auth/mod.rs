//! Authorization: tokens → claims, rules and claims → who may do what.

mod claims;
mod keys;
mod token;
mod claim_tests;
mod verdict;

pub use claims::Claims;
pub use keys::{FetchedKeys, KeySource};
pub use token::{Audience, Denied, Verifier, bearer};
pub(crate) use verdict::Remains;
pub use verdict::{Rulebook, Verdict};
