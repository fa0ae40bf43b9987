//! The console and GraphiQL as browsers get them, and what other programs get at the same
//! addresses.

use super::site::{Answer, Site, send};
use hexgraph::db::{Database, OpenOptions};
use hexgraph_server::http::{Security, ServeOptions};

const BROWSER: &str = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

fn get(site: &Site, target: &str, headers: &[&str]) -> Answer {
    send(site.server.address().unwrap(), ("GET", target), headers, b"")
}

/// What a page loads from this server: the values of `src` and `href` that are no data.
fn loaded(page: &str) -> Vec<String> {
    let values = page
        .split([' ', '>'])
        .filter_map(|word| word.strip_prefix("src=\"").or_else(|| word.strip_prefix("href=\"")));
    let values = values.filter_map(|value| value.strip_suffix('"'));
    values.filter(|value| !value.starts_with("data:")).map(str::to_owned).collect()
}

#[test]
fn browsers_get_pages_without_scripts_in_them() {
    let site = Site::new("type Note { id: ID! text: String! }");
    for path in ["/", "/graphql", "/graphql?variables=%7B%7D"] {
        let page = get(&site, path, &[BROWSER]);
        assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
        let policy = page.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; "), "{policy}");
        assert!(!page.text().contains("<script>") && !page.text().contains("https:"), "{path}");
        let files = loaded(page.text());
        assert_eq!(files.len(), 2, "{files:?}");
        for file in files {
            assert!(file.starts_with("console/"), "{file}");
            let file = get(&site, &format!("/{file}"), &[]);
            assert_eq!(file.status, 200);
            assert!(1_000 < file.body.len(), "{}", file.body.len());
            assert_eq!(file.header("x-content-type-options"), "nosniff");
        }
    }
}

#[test]
fn programs_get_what_they_got_before() {
    let site = Site::new("type Note { id: ID! text: String! }");
    let plain = get(&site, "/", &[]);
    assert_eq!(plain.header("content-type"), "text/plain; charset=utf-8");
    assert!(plain.text().contains("POST /query"), "{}", plain.text());
    for (target, headers, message) in [
        ("/graphql", &["Accept: */*"][..], "no query string supplied in request"),
        ("/graphql?query=%7Ba%7D", &[BROWSER], "Cannot query field"),
        ("/graphql?query=", &[BROWSER], "no query string supplied in request"),
        ("/graphql?extensions=%7B%7D", &[BROWSER], "no query string supplied in request"),
        ("/graphql", &[BROWSER, "Upgrade: websocket"], "no query string supplied in request"),
    ] {
        let answer = get(&site, target, headers);
        assert_eq!(answer.header("content-type"), "application/json", "{target} {headers:?}");
        assert!(answer.text().contains(message), "{target}: {}", answer.text());
    }
}

#[test]
fn a_file_is_sent_once() {
    let site = Site::new("type Note { id: ID! text: String! }");
    let packed = get(&site, "/console/console.js", &["Accept-Encoding: gzip, br, zstd"]);
    assert_eq!(packed.header("content-encoding"), "gzip");
    let plain = get(&site, "/console/console.js", &[]);
    assert_eq!(plain.header("content-encoding"), "");
    assert!(packed.body.len() * 2 < plain.body.len());
    let existing = format!("If-None-Match: {}", packed.header("etag"));
    let again = get(&site, "/console/console.js", &[&existing, "Accept-Encoding: gzip"]);
    assert_eq!((again.status, again.body.len()), (304, 0));
    assert!(again.header("vary").contains("accept-encoding"), "{}", again.header("vary"));
    let licences = get(&site, "/console/licenses.txt", &[]);
    for library in ["@codemirror/view", "graphiql", "react-dom", "preact", "d3-force"] {
        assert!(licences.text().contains(&format!("\n{library} ")), "{library}");
    }
}

/// The server of a console, and its token.
fn of_console(database: Database) -> (Site, String) {
    let mut security = Security::default();
    let token = security.open_session().unwrap();
    (Site::of(database, ServeOptions { security, ..ServeOptions::default() }), token)
}

fn open(site: &Site, token: &str, more: &[&str]) -> Answer {
    let key = format!("X-Auth-Token: {token}");
    let headers: Vec<&str> = [&*key].into_iter().chain(more.iter().copied()).collect();
    site.send("POST", "/console/session", &headers, b"")
}

fn ask(site: &Site, headers: &[&str]) -> Answer {
    let dql = "Content-Type: application/dql";
    let headers: Vec<&str> = headers.iter().copied().chain([dql]).collect();
    site.send("POST", "/query", &headers, b"{ q(func: has(n)) { n } }")
}

/// Has it answer a request with the cookie, and one that changes something.
fn change(site: &Site, cookie: &str) -> Vec<Answer> {
    let json = "Content-Type: application/json";
    let rdf = b"{ set { <0x1> <n> \"changed\" . } }";
    let add = br#"{"query": "mutation { addNote(input: { text: \"new\" }) { numUids } }"}"#;
    let assign = br#"{"query": "mutation { assign(input: { what: UID, num: 1 }) { response { startId } } }"}"#;
    let key = br#"{"query": "mutation { createKey(input: { name: \"k\", role: \"admin\" }) { secret } }"}"#;
    vec![
        site.send(
            "POST",
            "/mutate?commitNow=true",
            &[cookie, "Content-Type: application/rdf"],
            rdf,
        ),
        site.send("POST", "/alter", &[cookie], b"p: int ."),
        site.send("POST", "/alter", &[cookie], br#"{"drop_attr": "n"}"#),
        site.send("POST", "/assign?what=uids&num=1", &[cookie], b""),
        site.send("POST", "/graphql", &[cookie, json], add),
        site.send("POST", "/admin", &[cookie, json], assign),
        site.send("POST", "/admin", &[cookie, json], key),
        site.send("POST", "/admin/schema", &[cookie], b"type Other { id: ID! n: Int }"),
    ]
}

#[test]
fn a_session_is_that_of_the_browser_that_has_the_token() {
    let (site, token) = of_console(Database::in_memory());
    let (other, other_token) = of_console(Database::in_memory());
    let port = |site: &Site| site.server.address().unwrap().port();
    // Nobody is answered, the page excepted.
    for headers in [&[][..], &["Cookie: hexgraph=1"]] {
        let refused = ask(&site, headers);
        assert_eq!(refused.status, 401);
        assert!(refused.text().contains("hexgraph console"), "{}", refused.text());
    }
    assert_eq!(ask(&site, &[&format!("X-Auth-Token: {token}")]).status, 401, "it is not a key");
    assert_eq!(get(&site, "/", &[BROWSER]).status, 200);
    assert_eq!(get(&site, "/console/console.js", &[]).status, 200);
    // A page of another origin has no use of the token, nor another token any.
    for origin in ["Origin: https://evil.example", "Origin: null", "Sec-Fetch-Site: same-site"] {
        assert_eq!(open(&site, &token, &[origin]).status, 403, "{origin}");
    }
    for wrong in ["", "x", &token[1..], &other_token] {
        assert_eq!(open(&site, wrong, &[]).status, 401);
    }
    let opened = open(&site, &token, &["Sec-Fetch-Site: same-origin"]);
    let cookie = opened.header("set-cookie");
    assert_eq!((opened.status, opened.header("cache-control")), (200, "no-store"));
    let name = format!("hexgraph-{}=", port(&site));
    assert!(cookie.starts_with(&name), "{cookie}");
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
    // Whoever reads the URL later, in the history or among the processes, has no use of it.
    let again = open(&site, &token, &[]);
    assert_eq!((again.status, again.header("set-cookie")), (401, ""));
    let cookie = format!("Cookie: {}", cookie.split(';').next().unwrap());
    assert_eq!(ask(&site, &[&cookie]).status, 200);
    assert_eq!(ask(&site, &[&cookie, "Origin: http://localhost:1"]).status, 403);
    assert_eq!(ask(&site, &[&cookie, "Sec-Fetch-Site: same-site"]).status, 403);
    // Browsers send the cookie to all ports of a host.
    assert_eq!(open(&other, &other_token, &[]).status, 200);
    let renamed = cookie.replace(&name, &format!("hexgraph-{}=", port(&other)));
    for cookie in [&cookie, &renamed] {
        assert_eq!(ask(&other, &[cookie]).status, 401, "{cookie}");
    }
    let short = &cookie[..cookie.len() - 1];
    assert_eq!(ask(&site, &[short]).status, 401);
}

#[test]
fn a_console_changes_what_it_was_opened_to_change() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Database::open(folder.path(), OpenOptions::default()).unwrap();
    writer.mutate("<0x1> <n> \"before\" .", "").unwrap();
    writer.set_graphql_schema("type Note { id: ID! text: String! }").unwrap();
    let reading = OpenOptions { read_only: true, ..OpenOptions::default() };
    let reader = Database::open(folder.path(), reading).unwrap();
    for (database, may_change) in [(reader, false), (writer.clone(), true)] {
        let (site, token) = of_console(database);
        let opened = open(&site, &token, &[]);
        let cookie = format!("Cookie: {}", opened.header("set-cookie").split(';').next().unwrap());
        assert!(ask(&site, &[&cookie]).text().contains("before"));
        let before = writer.commit().unwrap();
        for (at, answer) in change(&site, &cookie).iter().enumerate() {
            let is_refused = answer.text().contains("read-only");
            assert_eq!(is_refused, !may_change, "{at}: {}", answer.text());
        }
        assert_eq!(writer.commit().unwrap() == before, !may_change);
    }
}
