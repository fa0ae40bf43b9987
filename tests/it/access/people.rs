//! What users see and change, what is taken from them, and what attackers try.

use super::site::{PASSWORD, Site};
use crate::wire::site::message;
use hexgraph::db::access::{AccessOptions, LoginRequest};
use hexgraph::db::{Database, OpenOptions, RequestContext};
use hexgraph_server::http::{ServeOptions, Server};
use serde_json::{Value, json};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

fn site() -> Site {
    Site::new(HOUR, None)
}

fn login(site: &Site, body: &Value) -> Value {
    site.send("POST", "/login", "", &body.to_string()).json()
}

#[test]
fn what_may_not_be_read_is_not_there() {
    let site = site();
    let (ada, eve) = (site.token("ada"), site.token("eve"));
    let see = |token: &str, text: &str| {
        let reported = site.query(token, text);
        assert!(reported["errors"].is_null(), "{text}: {reported}");
        reported["data"].to_string()
    };
    // A block that begins with it is absent; a filter by it holds for nothing; its values are
    // nowhere.
    let text = "{ a(func: has(name), orderasc: name) { name secret age } b(func: eq(secret, \"x\")) { name } c(func: has(name)) @filter(eq(secret, \"x\")) { name } d(func: uid(1)) { expand(_all_) { uid } } }";
    assert_eq!(
        see(&ada, text),
        r#"{"a":[{"age":36,"name":"Ada"},{"name":"Bob"}],"c":[],"d":[{"age":36,"friend":[{"uid":"0x2"}],"name":"Ada"}]}"#
    );
    assert_eq!(see(&eve, text), r#"{"c":[],"d":[]}"#.replace("\"c\":[],", ""));
    // Nor does it come through variables, aggregates, orders, groups, counts, paths or cascades.
    for text in [
        "{ var(func: has(secret)) { s as secret } q(func: uid(1)) { val(s) } }",
        "{ q(func: uid(1, 2)) @groupby(secret) { count(uid) } }",
        "{ q(func: uid(1, 2)) { c: count(secret) } }",
        "{ q(func: uid(1)) { friend @filter(regexp(secret, /y/)) { name } } }",
        "{ q(func: uid(1, 2)) @cascade { name secret } }",
        "{ q(func: uid(1)) @normalize { s: secret } }",
    ] {
        let reported = see(&ada, text);
        assert!(
            !reported.contains("\"x\"") && !reported.contains("\"y\"") && !reported.contains("Bob"),
            "{text}: {reported}"
        );
    }
    let schema = see(&ada, "schema {}");
    assert!(
        schema.contains("\"name\"") && !schema.contains("secret") && !schema.contains("dgraph.xid"),
        "{schema}"
    );
    assert_eq!(see(&ada, "schema(pred: [secret]) {}"), see(&ada, "schema(pred: [nothing]) {}"));
    // An order by it is refused, as one by what is not there.
    let order = |name: &str| {
        let text = format!("{{ q(func: uid(1, 2), orderdesc: {name}) {{ uid }} }}");
        site.query(&ada, &text).to_string().replace(name, "*")
    };
    assert_eq!(order("secret"), order("nobody"));
    // A mistake is told without the names of what is hidden.
    let reported = site.query(&ada, "{ q(func: has(name), orderasc: secre) { name } }").to_string();
    assert!(!reported.contains("secret"), "{reported}");
    // Nobody reads passwords, and who is no guardian not even names.
    assert_eq!(see(&ada, "{ q(func: has(dgraph.xid)) { dgraph.xid } }"), "{}");
    let groot = see(
        &site.token("groot"),
        "{ q(func: eq(dgraph.xid, \"ada\")) { dgraph.xid dgraph.password } }",
    );
    assert_eq!(groot, r#"{"q":[{"dgraph.xid":"ada"}]}"#);
}

/// A compact graph that was made for one who may read everything is given to nobody else who may
/// not, neither by its edges nor by what a filter left of them.
#[test]
fn algorithms_see_what_may_be_read() {
    let site = site();
    let (groot, ada, eve) = (site.token("groot"), site.token("ada"), site.token("eve"));
    let full = "{ bfs(source: 0x1) { friend } }";
    let filtered =
        "{ bfs(source: 0x1) @filter(has(secret)) { friend @filter(eq(secret, \"y\")) } }";
    let both = r#"{"bfs":[{"uid":"0x1","bfs":0},{"uid":"0x2","bfs":1}]}"#;
    for _ in 0..2 {
        assert_eq!(site.query(&groot, full)["data"].to_string(), sorted(both));
        assert_eq!(site.query(&groot, filtered)["data"].to_string(), sorted(both));
        assert_eq!(site.query(&ada, full)["data"].to_string(), sorted(both));
        assert_eq!(site.query(&ada, filtered)["data"].to_string(), r#"{"bfs":[]}"#);
        let refused = |name: &str| {
            let reported = site.query(&eve, &format!("{{ bfs(source: 0x1) {{ {name} }} }}"));
            assert!(reported["data"].is_null(), "{reported}");
            message(&reported).replace(name, "*")
        };
        assert_eq!(refused("friend"), refused("nobody"));
    }
}

/// JSON with the keys of objects in their order.
fn sorted(text: &str) -> String {
    serde_json::from_str::<Value>(text).expect("JSON").to_string()
}

#[test]
fn graphql_shows_what_may_be_read() {
    let site = site();
    let (ada, eve) = (site.token("ada"), site.token("eve"));
    let ask = |token: &str, text: &str| site.graphql("/graphql", token, text);
    assert_eq!(
        ask(&ada, "{ queryNote { text hidden } aggregateNote { count } }"),
        json!({ "data": { "queryNote": [{ "text": "Ada", "hidden": null }], "aggregateNote": { "count": 1 } } })
    );
    assert_eq!(ask(&eve, "{ queryNote { text } }"), json!({ "data": { "queryNote": [] } }));
    let none = ask("", "{ queryNote { text } __typename }");
    assert_eq!(
        message(&none),
        "Dgraph query failed because Dgraph execution failed because rpc error: code = Unauthenticated desc = no accessJwt available"
    );
    let reported =
        ask(&ada, "mutation { addNote(input: [{ text: \"b\", hidden: \"c\" }]) { numUids } }");
    assert!(message(&reported).ends_with("code = PermissionDenied desc = unauthorized to mutate following predicates: Note.hidden \n"), "{reported}");
    // What a mutation shows is what its user may read.
    let reported = ask(
        &ada,
        "mutation { updateNote(input: { filter: {}, set: { text: \"b\" } }) { note { text hidden } } }",
    );
    assert_eq!(
        reported,
        json!({ "data": { "updateNote": { "note": [{ "text": "b", "hidden": null }] } } })
    );
}

#[test]
fn writing_and_altering() {
    let site = site();
    let (ada, eve, groot) = (site.token("ada"), site.token("eve"), site.token("groot"));
    let reported = site
        .mutate(&ada, &json!({ "set": { "uid": "0x2", "name": "Eve", "secret": "z", "age": 1 } }));
    assert_eq!(
        message(&reported),
        "rpc error: code = PermissionDenied desc = unauthorized to mutate following predicates: age secret \n"
    );
    let reported = site.mutate(&eve, &json!({ "set": { "name": "Eve" } }));
    assert!(message(&reported).contains("following predicates: name \n"), "{reported}");
    let reported = site.mutate(&ada, &json!({ "set": { "dgraph.xid": "root" } }));
    assert!(message(&reported).contains("following predicates: dgraph.xid \n"), "{reported}");
    // All that a node has: what may be written goes, the rest stays, and the type with it.
    let reported = site.mutate(&ada, &json!({ "delete": { "uid": "0x1" } }));
    assert_eq!(reported["data"]["code"], "Success", "{reported}");
    let left =
        site.query(&groot, "{ q(func: uid(1)) { name age secret friend { uid } dgraph.type } }");
    assert_eq!(left["data"]["q"], json!([{ "age": 36, "secret": "x", "dgraph.type": ["Person"] }]));
    // An upsert finds what its user sees, and changes what its user may.
    let upsert = json!({ "query": "{ v as var(func: eq(secret, \"y\")) }", "set": [{ "uid": "uid(v)", "name": "found" }], "cond": "@if(gt(len(v), 0))" });
    assert_eq!(site.mutate(&ada, &upsert)["data"]["uids"], json!({}));
    let alter = |token: &str, body: &str| site.send("POST", "/alter", token, body).json();
    assert_eq!(alter(&ada, "name: string @index(exact, term) .")["data"]["code"], "Success");
    assert_eq!(
        message(&alter(&ada, "name: string .\nage: int .\ntype T {\nsecret\n}")),
        "rpc error: code = PermissionDenied desc = unauthorized to alter following predicates: age secret \n"
    );
    assert!(
        message(&alter(&ada, "{\"drop_attr\": \"secret\"}"))
            .contains("following predicates: secret \n")
    );
    // Of the fields that a type has, those are named that may be seen.
    let person = "{\"drop_op\": \"TYPE\", \"drop_value\": \"Person\"}";
    let denied = "rpc error: code = PermissionDenied desc = unauthorized to alter";
    for body in [person, "type Person {\nname\n}"] {
        assert_eq!(message(&alter(&ada, body)), format!("{denied} following predicates: age \n"));
    }
    alter(&groot, "type Chest {\nname\nsecret\n}");
    for body in ["type Chest {\nname\n}", &person.replace("Person", "Chest")] {
        let why = format!("{denied} type Chest: it has fields of others\n");
        assert_eq!(message(&alter(&ada, body)), why);
    }
    assert_eq!(
        message(&alter(&ada, "{\"drop_op\": \"DATA\"}")),
        "rpc error: code = PermissionDenied desc = only guardians are allowed to drop all data, but the current user is ada"
    );
    assert!(message(&alter(&groot, "{\"drop_attr\": \"dgraph.xid\"}")).contains("pre-defined"));
    // Without any data the first user is there again, and no other.
    assert_eq!(alter(&groot, "{\"drop_all\": true}")["data"]["code"], "Success");
    assert_eq!(
        login(&site, &json!({ "userid": "ada", "password": PASSWORD }))["data"],
        Value::Null
    );
    let again = site.token("groot");
    assert_eq!(site.query(&again, "{ q(func: has(dgraph.xid), orderasc: dgraph.xid) { dgraph.xid } }")["data"]["q"].as_array().unwrap().len(), 2);
}

#[test]
fn what_is_given_and_taken_holds_at_once() {
    let site = site();
    let (eve, groot) = (site.token("eve"), site.token("groot"));
    let admin = |text: &str| {
        let reported = site.graphql("/admin", &groot, text);
        assert!(reported["errors"].is_null(), "{reported}");
        reported
    };
    let names = || {
        site.query(&eve, "{ q(func: has(name)) { name } }")["data"]["q"]
            .as_array()
            .map_or(0, Vec::len)
    };
    assert_eq!(names(), 0);
    admin(
        "mutation { updateUser(input: { filter: { name: { eq: \"eve\" } }, set: { groups: [{ name: \"dev\" }] } }) { user { name } } }",
    );
    assert_eq!(names(), 2);
    admin(
        "mutation { updateGroup(input: { filter: { name: { eq: \"dev\" } }, remove: { rules: [\"name\"] } }) { group { rules { predicate } } } }",
    );
    assert_eq!(names(), 0);
    admin(
        "mutation { updateGroup(input: { filter: { name: { eq: \"dev\" } }, set: { rules: [{ predicate: \"dgraph.all\", permission: 4 }] } }) { group { name } } }",
    );
    assert_eq!(names(), 2);
    // The text of the GraphQL schema, with its secrets, is not among all.
    for text in [
        "{ q(func: has(dgraph.graphql.schema)) { dgraph.graphql.schema } }",
        "schema(pred: [dgraph.graphql.schema]) {}",
    ] {
        let reported = site.query(&eve, text).to_string();
        assert!(!reported.contains("Note") && !reported.contains("string"), "{reported}");
    }
    // A version that was read before does not give back what was taken since.
    let start = site.send(
        "POST",
        "/query",
        &eve,
        &json!({ "query": "{ q(func: has(name)) { name } }" }).to_string(),
    );
    let start: Value = serde_json::from_slice(&start.body).unwrap();
    let txn = &start["extensions"]["txn"];
    admin(
        "mutation { updateUser(input: { filter: { name: { eq: \"eve\" } }, remove: { groups: [{ name: \"dev\" }] } }) { user { name } } }",
    );
    let path = format!("/query?startTs={}&hash={}", txn["start_ts"], txn["hash"].as_str().unwrap());
    let again = site.send(
        "POST",
        &path,
        &eve,
        &json!({ "query": "{ q(func: has(name)) { name } }" }).to_string(),
    );
    assert_eq!(again.json()["data"], json!({}));
    // Nobody goes on with it without its mark.
    let reported = site
        .send("POST", &format!("/query?startTs={}", txn["start_ts"]), &groot, "{\"query\": \"{}\"}")
        .json();
    assert_eq!(message(&reported), "hash mismatch the claimed startTs|namespace");
    admin("mutation { deleteUser(filter: { name: { eq: \"eve\" } }) { numUids } }");
    let reported = site.query(&eve, "{ q(func: has(name)) { name } }");
    assert_eq!(
        message(&reported),
        "rpc error: code = Unauthenticated desc = unable to parse jwt token: the user is no more"
    );
}

/// Who is made anew under the name of somebody who is gone is another user: what the one before was
/// given opens nothing.
#[test]
fn somebody_else_of_the_same_name_is_another_user() {
    let site = site();
    let (before, groot) = (site.token("ada"), site.token("groot"));
    let refresh = login(&site, &json!({ "userid": "ada", "password": PASSWORD }));
    let refresh = refresh["data"]["refreshJWT"].as_str().unwrap().to_owned();
    let names = |token: &str| site.query(token, "{ q(func: has(name)) { name } }");
    assert_eq!(names(&before)["data"]["q"].as_array().map(Vec::len), Some(2));
    let admin = |text: &str| {
        let reported = site.graphql("/admin", &groot, &format!("mutation {{ {text} }}"));
        assert!(reported["errors"].is_null(), "{reported}");
    };
    admin("deleteUser(filter: { name: { eq: \"ada\" } }) { numUids }");
    admin(&format!(
        "addUser(input: [{{ name: \"ada\", password: \"{PASSWORD}\", groups: [{{ name: \"dev\" }}] }}]) {{ user {{ name }} }}"
    ));
    let why =
        "rpc error: code = Unauthenticated desc = unable to parse jwt token: the user is no more";
    assert_eq!(message(&names(&before)), why);
    assert_eq!(
        message(&login(&site, &json!({ "refresh_token": refresh }))),
        "invalid username or password"
    );
    assert_eq!(names(&site.token("ada"))["data"]["q"].as_array().map(Vec::len), Some(2));
}

/// Clients log in once, drop all data, and go on. The first user is made anew then, and is the same
/// as long as the password is.
#[test]
fn the_first_user_goes_on_after_all_data_were_dropped() {
    let site = site();
    let reported = login(&site, &json!({ "userid": "groot", "password": "password" }));
    let token = |name: &str| reported["data"][name].as_str().unwrap().to_owned();
    let (groot, refresh) = (token("accessJWT"), token("refreshJWT"));
    let again = |refresh: &str| login(&site, &json!({ "refresh_token": refresh }));
    let drop_all = |token: &str| {
        assert_eq!(
            site.send("POST", "/alter", token, "{\"drop_all\": true}").json()["data"]["code"],
            "Success"
        );
    };
    drop_all(&groot);
    assert_eq!(site.query(&groot, "{ q(func: has(name)) { name } }")["data"], json!({ "q": [] }));
    let next = again(&refresh);
    assert!(next["data"]["accessJWT"].is_string(), "{next}");
    let next = next["data"]["refreshJWT"].as_str().unwrap();
    // Another password ends both, and the first one again makes them no better than it.
    let reset = "mutation { resetPassword(input: { userId: \"groot\", password: \"another one\", namespace: 0 }) { message } }";
    assert!(site.graphql("/admin", &groot, reset)["errors"].is_null());
    for refresh in [next, refresh.as_str()] {
        assert_eq!(message(&again(refresh)), "invalid username or password");
    }
    let other = login(&site, &json!({ "userid": "groot", "password": "another one" }));
    let other = other["data"]["refreshJWT"].as_str().unwrap();
    drop_all(&groot);
    assert_eq!(message(&again(other)), "invalid username or password");
}

/// What a transaction has changed is committed by the rights of then, not by those of when it was
/// changed.
#[test]
fn a_right_that_is_taken_away_commits_nothing_more() {
    let site = site();
    let (ada, groot) = (site.token("ada"), site.token("groot"));
    let set = json!({ "set": [{ "uid": "0x9", "name": "Nobody" }] }).to_string();
    let begun = || site.send("POST", "/mutate", &ada, &set).json_with_extensions();
    let commit = |begun: &Value| {
        let txn = &begun["extensions"]["txn"];
        let (start, mark) = (&txn["start_ts"], txn["hash"].as_str().unwrap());
        let keys = json!({ "keys": txn["keys"], "preds": txn["preds"] }).to_string();
        site.send("POST", &format!("/commit?startTs={start}&hash={mark}"), &ada, &keys).json()
    };
    let (first, second) = (begun(), begun());
    assert_eq!(commit(&first)["data"]["code"], "Success");
    site.graphql("/admin", &groot, "mutation { updateGroup(input: { filter: { name: { eq: \"dev\" } }, remove: { rules: [\"name\"] } }) { group { name } } }");
    assert_eq!(
        message(&commit(&second)),
        "rpc error: code = PermissionDenied desc = unauthorized to mutate following predicates: name \n"
    );
}

#[test]
fn logins() {
    let site = site();
    let ada = json!({ "userid": "ada", "password": PASSWORD });
    let reported = login(&site, &ada);
    let refresh = reported["data"]["refreshJWT"].as_str().unwrap().to_owned();
    let again = login(&site, &json!({ "refresh_token": &refresh }));
    let access = again["data"]["accessJWT"].as_str().unwrap().to_owned();
    assert_eq!(
        site.query(&access, "{ q(func: eq(name, \"Ada\")) { age } }")["data"]["q"][0]["age"],
        36
    );
    // Each token is for its own use.
    assert_eq!(
        message(&login(&site, &json!({ "refresh_token": &access }))),
        "invalid username or password"
    );
    let reported = site.query(&refresh, "{ q(func: has(name)) { name } }");
    assert!(message(&reported).contains("it is a token to log in again with"), "{reported}");
    for wrong in [
        json!({}),
        json!({ "userid": "ada", "password": "wrong password" }),
        json!({ "userid": "nobody", "password": PASSWORD }),
        json!({ "userid": "dev", "password": PASSWORD }),
        json!({ "userid": "ada", "password": PASSWORD, "namespace": 7 }),
        json!({ "userid": "ada\") { uid } } #", "password": PASSWORD }),
        json!({ "refresh_token": "a.b.c" }),
    ] {
        assert_eq!(message(&login(&site, &wrong)), "invalid username or password", "{wrong}");
    }
    // Another password ends what was given for the one before.
    let groot = site.token("groot");
    let reset = "mutation { resetPassword(input: { userId: \"ada\", password: \"another one\", namespace: 0 }) { message } }";
    assert!(site.graphql("/admin", &groot, reset)["errors"].is_null());
    assert_eq!(
        message(&login(&site, &json!({ "refresh_token": &refresh }))),
        "invalid username or password"
    );
    assert_eq!(message(&login(&site, &ada)), "invalid username or password");
}

#[test]
fn who_tries_passwords_has_to_wait() {
    let site = site();
    let guess = |user: &str| {
        message(&login(&site, &json!({ "userid": user, "password": "a guess" }))).to_owned()
    };
    let reported: Vec<String> = (0..8).map(|_| guess("groot")).collect();
    assert_eq!(reported[0], "invalid username or password");
    assert!(reported[7].starts_with("too many logins failed: try again in "), "{reported:?}");
    let right = login(&site, &json!({ "userid": "groot", "password": "password" }));
    assert!(message(&right).starts_with("too many logins failed"), "{right}");
    assert!(
        login(&site, &json!({ "userid": "ada", "password": PASSWORD }))["data"]["accessJWT"]
            .is_string()
    );
}

#[test]
fn people_are_administered() {
    let site = site();
    let groot = site.token("groot");
    let admin = |text: &str| site.graphql("/admin", &groot, text);
    let reported = admin(
        "mutation { addUser(input: [{ name: \"eva\", password: \"longenough\", groups: [{ name: \"dev\" }, { name: \"ops\" }] }]) { user { name groups { name users { name } } } } }",
    );
    assert_eq!(
        reported,
        json!({ "data": { "addUser": { "user": [{ "name": "eva", "groups": [{ "name": "dev", "users": [{ "name": "ada" }, { "name": "eva" }] }, { "name": "ops", "users": [{ "name": "eva" }] }] }] } } })
    );
    let reported = admin(
        "{ queryUser(filter: { name: { eq: \"ada\" }, or: { name: { eq: \"eva\" } } }, order: { desc: name }, first: 1) { n: name } getGroup(name: \"nobody\") { name } queryGroup(filter: { not: { name: { eq: \"dev\" } } }, offset: 1) { name } }",
    );
    assert_eq!(
        reported,
        json!({ "data": { "queryUser": [{ "n": "eva" }], "getGroup": null, "queryGroup": [{ "name": "none" }, { "name": "ops" }] } })
    );
    for (text, why) in [
        (
            "addUser(input: [{ name: \"ada\", password: \"longenough\" }]) { user { name } }",
            "id ada already exists for field name inside type User",
        ),
        (
            "addUser(input: [{ name: \"new\", password: \"short\" }]) { user { name } }",
            "failed because a password has at least 6 letters",
        ),
        (
            "addUser(input: [{ name: \"\", password: \"longenough\" }]) { user { name } }",
            "is no name of a user",
        ),
        (
            "addGroup(input: [{ name: \"dev\" }]) { group { name } }",
            "id dev already exists for field name inside type Group",
        ),
        (
            "addGroup(input: [{ name: \"new\", rules: [{ predicate: \"a\", permission: 8 }] }]) { group { name } }",
            "permission of the rule for a is 8",
        ),
        ("deleteUser(filter: { name: { eq: \"groot\" } }) { numUids }", "cannot be deleted"),
        ("deleteGroup(filter: {}) { numUids }", "cannot be deleted"),
        (
            "updateUser(input: { filter: {}, remove: { groups: [{ name: \"guardians\" }] } }) { user { name } }",
            "nobody would be a guardian any more",
        ),
        ("deleteNamespace(input: { namespaceId: 7 }) { namespaceId }", "there is no namespace 7"),
        ("deleteNamespace(input: { namespaceId: 0 }) { namespaceId }", "cannot be deleted"),
        ("addNamespace(input: { password: \"short\" }) { namespaceId }", "password"),
    ] {
        let reported = admin(&format!("mutation {{ {text} }}"));
        assert!(message(&reported).contains(why), "{text}: {reported}");
    }
    assert_eq!(
        admin("mutation { deleteGroup(filter: { name: { eq: \"dev\" } }) { msg numUids } }"),
        json!({ "data": { "deleteGroup": { "msg": "Deleted", "numUids": 1 } } })
    );
    // Its rules are gone with it.
    let left = site.query(&groot, "{ q(func: has(dgraph.rule.predicate)) { uid } u(func: eq(dgraph.xid, \"ada\")) { dgraph.user.group { uid } } }");
    assert_eq!(left["data"], json!({ "q": [], "u": [] }));
}

#[test]
fn users_outlive_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let options = || AccessOptions {
        initial_password: Some("set before".to_owned()),
        ..AccessOptions::new(super::site::SECRET.to_vec())
    };
    let request = |password: &str| LoginRequest {
        user: "groot".to_owned(),
        password: password.to_owned(),
        ..LoginRequest::default()
    };
    let token = {
        let database = Database::open(folder.path(), OpenOptions::default()).unwrap();
        database.enable_access(options()).unwrap();
        assert!(!database.has_default_password().unwrap());
        assert!(database.login_with(&request("password"), &RequestContext::new()).is_err());
        let tokens = database.login_with(&request("set before"), &RequestContext::new()).unwrap();
        database.close().unwrap();
        tokens.access
    };
    // What it holds is read from the log; the first password is not set again.
    let database = Database::open(folder.path(), OpenOptions::default()).unwrap();
    let other = AccessOptions { initial_password: Some("set later".to_owned()), ..options() };
    database.enable_access(other).unwrap();
    assert!(database.login_with(&request("set later"), &RequestContext::new()).is_err());
    assert!(database.login_with(&request("set before"), &RequestContext::new()).is_ok());
    assert_eq!(database.for_token(Some(&token)).user(), Some("groot"));
    assert!(database.enable_access(options()).unwrap_err().to_string().contains("enabled already"));
    // What is exported is the data, without those who may see them.
    let out = folder.path().join("out.rdf");
    database.mutate("<1> <name> \"Ada\" .", "").unwrap();
    database.export_with(&out, &RequestContext::new()).unwrap();
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(text.contains("Ada") && !text.contains("groot") && !text.contains("$2"), "{text}");
    let short = AccessOptions::new(b"too short".to_vec());
    let reported = Database::in_memory().enable_access(short).unwrap_err().to_string();
    assert!(
        reported.contains("has 9 bytes: it needs at least 32") && !reported.contains("too short"),
        "{reported}"
    );
}

#[test]
fn who_may_define_what_can_not_be_read_is_told_no_values() {
    let site = site();
    let groot = site.token("groot");
    let reported = site.graphql("/admin", &groot, "mutation { updateGroup(input: { filter: { name: { eq: \"none\" } }, set: { rules: [{ predicate: \"secret\", permission: 1 }] } }) { group { name } } }");
    assert!(reported["errors"].is_null(), "{reported}");
    let alter = |token: &str, text: &str| {
        let reported = site.send("POST", "/alter", token, text);
        assert_eq!(reported.status, 200, "{}", reported.text());
        reported.text().to_owned()
    };
    let reported = alter(&site.token("eve"), "secret: int .");
    assert!(reported.contains("some values can't be read"), "{reported}");
    assert!(!reported.contains("`x`") && !reported.contains("0x1"), "{reported}");
    let reported = alter(&groot, "secret: float .");
    assert!(reported.contains("`x` of 0x1"), "{reported}");
}

#[test]
fn who_belongs_to_whom_is_not_told_without_end() {
    let mut options = OpenOptions::default();
    options.limits.set("memory", "16MiB").unwrap();
    let database = Database::in_memory_with(options);
    database.enable_access(AccessOptions::new(vec![7; 32])).unwrap();
    let options = ServeOptions { port: Some(0), ..ServeOptions::default() };
    let server = Server::start(database.clone(), options).unwrap();
    let site = Site { server, database };
    let groot = site.token("groot");
    for text in [
        "mutation { addGroup(input: [{name: \"a\"}, {name: \"b\"}]) { group { name } } }"
            .to_owned(),
        format!(
            "mutation {{ addUser(input: [{{name: \"eve\", password: \"{PASSWORD}\", groups: [{{name: \"a\"}}, {{name: \"b\"}}]}}]) {{ user {{ name }} }} }}"
        ),
    ] {
        let reported = site.graphql("/admin", &groot, &text);
        assert!(reported["errors"].is_null(), "{reported}");
    }
    let eve = site.token("eve");
    // Two groups, four, eight: at the third level they are told, and at the sixtieth they would
    // fill any memory.
    let nested = |levels: usize| {
        let groups = "groups { name users { name ".repeat(levels) + &"} } ".repeat(levels);
        site.graphql("/admin", &eve, &format!("{{ getCurrentUser {{ name {groups} }} }}"))
    };
    let reported = nested(3);
    assert!(reported["errors"].is_null(), "{reported}");
    assert_eq!(reported.to_string().matches("\"eve\"").count(), 1 + 2 + 4 + 8);
    let reported = nested(60);
    assert!(message(&reported).contains("memory"), "{reported}");
}
