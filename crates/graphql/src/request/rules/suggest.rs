//! "Did you mean": names that are near to an unknown one.

/// The names that are near, the nearest first, then in the order given.
pub(super) fn near_names<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut near: Vec<(usize, &str)> = known
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= (name.len().max(candidate.len()) / 2).max(1))
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter().map(|(_, candidate)| candidate).collect()
}

/// ` Did you mean "a", "b", or "c"?`, or nothing. At most five are named.
pub(super) fn did_you_mean(names: &[&str], quoted: bool) -> String {
    let quote = if quoted { "\"" } else { "" };
    let names: Vec<String> =
        names.iter().take(5).map(|name| format!("{quote}{name}{quote}")).collect();
    match &names[..] {
        [] => String::new(),
        [only] => format!(" Did you mean {only}?"),
        [first, second] => format!(" Did you mean {first} or {second}?"),
        [rest @ .., last] => format!(" Did you mean {}, or {last}?", rest.join(", ")),
    }
}

/// How many characters must be inserted, left out, replaced or swapped with a neighbour; a change of case alone
/// counts as one. O(product of lengths); names longer than 64 bytes are compared by their beginnings.
fn distance(left: &str, right: &str) -> usize {
    if left == right {
        return 0;
    }
    let lower =
        |text: &str| -> Vec<u8> { text.bytes().take(64).map(|b| b.to_ascii_lowercase()).collect() };
    let (left, right) = (lower(left), lower(right));
    if left == right {
        return 1;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for i in 1..=left.len() {
        let mut row = vec![i; right.len() + 1];
        for j in 1..=right.len() {
            let differs = usize::from(left[i - 1] != right[j - 1]);
            let mut best = (above[j] + 1).min(row[j - 1] + 1).min(above[j - 1] + differs);
            let swapped =
                i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
            if swapped {
                best = best.min(before[j - 2] + differs);
            }
            row[j] = best;
        }
        before = std::mem::replace(&mut above, row);
    }
    above[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(distance("abc", "ABC"), 1);
        assert_eq!(distance("foo", "mood"), 2);
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!(distance("", "abc"), 3);
    }

    #[test]
    fn lists_read_well() {
        assert_eq!(did_you_mean(&["a"], true), " Did you mean \"a\"?");
        assert_eq!(did_you_mean(&["a", "b"], false), " Did you mean a or b?");
        assert_eq!(did_you_mean(&["a", "b", "c"], false), " Did you mean a, b, or c?");
        assert_eq!(near_names("foo", ["mood", "zzz"].into_iter()), ["mood"]);
    }
}
