//! Components of a graph get their numbers in the order of their first nodes.

/// Numbers the components from 0 on. `part_of` returns a number below `nodes` for each node, the
/// same for all nodes of a component.
pub(in crate::algo) fn by_first_node(nodes: usize, part_of: impl Fn(u32) -> u32) -> Vec<i64> {
    let mut numbers = vec![u32::MAX; nodes];
    let mut next = 0;
    let number_of = |node| {
        let number = &mut numbers[part_of(node) as usize];
        if *number == u32::MAX {
            *number = next;
            next += 1;
        }
        i64::from(*number)
    };
    (0..nodes as u32).map(number_of).collect()
}
