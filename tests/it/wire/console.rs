//! The console and GraphiQL as browsers get them, and what other programs get at the same addresses.

use super::site::{Answer, Site, send};

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
    let known = format!("If-None-Match: {}", packed.header("etag"));
    let again = get(&site, "/console/console.js", &[&known, "Accept-Encoding: gzip"]);
    assert_eq!((again.status, again.body.len()), (304, 0));
    assert!(again.header("vary").contains("accept-encoding"), "{}", again.header("vary"));
    let licences = get(&site, "/console/licenses.txt", &[]);
    for library in ["@codemirror/view", "graphiql", "react-dom", "preact", "d3-force"] {
        assert!(licences.text().contains(&format!("\n{library} ")), "{library}");
    }
}
