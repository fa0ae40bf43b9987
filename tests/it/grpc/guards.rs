//! The guards of the port: keys, tokens, addresses of pages, lengths, deadlines, draining, and the
//! end of the server.

use super::client::{Client, SCHEMA, Site, bytes, failed, text};
use super::messages::{
    Check, Mutation, Operation, Payload, Request, Response, TxnContext, Version,
};
use crate::wire::site;
use hexgraph::db::{Database, OpenOptions};
use hexgraph_server::http::{AdmissionOptions, GrpcPort, Security, ServeOptions, Server};
use prost::Message;
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};
use tonic::{Code, Status};

fn secured(settings: &str) -> Site {
    let mut security = Security::default();
    security.set(settings).unwrap();
    Site::with(ServeOptions { security, ..ServeOptions::default() })
}

fn query(text: &str) -> Request {
    Request { query: text.to_owned(), ..Request::default() }
}

/// A query that takes seconds, whatever the machine: paths through a graph in which each node knows
/// each other one.
fn slow(site: &Site) -> Request {
    let mut quads = String::new();
    for one in 1..=60 {
        for other in 1..=60 {
            quads.push_str(&format!("<{one}> <knows> <{other}> .\n"));
        }
    }
    site.client.set(&quads);
    query("{ p as shortest(from: 1, to: 60, numpaths: 1000000) { knows } q(func: uid(p)) { uid } }")
}

#[test]
fn every_method_asks_for_the_key_of_its_role() {
    let site = secured("admin-key=root; client-key=app");
    let client = &site.client;
    let ask = |metadata: &[(&str, &str)]| -> [Result<(), Status>; 4] {
        [
            client.call_with::<_, Response>("Query", query("schema {}"), metadata).map(drop),
            client
                .call_with::<_, TxnContext>(
                    "CommitOrAbort",
                    TxnContext { start_ts: 1, aborted: true, ..TxnContext::default() },
                    metadata,
                )
                .map(drop),
            client
                .call_with::<_, Payload>(
                    "Alter",
                    Operation { schema: SCHEMA.to_owned(), ..Operation::default() },
                    metadata,
                )
                .map(drop),
            client.call_with::<_, Version>("CheckVersion", Check {}, metadata).map(drop),
        ]
    };
    let [requested, committed, altered, version] = ask(&[]);
    for refused in [requested, committed, altered] {
        failed(refused, Code::Unauthenticated, "Anonymous access is disabled: name a key");
    }
    version.unwrap();
    let [requested, committed, altered, version] = ask(&[("x-auth-token", "wrong")]);
    for refused in [requested, committed, altered] {
        failed(refused, Code::Unauthenticated, "The key in X-Auth-Token is not known");
    }
    version.unwrap();
    let [requested, committed, altered, version] = ask(&[("x-auth-token", "app")]);
    requested.and(committed).and(version).unwrap();
    failed(altered, Code::PermissionDenied, "is not that of an administrator");
    ask(&[("x-auth-token", "root")]).into_iter().for_each(|done| done.unwrap());
    // What there is not is told to those who have a key.
    let nothing = |metadata| client.call_with::<_, Version>("Nothing", Check {}, metadata);
    failed(nothing(&[]), Code::Unauthenticated, "Anonymous access");
    failed(nothing(&[("x-auth-token", "app")]), Code::Unimplemented, "there is no");
}

#[test]
fn altering_asks_for_the_token() {
    let site = secured("token=secret");
    let alter = |metadata| {
        let operation = Operation { schema: SCHEMA.to_owned(), ..Operation::default() };
        site.client.call_with::<_, Payload>("Alter", operation, metadata)
    };
    failed(
        alter(&[]),
        Code::Unauthenticated,
        "No Auth Token found. Token needed for Admin operations.",
    );
    failed(
        alter(&[("auth-token", "guess")]),
        Code::Unauthenticated,
        "Provided auth token does not match. Permission denied.",
    );
    alter(&[("auth-token", "secret")]).unwrap();
    site.client.ask(query("schema {}")).unwrap();
}

#[test]
fn messages_are_as_long_as_the_limit_says() {
    let mut options = OpenOptions::default();
    options.limits.set("body", "12MiB").unwrap();
    let site = Site::of(Database::in_memory_with(options), ServeOptions::default());
    let long = |length: usize| {
        let set_nquads = bytes(&format!("<1> <note> \"{}\" .", "x".repeat(length)));
        let mutations = vec![Mutation { set_nquads, ..Mutation::default() }];
        site.client.ask(Request { mutations, commit_now: true, ..Request::default() })
    };
    // More than the 4 MB that others take by default, there and back.
    long(10 << 20).unwrap();
    let reported = site.client.json("{ q(func: uid(1)) { note } }");
    assert!(10 << 20 < reported.len());
    failed(
        long(13 << 20),
        Code::ResourceExhausted,
        "length limit exceeded: it has more than 12582912 bytes",
    );
    assert_eq!(site.client.json("{ q(func: uid(2)) { name } }"), r#"{"q":[]}"#);
}

#[test]
fn a_call_ends_with_the_patience_of_its_client() {
    let site = Site::new();
    let request = slow(&site);
    let begun = Instant::now();
    // The client of the other tests has a clock of its own, and would not wait for the server.
    let body = request.encode_to_vec();
    let body = [&[0][..], &(body.len() as u32).to_be_bytes(), &body].concat();
    let headers = ["Content-Type: application/grpc-web", "grpc-timeout: 300m"];
    let address = site.server.grpc_address().unwrap();
    let reported = site::send(address, ("POST", "/api.Dgraph/Query"), &headers, &body);
    assert_eq!(reported.header("grpc-status"), "4", "{reported:?}");
    let took = begun.elapsed();
    assert!(Duration::from_millis(250) < took && took < Duration::from_secs(5), "{took:?}");
    let reported = site.client.call_with::<_, Response>(
        "Query",
        query("schema {}"),
        &[("grpc-timeout", "soon")],
    );
    failed(reported, Code::InvalidArgument, "the header grpc-timeout is \"soon\"");
}

#[test]
fn a_call_that_is_given_up_gives_its_place_back() {
    let admission = AdmissionOptions { slow: 1, running: 1, ..AdmissionOptions::default() };
    let site = Site::with(ServeOptions { admission, ..ServeOptions::default() });
    let request = slow(&site);
    let begun = Instant::now();
    for _ in 0..5 {
        site.client.give_up(request.clone(), Duration::from_millis(200));
    }
    // There is one position, so this is answered when the last one has noticed.
    assert_eq!(site.client.json("{ q(func: has(nothing)) { uid } }"), r#"{"q":[]}"#);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

/// True for a call that the client itself kept back, since the server had said that it takes no
/// more, or had gone: so hyper tells both, and one that was sent and is cut off has another error.
fn was_kept_back(status: &Status) -> bool {
    let reported = format!("{status:?}");
    ["GoAway(b\"\", NO_ERROR, Remote)", "hyper::Error(Canceled, "]
        .iter()
        .any(|what| reported.contains(what))
}

#[test]
fn calls_under_way_are_finished_when_the_server_stops() {
    let site = Site::new();
    site.client.set("_:a <name> \"x\" .");
    let (mut server, client) = (site.server, site.client.clone());
    let asking = thread::spawn(move || {
        let mut answered = 0;
        loop {
            match client.ask(query("{ q(func: has(name)) { name } }")) {
                Ok(reported) => {
                    assert_eq!(text(&reported.json), r#"{"q":[{"name":"x"}]}"#);
                    answered += 1;
                }
                // What the client was about to send when the server took its leave is not sent: it
                // is asked again.
                Err(status) if was_kept_back(&status) => {}
                // Whoever comes later is told that nobody is there.
                Err(status) => return (answered, status),
            }
        }
    });
    thread::sleep(Duration::from_millis(300));
    let begun = Instant::now();
    server.stop();
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    let (answered, status) = asking.join().unwrap();
    assert!(0 < answered && status.code() == Code::Unavailable, "{answered} {status:?}");
}

#[test]
fn clients_of_a_draining_server_are_refused() {
    let site = Site::new();
    let drain = |enable: bool| {
        let body = format!(
            "{{\"query\":\"mutation {{ draining(enable: {enable}) {{ response {{ message }} }} }}\"}}"
        );
        let reported = site::send(
            site.server.address().unwrap(),
            ("POST", "/admin"),
            &["Content-Type: application/json"],
            body.as_bytes(),
        );
        assert_eq!(reported.status, 200, "{}", reported.text());
    };
    drain(true);
    failed(
        site.client.ask(query("schema {}")),
        Code::Unavailable,
        "the server is in draining mode",
    );
    failed(site.client.alter(Operation::default()), Code::Unavailable, "draining");
    failed(site.client.commit(TxnContext::default()), Code::Unavailable, "draining");
    site.client.call::<_, Version>("CheckVersion", Check {}).unwrap();
    drain(false);
    site.client.ask(query("schema {}")).unwrap();
}

#[test]
fn the_port_beside_may_be_taken_or_off() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let start = |port, grpc| {
        let options = ServeOptions { port: Some(port), grpc, ..ServeOptions::default() };
        Server::start(Database::in_memory(), options)
    };
    let reported = start(0, GrpcPort::At(port)).err().unwrap().to_string();
    let want = format!(
        "listening on 127.0.0.1:{port} for gRPC (name another with --grpc-port, or --grpc-port off): "
    );
    assert!(reported.starts_with(&want), "{reported}");
    let reported = start(65_000, GrpcPort::Beside).err().unwrap().to_string();
    assert!(
        reported.contains("there is no port 1000 above 65000, for gRPC (name another"),
        "{reported}"
    );
    assert_eq!(start(0, GrpcPort::Off).unwrap().grpc_address(), None);
    let server = start(0, GrpcPort::Beside).unwrap();
    let client = Client::new(server.grpc_address().unwrap());
    client.call::<_, Version>("CheckVersion", Check {}).unwrap();
}

#[test]
fn the_port_of_http_has_no_calls() {
    let site = Site::new();
    let reported = site::send(
        site.server.address().unwrap(),
        ("POST", "/api.Dgraph/Query"),
        &["Content-Type: application/grpc"],
        b"",
    );
    assert_eq!(reported.header("grpc-status"), "12", "{reported:?}");
    let reported =
        site::send(site.server.address().unwrap(), ("POST", "/api.Dgraph/Query"), &[], b"");
    assert_eq!(reported.status, 404);
    let reported = site::send(site.server.grpc_address().unwrap(), ("POST", "/query"), &[], b"");
    assert_eq!(reported.status, 404);
}
