//! Tells who wants to know that a predicate has changed: subscriptions, which ask again then.
//!
//! Those who want to know are listed by predicate, so a commit costs a look at each predicate that anybody watches, and at
//! those who watch the ones that changed; not at all the others.

use crate::graph::version::whole::Version;
use hexgraph_base::types::sync::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, Weak};

/// Who wants to know what.
#[derive(Default)]
pub(in crate::graph) struct Watches {
    lists: Mutex<Lists>,
}

#[derive(Default)]
struct Lists {
    /// Those who watch a predicate.
    by_name: HashMap<Arc<str>, Vec<Weak<Watch>>>,
    /// Those who watch all there are and will be.
    of_all: Vec<Weak<Watch>>,
}

/// A wish to know when one of some predicates changes, as long as it lives.
pub struct Watch {
    wake: Box<dyn Fn() + Send + Sync>,
}

impl Watches {
    /// Has `wake` called by whoever publishes a version in which one of the predicates `names` is
    /// not what it was before, once or more often; without names, any version. It must be quick and
    /// must not commit.
    pub(in crate::graph) fn watch(
        &self,
        names: Option<Vec<Arc<str>>>,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Arc<Watch> {
        let watch = Arc::new(Watch { wake: Box::new(wake) });
        let mut lists = self.lock();
        match names {
            None => add(&mut lists.of_all, &watch),
            Some(names) => {
                for name in names {
                    add(lists.by_name.entry(name).or_default(), &watch);
                }
            }
        }
        watch
    }

    /// Tells those who want to know what differs between two versions.
    pub(in crate::graph) fn tell(&self, old: &Version, new: &Version) {
        // Woken outside of the lock, and dropped there: one who lets go of his watch may hold others.
        let mut woken: Vec<Arc<Watch>> = Vec::new();
        {
            let mut lists = self.lock();
            live(&mut lists.of_all, &mut woken);
            let mut is_left = false;
            for (name, list) in &mut lists.by_name {
                if !old.has_same(new, name) {
                    live(list, &mut woken);
                    is_left |= list.is_empty();
                }
            }
            if is_left {
                lists.by_name.retain(|_, list| !list.is_empty());
            }
        }
        woken.sort_unstable_by_key(Arc::as_ptr);
        woken.dedup_by_key(|watch| Arc::as_ptr(watch));
        for watch in woken {
            (watch.wake)();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Lists> {
        // Nothing that runs under the lock panics halfway.
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Puts one more on a list. The dead are taken off whenever the list would have to grow, so a list that nobody
/// reads is at most twice as long as it has to be.
fn add(list: &mut Vec<Weak<Watch>>, watch: &Arc<Watch>) {
    if list.len() == list.capacity() {
        list.retain(|known| 0 < known.strong_count());
    }
    list.push(Arc::downgrade(watch));
}

/// Takes the dead off a list, and notes the others.
fn live(list: &mut Vec<Weak<Watch>>, woken: &mut Vec<Arc<Watch>>) {
    list.retain(|watch| match watch.upgrade() {
        Some(watch) => {
            woken.push(watch);
            true
        }
        None => false,
    });
}
