//! Records which commit wrote each key last, as far back as open transactions need.
//!
//! The first committer wins: a transaction may commit if nobody wrote one of its keys after its
//! snapshot. The table is protected by the writer lock, so it has none of its own. It drops entries
//! that no open transaction can query. At its limit it drops the oldest keys too, and older
//! transactions count as in conflict.

use crate::graph::change::keys::ConflictKey;
use crate::graph::thresholds::Thresholds;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;

/// The keys or predicates that a commit wrote.
pub(in crate::graph) enum Written {
    /// The keys of what was written.
    Keys(Vec<ConflictKey>),
    /// Entire predicates: a load, or a change of the schema.
    Predicates(Vec<Arc<str>>),
}

/// The snapshot that a transaction reads and the keys that it writes. They decide whether it may
/// commit.
#[derive(Clone, Copy)]
pub struct Claim<'a> {
    /// The number of the commit that it reads.
    pub snapshot: u64,
    /// The keys of what it wrote.
    pub keys: &'a [ConflictKey],
    /// The predicates of what it wrote.
    pub names: &'a [Arc<str>],
}

/// The last writers.
pub(in crate::graph) struct Conflicts {
    /// The commit up to which the table has forgotten some of what was written.
    floor: u64,
    last: FxHashMap<ConflictKey, u64>,
    /// The keys of each commit, oldest first.
    commits: VecDeque<(u64, Vec<ConflictKey>)>,
    /// The number of keys in `commits`.
    key_count: usize,
    names: FxHashMap<Arc<str>, u64>,
    /// The bounds of `commits` and `names`.
    thresholds: Thresholds,
}

impl Conflicts {
    /// An empty table, limited to [`Thresholds::conflict_keys_max`] and
    /// [`Thresholds::conflict_names_max`] allow.
    pub(in crate::graph) fn new(thresholds: Thresholds) -> Conflicts {
        Conflicts {
            floor: 0,
            last: FxHashMap::default(),
            commits: VecDeque::new(),
            key_count: 0,
            names: FxHashMap::default(),
            thresholds,
        }
    }

    /// True if a commit after the snapshot of a transaction wrote one of its keys, or if the table
    /// no longer covers that time.
    pub(in crate::graph) fn has(&self, claim: Claim<'_>) -> bool {
        let Claim { snapshot, keys, names } = claim;
        let is_later = |commit: Option<&u64>| commit.is_some_and(|commit| snapshot < *commit);
        let is_claim = !keys.is_empty() || !names.is_empty();
        is_claim && snapshot < self.floor
            || keys.iter().any(|key| is_later(self.last.get(key)))
            || names.iter().any(|name| is_later(self.names.get(name)))
    }

    /// Notes what a commit wrote. `oldest` is the commit that the oldest open transaction reads;
    /// without any, nothing is retained.
    pub(in crate::graph) fn note(&mut self, commit: u64, written: Written, oldest: Option<u64>) {
        let Some(oldest) = oldest else {
            // Transactions that begin from now on read this commit, and query only later ones.
            *self = Conflicts { floor: self.floor, ..Conflicts::new(self.thresholds) };
            return;
        };
        match written {
            Written::Keys(keys) if !keys.is_empty() => {
                self.last.extend(keys.iter().map(|&key| (key, commit)));
                self.key_count += keys.len();
                self.commits.push_back((commit, keys));
            }
            Written::Keys(_) => {}
            Written::Predicates(names) => {
                self.names.extend(names.into_iter().map(|name| (name, commit)));
            }
        }
        self.forget(oldest);
    }

    fn forget(&mut self, oldest: u64) {
        let Thresholds { conflict_keys_max, conflict_names_max, .. } = self.thresholds;
        while let Some((commit, _)) = self.commits.front()
            && (*commit <= oldest || conflict_keys_max < self.key_count)
        {
            let (commit, keys) = self.commits.pop_front().expect("there is a first one");
            self.key_count -= keys.len();
            for key in &keys {
                // Else a later commit wrote it too, and that entry stays.
                if self.last.get(key) == Some(&commit) {
                    self.last.remove(key);
                }
            }
            if oldest < commit {
                // Dropped although still needed: transactions with an older snapshot are refused
                // from now on.
                self.floor = commit;
            }
        }
        if conflict_names_max < self.names.len() {
            self.names.retain(|_, commit| oldest < *commit);
        }
        if conflict_names_max < self.names.len() {
            self.floor = self.names.drain().map(|(_, commit)| commit).fold(self.floor, u64::max);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(snapshot: u64, keys: &[ConflictKey]) -> Claim<'_> {
        Claim { snapshot, keys, names: &[] }
    }

    #[test]
    fn later_writers_conflict() {
        let mut table = Conflicts::new(Thresholds::small());
        table.note(5, Written::Keys(vec![1, 2]), Some(3));
        table.note(6, Written::Keys(vec![2, 3]), Some(3));
        table.note(7, Written::Predicates(vec!["p".into()]), Some(3));
        let cases: [(u64, &[ConflictKey], bool); 6] = [
            (4, &[1], true),
            (5, &[1], false),
            (5, &[9, 2], true),
            (6, &[1, 2, 3], false),
            (4, &[9], false),
            (3, &[], false),
        ];
        for (snapshot, keys, want) in cases {
            assert_eq!(table.has(claim(snapshot, keys)), want, "{snapshot} {keys:?}");
        }
        let names = ["p".into()];
        assert!(table.has(Claim { snapshot: 6, keys: &[], names: &names }));
        assert!(!table.has(Claim { snapshot: 7, keys: &[], names: &names }));
    }

    #[test]
    fn entries_older_than_all_transactions_are_removed() {
        let mut table = Conflicts::new(Thresholds::small());
        table.note(5, Written::Keys(vec![1, 2]), Some(3));
        table.note(6, Written::Keys(vec![2]), Some(5));
        assert_eq!((table.last.len(), table.key_count, table.commits.len()), (1, 1, 1));
        assert!(table.has(claim(5, &[2])));
        table.note(7, Written::Keys(vec![3]), None);
        assert_eq!((table.last.len(), table.key_count, table.floor), (0, 0, 0));
    }

    #[test]
    fn too_many_keys_raise_the_floor() {
        let mut table = Conflicts::new(Thresholds::small());
        for commit in 2..200 {
            table.note(commit, Written::Keys(vec![commit]), Some(1));
            table.note(commit, Written::Predicates(vec![commit.to_string().into()]), Some(1));
        }
        let Thresholds { conflict_keys_max, conflict_names_max, .. } = table.thresholds;
        assert!(table.last.len() <= conflict_keys_max && table.names.len() <= conflict_names_max);
        assert!(table.has(claim(1, &[0])) && !table.has(claim(1, &[])));
        assert!(table.has(claim(198, &[199])) && !table.has(claim(199, &[199])));
    }
}
