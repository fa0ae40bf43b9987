//! Clients that leave before they are answered: what is computed for them ends soon, by whichever
//! way they came.

use super::door::{BoundListener, Yard};
use super::http2;
use super::request::Carrier;
use super::request::{RequestedQuery, bytes, json_of, request, send};
use crate::process::number_from_environment;
use std::fmt::Write as _;
use std::io::Write as _;
use std::thread::sleep;
use std::time::{Duration, Instant};

const MS: Duration = Duration::from_millis(1);

/// How long a request that is given up would take at least.
const SLOW: Duration = Duration::from_secs(10);

pub const SCHEMA: &str = "next: [uid] .\nrank: int .";

pub const GRAPHQL: &str = "type Item @withSubscription { id: ID! name: String rank: Int @dgraph(pred: \"rank\") next: [Item] @dgraph(pred: \"next\") }";

/// How soon after a client has left its work is over. Beside other tests, and unoptimised, that
/// takes longer.
fn soon() -> Duration {
    match number_from_environment("HEXGRAPH_HOSTILE_SECONDS") {
        Some(_) => 200 * MS,
        None => 3000 * MS,
    }
}

pub fn facts() -> String {
    let one = |node: usize| {
        let (one, other) = (1 + node % 2000, 1 + node * 7 % 2000);
        format!(
            "<{node}> <rank> \"{node}\" .\n<{node}> <next> <{one}> .\n<{node}> <next> <{other}> .\n<{node}> <dgraph.type> \"Item\" .\n"
        )
    };
    (1..=2000).map(one).collect()
}

/// Blocks that compute much for a short answer.
fn dql(blocks: usize) -> RequestedQuery<'static> {
    let mut text = "{".to_owned();
    for block in 0..blocks {
        write!(text, " var(func: has(next)) {{ r{block} as rank next {{ next {{ next {{ next {{ x{block} as math(r{block} + {block}) }} }} }} }} }}")
            .unwrap();
        write!(text, " q{block}() {{ max(val(x{block})) }}").unwrap();
    }
    RequestedQuery::dql(text + " }")
}

/// Root fields with much to walk over for nothing that is there, which are answered beside each
/// other.
pub fn graphql(fields: usize) -> RequestedQuery<'static> {
    let levels = format!("{} name {}", "next { ".repeat(20), "}".repeat(20));
    let one = |at| format!("a{at}: queryItem @cascade {{ {levels} }} ");
    RequestedQuery::graphql(json_of(&format!("{{ {} }}", (0..fields).map(one).collect::<String>())))
}

/// A request that takes long, made of as many chunks as that needs.
fn slow(
    yard: &Yard,
    listener: BoundListener,
    make: fn(usize) -> RequestedQuery<'static>,
) -> RequestedQuery<'static> {
    let few = 4;
    send(yard, (Carrier::Http1, listener), &make(few));
    let started = Instant::now();
    let reported = send(yard, (Carrier::Http1, listener), &make(few));
    assert!(!reported.is_refused, "{reported:?}");
    let times = SLOW.as_secs_f64() / started.elapsed().as_secs_f64();
    // A request may have 100,000 fields.
    make((few as f64 * times).ceil().min(4000.0) as usize)
}

/// How a client leaves.
#[derive(Debug, Clone, Copy)]
enum Manner {
    Closes(Carrier),
    Resets(Carrier),
}

/// Asks and leaves after a while. Returns when that was.
fn leave(
    yard: &Yard,
    listener: BoundListener,
    requested: &RequestedQuery<'_>,
    manner: Manner,
) -> Instant {
    let after = 600 * MS;
    let (Manner::Closes(carrier) | Manner::Resets(carrier)) = manner;
    let call = RequestedQuery {
        path: "/api.Dgraph/Query",
        kind: if carrier == Carrier::Call { "application/grpc" } else { "application/grpc-web" },
        body: requested.as_call(),
        fields: Vec::new(),
    };
    match carrier {
        Carrier::Http2 | Carrier::Call => {
            let requested = if carrier == Carrier::Call { &call } else { requested };
            let request = request(yard, listener, requested, requested.body.clone());
            http2::give_up(yard, listener, request, (after, matches!(manner, Manner::Resets(_))))
        }
        _ => {
            let requested = if carrier == Carrier::WebCall { &call } else { requested };
            let mut stream = yard.connect(listener, "http/1.1");
            stream
                .write_all(&bytes(yard, listener, requested))
                .and_then(|()| stream.flush())
                .unwrap();
            sleep(after);
            drop(stream);
            Instant::now()
        }
    }
}

/// Names that differ in their letters: of a kind that was quick twice, all would be answered beside
/// the slow one.
fn name(number: usize) -> String {
    number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
}

#[test]
fn nothing_is_computed_for_who_has_left() {
    use Carrier::{Call, Http1, Http2, WebCall};
    use Manner::{Closes, Resets};
    let _turn = crate::hostile::turn();
    // One request at a time, so that another is answered when the one before has ended.
    let limits = ["--limit", "timeout=10m", "--limit", "result=2GiB", "--limit", "memory=2GiB"];
    let yard = Yard::new(
        &[&limits[..], &["--admission", "running=1", "--admission", "queue=1m"]].concat(),
    );
    yard.fill(SCHEMA, GRAPHQL, &facts());
    let texts = [dql, graphql].map(|make| slow(&yard, BoundListener::Http, make));
    let mut late = String::new();
    let mut number = 0;
    let rows = [
        (0, &[Closes(Http1), Closes(Http2), Resets(Http2), Resets(Call), Closes(WebCall)][..]),
        (1, &[Closes(Http1), Closes(Http2), Resets(Http2)]),
    ];
    for (text, manners) in rows {
        for manner in manners {
            let (Closes(carrier) | Resets(carrier)) = *manner;
            for listener in carrier.listeners() {
                number += 1;
                // The other listener of the same server.
                let beside =
                    if matches!(listener, BoundListener::HttpByTls | BoundListener::CallsByTls) {
                        BoundListener::HttpByTls
                    } else {
                        BoundListener::Http
                    };
                let quick = RequestedQuery::dql(format!(
                    "{{ q_{}(func: uid(1)) {{ rank }} }}",
                    name(number)
                ));
                let (left, answered) = std::thread::scope(|scope| {
                    let leaves = scope.spawn(|| leave(&yard, listener, &texts[text], *manner));
                    sleep(300 * MS);
                    let reported = send(&yard, (Http1, beside), &quick);
                    let answered = Instant::now();
                    assert!(!reported.is_refused, "{reported:?}");
                    (leaves.join().unwrap(), answered)
                });
                let took = answered.saturating_duration_since(left);
                println!("{text} {manner:?} {listener:?}: {took:?}");
                if took.is_zero() || soon() < took {
                    writeln!(late, "{text} {manner:?} {listener:?}: {took:?}").unwrap();
                }
            }
        }
    }
    assert!(late.is_empty(), "zero is one that was not waited for\n{late}");
}
