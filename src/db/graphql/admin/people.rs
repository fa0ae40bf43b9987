//! The root fields of the administration API about logins, users and groups: their arguments, and what is shown.

use crate::db::Database;
use crate::db::access::{LoginRequest, NewGroup, NewUser, People};
use crate::db::graphql::admin::Instance;
use crate::db::graphql::admin::namespaces::named;
use hexgraph_base::types::{Error, Result};
use hexgraph_graphql::request::{Field, Value};
use serde_json::{Value as Json, json};

/// Carries out a root field about users and groups; `None` for another one.
///
/// # Errors
///
/// Why it can't be carried out.
pub(super) fn administer(
    database: &Database,
    field: &Field,
    instance: &Instance<'_>,
) -> Result<Option<Json>> {
    let text = |name: &str| field.arguments.given(name).and_then(Value::as_str).unwrap_or_default();
    let input = field.arguments.given("input");
    let filter = field.arguments.given("filter");
    let shown = match field.shape.name.as_str() {
        "login" => login(database, field, instance)?,
        "getCurrentUser" => match database.current_user()? {
            Some((name, people)) => show_user(name, field, &people),
            None => Json::Null,
        },
        "getUser" => {
            let people = database.people(needed(field, &[text("name")]).as_deref())?;
            show_user(text("name"), field, &people)
        }
        "getGroup" => {
            let people = database.people(needed(field, &[]).as_deref())?;
            show_group(text("name"), field, &people)
        }
        "queryUser" => {
            let people = database.people(None)?;
            let names = page(people.users.keys(), field);
            names.into_iter().map(|name| show_user(name, field, &people)).collect()
        }
        "queryGroup" => {
            let people = database.people(needed(field, &[]).as_deref())?;
            let names = page(people.groups.keys(), field);
            names.into_iter().map(|name| show_group(name, field, &people)).collect()
        }
        "addUser" => {
            let users: Vec<NewUser<'_>> = items(input).iter().map(new_user).collect();
            database.add_users(&users)?;
            changed_users(database, field, &users.iter().map(|user| user.name).collect::<Vec<_>>())?
        }
        "addGroup" => {
            let groups: Vec<NewGroup<'_>> = items(input).iter().map(new_group).collect();
            database.add_groups(&groups)?;
            changed_groups(
                database,
                field,
                &groups.iter().map(|group| group.0).collect::<Vec<_>>(),
            )?
        }
        "updateUser" => update_users(database, field, input)?,
        "updateGroup" => update_groups(database, field, input)?,
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

fn update_users(database: &Database, field: &Field, input: Option<&Value>) -> Result<Json> {
    let part = |name: &str| input.and_then(|input| input.get(name));
    let password = part("set").and_then(|set| set.get("password")?.as_str());
    let people = database.people(only_name(part("filter")).as_deref())?;
    let names = matching(people.users.keys(), part("filter"));
    let (join, leave) = (group_names(part("set")), group_names(part("remove")));
    database.update_users(&names, password, (&join, &leave))?;
    changed_users(database, field, &names)
}

fn update_groups(database: &Database, field: &Field, input: Option<&Value>) -> Result<Json> {
    let part = |name: &str| input.and_then(|input| input.get(name));
    let people = database.people(Some(&[]))?;
    let names = matching(people.groups.keys(), part("filter"));
    let removed = part("remove").and_then(|remove| remove.get("rules"));
    let removed: Vec<&str> = items(removed).iter().filter_map(Value::as_str).collect();
    database.update_groups(&names, (&rules(part("set")), &removed))?;
    changed_groups(database, field, &names)
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
    let tokens = database.login(&request, instance.control)?;
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

/// The users that have to be read to show a field: those named, or all where it asks for the members of groups.
fn needed<'n>(field: &Field, names: &[&'n str]) -> Option<Vec<&'n str>> {
    fn asks_members(field: &Field) -> bool {
        field.shape.name == "users" || children(field).iter().any(asks_members)
    }
    (!asks_members(field)).then(|| names.to_vec())
}

fn children(field: &Field) -> &[Field] {
    field.selection.only().unwrap_or_default()
}

fn child<'f>(field: &'f Field, name: &str) -> Option<&'f Field> {
    children(field).iter().find(|child| child.shape.name == name)
}

/// A user with as much of the groups as is asked for, since these have users again.
fn show_user(name: &str, field: &Field, people: &People) -> Json {
    let Some(user) = people.users.get(name) else { return Json::Null };
    let mut shown = json!({ "name": name });
    // The same field may be asked for under several names: what is shown has what any of them asks for.
    for asked in children(field).iter().filter(|child| child.shape.name == "groups") {
        let groups = user.groups.iter().map(|group| show_group(group, asked, people));
        merge(&mut shown["groups"], groups.filter(|group| !group.is_null()).collect());
    }
    shown
}

fn show_group(name: &str, field: &Field, people: &People) -> Json {
    let Some(group) = people.groups.get(name) else { return Json::Null };
    let rules = group
        .rules
        .iter()
        .map(|(predicate, rule)| json!({ "predicate": predicate, "permission": rule.permission }));
    let mut shown = json!({ "name": name, "rules": rules.collect::<Vec<_>>() });
    for asked in children(field).iter().filter(|child| child.shape.name == "users") {
        let members = people.users.iter().filter(|(_, user)| user.groups.contains(name));
        merge(
            &mut shown["users"],
            members.map(|(user, _)| show_user(user, asked, people)).collect(),
        );
    }
    shown
}

/// Adds the members of objects to those of others, place by place.
fn merge(known: &mut Json, more: Vec<Json>) {
    let Json::Array(known) = known else {
        *known = more.into();
        return;
    };
    for (known, more) in known.iter_mut().zip(more) {
        let (Json::Object(known), Json::Object(more)) = (known, more) else { continue };
        for (name, value) in more {
            match (known.get_mut(&name), value) {
                (Some(inner @ Json::Array(_)), Json::Array(value)) => merge(inner, value),
                (_, value) => drop(known.insert(name, value)),
            }
        }
    }
}

fn changed_users(database: &Database, field: &Field, names: &[&str]) -> Result<Json> {
    let Some(asked) = child(field, "user") else { return Ok(json!({})) };
    let people = database.people(needed(asked, names).as_deref())?;
    let shown = names.iter().map(|name| show_user(name, asked, &people));
    Ok(json!({ "user": shown.collect::<Vec<_>>() }))
}

fn changed_groups(database: &Database, field: &Field, names: &[&str]) -> Result<Json> {
    let Some(asked) = child(field, "group") else { return Ok(json!({})) };
    let people = database.people(needed(asked, &[]).as_deref())?;
    let shown = names.iter().map(|name| show_group(name, asked, &people));
    Ok(json!({ "group": shown.collect::<Vec<_>>() }))
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

/// The name that a filter asks for, where it asks for nothing else: then no other user has to be read.
fn only_name(filter: Option<&Value>) -> Option<Vec<&str>> {
    let Some(Value::Object(parts)) = filter else { return None };
    match &parts[..] {
        [(part, asked)] if part == "name" => Some(vec![asked.get("eq")?.as_str()?]),
        _ => None,
    }
}

/// The names of which a filter holds; all where there is none.
fn matching<'n>(names: impl Iterator<Item = &'n String>, filter: Option<&Value>) -> Vec<&'n str> {
    names.map(String::as_str).filter(|name| filter.is_none_or(|it| holds(it, name))).collect()
}

/// As in filters of a GraphQL API: the parts that stand beside each other hold together, and `or` stands between them and its own.
fn holds(filter: &Value, name: &str) -> bool {
    let wanted = filter.get("name").filter(|value| !matches!(value, Value::Null));
    let own = wanted.is_none_or(|wanted| match wanted.get("eq") {
        None | Some(Value::Null) => true,
        Some(text) => text.as_str() == Some(name),
    });
    let given = |key: &str| filter.get(key).filter(|value| !matches!(value, Value::Null));
    let all = own
        && given("and").is_none_or(|part| holds(part, name))
        && given("not").is_none_or(|part| !holds(part, name));
    all || given("or").is_some_and(|part| holds(part, name))
}

/// The names that a field asks for: filtered, in order, and a page of them.
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
