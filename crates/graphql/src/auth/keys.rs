//! Sets of keys (JWK, RFC 7517) that are fetched from addresses. Each is used for as long as its
//! server says, and then fetched again by the first request that needs it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use jsonwebtoken::jwk::{Jwk, JwkSet, KeyAlgorithm, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};

use crate::auth::KeyError;

/// The answer of an address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FetchedKeys {
    /// The text of the answer: a set of keys as JSON.
    pub text: String,
    /// How long the set may be used; `None` when the server does not say: it is used then as long
    /// as the schema is in force.
    pub lifetime: Option<Duration>,
}

/// Fetches sets of keys. This layer knows no network, so its caller implements this.
pub trait KeySource: Send + Sync {
    /// Fetches the set of keys of an address.
    ///
    /// # Errors
    ///
    /// When there was no answer, or no text.
    fn fetch(&self, address: &str) -> Result<FetchedKeys, KeyError>;
}

/// The pause after a first failure, in which the address is not requested again. Each further
/// failure doubles it.
const PAUSE_MIN: Duration = Duration::from_secs(1);

/// The longest pause between two attempts.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// The sets of keys of all addresses of a schema, in the order of the schema.
pub(super) struct KeySets {
    source: Arc<dyn KeySource>,
    slots: Vec<Slot>,
}

/// The position for the set of one address.
struct Slot {
    address: String,
    /// The set that was fetched last; `None` before the first.
    set: ArcSwapOption<Set>,
    /// Locked by the thread that fetches; others that need the set wait for it.
    pause: Mutex<Pause>,
}

/// The pause after a failed attempt: its deadline, and how long it is.
#[derive(Default)]
struct Pause {
    until: Option<Instant>,
    length: Duration,
}

/// A set of keys that was read.
struct Set {
    /// The keys that check signatures, by `kid`.
    keys: HashMap<String, NamedKey>,
    /// When the set has to be fetched again; `None` for never.
    until: Option<Instant>,
}

/// A key of a set, and the algorithm that it is for.
#[derive(Clone)]
pub(super) struct NamedKey {
    /// The key in the form that checks signatures.
    pub key: DecodingKey,
    /// The only algorithm that the key is for; `None` when the set does not say.
    algorithm: Option<KeyAlgorithm>,
}

impl NamedKey {
    /// Reads a key of a set; `None` for one that does not check signatures, or that can't be read.
    fn of(jwk: &Jwk) -> Option<NamedKey> {
        let common = &jwk.common;
        let signs = common.public_key_use.as_ref().is_none_or(|it| *it == PublicKeyUse::Signature);
        let operations = common.key_operations.as_ref();
        let verifies = operations.is_none_or(|existing| existing.contains(&KeyOperations::Verify));
        if !signs || !verifies {
            return None;
        }
        let key = DecodingKey::from_jwk(jwk).ok()?;
        Some(NamedKey { key, algorithm: common.key_algorithm })
    }

    /// Returns true if the key checks signatures of an algorithm: a key that names one is for no
    /// other.
    pub(super) fn is_for(&self, algorithm: Algorithm) -> bool {
        self.algorithm.is_none_or(|existing| existing == KeyAlgorithm::from(algorithm))
    }
}

impl KeySets {
    /// Fetches all sets once.
    ///
    /// # Errors
    ///
    /// Names the first address that has no set of keys.
    pub(super) fn new(
        addresses: &[String],
        source: Arc<dyn KeySource>,
    ) -> Result<KeySets, KeyError> {
        let sets = KeySets::later(addresses, source);
        for slot in &sets.slots {
            slot.set.store(Some(Arc::new(fetch(&*sets.source, &slot.address)?)));
        }
        Ok(sets)
    }

    /// Fetches nothing yet: each set is fetched when it is needed first.
    pub(super) fn later(addresses: &[String], source: Arc<dyn KeySource>) -> KeySets {
        let slot = |address: &String| Slot {
            address: address.clone(),
            set: ArcSwapOption::default(),
            pause: Mutex::default(),
        };
        KeySets { source, slots: addresses.iter().map(slot).collect() }
    }

    /// Returns the keys of a name (`kid`): one for each set that has it. A set whose time is over
    /// is fetched again first. When that fails it has no keys, and its address is not requested
    /// again before the pause is over. Costs a look-up for each set, and may wait for the network.
    pub(super) fn find(&self, name: &str) -> Vec<NamedKey> {
        let sets = self.slots.iter().filter_map(|slot| slot.current(&*self.source));
        sets.filter_map(|set| set.keys.get(name).cloned()).collect()
    }
}

impl Slot {
    /// Returns the set if it may be used, after fetching it where it has to be.
    fn current(&self, source: &dyn KeySource) -> Option<Arc<Set>> {
        if let Some(set) = self.fresh() {
            return Some(set);
        }
        let mut pause = self.pause.lock().unwrap_or_else(PoisonError::into_inner);
        // Somebody else may have fetched it meanwhile, or tried to.
        if let Some(set) = self.fresh() {
            return Some(set);
        }
        if pause.until.is_some_and(|until| Instant::now() < until) {
            return None;
        }
        match fetch(source, &self.address) {
            Ok(set) => {
                let set = Arc::new(set);
                self.set.store(Some(Arc::clone(&set)));
                *pause = Pause::default();
                Some(set)
            }
            Err(_) => {
                // The pause grows from one second to a minute, so that a dead server costs almost
                // nothing.
                pause.length = (pause.length * 2).clamp(PAUSE_MIN, PAUSE_MAX);
                pause.until = Instant::now().checked_add(pause.length);
                None
            }
        }
    }

    /// Returns the set that was fetched last, unless its time is over.
    fn fresh(&self) -> Option<Arc<Set>> {
        let set = self.set.load_full()?;
        set.until.is_none_or(|until| Instant::now() < until).then_some(set)
    }
}

/// Fetches the set of an address and reads it.
fn fetch(source: &dyn KeySource, address: &str) -> Result<Set, KeyError> {
    let fetched = source.fetch(address)?;
    let set: JwkSet = serde_json::from_str(&fetched.text).map_err(|error| KeyError::NoSet {
        address: address.to_owned(),
        line: error.line(),
        column: error.column(),
    })?;
    // A key without a name can't be requested: tokens name the key that signed them.
    let keys = set.keys.iter().filter_map(|jwk| {
        let name = jwk.common.key_id.clone()?;
        Some((name, NamedKey::of(jwk)?))
    });
    let until = fetched.lifetime.and_then(|lifetime| Instant::now().checked_add(lifetime));
    Ok(Set { keys: keys.collect(), until })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    const SET: &str = r#"{"keys": [{"kty": "oct", "kid": "k", "k": "c2VjcmV0"}]}"#;

    /// Answers while it has something to answer with, and counts.
    #[derive(Default)]
    struct Scripted {
        answers: Mutex<Vec<FetchedKeys>>,
        requested: Mutex<usize>,
    }

    impl KeySource for Scripted {
        fn fetch(&self, address: &str) -> Result<FetchedKeys, KeyError> {
            *self.requested.lock().unwrap() += 1;
            let dead =
                || KeyError::Unanswered { address: address.to_owned(), reason: "dead".to_owned() };
            self.answers.lock().unwrap().pop().ok_or_else(dead)
        }
    }

    #[test]
    fn old_keys_end_and_dead_servers_are_left_alone() {
        let source = Arc::new(Scripted::default());
        let lifetime = Some(Duration::from_millis(30));
        source.answers.lock().unwrap().push(FetchedKeys { text: SET.to_owned(), lifetime });
        let sets = KeySets::new(&["a".to_owned()], Arc::clone(&source) as _).expect("a set");
        assert_eq!(sets.find("k").len(), 1);
        thread::sleep(Duration::from_millis(40));
        for _ in 0..5 {
            assert_eq!(sets.find("k").len(), 0, "their time is over");
        }
        assert_eq!(*source.requested.lock().unwrap(), 2, "one attempt, then a pause");
        source.answers.lock().unwrap().push(FetchedKeys { text: SET.to_owned(), lifetime: None });
        thread::sleep(PAUSE_MIN);
        assert_eq!(sets.find("k").len(), 1);
        assert_eq!(sets.find("other").len(), 0);
    }

    #[test]
    fn sets_may_come_later() {
        let source = Arc::new(Scripted::default());
        let refused = KeySets::new(&["a".to_owned()], Arc::clone(&source) as _).err();
        assert_eq!(refused.map(|why| why.to_string()).as_deref(), Some("a: dead"));
        source.answers.lock().unwrap().push(FetchedKeys { text: SET.to_owned(), lifetime: None });
        let sets = KeySets::later(&["a".to_owned()], Arc::clone(&source) as _);
        assert_eq!(*source.requested.lock().unwrap(), 1);
        assert_eq!(sets.find("k").len(), 1);
    }
}
