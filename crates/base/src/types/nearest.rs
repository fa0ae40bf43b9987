//! The existing names that a wrong one was probably meant to be.

/// Requests the name that was probably meant: ``did you mean `a`?``. Empty when none is near.
pub fn did_you_mean<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> String {
    nearest(word, names).map_or_else(String::new, |name| format!("did you mean `{name}`?"))
}

/// The name with the fewest different characters, when there are few enough of them.
pub fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = if word.len() < 4 { 1 } else { 2 };
    // Any character is one change away from any other.
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

/// The names that are near to a word, the nearest first, then in the order given. A name is near
/// when at most half of the longer one's bytes differ, and one may always differ; a difference of
/// case alone counts as one. O(names × product of lengths).
pub fn near_names<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let ranked = names.map(|name| (caseless_distance(word, name), name));
    let is_near =
        |(changes, name): &(usize, &str)| *changes <= (word.len().max(name.len()) / 2).max(1);
    let mut near: Vec<(usize, &str)> = ranked.filter(is_near).collect();
    near.sort_by_key(|(changes, _)| *changes);
    near.into_iter().map(|(_, name)| name).collect()
}

/// Requests one of several names, as GraphQL's messages do: ` Did you mean "a", "b", or "c"?`.
/// Empty without names; at most five are named.
pub fn did_you_mean_one_of(names: &[&str], quoted: bool) -> String {
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

/// The most bytes of a name that [`near_names`] compares: messages about long texts stay cheap.
const COMPARED_MAX: usize = 64;

/// The distance of two names without their case, by their prefixes only.
fn caseless_distance(left: &str, right: &str) -> usize {
    if left == right {
        return 0;
    }
    let lower = |text: &str| -> Vec<u8> {
        text.bytes().take(COMPARED_MAX).map(|byte| byte.to_ascii_lowercase()).collect()
    };
    let (left, right) = (lower(left), lower(right));
    // Names that differ in case alone are near, but not the same.
    if left == right { 1 } else { distance(&left, &right) }
}

/// How many bytes must be changed, added, removed or swapped with their neighbour to make one text
/// of the other (optimal string alignment). Costs the product of the lengths.
/// `text::within_distance` is another distance: that of the function `match`, which knows no swaps
/// and looks at characters.
fn distance(left: &[u8], right: &[u8]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut row = Vec::with_capacity(right.len() + 1);
        row.push(i + 1);
        for (j, b) in right.iter().enumerate() {
            let mut least = above[j] + usize::from(a != b);
            least = least.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == right[j - 1] && left[i - 1] == *b {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        // Two rows are enough: a swap looks back at the one before the last.
        before = std::mem::replace(&mut above, row);
    }
    above[right.len()]
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

    #[test]
    fn case_counts_once() {
        assert_eq!(caseless_distance("abc", "ABC"), 1);
        assert_eq!(caseless_distance("foo", "mood"), 2);
        assert_eq!(caseless_distance("ab", "ba"), 1);
        assert_eq!(caseless_distance("", "abc"), 3);
    }

    #[test]
    fn lists_read_well() {
        assert_eq!(did_you_mean_one_of(&["a"], true), " Did you mean \"a\"?");
        assert_eq!(did_you_mean_one_of(&["a", "b"], false), " Did you mean a or b?");
        assert_eq!(did_you_mean_one_of(&["a", "b", "c"], false), " Did you mean a, b, or c?");
        assert_eq!(near_names("foo", ["mood", "zzz"].into_iter()), ["mood"]);
    }
}
