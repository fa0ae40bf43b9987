//! A run of values of one predicate, in position order, in heap or mapped.
//!
//! Values of one type lie in one plain array (Arrow's layout: fixed width, or offsets and bytes).
//! What needs fewer bits has an array of narrower items; [`super::values_pack`] chooses.
//! A predicate of type `default`, and one whose type was altered after data came, may hold
//! several types: then each value is tagged and they lie contiguously in bytes.

use crate::storage::files::blocks::unwind_with;
use crate::storage::{Array, Offsets, TextArray};
use hexgraph_base::types::{DateTime, Error, Value, ValueRef, ValueType};
use std::ops::Range;

/// Values by position.
#[derive(Clone)]
pub enum Values {
    /// Ints that all fit 32 bits.
    SmallInt(Array<i32>),
    /// Ints.
    Int(Array<i64>),
    /// Floats.
    Float(Array<f64>),
    /// Bools, one byte each.
    Bool(Array<u8>),
    /// Instants that are midnights of UTC near 1970, as days.
    Days(Array<i16>),
    /// Instants in seconds of UTC that fit 32 bits.
    SmallTime(Array<i32>),
    /// Instants; `nanos` and `offsets` are empty when all are 0.
    DateTime {
        /// Seconds since 1970.
        seconds: Array<i64>,
        /// Nanoseconds.
        nanos: Array<u32>,
        /// Zone offsets in minutes.
        offsets: Array<i16>,
    },
    /// Values whose content is text.
    Text {
        /// Which of the textual types.
        value_type: ValueType,
        /// The texts.
        texts: TextArray,
    },
    /// Values whose content is text, where few texts come often.
    Coded {
        /// Which of the textual types.
        value_type: ValueType,
        /// Which of the texts each value is.
        codes: Array<u16>,
        /// The texts, each once.
        texts: TextArray,
    },
    /// Vectors contiguous.
    Vector {
        /// The position among the numbers at which each vector starts.
        offsets: Offsets,
        /// All their numbers.
        numbers: Array<f32>,
    },
    /// Tagged values of several types.
    Mixed {
        /// The position among the bytes at which each value starts.
        offsets: Offsets,
        /// A byte for the type, then the content.
        bytes: Array<u8>,
    },
}

/// The batch of numbers for the least and greatest, so small that the second pass over it reads the
/// nearest cache.
const MIN_MAX_BATCH: usize = 4096;

/// The least and the greatest of some numbers.
fn min_max_of<S: Copy + Ord + Into<i64>>(numbers: &[S]) -> Option<(i64, i64)> {
    let first = *numbers.first()?;
    let (mut least, mut greatest) = (first, first);
    for numbers in numbers.chunks(MIN_MAX_BATCH) {
        least = numbers.iter().copied().fold(least, S::min);
        greatest = numbers.iter().copied().fold(greatest, S::max);
    }
    Some((least.into(), greatest.into()))
}

impl Values {
    /// A run without values.
    pub fn empty(value_type: ValueType) -> Values {
        ValuesBuilder::new(value_type).finish()
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            Values::SmallInt(numbers) => numbers.len(),
            Values::Int(numbers) => numbers.len(),
            Values::Float(numbers) => numbers.len(),
            Values::Bool(bools) => bools.len(),
            Values::Days(days) => days.len(),
            Values::SmallTime(seconds) => seconds.len(),
            Values::DateTime { seconds, .. } => seconds.len(),
            Values::Coded { codes, .. } => codes.len(),
            Values::Text { texts, .. } => texts.len(),
            Values::Vector { offsets, .. } | Values::Mixed { offsets, .. } => offsets.rows(),
        }
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads all texts: other values are what their bits are.
    ///
    /// # Panics
    ///
    /// Unwinds where one is no text.
    pub(crate) fn check_texts(&self) {
        match self {
            Values::Text { texts, .. } => texts.check(),
            Values::Coded { codes, texts, .. } => {
                texts.check();
                if let Some(code) =
                    codes.as_slice().iter().max().filter(|code| texts.len() <= usize::from(**code))
                {
                    unwind_with(codes.corrupt(format_args!("there is no text {code}")));
                }
            }
            Values::Mixed { .. } => (0..self.len()).for_each(|at| _ = self.get(at)),
            _ => {}
        }
    }

    /// The type of all values, `None` when there are several.
    pub fn value_type(&self) -> Option<ValueType> {
        match self {
            Values::SmallInt(_) | Values::Int(_) => Some(ValueType::Int),
            Values::Float(_) => Some(ValueType::Float),
            Values::Bool(_) => Some(ValueType::Bool),
            Values::Days(_) | Values::SmallTime(_) | Values::DateTime { .. } => {
                Some(ValueType::DateTime)
            }
            Values::Text { value_type, .. } | Values::Coded { value_type, .. } => Some(*value_type),
            Values::Vector { .. } => Some(ValueType::Vector),
            Values::Mixed { .. } => None,
        }
    }

    /// The value at a position, in a few nanoseconds.
    pub fn get(&self, position: usize) -> ValueRef<'_> {
        match self {
            Values::SmallInt(numbers) => ValueRef::Int(i64::from(numbers.get(position))),
            Values::Int(numbers) => ValueRef::Int(numbers.get(position)),
            Values::Float(numbers) => ValueRef::Float(numbers.get(position)),
            Values::Bool(bools) => ValueRef::Bool(bools.get(position) != 0),
            Values::Days(days) => {
                ValueRef::DateTime(instant(i64::from(days.get(position)) * DAY_SECONDS))
            }
            Values::SmallTime(seconds) => {
                ValueRef::DateTime(instant(i64::from(seconds.get(position))))
            }
            Values::DateTime { seconds, nanos, offsets } => ValueRef::DateTime(DateTime {
                seconds: seconds.get(position),
                nanos: if nanos.is_empty() { 0 } else { nanos.get(position) },
                offset_minutes: if offsets.is_empty() { 0 } else { offsets.get(position) },
            }),
            Values::Text { value_type, texts } => textual(*value_type, texts.get(position)),
            Values::Coded { value_type, codes, texts } => {
                textual(*value_type, texts.get(usize::from(codes.get(position))))
            }
            Values::Vector { offsets, numbers } => {
                ValueRef::Vector(numbers.slice(offsets.range(position)))
            }
            Values::Mixed { offsets, bytes } => untag(bytes.slice(offsets.range(position))),
        }
    }

    /// The text of a code, in a column of few distinct texts.
    pub(crate) fn text_of_code(&self, code: usize) -> Option<ValueRef<'_>> {
        match self {
            Values::Coded { value_type, texts, .. } if code < texts.len() => {
                Some(textual(*value_type, texts.get(code)))
            }
            _ => None,
        }
    }

    /// How many codes a column of few distinct texts has; 0 for any other.
    pub fn code_count(&self) -> usize {
        if let Values::Coded { texts, .. } = self { texts.len() } else { 0 }
    }

    /// True when a value at some of these positions is a number below 0, or a float that is not a
    /// number. O(positions) for numbers and tagged values, else O(1).
    pub(super) fn has_negative(&self, positions: Range<usize>) -> bool {
        // Without an early exit, so that the loop is vectorised.
        match self {
            Values::SmallInt(numbers) => {
                numbers.slice(positions).iter().fold(false, |any, &number| any | (number < 0))
            }
            Values::Int(numbers) => {
                numbers.slice(positions).iter().fold(false, |any, &number| any | (number < 0))
            }
            Values::Float(numbers) => numbers
                .slice(positions)
                .iter()
                .fold(false, |any, &number| any | (number < 0.0) | number.is_nan()),
            Values::Mixed { .. } => {
                positions.into_iter().any(|position| is_negative(self.get(position)))
            }
            _ => false,
        }
    }

    /// The least and the greatest of the values at some positions, as the integers that they are
    /// stored as: ints, bools, and instants in days or seconds. `None` for an empty range, and for
    /// other types. O(positions), in one pass over memory.
    pub(crate) fn min_max(&self, positions: Range<usize>) -> Option<(i64, i64)> {
        match self {
            Values::SmallInt(numbers) | Values::SmallTime(numbers) => {
                min_max_of(numbers.slice(positions))
            }
            Values::Int(numbers) => min_max_of(numbers.slice(positions)),
            Values::Days(days) => min_max_of(days.slice(positions)),
            Values::Bool(bools) => min_max_of(bools.slice(positions)),
            _ => None,
        }
    }

    /// The bytes of the values.
    pub fn byte_len(&self) -> usize {
        match self {
            Values::SmallInt(numbers) => numbers.byte_len(),
            Values::Int(numbers) => numbers.byte_len(),
            Values::Float(numbers) => numbers.byte_len(),
            Values::Bool(bools) => bools.byte_len(),
            Values::Days(days) => days.byte_len(),
            Values::SmallTime(seconds) => seconds.byte_len(),
            Values::Coded { codes, texts, .. } => codes.byte_len() + texts.byte_len(),
            Values::DateTime { seconds, nanos, offsets } => {
                seconds.byte_len() + nanos.byte_len() + offsets.byte_len()
            }
            Values::Text { texts, .. } => texts.byte_len(),
            Values::Vector { offsets, numbers } => offsets.byte_len() + numbers.byte_len(),
            Values::Mixed { offsets, bytes } => offsets.byte_len() + bytes.byte_len(),
        }
    }
}

/// True for a number below 0, and for a float that is not a number.
pub(crate) fn is_negative(value: ValueRef<'_>) -> bool {
    match value {
        ValueRef::Int(number) => number < 0,
        ValueRef::Float(number) => number < 0.0 || number.is_nan(),
        _ => false,
    }
}

/// The seconds of a day.
const DAY_SECONDS: i64 = 86_400;

fn instant(seconds: i64) -> DateTime {
    DateTime { seconds, nanos: 0, offset_minutes: 0 }
}

/// A text as a value of one of the textual types.
pub(super) fn textual(value_type: ValueType, text: &str) -> ValueRef<'_> {
    match value_type {
        ValueType::String => ValueRef::String(text),
        ValueType::Geo => ValueRef::Geo(text),
        ValueType::Password => ValueRef::Password(text),
        ValueType::BigFloat => ValueRef::BigFloat(text),
        _ => ValueRef::Default(text),
    }
}

fn tag(value: ValueRef<'_>, out: &mut Vec<u8>) {
    out.push(value.value_type() as u8);
    match value {
        ValueRef::Int(number) => out.extend(number.to_le_bytes()),
        ValueRef::Float(number) => out.extend(number.to_le_bytes()),
        ValueRef::Bool(truth) => out.push(u8::from(truth)),
        ValueRef::DateTime(time) => {
            out.extend(time.seconds.to_le_bytes());
            out.extend(time.nanos.to_le_bytes());
            out.extend(time.offset_minutes.to_le_bytes());
        }
        ValueRef::Default(text)
        | ValueRef::String(text)
        | ValueRef::Geo(text)
        | ValueRef::Password(text)
        | ValueRef::BigFloat(text) => out.extend(text.as_bytes()),
        // Among other types a vector is retained as its text: bytes have no alignment for numbers.
        ValueRef::Vector(_) => {
            out.pop();
            out.push(ValueType::Default as u8);
            if let Ok(Value::String(text)) = value.convert(ValueType::String) {
                out.extend(text.as_bytes());
            }
        }
        ValueRef::Binary(bytes) => out.extend(bytes),
    }
}

fn untag(bytes: &[u8]) -> ValueRef<'_> {
    let (&tag, content) = bytes.split_first().unwrap_or((&0, &[]));
    let number = || content.get(..8).and_then(|head| head.try_into().ok()).unwrap_or([0; 8]);
    match tag {
        // The numbers are those of `ValueType`. Files have them, so they never change, whatever
        // becomes of the enum.
        1 => ValueRef::Int(i64::from_le_bytes(number())),
        2 => ValueRef::Float(f64::from_le_bytes(number())),
        4 => ValueRef::Bool(content.first() == Some(&1)),
        5 => {
            let rest = content.get(8..14).unwrap_or(&[0; 6]);
            ValueRef::DateTime(DateTime {
                seconds: i64::from_le_bytes(number()),
                nanos: u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]]),
                offset_minutes: i16::from_le_bytes([rest[4], rest[5]]),
            })
        }
        11 => ValueRef::Binary(content),
        _ => textual(text_type(tag), text_or_unwind(content)),
    }
}

fn text_type(tag: u8) -> ValueType {
    match tag {
        3 => ValueType::String,
        6 => ValueType::Geo,
        8 => ValueType::Password,
        9 => ValueType::BigFloat,
        _ => ValueType::Default,
    }
}

fn text_or_unwind(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_else(|fault| {
        let message = format!("a stored value is not UTF-8: {fault}");
        // A slice of bytes does not know its file. `catch_corrupt` takes this payload for an error.
        std::panic::resume_unwind(Box::new(Error::Corrupt { path: "snapshot".into(), message }))
    })
}

/// Collects values; becomes [`Values::Mixed`] when a second type comes.
pub struct ValuesBuilder {
    kind: Kind,
}

enum Kind {
    Int(Vec<i64>),
    Float(Vec<f64>),
    Bool(Vec<u8>),
    DateTime(Times),
    Text { value_type: ValueType, bounds: Vec<u64>, bytes: Vec<u8> },
    Vector { bounds: Vec<u64>, numbers: Vec<f32> },
    Mixed { bounds: Vec<u64>, bytes: Vec<u8> },
}

impl ValuesBuilder {
    /// An empty builder that expects values of a type.
    pub fn new(value_type: ValueType) -> ValuesBuilder {
        let kind = match value_type {
            ValueType::Int => Kind::Int(Vec::new()),
            ValueType::Float => Kind::Float(Vec::new()),
            ValueType::Bool => Kind::Bool(Vec::new()),
            ValueType::DateTime => Kind::DateTime(Times::default()),
            ValueType::Vector => Kind::Vector { bounds: vec![0], numbers: Vec::new() },
            ValueType::Binary => Kind::Mixed { bounds: vec![0], bytes: Vec::new() },
            _ => Kind::Text { value_type, bounds: vec![0], bytes: Vec::new() },
        };
        ValuesBuilder { kind }
    }

    /// Reserves space for `count` more values, without that for the bytes of texts.
    pub fn reserve(&mut self, count: usize) {
        match &mut self.kind {
            Kind::Int(numbers) => numbers.reserve(count),
            Kind::Float(numbers) => numbers.reserve(count),
            Kind::Bool(bools) => bools.reserve(count),
            Kind::DateTime(times) => times.seconds.reserve(count),
            Kind::Text { bounds, .. }
            | Kind::Vector { bounds, .. }
            | Kind::Mixed { bounds, .. } => {
                bounds.reserve(count);
            }
        }
    }

    /// Reserves space for `count` bytes of texts.
    pub fn reserve_bytes(&mut self, count: usize) {
        if let Kind::Text { bytes, .. } = &mut self.kind {
            bytes.reserve_exact(count);
        }
    }

    /// The number of values so far.
    pub fn len(&self) -> usize {
        match &self.kind {
            Kind::Int(numbers) => numbers.len(),
            Kind::Float(numbers) => numbers.len(),
            Kind::Bool(bools) => bools.len(),
            Kind::DateTime(times) => times.seconds.len(),
            Kind::Text { bounds, .. }
            | Kind::Vector { bounds, .. }
            | Kind::Mixed { bounds, .. } => bounds.len() - 1,
        }
    }

    /// True when there are none yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a value.
    pub fn push(&mut self, value: ValueRef<'_>) {
        match (&mut self.kind, value) {
            (Kind::Int(numbers), ValueRef::Int(number)) => numbers.push(number),
            (Kind::Float(numbers), ValueRef::Float(number)) => numbers.push(number),
            (Kind::Bool(bools), ValueRef::Bool(truth)) => bools.push(u8::from(truth)),
            (Kind::DateTime(times), ValueRef::DateTime(time)) => times.push(time),
            (Kind::Vector { bounds, numbers }, ValueRef::Vector(more)) => {
                // Vectors may be of any length; indexes want one length, columns don't.
                numbers.extend(more);
                bounds.push(numbers.len() as u64);
            }
            (Kind::Text { value_type, bounds, bytes }, value) => {
                // A text of another textual type is another type, too: a password must not become
                // a string.
                match text_of(value).filter(|_| value.value_type() == *value_type) {
                    Some(text) => {
                        bytes.extend(text.as_bytes());
                        bounds.push(bytes.len() as u64);
                    }
                    None => self.push_mixed(value),
                }
            }
            (Kind::Mixed { bounds, bytes }, value) => {
                tag(value, bytes);
                bounds.push(bytes.len() as u64);
            }
            (_, value) => self.push_mixed(value),
        }
    }

    /// Adds all of a run of values.
    pub fn append(&mut self, values: &Values) {
        match (&mut self.kind, values) {
            (
                Kind::Text { value_type, bounds, bytes },
                Values::Text { value_type: other, texts },
            ) if value_type == other => {
                let (offsets, more) = texts.parts();
                // Counted from where its first text begins, which need not be 0.
                let (base, first) = (bytes.len() as u64, offsets.start(0));
                bytes.extend_from_slice(more.slice(first..offsets.total()));
                let rows = 0..offsets.rows();
                // Unwinds where a row bounds before it begins, so none bounds before the first one
                // begins.
                bounds.extend(rows.map(|row| base + (offsets.range(row).end - first) as u64));
            }
            (Kind::Int(numbers), Values::Int(more)) => numbers.extend_from_slice(more.as_slice()),
            (Kind::Float(numbers), Values::Float(more)) => {
                numbers.extend_from_slice(more.as_slice());
            }
            // Narrow and coded runs, too: the narrowing of the entire run is decided at the end.
            _ => (0..values.len()).for_each(|position| self.push(values.get(position))),
        }
    }

    /// Makes the builder one of tagged values, then adds the value.
    fn push_mixed(&mut self, value: ValueRef<'_>) {
        // Tagged from the first one on, since those before have no tag yet. It happens once.
        let old = std::mem::replace(self, ValuesBuilder::new(ValueType::Binary)).finish();
        for position in 0..old.len() {
            self.push(old.get(position));
        }
        self.push(value);
    }

    /// The collected values, without unused capacity.
    pub fn finish(self) -> Values {
        match self.kind {
            Kind::Int(numbers) => finish_ints(numbers),
            Kind::Float(numbers) => Values::Float(exact(numbers)),
            Kind::Bool(bools) => Values::Bool(exact(bools)),
            Kind::DateTime(times) => times.finish(),
            Kind::Text { value_type, bounds, bytes } => Values::Text {
                value_type,
                texts: TextArray::from_parts(Offsets::from_vec(bounds), exact(bytes)),
            },
            Kind::Vector { bounds, numbers } => {
                Values::Vector { offsets: Offsets::from_vec(bounds), numbers: exact(numbers) }
            }
            Kind::Mixed { bounds, bytes } => {
                Values::Mixed { offsets: Offsets::from_vec(bounds), bytes: exact(bytes) }
            }
        }
    }
}

/// The text of a value whose content is text.
pub fn text_of(value: ValueRef<'_>) -> Option<&str> {
    match value {
        ValueRef::Default(text)
        | ValueRef::String(text)
        | ValueRef::Geo(text)
        | ValueRef::Password(text)
        | ValueRef::BigFloat(text) => Some(text),
        _ => None,
    }
}

pub(super) fn finish_ints(numbers: Vec<i64>) -> Values {
    if numbers.iter().all(|&number| i32::try_from(number).is_ok()) {
        let small = numbers.iter().map(|&number| number as i32).collect();
        return Values::SmallInt(Array::from_vec(small));
    }
    Values::Int(exact(numbers))
}

/// An array of the items without the unused capacity of the vector.
fn exact<T: bytemuck::Pod + Send>(mut items: Vec<T>) -> Array<T> {
    items.shrink_to_fit();
    Array::from_vec(items)
}

/// Instants in columns; those of nanoseconds and zones end after the last that is not 0.
#[derive(Default)]
pub(super) struct Times {
    seconds: Vec<i64>,
    nanos: Vec<u32>,
    offsets: Vec<i16>,
}

impl Times {
    pub(super) fn reserve(&mut self, more: usize) {
        self.seconds.reserve(more);
    }

    pub(super) fn push(&mut self, time: DateTime) {
        self.seconds.push(time.seconds);
        if time.nanos != 0 {
            // Zeros are only written for those before the first that is not 0, so a column of zeros
            // needs no memory.
            self.nanos.resize(self.seconds.len(), 0);
            self.nanos[self.seconds.len() - 1] = time.nanos;
        }
        if time.offset_minutes != 0 {
            self.offsets.resize(self.seconds.len(), 0);
            self.offsets[self.seconds.len() - 1] = time.offset_minutes;
        }
    }

    pub(super) fn finish(mut self) -> Values {
        if self.nanos.is_empty()
            && self.offsets.is_empty()
            && let Some(narrow) = narrow_times(&self.seconds)
        {
            return narrow;
        }
        if !self.nanos.is_empty() {
            self.nanos.resize(self.seconds.len(), 0);
        }
        if !self.offsets.is_empty() {
            self.offsets.resize(self.seconds.len(), 0);
        }
        Values::DateTime {
            seconds: exact(self.seconds),
            nanos: exact(self.nanos),
            offsets: exact(self.offsets),
        }
    }
}

/// Instants of full seconds as days or as 32-bit seconds, whichever is narrowest; `None` if one of
/// them fits neither, or there are none.
fn narrow_times(seconds: &[i64]) -> Option<Values> {
    // A day fits 16 bits from 1880 to 2059.
    // Only exact midnights pass, so the division loses nothing, also before 1970.
    let as_days = |&it: &i64| it % DAY_SECONDS == 0 && i16::try_from(it / DAY_SECONDS).is_ok();
    if seconds.is_empty() {
        return None;
    }
    if seconds.iter().all(as_days) {
        let days = seconds.iter().map(|it| (it / DAY_SECONDS) as i16);
        return Some(Values::Days(Array::from_vec(days.collect())));
    }
    seconds.iter().all(|&it| i32::try_from(it).is_ok()).then(|| {
        let seconds = seconds.iter().map(|&it| it as i32);
        Values::SmallTime(Array::from_vec(seconds.collect()))
    })
}
