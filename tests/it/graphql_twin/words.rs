//! The values that graphs and requests are made of: few, so that they meet.

use super::lit::{Lit, name, plain};
use super::schema::{MOODS, Scalar};
use fastrand::Rng;
use serde_json::{Value as Json, json};

const TEXTS: [&str; 8] =
    ["red fox", "Red", "blue", "blue fox", "Zebra", "a \"quoted\" <b>", "fox", "naïve"];

const TIMES: [&str; 7] = [
    "2001",
    "2001-02",
    "2001-02-03",
    "2001-02-03T04:05:06Z",
    "1999-12-31T23:59:59Z",
    "2030",
    "1850-06-07",
];

const LARGE: [i64; 5] = [-3, 0, 7, 9_007_199_254_740_993, -9_007_199_254_740_993];

/// Whole degrees far from each other, so that who is near is at the same position.
const POSITIONS: [(f64, f64); 4] = [(1.5, 2.0), (-70.0, 40.25), (100.0, -33.0), (0.0, 0.0)];

/// True so often in a hundred.
pub fn chance(rng: &mut Rng, percent: u32) -> bool {
    rng.u32(..100) < percent
}

/// One of some.
pub fn one_of<'w, T>(rng: &mut Rng, all: &'w [T]) -> &'w T {
    &all[rng.usize(..all.len())]
}

/// A value for an input.
pub fn value(rng: &mut Rng, scalar: Scalar) -> Lit {
    match scalar {
        Scalar::Id => unreachable!("no input sets an ID"),
        Scalar::Int => plain(rng.i64(-3..6)),
        Scalar::Int64 => plain(*one_of(rng, &LARGE)),
        Scalar::Float => plain(*one_of(rng, &[-1.5, 0.0, 0.25, 2.0, 1e7, 1e-3])),
        Scalar::Text => plain(*one_of(rng, &TEXTS)),
        Scalar::Bool => plain(rng.bool()),
        Scalar::Time => plain(*one_of(rng, &TIMES)),
        Scalar::Mood => name(*one_of(rng, &MOODS)),
        Scalar::Point => {
            let (longitude, latitude) = *one_of(rng, &POSITIONS);
            Lit::Object(vec![
                ("longitude".to_owned(), plain(longitude)),
                ("latitude".to_owned(), plain(latitude)),
            ])
        }
    }
}

/// The value as it is stored and shown.
pub fn stored(scalar: Scalar, lit: &Lit) -> Json {
    match (scalar, lit) {
        (Scalar::Time, Lit::Plain(Json::String(text))) => Json::from(full_time(text)),
        (Scalar::Float, Lit::Plain(number)) => json!(number.as_f64()),
        (Scalar::Point, point) => {
            let part = |name| point.get(name).map_or(Json::Null, Lit::json).as_f64();
            json!({"longitude": part("longitude"), "latitude": part("latitude")})
        }
        (_, other) => other.json(),
    }
}

/// A moment with all its parts.
fn full_time(text: &str) -> String {
    let rest = "0000-01-01T00:00:00Z";
    format!("{text}{}", &rest[text.len()..])
}
