//! A request as it came in: its body decompressed, its parameters read on demand.
//!
//! Memory for a body is reserved as its bytes come, not by what its headers say: so a client that
//! announces much and sends nothing uses nothing. Bodies that are not entire have half of the
//! memory at the most: slow senders leave the rest to running requests.

use super::coding::Coding;
use super::request_error::RequestError;
use crate::http::compat::go_values;
use axum::body::{Body, BodyDataStream, Bytes};
use axum::extract::Query;
use axum::http::{HeaderMap, Method, Uri, header};
use futures_util::StreamExt;
use hexgraph::db::RequestContext;
use hexgraph_base::budget::{Budget, Reservation, json_weight};
use hexgraph_base::types::{Error, without_mark};
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// The longest body that is accepted, compressed and decompressed, in bytes: the limit `body` may
/// be less, and is not more.
pub(in crate::http) const BODY_LEN_MAX: usize = 256 << 20;

/// Of a body that is refused so many bytes are thrown away, and for so long.
const THROWN_AWAY_MAX: usize = 256 << 20;
const THROW_AWAY_TIME: Duration = Duration::from_secs(2);

/// A compressed body is decompressed so many bytes at a time.
const UNPACK_LEN: usize = 64 << 10;

/// A request. Messages of errors are those of Dgraph where it has one.
pub struct Incoming {
    method: Method,
    client: Option<IpAddr>,
    headers: HeaderMap,
    parameters: Vec<(String, String)>,
    body: Bytes,
    coding: Option<Coding>,
    reservation: Option<Arc<Reservation>>,
}

/// Why a request can't be read.
#[derive(Debug)]
pub enum Unreadable {
    /// Something is wrong with it.
    Wrong(RequestError),
    /// There is no memory for it now, or no time to decompress it.
    Starved(Error),
}

/// The memory budget of bodies.
#[derive(Debug)]
pub struct Bodies {
    full: Budget,
    /// For incomplete ones, in addition to the other.
    unfinished: Budget,
}

/// The reservation of an incoming body.
struct Reserved {
    reservation: Reservation,
    unfinished: Reservation,
}

impl Bodies {
    /// Lets bodies reserve in a budget: all of it, and half of it for incomplete ones.
    pub fn new(budget: &Budget) -> Bodies {
        Bodies { full: budget.clone(), unfinished: Budget::new(budget.bound() / 2) }
    }
}

impl Reserved {
    fn reserve(&self, bytes: usize) -> Result<(), Unreadable> {
        let bytes = bytes as u64;
        self.unfinished.reserve(bytes).map_err(|_| {
            let message = "bodies of requests that are not whole have half of the memory of this process (setting \
                           `memory`) already: try again later";
            Unreadable::Starved(Error::Limit { message: message.to_owned() })
        })?;
        self.reservation.reserve(bytes).map_err(Unreadable::Starved)
    }

    fn give_back(&self, bytes: usize) {
        self.unfinished.give_back(bytes as u64);
        self.reservation.give_back(bytes as u64);
    }
}

impl Incoming {
    /// Receives the body, of at most `most` bytes, and splits the parameters.
    ///
    /// # Errors
    ///
    /// [`Unreadable::Wrong`] for a request that can't be understood, [`Unreadable::Starved`] when
    /// there is no memory for it.
    pub async fn receive(
        bodies: &Bodies,
        headers: HeaderMap,
        parameters: Option<&str>,
        (body, most): (Body, usize),
    ) -> Result<Incoming, Unreadable> {
        let (reservation, unfinished) =
            (bodies.full.reservation(), bodies.unfinished.reservation());
        let reserved = Reserved { reservation, unfinished };
        let body = receive_body(&headers, body, most, &reserved).await?;
        let coding = Coding::of_body(&headers, &body).map_err(Unreadable::Wrong)?;
        let incoming = Incoming::new(headers, parameters, body).map_err(Unreadable::Wrong)?;
        Ok(Incoming { coding, reservation: Some(Arc::new(reserved.reservation)), ..incoming })
    }

    /// Whether the body has to be decompressed.
    pub fn is_packed(&self) -> bool {
        self.coding.is_some()
    }

    /// Returns the request with its body decompressed, to at most `most` bytes. It takes computing
    /// time in proportion to them.
    ///
    /// # Errors
    ///
    /// [`Unreadable::Wrong`] for a body that is not compressed as it says or decompresses to more,
    /// [`Unreadable::Starved`] when there is no memory or `control` says to stop.
    pub fn unpacked(self, most: usize, control: &RequestContext) -> Result<Incoming, Unreadable> {
        let Some((reservation, coding)) = self.reservation.as_ref().zip(self.coding) else {
            return Ok(self);
        };
        let body = unpack((&self.body, coding), most, reservation, control)?;
        reservation.give_back(self.body.len() as u64);
        Ok(Incoming { body, coding: None, ..self })
    }

    /// A request with a plain body.
    ///
    /// # Errors
    ///
    /// [`RequestError::Parameters`].
    pub fn new(
        headers: HeaderMap,
        parameters: Option<&str>,
        body: Bytes,
    ) -> Result<Incoming, RequestError> {
        let parameters = match parameters {
            Some(text) => split(text)?,
            None => Vec::new(),
        };
        let (method, client, reservation) = (Method::POST, None, None);
        Ok(Incoming { method, client, headers, parameters, body, coding: None, reservation })
    }

    /// Its reservation.
    pub fn reservation(&self) -> Option<&Arc<Reservation>> {
        self.reservation.as_ref()
    }

    /// Reserves the memory of the body as parsed JSON, so many times, until the end of the request.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when there is no memory for it.
    pub fn reserve_json(&self, times: u64) -> Result<(), Error> {
        let Some(reservation) = &self.reservation else { return Ok(()) };
        reservation.reserve(times.saturating_mul(json_weight(&self.body)))
    }

    /// The same with another method than POST.
    pub fn with_method(self, method: Method) -> Incoming {
        Incoming { method, ..self }
    }

    /// The same from another client.
    pub fn with_client(self, client: Option<IpAddr>) -> Incoming {
        Incoming { client, ..self }
    }

    /// Where it comes from, if available.
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

    /// The body, shared.
    pub fn body(&self) -> Bytes {
        self.body.clone()
    }

    /// The same with another body, such as a part of its own.
    pub(in crate::http) fn with_body(self, body: Bytes, coding: Option<Coding>) -> Incoming {
        Incoming { body, coding, ..self }
    }

    /// The body alone.
    pub fn into_body(self) -> Bytes {
        self.body
    }

    /// Returns the body as text, without a byte order mark.
    ///
    /// # Errors
    ///
    /// [`RequestError::NotUtf8`].
    pub fn text(&self) -> Result<&str, RequestError> {
        Ok(without_mark(std::str::from_utf8(&self.body)?))
    }

    /// The media type in lower case, without its parameters. Empty when there is none.
    pub fn media_type(&self) -> String {
        let value = self.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let media_type = value.unwrap_or_default().split(';').next().unwrap_or_default();
        media_type.trim().to_ascii_lowercase()
    }

    /// Returns the media type in lower case, without its parameters. Empty when there is none.
    ///
    /// # Errors
    ///
    /// [`RequestError::Charset`] when a charset is named that is not UTF-8.
    pub fn content_type(&self) -> Result<String, RequestError> {
        let value = self.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let value = value.unwrap_or_default().to_ascii_lowercase();
        let mut parts = value.split(';').map(str::trim);
        let charset = parts.find_map(|part| part.strip_prefix("charset="));
        match charset.map(|charset| charset.trim_matches('"')) {
            None | Some("utf-8") => Ok(self.media_type()),
            Some(_) => Err(RequestError::Charset),
        }
    }

    /// A parameter; empty when it is not there.
    pub fn parameter(&self, name: &str) -> &str {
        let result = self.parameters.iter().find(|(key, _)| key == name);
        result.map_or("", |(_, value)| value)
    }

    /// Whether a parameter is there, even an empty one.
    pub fn has_parameter(&self, name: &str) -> bool {
        self.parameters.iter().any(|(key, _)| key == name)
    }

    /// Returns a parameter that is true or false; false when it is not there.
    ///
    /// # Errors
    ///
    /// [`RequestError::Parameter`].
    pub fn flag(&self, name: &'static str) -> Result<bool, RequestError> {
        let said = |reason| RequestError::Parameter { name, kind: "bool", reason };
        match self.parameter(name) {
            "" => Ok(false),
            text => go_values::parse_bool(text).map_err(said),
        }
    }

    /// Returns a parameter that is a number; 0 when it is not there.
    ///
    /// # Errors
    ///
    /// [`RequestError::Parameter`].
    pub fn number(&self, name: &'static str) -> Result<u64, RequestError> {
        let said = |reason| RequestError::Parameter { name, kind: "uint64", reason };
        match self.parameter(name) {
            "" => Ok(0),
            text => go_values::parse_u64(text).map_err(said),
        }
    }

    /// Returns the parameter `timeout` of the request; `None` without one.
    ///
    /// # Errors
    ///
    /// [`RequestError::Parameter`].
    pub fn timeout(&self) -> Result<Option<Duration>, RequestError> {
        let (name, kind) = ("timeout", "time.Duration");
        let said = |reason| RequestError::Parameter { name, kind, reason };
        match self.parameter("timeout") {
            "" => Ok(None),
            text => go_values::parse_duration(text).map(Some).map_err(said),
        }
    }
}

/// Receives a body of at most so many bytes. What is left of a body that is refused is thrown away,
/// within bounds: a client that is still sending would not read why.
async fn receive_body(
    headers: &HeaderMap,
    body: Body,
    most: usize,
    reserved: &Reserved,
) -> Result<Bytes, Unreadable> {
    let mut chunks = body.into_data_stream();
    let received = gather_body(headers, &mut chunks, most, reserved).await;
    if received.is_err() {
        let throw_away = async {
            let mut left = THROWN_AWAY_MAX;
            while let Some(Ok(chunk)) = chunks.next().await
                && chunk.len() <= left
            {
                left -= chunk.len();
            }
        };
        // Whoever needs longer for it is cut off.
        let _ = timeout(THROW_AWAY_TIME, throw_away).await;
    }
    received
}

async fn gather_body(
    headers: &HeaderMap,
    chunks: &mut BodyDataStream,
    most: usize,
    reserved: &Reserved,
) -> Result<Bytes, Unreadable> {
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    let announced = announced.and_then(|length| length.parse().ok()).unwrap_or(usize::MAX);
    // Without the header any length is possible; a header that is no number counts as a body that
    // is too long.
    let too_long = || Unreadable::Wrong(RequestError::LongBody { most });
    if headers.contains_key(header::CONTENT_LENGTH) && most < announced {
        return Err(too_long());
    }
    let mut full = Vec::new();
    let mut first: Option<Bytes> = None;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| {
            Unreadable::Wrong(RequestError::BrokenBody { reason: error.to_string() })
        })?;
        let existing = first.as_ref().map_or(full.len(), Bytes::len);
        if most - existing < chunk.len() {
            // No more than `most` was accepted so far, so the difference is not negative.
            return Err(too_long());
        }
        // Most bodies are one fragment, which is left where it is.
        if existing == 0 {
            reserved.reserve(chunk.len())?;
            first = Some(chunk);
            continue;
        }
        let (reserve, give_back) =
            (|bytes| reserved.reserve(bytes), |bytes| reserved.give_back(bytes));
        make_space(&mut full, existing + chunk.len(), announced.min(most), (&reserve, &give_back))?;
        if let Some(first) = first.take() {
            full.extend_from_slice(&first);
            reserved.give_back(first.len());
        }
        full.extend_from_slice(&chunk);
    }
    Ok(first.unwrap_or_else(|| Bytes::from(full)))
}

/// What reserves memory, and what gives it back.
type Callbacks<'a> = (&'a dyn Fn(usize) -> Result<(), Unreadable>, &'a dyn Fn(usize));

/// Reserves capacity in a buffer for `expected` bytes in all. A buffer that has to grow at least
/// doubles, but not beyond `likely`, the number of bytes that are expected. The bytes of the new
/// buffer are reserved, and those of the old one given back.
fn make_space(
    buffer: &mut Vec<u8>,
    expected: usize,
    likely: usize,
    (reserve, give_back): Callbacks<'_>,
) -> Result<(), Unreadable> {
    let capacity = buffer.capacity();
    if expected <= capacity {
        return Ok(());
    }
    let expected = expected.max((2 * capacity).min(likely));
    // Both buffers exist while the bytes are moved, so the new one is reserved before the old one
    // is given back.
    reserve(expected)?;
    buffer.reserve_exact(expected - buffer.len());
    give_back(capacity);
    Ok(())
}

fn unpack(
    (body, coding): (&[u8], Coding),
    most: usize,
    reservation: &Reservation,
    control: &RequestContext,
) -> Result<Bytes, Unreadable> {
    let mut unpacked = Vec::new();
    let damaged = |error: io::Error| Unreadable::Wrong(coding.fault(&error));
    let mut reader = coding.unpacker(body).map_err(damaged)?;
    let reserve = |bytes| reservation.reserve(bytes as u64).map_err(Unreadable::Starved);
    let give_back = |bytes| reservation.give_back(bytes as u64);
    loop {
        control.check().map_err(Unreadable::Starved)?;
        // There has to be space for one step more than is allowed: that a body is too long is seen
        // only by what goes beyond.
        let (existing, likely) = (unpacked.len(), most.saturating_add(UNPACK_LEN));
        make_space(&mut unpacked, existing + UNPACK_LEN, likely, (&reserve, &give_back))?;
        unpacked.resize(existing + UNPACK_LEN, 0);
        let count = reader.read(&mut unpacked[existing..]).map_err(damaged)?;
        unpacked.truncate(existing + count);
        if count == 0 {
            return Ok(Bytes::from(unpacked));
        }
        if most < unpacked.len() {
            return Err(Unreadable::Wrong(RequestError::LongUnpacked { most }));
        }
    }
}

fn split(parameters: &str) -> Result<Vec<(String, String)>, RequestError> {
    let uri = Uri::builder().path_and_query(format!("/?{parameters}")).build();
    let uri = uri.map_err(|error| RequestError::Parameters { reason: error.to_string() })?;
    match Query::<Vec<(String, String)>>::try_from_uri(&uri) {
        Ok(Query(parameters)) => Ok(parameters),
        Err(error) => Err(RequestError::Parameters { reason: error.body_text() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn bodies_reserve_what_comes_and_are_bounded() {
        use flate2::Compression;
        use flate2::write::GzEncoder;
        use futures_util::stream;
        use std::io::Write;
        const MOST: usize = 16 << 20;
        let budget = Budget::new(80 << 20);
        let bodies = Bodies::new(&budget);
        let chunks = |count: usize| {
            let chunk = || Ok::<_, std::io::Error>(Bytes::from(vec![b'x'; 64 << 10]));
            Body::from_stream(stream::iter((0..count).map(move |_| chunk())))
        };
        let packed = |bytes: usize| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&vec![b'x'; bytes]).unwrap();
            Body::from(encoder.finish().unwrap())
        };
        let gzip = || HeaderMap::from_iter([(header::CONTENT_ENCODING, "gzip".parse().unwrap())]);
        let control = RequestContext::new();
        let receive = async |headers, body| {
            let incoming = Incoming::receive(&bodies, headers, None, (body, MOST)).await?;
            incoming.unpacked(MOST, &control)
        };
        let body = receive(HeaderMap::new(), chunks(48)).await.unwrap();
        assert_eq!(body.bytes().len(), 3 << 20);
        assert!((3 << 20..8 << 20).contains(&budget.reserved()), "{}", budget.reserved());
        let wrong = receive(HeaderMap::new(), chunks(300)).await.map(|_| ()).unwrap_err();
        assert!(
            matches!(&wrong, Unreadable::Wrong(why) if why.to_string().contains("the limit `body`"))
        );
        let wrong = receive(gzip(), packed(17 << 20)).await.map(|_| ()).unwrap_err();
        assert!(matches!(&wrong, Unreadable::Wrong(RequestError::LongUnpacked { most: MOST })));
        let others = budget.reservation();
        others.reserve(60 << 20).unwrap();
        let wrong = receive(gzip(), packed(10 << 20)).await.map(|_| ()).unwrap_err();
        assert!(
            matches!(&wrong, Unreadable::Starved(Error::Limit { message })
                if message.contains("`memory`")),
            "{wrong:?}"
        );
        drop(others);
        drop(body);
        let unpacked = receive(gzip(), packed(4 << 20)).await.unwrap();
        assert_eq!(unpacked.bytes().len(), 4 << 20);
        drop(unpacked);
        let many: Vec<_> =
            futures_util::future::join_all((0..60).map(|_| receive(HeaderMap::new(), chunks(40))))
                .await;
        assert!(many.iter().any(|one| matches!(one, Err(Unreadable::Starved(_)))));
        drop(many);
        // Half of it is for incomplete bodies; a complete one no longer counts among them.
        let body = receive(HeaderMap::new(), chunks(200)).await.unwrap();
        let never = |count| {
            let chunks = chunks(count).into_data_stream().chain(stream::pending());
            let body = Body::from_stream(chunks);
            timeout(THROW_AWAY_TIME + Duration::from_secs(1), receive(HeaderMap::new(), body))
        };
        let (one, other) = tokio::join!(never(250), never(250));
        let refused = one.ok().or(other.ok()).unwrap().map(|_| ()).unwrap_err();
        assert!(
            matches!(&refused, Unreadable::Starved(Error::Limit { message })
                if message.contains("half of the memory")),
            "{refused:?}"
        );
        drop(body);
        assert_eq!((budget.reserved(), bodies.unfinished.reserved()), (0, 0));
    }

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
        assert_eq!(of("application/dql;charset=latin1"), Err(RequestError::Charset));
    }

    #[test]
    fn parameters() {
        let incoming = incoming("", "ro=T&startTs=0x10&timeout=1.5s&be=maybe&ro=false&a=%7B+b");
        assert_eq!(incoming.flag("ro"), Ok(true));
        assert_eq!(incoming.number("startTs"), Ok(16));
        assert_eq!(incoming.timeout(), Ok(Some(Duration::from_millis(1500))));
        assert_eq!(incoming.parameter("a"), "{ b");
        let want = "while parsing be as bool: strconv.ParseBool: parsing \"maybe\": invalid syntax";
        assert_eq!(incoming.flag("be").unwrap_err().to_string(), want);
    }
}
