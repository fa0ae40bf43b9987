//! Durations. Months, days and seconds are apart, as a month has no fixed number of days, nor a day
//! of seconds.

use crate::error::{Result, ScalarError};
use std::cmp::Ordering;

/// A duration. It is ordered by its length in seconds, a month as a twelfth of 365.2425 days.
///
/// ```
/// use hexgraph_scalar::{Duration, Value};
///
/// let duration = Duration::new(14, 3, 5400, 500_000_000)?;
/// assert_eq!(Value::from(duration).to_string(), "P1Y2M3DT1H30M0.5S");
/// # Ok::<(), Box<hexgraph_scalar::ScalarError>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Duration {
    months: i64,
    days: i64,
    seconds: i64,
    nanos: i32,
}

pub(crate) const NANOS_PER_SECOND: i128 = 1_000_000_000;
/// A twelfth of 365.2425 days.
pub(crate) const SECONDS_PER_MONTH: i128 = 2_629_746;
pub(crate) const SECONDS_PER_DAY: i128 = 86_400;

impl Duration {
    /// Creates a duration; nanoseconds may be of any size and either sign, and become seconds where
    /// they can.
    ///
    /// # Errors
    ///
    /// [`Fault::Overflow`](crate::Fault::Overflow) when the seconds are outside of 64 bits.
    pub fn new(months: i64, days: i64, seconds: i64, nanos: i64) -> Result<Duration> {
        let nanos = i128::from(seconds) * NANOS_PER_SECOND + i128::from(nanos);
        Duration::of_nanos(i128::from(months), i128::from(days), nanos)
    }

    /// Creates a duration whose seconds are all nanoseconds.
    pub(crate) fn of_nanos(months: i128, days: i128, nanos: i128) -> Result<Duration> {
        let seconds = nanos.div_euclid(NANOS_PER_SECOND);
        let part = |number: i128, name: &str| {
            i64::try_from(number).map_err(|_| {
                ScalarError::overflow(format!("the {name} of a duration are beyond 64 bits"))
            })
        };
        Ok(Duration {
            months: part(months, "months")?,
            days: part(days, "days")?,
            seconds: part(seconds, "seconds")?,
            nanos: nanos.rem_euclid(NANOS_PER_SECOND) as i32,
        })
    }

    /// Returns the months, those of years included.
    pub fn months(&self) -> i64 {
        self.months
    }

    /// Returns the days, those of weeks included.
    pub fn days(&self) -> i64 {
        self.days
    }

    /// Returns the seconds, those of hours included, rounded down.
    pub fn seconds(&self) -> i64 {
        self.seconds
    }

    /// Returns the nanoseconds above the seconds, from 0 to 999,999,999.
    pub fn nanos(&self) -> i32 {
        self.nanos
    }

    /// The seconds and nanoseconds as nanoseconds.
    pub(crate) fn total_nanos(&self) -> i128 {
        i128::from(self.seconds) * NANOS_PER_SECOND + i128::from(self.nanos)
    }

    /// The mean length in nanoseconds.
    fn mean_nanos(&self) -> i128 {
        let seconds = i128::from(self.months) * SECONDS_PER_MONTH
            + i128::from(self.days) * SECONDS_PER_DAY
            + i128::from(self.seconds);
        seconds * NANOS_PER_SECOND + i128::from(self.nanos)
    }
}

impl PartialOrd for Duration {
    fn partial_cmp(&self, other: &Duration) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Duration {
    fn cmp(&self, other: &Duration) -> Ordering {
        let key = |it: &Duration| (it.mean_nanos(), it.months, it.days);
        key(self).cmp(&key(other))
    }
}
