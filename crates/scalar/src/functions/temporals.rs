//! Constructors of temporal values, truncation, and durations between two.

use super::call::Call;
use crate::error::Result;
use crate::temporal::{
    Between, Target, between, construct, convert_now, duration_of_map, from_epoch, parse_duration,
    truncate,
};
use crate::values::Value;

macro_rules! of_target {
    ($($target:ident: $make:ident, $now:ident, $truncate:ident;)*) => {
        $(pub(super) fn $make(call: &Call<'_>) -> Result<Value> {
            if call.has(0) { construct(Target::$target, call.get(0), call.context) } else { $now(call) }
        }

        pub(super) fn $now(call: &Call<'_>) -> Result<Value> {
            convert_now(Target::$target, call.arguments.first(), call.context)
        }

        pub(super) fn $truncate(call: &Call<'_>) -> Result<Value> {
            truncated(call, Target::$target)
        })*
    };
}

of_target! {
    Date: date, date_now, date_truncate;
    LocalTime: local_time, local_time_now, local_time_truncate;
    Time: time, time_now, time_truncate;
    LocalDateTime: local_date_time, local_date_time_now, local_date_time_truncate;
    DateTime: date_time, date_time_now, date_time_truncate;
}

fn truncated(call: &Call<'_>, target: Target) -> Result<Value> {
    let fields = if call.has(2) { Some(call.map(2)?) } else { None };
    // Without a value it is the present moment.
    let now;
    let value = if call.has(1) {
        call.get(1)
    } else {
        now = convert_now(Target::DateTime, None, call.context)?;
        &now
    };
    truncate(target, call.text(0)?, value, fields, call.context)
}

pub(super) fn from_epoch_seconds(call: &Call<'_>) -> Result<Value> {
    from_epoch(call.int(0)?, if call.has(1) { call.int(1)? } else { 0 })
}

pub(super) fn from_epoch_millis(call: &Call<'_>) -> Result<Value> {
    let millis = call.int(0)?;
    from_epoch(millis.div_euclid(1000), millis.rem_euclid(1000) * 1_000_000)
}

pub(super) fn timestamp(call: &Call<'_>) -> Result<Value> {
    Ok(Value::Int(call.context.now().timestamp().as_millisecond()))
}

pub(super) fn duration(call: &Call<'_>) -> Result<Value> {
    match call.get(0) {
        Value::String(text) => parse_duration(text).map(Value::from),
        Value::Map(map) => duration_of_map(map).map(Value::from),
        Value::Duration(duration) => Ok(Value::Duration(duration.clone())),
        _ => Err(call.wrong_kind(0, "a STRING or MAP")),
    }
}

pub(super) fn between_all(call: &Call<'_>) -> Result<Value> {
    between(Between::All, call.get(0), call.get(1))
}

pub(super) fn between_months(call: &Call<'_>) -> Result<Value> {
    between(Between::Months, call.get(0), call.get(1))
}

pub(super) fn between_days(call: &Call<'_>) -> Result<Value> {
    between(Between::Days, call.get(0), call.get(1))
}

pub(super) fn between_seconds(call: &Call<'_>) -> Result<Value> {
    between(Between::Seconds, call.get(0), call.get(1))
}
