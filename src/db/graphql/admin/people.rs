//! The root fields of the administration API about logins, users and groups: their arguments, and
//! what is shown.

use crate::db::Database;
use crate::db::access::{LoginRequest, NewGroup, NewUser, People};
use crate::db::graphql::admin::Instance;
use crate::db::graphql::admin::namespaces::named;
use hexgraph_base::types::{Error, Result};
use hexgraph_graphql::request::{Field, Value};
use hexgraph_store::exec::RequestContext;
use serde_json::{Value as Json, json};

/// Runs a root field about users and groups; `None` for another one.
///
/// # Errors
///
/// Why it can't be executed.
pub(super) fn administer(
    database: &Database,
    field: &Field,
    instance: &Instance<'_>,
) -> Result<Option<Json>> {
    let text = |name: &str| field.arguments.given(name).and_then(Value::as_str).unwrap_or_default();
    let input = field.arguments.given("input");
    let filter = field.arguments.given("filter");
    let context = instance.context;
    let shown = match field.shape.name.as_str() {
        "login" => login(database, field, instance)?,
        "getCurrentUser" => match database.current_user()? {
            Some((name, people)) => Show::of(database, &people, context).user(name, field)?,
            None => Json::Null,
        },
        "getUser" => {
            let people = database.people(needed(field, &[text("name")]).as_deref())?;
            Show::of(database, &people, context).user(text("name"), field)?
        }
        "getGroup" => {
            let people = database.people(needed(field, &[]).as_deref())?;
            Show::of(database, &people, context).group(text("name"), field)?
        }
        "queryUser" => {
            let people = database.people(None)?;
            Show::of(database, &people, context).users(page(people.users.keys(), field), field)?
        }
        "queryGroup" => {
            let people = database.people(needed(field, &[]).as_deref())?;
            Show::of(database, &people, context).groups(page(people.groups.keys(), field), field)?
        }
        "addUser" => {
            let users: Vec<NewUser<'_>> = items(input).iter().map(new_user).collect();
            database.add_users(&users)?;
            let names: Vec<&str> = users.iter().map(|user| user.name).collect();
            changed_users(database, field, &names, context)?
        }
        "addGroup" => {
            let groups: Vec<NewGroup<'_>> = items(input).iter().map(new_group).collect();
            database.add_groups(&groups)?;
            let names: Vec<&str> = groups.iter().map(|group| group.0).collect();
            changed_groups(database, field, &names, context)?
        }
        "updateUser" => update_users(database, field, input, context)?,
        "updateGroup" => update_groups(database, field, input, context)?,
        "deleteUser" => {
            let people = database.people(only_name(filter).as_deref())?;
            deleted(database.delete_users(&matching(people.users.keys(), filter))?)
        }
        "deleteGroup" => {
            let people = database.people(Some(&[]))?;
            deleted(database.delete_groups(&matching(people.groups.keys(), filter))?)
        }
        "resetPassword" => reset_password(database, input)?,
        _ => return Ok(None),
    };
    Ok(Some(shown))
}

fn update_users(
    database: &Database,
    field: &Field,
    input: Option<&Value>,
    context: &RequestContext,
) -> Result<Json> {
    let part = |name: &str| input.and_then(|input| input.get(name));
    let password = part("set").and_then(|set| set.get("password")?.as_str());
    let people = database.people(only_name(part("filter")).as_deref())?;
    let names = matching(people.users.keys(), part("filter"));
    let (join, leave) = (group_names(part("set")), group_names(part("remove")));
    database.update_users(&names, password, (&join, &leave))?;
    changed_users(database, field, &names, context)
}

fn update_groups(
    database: &Database,
    field: &Field,
    input: Option<&Value>,
    context: &RequestContext,
) -> Result<Json> {
    let part = |name: &str| input.and_then(|input| input.get(name));
    let people = database.people(Some(&[]))?;
    let names = matching(people.groups.keys(), part("filter"));
    let removed = part("remove").and_then(|remove| remove.get("rules"));
    let removed: Vec<&str> = items(removed).iter().filter_map(Value::as_str).collect();
    database.update_groups(&names, (&rules(part("set")), &removed))?;
    changed_groups(database, field, &names, context)
}

fn login(database: &Database, field: &Field, instance: &Instance<'_>) -> Result<Json> {
    let text = |name: &str| {
        field.arguments.given(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let namespace = field.arguments.given("namespace").and_then(Value::as_int).unwrap_or_default();
    let request = LoginRequest {
        user: text("userId"),
        password: text("password"),
        refresh_token: text("refreshToken"),
        namespace: u64::try_from(namespace).unwrap_or(u64::MAX),
        address: instance.client,
    };
    let tokens = database.login_with(&request, instance.context)?;
    Ok(json!({ "response": { "accessJWT": tokens.access, "refreshJWT": tokens.refresh } }))
}

fn reset_password(database: &Database, input: Option<&Value>) -> Result<Json> {
    let text = |name: &str| input.and_then(|input| input.get(name)?.as_str()).unwrap_or_default();
    let (user, password) = (text("userId"), text("password"));
    let database = named(database, input)?;
    if !database.people(Some(&[user]))?.users.contains_key(user) {
        return Err(Error::query(format!("there is no user {user}")));
    }
    database.update_users(&[user], Some(password), (&[], &[]))?;
    Ok(
        json!({ "userId": user, "message": "Reset password is successful", "namespace": database.namespace_id() }),
    )
}

/// The users that have to be read to show a field: those named, or all where it requests the
/// members of groups.
fn needed<'n>(field: &Field, names: &[&'n str]) -> Option<Vec<&'n str>> {
    fn selects_members(field: &Field) -> bool {
        field.shape.name == "users" || children(field).iter().any(selects_members)
    }
    (!selects_members(field)).then(|| names.to_vec())
}

fn children(field: &Field) -> &[Field] {
    field.selection.only().unwrap_or_default()
}

fn child<'f>(field: &'f Field, name: &str) -> Option<&'f Field> {
    children(field).iter().find(|child| child.shape.name == name)
}

/// An object with a name and another member: a map's first node has positions for eleven, and each
/// name has a text of its own.
const OBJECT_LEN: usize = 1 << 10;

/// What of users and groups is shown.
struct Show<'a> {
    people: &'a People,
    context: &'a RequestContext,
}

impl<'a> Show<'a> {
    /// What a request shows, within the limits of the database.
    fn of(database: &Database, people: &'a People, context: &'a RequestContext) -> Show<'a> {
        database.prepare(context);
        Show { people, context }
    }

    /// A user with as much of the groups as is requested, since these have users again.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`]: two groups of a user are four at the second level, and a thousand at the
    /// tenth.
    fn user(&self, name: &str, field: &Field) -> Result<Json> {
        let Some(user) = self.people.users.get(name) else { return Ok(Json::Null) };
        self.charge(1)?;
        let mut shown = json!({ "name": name });
        // The same field may be requested under several names: what is shown has what any of them
        // requests.
        for requested in children(field).iter().filter(|child| child.shape.name == "groups") {
            let groups = user.groups.iter().map(|group| self.group(group, requested));
            let groups: Vec<Json> = groups.collect::<Result<_>>()?;
            let groups = groups.into_iter().filter(|group| !group.is_null());
            merge(&mut shown["groups"], groups.collect());
        }
        Ok(shown)
    }

    fn group(&self, name: &str, field: &Field) -> Result<Json> {
        let Some(group) = self.people.groups.get(name) else { return Ok(Json::Null) };
        self.charge(1 + group.rules.len())?;
        let rules = group.rules.iter().map(
            |(predicate, rule)| json!({ "predicate": predicate, "permission": rule.permission }),
        );
        let mut shown = json!({ "name": name, "rules": rules.collect::<Vec<_>>() });
        for requested in children(field).iter().filter(|child| child.shape.name == "users") {
            let members = self.people.users.iter().filter(|(_, user)| user.groups.contains(name));
            let members = members.map(|(user, _)| self.user(user, requested));
            merge(&mut shown["users"], members.collect::<Result<_>>()?);
        }
        Ok(shown)
    }

    fn users<'n>(&self, names: impl IntoIterator<Item = &'n str>, field: &Field) -> Result<Json> {
        names.into_iter().map(|name| self.user(name, field)).collect()
    }

    fn groups<'n>(&self, names: impl IntoIterator<Item = &'n str>, field: &Field) -> Result<Json> {
        names.into_iter().map(|name| self.group(name, field)).collect()
    }

    fn charge(&self, objects: usize) -> Result<()> {
        self.context.check()?;
        self.context.charge(objects.saturating_mul(OBJECT_LEN))
    }
}

/// Adds the members of objects to those of others, position by position.
fn merge(existing: &mut Json, more: Vec<Json>) {
    let Json::Array(existing) = existing else {
        *existing = more.into();
        return;
    };
    for (existing, more) in existing.iter_mut().zip(more) {
        let (Json::Object(existing), Json::Object(more)) = (existing, more) else { continue };
        for (name, value) in more {
            match (existing.get_mut(&name), value) {
                (Some(inner @ Json::Array(_)), Json::Array(value)) => merge(inner, value),
                (_, value) => drop(existing.insert(name, value)),
            }
        }
    }
}

fn changed_users(
    database: &Database,
    field: &Field,
    names: &[&str],
    context: &RequestContext,
) -> Result<Json> {
    let Some(requested) = child(field, "user") else { return Ok(json!({})) };
    let people = database.people(needed(requested, names).as_deref())?;
    let show = Show::of(database, &people, context);
    Ok(json!({ "user": show.users(names.iter().copied(), requested)? }))
}

fn changed_groups(
    database: &Database,
    field: &Field,
    names: &[&str],
    context: &RequestContext,
) -> Result<Json> {
    let Some(requested) = child(field, "group") else { return Ok(json!({})) };
    let people = database.people(needed(requested, &[]).as_deref())?;
    let show = Show::of(database, &people, context);
    Ok(json!({ "group": show.groups(names.iter().copied(), requested)? }))
}

fn deleted(count: usize) -> Json {
    let message = if count == 0 { "No nodes were deleted" } else { "Deleted" };
    json!({ "msg": message, "numUids": count })
}

fn items(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_list).unwrap_or_default()
}

fn new_user(input: &Value) -> NewUser<'_> {
    let text = |name: &str| input.get(name).and_then(Value::as_str).unwrap_or_default();
    NewUser { name: text("name"), password: text("password"), groups: group_names(Some(input)) }
}

fn new_group(input: &Value) -> NewGroup<'_> {
    let name = input.get("name").and_then(Value::as_str).unwrap_or_default();
    (name, rules(Some(input)))
}

fn group_names(input: Option<&Value>) -> Vec<&str> {
    let groups = items(input.and_then(|input| input.get("groups")));
    groups.iter().filter_map(|group| group.get("name")?.as_str()).collect()
}

fn rules(input: Option<&Value>) -> Vec<(&str, i64)> {
    items(input.and_then(|input| input.get("rules"))).iter().filter_map(rule_of).collect()
}

fn rule_of(rule: &Value) -> Option<(&str, i64)> {
    Some((rule.get("predicate")?.as_str()?, rule.get("permission")?.as_int()?))
}

/// The name that a filter requests, where it requests nothing else: then no other user has to be
/// read.
fn only_name(filter: Option<&Value>) -> Option<Vec<&str>> {
    let Some(Value::Object(parts)) = filter else { return None };
    match &parts[..] {
        [(part, requested)] if part == "name" => Some(vec![requested.get("eq")?.as_str()?]),
        _ => None,
    }
}

/// The names that match a filter; all where there is none.
fn matching<'n>(names: impl Iterator<Item = &'n String>, filter: Option<&Value>) -> Vec<&'n str> {
    names.map(String::as_str).filter(|name| filter.is_none_or(|it| holds(it, name))).collect()
}

/// As in filters of a GraphQL API: sibling parts are joined by AND, and `or` by OR.
fn holds(filter: &Value, name: &str) -> bool {
    let expected = filter.get("name").filter(|value| !matches!(value, Value::Null));
    let own = expected.is_none_or(|expected| match expected.get("eq") {
        None | Some(Value::Null) => true,
        Some(text) => text.as_str() == Some(name),
    });
    let given = |key: &str| filter.get(key).filter(|value| !matches!(value, Value::Null));
    let all = own
        && given("and").is_none_or(|part| holds(part, name))
        && given("not").is_none_or(|part| !holds(part, name));
    all || given("or").is_some_and(|part| holds(part, name))
}

/// The names that a field requests: filtered, in order, and a page of them.
fn page<'n>(names: impl Iterator<Item = &'n String>, field: &Field) -> Vec<&'n str> {
    let mut names = matching(names, field.arguments.given("filter"));
    if field.arguments.given("order").and_then(|order| order.get("desc")).is_some() {
        names.reverse();
    }
    let number = |name: &str| {
        let given = field.arguments.given(name).and_then(Value::as_int);
        given.map(|number| usize::try_from(number).unwrap_or_default())
    };
    let names = names.into_iter().skip(number("offset").unwrap_or_default());
    names.take(number("first").unwrap_or(usize::MAX)).collect()
}
