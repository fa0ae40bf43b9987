//! The rules by which edges and nodes are generated.

use super::random_stream::RandomStream;

/// The followed person of edge `edge`, where each person but the first follows `follows` of those
/// before: one who is likelier the more followers there are already (Barabási, Albert: Emergence of
/// scaling in random networks. Science, 1999). Edge by edge, without those before it in memory
/// (Sanders, Schulz: Scalable generation of scale-free graphs. Information Processing Characters,
/// 2016): the endpoints of all edges are in a list, sources at even and targets at odd positions,
/// and a target is a copy of a random position that belongs to a person before. O(1) steps on
/// average.
#[inline]
pub(super) fn followed(edge: u64, follows: u64, random: RandomStream) -> u64 {
    // The first person follows nobody; that person has as many positions as edges would have.
    let mut edge = edge + follows;
    loop {
        let person = edge / follows;
        if person == 0 {
            return 0;
        }
        let position = random.below(edge, 2 * person * follows);
        edge = position / 2;
        if position.is_multiple_of(2) {
            return edge / follows;
        }
    }
}

/// An edge of a Kronecker graph with `2^scale` nodes, by the numbers of Graph 500: in each of
/// `scale` steps the edge falls into one of the four quarters of the matrix with the probabilities
/// 0.57, 0.19, 0.19 and 0.05 (Chakrabarti, Zhan, Faloutsos: R-MAT. SDM, 2004).
#[inline]
pub(super) fn quartered(edge: u64, scale: u32, random: RandomStream) -> (u64, u64) {
    /// Cumulative probabilities times 2^16.
    const BOUNDS: [u64; 3] = [37_356, 49_807, 62_259];
    /// A random number has the bits of so many steps.
    const STEPS_PER_NUMBER: u32 = 4;
    let (mut from, mut to, mut left) = (0, 0, scale);
    let mut position = edge * 16;
    while 0 < left {
        let mut bits = random.bits(position);
        for _ in 0..left.min(STEPS_PER_NUMBER) {
            let sample = bits & 0xffff;
            bits >>= 16;
            // Sums of truth values: what a processor would guess, it would guess wrong half of the
            // time.
            let past = BOUNDS.map(|bound| u64::from(bound <= sample));
            let quarter = past[0] + past[1] + past[2];
            from = 2 * from + quarter / 2;
            to = 2 * to + quarter % 2;
        }
        left -= left.min(STEPS_PER_NUMBER);
        position += 1;
    }
    (scrambled(from, scale, random), scrambled(to, scale, random))
}

/// The nodes of a Kronecker graph in another order: else the first ones would have most of the
/// edges. Each number below `2^scale` has one of its own.
#[inline]
fn scrambled(node: u64, scale: u32, random: RandomStream) -> u64 {
    let mask = (1 << scale) - 1;
    // A product with an odd number and a shift to the right can both be undone, so no two numbers
    // meet.
    let half = scale.div_ceil(2);
    let node = node.wrapping_mul(random.bits(u64::MAX) | 1) & mask;
    let node = node ^ (node >> half);
    node.wrapping_mul(random.bits(u64::MAX - 1) | 1) & mask
}

/// Edge `edge` of a grid: its source and its target. The edges to the right come first, then those
/// down; each is followed by the one back.
#[inline]
pub(super) fn step(edge: u64, width: u64, height: u64) -> (u64, u64) {
    let (pair, is_back) = (edge / 2, edge % 2 == 1);
    let across = (width - 1) * height;
    let (from, to) = match pair < across {
        true => {
            let (row, column) = (pair / (width - 1), pair % (width - 1));
            let from = row * width + column;
            (from, from + 1)
        }
        false => (pair - across, pair - across + width),
    };
    if is_back { (to, from) } else { (from, to) }
}

/// The number of edges of a grid, in both directions.
pub(super) fn step_count(width: u64, height: u64) -> u64 {
    2 * (width.saturating_sub(1) * height + width * height.saturating_sub(1))
}

/// Who calls whom in event `event`: few people call often, and mostly those whose numbers are near.
#[inline]
pub(super) fn called(event: u64, people: u64, random: RandomStream) -> (u64, u64) {
    // The least of three random numbers: a few have much of what happens.
    let caller = (0..3).map(|at| random.below(event * 8 + at, people)).min().unwrap_or(0);
    let is_near = !random.bits(event * 8 + 3).is_multiple_of(4);
    let distance = if is_near { people.min(64) } else { people };
    // At least 1 further on, and never so far as to come back.
    let away = 1 + random.below(event * 8 + 4, (distance - 1).max(1));
    (caller, (caller + away) % people)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_followed_were_there_before() {
        let random = RandomStream::new(7, 0);
        let mut counts = vec![0_u64; 2_001];
        for edge in 0..10_000 {
            let (source, target) = (edge / 5 + 1, followed(edge, 5, random));
            assert!(target < source, "{source} {target}");
            counts[target as usize] += 1;
        }
        counts.sort_unstable();
        // Many have nobody, and the first few have a good part of all followers.
        assert!(counts[..500].iter().all(|count| *count <= 1));
        assert!(1_500 < counts[1_981..].iter().sum::<u64>(), "{:?}", &counts[1_981..]);
    }

    #[test]
    fn no_two_nodes_become_one() {
        for scale in [1, 2, 7, 10] {
            let random = RandomStream::new(3, 1);
            let all: BTreeSet<u64> =
                (0..1 << scale).map(|it| scrambled(it, scale, random)).collect();
            assert_eq!(all.len(), 1 << scale);
            assert!(all.iter().all(|node| *node < 1 << scale));
        }
    }

    #[test]
    fn quarters_have_their_fractions() {
        let random = RandomStream::new(1, 1);
        let mut degrees = vec![0_u64; 1 << 10];
        for edge in 0..40_000 {
            degrees[quartered(edge, 10, random).0 as usize] += 1;
        }
        degrees.sort_unstable_by(|one, other| other.cmp(one));
        // The largest is the node of ten times the greater half: 0.76^10 of all edges, 2,572.
        assert!((2_300..2_850).contains(&degrees[0]), "{}", degrees[0]);
    }

    #[test]
    fn the_steps_of_a_grid() {
        let all: Vec<(u64, u64)> = (0..step_count(3, 2)).map(|edge| step(edge, 3, 2)).collect();
        let expected = [(0, 1), (1, 0), (1, 2), (2, 1), (3, 4), (4, 3), (4, 5), (5, 4)];
        assert_eq!(all[..8], expected);
        assert_eq!(all[8..], [(0, 3), (3, 0), (1, 4), (4, 1), (2, 5), (5, 2)]);
        assert_eq!((step_count(1, 1), step_count(1, 3), step_count(3, 1)), (0, 4, 4));
        assert_eq!((step(0, 1, 3), step(2, 1, 3)), ((0, 1), (1, 2)));
    }

    #[test]
    fn nobody_calls_himself() {
        for people in [2, 3, 100] {
            let random = RandomStream::new(people, 0);
            for event in 0..2_000 {
                let (from, to) = called(event, people, random);
                assert!(from != to && from < people && to < people, "{people} {event}");
            }
        }
    }
}
