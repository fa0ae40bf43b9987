//! Positions for the nodes of a small graph, so that its edges can be seen: what is joined lies
//! near, and nothing on top of another.
//!
//! Forces between all pairs, cooled down step by step (Fruchterman, Reingold: Graph Drawing by
//! Force-directed Placement. Software: Practice and Experience, 1991), with a pull to the middle
//! that attracts disconnected components. Of more than 2,000 nodes, those that are far away push
//! together, as their centre of mass: a tree of squares finds them (Barnes, Hut: A hierarchical O(N
//! log N) force-calculation algorithm. Nature, 1986). The same graph gets the same positions on
//! machines whose floats are the same.

mod squares;

use hexgraph_base::types::{Error, Result};
use squares::Squares;

/// The most nodes that are placed, in a few seconds.
pub const NODES_MAX: usize = 20_000;

/// The most nodes that all repel each other; of more, distant ones are combined.
const ALL_PAIRS: usize = 2_000;

/// The pairs that are looked at in all rounds together, about: what decides the number of rounds.
const PAIRS: usize = 400_000_000;

/// The fewest and the most rounds.
const ROUNDS: (usize, usize) = (100, 400);

/// How strong the pull to the middle is, relative to the force of an edge.
const GRAVITY: f32 = 0.4;

/// How much stronger it is for a node without edges: no edge holds it back from the rim, far from
/// all others.
const ALONE: f32 = 4.0;

/// The angle between one node and the next at the start, on a spiral: no two lie in one direction.
const GOLDEN_ANGLE: f32 = 2.399_963_2;

/// Returns a position for each of `nodes` nodes, both coordinates from 0 to 1. `edges` are pairs of
/// numbers of nodes, from 0. `check` is called in each round, and stops it by an error. Costs
/// O(nodes² + edges) a round up to 2,000 nodes, with 100 to 400 rounds, and O(nodes log nodes +
/// edges) above: 0.3 s for 1,000 nodes, 0.7 s for 10,000 with 30,000 edges.
///
/// ```
/// use hexgraph::layout::positions;
///
/// let points = positions(3, &[(0, 1), (1, 2)], || Ok(()))?;
/// assert_eq!(points.len(), 3);
/// assert!(points.iter().flatten().all(|at| (0.0..=1.0).contains(at)));
/// # Ok::<(), hexgraph::types::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Query`] for more than [`NODES_MAX`] nodes and for an edge of a node that there is not;
/// those of `check`.
pub fn positions(
    nodes: usize,
    edges: &[(usize, usize)],
    check: impl Fn() -> Result<()>,
) -> Result<Vec<[f32; 2]>> {
    if NODES_MAX < nodes {
        let fault = format!("{nodes} nodes are too many for a picture, of at most {NODES_MAX}");
        return Err(Error::query(fault).with_hint("show a part of the graph"));
    }
    if let Some((from, to)) = edges.iter().find(|(from, to)| nodes <= *from.max(to)) {
        return Err(Error::query(format!("an edge joins {from} and {to}, of {nodes} nodes")));
    }
    let mut slots: Vec<[f32; 2]> = (0..nodes).map(spiral).collect();
    // There are at most 20,000 nodes, so the square stays below 2^32.
    let rounds = (PAIRS / (nodes * nodes).max(1)).clamp(ROUNDS.0, ROUNDS.1);
    let side = (nodes as f32).sqrt();
    let mut forces = vec![[0.0_f32; 2]; nodes];
    let mut gravity = vec![GRAVITY * ALONE; nodes];
    edges.iter().for_each(|(from, to)| (gravity[*from], gravity[*to]) = (GRAVITY, GRAVITY));
    for round in 0..rounds {
        check()?;
        if nodes <= ALL_PAIRS {
            push_apart(&slots, &mut forces);
        } else {
            push_from_afar(&slots, &mut forces);
        }
        pull_together(&slots, edges, &mut forces);
        for ((force, position), strength) in forces.iter_mut().zip(&slots).zip(&gravity) {
            *force = [force[0] - strength * position[0], force[1] - strength * position[1]];
        }
        // The longest step of this round: wide at first, so that nodes pass each other, and short
        // in the end.
        let cool = 1.0 - round as f32 / rounds as f32;
        let longest = 0.1 * side * cool * cool + 0.005;
        for (position, force) in slots.iter_mut().zip(&forces) {
            let length = force[0].hypot(force[1]);
            if 0.0 < length {
                let step = length.min(longest) / length;
                position[0] += force[0] * step;
                position[1] += force[1] * step;
            }
        }
    }
    Ok(within_square(slots))
}

/// The first position of a node, with one node on each unit of the plane, about.
fn spiral(node: usize) -> [f32; 2] {
    // The disc that the first n nodes fill has the area π · 0.36 · n, which is about n.
    let (radius, angle) = ((node as f32 + 0.5).sqrt() * 0.6, node as f32 * GOLDEN_ANGLE);
    [radius * angle.cos(), radius * angle.sin()]
}

/// Sets the forces by which nodes push each other away.
fn push_apart(positions: &[[f32; 2]], forces: &mut [[f32; 2]]) {
    for (position, force) in positions.iter().zip(forces) {
        let (mut x, mut y) = (0.0, 0.0);
        for other in positions {
            let (dx, dy) = (position[0] - other[0], position[1] - other[1]);
            // Nothing divides by zero: a node does not push itself, since the difference is 0.
            let push = 1.0 / (dx * dx + dy * dy).max(1e-4);
            x += dx * push;
            y += dy * push;
        }
        *force = [x, y];
    }
}

/// The same as [`push_apart`], about: what is far away pushes as if it were in one position.
fn push_from_afar(positions: &[[f32; 2]], forces: &mut [[f32; 2]]) {
    let squares = Squares::of(positions);
    for (position, force) in positions.iter().zip(forces) {
        *force = squares.push(*position);
    }
}

/// Adds the forces of edges, which grow with the square of their length.
fn pull_together(positions: &[[f32; 2]], edges: &[(usize, usize)], forces: &mut [[f32; 2]]) {
    for &(from, to) in edges {
        let (dx, dy) =
            (positions[to][0] - positions[from][0], positions[to][1] - positions[from][1]);
        let pull = dx.hypot(dy);
        for (node, sign) in [(from, 1.0), (to, -1.0)] {
            forces[node][0] += sign * dx * pull;
            forces[node][1] += sign * dy * pull;
        }
    }
}

/// Moves and scales the positions, equally in both directions, so that they fill a square of side 1
/// in the longer one.
fn within_square(mut positions: Vec<[f32; 2]>) -> Vec<[f32; 2]> {
    let bounds = |axis: usize| {
        let values = positions.iter().map(|position| position[axis]);
        values.fold((f32::MAX, f32::MIN), |(low, high), it| (low.min(it), high.max(it)))
    };
    let (x, y) = (bounds(0), bounds(1));
    let side = (x.1 - x.0).max(y.1 - y.0).max(1e-6);
    for position in &mut positions {
        // The shorter direction lies in the middle.
        for (axis, (low, high)) in [(0, x), (1, y)] {
            position[axis] = 0.5 + (position[axis] - (low + high) / 2.0) / side;
        }
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(one: [f32; 2], other: [f32; 2]) -> f32 {
        (one[0] - other[0]).hypot(one[1] - other[1])
    }

    #[test]
    fn what_is_joined_lies_nearer() {
        // Two rings of ten, joined by one edge.
        let ring = |start: usize| (0..10).map(move |at| (start + at, start + (at + 1) % 10));
        let mut edges: Vec<(usize, usize)> = ring(0).chain(ring(10)).collect();
        edges.push((0, 10));
        let slots = positions(20, &edges, || Ok(())).unwrap();
        let mean = |pairs: &[(usize, usize)]| {
            let sum: f32 = pairs.iter().map(|(from, to)| distance(slots[*from], slots[*to])).sum();
            sum / pairs.len() as f32
        };
        let apart: Vec<(usize, usize)> = (0..10).map(|at| (at, 10 + at)).collect();
        assert!(2.0 * mean(&edges) < mean(&apart), "{} {}", mean(&edges), mean(&apart));
        assert_eq!(slots, positions(20, &edges, || Ok(())).unwrap());
    }

    #[test]
    fn positions_fill_a_square_and_differ() {
        for nodes in [2, 3, 50] {
            let slots = positions(nodes, &[], || Ok(())).unwrap();
            assert!(slots.iter().flatten().all(|it| (-1e-4..=1.0001).contains(it)));
            for (at, one) in slots.iter().enumerate() {
                let near = slots[..at].iter().map(|other| distance(*one, *other));
                assert!(near.fold(f32::MAX, f32::min) > 0.01, "{nodes}");
            }
        }
        assert_eq!(positions(1, &[], || Ok(())).unwrap(), [[0.5, 0.5]]);
        assert_eq!(positions(0, &[], || Ok(())).unwrap(), [] as [[f32; 2]; 0]);
    }

    #[test]
    fn far_nodes_push_together_nearly_as_each_alone() {
        let positions: Vec<[f32; 2]> = (0..3_000).map(spiral).collect();
        let (mut exact, mut about) = (vec![[0.0; 2]; 3_000], vec![[0.0; 2]; 3_000]);
        push_apart(&positions, &mut exact);
        push_from_afar(&positions, &mut about);
        let wrong: f32 = exact.iter().zip(&about).map(|(one, two)| distance(*one, *two)).sum();
        let all: f32 = exact.iter().map(|force| distance(*force, [0.0, 0.0])).sum();
        assert!(wrong < 0.03 * all, "{wrong} of {all}");
    }

    #[test]
    fn many_nodes_at_one_position_terminate() {
        let positions = vec![[0.25, 0.5]; 3_000];
        let mut forces = vec![[0.0; 2]; 3_000];
        push_from_afar(&positions, &mut forces);
        assert!(forces.iter().flatten().all(|it| it.is_finite()));
    }

    #[test]
    fn of_many_nodes_what_is_joined_lies_nearer() {
        let edges: Vec<(usize, usize)> =
            (0..2_500).map(|at| (at, at / 50 * 50 + (at + 1) % 50)).collect();
        let slots = positions(2_500, &edges, || Ok(())).unwrap();
        let mean = |far: usize| {
            let apart =
                |(from, to): &(usize, usize)| distance(slots[*from], slots[(*to + far) % 2_500]);
            edges.iter().map(apart).sum::<f32>() / edges.len() as f32
        };
        assert!(5.0 * mean(0) < mean(1_250), "{} {}", mean(0), mean(1_250));
    }

    #[test]
    fn a_loop_and_repeated_edges_do_no_harm() {
        let slots = positions(2, &[(0, 0), (0, 1), (0, 1), (1, 0)], || Ok(())).unwrap();
        assert!(slots.iter().flatten().all(|it| it.is_finite()));
    }

    #[test]
    fn too_much_is_refused() {
        let fault =
            |nodes, edges: &[(usize, usize)]| positions(nodes, edges, || Ok(())).unwrap_err();
        assert!(fault(20_001, &[]).to_string().contains("of at most 20000"));
        assert!(fault(2, &[(0, 2)]).to_string().contains("joins 0 and 2, of 2 nodes"));
        let stopped = positions(3, &[], || Err(Error::query("stop")));
        assert!(stopped.unwrap_err().to_string().contains("stop"));
    }
}
