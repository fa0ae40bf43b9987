//! Sets of keys that are fetched from addresses (JWK), each kept for as long as it says.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

use arc_swap::ArcSwap;
use jsonwebtoken::DecodingKey;
use jsonwebtoken::jwk::JwkSet;

/// What an address answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FetchedKeys {
    /// A set of keys as JSON.
    pub text: String,
    /// For how long it may be used; as long as the schema is in force when it does not say.
    pub lifetime: Option<Duration>,
}

/// Where sets of keys come from: this layer knows no network.
pub trait KeySource: Send + Sync {
    /// Asks an address for its set of keys.
    ///
    /// # Errors
    ///
    /// Why there was no answer.
    fn fetch(&self, address: &str) -> Result<FetchedKeys, String>;
}

/// The sets of some addresses, in their order.
pub(super) struct KeySets {
    source: Box<dyn KeySource>,
    addresses: Vec<String>,
    sets: Vec<ArcSwap<Set>>,
}

struct Set {
    keys: HashMap<String, DecodingKey>,
    until: Option<Instant>,
}

impl KeySets {
    /// Fetches all sets once.
    ///
    /// # Errors
    ///
    /// Names the first address that has no set of keys.
    pub fn new(addresses: &[String], source: Box<dyn KeySource>) -> Result<KeySets, String> {
        let sets = addresses.iter().map(|address| fetch(&*source, address));
        let sets: Result<Vec<Set>, String> = sets.collect();
        let sets = sets?.into_iter().map(ArcSwap::from_pointee).collect();
        Ok(KeySets { source, addresses: addresses.to_vec(), sets })
    }

    /// The key of a name in each set that has it. Sets past their time are fetched again first; when that fails, they
    /// have no key.
    pub fn find(&self, name: &str) -> Vec<DecodingKey> {
        let found = self.addresses.iter().zip(&self.sets).filter_map(|(address, slot)| {
            let set = slot.load();
            if set.until.is_none_or(|until| Instant::now() < until) {
                return set.keys.get(name).cloned();
            }
            let fresh = Arc::new(fetch(&*self.source, address).ok()?);
            slot.store(Arc::clone(&fresh));
            fresh.keys.get(name).cloned()
        });
        found.collect()
    }
}

fn fetch(source: &dyn KeySource, address: &str) -> Result<Set, String> {
    let fetched = source.fetch(address)?;
    let set: JwkSet = serde_json::from_str(&fetched.text)
        .map_err(|error| format!("no set of keys at {address}: {error}"))?;
    let keys = set.keys.iter().filter_map(|jwk| {
        let name = jwk.common.key_id.clone()?;
        Some((name, DecodingKey::from_jwk(jwk).ok()?))
    });
    let until = fetched.lifetime.and_then(|lifetime| Instant::now().checked_add(lifetime));
    Ok(Set { keys: keys.collect(), until })
}
