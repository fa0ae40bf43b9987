//! The known name that a wrong one was probably meant to be.

/// A question for the name that was probably meant; empty when none is near.
pub fn did_you_mean<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> String {
    nearest(word, names).map_or_else(String::new, |name| format!("did you mean `{name}`?"))
}

/// The name with the fewest different letters, when there are few enough of them.
pub fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = if word.len() < 4 { 1 } else { 2 };
    // Any letter is one change away from any other.
    if word.len() > 32 || word.len() < 2 {
        return None;
    }
    let near = names.filter(|name| name.len().abs_diff(word.len()) <= limit);
    let ranked = near.map(|name| (distance(word.as_bytes(), name.as_bytes()), name));
    ranked
        .filter(|&(changes, _)| changes <= limit)
        .min_by_key(|&(changes, _)| changes)
        .map(|(_, name)| name)
}

/// The letters to be changed, added, removed or swapped with their neighbour.
fn distance(left: &[u8], right: &[u8]) -> usize {
    let mut rows = vec![(0..=right.len()).collect::<Vec<usize>>()];
    for (i, a) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let above = &rows[i];
            let mut least = above[j] + usize::from(a != b);
            least = least.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == right[j - 1] && left[i - 1] == *b {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant() {
        let names = ["filter", "facets", "cascade"];
        assert_eq!(nearest("fliter", names.iter().copied()), Some("filter"));
        assert_eq!(nearest("hsa", ["has"].into_iter()), Some("has"));
        assert_eq!(nearest("cascad", names.iter().copied()), Some("cascade"));
        assert_eq!(nearest("xyz", names.iter().copied()), None);
    }
}
