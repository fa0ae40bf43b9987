//! Tells who wants to know that a predicate has changed: subscriptions, which ask again then.

use super::version::Version;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::Weak;

/// Who wants to know what.
#[derive(Default)]
pub struct Watches {
    list: Mutex<Vec<Weak<Watch>>>,
}

/// A wish to know when one of some predicates changes, as long as it lives.
pub struct Watch {
    names: Vec<Arc<str>>,
    wake: Box<dyn Fn() + Send + Sync>,
}

impl Watches {
    /// Has `wake` called by whoever publishes a version in which one of the predicates `names` is
    /// not what it was before. It must be quick and must not commit.
    pub fn watch(
        &self,
        names: Vec<Arc<str>>,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Arc<Watch> {
        let watch = Arc::new(Watch { names, wake: Box::new(wake) });
        self.lock().push(Arc::downgrade(&watch));
        watch
    }

    /// Tells those who want to know what differs between two versions. Costs a look at each
    /// predicate that somebody wants to know of.
    pub fn tell(&self, old: &Version, new: &Version) {
        let live: Vec<Arc<Watch>> = {
            let mut list = self.lock();
            if list.is_empty() {
                return;
            }
            list.retain(|watch| 0 < watch.strong_count());
            list.iter().filter_map(Weak::upgrade).collect()
        };
        for watch in live {
            if watch.names.iter().any(|name| differs(old, new, name)) {
                (watch.wake)();
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Weak<Watch>>> {
        // Nothing that runs under the lock panics halfway.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a predicate is not the same in two versions.
fn differs(old: &Version, new: &Version, name: &str) -> bool {
    match (old.predicate(name), new.predicate(name)) {
        (Some(one), Some(other)) => !Arc::ptr_eq(one, other),
        (None, None) => false,
        _ => true,
    }
}
