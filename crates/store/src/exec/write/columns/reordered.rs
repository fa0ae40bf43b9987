//! Rows in another order than that of their nodes.

use hexgraph_base::types::{DateTime, ObjectCells, Uid};

/// Some nodes, ascending, and where each of them was before.
pub(super) struct Sorted {
    pub(super) nodes: Vec<u32>,
    /// For each node as it was given, its place among the ascending ones.
    places: Vec<u32>,
}

/// The cells of some objects in an order of their own.
pub(super) enum Reordered<'o> {
    Ints(Vec<i64>, Vec<bool>),
    Floats(Vec<f64>, Vec<bool>),
    Bools(Vec<bool>, Vec<bool>),
    Times(Vec<DateTime>, Vec<bool>),
    Uids(Vec<Uid>),
    Texts(Vec<Option<&'o str>>),
    Coded(Vec<u32>, &'o [&'o str]),
}

impl Sorted {
    /// Sorts nodes. O(nodes * log nodes).
    pub(super) fn of(nodes: &[u32]) -> Sorted {
        let mut pairs: Vec<u64> =
            nodes.iter().zip(0_u64..).map(|(node, place)| u64::from(*node) << 32 | place).collect();
        pairs.sort_unstable();
        let mut places = vec![0; nodes.len()];
        for (place, pair) in (0..).zip(&pairs) {
            places[*pair as u32 as usize] = place;
        }
        Sorted { nodes: pairs.into_iter().map(|pair| (pair >> 32) as u32).collect(), places }
    }

    /// Cells of the ascending nodes, in the order in which the nodes were given.
    pub(super) fn reorder<'o>(&self, cells: ObjectCells<'o>) -> Reordered<'o> {
        match cells {
            ObjectCells::Ints(ints, has) => Reordered::Ints(self.pick(ints), self.pick(has)),
            ObjectCells::Floats(floats, has) => {
                Reordered::Floats(self.pick(floats), self.pick(has))
            }
            ObjectCells::Bools(truths, has) => Reordered::Bools(self.pick(truths), self.pick(has)),
            ObjectCells::Times(times, has) => Reordered::Times(self.pick(times), self.pick(has)),
            ObjectCells::Uids(uids) => Reordered::Uids(self.pick(uids)),
            ObjectCells::Coded(codes, texts) => Reordered::Coded(self.pick(codes), texts),
            ObjectCells::Some(texts) => Reordered::Texts(self.pick(texts)),
            ObjectCells::Texts(..) => {
                let text = |place: &u32| cells.text(*place as usize);
                Reordered::Texts(self.places.iter().map(text).collect())
            }
        }
    }

    /// Items in that order; none where there are none.
    fn pick<T: Copy>(&self, items: &[T]) -> Vec<T> {
        if items.is_empty() {
            return Vec::new();
        }
        self.places.iter().map(|place| items[*place as usize]).collect()
    }
}

impl Reordered<'_> {
    pub(super) fn cells(&self) -> ObjectCells<'_> {
        match self {
            Reordered::Ints(ints, has) => ObjectCells::Ints(ints, has),
            Reordered::Floats(floats, has) => ObjectCells::Floats(floats, has),
            Reordered::Bools(truths, has) => ObjectCells::Bools(truths, has),
            Reordered::Times(times, has) => ObjectCells::Times(times, has),
            Reordered::Uids(uids) => ObjectCells::Uids(uids),
            Reordered::Texts(texts) => ObjectCells::Some(texts),
            Reordered::Coded(codes, texts) => ObjectCells::Coded(codes, texts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_come_back_in_the_order_of_their_nodes() {
        let given = [9, 2, 40, 7];
        let sorted = Sorted::of(&given);
        assert_eq!(sorted.nodes, [2, 7, 9, 40]);
        let ints: Vec<i64> = sorted.nodes.iter().map(|node| i64::from(*node)).collect();
        let has = [true, false, true, true];
        let reordered = sorted.reorder(ObjectCells::Ints(&ints, &has));
        let ObjectCells::Ints(found, valid) = reordered.cells() else { panic!("no ints") };
        assert_eq!((found, valid), (&[9, 2, 40, 7][..], &[true, true, true, false][..]));
        let texts = sorted.reorder(ObjectCells::Texts("abcdefg", &[2, 3, 5, 7]));
        assert_eq!((0..4).map(|it| texts.cells().text(it).unwrap()).collect::<String>(), "deabfgc");
    }
}
