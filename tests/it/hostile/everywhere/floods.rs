//! One client that asks long questions over WebSocket, as many as there may be: the subscriptions
//! of others go on.

use super::door::{AnyStream, BoundListener, Yard};
use super::leaving::{GRAPHQL, SCHEMA, facts, graphql};
use super::request::{RequestedQuery, open_socket};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tungstenite::{Message, WebSocket};

const NOTE: &str = "subscription { getItem(id: \"0x1\") { rank } }";

/// A socket that has begun.
fn begun(yard: &Yard, listener: BoundListener) -> WebSocket<AnyStream> {
    let mut socket = open_socket(yard, listener, &RequestedQuery::default()).unwrap();
    socket.send(Message::text(r#"{"type":"connection_init"}"#)).unwrap();
    assert_eq!(hear(&mut socket)["type"], "connection_ack");
    socket
}

fn hear(socket: &mut WebSocket<AnyStream>) -> Value {
    loop {
        if let Message::Text(text) = socket.read().unwrap() {
            return serde_json::from_str(&text).unwrap();
        }
    }
}

fn ask(socket: &mut WebSocket<AnyStream>, id: usize, query: &str) {
    let payload = json!({ "query": query });
    let message = json!({ "id": id.to_string(), "type": "subscribe", "payload": payload });
    socket.send(Message::text(message.to_string())).unwrap();
}

/// Has a node say something else, and waits until that is told.
fn news(
    yard: &Yard,
    listener: BoundListener,
    subscriber: &mut WebSocket<AnyStream>,
    rank: usize,
) -> Duration {
    let started = Instant::now();
    let set = format!("{{ set {{ <1> <rank> \"{rank}\" . }} }}");
    let done =
        yard.line(listener).post("/mutate?commitNow=true", "application/rdf", set.as_bytes());
    assert!(done.text().contains("Success"), "{}", done.text());
    let reported = hear(subscriber);
    assert_eq!(reported["payload"]["data"]["getItem"]["rank"], rank, "{reported}");
    started.elapsed()
}

#[test]
fn who_asks_long_questions_keeps_nobody_waiting() {
    let _turn = crate::hostile::turn();
    // Not optimised, the writes below may compute for the 2 ms from which on a request waits behind
    // the long ones of its address.
    let quick = if cfg!(debug_assertions) { "quick=20ms" } else { "quick=2ms" };
    let mut yard = Yard::new(&["--limit", "timeout=30s", "--admission", quick]);
    yard.fill(SCHEMA, GRAPHQL, &facts());
    let long: Value =
        serde_json::from_slice(&graphql(if cfg!(debug_assertions) { 20 } else { 300 }).body)
            .unwrap();
    let long = long["query"].as_str().unwrap();
    let watches = yard.watch("{ q(func: uid(1)) { uid } }");
    for listener in BoundListener::OF_HTTP {
        let mut subscriber = begun(&yard, listener);
        ask(&mut subscriber, 1, NOTE);
        hear(&mut subscriber);
        let normal = news(&yard, listener, &mut subscriber, 7_001);
        let flood: Vec<WebSocket<AnyStream>> = (0..3)
            .map(|_| {
                let mut socket = begun(&yard, listener);
                (0..40).for_each(|id| ask(&mut socket, id, long));
                // Each is another question.
                (40..80).for_each(|id| {
                    ask(&mut socket, id, &format!("subscription {}", one_of(long, id)))
                });
                socket
            })
            .collect();
        std::thread::sleep(Duration::from_millis(500));
        let beside =
            (0..3).map(|at| news(&yard, listener, &mut subscriber, 7_100 + at)).max().unwrap();
        println!("{listener:?}: news after {normal:?}, beside the flood {beside:?}");
        assert!(beside < Duration::from_secs(5), "{beside:?}, {normal:?} without it");
        drop(flood);
    }
    for seen in watches.map(|watch| watch.stop()) {
        seen.check("long questions", Duration::from_secs(5));
    }
    yard.is_well();
}

/// One of the fields of a query, under a name of its own.
fn one_of(query: &str, id: usize) -> String {
    let field = query.split("a1:").next().unwrap().replace("a0:", &format!("b{id}:"));
    format!("{} }}", field.trim_end())
}
