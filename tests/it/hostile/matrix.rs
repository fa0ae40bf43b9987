//! Every route by every method from everybody, against the table of routes: who is refused, and
//! that nothing was changed then. What is expected follows from the table; [`EXISTING`] says by
//! hand what the table has.

use crate::wire;
use hexgraph::db::{Database, QueryRequest, RequestContext, TxnOptions};
use hexgraph_server::http::{Effect, ROUTES, Role, Route, Security, ServeOptions, Server};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::TcpStream;
use std::path::Path;

/// The routes: the path, the methods, whose key, and what it changes. A path that is new stands
/// here, too, or the test fails.
const EXISTING: [(&str, &str, Role, Effect); 43] = [
    ("/query", "POST PUT", Role::Client, Effect::Reads),
    ("/cypher", "POST PUT", Role::Client, Effect::Reads),
    ("/query_many", "POST PUT", Role::Client, Effect::Reads),
    ("/mutate", "POST PUT", Role::Client, Effect::Changes),
    ("/commit", "POST PUT", Role::Client, Effect::Changes),
    ("/assign", "GET POST", Role::Client, Effect::Changes),
    ("/alter", "POST PUT", Role::Admin, Effect::Changes),
    ("/login", "POST PUT", Role::Client, Effect::Reads),
    ("/health", "GET HEAD", Role::Anyone, Effect::Reads),
    ("/state", "GET HEAD", Role::Client, Effect::Reads),
    ("/metrics", "GET HEAD", Role::Admin, Effect::Reads),
    ("/debug/prometheus_metrics", "GET HEAD", Role::Admin, Effect::Reads),
    ("/ui/keywords", "GET HEAD", Role::Client, Effect::Reads),
    ("/", "GET HEAD", Role::Anyone, Effect::Reads),
    ("/console/console.js", "GET HEAD", Role::Anyone, Effect::Reads),
    ("/console/console.css", "GET HEAD", Role::Anyone, Effect::Reads),
    ("/console/graphiql.js", "GET HEAD", Role::Anyone, Effect::Reads),
    ("/console/graphiql.css", "GET HEAD", Role::Anyone, Effect::Reads),
    ("/console/licenses.txt", "GET HEAD", Role::Anyone, Effect::Reads),
    ("/console/algorithms", "GET HEAD", Role::Anyone, Effect::Reads),
    ("/console/session", "POST", Role::Anyone, Effect::Reads),
    ("/graphql", "GET POST", Role::Client, Effect::AsTextSays),
    ("/probe/graphql", "GET HEAD", Role::Anyone, Effect::Reads),
    ("/admin", "GET POST", Role::Admin, Effect::AsTextSays),
    ("/admin/schema", "POST PUT", Role::Admin, Effect::Changes),
    ("/admin/schema/validate", "POST PUT", Role::Admin, Effect::Reads),
    ("/admin/shutdown", "GET POST", Role::Admin, Effect::Changes),
    ("/admin/draining", "POST PUT", Role::Admin, Effect::Changes),
    ("/admin/config/cache_mb", "GET PUT", Role::Admin, Effect::Reads),
    ("/api.Dgraph/Query", "POST", Role::Client, Effect::AsTextSays),
    ("/api.Dgraph/RunDQL", "POST", Role::Client, Effect::AsTextSays),
    ("/api.Dgraph/CommitOrAbort", "POST", Role::Client, Effect::Changes),
    ("/api.Dgraph/AllocateIDs", "POST", Role::Client, Effect::Changes),
    ("/api.Dgraph/Alter", "POST", Role::Admin, Effect::Changes),
    ("/api.Dgraph/Login", "POST", Role::Client, Effect::Reads),
    ("/api.Dgraph/CheckVersion", "POST", Role::Anyone, Effect::Reads),
    ("/grpc.health.v1.Health/Check", "POST", Role::Anyone, Effect::Reads),
    ("/grpc.health.v1.Health/Watch", "POST", Role::Client, Effect::Reads),
    ("/api.Dgraph/CreateNamespace", "POST", Role::Admin, Effect::Changes),
    ("/api.Dgraph/DropNamespace", "POST", Role::Admin, Effect::Changes),
    ("/api.Dgraph/ListNamespaces", "POST", Role::Admin, Effect::Reads),
    ("/api.Dgraph/UpdateExtSnapshotStreamingState", "POST", Role::Client, Effect::Reads),
    ("/api.Dgraph/StreamExtSnapshot", "POST", Role::Client, Effect::Reads),
];

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

const SCHEMA: &str = "type Note @withSubscription { id: ID! text: String! }";

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Who {
    Nobody,
    Unknown,
    Client,
    Admin,
    /// The browser of a console.
    Browser,
}

impl Who {
    fn header(self) -> &'static str {
        match self {
            // Its cookie is in [`Site::cookie`].
            Who::Nobody | Who::Browser => "",
            Who::Unknown => "X-Auth-Token: wrong\r\n",
            Who::Client => "X-Auth-Token: app\r\n",
            Who::Admin => "X-Auth-Token: root\r\n",
        }
    }
}

/// From where: what stands in the headers, `{port}` for ours, and whether that may ask.
const POSITIONS: [(&str, bool); 12] = [
    ("Host: localhost:{port}", true),
    ("Host: [::1]:{port}\r\nSec-Fetch-Site: none", true),
    ("Host: graph.example", true),
    (
        "Host: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\nSec-Fetch-Site: same-origin",
        true,
    ),
    ("Host: localhost:{port}\r\nOrigin: https://app.example\r\nSec-Fetch-Site: cross-site", true),
    ("Host: localhost:{port}\r\nOrigin: https://evil.example", false),
    ("Host: localhost:{port}\r\nOrigin: http://localhost:3000\r\nSec-Fetch-Site: same-site", false),
    ("Host: localhost:{port}\r\nOrigin: null", false),
    ("Host: localhost:{port}\r\nSec-Fetch-Site: cross-site", false),
    ("Host: evil.example:{port}", false),
    (
        "Host: evil.example:{port}\r\nOrigin: http://evil.example:{port}\r\nSec-Fetch-Site: same-origin",
        false,
    ),
    ("Host: localhost:{port}\r\nHost: evil.example", false),
];

struct Site {
    database: Database,
    server: Server,
    security: Security,
    stream: Option<BufReader<TcpStream>>,
    /// A transaction that is open.
    start: u64,
    /// What is asked for.
    path: &'static str,
    /// How many requests had a schema in them: each has another.
    serial: usize,
    /// The value of the cookie of its console, where it has one.
    cookie: Option<String>,
}

struct Answer {
    status: u16,
    headers: String,
    body: String,
}

impl Site {
    fn new(security: Security) -> Site {
        let database = Database::in_memory();
        database.set_graphql_schema(SCHEMA).unwrap();
        let server = serve(&database, &security);
        let mut site = Site {
            database,
            server,
            security,
            stream: None,
            path: "",
            start: 0,
            serial: 0,
            cookie: None,
        };
        site.begin();
        site
    }

    /// The server of a console, whose session is open.
    fn of_console(mut security: Security) -> Site {
        let token = security.open_session().unwrap();
        let mut site = Site::new(security);
        let key = format!("X-Auth-Token: {token}");
        let address = site.server.address().unwrap();
        let answer = wire::site::send(address, ("POST", "/console/session"), &[&key], b"");
        let value = answer.header("set-cookie").split([';', '=']).nth(1).unwrap();
        site.cookie = Some(value.to_owned());
        site
    }

    /// The line that names the session.
    fn cookie(&self, who: Who) -> String {
        let value = self.cookie.as_ref().filter(|_| who == Who::Browser);
        let port = self.server.address().unwrap().port();
        value.map_or(String::new(), |value| format!("Cookie: a=b; hexgraph-{port}={value}\r\n"))
    }

    fn begin(&mut self) {
        let txn = self.database.begin(TxnOptions::default()).unwrap();
        let text = "{ set { <0x99> <n> \"open\" . } }";
        self.start = txn.mutate_text_with(text, &RequestContext::new()).unwrap().start;
        txn.leave_open();
    }

    /// All that a request may change, as a text: whatever changes data, schemas or the counter of
    /// uids is a commit.
    fn state(&mut self) -> String {
        let db = &self.database;
        let text = "{ q(func: uid(0x99)) { n } }".to_owned();
        let request = QueryRequest { text, ..QueryRequest::default() };
        let open = db.query_at(self.start, &request, &RequestContext::new());
        let open = open.is_ok_and(|(answer, _)| answer.to_json().unwrap().0.contains("open"));
        let may_drain = self.path == "/admin/draining";
        let runs = self.server.is_running() && !(may_drain && self.drains());
        format!("{} {open} {runs}", self.database.commit().unwrap())
    }

    fn drains(&mut self) -> bool {
        let key = Who::Admin.header();
        self.send("GET", "/health", &format!("Host: localhost\r\n{key}"), "").status == 503
    }

    /// Makes up for what a request has changed.
    fn repair(&mut self) {
        match self.path {
            "/commit" => self.begin(),
            "/admin/shutdown" | "/admin/draining" => {
                self.stream = None;
                self.server.stop();
                self.server = serve(&self.database, &self.security);
            }
            _ => {}
        }
    }

    /// Asks, and adds what is not as expected. The state that is passed in is that of before, or
    /// empty; that of after comes back.
    fn check(
        &mut self,
        (path, method, who, position): (&'static str, &str, Who, &str),
        want: Option<u16>,
        before: String,
        faults: &mut String,
    ) -> String {
        let (target, media_type, body) = request(self, path, method);
        let secret = format!("{}{}", who.header(), self.cookie(who));
        let headers = format!("{position}\r\n{secret}Content-Type: {media_type}\r\n");
        let before = if before.is_empty() { self.state() } else { before };
        let Answer { status, headers, body } = self.send(method, &target, &headers, &body);
        // It ends when it has answered.
        while path == "/admin/shutdown"
            && want.is_none()
            && status == 200
            && self.server.is_running()
        {
            std::thread::yield_now();
        }
        let after = self.state();
        let is_changed = before != after;
        let changes = Route::of(path).is_some_and(|route| route.effect != Effect::Reads);
        let status_fits = match want {
            Some(want) => status == want,
            None => ![0, 401, 403, 404, 405].contains(&status),
        };
        let is_plain = method == "HEAD" || matches!(want, None | Some(200 | 404));
        let is_reported = is_plain || body.contains("\"errors\"");
        let is_listed = want != Some(405) || headers.contains("allow: ");
        if !status_fits || !is_reported || !is_listed || is_changed != (want.is_none() && changes) {
            let _ = writeln!(
                faults,
                "{method} {path} by {who:?} with {position:?}: {status}, wanted {want:?}; changed: {is_changed}; {body}"
            );
        }
        if !is_changed {
            return after;
        }
        self.repair();
        String::new()
    }

    fn send(&mut self, method: &str, target: &str, headers: &str, body: &str) -> Answer {
        let length = body.len();
        let text = format!(
            "{method} {target} HTTP/1.1\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
        );
        // A connection that the server has closed meanwhile is no answer.
        for _ in 0..2 {
            let address = self.server.address().unwrap();
            let stream =
                self.stream.take().or_else(|| TcpStream::connect(address).ok().map(BufReader::new));
            let Some(mut stream) = stream else { break };
            if stream.get_mut().write_all(text.as_bytes()).is_err() {
                continue;
            }
            if let Some(answer) = read(&mut stream, method) {
                let stays = answer.status != 101 && !answer.headers.contains("connection: close");
                self.stream = stays.then_some(stream);
                return answer;
            }
        }
        Answer { status: 0, headers: String::new(), body: String::new() }
    }
}

fn serve(database: &Database, security: &Security) -> Server {
    let options =
        ServeOptions { port: Some(0), security: security.clone(), ..ServeOptions::default() };
    Server::start(database.clone(), options).unwrap()
}

fn read(stream: &mut BufReader<TcpStream>, method: &str) -> Option<Answer> {
    let mut line = String::new();
    stream.read_line(&mut line).ok().filter(|length| *length > 0)?;
    let status = line.split(' ').nth(1)?.parse().ok()?;
    let mut headers = String::new();
    let mut length = 0;
    loop {
        line.clear();
        stream.read_line(&mut line).ok()?;
        if line == "\r\n" {
            break;
        }
        line.make_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.trim().parse().ok()?;
        }
        headers.push_str(&line);
    }
    let mut body = vec![0; if method == "HEAD" || status == 101 { 0 } else { length }];
    stream.read_exact(&mut body).ok()?;
    Some(Answer { status, headers, body: String::from_utf8(body).ok()? })
}

/// A request to a path that changes something when it is executed, where that can be: the target, a
/// media type, a body.
fn request(site: &mut Site, path: &str, method: &str) -> (String, &'static str, String) {
    site.serial += 1;
    let (start, serial) = (site.start, site.serial);
    let json = "application/json";
    let graphql = |target: &str, text: &str| match method {
        "GET" | "HEAD" => {
            let text = text.replace(' ', "+").replace('"', "%22");
            let text = text.replace('{', "%7B").replace('}', "%7D");
            (format!("{target}?query={text}"), json, String::new())
        }
        _ => (target.to_owned(), json, serde_json::json!({ "query": text }).to_string()),
    };
    match path {
        "/query" => (path.to_owned(), "application/dql", "{ q(func: uid(1)) { n } }".to_owned()),
        "/cypher" => (path.to_owned(), "application/cypher", "MATCH (n) RETURN n.n".to_owned()),
        "/query_many" => {
            let rows = "{\"query\": \"{ q(func: uid(1)) { n } }\"}\n{}\n";
            (path.to_owned(), "application/x-ndjson", rows.to_owned())
        }
        "/mutate" => {
            let set = "{ set { <0x1> <n> \"changed\" . } }".to_owned();
            (format!("{path}?commitNow=true"), "application/rdf", set)
        }
        "/commit" => (format!("{path}?startTs={start}&abort=true"), "text/plain", String::new()),
        "/assign" => (format!("{path}?what=uids&num=1"), "text/plain", String::new()),
        "/alter" => (path.to_owned(), "text/plain", format!("p{serial}: string .")),
        "/graphql" => {
            graphql(path, "mutation { addNote(input: { text: \"changed\" }) { numUids } }")
        }
        "/admin" => graphql(
            path,
            "mutation { assign(input: { what: UID, num: 1 }) { response { startId } } }",
        ),
        "/admin/schema" | "/admin/schema/validate" => {
            (path.to_owned(), "text/plain", format!("{SCHEMA} type T{serial} {{ id: ID! n: Int }}"))
        }
        "/admin/draining" => (format!("{path}?enable=true"), "text/plain", String::new()),
        "/admin/config/cache_mb" => (path.to_owned(), "text/plain", "100".to_owned()),
        _ => (path.to_owned(), "text/plain", String::new()),
    }
}

/// The status of a refusal, by the table; `None` for what is executed.
fn refusal(
    (path, method): (&str, &str),
    (who, who_are): (Who, &[Who]),
    may_ask: bool,
    allows_get: bool,
) -> Option<u16> {
    let route = Route::of(path);
    let role = route.map_or(Role::Client, |route| route.role);
    let needs = if 1 < who_are.len() { role } else { Role::Anyone };
    let is_get = method == "GET" || method == "HEAD";
    match (route, needs, who) {
        _ if !may_ask => Some(403),
        (_, Role::Client | Role::Admin, Who::Nobody | Who::Unknown) => Some(401),
        (_, Role::Admin, Who::Client) => Some(403),
        (None, ..) => Some(404),
        _ if method == "OPTIONS" => Some(200),
        (Some(route), ..) if !route.methods.iter().any(|existing| existing.as_str() == method) => {
            Some(route.wrong_method.as_u16())
        }
        // Its token was used, and a server without a console has no sessions.
        (Some(route), ..) if route.path == "/console/session" => {
            Some(if who_are.contains(&Who::Browser) { 401 } else { 404 })
        }
        (Some(route), ..) if is_get && route.effect != Effect::Reads && !allows_get => Some(405),
        _ => None,
    }
}

/// The routes on the port of HTTP.
fn routes() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(|route| !route.is_call())
}

/// Sends all there is, and lists what is not as expected.
fn walk(site: &mut Site, whos: &[Who], positions: &[(&str, bool)], allows_get: bool) -> String {
    let port = site.server.address().unwrap().port().to_string();
    let mut faults = String::new();
    let paths = routes().map(|route| route.path);
    let mut before = String::new();
    for path in
        paths.chain(["/console", "/nothing", "/graphql/", "/admin/nothing", "/Query", "/debug"])
    {
        site.path = path;
        for method in METHODS {
            for &who in whos {
                // What no route has, and a key that nobody knows, are tried from some positions
                // only.
                let is_rare = ["HEAD", "PATCH", "DELETE"].contains(&method) || who == Who::Unknown;
                for (position, may_ask) in positions.iter().step_by(if is_rare { 5 } else { 1 }) {
                    let position = position.replace("{port}", &port);
                    let requested = (path, method, who, &*position);
                    let want = refusal((path, method), (who, whos), *may_ask, allows_get);
                    before = site.check(requested, want, before, &mut faults);
                }
            }
        }
    }
    faults
}

fn security(settings: &str) -> Security {
    let mut security = Security::default();
    security.set(settings).unwrap();
    security.origins.allow_host("graph.example").unwrap();
    security.origins.allow_origin("https://app.example").unwrap();
    security
}

#[test]
fn the_table_is_what_is_known() {
    let name = |route: &Route| {
        let methods: Vec<&str> = route.methods.iter().map(|method| method.as_str()).collect();
        (route.path, methods.join(" "), route.role, route.effect)
    };
    let table: Vec<_> = ROUTES.iter().map(name).collect();
    let existing =
        EXISTING.map(|(path, methods, role, effect)| (path, methods.to_owned(), role, effect));
    assert_eq!(table, existing);
}

#[test]
fn whoever_may_not_changes_nothing() {
    let mut site = Site::new(security("admin-key=root; client-key=app"));
    let whos = [Who::Nobody, Who::Unknown, Who::Client, Who::Admin];
    let faults = walk(&mut site, &whos, &POSITIONS, false);
    assert_eq!(faults, "");
}

#[test]
fn a_console_answers_its_browser_alone() {
    let mut site = Site::of_console(security(""));
    let whos = [Who::Nobody, Who::Unknown, Who::Browser];
    let faults = walk(&mut site, &whos, &POSITIONS, false);
    assert_eq!(faults, "");
}

#[test]
fn without_keys_only_pages_of_other_origins_are_refused() {
    let faults = walk(&mut Site::new(security("")), &[Who::Nobody], &POSITIONS, false);
    assert_eq!(faults, "");
}

#[test]
fn changes_by_get_are_switched_on() {
    let mut security = security("");
    security.origins.allow_get_changes();
    let faults = walk(&mut Site::new(security), &[Who::Nobody], &POSITIONS[3..6], true);
    assert_eq!(faults, "");
}

#[test]
fn browsers_ask_before_and_nothing_runs() {
    let mut site = Site::new(security("admin-key=root; client-key=app"));
    let before = site.state();
    for route in routes() {
        let mut ask = |origin: &str| {
            let (target, _, body) = request(&mut site, route.path, "POST");
            let headers = format!(
                "Host: localhost\r\nOrigin: {origin}\r\nAccess-Control-Request-Method: POST\r\n\
                 Access-Control-Request-Headers: content-type, x-auth-token\r\n"
            );
            site.send("OPTIONS", &target, &headers, &body)
        };
        let allowed = ask("https://app.example");
        assert_eq!((allowed.status, allowed.body.as_str()), (200, ""), "{}", route.path);
        let methods = route.methods.iter().map(|method| method.as_str().to_ascii_lowercase());
        let methods = methods.collect::<Vec<_>>().join(",");
        for line in [
            "access-control-allow-origin: https://app.example\r\n".to_owned(),
            "access-control-allow-credentials: true\r\n".to_owned(),
            "access-control-allow-headers: content-type, x-auth-token\r\n".to_owned(),
            format!("access-control-allow-methods: {methods}\r\n"),
        ] {
            assert!(allowed.headers.contains(&line), "{}: {}", route.path, allowed.headers);
        }
        let refused = ask("https://evil.example");
        assert_eq!(refused.status, 403);
        assert!(!refused.headers.contains("access-control-"), "{}", refused.headers);
    }
    // What only looks like it needs a key.
    for lines in ["", "Access-Control-Request-Method: POST\r\n", "Origin: https://app.example\r\n"]
    {
        let headers = format!("Host: localhost\r\n{lines}");
        let answer = site.send("OPTIONS", "/assign?what=uids&num=5", &headers, "");
        assert_eq!(answer.status, 401, "{lines}");
    }
    assert_eq!(site.state(), before);
    // All origins, and then without credentials.
    let mut security = Security::default();
    security.origins.allow_origin("*").unwrap();
    let headers =
        "Host: localhost\r\nOrigin: https://any.example\r\nContent-Type: application/dql\r\n";
    let answer = Site::new(security).send("POST", "/query", headers, "{ q(func: uid(1)) { n } }");
    assert_eq!(answer.status, 200);
    assert!(answer.headers.contains("access-control-allow-origin: https://any.example\r\n"));
    assert!(!answer.headers.contains("access-control-allow-credentials"), "{}", answer.headers);
}

#[test]
fn sockets_and_events_are_for_the_same_pages() {
    let handshake = "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n";
    let events = "Accept: text/event-stream\r\nContent-Type: application/json\r\n";
    let mut site = Site::new(security("admin-key=root; client-key=app"));
    let port = site.server.address().unwrap().port().to_string();
    let add = r#"{"query":"mutation { addNote(input: { text: \"changed\" }) { numUids } }"}"#;
    for (position, may_ask) in POSITIONS {
        for who in [Who::Nobody, Who::Unknown, Who::Client, Who::Admin] {
            let position = position.replace("{port}", &port);
            let headers = format!("{position}\r\n{}", who.header());
            let (before, holds_key) = (site.state(), matches!(who, Who::Client | Who::Admin));
            let refused = if may_ask { 401 } else { 403 };
            let want = if may_ask && holds_key { 101 } else { refused };
            let answer = site.send("GET", "/graphql", &format!("{headers}{handshake}"), "");
            assert_eq!(answer.status, want, "{who:?} {position} {}", answer.body);
            if want == 101 {
                continue;
            }
            let answer = site.send("POST", "/graphql", &format!("{headers}{events}"), add);
            assert_eq!(answer.status, want, "{who:?} {position} {}", answer.body);
            assert_eq!(site.state(), before);
        }
    }
}

#[test]
fn bodies_are_of_the_media_types_of_the_table() {
    let mut site = Site::new(Security::default());
    let body = "{ q(func: uid(1)) { n } }";
    let types = ["application/json", "application/dql", "application/graphql+-", "application/rdf"];
    for route in routes().filter(|route| !route.content_types.is_empty()) {
        for given in types.into_iter().chain(["application/graphql", "text/plain", "text/html"]) {
            let headers = format!("Host: localhost\r\nContent-Type: {given}\r\n");
            let answer = site.send("POST", route.path, &headers, body);
            let reported = answer.body.to_ascii_lowercase();
            let is_refused = reported.contains("unsupported content-type")
                || reported.contains("unrecognised content-type");
            let want = !route.content_types.contains(&given);
            assert_eq!(is_refused, want, "{} {given}: {}", route.path, answer.body);
        }
    }
}

#[test]
fn bodies_are_as_long_as_the_table_says() {
    let mut site = Site::new(Security::default());
    let mut tried = 0;
    for route in routes().filter(|route| route.body_len_max < 2 << 20) {
        let takes_posts = route.methods.iter().any(|method| method.as_str() == "POST");
        // That of a session is not read.
        if ["/admin/shutdown", "/console/session"].contains(&route.path) || !takes_posts {
            continue;
        }
        let body = "x".repeat(route.body_len_max + 1);
        let answer = site.send("POST", route.path, "Host: localhost\r\n", &body);
        site.stream = None;
        assert!(answer.body.contains("length limit exceeded"), "{}: {}", route.path, answer.body);
        tried += 1;
    }
    assert!(tried > 2, "{tried}");
    assert!(site.server.is_running());
}

#[test]
fn the_documents_have_the_table() {
    let docs = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("docs");
    let of_http = |route: &&Route| !route.is_call();
    let of_grpc = |route: &&Route| route.is_call();
    check_document(&docs.join("http.md"), ROUTES.iter().filter(of_http));
    check_document(&docs.join("grpc.md"), ROUTES.iter().filter(of_grpc));
}

fn check_document<'a>(path: &Path, routes: impl Iterator<Item = &'a Route>) {
    let document = std::fs::read_to_string(path).unwrap();
    let rows: Vec<&str> = document.lines().filter(|line| line.starts_with("| `/")).collect();
    let row = |route: &Route| {
        let methods: Vec<&str> = route.methods.iter().map(|method| method.as_str()).collect();
        let role = match route.role {
            Role::Anyone => "none",
            Role::Client => "client",
            Role::Admin => "admin",
        };
        let effect = match route.effect {
            Effect::Reads => "no",
            Effect::Changes => "yes",
            Effect::AsTextSays => "mutations do",
        };
        let types = match route.content_types {
            [] => "any".to_owned(),
            _ if route.is_call() => "those of calls".to_owned(),
            types => types.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", "),
        };
        let most = route.body_len_max >> 20;
        format!(
            "| `{}` | {} | {role} | {effect} | {types} | {most} MiB |",
            route.path,
            methods.join(", ")
        )
    };
    let want: Vec<String> = routes.map(row).collect();
    assert_eq!(rows, want, "\n{}\n", want.join("\n"));
}
