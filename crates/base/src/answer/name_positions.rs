//! Where names are in a list.

use std::collections::HashMap;

/// Up to so many names are compared one by one: that takes less than a table of hashes.
const FEW: usize = 16;

/// Finds names in a list that grows at its end: where the next one is expected first, then among
/// few one by one, among many by a table of hashes that follows the list. O(1) for each name,
/// whatever the order.
#[derive(Debug, Clone, Default)]
pub struct NamePositions {
    // The default hashes have a secret: names come from queries.
    existing: HashMap<String, usize>,
    /// So many names of the list are in the table.
    indexed: usize,
}

impl NamePositions {
    /// Returns the index of the first occurrence of a name in a list of `len` names; `name_at`
    /// reads one.
    pub fn find<'a>(
        &mut self,
        name: &str,
        expected: usize,
        len: usize,
        name_at: impl Fn(usize) -> &'a str,
    ) -> Option<usize> {
        if expected < len && name_at(expected) == name {
            return Some(expected);
        }
        if len <= FEW {
            return (0..len).find(|position| name_at(*position) == name);
        }
        for position in self.indexed..len {
            self.existing.entry(name_at(position).to_owned()).or_insert(position);
        }
        self.indexed = len;
        self.existing.get(name).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    #[test]
    fn the_first_of_equal_names_is_returned() {
        let mut rng = Rng::with_seed(5);
        for _ in 0..200 {
            let (mut names, mut positions) = (Vec::<String>::new(), NamePositions::default());
            for _ in 0..rng.usize(..80) {
                let name = rng.u8(..60).to_string();
                let expected = rng.usize(..=names.len());
                let result =
                    positions.find(&name, expected, names.len(), |position| &names[position]);
                let first = names.iter().position(|existing| *existing == name);
                let is_expected = names.get(expected) == Some(&name);
                assert_eq!(result, if is_expected { Some(expected) } else { first });
                names.push(name);
            }
        }
    }
}
