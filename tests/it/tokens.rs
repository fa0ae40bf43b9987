//! Signed tokens (JWT), as some other service makes them.

use hexgraph_graphql::auth::provide_signatures;
use jsonwebtoken::{EncodingKey, Header};

/// Signs claims. The provider of signatures is named first: a test may be the first in its process
/// that needs one.
pub fn sign(header: &Header, claims: &serde_json::Value, key: &EncodingKey) -> String {
    provide_signatures();
    jsonwebtoken::encode(header, claims, key).expect("it can be signed")
}
