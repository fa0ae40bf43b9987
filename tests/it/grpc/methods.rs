//! Each method: what it answers, and what it refuses.

use super::client::{Site, bytes, failed, text};
use super::messages::operation::DropOp;
use super::messages::request::RespFormat;
use super::messages::{
    AllocateIDsRequest, AllocateIDsResponse, Check, CreateNamespaceRequest,
    CreateNamespaceResponse, DropNamespaceRequest, DropNamespaceResponse, ListNamespacesRequest,
    ListNamespacesResponse, LoginRequest, Mutation, Operation, Request, Response, RunDqlRequest,
    Version,
};
use tonic::Code;

const ALL: &str = "{ q(func: has(name), orderasc: name) { name } }";

fn query(text: &str) -> Request {
    Request { query: text.to_owned(), read_only: true, ..Request::default() }
}

#[test]
fn queries_are_answered_in_json() {
    let site = Site::new();
    site.client.set("_:a <name> \"Ann\" .\n_:b <name> \"Bob\" .\n_:a <knows> _:b .");
    let vars = [("$n".to_owned(), "Ann".to_owned())].into();
    let requested = Request {
        vars,
        ..query("query q($n: string) { q(func: eq(name, $n)) { name knows { name } } }")
    };
    let reported = site.client.call_with::<_, Response>("Query", requested, &[]).unwrap();
    let response = reported.message;
    assert_eq!(text(&response.json), r#"{"q":[{"name":"Ann","knows":[{"name":"Bob"}]}]}"#);
    assert!(response.rdf.is_empty() && response.uids.is_empty());
    let latency = response.latency.unwrap();
    assert!(0 < latency.parsing_ns && 0 < latency.processing_ns);
    assert_eq!(latency.total_ns, latency.parsing_ns + latency.processing_ns + latency.encoding_ns);
    let counts = response.metrics.unwrap().num_uids;
    assert_eq!(
        counts["_total"],
        counts.iter().filter(|(name, _)| *name != "_total").map(|(_, count)| count).sum::<u64>()
    );
    assert_eq!(
        reported.headers.get("dgraph-toucheduids").unwrap().to_str().unwrap(),
        counts["_total"].to_string()
    );
    assert!(0 < response.txn.unwrap().start_ts);
}

#[test]
fn queries_are_answered_in_rdf() {
    let site = Site::new();
    let uids = site.client.set("_:a <name> \"Ann\" .").uids;
    let requested = Request { resp_format: RespFormat::Rdf.into(), ..query(ALL) };
    let response = site.client.ask(requested).unwrap();
    assert!(response.json.is_empty());
    assert_eq!(text(&response.rdf), format!("<{}> <name> \"Ann\" .\n", uids["a"]));
    failed(
        site.client.ask(Request { resp_format: 7, ..query(ALL) }),
        Code::InvalidArgument,
        "resp_format is 7",
    );
}

#[test]
fn metadata_may_ask_for_uids() {
    let site = Site::new();
    let uids = site.client.set("_:a <name> \"Ann\" .").uids;
    let reported = site.client.call_with::<_, Response>("Query", query(ALL), &[("debug", "true")]);
    let want = format!(r#"{{"q":[{{"name":"Ann","uid":"{}"}}]}}"#, uids["a"]);
    assert_eq!(text(&reported.unwrap().message.json), want);
}

#[test]
fn mutations_are_committed_at_once_where_they_say_so() {
    let site = Site::new();
    let json =
        Mutation { set_json: bytes(r#"{"uid":"_:j","name":"Jo","age":5}"#), ..Mutation::default() };
    let rdf = Mutation { set_nquads: bytes("_:r <name> \"Ri\" ."), ..Mutation::default() };
    let mutations = vec![json, rdf];
    let response =
        site.client.ask(Request { mutations, commit_now: true, ..Request::default() }).unwrap();
    let mut names: Vec<&str> = response.uids.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["j", "r"]);
    let txn = response.txn.unwrap();
    assert!(txn.start_ts < txn.commit_ts && txn.keys.is_empty() && txn.preds.is_empty());
    assert_eq!(site.client.json(ALL), r#"{"q":[{"name":"Jo"},{"name":"Ri"}]}"#);
    let (jo, ri) = (&response.uids["j"], &response.uids["r"]);
    let gone = Mutation {
        delete_json: bytes(&format!(r#"{{"uid":"{jo}","name":null}}"#)),
        del_nquads: bytes(&format!("<{ri}> <name> * .")),
        ..Mutation::default()
    };
    site.client
        .ask(Request { mutations: vec![gone], commit_now: true, ..Request::default() })
        .unwrap();
    assert_eq!(site.client.json(ALL), r#"{"q":[]}"#);
}

#[test]
fn upserts_use_what_their_query_finds() {
    let site = Site::new();
    let upsert = |name: &str| {
        let query = format!("{{ q(func: eq(nick, \"{name}\")) {{ v as uid age }} }}");
        let new = Mutation {
            set_nquads: bytes(&format!("_:new <nick> \"{name}\" .\n_:new <age> \"1\" .")),
            cond: "@if(eq(len(v), 0))".to_owned(),
            ..Mutation::default()
        };
        let old = Mutation {
            set_nquads: bytes("uid(v) <age> \"2\" ."),
            cond: "@if(gt(len(v), 0))".to_owned(),
            ..Mutation::default()
        };
        let request =
            Request { query, mutations: vec![new, old], commit_now: true, ..Request::default() };
        site.client.ask(request).unwrap()
    };
    let first = upsert("x");
    assert_eq!(text(&first.json), r#"{"q":[]}"#);
    let second = upsert("x");
    assert!(second.uids.is_empty());
    assert_eq!(
        text(&second.json),
        format!(r#"{{"q":[{{"uid":"{}","age":1}}]}}"#, first.uids["new"])
    );
    assert_eq!(
        site.client.json("{ q(func: has(nick)) { nick age } }"),
        r#"{"q":[{"nick":"x","age":2}]}"#
    );
}

#[test]
fn requests_that_hold_nothing_or_contradict_themselves() {
    let site = Site::new();
    let set = || Mutation { set_nquads: bytes("_:a <name> \"Ann\" ."), ..Mutation::default() };
    for (request, code, why) in [
        (Request::default(), Code::Unknown, "empty request"),
        (
            Request { mutations: vec![Mutation::default()], ..Request::default() },
            Code::Unknown,
            "empty request",
        ),
        (
            Request { best_effort: true, read_only: false, ..query(ALL) },
            Code::Unknown,
            "A best effort query must be read-only.",
        ),
        (
            Request { mutations: vec![set()], ..query("") },
            Code::Unknown,
            "Readonly transaction cannot run mutations or be committed",
        ),
        (query("{ q(func: has(name)) { name }"), Code::Unknown, "line 1 column"),
        (
            Request {
                mutations: vec![Mutation { set_json: bytes("{"), ..Mutation::default() }],
                ..Request::default()
            },
            Code::Unknown,
            "line 1",
        ),
        (
            Request {
                mutations: vec![Mutation {
                    set_nquads: bytes("_:a <name> "),
                    ..Mutation::default()
                }],
                ..Request::default()
            },
            Code::Unknown,
            "line 1 column 11",
        ),
        (
            Request {
                mutations: vec![Mutation {
                    set_nquads: bytes::Bytes::from_static(b"\xff"),
                    ..Mutation::default()
                }],
                ..Request::default()
            },
            Code::InvalidArgument,
            "set_nquads of a mutation is not UTF-8",
        ),
        (Request { start_ts: u64::MAX / 2, ..query(ALL) }, Code::Unknown, "lies in the future"),
    ] {
        failed(site.client.ask(request), code, why);
    }
    let best_effort = Request { best_effort: true, ..query(ALL) };
    assert_eq!(text(&site.client.ask(best_effort).unwrap().json), r#"{"q":[]}"#);
}

#[test]
fn the_schema_is_altered_and_dropped() {
    let site = Site::new();
    let client = &site.client;
    client.set("_:a <name> \"Ann\" .\n_:a <age> \"3\" .\n_:a <dgraph.type> \"T\" .");
    let schema = "type T {\n  name\n}\ncolour: string .".to_owned();
    client.alter(Operation { schema, run_in_background: true, ..Operation::default() }).unwrap();
    let types = || client.json("schema(type: T) {}");
    assert!(types().contains(r#""name":"T""#), "{}", types());
    let op = |drop_op: DropOp, value: &str| Operation {
        drop_op: drop_op.into(),
        drop_value: value.to_owned(),
        ..Operation::default()
    };
    client.alter(op(DropOp::Type, "T")).unwrap();
    assert!(!types().contains(r#""name":"T""#), "{}", types());
    client.alter(op(DropOp::Attr, "age")).unwrap();
    client.alter(Operation { drop_attr: "colour".to_owned(), ..Operation::default() }).unwrap();
    let named = client.json("schema {}");
    assert!(
        named.contains("\"name\"") && !named.contains("\"age\"") && !named.contains("colour"),
        "{named}"
    );
    client.alter(op(DropOp::Data, "")).unwrap();
    assert_eq!(client.json(ALL), r#"{"q":[]}"#);
    assert!(client.json("schema {}").contains("\"nick\""));
    client.alter(Operation { drop_all: true, ..Operation::default() }).unwrap();
    assert!(!client.json("schema {}").contains("\"nick\""));
    for (operation, code, why) in [
        (Operation::default(), Code::Unknown, "nothing to do"),
        (op(DropOp::Attr, ""), Code::Unknown, "`drop_op` ATTR without a predicate"),
        (op(DropOp::Data, "x"), Code::Unknown, "leave out `drop_value`"),
        (Operation { drop_all: true, ..op(DropOp::Data, "") }, Code::Unknown, "exclude each other"),
        (Operation { drop_op: 9, ..Operation::default() }, Code::InvalidArgument, "drop_op is 9"),
        (
            Operation { schema: "name: sting .".to_owned(), ..Operation::default() },
            Code::Unknown,
            "sting",
        ),
    ] {
        failed(client.alter(operation), code, why);
    }
}

#[test]
fn any_text_in_dql_is_run() {
    let site = Site::new();
    let run = |text: &str| {
        let request = RunDqlRequest { dql_query: text.to_owned(), ..RunDqlRequest::default() };
        site.client.call::<_, Response>("RunDQL", request)
    };
    let done = run("{ set { _:a <nick> \"x\" . } }").unwrap();
    assert!(done.uids.contains_key("a") && 0 < done.txn.unwrap().commit_ts);
    let upsert = "upsert { query { q(func: eq(nick, \"x\")) { v as uid } } mutation { set { uid(v) <age> \"4\" . } } }";
    assert!(text(&run(upsert).unwrap().json).starts_with(r#"{"q":[{"uid":"#));
    let done = run("{ q(func: has(nick)) { nick age } }").unwrap();
    assert_eq!(text(&done.json), r#"{"q":[{"nick":"x","age":4}]}"#);
    let vars = [("$n".to_owned(), "x".to_owned())].into();
    let dql_query = "query q($n: string) { q(func: eq(nick, $n)) { nick } }".to_owned();
    let request = RunDqlRequest {
        dql_query,
        vars,
        read_only: true,
        best_effort: true,
        resp_format: RespFormat::Rdf.into(),
    };
    let done: Response = site.client.call("RunDQL", request).unwrap();
    assert!(text(&done.rdf).contains("<nick> \"x\""));
    failed(run("{ q(func: "), Code::Unknown, "error parsing DQL query: line 1");
    failed(run("{ set { _:a <nick> } }"), Code::Unknown, "error parsing DQL query: line 1");
    let request = RunDqlRequest {
        dql_query: "{ set { _:a <nick> \"x\" . } }".to_owned(),
        read_only: true,
        ..RunDqlRequest::default()
    };
    failed(
        site.client.call::<_, Response>("RunDQL", request),
        Code::Unknown,
        "Readonly transaction",
    );
}

#[test]
fn uids_are_reserved() {
    let site = Site::new();
    let allocate = |how_many| {
        let request = AllocateIDsRequest { how_many, lease_type: 1 };
        site.client.call::<_, AllocateIDsResponse>("AllocateIDs", request)
    };
    let first = allocate(10).unwrap();
    assert_eq!(first.end, first.start + 9);
    assert!(first.end < allocate(1).unwrap().start);
    let new: u64 = {
        let uids = site.client.set("_:a <name> \"x\" .").uids;
        u64::from_str_radix(uids["a"].trim_start_matches("0x"), 16).unwrap()
    };
    assert!(!(first.start..=first.end).contains(&new));
    failed(allocate(0), Code::Unknown, "Failed to allocate IDs: Nothing to be leased");
}

#[test]
fn versions_health_and_what_there_is_not() {
    let site = Site::new();
    let client = &site.client;
    let version: Version = client.call("CheckVersion", Check {}).unwrap();
    assert_eq!(version.tag, format!("v25.2.0+hexgraph.{}", env!("CARGO_PKG_VERSION")));
    let login = LoginRequest {
        userid: "groot".to_owned(),
        password: "password".to_owned(),
        ..LoginRequest::default()
    };
    failed(
        client.call::<_, Response>("Login", login),
        Code::Unknown,
        "invalid username or password",
    );
    let create =
        || client.call::<_, CreateNamespaceResponse>("CreateNamespace", CreateNamespaceRequest {});
    let made = create().unwrap().namespace;
    assert_eq!(create().unwrap().namespace, made + 1);
    let list = || {
        let reported =
            client.call::<_, ListNamespacesResponse>("ListNamespaces", ListNamespacesRequest {});
        let mut ids: Vec<u64> = reported.unwrap().namespaces.values().map(|it| it.id).collect();
        ids.sort_unstable();
        ids
    };
    assert_eq!(list(), [0, 1, 2]);
    let drop = |namespace| {
        let request = DropNamespaceRequest { namespace };
        client.call::<_, DropNamespaceResponse>("DropNamespace", request)
    };
    drop(made).unwrap();
    assert_eq!(list(), [0, 2]);
    failed(drop(made), Code::Unknown, "there is no namespace 1");
    failed(drop(0), Code::Unknown, "namespace [0] cannot be deleted");
    failed(
        client.call::<_, Response>("StreamExtSnapshot", Check {}),
        Code::Unimplemented,
        "hexgraph load",
    );
    failed(
        client.call::<_, Response>("Nothing", Check {}),
        Code::Unimplemented,
        "there is no /api.Dgraph/Nothing",
    );
    failed(
        client.call::<_, Response>("/query", Check {}),
        Code::Unimplemented,
        "there is no /query on this port",
    );
    // Fields of the health service: the service is the first of the request, the state that of the
    // answer.
    let health = |service: &str| {
        let request = Version { tag: service.to_owned() };
        client.call::<_, AllocateIDsResponse>("/grpc.health.v1.Health/Check", request)
    };
    assert_eq!(health("").unwrap().start, 1);
    assert_eq!(health("api.Dgraph").unwrap().start, 1);
    failed(health("other"), Code::NotFound, "there is no service `other`");
}
