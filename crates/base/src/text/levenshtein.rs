//! Edit distance with a bound.

/// Whether `a` becomes `b` by at most `max` insertions, deletions and replacements of characters.
/// Costs the shorter length times `max`; stops as soon as the distance exceeds the bound.
pub fn within_distance(a: &str, b: &str, max: usize) -> bool {
    if a == b {
        return true;
    }
    // A character has one byte to four, so that texts of far lengths are not looked at.
    let is_longer = |a: &str, b: &str| b.len().saturating_add(max).saturating_mul(4) < a.len();
    if is_longer(a, b) || is_longer(b, a) {
        return false;
    }
    if a.is_ascii() && b.is_ascii() {
        return within(a.as_bytes(), b.as_bytes(), max);
    }
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    within(&a, &b, max)
}

/// Rows up to this length need no allocation.
const ROW_MAX: usize = 64;

fn within<T: PartialEq>(a: &[T], b: &[T], max: usize) -> bool {
    let (a, b) = without_common_affixes(a, b);
    let (short, long) = if b.len() < a.len() { (b, a) } else { (a, b) };
    // Replacing all of the short one and inserting the rest is enough.
    if long.len() <= max {
        return true;
    }
    // The difference of the lengths has to be inserted in any case.
    if max < long.len() - short.len() || max == 0 {
        return false;
    }
    let mut array = [0; ROW_MAX];
    let mut vector = Vec::new();
    let row = if short.len() < ROW_MAX {
        &mut array[..=short.len()]
    } else {
        vector.resize(short.len() + 1, 0);
        &mut vector[..]
    };
    distance_fits(short, long, max, row)
}

fn without_common_affixes<'a, T: PartialEq>(a: &'a [T], b: &'a [T]) -> (&'a [T], &'a [T]) {
    let prefix = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[prefix..], &b[prefix..]);
    let suffix = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    (&a[..a.len() - suffix], &b[..b.len() - suffix])
}

/// The usual table a row at a time, but only the diagonal band that can stay within `max`.
fn distance_fits<T: PartialEq>(short: &[T], long: &[T], max: usize, row: &mut [usize]) -> bool {
    for (column, cell) in row.iter_mut().enumerate() {
        *cell = if column <= max { column } else { max + 1 };
    }
    for (number, item) in long.iter().enumerate() {
        // Cells further than `max` off the diagonal are beyond the bound (Ukkonen, 1985).
        let first = (number + 1).saturating_sub(max).max(1);
        let last = (number + 1 + max).min(short.len());
        let mut diagonal = row[first - 1];
        row[first - 1] = if first == 1 { (number + 1).min(max + 1) } else { max + 1 };
        let mut best = row[first - 1];
        for column in first..=last {
            let above = row[column];
            let replaced = diagonal + usize::from(short[column - 1] != *item);
            let cell = replaced.min(above + 1).min(row[column - 1] + 1).min(max + 1);
            row[column] = cell;
            best = best.min(cell);
            diagonal = above;
        }
        // The least of a row never gets less in the rows after it.
        if max < best {
            return false;
        }
        if last < short.len() {
            // The next row reads one cell further right, which still has the value of an older row.
            row[last + 1] = max + 1;
        }
    }
    row[short.len()] <= max
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(a: &[char], b: &[char]) -> usize {
        let mut row: Vec<usize> = (0..=b.len()).collect();
        for (number, x) in a.iter().enumerate() {
            let mut diagonal = row[0];
            row[0] = number + 1;
            for (column, y) in b.iter().enumerate() {
                let above = row[column + 1];
                row[column + 1] =
                    (diagonal + usize::from(x != y)).min(above + 1).min(row[column] + 1);
                diagonal = above;
            }
        }
        row[b.len()]
    }

    #[test]
    fn agrees_with_the_full_table() {
        let mut state = 1_u64;
        let mut word = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let length = (state >> 40) % 9;
            (0..length).map(|at| ['a', 'b', 'é'][(state >> (at * 3 + 8)) as usize % 3]).collect()
        };
        for _ in 0..3000 {
            let (a, b): (Vec<char>, Vec<char>) = (word(), word());
            let exact = distance(&a, &b);
            let (a, b): (String, String) = (a.iter().collect(), b.iter().collect());
            for max in 0..10 {
                assert_eq!(within_distance(&a, &b, max), exact <= max, "{a} {b} {max}");
            }
        }
    }

    #[test]
    fn counts_characters_not_bytes() {
        assert!(within_distance("naïve", "naive", 1));
        assert!(!within_distance("kitten", "sitting", 2));
        assert!(within_distance("kitten", "sitting", 3));
        assert!(within_distance("", "abc", 3) && !within_distance("", "abc", 2));
        assert!(within_distance(&"a".repeat(300), &"a".repeat(302), 2));
    }
}
