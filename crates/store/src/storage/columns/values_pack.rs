//! Gathers, joins and codes runs of values, array by array instead of value by value.

use super::values::{Times, finish_ints};
use crate::storage::{Array, Offsets, TextArray, Values, ValuesBuilder};
use bytemuck::Pod;
use hexgraph_base::types::{DateTime, ValueType};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Up to this many positions are gathered on one thread; more on all.
const ALONE_MAX: usize = 1 << 16;

/// A run of fewer texts than this is not coded.
const CODED_MIN: usize = 1 << 10;

/// The number of texts that are looked at first, to see whether few distinct ones come often.
const SAMPLE_LEN: usize = 1 << 9;

/// The number of values for which a code has to stand, on average: each code has its text and its
/// offset.
const USES_MIN: usize = 4;

impl Values {
    /// Returns a run of ints.
    pub fn of_ints(numbers: Vec<i64>) -> Values {
        finish_ints(numbers)
    }

    /// Returns a run of floats.
    pub fn of_floats(numbers: Vec<f64>) -> Values {
        Values::Float(Array::from_vec(numbers))
    }

    /// Returns a run of instants.
    pub fn of_times(times: impl Iterator<Item = DateTime>) -> Values {
        let mut run = Times::default();
        run.reserve(times.size_hint().0);
        times.for_each(|time| run.push(time));
        run.finish()
    }

    /// Returns a run of texts of a textual type, which lie contiguously in `bytes`.
    ///
    /// # Panics
    ///
    /// When the lengths are more than the bytes.
    pub fn of_texts(
        value_type: ValueType,
        lens: impl Iterator<Item = usize>,
        bytes: Vec<u8>,
    ) -> Values {
        let texts = TextArray::from_parts(Offsets::from_lens(lens), Array::from_vec(bytes));
        Values::Text { value_type, texts }
    }

    /// Returns a run of `len` times the same text, which a long run has once.
    pub fn of_one_text(value_type: ValueType, text: &str, len: usize) -> Values {
        if len < CODED_MIN {
            let lens = std::iter::repeat_n(text.len(), len);
            return Values::of_texts(value_type, lens, text.repeat(len).into_bytes());
        }
        let (codes, texts) = (Array::from_vec(vec![0; len]), [text].into_iter().collect());
        Values::Coded { value_type, codes, texts }
    }

    /// The values at `positions`, in that order.
    pub fn gather(&self, positions: &[u32]) -> Values {
        match self {
            Values::SmallInt(numbers) => Values::SmallInt(picked(numbers, positions)),
            Values::Float(numbers) => Values::Float(picked(numbers, positions)),
            Values::Bool(bools) => Values::Bool(picked(bools, positions)),
            Values::Days(days) => Values::Days(picked(days, positions)),
            Values::SmallTime(seconds) => Values::SmallTime(picked(seconds, positions)),
            Values::Text { value_type, texts } => {
                // Bytes, and not texts: that they are UTF-8 was checked or will be when one is
                // read.
                let text = |&position: &u32| texts.get_bytes(position as usize);
                let len = positions.iter().map(|position| text(position).len()).sum();
                let mut bytes = Vec::with_capacity(len);
                positions.iter().for_each(|position| bytes.extend_from_slice(text(position)));
                let lens = positions.iter().map(|position| text(position).len());
                let offsets = Offsets::from_lens(lens);
                let texts = TextArray::from_parts(offsets, Array::from_vec(bytes));
                Values::Text { value_type: *value_type, texts }
            }
            // Another selection might lack some of the texts, and those would be retained for
            // nothing.
            Values::Coded { value_type, codes, texts }
                if texts.len() == 1 && !positions.is_empty() =>
            {
                let (codes, texts) = (picked(codes, positions), texts.clone());
                Values::Coded { value_type: *value_type, codes, texts }
            }
            _ => {
                // Coded texts come out plain. Who makes a column of them has them coded again where
                // that still pays.
                let value_type = self.value_type().unwrap_or(ValueType::Default);
                let mut builder = ValuesBuilder::new(value_type);
                builder.reserve(positions.len());
                for &position in positions {
                    builder.push(self.get(position as usize));
                }
                builder.finish()
            }
        }
    }

    /// All values of some runs, one after the other; of `value_type` where there are none.
    pub fn concat(value_type: ValueType, parts: Vec<Values>) -> Values {
        macro_rules! same {
            ($kind:ident) => {{
                let arrays = parts.iter().map(|part| match part {
                    Values::$kind(array) => Some(array),
                    _ => None,
                });
                if let Some(arrays) = arrays.collect::<Option<Vec<_>>>() {
                    return Values::$kind(joined(&arrays));
                }
            }};
        }
        match &parts[..] {
            [] => return Values::empty(value_type),
            [only] => return only.clone(),
            // The first says what the others should be; runs of several kinds go value by value
            // below.
            [Values::SmallInt(_), ..] => same!(SmallInt),
            [Values::Int(_), ..] => same!(Int),
            [Values::Float(_), ..] => same!(Float),
            [Values::Bool(_), ..] => same!(Bool),
            [Values::Days(_), ..] => same!(Days),
            [Values::SmallTime(_), ..] => same!(SmallTime),
            [Values::Text { value_type, .. }, ..] => {
                if let Some(texts) = joined_texts(*value_type, &parts) {
                    return Values::Text { value_type: *value_type, texts };
                }
            }
            [Values::Coded { .. }, ..] => {
                if let Some(values) = joined_codes(&parts) {
                    return values;
                }
            }
            _ => {}
        }
        let mut builder = ValuesBuilder::new(type_of_texts(&parts).unwrap_or(value_type));
        for part in parts {
            builder.append(&part);
        }
        builder.finish()
    }

    /// Returns the same values, with texts as codes if few distinct ones are frequent and codes are
    /// smaller.
    pub fn coded(self) -> Values {
        match &self {
            Values::Text { value_type, texts } => match code(texts) {
                Some((codes, texts)) => Values::Coded { value_type: *value_type, codes, texts },
                None => self,
            },
            _ => self,
        }
    }
}

/// Texts as codes; `None` if that is larger.
fn code(texts: &TextArray) -> Option<(Array<u16>, TextArray)> {
    if texts.len() < CODED_MIN {
        return None;
    }
    // A sample first, since a column of names or keys would fill the table for nothing. At least 2,
    // as shorter runs were refused: the sample spans the entire run.
    let step = texts.len() / SAMPLE_LEN;
    // Bytes, and not texts: equal ones are UTF-8 if one of them is.
    let mut existing: FxHashMap<&[u8], u16> = FxHashMap::default();
    existing.extend((0..SAMPLE_LEN).map(|at| (texts.get_bytes(at * step), 0)));
    // Where half of a sample is distinct, most texts come once or twice.
    if SAMPLE_LEN < existing.len() * 2 {
        return None;
    }
    existing.clear();
    let mut codes = Vec::with_capacity(texts.len());
    let mut distinct = Vec::new();
    let most = (texts.len() / USES_MIN).min(usize::from(u16::MAX));
    for at in 0..texts.len() {
        let next = distinct.len();
        let code = *existing.entry(texts.get_bytes(at)).or_insert_with(|| {
            distinct.push(texts.get(at));
            // At most `most`, and so it fits: the loop stops as soon as there are more.
            next as u16
        });
        // Given up as soon as codes are larger or do not fit 16 bits.
        if most < distinct.len() {
            return None;
        }
        codes.push(code);
    }
    Some((Array::from_vec(codes), distinct.into_iter().collect()))
}

fn picked<T: Pod + Send + Sync>(array: &Array<T>, positions: &[u32]) -> Array<T> {
    // A mapped array checks the block of each item, and only of those.
    let Some(items) = array.plain() else {
        return Array::from_vec(positions.iter().map(|&at| array.get(at as usize)).collect());
    };
    let item = |&at: &u32| items[at as usize];
    Array::from_vec(match positions.len() <= ALONE_MAX {
        true => positions.iter().map(item).collect(),
        false => positions.par_iter().map(item).collect(),
    })
}

fn joined<T: Pod + Send>(arrays: &[&Array<T>]) -> Array<T> {
    let mut items = Vec::with_capacity(arrays.iter().map(|array| array.len()).sum());
    arrays.iter().for_each(|array| items.extend_from_slice(array.as_slice()));
    Array::from_vec(items)
}

/// The texts of runs of one type, without unused capacity; `None` for other runs.
fn joined_texts(expected: ValueType, parts: &[Values]) -> Option<TextArray> {
    let texts = parts.iter().map(|part| match part {
        Values::Text { value_type, texts } if *value_type == expected => Some(texts),
        _ => None,
    });
    let texts: Vec<&TextArray> = texts.collect::<Option<_>>()?;
    let span = |texts: &TextArray| {
        let (offsets, _) = texts.parts();
        offsets.start(0)..offsets.total()
    };
    let mut bytes = Vec::with_capacity(texts.iter().map(|texts| span(texts).len()).sum());
    texts.iter().for_each(|texts| bytes.extend_from_slice(texts.parts().1.slice(span(texts))));
    let lens = texts.iter().flat_map(|texts| {
        let (offsets, _) = texts.parts();
        (0..offsets.rows()).map(|row| offsets.range(row).len())
    });
    Some(TextArray::from_parts(Offsets::from_lens(lens), Array::from_vec(bytes)))
}

/// The type of texts that are of one type, in whatever form; `None` for other runs.
fn type_of_texts(parts: &[Values]) -> Option<ValueType> {
    let is_textual = |part: &Values| matches!(part, Values::Text { .. } | Values::Coded { .. });
    let first = parts.first()?.value_type();
    let is_same = |part: &Values| is_textual(part) && part.value_type() == first;
    first.filter(|_| parts.iter().all(is_same))
}

/// The codes of runs that have the same texts in the same order, which is tried for the one text of
/// a type alone; `None` for other runs.
fn joined_codes(parts: &[Values]) -> Option<Values> {
    let (mut all, mut existing) = (Vec::with_capacity(parts.len()), None);
    for part in parts {
        let Values::Coded { value_type, codes, texts } = part else { return None };
        let is_same = |(of, first): (ValueType, &TextArray)| {
            of == *value_type && first.get_bytes(0) == texts.get_bytes(0)
        };
        if texts.len() != 1 || !existing.is_none_or(is_same) {
            return None;
        }
        existing = Some((*value_type, texts));
        all.push(codes);
    }
    let (value_type, texts) = existing?;
    Some(Values::Coded { value_type, codes: joined(&all), texts: texts.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::files::blocks::catch_corrupt;
    use hexgraph_base::types::ValueRef;

    fn times(seconds: &[i64], nanos: u32) -> Values {
        let mut builder = ValuesBuilder::new(ValueType::DateTime);
        for &seconds in seconds {
            let time = DateTime { seconds, nanos, offset_minutes: 0 };
            builder.push(ValueRef::DateTime(time));
        }
        builder.finish()
    }

    fn all(values: &Values) -> Vec<String> {
        (0..values.len()).map(|at| format!("{:?}", values.get(at))).collect()
    }

    #[test]
    fn narrow_instants_are_the_same() {
        let days = times(&[0, 86_400, -86_400 * 32_768], 0);
        let seconds = times(&[1, -7, i64::from(i32::MAX)], 0);
        let wide = times(&[i64::from(i32::MAX) + 1], 0);
        let fine = times(&[0, 86_400], 5);
        assert!(matches!(days, Values::Days(_)) && matches!(seconds, Values::SmallTime(_)));
        assert!(matches!(wide, Values::DateTime { .. }) && matches!(fine, Values::DateTime { .. }));
        let each: Vec<String> = [&days, &seconds, &wide, &fine].into_iter().flat_map(all).collect();
        let together = Values::concat(ValueType::DateTime, vec![days, seconds, wide, fine]);
        assert_eq!(all(&together), each);
        assert_eq!(all(&together.gather(&[8, 1])), [each[8].clone(), each[1].clone()]);
    }

    #[test]
    fn runs_of_one_kind_stay_what_they_are() {
        let days = times(&[0, 86_400], 0);
        let both = Values::concat(ValueType::DateTime, vec![days.clone(), days.clone()]);
        assert!(matches!(both, Values::Days(_)));
        assert_eq!(all(&both), [all(&days), all(&days)].concat());
        assert!(matches!(both.gather(&[3, 0]), Values::Days(_)));
        assert_eq!(Values::concat(ValueType::Int, Vec::new()).value_type(), Some(ValueType::Int));
    }

    #[test]
    fn texts_stay_what_they_are() {
        let texts = |texts: &[&str]| Values::Text {
            value_type: ValueType::String,
            texts: texts.iter().collect(),
        };
        let both = Values::concat(ValueType::Int, vec![texts(&["a", "", "žlu"]), texts(&["b"])]);
        assert_eq!(all(&both), all(&texts(&["a", "", "žlu", "b"])));
        assert_eq!(all(&both.gather(&[3, 2, 2])), all(&texts(&["b", "žlu", "žlu"])));
    }

    #[test]
    fn few_texts_are_coded() {
        let texts = |count: usize| {
            let mut builder = ValuesBuilder::new(ValueType::String);
            (0..5000).for_each(|at| builder.push(ValueRef::String(&format!("t{}", at % count))));
            builder.finish()
        };
        let coded = texts(70).coded();
        assert!(matches!(coded, Values::Coded { .. }));
        assert_eq!(all(&coded), all(&texts(70)));
        assert_eq!(all(&coded.gather(&[4999, 1])), ["String(\"t29\")", "String(\"t1\")"]);
        assert!(matches!(texts(4000).coded(), Values::Text { .. }));
    }

    #[test]
    fn one_text_is_the_same_however_its_runs_are_put_together() {
        let run = |text: &str, len| Values::of_one_text(ValueType::String, text, len);
        for lens in [[2_000, 3_000], [2_000, 10], [10, 2_000], [3, 4]] {
            for texts in [["Row", "Row"], ["Row", "Node"], ["", ""]] {
                let parts = || [run(texts[0], lens[0]), run(texts[1], lens[1])];
                let joined = Values::concat(ValueType::String, parts().to_vec());
                let mut builder = ValuesBuilder::new(ValueType::String);
                for (text, len) in texts.iter().zip(lens) {
                    (0..len).for_each(|_| builder.push(ValueRef::String(text)));
                }
                let slow = builder.finish();
                assert_eq!(all(&joined), all(&slow));
                assert_eq!(all(&joined.clone().coded()), all(&slow));
                let is_coded = |values: &Values| matches!(values, Values::Coded { .. });
                assert_eq!(is_coded(&joined.clone().coded()), is_coded(&slow.clone().coded()));
                let positions = [4, 0, 6, 6];
                assert_eq!(all(&joined.gather(&positions)), all(&slow.gather(&positions)));
            }
        }
    }

    #[test]
    fn texts_that_end_before_they_begin_are_damage() {
        let offsets = Offsets::Narrow(Array::from_vec(vec![4, 2, 8]));
        let texts = TextArray::from_parts(offsets, Array::from_vec(vec![b'a'; 8]));
        let texts = Values::Text { value_type: ValueType::String, texts };
        let mut builder = ValuesBuilder::new(ValueType::String);
        let error = catch_corrupt(|| builder.append(&texts)).unwrap_err().to_string();
        assert!(error.contains("row 0 has the reversed offsets 4..2"), "{error}");
    }
}
