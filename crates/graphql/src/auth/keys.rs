//! Sets of keys that are fetched from addresses (JWK), each kept for as long as it says.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use jsonwebtoken::jwk::{Jwk, JwkSet, KeyAlgorithm, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};

use crate::auth::KeyError;

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
    fn fetch(&self, address: &str) -> Result<FetchedKeys, KeyError>;
}

/// How long nobody asks again after a failure, the first time; twice as long after each further one.
const PAUSE_MIN: Duration = Duration::from_secs(1);

/// The longest such time.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// The sets of some addresses, in their order.
pub(super) struct KeySets {
    source: Arc<dyn KeySource>,
    slots: Vec<Slot>,
}

/// The set of one address.
struct Slot {
    address: String,
    /// `None` before it was fetched.
    set: ArcSwapOption<Set>,
    /// Held by the one that fetches; others wait for it.
    pause: Mutex<Pause>,
}

/// When the next attempt may be made, and how long the pause before it was.
#[derive(Default)]
struct Pause {
    until: Option<Instant>,
    length: Duration,
}

struct Set {
    keys: HashMap<String, NamedKey>,
    until: Option<Instant>,
}

/// A key, and what it is for.
#[derive(Clone)]
pub(super) struct NamedKey {
    /// What signatures are checked with.
    pub key: DecodingKey,
    algorithm: Option<KeyAlgorithm>,
}

impl NamedKey {
    /// A key of a set that checks signatures; `None` for others.
    fn of(jwk: &Jwk) -> Option<NamedKey> {
        let common = &jwk.common;
        let signs = common.public_key_use.as_ref().is_none_or(|it| *it == PublicKeyUse::Signature);
        let operations = common.key_operations.as_ref();
        let verifies = operations.is_none_or(|known| known.contains(&KeyOperations::Verify));
        if !signs || !verifies {
            return None;
        }
        let key = DecodingKey::from_jwk(jwk).ok()?;
        Some(NamedKey { key, algorithm: common.key_algorithm })
    }

    /// Whether it is for signatures of this kind: a key that says for which it is, is for no other.
    pub(super) fn is_for(&self, algorithm: Algorithm) -> bool {
        self.algorithm.is_none_or(|known| known == KeyAlgorithm::from(algorithm))
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

    /// Fetches each set when it is needed first.
    pub(super) fn later(addresses: &[String], source: Arc<dyn KeySource>) -> KeySets {
        let slot = |address: &String| Slot {
            address: address.clone(),
            set: ArcSwapOption::default(),
            pause: Mutex::default(),
        };
        KeySets { source, slots: addresses.iter().map(slot).collect() }
    }

    /// The key of a name in each set that has it. Sets past their time are fetched again first; when that fails, they
    /// have no key, and nobody asks again for a while.
    pub(super) fn find(&self, name: &str) -> Vec<NamedKey> {
        let sets = self.slots.iter().filter_map(|slot| slot.current(&*self.source));
        sets.filter_map(|set| set.keys.get(name).cloned()).collect()
    }
}

impl Slot {
    /// The set, if it may be used.
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
                pause.length = (pause.length * 2).clamp(PAUSE_MIN, PAUSE_MAX);
                pause.until = Instant::now().checked_add(pause.length);
                None
            }
        }
    }

    fn fresh(&self) -> Option<Arc<Set>> {
        let set = self.set.load_full()?;
        set.until.is_none_or(|until| Instant::now() < until).then_some(set)
    }
}

fn fetch(source: &dyn KeySource, address: &str) -> Result<Set, KeyError> {
    let fetched = source.fetch(address)?;
    let set: JwkSet = serde_json::from_str(&fetched.text).map_err(|error| KeyError::NoSet {
        address: address.to_owned(),
        line: error.line(),
        column: error.column(),
    })?;
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
        asked: Mutex<usize>,
    }

    impl KeySource for Scripted {
        fn fetch(&self, address: &str) -> Result<FetchedKeys, KeyError> {
            *self.asked.lock().unwrap() += 1;
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
        assert_eq!(*source.asked.lock().unwrap(), 2, "one attempt, then a pause");
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
        assert_eq!(*source.asked.lock().unwrap(), 1);
        assert_eq!(sets.find("k").len(), 1);
    }
}
