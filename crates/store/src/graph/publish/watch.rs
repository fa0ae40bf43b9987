//! Calls back when a predicate has changed: a subscription is then computed again.
//!
//! Watches are listed by predicate. A commit costs one comparison for each predicate that is
//! watched, and one call for each watch of a predicate that changed.

use crate::graph::version::graph_version::Version;
use hexgraph_base::types::sync::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, Weak};

/// The watches of a store, listed by the predicates that they are about.
#[derive(Default)]
pub(in crate::graph) struct Watches {
    lists: Mutex<Lists>,
}

#[derive(Default)]
struct Lists {
    /// The watches of each predicate.
    by_name: HashMap<Arc<str>, Vec<Weak<Watch>>>,
    /// The watches that are called after each change, whatever the predicate.
    of_all: Vec<Weak<Watch>>,
}

/// A registration: while it lives, its function is called after each change of one of its
/// predicates.
pub struct Watch {
    wake: Box<dyn Fn() + Send + Sync>,
}

impl Watches {
    /// Registers `wake`, which is called once or more often after each commit that changes one of
    /// the predicates `names`; without names, after any commit. It runs on the publishing thread,
    /// so it must be quick and must not commit.
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

    /// Calls each watch of a predicate that differs between two versions, once.
    pub(in crate::graph) fn notify(&self, old: &Version, new: &Version) {
        // Called and dropped outside of the lock: dropping a watch may release others.
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

/// Appends a watch to a list. Removes dropped ones whenever the list would grow, so its length is
/// at most twice the number of live watches.
fn add(list: &mut Vec<Weak<Watch>>, watch: &Arc<Watch>) {
    if list.len() == list.capacity() {
        list.retain(|existing| 0 < existing.strong_count());
    }
    list.push(Arc::downgrade(watch));
}

/// Removes the watches that were dropped from a list, and appends the others to `woken`.
fn live(list: &mut Vec<Weak<Watch>>, woken: &mut Vec<Arc<Watch>>) {
    list.retain(|watch| match watch.upgrade() {
        Some(watch) => {
            woken.push(watch);
            true
        }
        None => false,
    });
}
