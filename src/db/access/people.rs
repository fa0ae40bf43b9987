//! Users, groups and rules as their administrators see and change them.

use super::definitions::{GROUP_RULE, PASSWORD, RULE_PERMISSION, RULE_PREDICATE, USER_GROUP, XID};
use super::{FIRST_USER, GUARDIANS};
use crate::db::change::mutate::{Mutation, MutationRequest};
use crate::db::database::Database;
use crate::db::query::objects::objects;
use crate::db::query::plans::Variables;
use hexgraph_base::types::{Error, Result, Value};
use hexgraph_dql::ParameterValue;
use hexgraph_store::exec::RequestContext;
use hexgraph_store::graph::Statements;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// The longest name of a user or a group, in bytes.
const NAME_LEN_MAX: usize = 256;

const TYPE: &str = "dgraph.type";

/// Users and groups, by their names.
#[derive(Debug, Default)]
pub(in crate::db) struct People {
    pub users: BTreeMap<String, Person>,
    pub groups: BTreeMap<String, Group>,
}

/// A user.
#[derive(Debug, Default)]
pub(in crate::db) struct Person {
    uid: String,
    /// The names of the groups, ascending.
    pub groups: BTreeSet<String>,
}

/// A group.
#[derive(Debug, Default)]
pub(in crate::db) struct Group {
    uid: String,
    /// The rules, by their predicates.
    pub rules: BTreeMap<String, Rule>,
}

/// What the members of a group may do with a predicate.
#[derive(Debug, Default)]
pub(in crate::db) struct Rule {
    uid: String,
    /// The sum of 4 to read, 2 to write and 1 to alter.
    pub permission: i64,
}

/// A user to be made.
#[derive(Default)]
pub(in crate::db) struct NewUser<'a> {
    pub name: &'a str,
    pub password: &'a str,
    pub groups: Vec<&'a str>,
}

/// A group to be made: its name, and predicates with what may be done with them.
pub(in crate::db) type NewGroup<'a> = (&'a str, Vec<(&'a str, i64)>);

impl Database {
    /// All groups, and the users of some names or all.
    ///
    /// # Errors
    ///
    /// `Access` for who is no guardian; as [`Database::query`].
    pub(in crate::db) fn people(&self, names: Option<&[&str]>) -> Result<People> {
        self.check_administrator()?;
        self.all_people(names)
    }

    /// The user the caller, with the groups and their rules.
    ///
    /// # Errors
    ///
    /// `Access` for an unauthenticated caller; as [`Database::query`].
    pub(in crate::db) fn current_user(&self) -> Result<Option<(&str, People)>> {
        self.check_existing()?;
        let Some(name) = self.user() else { return Ok(None) };
        let mut people = self.all_people(Some(&[name]))?;
        let own = people.users.get(name).map(|user| user.groups.clone()).unwrap_or_default();
        people.groups.retain(|group, _| own.contains(group));
        Ok(Some((name, people)))
    }

    /// Makes users, in one commit. Groups that are not there are made, too.
    ///
    /// # Errors
    ///
    /// `Access` for a caller who is no guardian; `Query` for a name that exists or can't be one,
    /// and for a password that is too short.
    pub(in crate::db) fn add_users(&self, users: &[NewUser<'_>]) -> Result<()> {
        self.check_administrator()?;
        let names: Vec<&str> = users.iter().map(|user| user.name).collect();
        let existing = self.all_people(Some(&names))?;
        let mut change = Change::default();
        let mut seen = BTreeSet::new();
        for user in users {
            check_name("user", user.name)?;
            Value::check_password(user.password).map_err(Error::query)?;
            if existing.users.contains_key(user.name)
                || existing.groups.contains_key(user.name)
                || !seen.insert(user.name)
            {
                return Err(name_exists(user.name, "User"));
            }
            let groups = change.groups(&existing, &user.groups)?;
            change.set.push(json!({
                XID: user.name, PASSWORD: user.password, TYPE: "dgraph.type.User",
                USER_GROUP: groups,
            }));
        }
        self.execute_change(change)
    }

    /// Makes groups, in one commit.
    ///
    /// # Errors
    ///
    /// As [`Database::add_users`].
    pub(in crate::db) fn add_groups(&self, groups: &[NewGroup<'_>]) -> Result<()> {
        self.check_administrator()?;
        let names: Vec<&str> = groups.iter().map(|(name, _)| *name).collect();
        let existing = self.all_people(Some(&names))?;
        let mut change = Change::default();
        let mut seen = BTreeSet::new();
        for (name, rules) in groups {
            check_name("group", name)?;
            if existing.groups.contains_key(*name)
                || existing.users.contains_key(*name)
                || !seen.insert(*name)
            {
                return Err(name_exists(name, "Group"));
            }
            let rules = rules.iter().map(|(predicate, permission)| rule(predicate, *permission));
            let rules = rules.collect::<Result<Vec<Json>>>()?;
            change.set.push(json!({ XID: name, TYPE: "dgraph.type.Group", GROUP_RULE: rules }));
        }
        self.execute_change(change)
    }

    /// Gives users another password, and has them join groups and leave some.
    ///
    /// # Errors
    ///
    /// As [`Database::add_users`]; `Query` when nobody would be a guardian any more.
    pub(in crate::db) fn update_users(
        &self,
        names: &[&str],
        password: Option<&str>,
        (join, leave): (&[&str], &[&str]),
    ) -> Result<()> {
        self.check_administrator()?;
        password.map_or(Ok(()), Value::check_password).map_err(Error::query)?;
        let existing = self.all_people(Some(names))?;
        if leave.contains(&GUARDIANS) {
            self.check_guardians_left(names)?;
        }
        let mut change = Change::default();
        for user in names.iter().filter_map(|name| existing.users.get(*name)) {
            let groups = change.groups(&existing, join)?;
            let mut set = json!({ "uid": &user.uid, USER_GROUP: groups });
            if let Some(password) = password {
                set[PASSWORD] = password.into();
            }
            change.set.push(set);
            let left = leave.iter().filter_map(|name| existing.groups.get(*name));
            let left: Vec<Json> = left.map(|group| json!({ "uid": &group.uid })).collect();
            if !left.is_empty() {
                change.delete.push(json!({ "uid": &user.uid, USER_GROUP: left }));
            }
        }
        self.execute_change(change)
    }

    /// Sets rules of groups, and removes those of some predicates.
    ///
    /// # Errors
    ///
    /// As [`Database::add_users`].
    pub(in crate::db) fn update_groups(
        &self,
        names: &[&str],
        (set, remove): (&[(&str, i64)], &[&str]),
    ) -> Result<()> {
        self.check_administrator()?;
        let existing = self.all_people(Some(&[]))?;
        let mut change = Change::default();
        for group in names.iter().filter_map(|name| existing.groups.get(*name)) {
            let mut rules = Vec::new();
            for (predicate, permission) in set {
                let mut new = rule(predicate, *permission)?;
                if let Some(old) = group.rules.get(*predicate) {
                    new["uid"] = old.uid.as_str().into();
                }
                rules.push(new);
            }
            change.set.push(json!({ "uid": &group.uid, GROUP_RULE: rules }));
            change.remove_rules(group, |predicate| remove.contains(&predicate));
        }
        self.execute_change(change)
    }

    /// Deletes users. Returns how many there were.
    ///
    /// # Errors
    ///
    /// As [`Database::add_users`]; `Query` for the first user, and when nobody would be a guardian
    /// any more.
    pub(in crate::db) fn delete_users(&self, names: &[&str]) -> Result<usize> {
        self.check_administrator()?;
        if names.contains(&FIRST_USER) {
            return Err(Error::query("guardians group and groot user cannot be deleted."));
        }
        self.check_guardians_left(names)?;
        let existing = self.all_people(Some(names))?;
        let mut change = Change::default();
        for user in existing.users.values() {
            change.delete.push(json!({ "uid": &user.uid }));
        }
        self.execute_change(change)?;
        Ok(existing.users.len())
    }

    /// Deletes groups with their rules. Returns how many there were.
    ///
    /// # Errors
    ///
    /// As [`Database::add_users`]; `Query` for the group of guardians.
    pub(in crate::db) fn delete_groups(&self, names: &[&str]) -> Result<usize> {
        self.check_administrator()?;
        if names.contains(&GUARDIANS) {
            return Err(Error::query("guardians group and groot user cannot be deleted."));
        }
        let existing = self.all_people(None)?;
        let mut change = Change::default();
        let gone: Vec<_> =
            names.iter().filter_map(|name| existing.groups.get_key_value(*name)).collect();
        for (name, group) in &gone {
            change.remove_rules(group, |_| true);
            change.delete.push(json!({ "uid": &group.uid }));
            let members = existing.users.values().filter(|user| user.groups.contains(*name));
            let leave = members
                .map(|user| json!({ "uid": &user.uid, USER_GROUP: [{ "uid": &group.uid }] }));
            change.delete.extend(leave);
        }
        self.execute_change(change)?;
        Ok(gone.len())
    }

    /// Checks that there is a guardian other than these users.
    fn check_guardians_left(&self, names: &[&str]) -> Result<()> {
        let guardians = self.without_caller().guardians()?;
        match guardians.iter().any(|name| !names.contains(&name.as_str())) {
            true => Ok(()),
            false => Err(Error::query("nobody would be a guardian any more")
                .with_hint("have another user join the group guardians first")),
        }
    }

    fn all_people(&self, names: Option<&[&str]>) -> Result<People> {
        let mut variables = Variables::new();
        let (header, root) = match names {
            None => ("query".to_owned(), "func: type(dgraph.type.User)".to_owned()),
            Some([]) => ("query".to_owned(), "func: uid()".to_owned()),
            Some(names) => {
                let mut header = Vec::new();
                for (number, name) in names.iter().enumerate() {
                    header.push(format!("$n{number}: string"));
                    variables.insert(format!("$n{number}"), ParameterValue::from(*name));
                }
                let listed: Vec<String> =
                    (0..names.len()).map(|number| format!("$n{number}")).collect();
                (
                    format!("query people({})", header.join(", ")),
                    format!("func: eq({XID}, [{}])", listed.join(", ")),
                )
            }
        };
        let text = format!(
            "{header} {{
                users({root}) @filter(type(dgraph.type.User)) {{ uid {XID} {USER_GROUP} {{ {XID} }} }}
                groups(func: type(dgraph.type.Group)) {{ uid {XID} {GROUP_RULE} {{ uid {RULE_PREDICATE} {RULE_PERMISSION} }} }}
            }}"
        );
        let result = self.without_caller().query_full(&self.entire_version()?, &text, variables)?;
        let text = |value: &Json| value.as_str().map(str::to_owned);
        let user = |user: &Json| {
            let groups = objects(&user[USER_GROUP]).filter_map(|group| text(&group[XID])).collect();
            Some((text(&user[XID])?, Person { uid: text(&user["uid"])?, groups }))
        };
        let group = |group: &Json| {
            let rule = |rule: &Json| {
                let permission = rule[RULE_PERMISSION].as_i64().unwrap_or_default();
                Some((text(&rule[RULE_PREDICATE])?, Rule { uid: text(&rule["uid"])?, permission }))
            };
            let rules = objects(&group[GROUP_RULE]).filter_map(rule).collect();
            Some((text(&group[XID])?, Group { uid: text(&group["uid"])?, rules }))
        };
        Ok(People {
            users: objects(&result["users"]).filter_map(user).collect(),
            groups: objects(&result["groups"]).filter_map(group).collect(),
        })
    }

    /// Runs a change that was computed by names. If two callers create the same name at once,
    /// uniqueness makes one of them fail.
    fn execute_change(&self, change: Change) -> Result<()> {
        let Change { set, delete, .. } = change;
        if set.is_empty() && delete.is_empty() {
            return Ok(());
        }
        let (set, delete) = (Json::from(set).to_string(), Json::from(delete).to_string());
        let mutation = Mutation {
            set: vec![Statements::Json(&set)],
            delete: vec![Statements::Json(&delete)],
            ..Mutation::default()
        };
        let request = MutationRequest { mutations: vec![mutation], ..MutationRequest::default() };
        self.without_caller().mutate_with(&request, &RequestContext::new()).map(drop)
    }
}

/// A change of users and groups, as objects that are set and deleted.
#[derive(Default)]
struct Change {
    set: Vec<Json>,
    delete: Vec<Json>,
    /// The labels of groups that are made.
    new_groups: BTreeMap<String, String>,
}

impl Change {
    /// The objects of groups. Those that are not there are made.
    fn groups(&mut self, existing: &People, names: &[&str]) -> Result<Vec<Json>> {
        let mut result = Vec::new();
        for name in names {
            if let Some(group) = existing.groups.get(*name) {
                result.push(json!({ "uid": &group.uid }));
                continue;
            }
            check_name("group", name)?;
            let number = self.new_groups.len();
            let label = self.new_groups.get(*name).cloned();
            let label = label.unwrap_or_else(|| {
                let label = format!("_:group{number}");
                self.set.push(json!({ "uid": &label, XID: name, TYPE: "dgraph.type.Group" }));
                self.new_groups.insert((*name).to_owned(), label.clone());
                label
            });
            result.push(json!({ "uid": label }));
        }
        Ok(result)
    }

    /// Deletes the rules of some predicates.
    fn remove_rules(&mut self, group: &Group, is_meant: impl Fn(&str) -> bool) {
        for (_, rule) in group.rules.iter().filter(|(predicate, _)| is_meant(predicate)) {
            self.delete.push(json!({ "uid": &group.uid, GROUP_RULE: [{ "uid": &rule.uid }] }));
            self.delete.push(json!({ "uid": &rule.uid }));
        }
    }
}

fn rule(predicate: &str, permission: i64) -> Result<Json> {
    if predicate.is_empty() {
        return Err(Error::query("a rule names no predicate"));
    }
    if !(0..=7).contains(&permission) {
        return Err(Error::query(format!(
            "the permission of the rule for {predicate} is {permission}: it is a sum of 4 to read, 2 to write and 1 to alter"
        )));
    }
    Ok(json!({
        RULE_PREDICATE: predicate, RULE_PERMISSION: permission, TYPE: "dgraph.type.Rule",
    }))
}

fn check_name(what: &str, name: &str) -> Result<()> {
    if name.is_empty() || NAME_LEN_MAX < name.len() || name.chars().any(char::is_control) {
        return Err(Error::query(format!(
            "{name:?} is no name of a {what}: it has 1 to {NAME_LEN_MAX} bytes, none of them of control"
        )));
    }
    Ok(())
}

fn name_exists(name: &str, kind: &str) -> Error {
    Error::query(format!("id {name} already exists for field name inside type {kind}"))
}
