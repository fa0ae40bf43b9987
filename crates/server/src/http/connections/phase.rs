//! The phase of a connection, common to its socket, its service, and the search for a connection to
//! close.

use super::allowance::Allowance;
use super::socket::Socket;
use memchr::memmem;
use rustc_hash::FxHashMap;
use std::mem;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use tokio::io::Interest;
use tokio::sync::Notify;
use tokio::time::Instant;

/// The phase that a connection is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// The connection has been idle since that time.
    Idle(Instant),
    /// A request has been coming in since that time.
    Head(Instant),
    /// A request is being answered, or the connection was upgraded to another protocol.
    Busy,
}

/// The state of one connection, for all its users.
pub(super) struct Line {
    state: Mutex<State>,
    /// Notified when the connection has to close.
    pub leave: Notify,
}

struct State {
    phase: Phase,
    /// Whether several requests may run, as in HTTP/2, where bytes come that belong to none.
    is_shared: bool,
    /// The running requests, by their numbers.
    busy: FxHashMap<u64, Begun>,
    /// The number of the last request.
    last: u64,
    /// How many more requests were given up by their client than were answered.
    given_up: usize,
    /// What has come of the running request.
    come: Come,
    /// Whether all bytes that have come belong to completed requests. Once that is unknown it stays
    /// so.
    is_clean: bool,
    /// Whether all that was written has gone to the socket.
    is_flushed: bool,
    /// What may come, where the line was handed over to another protocol.
    allowance: Option<Box<Allowance>>,
}

/// What has come since the connection was idle.
#[derive(Default)]
struct Come {
    bytes: u64,
    /// The length of the head of the request, where its end was among the first bytes.
    head_len: Option<u64>,
    /// The length of the request, if available.
    full: Option<u64>,
}

/// What stands at the end of the head of a request.
const HEAD_END: &[u8] = b"\r\n\r\n";

/// A running request.
#[derive(Default)]
struct Begun {
    /// Whether its answer is being sent.
    is_sent: bool,
    /// Whether it was being sent when it was last looked at.
    was_sent: bool,
    /// The bytes of its answer that were handed over since it was last looked at.
    moved: u64,
}

/// A running request on a line, until it is dropped.
pub(super) struct Request {
    line: Arc<Line>,
    number: u64,
    /// Whether the line was handed over to another protocol.
    is_endless: bool,
}

/// A connection whose client has given up so many more requests than were answered is closed. A
/// client that begins requests only to reset them has each of them begun, and would make the server
/// work for nothing.
const GIVEN_UP_MAX: usize = 200;

/// The first bytes of a connection in HTTP/2.
pub(super) const SHARED_START: &[u8; 3] = b"PRI";

impl Line {
    /// Creates the state of a new connection, which still has to send its first request.
    pub(super) fn new() -> Line {
        let state = State {
            phase: Phase::Head(Instant::now()),
            is_shared: false,
            busy: FxHashMap::default(),
            last: 0,
            given_up: 0,
            come: Come::default(),
            is_clean: true,
            is_flushed: true,
            allowance: None,
        };
        Line { state: Mutex::new(state), leave: Notify::new() }
    }

    /// The present phase.
    pub(super) fn phase(&self) -> Phase {
        self.lock().phase
    }

    /// Records received bytes. The first ones say whether the line is multiplexed; then it is idle
    /// until a request is complete. False for bytes that exceed the allowance of a line that was
    /// handed over, or the memory.
    pub(super) fn heard(&self, bytes: &[u8]) -> bool {
        let mut state = self.lock();
        if let Some(allowance) = &mut state.allowance {
            return allowance.admit(bytes.len());
        }
        if state.come.bytes == 0 {
            let end = memmem::find(bytes, HEAD_END);
            state.come.head_len = end.map(|end| (end + HEAD_END.len()) as u64);
        }
        state.come.bytes += bytes.len() as u64;
        match state.phase {
            Phase::Head(_) if state.last == 0 && bytes.starts_with(SHARED_START) => {
                (state.is_shared, state.phase) = (true, Phase::Idle(Instant::now()));
            }
            Phase::Idle(_) if !state.is_shared => state.phase = Phase::Head(Instant::now()),
            _ => {}
        }
        true
    }

    /// Has what comes be admitted by an allowance: the line was handed over.
    pub(super) fn allow(&self, allowance: Allowance) {
        self.lock().allowance = Some(Box::new(allowance));
    }

    /// Notes that a message of a line that was handed over was consumed, and sets the limit of the
    /// next ones.
    pub(super) fn consume(&self, most: u64) {
        if let Some(allowance) = &mut self.lock().allowance {
            allowance.consume(most);
        }
    }

    /// Notes whether a line that was handed over is idle. One that is idle already stays so since
    /// the same time.
    pub(super) fn set_idle(&self, is_idle: bool) {
        let mut state = self.lock();
        state.phase = match state.phase {
            Phase::Idle(since) if is_idle => Phase::Idle(since),
            _ if is_idle => Phase::Idle(Instant::now()),
            _ => Phase::Busy,
        };
    }

    /// Notes that the head of a request is complete; its body has so many bytes, if available. It
    /// runs until the result is dropped.
    pub(super) fn begin(self: &Arc<Line>, body_len: Option<u64>) -> Request {
        let mut state = self.lock();
        let head_len = state.come.head_len;
        state.come.full = head_len.zip(body_len).and_then(|(head, body)| head.checked_add(body));
        state.phase = Phase::Busy;
        state.last += 1;
        let number = state.last;
        state.busy.insert(number, Begun::default());
        drop(state);
        Request { line: Arc::clone(self), number, is_endless: false }
    }

    /// Notes whether all that was written has gone to the socket.
    pub(super) fn note_flushed(&self, is_flushed: bool) {
        self.lock().is_flushed = is_flushed;
    }

    /// The time since which the line has been idle, with nothing of another request come and
    /// nothing of an answer left to send; `None` where that can't be said.
    pub(super) fn clean_idle(&self) -> Option<Instant> {
        let state = self.lock();
        match state.phase {
            Phase::Idle(since) if state.is_clean && state.is_flushed && !state.is_shared => {
                Some(since)
            }
            _ => None,
        }
    }

    /// The time since which no request was running on a multiplexed line; `None` for others.
    pub(super) fn shared_idle(&self) -> Option<Instant> {
        let state = self.lock();
        match state.phase {
            Phase::Idle(since) if state.is_shared => Some(since),
            _ => None,
        }
    }

    /// Whether the client of a multiplexed line has read less than so many bytes of one of its
    /// answers since the last call. On other lines the socket reports that.
    pub(super) fn is_stalled(&self, least: u64) -> bool {
        let mut state = self.lock();
        let mut is_stalled = false;
        for begun in state.busy.values_mut() {
            // A client is too slow only where its answer was being sent at the last look already,
            // so that it had all the time.
            is_stalled |= begun.was_sent && begun.moved < least;
            (begun.was_sent, begun.moved) = (begun.is_sent, 0);
        }
        is_stalled && state.is_shared
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Request {
    /// Notes that the answer is there and is being sent.
    pub(super) fn answered(&self) {
        let mut state = self.line.lock();
        state.given_up = state.given_up.saturating_sub(1);
        if let Some(begun) = state.busy.get_mut(&self.number) {
            begun.is_sent = true;
        }
    }

    /// Notes that bytes of the answer were handed over.
    pub(super) fn moved(&self, bytes: usize) {
        if let Some(begun) = self.line.lock().busy.get_mut(&self.number) {
            begun.moved += bytes as u64;
        }
    }

    /// Has the line count as busy for good: it was handed over to another protocol.
    pub(super) fn mark_endless(mut self) {
        self.is_endless = true;
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if self.is_endless {
            return;
        }
        let mut state = self.line.lock();
        let is_given_up = state.busy.remove(&self.number).is_some_and(|begun| !begun.is_sent);
        if is_given_up {
            state.given_up += 1;
        }
        if state.busy.is_empty() {
            let Come { bytes, full, .. } = mem::take(&mut state.come);
            state.is_clean = state.is_clean && full == Some(bytes);
            state.phase = Phase::Idle(Instant::now());
        }
        if GIVEN_UP_MAX < state.given_up {
            // The notice is retained where nobody waits for it at this moment.
            self.line.leave.notify_one();
        }
    }
}

/// The client at the other end, and whether it is still there.
#[derive(Clone)]
pub(crate) struct Peer {
    /// The socket, which is closed with the connection whoever requests it.
    socket: Weak<Socket>,
    /// Its end of the connection; that of this machine where it came by a file.
    pub address: IpAddr,
}

impl Peer {
    /// The client of a connection; the descriptor is shared, not doubled.
    pub(super) fn new(socket: &Arc<Socket>, address: IpAddr) -> Peer {
        Peer { socket: Arc::downgrade(socket), address }
    }

    /// True when the connection is closed, by the client or here, so that answers are not needed.
    /// The system informs the runtime when the client has closed its side, even with unread data:
    /// further requests, or with TLS the record that announces the close. O(1), without a call of
    /// the system.
    pub(crate) fn is_gone(&self) -> bool {
        let Some(socket) = self.socket.upgrade() else { return true };
        let ready = pin!(socket.ready(Interest::READABLE));
        match ready.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(ready)) => ready.is_read_closed(),
            // The runtime has ended.
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::io::AsyncWriteExt;
    use tokio::net::{TcpListener, TcpStream};
    use tokio::time::sleep;

    fn line(first: &[u8]) -> Arc<Line> {
        let line = Arc::new(Line::new());
        line.heard(first);
        line
    }

    fn has_to_leave(line: &Line) -> bool {
        let leave = pin!(line.leave.notified());
        leave.poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[tokio::test]
    async fn requests_of_one_line_make_it_busy() {
        let line = line(b"PRI * HTTP/2.0");
        assert!(line.shared_idle().is_some());
        let (one, two) = (line.begin(Some(0)), line.begin(Some(0)));
        drop(one);
        line.heard(b"ping");
        assert_eq!((line.phase(), line.shared_idle()), (Phase::Busy, None));
        drop(two);
        // What comes now belongs to no request.
        line.heard(b"ping");
        assert!(matches!(line.phase(), Phase::Idle(_)) && line.shared_idle().is_some());
    }

    #[tokio::test]
    async fn a_line_that_is_handed_over_stays_busy_and_is_freed() {
        let line = line(b"GET");
        line.begin(Some(0)).mark_endless();
        assert_eq!(line.phase(), Phase::Busy);
        assert_eq!(Arc::strong_count(&line), 1);
    }

    #[tokio::test]
    async fn one_request_after_the_other() {
        let line = line(b"POST");
        assert!(matches!(line.phase(), Phase::Head(_)));
        drop(line.begin(Some(0)));
        assert!(matches!(line.phase(), Phase::Idle(_)) && line.shared_idle().is_none());
        line.heard(b"PRI");
        assert!(matches!(line.phase(), Phase::Head(_)));
    }

    #[tokio::test]
    async fn whoever_gives_up_request_after_request_has_to_leave() {
        let line = line(SHARED_START);
        for _ in 0..GIVEN_UP_MAX {
            drop(line.begin(Some(0)));
        }
        let answered = line.begin(Some(0));
        answered.answered();
        drop(answered);
        drop(line.begin(Some(0)));
        assert!(!has_to_leave(&line));
        drop(line.begin(Some(0)));
        assert!(has_to_leave(&line));
    }

    #[tokio::test]
    async fn answers_that_nobody_takes_are_noticed() {
        let line = line(SHARED_START);
        let (waits, sent) = (line.begin(Some(0)), line.begin(Some(0)));
        sent.answered();
        // In its first window an answer may just have begun.
        assert!(!line.is_stalled(10));
        sent.moved(10);
        assert!(!line.is_stalled(10));
        sent.moved(9);
        assert!(line.is_stalled(10));
        drop((sent, waits));
        assert!(!line.is_stalled(10));
    }

    /// Whether the peer is seen to be gone within a while.
    async fn is_soon_gone(peer: &Peer) -> bool {
        for _ in 0..500 {
            if peer.is_gone() {
                return true;
            }
            sleep(Duration::from_millis(10)).await;
        }
        false
    }

    #[tokio::test]
    async fn a_peer_is_gone_although_what_it_sent_was_not_read() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (socket, address) = listener.accept().await.unwrap();
        let socket = Arc::new(Socket::Tcp(socket));
        let peer = Peer::new(&socket, address.ip());
        assert!(!peer.is_gone());
        client.write_all(b"one more").await.unwrap();
        socket.readable().await.unwrap();
        assert!(!peer.is_gone());
        client.shutdown().await.unwrap();
        assert!(is_soon_gone(&peer).await);
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_peer_by_a_file_is_gone_although_what_it_sent_was_not_read() {
        let (socket, mut client) = tokio::net::UnixStream::pair().unwrap();
        let socket = Arc::new(Socket::Unix(socket));
        let peer = Peer::new(&socket, IpAddr::from([127, 0, 0, 1]));
        client.write_all(b"one more").await.unwrap();
        socket.readable().await.unwrap();
        assert!(!peer.is_gone());
        client.shutdown().await.unwrap();
        assert!(is_soon_gone(&peer).await);
    }

    #[tokio::test]
    async fn a_peer_is_gone_when_it_is_left() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (socket, address) = listener.accept().await.unwrap();
        let socket = Arc::new(Socket::Tcp(socket));
        let peer = Peer::new(&socket, address.ip());
        assert!(!peer.is_gone());
        drop(socket);
        assert!(peer.is_gone());
    }

    #[tokio::test]
    async fn a_line_is_clean_when_all_that_came_belongs_to_requests_that_ended() {
        let head = b"POST /query HTTP/1.1\r\nContent-Length: 5\r\n\r\n".as_slice();
        let full = [head, b"{ q }"].concat();
        let request = |line: &Arc<Line>, parts: &[&[u8]], body_len: Option<u64>| {
            line.heard(parts[0]);
            let request = line.begin(body_len);
            parts[1..].iter().for_each(|part| _ = line.heard(part));
            drop(request);
            line.clean_idle().is_some()
        };
        let line = Arc::new(Line::new());
        assert!(line.clean_idle().is_none(), "nothing was requested yet");
        assert!(request(&line, &[&full], Some(5)));
        assert!(request(&line, &[head, b"{ q", b" }"], Some(5)), "the body came later");
        line.note_flushed(false);
        assert!(line.clean_idle().is_none(), "a part of the answer is left");
        line.note_flushed(true);
        line.heard(b"POST");
        assert!(line.clean_idle().is_none(), "another request is coming");
        for (parts, body_len) in [
            (vec![&*full, b"POST"], Some(5)),
            (vec![head, b"5\r\n{ q }\r\n0\r\n\r\n"], None),
            (vec![&head[..20], &head[20..], b"{ q }"], Some(5)),
        ] {
            let line = Arc::new(Line::new());
            assert!(!request(&line, &parts, body_len));
            assert!(!request(&line, &[&full], Some(5)), "it stays so: what was left is not known");
        }
    }
}
