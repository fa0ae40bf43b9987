//! Keys of clients that are retained in the reserved database.

use super::durability::json;
use super::small;
use crate::db::access::{AccessOptions, ApiKey, KEY_PREFIX, KeyRole, KeySecret, NewKey};
use crate::db::{Database, Drop, RequestContext};
use std::time::Duration;

fn make(db: &Database, role: KeyRole, lifetime: Option<Duration>) -> (ApiKey, KeySecret) {
    db.create_key(&NewKey { name: "a key", role, lifetime }).unwrap()
}

#[test]
fn permissions_of_keys() {
    let db = Database::in_memory();
    assert!(!db.has_keys());
    assert_eq!(db.key_role("hxg_"), None);
    let roles = [KeyRole::ReadOnly, KeyRole::Client, KeyRole::Admin];
    let made = roles.map(|role| make(&db, role, None).1);
    assert!(db.has_keys());
    for ((secret, role), [writes, alters]) in
        made.iter().zip(roles).zip([[false, false], [true, false], [true, true]])
    {
        let secret = secret.reveal();
        assert_eq!((secret.len(), db.key_role(secret)), (KEY_PREFIX.len() + 64, Some(role)));
        let holder = db.for_secrets(Some(secret), None);
        assert!(holder.stats().is_ok(), "{role:?}");
        assert_eq!(holder.mutate("_:a <name> \"x\" .", "").is_ok(), writes, "{role:?}");
        assert_eq!(holder.assign_uids(1).is_ok(), writes, "{role:?}");
        assert_eq!(holder.alter("name: string .").is_ok(), alters, "{role:?}");
        assert_eq!(holder.drop(&Drop::All).is_ok(), alters, "{role:?}");
        assert_eq!(holder.create_namespace(None).is_ok(), alters, "{role:?}");
        assert_eq!(holder.keys().is_ok(), alters, "{role:?}");
    }
    let error = db.for_secrets(Some(made[0].reveal()), None).mutate("_:a <b> \"c\" .", "");
    assert_eq!(
        error.err().unwrap().to_string(),
        "rpc error: code = PermissionDenied desc = the key in X-Auth-Token may only read"
    );
}

#[test]
fn keys_end_and_are_revoked() {
    let db = Database::in_memory();
    let (key, secret) = make(&db, KeyRole::Client, None);
    let (short, passing) = make(&db, KeyRole::Client, Some(Duration::from_secs(1)));
    let holder = db.for_secrets(Some(secret.reveal()), None);
    let txn = holder.begin(crate::db::TxnOptions::default()).unwrap();
    db.revoke_key(&key.id).unwrap();
    assert_eq!(db.key_role(secret.reveal()), None);
    // Handles that were given before hold no longer either, nor their transactions.
    let refused = "rpc error: code = Unauthenticated desc = the key has ended or was revoked";
    assert_eq!(holder.stats().unwrap_err().to_string(), refused);
    assert!(txn.query_with(&Default::default(), &RequestContext::new()).is_err());
    assert!(db.for_secrets(Some(secret.reveal()), None).stats().is_err());
    let again = db.revoke_key(&key.id).unwrap_err().to_string();
    assert_eq!(again, format!("the key {} is revoked already", key.id));
    assert_eq!(db.revoke_key("x").unwrap_err().to_string(), "there is no key x");
    std::thread::sleep(Duration::from_millis(2100));
    assert_eq!(db.key_role(passing.reveal()), None);
    let listed = db.keys().unwrap();
    let states: Vec<_> =
        listed.iter().map(|key| (key.revoked.is_some(), key.expires.is_some())).collect();
    assert_eq!((states.len(), listed.iter().any(|key| key.id == short.id)), (2, true));
    assert!(states.contains(&(true, false)) && states.contains(&(false, true)));
    assert!(db.has_keys(), "that none holds opens nothing");
}

#[test]
fn a_key_opens_its_namespace() {
    let db = Database::in_memory();
    let one = db.namespace(db.create_namespace(None).unwrap()).unwrap();
    let (_, secret) = make(&one, KeyRole::Admin, None);
    let holder = db.for_secrets(Some(secret.reveal()), None);
    assert_eq!(holder.namespace_id(), 1);
    holder.mutate("_:a <name> \"x\" .", "").unwrap();
    assert_eq!((db.stats().unwrap().nodes, one.stats().unwrap().nodes), (0, 1));
    let refused =
        "rpc error: code = PermissionDenied desc = Only superadmin is allowed to do this operation";
    for reported in [
        holder.create_namespace(None).map(drop),
        holder.drop_namespace(1),
        holder.namespaces().map(drop),
        holder.namespace(0).map(drop),
    ] {
        assert_eq!(reported.unwrap_err().to_string(), refused);
    }
    // It sees and revokes those of its namespace alone.
    let (other, _) = make(&db, KeyRole::Client, None);
    assert_eq!((holder.keys().unwrap().len(), db.keys().unwrap().len()), (1, 2));
    assert!(holder.revoke_key(&other.id).is_err());
    db.drop_namespace(1).unwrap();
    assert!(db.for_secrets(Some(secret.reveal()), None).stats().is_err());
}

#[test]
fn keys_and_users() {
    let db = Database::in_memory();
    let one = db.namespace(db.create_namespace(None).unwrap()).unwrap();
    db.enable_access(AccessOptions::new(vec![7; 32])).unwrap();
    let login = |namespace| {
        let request = crate::db::access::LoginRequest {
            user: "groot".to_owned(),
            password: "password".to_owned(),
            namespace,
            ..Default::default()
        };
        db.login_with(&request, &RequestContext::new()).unwrap().access
    };
    let (zero_token, one_token) = (login(0), login(1));
    let (_, reader) = make(&db, KeyRole::ReadOnly, None);
    let (_, external) = make(&one, KeyRole::Admin, None);
    let (reader, external) = (Some(reader.reveal()), Some(external.reveal()));
    let with = |key, token: &str| db.for_secrets(key, Some(token));
    // A key gives no rights, it takes some: a guardian with one that may only read only reads.
    assert!(with(reader, &zero_token).stats().is_ok());
    assert!(with(reader, &zero_token).mutate("_:a <b> \"c\" .", "").is_err());
    assert!(with(None, &zero_token).mutate("_:a <b> \"c\" .", "").is_ok());
    assert!(db.for_secrets(reader, None).stats().is_err(), "a key is no token");
    assert_eq!(with(external, &one_token).namespace_id(), 1);
    assert!(with(external, &one_token).mutate("_:a <b> \"c\" .", "").is_ok());
    for (key, token) in [(external, &zero_token), (reader, &one_token)] {
        let error = with(key, token).stats().unwrap_err().to_string();
        assert!(error.ends_with("desc = the key is one of another namespace"), "{error}");
    }
    assert!(with(Some("hxg_unknown"), &zero_token).stats().is_err());
    assert!(with(Some("of the server"), &zero_token).stats().is_ok());
}

#[test]
fn keys_are_stored_and_never_shown() {
    let root = tempfile::tempdir().unwrap();
    let db = Database::open(root.path(), small()).unwrap();
    let (key, secret) = make(&db, KeyRole::Client, None);
    assert!(!format!("{key:?} {secret:?}").contains(&secret.reveal()[8..]));
    // Neither queries nor the schema nor exports know of it.
    assert_eq!(json(&db, "{ q(func: has(hexgraph.key)) { expand(_all_) } }"), r#"{"q":[]}"#);
    assert!(!db.schema_text().unwrap().contains("hexgraph.key"));
    let export = root.path().join("out.rdf");
    db.export_with(&export, &RequestContext::new()).unwrap();
    assert!(!std::fs::read_to_string(&export).unwrap().contains("hexgraph.key"));
    let copy = tempfile::tempdir().unwrap();
    db.save(&copy.path().join("db")).unwrap();
    // The secret is in no file.
    let mut folders = vec![root.path().to_owned(), copy.path().to_owned()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let bytes = std::fs::read(&path).unwrap();
            let expected = secret.reveal().trim_start_matches(KEY_PREFIX).as_bytes();
            assert!(!bytes.windows(expected.len()).any(|it| it == expected), "{}", path.display());
        }
    }
    assert!(8 < files);
    drop(db);
    for path in [root.path().to_owned(), copy.path().join("db")] {
        let db = Database::open(&path, small()).unwrap();
        assert_eq!(db.key_role(secret.reveal()), Some(KeyRole::Client));
        assert_eq!(db.keys().unwrap(), std::slice::from_ref(&key));
    }
}

#[test]
fn the_default_password_is_for_this_machine() {
    let db = Database::in_memory();
    db.enable_access(AccessOptions::new(vec![7; 32])).unwrap();
    let login = |address: &str, namespace| {
        let request = crate::db::access::LoginRequest {
            user: "groot".to_owned(),
            password: "password".to_owned(),
            address: address.parse().ok(),
            namespace,
            ..Default::default()
        };
        db.login_with(&request, &RequestContext::new()).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(login("127.0.0.1", 0), Ok(()));
    let refused = "the password of groot is the one that everybody knows";
    assert!(login("10.0.0.1", 0).unwrap_err().starts_with(refused));
    let (existing, other) =
        (db.create_namespace(None).unwrap(), db.create_namespace(Some("another one")).unwrap());
    assert!(login("10.0.0.1", existing).unwrap_err().starts_with(refused));
    assert_eq!(login("::1", existing), Ok(()));
    assert_eq!(login("::1", other).unwrap_err(), "invalid username or password");
    assert_eq!(login("::1", 77).unwrap_err(), "invalid username or password");
    assert!(db.create_namespace(Some("short")).is_err());
    assert_eq!(db.namespaces().unwrap(), [0, 1, 2]);
}

/// Neither the work nor the pause after failures reveals which users and namespaces exist.
#[test]
fn a_login_costs_the_same_whoever_is_there() {
    let db = Database::in_memory();
    let one = db.create_namespace(None).unwrap();
    db.enable_access(AccessOptions::new(vec![7; 32])).unwrap();
    let login = |user: &str, namespace, address: &str| {
        let request = crate::db::access::LoginRequest {
            user: user.to_owned(),
            password: "not the password".to_owned(),
            address: address.parse().ok(),
            namespace,
            ..Default::default()
        };
        let context = RequestContext::new();
        let reported = db.login_with(&request, &context).unwrap_err().to_string();
        (reported, context.compared_passwords())
    };
    for (user, namespace) in
        [("groot", 0), ("nobody", 0), ("", 0), ("groot", one), ("groot", 77), ("groot", u64::MAX)]
    {
        let (reported, compared) = login(user, namespace, "10.0.0.1");
        assert_eq!(
            (reported.as_str(), compared),
            ("invalid username or password", 1),
            "{user} {namespace}"
        );
    }
    for namespace in [0, one, 77] {
        let reported: Vec<_> = (0..7).map(|_| login("groot", namespace, "10.0.0.2")).collect();
        let refused =
            reported.iter().filter(|(reported, _)| reported.starts_with("too many logins failed"));
        assert_eq!(refused.count(), 1, "{namespace}: {reported:?}");
    }
}

/// Where a database had users and is served without them, who has a key below that of an
/// administrator neither sees nor makes any.
#[test]
fn clients_change_no_rights() {
    let root = tempfile::tempdir().unwrap();
    let db = Database::open(root.path(), small()).unwrap();
    db.enable_access(AccessOptions::new(vec![7; 32])).unwrap();
    drop(db);
    let db = Database::open(root.path(), small()).unwrap();
    let (_, client) = make(&db, KeyRole::Client, None);
    let (_, admin) = make(&db, KeyRole::Admin, None);
    let rule = "_:r <dgraph.rule.predicate> \"dgraph.all\" .\n_:r <dgraph.rule.permission> \"7\" .";
    let users = "{ q(func: has(dgraph.xid)) { count(uid) } }";
    for (secret, is_administrator) in [(client, false), (admin, true)] {
        let holder = db.for_secrets(Some(secret.reveal()), None);
        assert_eq!(holder.mutate(rule, "").is_ok(), is_administrator);
        assert_eq!(json(&holder, users).contains("\"count\":2"), is_administrator);
        let stats = holder.stats().unwrap();
        let has_xid = stats.predicates.iter().any(|existing| &*existing.name == "dgraph.xid");
        assert_eq!(has_xid, is_administrator);
        holder.mutate("_:a <name> \"x\" .", "").unwrap();
    }
}
