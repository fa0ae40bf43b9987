//! A number of rows before the query runs, and what is decided by it.

/// Of this many rows one passes a condition that no index has an estimate of.
const ROWS_PER_PASSING: usize = 3;

/// The number of rows of a step: exact, or an expected one between two bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cardinality {
    pub(super) least: usize,
    pub(super) expected: usize,
    pub(super) most: usize,
}

/// What is decided for a range of numbers of rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Decision<T> {
    pub(super) value: T,
    /// The least number; `None` for any small one.
    pub(super) from: Option<usize>,
    /// The first number after the range; `None` for any great one.
    pub(super) below: Option<usize>,
}

impl Cardinality {
    pub(super) fn exact(rows: usize) -> Cardinality {
        Cardinality { least: rows, expected: rows, most: rows }
    }

    /// At most so many, of a condition that no index has an estimate of.
    pub(super) fn up_to(most: usize) -> Cardinality {
        Cardinality { least: 0, expected: most.div_ceil(ROWS_PER_PASSING), most }
    }

    /// About as many as expected, and at most so many.
    pub(super) fn about(expected: usize, most: usize) -> Cardinality {
        Cardinality { least: 0, expected: expected.min(most), most }
    }

    pub(super) fn is_exact(self) -> bool {
        self.least == self.most
    }

    /// No more than `most`.
    pub(super) fn limited(self, most: usize) -> Cardinality {
        Cardinality {
            least: self.least.min(most),
            expected: self.expected.min(most),
            most: self.most.min(most),
        }
    }

    /// Without the first `count`.
    pub(super) fn without(self, count: usize) -> Cardinality {
        Cardinality {
            least: self.least.saturating_sub(count),
            expected: self.expected.saturating_sub(count),
            most: self.most.saturating_sub(count),
        }
    }

    /// Any part of it.
    pub(super) fn part(self) -> Cardinality {
        Cardinality { least: 0, ..self }
    }

    /// What two sets have in common, of a graph with `nodes` nodes: as if they were independent.
    pub(super) fn and(self, other: Cardinality, nodes: usize) -> Cardinality {
        let most = self.most.min(other.most);
        let product = self.expected as u128 * other.expected as u128 / nodes.max(1) as u128;
        Cardinality::about(usize::try_from(product).unwrap_or(most), most)
    }

    /// The members of two sets together.
    pub(super) fn or(self, other: Cardinality) -> Cardinality {
        Cardinality {
            least: self.least.max(other.least),
            expected: self.expected.saturating_add(other.expected),
            most: self.most.saturating_add(other.most),
        }
    }

    /// The members of two sets together, where one is expected to contain the other.
    pub(super) fn or_within(self, other: Cardinality) -> Cardinality {
        Cardinality { expected: self.expected.max(other.expected), ..self.or(other) }
    }

    /// What is decided for all numbers between the bounds: for the expected one first, then in the
    /// order of the numbers. Evaluates both bounds and the powers of two between them, and finds by
    /// bisection where the decision changes, also where it changes several times between two of
    /// these.
    pub(super) fn decide<T: PartialEq>(self, decide: impl Fn(usize) -> T) -> Vec<Decision<T>> {
        let samples = self.samples();
        let mut before = samples[0];
        let mut all = vec![Decision { value: decide(before), from: None, below: None }];
        for rows in samples {
            let value = decide(rows);
            while let Some(last) = all.last_mut().filter(|last| last.value != value) {
                let (mut low, mut high) = (before, rows);
                while low + 1 < high {
                    let middle = low + (high - low) / 2;
                    match decide(middle) == last.value {
                        true => low = middle,
                        false => high = middle,
                    }
                }
                last.below = Some(high);
                before = high;
                all.push(Decision { value: decide(high), from: Some(high), below: None });
            }
            before = rows;
        }
        let holds = |it: &Decision<T>| it.from.is_none_or(|from| from <= self.expected);
        let first = all.iter().rposition(holds).unwrap_or(0);
        all[..=first].rotate_right(1);
        all
    }

    /// The numbers at which a decision is evaluated, ascending.
    fn samples(self) -> Vec<usize> {
        let mut samples = vec![self.least, self.expected, self.most];
        let powers = (0..usize::BITS).map(|bit| 1_usize << bit);
        samples.extend(powers.filter(|it| self.least < *it && *it < self.most));
        samples.sort_unstable();
        samples.dedup();
        samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_change_where_the_function_does() {
        let kind = |rows: usize| match rows {
            0..100 => 'a',
            100..5_000 => 'b',
            _ => 'c',
        };
        let of = |value, from, below| Decision { value, from, below };
        let all = Cardinality::about(700, 1 << 20).decide(kind);
        let (a, b, c) =
            (of('a', None, Some(100)), of('b', Some(100), Some(5_000)), of('c', Some(5_000), None));
        assert_eq!(all, [b.clone(), a.clone(), c.clone()]);
        assert_eq!(Cardinality::about(5_000, 1 << 20).decide(kind), [c, a, b]);
        assert_eq!(Cardinality::exact(99).decide(kind), [of('a', None, None)]);
        let part = Cardinality { least: 100, expected: 200, most: 4_999 };
        assert_eq!(part.decide(kind), [of('b', None, None)]);
        let narrow = |rows: usize| match rows {
            0..36 => 'a',
            36..38 => 'b',
            _ => 'c',
        };
        assert_eq!(
            Cardinality::about(1, 1000).decide(narrow),
            [of('a', None, Some(36)), of('b', Some(36), Some(38)), of('c', Some(38), None)]
        );
    }
}
