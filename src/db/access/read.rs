//! Reads groups, rules and users from the graph.

use super::GUARDIANS;
use super::definitions::{GROUP_RULE, RULE_PERMISSION, RULE_PREDICATE, USER_GROUP, XID};
use super::rights::Permissions;
use super::rules::{Member, Rules};
use crate::db::database::Database;
use crate::db::query::objects::objects;
use crate::db::query::plans::Variables;
use hexgraph_base::types::{Error, Result, Uid};
use hexgraph_dql::ParameterValue;
use hexgraph_store::graph::Version;
use rustc_hash::FxHashMap;
use serde_json::Value as Json;
use std::sync::Arc;

impl Database {
    /// The rules of a version, read again when they have changed since they were requested last:
    /// O(groups and rules).
    ///
    /// # Errors
    ///
    /// `Internal` without an access list; as [`Database::query`].
    pub(super) fn access_rules(&self, version: &Arc<Version>) -> Result<Arc<Rules>> {
        let list = self.access_list().ok_or_else(|| Error::internal("there are no users"))?;
        if let Some(rules) = &*list.rules.load()
            && rules.hold_for(version)
        {
            return Ok(Arc::clone(rules));
        }
        let rules = Arc::new(self.read_rules(version)?);
        list.rules.store(Some(Arc::clone(&rules)));
        Ok(rules)
    }

    fn read_rules(&self, version: &Arc<Version>) -> Result<Rules> {
        let text = format!(
            "{{ groups(func: type(dgraph.type.Group)) {{ {XID} {GROUP_RULE} {{ {RULE_PREDICATE} {RULE_PERMISSION} }} }} }}"
        );
        let result = self.query_full(version, &text, Variables::new())?;
        let mut groups = FxHashMap::<Box<str>, Permissions>::default();
        for group in objects(&result["groups"]) {
            let Some(name) = group[XID].as_str() else { continue };
            let rule = |rule: &Json| {
                // Numbers beyond the rights that there are give none of them.
                let permission = rule[RULE_PERMISSION].as_u64().filter(|sum| *sum <= 7)?;
                Some((rule[RULE_PREDICATE].as_str()?.into(), permission as u8))
            };
            groups.insert(name.into(), objects(&group[GROUP_RULE]).filter_map(rule).collect());
        }
        Ok(Rules::new(version, groups))
    }

    /// A user; `None` when there is none of the name.
    ///
    /// # Errors
    ///
    /// As [`Database::access_rules`].
    pub(super) fn member(&self, version: &Arc<Version>, name: &str) -> Result<Option<Arc<Member>>> {
        let rules = self.access_rules(version)?;
        if let Some(existing) = rules.existing_member(name) {
            return Ok(existing);
        }
        let text = format!(
            "query user($name: string) {{ user(func: eq({XID}, $name)) @filter(type(dgraph.type.User)) {{ uid {USER_GROUP} {{ {XID} }} }} }}"
        );
        let variables =
            Variables::from([("$name".to_owned(), ParameterValue::from(name.to_owned()))]);
        let result = self.query_full(version, &text, variables)?;
        let member = objects(&result["user"]).next().and_then(|user| {
            let names = objects(&user[USER_GROUP]).filter_map(|group| group[XID].as_str());
            let mut groups: Vec<String> = names.map(str::to_owned).collect();
            groups.sort_unstable();
            let uid = user["uid"].as_str()?.strip_prefix("0x")?;
            let uid = Uid(u64::from_str_radix(uid, 16).ok()?);
            Some(Arc::new(Member { uid, groups }))
        });
        rules.retain_member(name, &member);
        Ok(member)
    }

    /// The names of the users who are guardians. O(guardians).
    ///
    /// # Errors
    ///
    /// As [`Database::query`].
    pub(super) fn guardians(&self) -> Result<Vec<String>> {
        let text = format!(
            "query guardians($name: string) {{ group(func: eq({XID}, $name)) @filter(type(dgraph.type.Group)) {{ ~{USER_GROUP} @filter(type(dgraph.type.User)) {{ {XID} }} }} }}"
        );
        let variables = Variables::from([("$name".to_owned(), ParameterValue::from(GUARDIANS))]);
        let result = self.query_full(&self.entire_version()?, &text, variables)?;
        let members =
            objects(&result["group"]).flat_map(|group| objects(&group["~dgraph.user.group"]));
        Ok(members.filter_map(|user| user[XID].as_str().map(str::to_owned)).collect())
    }
}
