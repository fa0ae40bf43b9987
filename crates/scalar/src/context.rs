//! What an evaluation needs besides its arguments: the moment and the random numbers of the query,
//! and what its values may cost.

use crate::error::{Fault, Result, ScalarError};
use jiff::Zoned;
use regex::Regex;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// Is called with the bytes of a value before they are allocated, and refuses those that do not
/// fit. It is not called when a value is dropped.
pub type Reserve = Arc<dyn Fn(u64) -> Result<()> + Send + Sync>;

/// The largest value that an expression makes, unless the caller says otherwise.
const VALUE_BYTES_MAX: u64 = 256 << 20;
/// Smaller values are not reserved.
const RESERVED_BYTES_MIN: u64 = 64 << 10;

/// The context of one query on one thread.
///
/// ```
/// use hexgraph_scalar::{Context, Value, function};
/// use jiff::Timestamp;
///
/// let now = Timestamp::UNIX_EPOCH.to_zoned(jiff::tz::TimeZone::UTC);
/// let context = Context::new(now, 7).with_value_bytes_max(1 << 20);
/// let range = function("range").unwrap();
/// let error = range.call(&[Value::Int(0), Value::Int(1_000_000_000_000)], &context).unwrap_err();
/// assert!(error.to_string().contains("value_bytes_max"));
/// ```
pub struct Context {
    now: Zoned,
    random: Cell<u64>,
    value_bytes_max: u64,
    reserve: Option<Reserve>,
    pattern: RefCell<Option<(Arc<str>, Regex)>>,
}

impl Context {
    /// Creates the context of a query that began at `now`, with a seed for `rand()`.
    pub fn new(now: Zoned, seed: u64) -> Context {
        let value_bytes_max = VALUE_BYTES_MAX;
        let (random, pattern) = (Cell::new(seed), RefCell::new(None));
        Context { now, random, value_bytes_max, reserve: None, pattern }
    }

    /// Returns what creates contexts of the same query for other threads. Their random numbers are
    /// not those of the query.
    pub fn forks(&self) -> impl Fn() -> Context + Send + Sync + use<> {
        let (now, value_bytes_max, reserve) =
            (self.now.clone(), self.value_bytes_max, self.reserve.clone());
        move || Context {
            now: now.clone(),
            random: Cell::new(0),
            value_bytes_max,
            reserve: reserve.clone(),
            pattern: RefCell::new(None),
        }
    }

    /// Bounds the bytes of a string or list that an operator or function makes.
    #[must_use]
    pub fn with_value_bytes_max(mut self, bytes: u64) -> Context {
        self.value_bytes_max = bytes;
        self
    }

    /// Sets what is called before strings and lists above 64 KiB are made.
    #[must_use]
    pub fn with_reserve(mut self, reserve: Reserve) -> Context {
        self.reserve = Some(reserve);
        self
    }

    /// The moment at which the query began.
    pub(crate) fn now(&self) -> &Zoned {
        &self.now
    }

    /// The next random number, from 0 up to and without 1.
    pub(crate) fn random(&self) -> f64 {
        // SplitMix64.
        let state = self.random.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.random.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Checks and reserves the bytes of a value that `what` is about to make.
    pub(crate) fn admit(&self, bytes: u128, what: &str) -> Result<()> {
        self.check(bytes, what)?;
        match &self.reserve {
            Some(reserve) if u128::from(RESERVED_BYTES_MIN) < bytes => reserve(bytes as u64),
            _ => Ok(()),
        }
    }

    /// Checks the bytes of a value, without reserving them.
    pub(crate) fn check(&self, bytes: u128, what: &str) -> Result<()> {
        if u128::from(self.value_bytes_max) < bytes {
            return Err(ScalarError::new(
                Fault::Limit,
                format!(
                    "{what} needs {bytes} bytes, and value_bytes_max is {}",
                    self.value_bytes_max
                ),
                "make a smaller value, or UNWIND parts of it",
            ));
        }
        Ok(())
    }

    /// Whether all of `text` matches a regular expression. The last expression stays compiled.
    pub(crate) fn matches(&self, text: &str, pattern: &Arc<str>) -> Result<bool> {
        let mut last = self.pattern.borrow_mut();
        if let Some((cached, regex)) = &*last
            && cached == pattern
        {
            return Ok(regex.is_match(text));
        }
        // The pattern is compiled alone first, so that `a)|(b` is an error and does not close the
        // group.
        let invalid = |error: regex::Error| {
            ScalarError::argument(
                format!("the regular expression is invalid: {error}"),
                "write it in the syntax of RE2: without lookaround and back references",
            )
        };
        Regex::new(pattern).map_err(invalid)?;
        let regex = Regex::new(&format!(r"\A(?:{pattern})\z")).map_err(invalid)?;
        let result = regex.is_match(text);
        *last = Some((pattern.clone(), regex));
        Ok(result)
    }
}
