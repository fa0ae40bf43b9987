//! The fields of a map that describes a day or a time of day, perhaps as changes of another one.

use super::ranges::{self, within};
use crate::error::{Result, ScalarError};
use crate::values::{Map, Value, shortened};
use jiff::civil::{Date, Time};

/// The keys of a day.
pub(super) const DATE_KEYS: [&str; 8] =
    ["year", "quarter", "month", "week", "day", "ordinalDay", "dayOfWeek", "dayOfQuarter"];
/// The keys of a time of day.
pub(super) const TIME_KEYS: [&str; 6] =
    ["hour", "minute", "second", "millisecond", "microsecond", "nanosecond"];

/// The fields of a map.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(pub(super) &'a Map);

impl Fields<'_> {
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    pub(super) fn has_null(&self) -> bool {
        self.0.entries().iter().any(|(_, value)| value.is_null())
    }

    fn has_any(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.get(key).is_some())
    }

    /// An integer.
    pub(super) fn int(&self, key: &str) -> Result<Option<i64>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Int(number)) => Ok(Some(*number)),
            Some(other) => Err(ScalarError::argument(
                format!("`{key}` is {}", shortened(other)),
                "write an INTEGER",
            )),
        }
    }

    /// Fails for keys that are not in any of the lists.
    pub(super) fn check_keys(&self, kind: &str, lists: &[&[&str]]) -> Result<()> {
        for (key, _) in self.0.entries() {
            if !lists.iter().any(|keys| keys.contains(&&**key)) {
                let keys: Vec<&str> = lists.iter().flat_map(|keys| keys.iter().copied()).collect();
                return Err(ScalarError::argument(
                    format!("`{key}` is no field of a {kind}"),
                    format!("write one of {}", keys.join(", ")),
                ));
            }
        }
        Ok(())
    }

    /// The day. What is not given is that of `base`, or the first one.
    pub(super) fn date(&self, base: Option<Date>) -> Result<Date> {
        let forms: [&[&str]; 4] = [
            &["month", "day"],
            &["week", "dayOfWeek"],
            &["ordinalDay"],
            &["quarter", "dayOfQuarter"],
        ];
        let given: Vec<&[&str]> = forms.into_iter().filter(|form| self.has_any(form)).collect();
        if let [one, other, ..] = &given[..] {
            return Err(ScalarError::argument(
                format!("`{}` and `{}` exclude each other", one.join("`, `"), other.join("`, `")),
                "describe a day by its month, its week, its quarter or its number in the year",
            ));
        }
        match given.first().copied() {
            Some(["week", ..]) => self.date_of_week(base),
            Some(["ordinalDay"]) => {
                let year = self.year(base.map(|base| base.year()))?;
                ranges::date_of_ordinal(year, self.int("ordinalDay")?.unwrap_or(1))
            }
            Some(["quarter", ..]) => self.date_of_quarter(base),
            _ => self.date_of_month(base),
        }
    }

    fn year(&self, base: Option<i16>) -> Result<i64> {
        let year = self.int("year")?.or(base.map(i64::from));
        year.ok_or_else(|| missing("year"))
    }

    fn date_of_month(&self, base: Option<Date>) -> Result<Date> {
        let year = self.year(base.map(|base| base.year()))?;
        let month = self.int("month")?.or(base.map(|base| base.month().into()));
        match (month, self.int("day")?, base) {
            (None, Some(_), _) => Err(missing("month")),
            (month, Some(day), _) => ranges::date(year, month.unwrap_or(1), day),
            (month, None, base) => {
                let day = base.map_or(1, |base| base.day().into());
                ranges::date_clamped(year, month.unwrap_or(1), day)
            }
        }
    }

    fn date_of_week(&self, base: Option<Date>) -> Result<Date> {
        let base = base.map(Date::iso_week_date);
        let year = self.year(base.map(|base| base.year()))?;
        let week = self.int("week")?.or(base.map(|base| base.week().into()));
        let week = week.ok_or_else(|| missing("week"))?;
        let base_day = base.map(|base| base.weekday().to_monday_one_offset().into());
        let day = self.int("dayOfWeek")?.or(base_day).unwrap_or(1);
        ranges::date_of_week(year, week, day)
    }

    fn date_of_quarter(&self, base: Option<Date>) -> Result<Date> {
        let year = self.year(base.map(|base| base.year()))?;
        let quarter = self.int("quarter")?.or(base.map(|base| (i64::from(base.month()) + 2) / 3));
        let quarter = quarter.ok_or_else(|| missing("quarter"))?;
        match (self.int("dayOfQuarter")?, base) {
            // The same month of the quarter.
            (None, Some(base)) => {
                let quarter: i64 = within(quarter, 1..=4, "quarter")?;
                let month = (quarter - 1) * 3 + i64::from(base.month() - 1) % 3 + 1;
                ranges::date_clamped(year, month, base.day().into())
            }
            (day, _) => ranges::date_of_quarter(year, quarter, day.unwrap_or(1)),
        }
    }

    /// The time of day. What is not given is that of `base`, or 0; nanoseconds are added to those
    /// of `base` where `adds` says so.
    pub(super) fn time(&self, base: Option<Time>, adds: bool) -> Result<Time> {
        if base.is_none() {
            self.check_chain()?;
        }
        let field = |key: &str, base: Option<i8>| -> Result<i64> {
            Ok(self.int(key)?.or(base.map(i64::from)).unwrap_or(0))
        };
        let hour = field("hour", base.map(|base| base.hour()))?;
        let minute = field("minute", base.map(|base| base.minute()))?;
        let second = field("second", base.map(|base| base.second()))?;
        let base = base.map_or(0, |base| i64::from(base.subsec_nanosecond()));
        let nanos = match self.nanos()? {
            Some(nanos) if adds => base.saturating_add(nanos),
            Some(nanos) => nanos,
            None => base,
        };
        ranges::time(hour, minute, second, nanos)
    }

    /// A field needs the larger ones.
    fn check_chain(&self) -> Result<()> {
        let chain = [
            ("hour", &["minute", "second"][..]),
            ("minute", &["second"][..]),
            ("second", &["millisecond", "microsecond", "nanosecond"][..]),
        ];
        for (key, smaller) in chain {
            if self.get(key).is_none() && self.has_any(smaller) {
                return Err(missing(key));
            }
        }
        Ok(())
    }

    /// The sum of the parts of a second; each is below one of the next larger that is given.
    fn nanos(&self) -> Result<Option<i64>> {
        let parts = [("millisecond", 1_000_000), ("microsecond", 1000), ("nanosecond", 1)];
        let mut result = None;
        let mut limit = 1_000_000_000;
        for (key, unit) in parts {
            if let Some(number) = self.int(key)? {
                let number: i64 = within(number, 0..=limit / unit - 1, key)?;
                result = Some(result.unwrap_or(0) + number * unit);
                limit = unit;
            }
        }
        Ok(result)
    }
}

fn missing(key: &str) -> Box<ScalarError> {
    ScalarError::argument(
        format!("`{key}` is missing"),
        format!("write it too, as in {{{key}: 1}}"),
    )
}
