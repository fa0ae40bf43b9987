//! The words that graphs and queries are made of: few, so that they meet.

use fastrand::Rng;
use hexgraph::types::ValueType;

const NAMES: &[&str] = &[
    "Alice",
    "Bob",
    "Carol",
    "carol",
    "Dan",
    "Éva",
    "Zoë",
    "Ana",
    "ana",
    "Ångström",
    "Bobby",
    "李雷",
];

const WORDS: &[&str] = &[
    "the", "running", "runs", "fox", "foxes", "quick", "brown", "Häuser", "house", "houses", "and",
    "Katze", "maison", "stop", "3.14", "x-ray", "O'Neil",
];

/// The languages, the untagged one first.
pub const LANGS: &[&str] = &["", "en", "de", "fr"];

const TIMES: &[&str] = &[
    "1963",
    "1963-11",
    "1963-11-20",
    "2006-01-02T15:04:05Z",
    "2006-01-02T15:04:05.25Z",
    "2006-01-02T20:34:05+05:30",
    "2010-07-01",
    "1850-01-01",
    "2006",
    "2500-12-31T23:59:59Z",
];

/// One of some.
pub fn one_of<'w, T>(rng: &mut Rng, all: &'w [T]) -> &'w T {
    &all[rng.usize(..all.len())]
}

/// True so often in a hundred.
pub fn chance(rng: &mut Rng, percent: u32) -> bool {
    rng.u32(..100) < percent
}

/// A few words.
pub fn phrase(rng: &mut Rng) -> String {
    match rng.u32(..10) {
        0 => String::new(),
        // Long ones are read in another way than those that are copied.
        1 if chance(rng, 20) => one_of(rng, WORDS).repeat(rng.usize(100..200)),
        1..=4 => (*one_of(rng, NAMES)).to_owned(),
        _ => {
            let count = rng.usize(1..5);
            let words: Vec<&str> = (0..count)
                .map(|_| if chance(rng, 25) { *one_of(rng, NAMES) } else { *one_of(rng, WORDS) })
                .collect();
            words.join(" ")
        }
    }
}

/// A literal of a type.
pub fn literal(rng: &mut Rng, value_type: ValueType) -> String {
    match value_type {
        ValueType::Int => match rng.u32(..60) {
            0..3 => "-9007199254740993".to_owned(),
            3..6 => "9007199254740995".to_owned(),
            6 => i64::MAX.to_string(),
            7 => i64::MIN.to_string(),
            8 => (i64::MAX / 2 + rng.i64(0..3)).to_string(),
            _ => rng.i64(-5..12).to_string(),
        },
        ValueType::Float => match rng.u32(..20) {
            0 => "1e15".to_owned(),
            1 => "-0.0625".to_owned(),
            _ => format!("{}", rng.i64(-8..20) as f64 / 4.0),
        },
        ValueType::Bool => rng.bool().to_string(),
        ValueType::DateTime => (*one_of(rng, TIMES)).to_owned(),
        _ => phrase(rng),
    }
}

/// A pattern and its flags.
pub fn pattern(rng: &mut Rng) -> String {
    let word = if rng.bool() { *one_of(rng, NAMES) } else { *one_of(rng, WORDS) };
    let word = word.replace(['.', '\''], "");
    match rng.u32(..8) {
        0 => format!("/{word}/i"),
        1 => format!("/^{word}/"),
        2 => "/run.*fox/".to_owned(),
        3 => "/(fox|house)es?/".to_owned(),
        4 => "/^[A-Z]/".to_owned(),
        5 => "/ar?ol$/".to_owned(),
        _ => format!("/{word}/"),
    }
}
