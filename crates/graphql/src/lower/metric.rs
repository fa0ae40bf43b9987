//! The distances between vectors, by which `querySimilarT...` orders.

/// A definition of the distance of two vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// The Euclidean length of the difference.
    Euclidean,
    /// 1 minus the cosine of the angle between the vectors.
    Cosine,
    /// 1 minus the dot product.
    DotProduct,
}

impl Metric {
    /// Returns the distance of two vectors. `None` when their lengths differ, or the result is not
    /// finite, as for the cosine of a vector of zeros.
    pub fn distance(self, one: &[f32], other: &[f32]) -> Option<f64> {
        if one.len() != other.len() {
            return None;
        }
        // Sums are of double precision, so that their order hardly matters.
        let pairs = || one.iter().zip(other).map(|(a, b)| (f64::from(*a), f64::from(*b)));
        let dot = || pairs().map(|(a, b)| a * b).sum::<f64>();
        let square = |vector: &[f32]| vector.iter().map(|a| f64::from(*a).powi(2)).sum::<f64>();
        let distance = match self {
            Metric::Euclidean => pairs().map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt(),
            Metric::DotProduct => 1.0 - dot(),
            Metric::Cosine => 1.0 - dot() / (square(one) * square(other)).sqrt(),
        };
        distance.is_finite().then_some(distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        let (one, other) = (&[3.0, 0.0][..], &[0.0, 4.0][..]);
        assert_eq!(Metric::Euclidean.distance(one, other), Some(5.0));
        assert_eq!(Metric::Cosine.distance(one, other), Some(1.0));
        assert_eq!(Metric::DotProduct.distance(one, one), Some(-8.0));
        assert_eq!(Metric::Cosine.distance(one, &[0.0, 0.0]), None);
        assert_eq!(Metric::Euclidean.distance(one, &[1.0]), None);
    }
}
