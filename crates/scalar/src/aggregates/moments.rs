//! The standard deviation by Welford's method: one pass, without catastrophic cancellation.

/// The count of the numbers, their mean, and the sum of the squares of the differences from it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// Adds a number so many times.
    pub(super) fn add_times(&mut self, number: f64, times: f64) {
        self.merge(&Moments { count: times, mean: number, squares: 0.0 });
    }

    /// Merges by the formula of Chan, whose sum has no negative term.
    pub(super) fn merge(&mut self, other: &Moments) {
        if other.count == 0.0 {
            return;
        }
        if self.count == 0.0 {
            // The mean is exact.
            *self = *other;
            return;
        }
        let count = self.count + other.count;
        let difference = other.mean - self.mean;
        self.squares += other.squares + difference * difference * self.count * other.count / count;
        self.mean += difference * other.count / count;
        self.count = count;
    }

    /// The deviation of a sample (`excess` 1) or of all (`excess` 0); 0 of too few numbers.
    pub(super) fn deviation(&self, excess: f64) -> f64 {
        if self.count <= excess { 0.0 } else { (self.squares / (self.count - excess)).sqrt() }
    }
}
