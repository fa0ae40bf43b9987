//! Transactions over several calls, also where another client speaks HTTP.

use super::client::{Site, bytes, failed, text};
use super::messages::{Mutation, Request, Response, TxnContext};
use crate::wire::site;
use tonic::Code;

const AGES: &str = "{ q(func: has(age)) { age } }";

/// Sets an age in a transaction.
fn set_age(site: &Site, start_ts: u64, subject: &str, age: i64) -> Response {
    let set_nquads = bytes(&format!("{subject} <age> \"{age}\" ."));
    let mutations = vec![Mutation { set_nquads, ..Mutation::default() }];
    site.client.ask(Request { start_ts, mutations, ..Request::default() }).unwrap()
}

fn ages(site: &Site, start_ts: u64) -> String {
    let query = AGES.to_owned();
    text(&site.client.ask(Request { start_ts, query, ..Request::default() }).unwrap().json)
}

#[test]
fn a_transaction_sees_itself_and_others_see_it_when_it_is_committed() {
    let site = Site::new();
    let response = set_age(&site, 0, "_:a", 7);
    let txn = response.txn.unwrap();
    assert!(0 < txn.start_ts && txn.commit_ts == 0 && !txn.keys.is_empty());
    assert_eq!(txn.preds, ["1-0-age"]);
    assert_eq!(ages(&site, txn.start_ts), r#"{"q":[{"age":7}]}"#);
    assert_eq!(ages(&site, 0), r#"{"q":[]}"#);
    let start = txn.start_ts;
    let done = site.client.commit(txn).unwrap();
    assert_eq!((done.start_ts, done.aborted), (start, false));
    assert!(start < done.commit_ts);
    assert_eq!(ages(&site, 0), r#"{"q":[{"age":7}]}"#);
    // It has ended.
    let again = TxnContext { start_ts: start, ..TxnContext::default() };
    failed(site.client.commit(again), Code::Aborted, "Transaction has been aborted. Please retry");
}

#[test]
fn of_two_that_change_one_thing_the_second_is_aborted() {
    let site = Site::new();
    let uid = site.client.set("_:a <age> \"1\" .").uids["a"].clone();
    let subject = format!("<{uid}>");
    let one = set_age(&site, 0, &subject, 2).txn.unwrap();
    let two = set_age(&site, 0, &subject, 3).txn.unwrap();
    let retried = two.start_ts;
    site.client.commit(one).unwrap();
    failed(site.client.commit(two), Code::Aborted, "Transaction has been aborted. Please retry");
    assert_ne!(retried, 0);
    let again = set_age(&site, 0, &subject, 3).txn.unwrap();
    site.client.commit(again).unwrap();
    assert_eq!(ages(&site, 0), r#"{"q":[{"age":3}]}"#);
    // The same in one call: what it read is older than the commit of another.
    let begun = set_age(&site, 0, &subject, 4).txn.unwrap();
    set_age(&site, 0, &subject, 5);
    site.client.set(&format!("{subject} <age> \"6\" ."));
    let set_nquads = bytes(&format!("{subject} <age> \"7\" ."));
    let mutations = vec![Mutation { set_nquads, ..Mutation::default() }];
    let request =
        Request { start_ts: begun.start_ts, mutations, commit_now: true, ..Request::default() };
    failed(site.client.ask(request), Code::Aborted, "Transaction has been aborted. Please retry");
}

#[test]
fn what_is_discarded_is_gone() {
    let site = Site::new();
    let txn = set_age(&site, 0, "_:a", 1).txn.unwrap();
    let start_ts = txn.start_ts;
    let done = site.client.commit(TxnContext { aborted: true, ..txn }).unwrap();
    assert_eq!((done.aborted, done.commit_ts), (true, 0));
    assert_eq!(ages(&site, 0), r#"{"q":[]}"#);
    failed(
        site.client.commit(TxnContext { start_ts, ..TxnContext::default() }),
        Code::Aborted,
        "aborted",
    );
    failed(
        site.client.commit(TxnContext::default()),
        Code::Unknown,
        "StartTs cannot be zero while committing a transaction",
    );
}

#[test]
fn transactions_go_on_over_the_other_port() {
    let site = Site::new();
    let post = |path: &str, content_type: &str, body: &[u8]| {
        let content_type = format!("Content-Type: {content_type}");
        site::send(site.server.address().unwrap(), ("POST", path), &[&content_type], body)
    };
    // Begun here, committed there.
    let txn = set_age(&site, 0, "_:a", 1).txn.unwrap();
    let path = format!("/commit?startTs={}", txn.start_ts);
    let keys = txn.keys.iter().map(|key| format!("{key:?}")).collect::<Vec<_>>().join(",");
    let reported = post(&path, "application/json", format!("[{keys}]").as_bytes());
    assert!(reported.text().contains("\"commit_ts\""), "{}", reported.text());
    assert_eq!(ages(&site, 0), r#"{"q":[{"age":1}]}"#);
    // Begun there, seen and committed here.
    let reported = post("/mutate", "application/rdf", b"{ set { _:b <age> \"2\" . } }");
    let reported: serde_json::Value = serde_json::from_slice(&reported.body).unwrap();
    let txn = &reported["extensions"]["txn"];
    let start_ts = txn["start_ts"].as_u64().unwrap();
    assert_eq!(ages(&site, start_ts), r#"{"q":[{"age":1},{"age":2}]}"#);
    let keys = txn["keys"].as_array().unwrap().iter().map(|key| key.as_str().unwrap().to_owned());
    let keys = keys.collect();
    site.client.commit(TxnContext { start_ts, keys, ..TxnContext::default() }).unwrap();
    assert_eq!(ages(&site, 0), r#"{"q":[{"age":1},{"age":2}]}"#);
}

#[test]
fn a_moment_is_read_again() {
    let site = Site::new();
    let read_only = Request { query: AGES.to_owned(), read_only: true, ..Request::default() };
    let moment = site.client.ask(read_only).unwrap().txn.unwrap().start_ts;
    site.client.set("_:a <age> \"1\" .");
    assert_eq!(ages(&site, moment), r#"{"q":[]}"#);
    assert_eq!(ages(&site, 0), r#"{"q":[{"age":1}]}"#);
}
