//! What edges weigh: four bytes each where no weight loses anything by it, else eight.

/// The weights of edges, in the order of their rows.
pub(in crate::algo) enum Weights {
    /// If each is exact as a float of four bytes, as integers up to 16,777,216 are.
    Narrow(Vec<f32>),
    /// Any others.
    Wide(Vec<f64>),
}

/// The weights of one row.
#[derive(Clone, Copy)]
pub(in crate::algo) enum WeightSlice<'r> {
    /// Each edge weighs 1.
    Ones,
    Narrow(&'r [f32]),
    Wide(&'r [f64]),
}

/// Whether a weight is the same number in four bytes.
#[inline]
pub(in crate::algo) fn is_narrow(weight: f64) -> bool {
    f64::from(weight as f32) == weight
}

impl Weights {
    /// The weights of a range of edges.
    #[inline]
    pub(in crate::algo) fn slice(&self, range: std::ops::Range<usize>) -> WeightSlice<'_> {
        match self {
            Weights::Narrow(weights) => WeightSlice::Narrow(&weights[range]),
            Weights::Wide(weights) => WeightSlice::Wide(&weights[range]),
        }
    }

    /// Their bytes.
    pub(super) fn byte_len(&self) -> usize {
        match self {
            Weights::Narrow(weights) => size_of_val(weights.as_slice()),
            Weights::Wide(weights) => size_of_val(weights.as_slice()),
        }
    }
}

impl WeightSlice<'_> {
    /// The weight at a position of the row.
    #[inline]
    pub(in crate::algo) fn at(self, position: usize) -> f64 {
        match self {
            WeightSlice::Ones => 1.0,
            WeightSlice::Narrow(weights) => f64::from(weights[position]),
            WeightSlice::Wide(weights) => weights[position],
        }
    }
}
