//! Fields that other GraphQL servers answer.

use super::server::{Answer, RequestedQuery, Server};
use super::{add_users, ask, data, database, error};
use serde_json::{Value, json};

const SCHEMA: &str = r#"
    type Land @remote {
        code: String! label: String @remoteResponse(name: "theLabel") cities(first: Int, by: Order): [City] best: Place
    }
    type City @remote { name: String! people: Int }
    type Sea @remote { depth: Int }
    union Place @remote = City | Sea
    enum Order { NAME PEOPLE }
    type User {
        id: ID! name: String! @id age: Int
        land: Land @custom(http: { url: "URL", method: POST, skipIntrospection: true,
            graphql: "query ($name: String!) { landOf(user: $name, strict: true) }" })
        lands: Land @custom(http: { url: "URL", method: POST, mode: BATCH, skipIntrospection: true,
            graphql: "query ($input: [UserInput]) { landsOf(users: $input) }", body: "{ who: $name, id: $id }" })
    }
    type Query {
        landBy(code: String!, also: [Int]): Land @custom(http: { url: "URL", method: POST, skipIntrospection: true,
            graphql: "query ($code: String!, $also: [Int]) { land(c: $code, a: $also) }" })
        users: [User] @custom(http: { url: "URL", method: POST, skipIntrospection: true, graphql: "query { everyone }" })
    }
    type Mutation {
        found(name: String): Land @custom(http: { url: "URL", method: POST, skipIntrospection: true,
            graphql: "mutation ($name: String) { foundLand(n: $name) }" })
    }
"#;

fn answer(requested: &RequestedQuery) -> Answer {
    let body = requested.json();
    let query = body["query"].as_str().unwrap();
    let variables = &body["variables"];
    let land = |code: &Value| {
        json!({"code": code, "label": "L", "theLabel": "L", "big": [{"name": "b"}], "cities": [{"name": "a", "people": 3}],
            "best": {"__typename": "Sea", "depth": 9}})
    };
    let data = match query {
        query if query.contains("landsOf") => {
            let users = variables["input"].as_array().unwrap().iter();
            json!({"landsOf": users.map(|user| land(&user["who"])).collect::<Vec<_>>()})
        }
        query if query.contains("landOf") && variables["name"] == "bob" => {
            let error = json!({"message": "bob is nowhere", "path": ["landOf", "code"]});
            return Answer::json(&json!({"data": {"landOf": null}, "errors": [error]}));
        }
        query if query.contains("landOf") => json!({"landOf": land(&variables["name"])}),
        query if query.contains("everyone") => {
            json!({"everyone": [{"name": "zoe", "n": "zoe", "id": "0x9"}]})
        }
        query if query.contains("foundLand") => {
            let reported = json!([{"message": "taken", "path": ["foundLand", "best", "depth"]}]);
            return Answer::json(
                &json!({"data": {"foundLand": land(&json!("F"))}, "errors": reported}),
            );
        }
        _ => json!({"land": land(&variables["code"])}),
    };
    Answer::json(&json!({ "data": data }))
}

#[test]
fn what_is_asked_is_asked_there() {
    let server = Server::start(answer);
    let db = database(SCHEMA, &server.url);
    let text = r#"{ landBy(code: "x") { __typename code l: label big: cities(first: 2, by: PEOPLE) { name } cities { name }
        best { __typename ... on Sea { depth } ... on City { n: name } } } }"#;
    let want = json!({"__typename": "Land", "code": "x", "l": null, "big": [{"name": "b"}], "cities": [{"name": "a"}],
        "best": {"__typename": "Sea", "depth": 9}});
    assert_eq!(data(&db, text), json!({ "landBy": want }));
    let body = server.take().remove(0).json();
    assert_eq!(body["variables"], json!({"code": "x"}));
    let query = body["query"].as_str().unwrap();
    let want = "query($code: String!, $also: [Int]) { land(c: $code, a: $also) { code l: theLabel big: cities(first: 2, by: PEOPLE) { name } \
        cities { name } best { __typename ... on City { n: name } ... on Sea { depth } } } }";
    assert_eq!(query, want);
}

#[test]
fn fields_of_nodes_one_by_one_and_at_once() {
    let server = Server::start(answer);
    let db = database(SCHEMA, &server.url);
    add_users(&db);
    let result = ask(&db, "{ queryUser { name land { code } lands { code } } }");
    let want = json!([
        {"name": "ann", "land": {"code": "ann"}, "lands": {"code": "ann"}},
        {"name": "bob", "land": null, "lands": {"code": "bob"}},
        {"name": "cyd", "land": {"code": "cyd"}, "lands": {"code": "cyd"}}
    ]);
    assert_eq!(result["data"]["queryUser"], want);
    let path = json!(["queryUser", 1, "land", "code"]);
    assert_eq!(error(&result), ("bob is nowhere".to_owned(), path));
    assert_eq!(server.take().len(), 4);
}

#[test]
fn nodes_of_another_server_have_custom_fields_too() {
    let server = Server::start(answer);
    let db = database(SCHEMA, &server.url);
    let result = data(&db, "{ users { n: name land { code } } }");
    assert_eq!(result, json!({"users": [{"n": "zoe", "land": {"code": "zoe"}}]}));
    let requested = server.take().remove(0).json();
    assert_eq!(requested["query"], "{ everyone { n: name name } }");
}

#[test]
fn errors_beside_data_are_passed_on() {
    let server = Server::start(answer);
    let db = database(SCHEMA, &server.url);
    let result = ask(&db, r#"mutation { f: found(name: "N") { code } }"#);
    assert_eq!(result["data"], json!({"f": {"code": "F"}}));
    assert_eq!(error(&result), ("taken".to_owned(), json!(["f", "best", "depth"])));
}
