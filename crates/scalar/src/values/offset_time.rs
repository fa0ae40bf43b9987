//! A time of day with an offset from UTC.

use jiff::civil::Time;
use jiff::tz::Offset;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// A time of day with an offset from UTC. Two that mean one moment of a day are equal.
///
/// ```
/// use hexgraph_scalar::OffsetTime;
/// use jiff::{civil::time, tz::offset};
///
/// let one = OffsetTime { time: time(10, 0, 0, 0), offset: offset(1) };
/// let other = OffsetTime { time: time(9, 0, 0, 0), offset: offset(0) };
/// assert_eq!(one, other);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct OffsetTime {
    /// The time of day.
    pub time: Time,
    /// The offset.
    pub offset: Offset,
}

impl OffsetTime {
    /// Nanoseconds since midnight of UTC; below 0 or beyond a day where the offset leads there.
    pub(crate) fn utc_nanos(self) -> i64 {
        nanos_of_day(self.time) - i64::from(self.offset.seconds()) * 1_000_000_000
    }
}

/// Nanoseconds since midnight.
pub(crate) fn nanos_of_day(time: Time) -> i64 {
    let seconds =
        i64::from(time.hour()) * 3600 + i64::from(time.minute()) * 60 + i64::from(time.second());
    seconds * 1_000_000_000 + i64::from(time.subsec_nanosecond())
}

impl PartialEq for OffsetTime {
    fn eq(&self, other: &OffsetTime) -> bool {
        self.utc_nanos() == other.utc_nanos()
    }
}

impl Eq for OffsetTime {}

impl Hash for OffsetTime {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.utc_nanos().hash(state);
    }
}

impl PartialOrd for OffsetTime {
    fn partial_cmp(&self, other: &OffsetTime) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OffsetTime {
    fn cmp(&self, other: &OffsetTime) -> Ordering {
        self.utc_nanos().cmp(&other.utc_nanos())
    }
}
