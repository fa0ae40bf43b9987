//! A request as it came in: its body unpacked, its parameters read on demand.

use super::go_values;
use axum::body::Bytes;
use axum::extract::Query;
use axum::http::HeaderMap;
use axum::http::Method;
use axum::http::Uri;
use axum::http::header;
use flate2::read::GzDecoder;
use std::io::Read;
use std::net::IpAddr;
use std::time::Duration;

/// The longest body that is taken, packed and unpacked, in bytes.
pub const BODY_LEN_MAX: usize = 256 << 20;

/// What all that is packed with gzip begins with.
const GZIP_HEADER: &[u8] = &[0x1f, 0x8b, 8];

/// A request. Messages of errors are those of the reference where it has one.
pub struct Incoming {
    method: Method,
    client: Option<IpAddr>,
    headers: HeaderMap,
    parameters: Vec<(String, String)>,
    body: Bytes,
}

impl Incoming {
    /// Unpacks the body and splits the parameters.
    pub fn new(
        headers: HeaderMap,
        parameters: Option<&str>,
        body: Bytes,
    ) -> Result<Incoming, String> {
        let body = unpack(&headers, body)?;
        let parameters = match parameters {
            Some(text) => split(text)?,
            None => Vec::new(),
        };
        Ok(Incoming { method: Method::POST, client: None, headers, parameters, body })
    }

    /// The same with another method than POST.
    pub fn with_method(self, method: Method) -> Incoming {
        Incoming { method, ..self }
    }

    /// The same from another client.
    pub fn with_client(self, client: Option<IpAddr>) -> Incoming {
        Incoming { client, ..self }
    }

    /// Where it comes from, where that is known.
    pub fn client(&self) -> Option<IpAddr> {
        self.client
    }

    /// The method.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The body.
    pub fn bytes(&self) -> &[u8] {
        &self.body
    }

    /// The body as text.
    pub fn text(&self) -> Result<&str, String> {
        std::str::from_utf8(&self.body).map_err(|error| format!("the body is not UTF-8: {error}"))
    }

    /// The media type in lower case, without its parameters. Empty when there is none.
    pub fn media_type(&self) -> String {
        let value = self.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let media_type = value.unwrap_or_default().split(';').next().unwrap_or_default();
        media_type.trim().to_ascii_lowercase()
    }

    /// The media type, where nothing but UTF-8 is named beside it.
    pub fn content_type(&self) -> Result<String, String> {
        let value = self.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let value = value.unwrap_or_default().to_ascii_lowercase();
        let mut parts = value.split(';').map(str::trim);
        let charset = parts.find_map(|part| part.strip_prefix("charset="));
        match charset.map(|charset| charset.trim_matches('"')) {
            None | Some("utf-8") => Ok(self.media_type()),
            Some(_) => Err("the charset is not supported (only UTF-8 is)".to_owned()),
        }
    }

    /// A parameter; empty when it is not there.
    pub fn parameter(&self, name: &str) -> &str {
        let found = self.parameters.iter().find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value)
    }

    /// A parameter that is true or false.
    pub fn flag(&self, name: &str) -> Result<bool, String> {
        let said = |error| format!("while parsing {name} as bool: {error}");
        match self.parameter(name) {
            "" => Ok(false),
            text => go_values::parse_bool(text).map_err(said),
        }
    }

    /// A parameter that is a number.
    pub fn number(&self, name: &str) -> Result<u64, String> {
        let said = |error| format!("while parsing {name} as uint64: {error}");
        match self.parameter(name) {
            "" => Ok(0),
            text => go_values::parse_u64(text).map_err(said),
        }
    }

    /// How long the request may take.
    pub fn timeout(&self) -> Result<Option<Duration>, String> {
        let said = |error| format!("while parsing timeout as time.Duration: {error}");
        match self.parameter("timeout") {
            "" => Ok(None),
            text => go_values::parse_duration(text).map(Some).map_err(said),
        }
    }
}

/// Whether the client can unpack gzip.
pub fn accepts_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|accepted| {
        accepted.split(',').any(|coding| {
            let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
            let quality = quality.trim().strip_prefix("q=").map(|number| number.trim().parse());
            // Nothing of it is wanted: `q=0`.
            name.trim().eq_ignore_ascii_case("gzip") && quality != Some(Ok(0.0))
        })
    })
}

fn unpack(headers: &HeaderMap, body: Bytes) -> Result<Bytes, String> {
    let coding = headers.get(header::CONTENT_ENCODING).map_or(&b""[..], |value| value.as_bytes());
    match coding.to_ascii_lowercase().as_slice() {
        b"" | b"identity" => return Ok(body),
        b"gzip" | b"x-gzip" => {}
        _ => return Err("Unsupported content encoding".to_owned()),
    }
    if !body.starts_with(GZIP_HEADER) {
        return Err("gzip: invalid header".to_owned());
    }
    let mut unpacked = Vec::new();
    let mut reader = GzDecoder::new(&body[..]).take(BODY_LEN_MAX as u64 + 1);
    reader.read_to_end(&mut unpacked).map_err(|error| format!("gzip: {error}"))?;
    if BODY_LEN_MAX < unpacked.len() {
        return Err(format!("the body unpacks to more than {BODY_LEN_MAX} bytes"));
    }
    Ok(Bytes::from(unpacked))
}

fn split(parameters: &str) -> Result<Vec<(String, String)>, String> {
    let uri = Uri::builder().path_and_query(format!("/?{parameters}")).build();
    let uri = uri.map_err(|error| format!("in the parameters: {error}"))?;
    match Query::<Vec<(String, String)>>::try_from_uri(&uri) {
        Ok(Query(parameters)) => Ok(parameters),
        Err(error) => Err(format!("in the parameters: {}", error.body_text())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn incoming(content_type: &'static str, parameters: &str) -> Incoming {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, content_type.parse().unwrap());
        Incoming::new(headers, Some(parameters), Bytes::new()).unwrap()
    }

    #[test]
    fn content_types() {
        let of = |text| incoming(text, "").content_type();
        assert_eq!(of("application/dql"), Ok("application/dql".to_owned()));
        assert_eq!(of("Application/JSON; charset=UTF-8"), Ok("application/json".to_owned()));
        assert!(of("application/dql;charset=latin1").is_err());
    }

    #[test]
    fn answers_in_gzip() {
        for (accepted, want) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("br;q=1, gzip; q=0.0", false),
            ("deflate", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, accepted.parse().unwrap());
            assert_eq!(accepts_gzip(&headers), want, "{accepted}");
        }
    }

    #[test]
    fn parameters() {
        let incoming = incoming("", "ro=T&startTs=0x10&timeout=1.5s&be=maybe&ro=false&a=%7B+b");
        assert_eq!(incoming.flag("ro"), Ok(true));
        assert_eq!(incoming.number("startTs"), Ok(16));
        assert_eq!(incoming.timeout(), Ok(Some(Duration::from_millis(1500))));
        assert_eq!(incoming.parameter("a"), "{ b");
        let want = "while parsing be as bool: strconv.ParseBool: parsing \"maybe\": invalid syntax";
        assert_eq!(incoming.flag("be"), Err(want.to_owned()));
    }
}
