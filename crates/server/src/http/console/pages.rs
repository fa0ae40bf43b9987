//! The two pages, what they load, and who gets them: clients that accept `text/html`, as browsers
//! do when an address is opened.

use super::asset::Asset;
use crate::http::app::App;
use crate::http::message::incoming::Incoming;
use crate::http::message::reply::Reply;
use crate::http::route::Bare;
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{HeaderMap, Method, header};

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// What programs get at `/`.
const GREETING: &str = "hexgraph\n\nOpen this address in a browser for the console.\n\
     DQL is answered at POST /query, Cypher at POST /cypher, GraphQL at POST /graphql; GET /health says whether the server is there.\n";

macro_rules! packed {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".gz"))
    };
}

static INDEX: Asset = Asset::new(HTML, packed!("index.html"));
static GRAPHIQL: Asset = Asset::new(HTML, packed!("graphiql.html"));
static CONSOLE_JS: Asset = Asset::new(JAVASCRIPT, packed!("console.js"));
static CONSOLE_CSS: Asset = Asset::new(CSS, packed!("console.css"));
static GRAPHIQL_JS: Asset = Asset::new(JAVASCRIPT, packed!("graphiql.js"));
static GRAPHIQL_CSS: Asset = Asset::new(CSS, packed!("graphiql.css"));
static LICENSES_TXT: Asset = Asset::new("text/plain; charset=utf-8", packed!("licenses.txt"));

/// The script of the console.
pub(in crate::http) fn script(_: &App, request: &Bare<'_>) -> Reply {
    CONSOLE_JS.reply(request.headers)
}

/// The style of the console.
pub(in crate::http) fn style(_: &App, request: &Bare<'_>) -> Reply {
    CONSOLE_CSS.reply(request.headers)
}

/// GraphiQL with the libraries that it needs.
pub(in crate::http) fn graphiql_script(_: &App, request: &Bare<'_>) -> Reply {
    GRAPHIQL_JS.reply(request.headers)
}

/// The style of GraphiQL.
pub(in crate::http) fn graphiql_style(_: &App, request: &Bare<'_>) -> Reply {
    GRAPHIQL_CSS.reply(request.headers)
}

/// The licences of all libraries in the scripts.
pub(in crate::http) fn licenses(_: &App, request: &Bare<'_>) -> Reply {
    LICENSES_TXT.reply(request.headers)
}

/// Answers `/`: the console for browsers, a few words for others.
pub(in crate::http) fn index(_: &App, request: &Bare<'_>) -> Reply {
    match accepts_html(request.headers) {
        true => INDEX.reply(request.headers),
        false => Reply::text(GREETING).with_header("vary", "accept, accept-encoding"),
    }
}

/// Whether a request to `/graphql` is that of a browser whose user has opened the address: it names
/// no query and accepts a page.
pub(in crate::http) fn is_for_graphiql(request: &Request) -> bool {
    let headers = request.headers();
    if *request.method() != Method::GET
        || !accepts_html(headers)
        || headers.contains_key(header::UPGRADE)
    {
        return false;
    }
    // Parameters that can't be read are answered as in any other request.
    let parameters = Incoming::new(HeaderMap::new(), request.uri().query(), Bytes::new());
    parameters.is_ok_and(|it| !it.has_parameter("query") && !it.has_parameter("extensions"))
}

/// Answers with GraphiQL.
pub(in crate::http) fn graphiql(headers: &HeaderMap) -> Reply {
    GRAPHIQL.reply(headers)
}

fn accepts_html(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut types = accepted.flat_map(|value| value.split(','));
    types.any(|one| {
        let name = one.split(';').next().unwrap_or(one);
        name.trim().eq_ignore_ascii_case("text/html")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use axum::http::StatusCode;

    fn request(target: &str, headers: &[(&str, &str)]) -> Request {
        let mut request = Request::get(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(Body::empty()).unwrap()
    }

    #[test]
    fn who_gets_graphiql() {
        const BROWSER: (&str, &str) = ("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
        for (target, headers, want) in [
            ("/graphql", &[BROWSER][..], true),
            ("/graphql?variables=1", &[BROWSER], true),
            ("/graphql", &[("accept", "TEXT/HTML;q=0.9")], true),
            ("/graphql", &[], false),
            ("/graphql", &[("accept", "*/*")], false),
            ("/graphql", &[("accept", "text/htmlx")], false),
            ("/graphql?query=%7Ba%7D", &[BROWSER], false),
            ("/graphql?query=", &[BROWSER], false),
            ("/graphql?quer%79=a", &[BROWSER], false),
            ("/graphql?extensions=1", &[BROWSER], false),
            // What is no escape is itself, in the name of a parameter too.
            ("/graphql?a=%zz", &[BROWSER], true),
            ("/graphql?query%zz=1", &[BROWSER], true),
            ("/graphql", &[BROWSER, ("upgrade", "websocket")], false),
        ] {
            assert_eq!(is_for_graphiql(&request(target, headers)), want, "{target} {headers:?}");
        }
        let mut post = request("/graphql", &[BROWSER]);
        *post.method_mut() = Method::POST;
        assert!(!is_for_graphiql(&post));
    }

    #[test]
    fn files_are_sent_once_and_unpacked_for_clients_without_gzip() {
        for asset in [&INDEX, &GRAPHIQL, &CONSOLE_JS, &CONSOLE_CSS, &GRAPHIQL_JS, &LICENSES_TXT] {
            let sent = |headers: &[(&str, &str)]| {
                asset.reply(request("/", headers).headers()).into_response(None)
            };
            let plain = sent(&[]);
            assert_eq!(plain.status(), StatusCode::OK);
            assert!(!plain.headers().contains_key(header::CONTENT_ENCODING));
            let policy = plain.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
            assert!(policy.contains("script-src 'self';"), "{policy}");
            let tag = plain.headers()[header::ETAG].to_str().unwrap().to_owned();
            let packed = sent(&[("accept-encoding", "br, gzip")]);
            assert_eq!(packed.headers()[header::CONTENT_ENCODING], "gzip");
            assert_eq!(packed.headers()[header::ETAG], *tag);
            let cached = sent(&[("if-none-match", &format!("\"x\", {tag}"))]);
            assert_eq!(cached.status(), StatusCode::NOT_MODIFIED);
            assert_eq!(sent(&[("if-none-match", "W/\"x\"")]).status(), StatusCode::OK);
        }
    }
}
