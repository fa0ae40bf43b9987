//! The grammar of a database, as those see it who may read a part: it has the predicates that they
//! may read, and no name of another one.

use hexgraph::db::access::{AccessOptions, LoginRequest};
use hexgraph::db::{Database, GrammarFormat};
use hexgraph::db::{Mutation, MutationRequest, RequestContext, Statements};
use serde_json::json;

const PASSWORD: &str = "longenough";

const SCHEMA: &str = "
    callsign: string @index(exact) .
    salary: int @index(int) .
    manages: [uid] @reverse .
    type Person {
        callsign
        salary
        manages
    }
    type Payroll {
        salary
    }
";

/// A user who may do this to predicates: 4 is to read, 2 to write, 1 to alter.
fn user(db: &Database, name: &str, rights: &[(&str, u8)]) -> Database {
    let rules: Vec<_> = rights
        .iter()
        .map(|(predicate, permission)| {
            json!({
                "dgraph.rule.predicate": predicate, "dgraph.rule.permission": permission,
                "dgraph.type": "dgraph.type.Rule",
            })
        })
        .collect();
    let people = json!([
        { "uid": "_:g", "dgraph.xid": format!("group of {name}"), "dgraph.type": "dgraph.type.Group", "dgraph.acl.rule": rules },
        {
            "dgraph.xid": name, "dgraph.type": "dgraph.type.User", "dgraph.password": PASSWORD,
            "dgraph.user.group": [{ "uid": "_:g" }],
        },
    ]);
    let set = people.to_string();
    let mutation = Mutation { set: vec![Statements::Json(&set)], ..Mutation::default() };
    let request = MutationRequest { mutations: vec![mutation], ..MutationRequest::default() };
    db.mutate_with(&request, &RequestContext::new()).unwrap();
    let login = LoginRequest {
        user: name.to_owned(),
        password: PASSWORD.to_owned(),
        ..LoginRequest::default()
    };
    let tokens = db.login_with(&login, &RequestContext::new()).unwrap();
    db.for_token(Some(&tokens.access))
}

#[test]
fn a_grammar_has_what_may_be_read() {
    let db = Database::in_memory();
    db.enable_access(AccessOptions::new(vec![7; 32])).unwrap();
    db.alter(SCHEMA).unwrap();
    let ada = user(&db, "ada", &[("callsign", 4), ("manages", 4)]);
    // Who may write and alter a predicate may not read it for that.
    let bob = user(&db, "bob", &[("callsign", 4), ("salary", 3)]);
    let nobody = user(&db, "eve", &[]);
    for format in GrammarFormat::ALL {
        let names = |db: &Database| {
            let text = db.grammar(format).unwrap();
            ["callsign", "salary", "manages"].map(|name| text.contains(name))
        };
        assert_eq!(names(&db), [true; 3], "{format}");
        assert_eq!(names(&ada), [true, false, true], "{format}");
        assert_eq!(names(&bob), [true, false, false], "{format}");
        assert_eq!(names(&nobody), [false; 3], "{format}");
        // A token that is none gives no grammar.
        assert!(db.for_token(Some("none")).grammar(format).is_err());
    }
}
