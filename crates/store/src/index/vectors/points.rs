//! Computes distances: one number for each metric, smaller for nearer vectors.
//!
//! Euclidean distance is squared, cosine is one less the similarity, and the inner product is
//! negated. The loops have sixteen independent sums, so that the compiler can use vector
//! registers: it may not reorder the sum of floats by itself.

use crate::storage::Array;
use hexgraph_base::schema::Metric;

const ACCUMULATORS: usize = 16;

/// Vectors of one length, laid end to end, as points of a space.
pub struct Points<'a> {
    metric: Metric,
    dimension: usize,
    numbers: Numbers<'a>,
    /// With [`Metric::Cosine`], the reciprocal of the length of each vector; else empty.
    scales: &'a Array<f32>,
}

/// Numbers that are read in place: data in a file are checked at each access.
enum Numbers<'a> {
    Plain(&'a [f32]),
    Stored(&'a Array<f32>),
}

/// A vector that others are compared with.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    numbers: &'a [f32],
    /// With [`Metric::Cosine`], the reciprocal of its length; else 0.
    scale: f32,
}

impl<'a> Query<'a> {
    /// Makes a query of a vector: a pass over it for [`Metric::Cosine`].
    pub fn new(metric: Metric, numbers: &'a [f32]) -> Query<'a> {
        let scale = if metric == Metric::Cosine { scale_of(numbers) } else { 0.0 };
        Query { numbers, scale }
    }
}

impl<'a> Points<'a> {
    /// The vectors of `numbers`, whose length is a multiple of theirs.
    pub fn new(
        metric: Metric,
        dimension: usize,
        numbers: &'a Array<f32>,
        scales: &'a Array<f32>,
    ) -> Points<'a> {
        let numbers = match numbers.plain() {
            Some(plain) => Numbers::Plain(plain),
            None => Numbers::Stored(numbers),
        };
        Points { metric, dimension, numbers, scales }
    }

    /// Reads all numbers of a file now, for a pass that accesses most of them many times.
    pub fn checked(self) -> Points<'a> {
        let numbers = match self.numbers {
            Numbers::Stored(stored) => Numbers::Plain(stored.as_slice()),
            plain => plain,
        };
        Points { numbers, ..self }
    }

    /// The vector at a position.
    #[inline]
    pub fn get(&self, position: u32) -> &'a [f32] {
        let start = position as usize * self.dimension;
        match self.numbers {
            Numbers::Plain(numbers) => &numbers[start..start + self.dimension],
            Numbers::Stored(numbers) => numbers.slice(start..start + self.dimension),
        }
    }

    /// The vector at a position as a query.
    #[inline]
    pub fn query(&self, position: u32) -> Query<'a> {
        let scale = match self.metric {
            Metric::Cosine => self.scales.get(position as usize),
            _ => 0.0,
        };
        Query { numbers: self.get(position), scale }
    }

    /// The distance of the vector at a position from the query: squared for [`Metric::Euclidean`],
    /// 1 - similarity for [`Metric::Cosine`], the negated product for [`Metric::DotProduct`].
    #[inline]
    pub fn distance(&self, query: &Query<'_>, position: u32) -> f32 {
        let vector = self.get(position);
        match self.metric {
            Metric::Euclidean => squared(query.numbers, vector),
            Metric::Cosine => {
                let scale = query.scale * self.scales.get(position as usize);
                1.0 - dot(query.numbers, vector) * scale
            }
            Metric::DotProduct => -dot(query.numbers, vector),
        }
    }

    /// The distance as a key: of two, the less is the nearer one, whatever the numbers are.
    #[inline]
    pub fn key(&self, query: &Query<'_>, position: u32) -> u32 {
        key_of(self.distance(query, position))
    }
}

/// The distance of a vector, which has the query's length, as the distances of the vectors of an
/// index are measured: squared for [`Metric::Euclidean`], 1 - similarity for [`Metric::Cosine`],
/// the negated product for [`Metric::DotProduct`].
pub fn measure(metric: Metric, query: &Query<'_>, vector: &[f32]) -> f32 {
    match metric {
        Metric::Euclidean => squared(query.numbers, vector),
        Metric::Cosine => 1.0 - dot(query.numbers, vector) * (query.scale * scale_of(vector)),
        Metric::DotProduct => -dot(query.numbers, vector),
    }
}

/// One over the length of a vector; 0 for one without a direction, which is similar to none.
pub(super) fn scale_of(vector: &[f32]) -> f32 {
    let length = dot(vector, vector).sqrt();
    if 0.0 < length && length.is_finite() { 1.0 / length } else { 0.0 }
}

/// Bits that order as the distances do. What is no number is farthest.
#[inline]
pub(super) fn key_of(distance: f32) -> u32 {
    const SIGN: u32 = 1 << 31;
    if distance.is_nan() {
        return u32::MAX;
    }
    // Adding 0 turns -0 into 0. The bits of positive numbers ascend as they do, so with the sign
    // set they are above the negative ones, whose bits descend and are inverted.
    let bits = (distance + 0.0).to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

/// The distance of a key.
pub(super) fn distance_of(key: u32) -> f32 {
    const SIGN: u32 = 1 << 31;
    f32::from_bits(if key & SIGN == 0 { !key } else { key ^ SIGN })
}

#[inline]
fn dot(one: &[f32], other: &[f32]) -> f32 {
    let (ones, one_rest) = one.as_chunks::<ACCUMULATORS>();
    let (others, other_rest) = other.as_chunks::<ACCUMULATORS>();
    let mut sums = [0.0; ACCUMULATORS];
    for (one, other) in ones.iter().zip(others) {
        for lane in 0..ACCUMULATORS {
            sums[lane] += one[lane] * other[lane];
        }
    }
    let rest: f32 = one_rest.iter().zip(other_rest).map(|(one, other)| one * other).sum();
    sums.iter().sum::<f32>() + rest
}

#[inline]
fn squared(one: &[f32], other: &[f32]) -> f32 {
    let (ones, one_rest) = one.as_chunks::<ACCUMULATORS>();
    let (others, other_rest) = other.as_chunks::<ACCUMULATORS>();
    let mut sums = [0.0; ACCUMULATORS];
    for (one, other) in ones.iter().zip(others) {
        for lane in 0..ACCUMULATORS {
            let apart = one[lane] - other[lane];
            sums[lane] += apart * apart;
        }
    }
    let rest = one_rest.iter().zip(other_rest);
    sums.iter().sum::<f32>() + rest.map(|(one, other)| (one - other) * (one - other)).sum::<f32>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn length(vector: &[f32]) -> f64 {
        vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt()
    }

    fn slow(metric: Metric, one: &[f32], other: &[f32]) -> f64 {
        let pairs =
            || one.iter().zip(other).map(|(one, other)| (f64::from(*one), f64::from(*other)));
        let dot: f64 = pairs().map(|(one, other)| one * other).sum();
        match metric {
            Metric::Euclidean => pairs().map(|(one, other)| (one - other).powi(2)).sum(),
            Metric::Cosine if length(one) * length(other) == 0.0 => 1.0,
            Metric::Cosine => 1.0 - dot / (length(one) * length(other)),
            Metric::DotProduct => -dot,
        }
    }

    /// What sums are made of: they can be far smaller, and rounding is not.
    fn scale(metric: Metric, one: &[f32], other: &[f32]) -> f64 {
        match metric {
            Metric::Euclidean => (length(one) + length(other)).powi(2),
            Metric::Cosine => 1.0,
            Metric::DotProduct => length(one) * length(other),
        }
    }

    proptest! {
        #[test]
        fn distances_agree_with_plain_loops(
            (one, other) in (0..70_usize).prop_flat_map(|len| {
                let vector = || proptest::collection::vec(-100.0_f32..100.0, len);
                (vector(), vector())
            }),
        ) {
            for metric in [Metric::Euclidean, Metric::Cosine, Metric::DotProduct] {
                let result = measure(metric, &Query::new(metric, &one), &other);
                let expected = slow(metric, &one, &other);
                let most = 1e-5 * scale(metric, &one, &other) + f64::EPSILON;
                prop_assert!((f64::from(result) - expected).abs() <= most, "{result} {expected}");
            }
        }

        #[test]
        fn keys_order_as_distances(one: f32, other: f32) {
            if !one.is_nan() && !other.is_nan() {
                prop_assert_eq!(key_of(one).cmp(&key_of(other)), one.partial_cmp(&other).unwrap());
                prop_assert_eq!(distance_of(key_of(one)), one);
            }
            prop_assert!(key_of(one) <= key_of(f32::NAN));
        }
    }
}
