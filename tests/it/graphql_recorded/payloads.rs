//! Payloads: what a mutation answers is what the recorded DQL finds afterwards.

use super::answers::Reader;
use super::pools::Pools;
use super::record::{Record, ask, dql, schema};
use super::world::World;
use hexgraph::db::graphql::Headers;
use serde_json::{Value, json};

/// What differs for a node, if anything.
fn difference(world: &World, record: &Record, node: u64) -> Option<String> {
    let node = format!("{node:#x}");
    // Nothing is changed, so that the data stay.
    let mutation =
        format!(r#"updatePost(input: {{filter: {{postID: ["{node}"]}}, set: {{tags: []}}}})"#);
    let text = record.text("gqlquery").replace("ADD_", "").replace("UPDATE_MUTATION", &mutation);
    let mut request = record.request();
    request.query = text.clone();
    let answer = ask(&world.db, &request, &Headers::new());
    let query = record.text("dgquery").replace("0x4", &node).replace("PAYLOAD_TYPE", "Payload");
    let result = match dql(&world.db, &query, &Default::default()) {
        Ok(result) => result,
        Err(error) => return Some(format!("{error}\n{query}")),
    };
    let reader = Reader::new(world, &query, &text);
    let payload = answer["data"].as_object().and_then(|data| data.values().next());
    let payload = payload.unwrap_or(&Value::Null);
    let mut keys = result.as_object().unwrap().iter();
    let (key, block) = keys.next().unwrap();
    let have = reader.graphql(&payload[key.split_once('.').unwrap().1]);
    let want = reader.dql(block);
    // What lacks a field that has to be there is null as a whole, of which DQL knows nothing.
    let is_cut = text.contains("@cascade") && have == json!([null]);
    let same = have == want && answer["errors"].is_null();
    (!same && !is_cut).then(|| {
        let name = record.text("name");
        format!("# {name}\n{text}\n{answer}\n{query}\n{result}\nhave {have}\nwant {want}\n")
    })
}

#[test]
fn payloads_are_the_same() {
    let Some(records) = Record::all("resolve_mutation_query.jsonl") else { return };
    let Some(schema) = schema("resolve_schema.graphql", false) else { return };
    let world = World::new(&schema, &Pools::of(&records), 8);
    let mut wrong = Vec::new();
    for record in &records {
        let nodes = world.nodes["Post"].iter().take(4);
        wrong.extend(nodes.filter_map(|node| difference(&world, record, *node)).take(1));
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn who_has_no_token_gets_nothing_where_all_is_closed() {
    let Some(schema) = schema("auth_schema.graphql", true) else { return };
    let world = World::new(&schema, &Pools::default(), 2);
    for kind in ["add", "delete", "query", "update"] {
        let name = format!("resolve_auth_closed_by_default_{kind}.jsonl");
        for record in Record::all(&name).unwrap() {
            let mut request = record.request();
            if kind == "delete" {
                // The variable is not the one that is used.
                request.variables = Default::default();
            }
            let answer = ask(&world.db, &request, &Headers::new());
            let message = answer["errors"][0]["message"].as_str().unwrap_or_default();
            let want = record.error().unwrap().rsplit(" because ").next().unwrap();
            let title = format!("{}: {answer}", record.text("name"));
            assert!(message.ends_with(want), "{title}");
            let data = answer["data"].as_object().unwrap().values().next().unwrap();
            assert_eq!(*data, if kind == "query" { json!([]) } else { Value::Null }, "{title}");
        }
    }
}
