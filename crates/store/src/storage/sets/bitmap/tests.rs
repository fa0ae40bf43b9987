use crate::storage::NodeSet;
use crate::storage::files::blocks::catch_corrupt;
use crate::storage::sets::bitmap::*;
use proptest::prelude::*;
use roaring::RoaringBitmap;
use std::sync::Arc;

/// Members of one container, in one of the shapes that its kinds are for.
fn members_of_a_key() -> impl Strategy<Value = Vec<u16>> {
    let few = prop::collection::vec(any::<u16>(), 1..200);
    let some = (any::<u64>(), 2_u64..40).prop_map(|(seed, one_in)| scattered(seed, one_in));
    let runs = prop::collection::vec((any::<u16>(), 0_u16..3000), 1..30).prop_map(|runs| {
        runs.iter().flat_map(|&(first, len)| first..=first.saturating_add(len)).collect()
    });
    let borders = Just(vec![0, 1, 63, 64, 511, 512, 4095, 4096, 65534, 65535]);
    let at_the_limit = (4094_u16..4099).prop_map(|count| (0..count).map(|low| low * 15).collect());
    let everything = Just((0..=u16::MAX).collect());
    prop_oneof![few, some, runs, borders, at_the_limit, everything]
}

/// About one of `one_in` numbers, always the same ones for a seed.
fn scattered(seed: u64, one_in: u64) -> Vec<u16> {
    let mixed = |low: u16| (u64::from(low) ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    (0..=u16::MAX).filter(|&low| mixed(low).is_multiple_of(one_in)).collect()
}

fn sets() -> impl Strategy<Value = RoaringBitmap> {
    let key = prop_oneof![0_u16..4, 0xfffd_u16..=0xffff, any::<u16>()];
    prop::collection::vec((key, members_of_a_key()), 0..6).prop_map(|containers| {
        containers.iter().flat_map(|(key, lows)| lows.iter().map(|&low| join(*key, low))).collect()
    })
}

/// Numbers worth asking for: around members, borders, and anything.
fn probes(set: &RoaringBitmap) -> Vec<u32> {
    let step = (set.len() as usize / 300).max(1);
    let around = set
        .iter()
        .step_by(step)
        .flat_map(|member| [member.saturating_sub(1), member, member.saturating_add(1)]);
    let mut probes: Vec<u32> = around.collect();
    probes.extend([0, 1, 65535, 65536, 65537, u32::MAX - 65536, u32::MAX - 65535, u32::MAX]);
    probes.extend((0..200_u32).map(|index| index.wrapping_mul(0x9e37_79b9)));
    probes.sort_unstable();
    probes.dedup();
    probes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn agrees_with_roaring_on_members(set in sets()) {
        let frozen = FrozenBitmap::from_sorted_iter(set.iter());
        prop_assert_eq!(frozen.len() as u64, set.len());
        prop_assert_eq!(frozen.is_empty(), set.is_empty());
        prop_assert_eq!((frozen.min(), frozen.max()), (set.min(), set.max()));
        for probe in probes(&set) {
            let below = set.rank(probe) - u64::from(set.contains(probe));
            prop_assert_eq!(frozen.contains(probe), set.contains(probe), "contains {}", probe);
            prop_assert_eq!(frozen.rank(probe) as u64, below, "rank {}", probe);
            let row = set.contains(probe).then_some(below as usize);
            prop_assert_eq!(frozen.row_of(probe), row, "row_of {}", probe);
        }
        for row in (0..set.len() as usize + 2).step_by(set.len() as usize / 200 + 1) {
            prop_assert_eq!(frozen.select(row), set.select(row as u32), "select {}", row);
        }
        prop_assert_eq!(frozen.select(set.len() as usize), None);
        for step in [1, 3, 400] {
            let rows: Vec<u32> = (0..set.len() as u32).step_by(step).collect();
            let nodes: Vec<u32> = set.iter().step_by(step).collect();
            prop_assert_eq!(frozen.nodes_of_rows(&rows), nodes, "every row in {}", step);
        }
    }

    #[test]
    fn rows_of_many_are_those_of_each(set in sets(), step in 1_usize..300) {
        let [frozen, plain] = [(); 2].map(|()| FrozenBitmap::from_sorted_iter(set.iter()));
        let mut neighbours: Vec<u32> =
            set.iter().step_by(step).flat_map(|it| [it, it.saturating_add(1)]).collect();
        neighbours.dedup();
        let some: Vec<u32> = set.iter().step_by(step).collect();
        for nodes in [probes(&set), set.iter().collect(), neighbours, some, Vec::new()] {
            let mut rows = vec![7; nodes.len()];
            frozen.rows_of(&nodes, &mut rows);
            for (node, row) in nodes.iter().zip(rows) {
                let row = (row != NO_ROW).then_some(row as usize);
                // Nobody has looked up many rows in `plain`, so it has no counted copies.
                prop_assert_eq!(row, plain.row_of(*node), "the row of {}", node);
                prop_assert_eq!(row, frozen.row_of(*node), "the row of {}, alone", node);
            }
        }
    }

    /// The runs of nodes are the rows of each, however near to the members they are, and as few as
    /// there can be.
    #[test]
    fn runs_of_rows_are_the_rows_of_each(set in sets(), changes in prop::collection::vec(any::<prop::sample::Index>(), 0..40), step in 1_usize..100) {
        let frozen = FrozenBitmap::from_sorted_iter(set.iter());
        let members: Vec<u32> = set.iter().collect();
        let mut near = set.clone();
        for change in changes {
            let Some(node) = members.get(change.index(members.len().max(1))) else { continue };
            // Some members go, and some new ones are added near those that stay.
            near.remove(*node);
            near.insert(node.saturating_add(1).min(u32::MAX - 1));
        }
        let every: Vec<u32> = members.iter().copied().step_by(step).collect();
        for nodes in [near.iter().collect(), probes(&set), members, every] {
            let mut rows = vec![NO_ROW; nodes.len()];
            frozen.rows_of(&nodes, &mut rows);
            let (mut runs, mut listed) = (Vec::new(), Vec::new());
            let list = |runs: &[RowRun], listed: &mut Vec<u32>| {
                for run in runs {
                    let row = |position| if run.row == NO_ROW { NO_ROW } else { run.row + position };
                    listed.extend((0..run.len).map(row));
                }
            };
            prop_assert_eq!(frozen.row_runs(&nodes, usize::MAX, &mut runs), nodes.len());
            list(&runs, &mut listed);
            prop_assert_eq!(&listed, &rows);
            let goes_on = |pair: &[RowRun]| match pair[0].row {
                NO_ROW => pair[1].row == NO_ROW,
                row => pair[1].row == row + pair[0].len,
            };
            prop_assert!(!runs.windows(2).any(goes_on), "{:?}", runs);
            // Where runs get too many, those before are right.
            let done = frozen.row_runs(&nodes, 9, &mut runs);
            listed.clear();
            list(&runs, &mut listed);
            prop_assert_eq!(&listed[..], &rows[..done]);
            prop_assert!(runs.len() <= 9 + 1 + 64 && (done == nodes.len() || 9 < runs.len()));
        }
    }

    #[test]
    fn is_exactly_its_members(set in sets(), position in any::<prop::sample::Index>()) {
        let frozen = FrozenBitmap::from_sorted_iter(set.iter());
        let members: Vec<u32> = set.iter().collect();
        prop_assert!(frozen.is_exactly(&members));
        // One member goes, and the nearest other number replaces it.
        let Some(gone) = members.get(position.index(members.len().max(1))).copied() else {
            return Ok(());
        };
        let new = (gone..u32::MAX).find(|number| !set.contains(*number));
        let new = new.or_else(|| (0..gone).rev().find(|number| !set.contains(*number)));
        let mut others: Vec<u32> = members.iter().copied().filter(|it| *it != gone).collect();
        prop_assert!(!frozen.is_exactly(&others));
        others.extend(new);
        others.sort_unstable();
        prop_assert!(!frozen.is_exactly(&others), "{} for {}", new.unwrap_or(0), gone);
    }

    #[test]
    fn counts_the_members_among_some(set in sets(), gained in sets(), nodes in sets(), run in any::<bool>()) {
        let frozen: NodeSet = FrozenBitmap::from_sorted_iter(set.iter()).into();
        let nodes: Vec<u32> = match (run, nodes.min()) {
            (true, Some(first)) => (first..first.saturating_add(99)).collect(),
            _ => nodes.iter().collect(),
        };
        let expected = nodes.iter().filter(|node| set.contains(**node)).count();
        prop_assert_eq!(frozen.count_among(&nodes), expected);
        let (gained, lost) = (&gained - &set, &set & &nodes.iter().copied().step_by(3).collect::<RoaringBitmap>());
        let changed = &(&set | &gained) - &lost;
        let overlay = NodeSet::overlay(frozen, &Arc::new(gained), &Arc::new(lost));
        let expected = nodes.iter().filter(|node| changed.contains(**node)).count();
        prop_assert_eq!(overlay.count_among(&nodes), expected);
    }

    #[test]
    fn agrees_with_roaring_on_walks(set in sets()) {
        let frozen = FrozenBitmap::from_sorted_iter(set.iter());
        prop_assert!(frozen.iter().eq(set.iter()));
        let mut members = Vec::new();
        frozen.iter().for_each(|member| members.push(member));
        prop_assert!(members.iter().copied().eq(set.iter()));
        for probe in probes(&set).into_iter().step_by(7) {
            let mut walk = frozen.iter_from(probe);
            let left = (set.len() - set.rank(probe)) as usize + usize::from(set.contains(probe));
            prop_assert_eq!(walk.size_hint(), (left, Some(left)), "from {}", probe);
            let first: Vec<u32> = walk.by_ref().take(5).collect();
            prop_assert_eq!(&first, &set.range(probe..).take(5).collect::<Vec<_>>());
            let left = left - first.len();
            prop_assert_eq!(walk.size_hint(), (left, Some(left)), "behind five from {}", probe);
            prop_assert_eq!(walk.fold(0, |count, _| count + 1), left);
        }
    }

    #[test]
    fn agrees_with_roaring_on_what_others_lack(one in sets(), other in sets(), shared in any::<bool>()) {
        let other = if shared { &other | &one } else { other };
        let frozen = [&one, &other].map(|set| FrozenBitmap::from_sorted_iter(set.iter()));
        prop_assert_eq!(frozen[0].and_not(&frozen[1]), &one - &other);
        prop_assert_eq!(frozen[1].and_not(&frozen[0]), &other - &one);
        prop_assert!(frozen[0].and_not(&frozen[0].clone()).is_empty());
    }

    #[test]
    fn goes_to_roaring_and_back(set in sets()) {
        let frozen = FrozenBitmap::from_sorted_iter(set.iter());
        prop_assert_eq!(&frozen.to_roaring(), &set);
        frozen.to_roaring().internal_validate().unwrap();
        let mut optimized = set.clone();
        optimized.optimize();
        let members: Vec<u32> = set.iter().collect();
        for other in [
            FrozenBitmap::from_roaring(&set),
            FrozenBitmap::from_roaring(&optimized),
            FrozenBitmap::from_sorted(&members),
        ] {
            prop_assert_eq!(other.directory.as_slice(), frozen.directory.as_slice());
            prop_assert_eq!(other.payload.as_slice(), frozen.payload.as_slice());
        }
        let (directory, payload) = frozen.parts();
        let same = FrozenBitmap::from_parts(directory.clone(), payload.clone()).unwrap();
        prop_assert!(same.iter().eq(set.iter()));
    }

    #[test]
    fn agrees_with_roaring_on_two_sets(one in sets(), two in sets(), few in any::<bool>()) {
        let two: RoaringBitmap =
            if few { two.iter().step_by(two.len() as usize / 40 + 1).collect() } else { two };
        let frozen = FrozenBitmap::from_roaring(&one);
        let other = FrozenBitmap::from_roaring(&two);
        let both = &one & &two;
        prop_assert_eq!(&frozen.and(&other), &both);
        prop_assert_eq!(&other.and(&frozen), &both);
        frozen.and(&other).internal_validate().unwrap();
        prop_assert_eq!(frozen.and_len(&other), both.len());
        prop_assert_eq!(other.and_len(&frozen), both.len());
        prop_assert_eq!(&frozen.and_roaring(&two), &both);
        let mut either = two.clone();
        frozen.or_into(&mut either);
        prop_assert_eq!(&either, &(&one | &two));
        let mut without = two.clone();
        frozen.remove_from(&mut without);
        prop_assert_eq!(&without, &(&two - &one));
        let mut list: Vec<u32> = two.iter().collect();
        frozen.retain_in(&mut list);
        prop_assert!(list.iter().copied().eq(both.iter()));
        let mut list: Vec<u32> = two.iter().collect();
        frozen.retain_not_in(&mut list);
        prop_assert!(list.iter().copied().eq((&two - &one).iter()));
    }

    /// Whatever the parts hold, a set is refused, or answers something.
    #[test]
    fn invalid_parts_do_no_harm(
        set in sets(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u16>()), 0..12),
        in_directory in prop::sample::select(vec![0, 1, 2]),
    ) {
        let frozen = FrozenBitmap::from_roaring(&set);
        let (directory, payload) = frozen.parts();
        let mut directory = directory.as_slice().to_vec();
        let mut payload = payload.as_slice().to_vec();
        for (count, (position, value)) in changes.into_iter().enumerate() {
            let halves: &mut [u16] = if count < in_directory {
                bytemuck::cast_slice_mut(&mut directory)
            } else {
                bytemuck::cast_slice_mut(&mut payload)
            };
            if !halves.is_empty() {
                let position = position.index(halves.len());
                halves[position] = value;
            }
        }
        let parts = (Array::from_vec(directory), Array::from_vec(payload));
        if let Ok(invalid) = FrozenBitmap::from_parts(parts.0, parts.1) {
            query_everything(&invalid, &frozen, &set);
        }
    }
}

fn query_everything(invalid: &FrozenBitmap, other: &FrozenBitmap, set: &RoaringBitmap) {
    for probe in probes(set).into_iter().step_by(5) {
        let _answer = invalid.contains(probe);
        let _row = (invalid.row_of(probe), invalid.rank(probe));
        let _first = invalid.iter_from(probe).next();
        let _left = invalid.iter_from(probe).size_hint();
        let _member = invalid.select(probe as usize % (invalid.len() + 1));
    }
    let _count = invalid.iter().count() + invalid.iter().map(|low| low as usize % 2).sum::<usize>();
    let members: Vec<u32> = set.iter().collect();
    for nodes in [&members, &probes(set)] {
        invalid.rows_of(nodes, &mut vec![0; nodes.len()]);
        let _answer = invalid.is_exactly(nodes);
    }
    let mut list: Vec<u32> = set.iter().step_by(3).collect();
    invalid.retain_in(&mut list);
    invalid.retain_not_in(&mut list);
    let _counts = (invalid.and_len(other), other.and_len(invalid));
    let few: RoaringBitmap = set.iter().step_by(999).collect();
    for query in [
        &(|| invalid.to_roaring()) as &dyn Fn() -> RoaringBitmap,
        &|| invalid.and(other),
        &|| other.and(invalid),
        &|| invalid.and_roaring(set),
        &|| invalid.and_roaring(&few),
    ] {
        let _result = catch_corrupt(query);
    }
}

#[test]
fn ranges_are_counted_not_stored() {
    for range in [0..0, 5..5, 0..1, 7..65536, 65535..65537, 3..10_000_000, 4_294_900_000..u32::MAX]
    {
        let frozen = FrozenBitmap::from_range(range.clone());
        assert_eq!(frozen.len(), range.len());
        assert!(frozen.payload.is_empty());
        assert_eq!(frozen.range_from, range.clone().next());
        assert!(frozen.iter().eq(range.clone()));
        assert_eq!(frozen.row_of(range.end), None);
        assert_eq!(frozen.row_of(range.start), (!range.is_empty()).then_some(0));
    }
    let all = FrozenBitmap::from_roaring(&RoaringBitmap::full());
    assert_eq!(
        (all.len(), all.max(), all.row_of(u32::MAX)),
        (1 << 32, Some(u32::MAX), Some(0xffff_ffff))
    );
    assert_eq!((all.rank(u32::MAX), all.select(0xffff_ffff)), (0xffff_ffff, Some(u32::MAX)));
    assert_eq!(all.to_roaring(), RoaringBitmap::full());
}

#[test]
fn repeats_count_once() {
    let frozen = FrozenBitmap::from_sorted(&[1, 1, 70_000, 70_000, u32::MAX, u32::MAX]);
    assert_eq!(frozen.iter().collect::<Vec<_>>(), [1, 70_000, u32::MAX]);
}

#[test]
#[should_panic(expected = "7 comes before 6")]
fn an_unsorted_list_is_refused() {
    FrozenBitmap::from_sorted(&[7, 6]);
}

/// Each container takes its smallest form: kind by members.
#[test]
fn forms() {
    let cases: &[(&str, Vec<u32>, Kind)] = &[
        ("one member", vec![3], Kind::Range),
        ("a gap", vec![3, 5], Kind::Sorted),
        ("two runs", (0..100).chain(200..300).collect(), Kind::Runs),
        ("every second, few", (0..4096).map(|n| n * 2).collect(), Kind::Sorted),
        ("every second, many", (0..4097).map(|n| n * 2).collect(), Kind::Bits),
        ("all", (0..65536).collect(), Kind::Range),
    ];
    for (name, members, kind) in cases {
        let frozen = FrozenBitmap::from_sorted(members);
        assert_eq!(Kind::of(frozen.directory.get(0).kind), Some(*kind), "{name}");
    }
}

#[test]
fn sets_differ_from_lists() {
    let shapes: [Vec<u32>; 4] = [
        (0..200_000).step_by(3).collect(),
        (70_000..90_000).collect(),
        (0..300_000).filter(|value| value % 100 < 60).collect(),
        vec![1, 65_536, 4_000_000_000],
    ];
    for members in shapes {
        let set: FrozenBitmap = FrozenBitmap::from_sorted(&members);
        assert!(set.is_exactly(&members));
        for position in [0, members.len() / 2, members.len() - 1] {
            let mut other = members.clone();
            other[position] += 1;
            assert!(!set.is_exactly(&other));
        }
        assert!(!set.is_exactly(&members[1..]));
    }
    assert!(FrozenBitmap::empty().is_exactly(&[]));
}
