//! The groups and rules of a version, read once for all versions that have the same.

use super::definitions::{PASSWORD, RULING};
use super::key_role::KeyRole;
use super::rights::{Permissions, Rights};
use super::{DEFAULT_PASSWORD, GUARDIANS};
use hexgraph_base::types::{GenerationCache, Uid, Value};
use hexgraph_store::graph::{Predicate, Version};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The most users, and the most sets of groups, whose rights are cached.
const RETAINED_MAX: usize = 10_000;

/// The most bytes of their names: anybody may request a user of any name.
const CACHED_BYTES_MAX: u64 = 8 << 20;

/// All groups with their rules, and the users that were requested.
pub(super) struct Rules {
    /// The predicates that they were read from. A version that has the same has the same rules.
    from: [Option<Arc<Predicate>>; RULING.len()],
    groups: FxHashMap<Box<str>, Permissions>,
    members: GenerationCache<Option<Arc<Member>>>,
    /// Those of the members of sets of groups: with a role below that of an administrator, and with
    /// that.
    rights: [GenerationCache<Arc<Rights>>; 2],
}

/// A user, as logins and requests need one.
pub(super) struct Member {
    pub uid: Uid,
    /// The names of the groups, ascending.
    pub groups: Vec<String>,
}

impl Rules {
    /// The rules of a version, as they were read from it.
    pub(super) fn new(version: &Version, groups: FxHashMap<Box<str>, Permissions>) -> Rules {
        Rules {
            from: predicates(version),
            groups,
            members: GenerationCache::new(RETAINED_MAX, CACHED_BYTES_MAX),
            rights: [(); 2].map(|()| GenerationCache::new(RETAINED_MAX, CACHED_BYTES_MAX)),
        }
    }

    /// Whether a version has the same groups, rules and users.
    pub(super) fn hold_for(&self, version: &Version) -> bool {
        let is_same = |(one, other): (&Option<Arc<Predicate>>, &str)| {
            let other = version.hidden_predicate(other);
            one.as_ref().map(Arc::as_ptr) == other.map(Arc::as_ptr)
        };
        self.from.iter().zip(RULING).all(is_same)
    }

    /// A user who was requested before, or that there is none of the name; `None` for one who was
    /// not requested.
    pub(super) fn existing_member(&self, name: &str) -> Option<Option<Arc<Member>>> {
        self.members.get(name)
    }

    /// Caches the rights of a user.
    pub(super) fn retain_member(&self, name: &str, member: &Option<Arc<Member>>) {
        self.members.insert(Arc::from(name), member, name.len() as u64);
    }

    /// The rights of the members of some groups, which are ascending, with a role.
    pub(super) fn rights(&self, groups: &[&str], role: KeyRole) -> Arc<Rights> {
        // No name has a line feed.
        let key = groups.join("\n");
        let is_administrator = role == KeyRole::Admin;
        let retained = &self.rights[usize::from(is_administrator)];
        if let Some(existing) = retained.get(&key) {
            return existing;
        }
        let rules = groups.iter().filter_map(|name| self.groups.get(*name));
        let rights = match groups.contains(&GUARDIANS) {
            true if is_administrator => Arc::new(Rights::of_guardians()),
            true => Rights::of_clients(),
            false => Arc::new(Rights::of_groups(rules, role)),
        };
        let bytes = key.len() as u64;
        retained.insert(Arc::from(key), &rights, bytes);
        rights
    }
}

/// The hash of a user's password.
pub(super) fn password_hash(version: &Version, user: Uid) -> Option<String> {
    let values = version.hidden_predicate(PASSWORD)?.values("")?;
    let hash = values.first(version.nodes.node(user)?)?;
    match hash.to_value() {
        Value::Password(hash) => Some(hash),
        _ => None,
    }
}

/// Whether the password of somebody is the one that everybody knows.
pub(super) fn is_default(hash: &str) -> bool {
    Value::verify_password(hash, DEFAULT_PASSWORD).unwrap_or(false)
}

fn predicates(version: &Version) -> [Option<Arc<Predicate>>; RULING.len()] {
    RULING.map(|name| version.hidden_predicate(name).cloned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A login requests a user of any name, and what it finds out is retained.
    #[test]
    fn long_unknown_names_are_evicted_soon() {
        let rules = Rules::new(&Version::empty(), FxHashMap::default());
        let name = |number: u64| format!("{number}{}", "x".repeat(1 << 20));
        (0..64).for_each(|number| rules.retain_member(&name(number), &None));
        let retained =
            (0..64).filter(|number| rules.existing_member(&name(*number)).is_some()).count();
        assert!((1..=8).contains(&retained), "{retained}");
    }
}
