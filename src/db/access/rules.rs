//! The groups and rules of a version, read once for all versions that have the same.

use super::definitions::{GROUP_RULE, RULE_PERMISSION, RULE_PREDICATE, RULING, USER_GROUP, XID};
use super::rights::Rights;
use super::{DEFAULT_PASSWORD, GUARDIANS};
use crate::db::ask::plans::Variables;
use crate::db::ask::query::QueryRequest;
use crate::db::database::Database;
use hexgraph_base::types::{Error, GenerationCache, Result, Uid, Value};
use hexgraph_dql::Given;
use hexgraph_store::exec::Control;
use hexgraph_store::graph::{Predicate, Version};
use rustc_hash::FxHashMap;
use serde_json::Value as Json;
use std::sync::Arc;

/// The most users, and the most sets of groups, of which the rights are kept at hand.
const KEPT_MAX: usize = 10_000;

/// The predicates of the rules of a group, each with the sum of what is allowed.
pub(super) type Permissions = Vec<(Box<str>, u8)>;

/// All groups with their rules, and the users that were asked for.
pub(super) struct Rules {
    /// The predicates that they were read from. A version that has the same has the same rules.
    from: [Option<Arc<Predicate>>; RULING.len()],
    groups: FxHashMap<Box<str>, Permissions>,
    members: GenerationCache<Option<Arc<Member>>>,
    rights: GenerationCache<Arc<Rights>>,
}

/// A user, as logins and requests need one.
pub(super) struct Member {
    pub uid: Uid,
    /// The names of the groups, ascending.
    pub groups: Vec<String>,
}

impl Rules {
    /// Reads the groups and rules of a version. O(groups and rules).
    ///
    /// # Errors
    ///
    /// As [`Database::query`].
    pub(super) fn of(database: &Database, version: &Arc<Version>) -> Result<Rules> {
        let text = format!(
            "{{ groups(func: type(dgraph.type.Group)) {{ {XID} {GROUP_RULE} {{ {RULE_PREDICATE} {RULE_PERMISSION} }} }} }}"
        );
        let found = ask(database, version, &text, Variables::new())?;
        let mut groups = FxHashMap::<Box<str>, Permissions>::default();
        for group in objects(&found["groups"]) {
            let Some(name) = group[XID].as_str() else { continue };
            let rule = |rule: &Json| {
                // Numbers beyond the rights that there are give none of them.
                let permission = rule[RULE_PERMISSION].as_u64().filter(|sum| *sum <= 7)?;
                Some((rule[RULE_PREDICATE].as_str()?.into(), permission as u8))
            };
            groups.insert(name.into(), objects(&group[GROUP_RULE]).filter_map(rule).collect());
        }
        Ok(Rules {
            from: predicates(version),
            groups,
            members: GenerationCache::new(KEPT_MAX, u64::MAX),
            rights: GenerationCache::new(KEPT_MAX, u64::MAX),
        })
    }

    /// Whether a version has the same groups, rules and users.
    pub(super) fn hold_for(&self, version: &Version) -> bool {
        let is_same = |(one, other): (&Option<Arc<Predicate>>, &str)| {
            let other = version.hidden_predicate(other);
            one.as_ref().map(Arc::as_ptr) == other.map(Arc::as_ptr)
        };
        self.from.iter().zip(RULING).all(is_same)
    }

    /// A user of the version that the rules are from; `None` when there is none of the name.
    ///
    /// # Errors
    ///
    /// As [`Database::query`].
    pub(super) fn member(
        &self,
        database: &Database,
        version: &Arc<Version>,
        name: &str,
    ) -> Result<Option<Arc<Member>>> {
        if let Some(known) = self.members.get(name) {
            return Ok(known);
        }
        let text = format!(
            "query user($name: string) {{ user(func: eq({XID}, $name)) @filter(type(dgraph.type.User)) {{ uid {USER_GROUP} {{ {XID} }} }} }}"
        );
        let variables = Variables::from([("$name".to_owned(), Given::from(name.to_owned()))]);
        let found = ask(database, version, &text, variables)?;
        let member = objects(&found["user"]).next().and_then(|user| {
            let names = objects(&user[USER_GROUP]).filter_map(|group| group[XID].as_str());
            let mut groups: Vec<String> = names.map(str::to_owned).collect();
            groups.sort_unstable();
            let uid = user["uid"].as_str()?.strip_prefix("0x")?;
            let uid = Uid(u64::from_str_radix(uid, 16).ok()?);
            Some(Arc::new(Member { uid, groups }))
        });
        self.members.insert(Arc::from(name), &member, name.len() as u64);
        Ok(member)
    }

    /// The rights of the members of some groups, which are ascending.
    pub(super) fn rights(&self, groups: &[&str]) -> Arc<Rights> {
        // No name has a line feed.
        let key = groups.join("\n");
        if let Some(known) = self.rights.get(&key) {
            return known;
        }
        let rights = Arc::new(match groups.contains(&GUARDIANS) {
            true => Rights::of_guardians(),
            false => Rights::of_groups(groups.iter().filter_map(|name| self.groups.get(*name))),
        });
        let bytes = key.len() as u64;
        self.rights.insert(Arc::from(key), &rights, bytes);
        rights
    }
}

/// The hash of a user's password.
pub(super) fn password_hash(version: &Version, user: Uid) -> Option<String> {
    let values = version.hidden_predicate(super::definitions::PASSWORD)?.values("")?;
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

/// The answer to a query of the engine itself.
pub(super) fn ask(
    database: &Database,
    version: &Arc<Version>,
    text: &str,
    variables: Variables,
) -> Result<Json> {
    let request = QueryRequest { text: text.to_owned(), variables, debug: false };
    let control = Control::new();
    let answer = database.query_version(Arc::clone(version), &request, &control)?;
    let (json, _) = answer.to_json_within(&control)?;
    serde_json::from_str(&json).map_err(|error| Error::internal(error.to_string()))
}

/// The objects of a list; none of what is no list.
pub(super) fn objects(value: &Json) -> impl Iterator<Item = &Json> {
    value.as_array().into_iter().flatten()
}
