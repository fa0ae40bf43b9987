//! A connection over WebSocket: one task, which reads what the client says and writes what its
//! subscriptions find.

use crate::http::answering::READ_AT_ONCE_MAX;
use crate::http::app::App;
use crate::http::connections::HandedOver;
use crate::http::graphql::subscribe::dialect::{Dialect, Said, reason};
use crate::http::graphql::subscribe::feed::{Delivery, Feed, Item, Job, hold};
use crate::http::graphql::subscribe::scheduled::Asker;
use crate::http::guard::keys::KEY_HEADER;
use crate::http::guard::users::database_for_subscriber;
use crate::http::logs::ID;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use hexgraph::db::graphql::{GraphqlError, Headers};
use hexgraph_base::budget::Held;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::ControlFlow;
use std::ops::ControlFlow::{Break, Continue};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::time::{interval, timeout};

/// The largest number of messages that wait to be written. Each subscription has at most one of
/// them.
const QUEUE_LEN: usize = 16;

/// The time that a client has to answer the closing of the connection.
const GOODBYE: Duration = Duration::from_millis(500);

/// The most bytes of names and values in a first message: they count as headers, and each operation
/// has a copy of them.
const INIT_LEN_MAX: usize = 64 << 10;

/// The bytes of the read buffer. That of a message grows with it, and is reserved.
const READ_BUFFER_LEN: usize = 4 << 10;

/// The most bytes of a message of a client that has not logged in: those of a first message.
const LOGIN_LEN_MAX: u64 = 2 * INIT_LEN_MAX as u64;

/// The timeout for informing a connection that it is closed for another one.
const CLOSE_WITHIN: Duration = Duration::from_millis(50);

/// The code by which a connection is closed that there is no memory for now (RFC 6455, section
/// 7.4.2, and its registry).
const TRY_AGAIN: u16 = 1013;

/// Why a connection is closed: a code and a reason for the client, unless it is gone.
type End = Option<(u16, String)>;

/// Returns true if a request requests a WebSocket with one of the supported protocols.
pub(crate) fn is_subscriber(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let expected = text(header::UPGRADE).eq_ignore_ascii_case("websocket");
    let mut names = text(header::SEC_WEBSOCKET_PROTOCOL).split(',').map(str::trim);
    expected && names.any(|name| Dialect::of_name(name).is_some())
}

/// Upgrades a request to a WebSocket and serves it.
pub(crate) fn accept(
    app: Arc<App>,
    upgrade: WebSocketUpgrade,
    caller: (Headers, Asker),
    line: Option<HandedOver>,
) -> Response {
    let most = app.feeds.options.message_len_max;
    let upgrade = upgrade.max_message_size(most).max_frame_size(most).protocols(Dialect::NAMES);
    let upgrade = upgrade.read_buffer_size(READ_BUFFER_LEN);
    upgrade.on_upgrade(move |socket| async move {
        let name = socket.protocol().and_then(|name| name.to_str().ok());
        if let Some(dialect) = name.and_then(Dialect::of_name) {
            Connection::new(app, dialect, (socket, line), caller).serve().await;
        }
    })
}

/// The events that a connection waits for.
enum Event {
    Received(Option<Result<Message, axum::Error>>),
    Delivery(Delivery),
    Tick,
    Overdue,
    Leave,
    Closing,
}

struct Connection {
    app: Arc<App>,
    dialect: Dialect,
    socket: WebSocket,
    /// The connection below; `None` in tests without one.
    line: Option<HandedOver>,
    /// Whether the client is authenticated and may query.
    is_logged_in: bool,
    /// The headers of the request that was upgraded to this connection.
    headers: Headers,
    asker: Asker,
    /// The headers in the client's first message; `None` before that message has come.
    init: Option<Headers>,
    /// The running jobs by their ids, each with its number.
    feeds: HashMap<Arc<str>, (u64, Feed)>,
    /// The number of the last job.
    serial: u64,
    out: mpsc::Sender<Delivery>,
    deliveries: mpsc::Receiver<Delivery>,
    /// The time when the last message of the client came.
    heard: Instant,
}

impl Connection {
    fn new(
        app: Arc<App>,
        dialect: Dialect,
        (socket, line): (WebSocket, Option<HandedOver>),
        (headers, asker): (Headers, Asker),
    ) -> Connection {
        let (out, deliveries) = mpsc::channel(QUEUE_LEN);
        Connection {
            app,
            dialect,
            socket,
            line,
            is_logged_in: false,
            headers,
            asker,
            init: None,
            feeds: HashMap::new(),
            serial: 0,
            out,
            deliveries,
            heard: Instant::now(),
        }
    }

    async fn serve(mut self) {
        // What the connection takes, as long as it is there.
        let _own = match self
            .line
            .as_ref()
            .map(|line| line.begin(self.app.unguarded.budget(), LOGIN_LEN_MAX))
        {
            Some(Err(error)) => {
                return self.say_goodbye(TRY_AGAIN, reason(&error.to_string())).await;
            }
            Some(Ok(own)) => Some(own),
            None => None,
        };
        let mut closing = self.app.feeds.closing();
        let options = self.app.feeds.options;
        let mut ticks = interval(options.ping_every.max(Duration::from_millis(1)));
        ticks.tick().await;
        let overdue = tokio::time::sleep(options.init_timeout);
        tokio::pin!(overdue);
        let line = self.line.clone();
        let end = loop {
            self.note_use();
            let leave = async {
                match &line {
                    Some(line) => line.leave().await,
                    None => std::future::pending().await,
                }
            };
            let event = tokio::select! {
                biased;
                () = closing.wait() => Event::Closing,
                () = leave => Event::Leave,
                () = &mut overdue, if !self.is_logged_in => Event::Overdue,
                _ = ticks.tick() => Event::Tick,
                // It holds a sender itself, so there is always one.
                Some(delivery) = self.deliveries.recv() => Event::Delivery(delivery),
                received = self.socket.recv() => Event::Received(received),
            };
            if let Break(end) = self.handle(event).await {
                break end;
            }
        };
        self.feeds.clear();
        if let Some((code, reason)) = end {
            self.say_goodbye(code, reason).await;
        }
    }

    /// Lets other connections replace this one while it has no operations, or is not authenticated.
    fn note_use(&self) {
        if let Some(line) = &self.line {
            line.set_idle(!self.is_logged_in || self.feeds.is_empty());
        }
    }

    /// Records that a message was consumed. After authentication the next ones may be as long as
    /// requests.
    fn note_received(&self) {
        let most = match self.is_logged_in {
            true => self.app.feeds.options.message_len_max as u64 + LOGIN_LEN_MAX,
            false => LOGIN_LEN_MAX,
        };
        if let Some(line) = &self.line {
            line.received(most);
        }
    }

    /// Whether the client may query: with users only with a valid token, and always otherwise.
    fn may_query(&self) -> bool {
        let database = &self.app.unguarded;
        !database.has_access_list()
            || database_for_subscriber(database, &self.headers()).user().is_some()
    }

    async fn handle(&mut self, event: Event) -> ControlFlow<End> {
        match event {
            Event::Received(Some(Ok(message))) => {
                self.heard = Instant::now();
                self.receive(message).await
            }
            Event::Received(Some(Err(error))) => Break(Some(unreadable(&error))),
            Event::Received(None) => Break(None),
            Event::Delivery(delivery) => self.pass_on(delivery).await,
            Event::Tick => self.look_for_client().await,
            Event::Overdue if self.init.is_some() => {
                Break(Some((4401, "Unauthorized: no token that holds came in time".to_owned())))
            }
            Event::Overdue => Break(Some((4408, "Connection initialisation timeout".to_owned()))),
            Event::Leave => {
                let why = "the server has no more connections: try again later".to_owned();
                let frame = CloseFrame { code: TRY_AGAIN, reason: why.into() };
                // The one that waits for the connection slot does not wait for long.
                let _ = timeout(CLOSE_WITHIN, self.socket.send(Message::Close(Some(frame)))).await;
                Break(None)
            }
            Event::Closing => {
                let ids: Vec<Arc<str>> = self.feeds.drain().map(|(id, _)| id).collect();
                for id in ids {
                    self.write(self.dialect.complete(&id)).await?;
                }
                Break(Some((1001, "the server stops".to_owned())))
            }
        }
    }

    async fn receive(&mut self, message: Message) -> ControlFlow<End> {
        match message {
            Message::Text(text) => {
                // Reserved before it is read, and held as long as the operation.
                let held = match hold(&self.app, text.as_bytes()) {
                    Ok(held) => held,
                    Err(error) => return Break(Some((TRY_AGAIN, reason(&error.to_string())))),
                };
                self.note_received();
                let said = read(Arc::clone(&self.app), self.dialect, text).await;
                self.answer(said, held).await
            }
            Message::Binary(_) => Break(Some((1003, "messages are text".to_owned()))),
            // The library answers both; the connection is closed after the last message.
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => {
                self.note_received();
                Continue(())
            }
        }
    }

    async fn answer(&mut self, said: Said, held: Held) -> ControlFlow<End> {
        match said {
            Said::Init(_) if self.dialect == Dialect::Modern && self.init.is_some() => {
                Break(Some((4429, "Too many initialisation requests".to_owned())))
            }
            Said::Init(headers) if INIT_LEN_MAX < headers.byte_len() => {
                let message =
                    format!("the payload of connection_init has more than {INIT_LEN_MAX} bytes");
                Break(Some((4400, message)))
            }
            Said::Init(headers) => {
                self.init = Some(headers);
                self.log_in();
                self.write(self.dialect.acknowledge()).await
            }
            Said::Ping(answer) | Said::Wrong(answer) => self.write(answer).await,
            Said::Pong => Continue(()),
            Said::Start(id, request) => {
                if self.dialect == Dialect::Modern && self.init.is_none() {
                    return Break(Some((4401, "Unauthorized".to_owned())));
                }
                // In the older dialect the first message may be missing.
                self.log_in();
                let id: Arc<str> = id.into();
                let (mut headers, takes_all) = (self.headers(), self.dialect == Dialect::Modern);
                let (serial, asker) = (self.serial + 1, self.asker);
                let logged = self.app.logs.begin_operation(&mut headers, serial, &request.query);
                let job = Job { id, serial, request, headers, asker, takes_all, held, logged };
                self.start(job).await
            }
            Said::Stop(id) => {
                self.feeds.remove(id.as_str());
                match self.dialect {
                    Dialect::Legacy => self.write(self.dialect.complete(&id)).await,
                    Dialect::Modern => Continue(()),
                }
            }
            Said::Terminate => Break(Some((1000, String::new()))),
            Said::Fatal(code, reason) => Break(Some((code, reason))),
        }
    }

    /// Checks whether the client may query now.
    fn log_in(&mut self) {
        if !self.is_logged_in && self.may_query() {
            self.is_logged_in = true;
            self.note_received();
        }
    }

    async fn start(&mut self, job: Job) -> ControlFlow<End> {
        let most = self.app.feeds.options.per_connection;
        let is_full = self.feeds.len() >= most;
        match self.feeds.entry(Arc::clone(&job.id)) {
            Entry::Occupied(_) => match self.dialect.in_use(&job.id) {
                Said::Fatal(code, reason) => Break(Some((code, reason))),
                Said::Wrong(answer) => self.write(answer).await,
                _ => Continue(()),
            },
            Entry::Vacant(_) if is_full => {
                if let Some(logged) = job.logged {
                    logged.answered(StatusCode::TOO_MANY_REQUESTS);
                }
                let message =
                    format!("this connection has {most} subscriptions already, and no more may be");
                for message in self.dialect.failed(&job.id, &[GraphqlError::new(message)]) {
                    self.write(message).await?;
                }
                Continue(())
            }
            Entry::Vacant(entry) => {
                self.serial = job.serial;
                let feed = Feed::start(&self.app, job, self.out.clone());
                entry.insert((self.serial, feed));
                Continue(())
            }
        }
    }

    /// The entries of the first message, then the headers of the request. A key counts only in
    /// those: it let the request in. So does the id by which the log names the connection.
    fn headers(&self) -> Headers {
        let mut headers = self.init.clone().unwrap_or_default();
        headers.remove(KEY_HEADER);
        headers.remove(ID.as_str());
        headers.extend(&self.headers);
        headers
    }

    async fn pass_on(&mut self, delivery: Delivery) -> ControlFlow<End> {
        let Delivery { id, serial, item, permit } = delivery;
        // An answer of a stopped operation is not for the one that has its name now.
        if self.feeds.get(&id).is_none_or(|(current, _)| *current != serial) {
            return Continue(());
        }
        match item {
            Item::Next(payload) => {
                self.write(self.dialect.next(&id, &payload)).await?;
                drop(permit);
                return Continue(());
            }
            Item::Failed(faults) => {
                for message in self.dialect.failed(&id, &faults) {
                    self.write(message).await?;
                }
            }
            Item::Complete => self.write(self.dialect.complete(&id)).await?,
        }
        self.feeds.remove(&id);
        Continue(())
    }

    async fn look_for_client(&mut self) -> ControlFlow<End> {
        if self.heard.elapsed() > self.app.feeds.options.ping_every * 3 {
            return Break(None);
        }
        self.send(Message::Ping(axum::body::Bytes::new())).await
    }

    async fn write(&mut self, text: String) -> ControlFlow<End> {
        self.send(Message::Text(text.into())).await
    }

    async fn send(&mut self, message: Message) -> ControlFlow<End> {
        let patience = self.app.feeds.options.write_timeout;
        match timeout(patience, self.socket.send(message)).await {
            Ok(Ok(())) => Continue(()),
            _ => Break(None),
        }
    }

    /// Closes, and reads remaining data: else the system might discard what was written.
    async fn say_goodbye(mut self, code: u16, reason: String) {
        let frame = CloseFrame { code, reason: reason.into() };
        let _ = timeout(GOODBYE, async {
            if self.socket.send(Message::Close(Some(frame))).await.is_ok() {
                while let Some(Ok(_)) = self.socket.recv().await {}
            }
        })
        .await;
    }
}

/// Reads a message: a short one here, and a long one where no other connection waits for it.
async fn read(app: Arc<App>, dialect: Dialect, text: Utf8Bytes) -> Said {
    match text.len() {
        0..=READ_AT_ONCE_MAX => dialect.read(&text),
        _ => app.feeds.workers.execute(move || dialect.read(&text)).await,
    }
}

/// The close code of a connection with an invalid message. A client that is gone won't hear it.
fn unreadable(error: &axum::Error) -> (u16, String) {
    let error = error.to_string();
    let code = match error.to_ascii_lowercase() {
        reported if reported.contains("too long") => 1009,
        reported if reported.contains("utf-8") => 1007,
        _ => 1002,
    };
    (code, reason(&error))
}
