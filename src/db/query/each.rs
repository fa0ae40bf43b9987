//! The answers of one query to rows of arguments that come one after the other.
//!
//! ```text
//!   push ->  | queued| queued|      rows that nobody has begun
//!   helpers           | done | .. | done |  begun, at most PREFETCH_PER_THREAD for each thread
//!   next <-                              the answer of the oldest row
//! ```
//!
//! Threads of the database that have nothing else to do answer rows while the reader looks at the
//! answers before. They stop when enough answers wait, by number or by the memory that these hold;
//! so a reader who is slow, or stops, costs no more than that. If the next answer is not begun, the
//! reader computes it on its own thread: with one thread nothing is prefetched. Dropping or closing
//! it cancels running rows.

use super::answer::QueryAnswer;
use super::plans::Variables;
use super::prepared::PreparedQuery;
use crate::db::database::Database;
use hexgraph_base::types::pool::Pool;
use hexgraph_base::types::{Error, MESSAGE_LEN_MAX, Result};
use hexgraph_store::exec::RequestContext;
use std::collections::VecDeque;
use std::process;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The most rows that run, or whose answers wait, for each thread of the database.
const PREFETCH_PER_THREAD: usize = 32;

/// The memory that answers may hold that wait to be read, in bytes. Rows that have begun may exceed
/// it.
const WAITING_MAX: u64 = 32 << 20;

/// The time after which a reader who waits has to say whether it still waits.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// The answers of one query to rows of arguments, in the order of the rows. Usable from many
/// threads; each answer is given out once.
pub struct EachAnswer {
    inner: Arc<Inner>,
    /// The process that made it: threads of a parent work for no child.
    process: u32,
}

struct Inner {
    prepared: PreparedQuery,
    /// Cancels everything; each row's own context has the same flag.
    full: RequestContext,
    /// The timeout of a single row.
    timeout: Option<Duration>,
    pool: Arc<Pool>,
    state: Mutex<State>,
    /// Wakes a waiting reader when an answer is there.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The rows that are queued.
    requested: VecDeque<Variables>,
    /// The number of answers that were read.
    consumed: usize,
    /// The answers after those that were read, if complete.
    done: VecDeque<Option<Result<QueryAnswer>>>,
    /// The bytes that these answers hold.
    waiting: u64,
    /// The number of threads that help.
    helping: usize,
}

/// # One query for each row of arguments, as a stream
impl Database {
    /// Answers one query for each row of arguments that is pushed, all from the newest version.
    /// `timeout` is the timeout of a row.
    ///
    /// ```
    /// use hexgraph::db::{Database, ParameterValue, RequestContext, Variables};
    ///
    /// let db = Database::in_memory();
    /// db.alter("name: string @index(exact) .")?;
    /// db.mutate("<1> <name> \"Ada\" .\n<2> <name> \"Bob\" .", "")?;
    /// let text = "query q($name: string) { q(func: eq(name, $name)) { uid } }";
    /// let answers = db.query_each(text, None)?;
    /// for name in ["Bob", "Ada"] {
    ///     answers.push(Variables::from([("$name".to_owned(), ParameterValue::from(name))]));
    /// }
    /// let mut rows = Vec::new();
    /// while let Some((row, answer)) = answers.next(&RequestContext::new())? {
    ///     rows.push((row, answer.to_json()?.0));
    /// }
    /// assert_eq!(rows[0], (0, r#"{"q":[{"uid":"0x2"}]}"#.to_owned()));
    /// assert_eq!(rows[1], (1, r#"{"q":[{"uid":"0x1"}]}"#.to_owned()));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Database::prepare_query`].
    pub fn query_each(&self, text: &str, timeout: Option<Duration>) -> Result<EachAnswer> {
        let full = RequestContext::new();
        let prepared = self.prepare_query_with(text, &full)?;
        let (pool, state) = (Arc::clone(self.shared_pool()), Mutex::default());
        let inner = Inner { prepared, full, timeout, pool, state, changed: Condvar::new() };
        Ok(EachAnswer { inner: Arc::new(inner), process: process::id() })
    }
}

impl EachAnswer {
    /// How many more rows it is good to push now, so that no thread waits for one.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// let answers = db.query_each("query q($a: string) { q(func: uid($a)) { uid } }", None)?;
    /// assert!(0 < answers.capacity(), "nothing was pushed yet");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn capacity(&self) -> usize {
        let state = self.inner.lock();
        self.inner.prefetch().saturating_sub(state.requested.len() + state.done.len())
    }

    /// Requests the answer to a row of arguments.
    ///
    /// ```
    /// use hexgraph::db::{Database, ParameterValue, RequestContext, Variables};
    ///
    /// let db = Database::in_memory();
    /// let answers = db.query_each("query q($a: string) { q(func: uid($a)) { uid } }", None)?;
    /// answers.push(Variables::from([("$a".to_owned(), ParameterValue::from("0x5"))]));
    /// assert!(answers.next(&RequestContext::new())?.is_some());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn push(&self, row: Variables) {
        self.inner.lock().requested.push_back(row);
    }

    /// The next answer, with the number of its row from 0; `None` after the last one. Waits for it,
    /// or makes it on this thread. `context` is that of the reader: its poll is called meanwhile,
    /// and stopping it stops everything.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// let answers = db.query_each("query q($a: string) { q(func: uid($a)) { uid } }", None)?;
    /// assert!(answers.next(&RequestContext::new())?.is_none(), "no row was pushed");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Database::query`] for this row, with its number; the next call goes on with the
    /// next row. `Query` in a process that was forked from the one that began.
    pub fn next(&self, context: &RequestContext) -> Result<Option<(usize, QueryAnswer)>> {
        if self.process != process::id() {
            let message = "these answers belong to the parent process: query again here";
            return Err(Error::query(message));
        }
        let inner = &self.inner;
        let mut state = inner.lock();
        loop {
            if let Some(Some(_)) = state.done.front()
                && let Some(Some(answer)) = state.done.pop_front()
            {
                let number = state.consumed;
                state.consumed += 1;
                state.waiting = state.waiting.saturating_sub(held_by(&answer));
                drop(state);
                inner.invite();
                return answer.map(|answer| Some((number, answer))).map_err(|e| in_row(e, number));
            }
            if let Some((number, row)) = state.begin(inner.prefetch(), true) {
                drop(state);
                inner.invite();
                inner.answer(number, row, &inner.row_control().polling(context));
                state = inner.lock();
                continue;
            }
            if state.done.is_empty() {
                return Ok(None);
            }
            let waited = inner.changed.wait_timeout(state, LOOK_INTERVAL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if let Err(error) = context.check() {
                drop(state);
                self.close();
                return Err(error);
            }
        }
    }

    /// Cancels running rows, and discards rows and answers.
    ///
    /// ```
    /// use hexgraph::db::{Database, ParameterValue, RequestContext, Variables};
    ///
    /// let db = Database::in_memory();
    /// let answers = db.query_each("query q($a: string) { q(func: uid($a)) { uid } }", None)?;
    /// answers.push(Variables::from([("$a".to_owned(), ParameterValue::from("0x5"))]));
    /// answers.close();
    /// assert!(answers.next(&RequestContext::new())?.is_none());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn close(&self) {
        self.inner.full.canceller().cancel();
        if self.process == process::id() {
            let mut state = self.inner.lock();
            state.requested.clear();
            let gone = std::mem::take(&mut state.done);
            // Running rows have no slot for their answers any more.
            state.consumed += gone.len();
            state.waiting = 0;
            drop(state);
            drop(gone);
        }
    }
}

impl Drop for EachAnswer {
    fn drop(&mut self) {
        self.close();
    }
}

impl State {
    /// Begins a queued row: returns its number and its arguments, unless enough rows run. A reader
    /// `must` have the oldest one, however much others hold.
    fn begin(&mut self, prefetch: usize, must: bool) -> Option<(usize, Variables)> {
        let is_next = must && self.done.is_empty();
        if !is_next && (prefetch <= self.done.len() || WAITING_MAX <= self.waiting) {
            return None;
        }
        let row = self.requested.pop_front()?;
        self.done.push_back(None);
        Some((self.consumed + self.done.len() - 1, row))
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The most rows that run or wait.
    fn prefetch(&self) -> usize {
        match self.pool.threads() {
            1 => 1,
            threads => PREFETCH_PER_THREAD * threads,
        }
    }

    /// A context for one row, which begins now.
    fn row_control(&self) -> RequestContext {
        self.full.afresh(self.timeout)
    }

    /// Answers a row, and stores the answer in its slot.
    fn answer(&self, number: usize, row: Variables, context: &RequestContext) {
        let answer = context.check().and_then(|()| self.prepared.query_row(&row, context));
        let mut state = self.lock();
        let position = number.checked_sub(state.consumed);
        // Without a position it was closed meanwhile.
        if let Some(position) = position.filter(|&position| position < state.done.len()) {
            state.waiting += held_by(&answer);
            state.done[position] = Some(answer);
            self.changed.notify_all();
        }
    }

    /// Invites idle threads while there are rows to begin.
    fn invite(self: &Arc<Inner>) {
        loop {
            let mut state = self.lock();
            let left = state.requested.len().min(self.prefetch().saturating_sub(state.done.len()));
            if left <= state.helping || WAITING_MAX <= state.waiting {
                return;
            }
            state.helping += 1;
            drop(state);
            let inner = Arc::clone(self);
            if !self.pool.lend(move || inner.help()) {
                self.lock().helping -= 1;
                return;
            }
        }
    }

    /// Answers rows until none is left to begin, or enough answers wait.
    fn help(&self) {
        loop {
            let mut state = self.lock();
            let Some((number, row)) = state.begin(self.prefetch(), false) else {
                state.helping -= 1;
                return;
            };
            drop(state);
            self.answer(number, row, &self.row_control());
        }
    }
}

/// The memory that an answer or an error holds, in bytes.
fn held_by(answer: &Result<QueryAnswer>) -> u64 {
    answer.as_ref().map_or(MESSAGE_LEN_MAX as u64, QueryAnswer::held)
}

/// An error with the number of the row of arguments that led to it.
pub(in crate::db) fn in_row(error: Error, position: usize) -> Error {
    match error {
        Error::Query { message, at, hint } => {
            Error::Query { message: format!("row {position}: {message}"), at, hint }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::operation::OpenOptions;
    use hexgraph_dql::ParameterValue;
    use std::thread;
    use std::time::Instant;

    const TEXT: &str =
        "query q($n: string, $most: int = 9) { q(func: eq(n, $n), first: $most) { uid n } }";

    fn database(threads: usize) -> Database {
        let db = Database::in_memory_with(OpenOptions { threads, ..OpenOptions::default() });
        db.alter("n: string @index(exact) .").unwrap();
        let lines: Vec<String> =
            (1..200).map(|uid| format!("<{uid}> <n> \"{}\" .", uid % 20)).collect();
        db.mutate(&lines.join("\n"), "").unwrap();
        db
    }

    fn row(number: usize) -> Variables {
        Variables::from([("$n".to_owned(), ParameterValue::from((number * 13 % 23).to_string()))])
    }

    /// Waits until a test holds, which it must soon.
    fn wait_until(what: &str, is_so: impl Fn() -> bool) {
        let started = Instant::now();
        while !is_so() {
            assert!(started.elapsed() < Duration::from_secs(20), "{what}");
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn answers_come_in_the_order_of_the_rows() {
        for threads in [1, 2, 8] {
            let db = database(threads);
            let each = db.query_each(TEXT, None).unwrap();
            // What is committed meanwhile is not seen: nobody has a name from 20 on.
            db.mutate("<500> <n> \"20\" .", "").unwrap();
            let prepared = db.prepare_query_with(TEXT, &RequestContext::new()).unwrap();
            let (mut pushed, mut consumed) = (0, 0);
            while consumed < 2000 {
                while pushed < 2000 && 0 < each.capacity() {
                    each.push(row(pushed));
                    pushed += 1;
                }
                let (number, answer) = each.next(&RequestContext::new()).unwrap().unwrap();
                assert_eq!(number, consumed);
                let expected = prepared.query_with(&row(number), &RequestContext::new()).unwrap();
                let json_of = |answer: &QueryAnswer| answer.to_json().unwrap().0;
                if number * 13 % 23 == 20 {
                    assert!(!json_of(&answer).contains("0x1f4"), "a later commit");
                    assert!(json_of(&expected).contains("0x1f4"));
                } else {
                    assert_eq!(json_of(&answer), json_of(&expected));
                }
                consumed += 1;
            }
            assert!(each.next(&RequestContext::new()).unwrap().is_none());
            if threads == 1 {
                assert!(!each.inner.pool.lend(|| panic!("one thread is one thread")));
            }
        }
    }

    #[test]
    fn a_reader_who_stops_is_not_far_behind() {
        for threads in [1, 2] {
            let db = database(threads);
            let each = db.query_each(TEXT, None).unwrap();
            (0..10_000).for_each(|number| each.push(row(number)));
            assert_eq!(each.capacity(), 0);
            drop(each.next(&RequestContext::new()).unwrap());
            wait_until("helpers leave", || each.inner.lock().helping == 0);
            let state = each.inner.lock();
            assert!(state.done.len() <= PREFETCH_PER_THREAD * threads, "{}", state.done.len());
            assert_eq!(state.requested.len() + state.done.len(), 9_999);
        }
    }

    #[test]
    fn memory_that_waits_is_bounded() {
        let db = database(2);
        let each = db.query_each(TEXT, None).unwrap();
        each.inner.lock().waiting = WAITING_MAX;
        (0..100).for_each(|number| each.push(row(number)));
        // The reader gets what is next, and nothing else is begun.
        each.next(&RequestContext::new()).unwrap().unwrap();
        each.inner.invite();
        let state = each.inner.lock();
        assert_eq!((state.helping, state.done.len(), state.requested.len()), (0, 0, 99));
    }

    #[test]
    fn a_row_that_fails_names_itself_and_others_go_on() {
        for threads in [1, 2] {
            let each = database(threads).query_each(TEXT, None).unwrap();
            for number in 0..30 {
                let mut variables = row(number);
                if number % 10 == 3 {
                    variables.insert("$most".to_owned(), ParameterValue::from("many".to_owned()));
                }
                each.push(variables);
            }
            for number in 0..30 {
                match each.next(&RequestContext::new()) {
                    Ok(Some((at, _))) => assert_eq!(at, number),
                    Ok(None) => panic!("row {number} has no answer"),
                    Err(error) => assert_eq!(number % 10, 3, "{error}"),
                }
            }
        }
    }

    #[test]
    fn closing_cancels_and_forgets() {
        let db = database(2);
        let each = db.query_each(TEXT, None).unwrap();
        (0..1000).for_each(|number| each.push(row(number)));
        drop(each.next(&RequestContext::new()).unwrap());
        each.close();
        assert!(each.next(&RequestContext::new()).unwrap().is_none());
        wait_until("helpers leave", || each.inner.lock().helping == 0);
        each.push(row(1));
        assert_eq!(
            each.next(&RequestContext::new()).err().unwrap().to_string(),
            "the request was cancelled"
        );
        let inner = Arc::downgrade(&each.inner);
        drop(each);
        wait_until("all is dropped", || inner.upgrade().is_none());
    }

    #[test]
    fn each_row_has_its_own_time_and_the_reader_may_give_up() {
        let db = database(2);
        let each = db.query_each(TEXT, Some(Duration::ZERO)).unwrap();
        (0..3).for_each(|number| each.push(row(number)));
        for _ in 0..3 {
            let error = each.next(&RequestContext::new()).err().unwrap().to_string();
            assert!(error.contains("timeout of 0 s"), "{error}");
        }
        let each = db.query_each(TEXT, Some(Duration::from_secs(1))).unwrap();
        thread::sleep(Duration::from_millis(1100));
        each.push(row(1));
        assert!(
            each.next(&RequestContext::new()).unwrap().is_some(),
            "its time begins when it begins"
        );
    }
}
