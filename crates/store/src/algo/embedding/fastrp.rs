//! Node embeddings by random projection (FastRP): each node starts with a sparse random vector. In
//! each iteration (a *round*), it gets the mean of its targets' vectors. The embedding of a node is
//! the weighted sum of its vectors after each round, each scaled to the L2 norm 1.
//!
//! Nearly all of the time is spent on loading the vectors of neighbours from memory, so few and
//! entire vectors are loaded. The initial ones have a byte for each component. Those of the last
//! round are added to the result as they are computed. Up to three rounds need memory for the
//! result and one copy of it: during the second round, the result contains the first one. More
//! rounds run in two *strips*, each with half of the components, and need memory for two strips
//! apart from the result. The norm of a vector needs all its components, so a first pass over the
//! strips computes the norms.

use super::choice::random_of;
use crate::algo::compact::rows::Rows;
use crate::algo::compact::weights::WeightSlice;
use crate::algo::run::{Outcome, Output, Report, Run, Vectors};
use crate::algo::task::{EVEN_BLOCK, even_bounds};
use hexgraph_base::types::Result;
use std::ops::{Range, RangeInclusive};

/// The components that are generated, and whose squares are summed, at a time.
const CHUNK: usize = 16;

/// One in so many components of an initial vector is positive, and one is negative.
const SPARSITY: usize = 6;

/// The most rounds that run with one copy of the result.
const ROUNDS_AT_ONCE: usize = 3;

/// The number of neighbours whose vectors are loaded at the same time.
const FETCHED: usize = 4;

/// The range of a node's largest weight in which sums of `f32` products neither overflow nor
/// underflow.
const ORDINARY_WEIGHTS: RangeInclusive<f64> = 1e-20..=1e20;

pub(in crate::algo) fn fastrp(run: &Run<'_>) -> Result<Outcome> {
    let rows = run.graph.outgoing();
    let nodes = rows.nodes();
    let dimensions = run.call.int("dimensions").unwrap_or(1) as usize;
    let weights = run.call.numbers("iteration_weights");
    let _result = run.task.capacity(nodes.saturating_mul(dimensions), size_of::<f32>())?;
    // Rounds of weight 0 at the end are not run.
    let rounds = weights.iter().rposition(|weight| *weight != 0.0).map_or(0, |last| last + 1);
    let weights: Vec<f32> = weights[..rounds].iter().map(|weight| *weight as f32).collect();
    let mut values = vec![0.0; nodes * dimensions];
    let (width, passes) = if rounds <= ROUNDS_AT_ONCE {
        let _capacity = run.capacity_per_node(size_of::<f32>() * (1 + dimensions))?;
        Projection::new(run, dimensions)?.at_once(&mut values, &weights)?;
        (dimensions, 1)
    } else {
        // Half of the components, in entire chunks, so that each strip begins at a chunk of random
        // components.
        let width = dimensions.div_ceil(2 * CHUNK) * CHUNK;
        let _capacity = run.capacity_per_node(size_of::<f32>() * (1 + 2 * width + rounds))?;
        Projection::new(run, dimensions)?.by_strips(&mut values, &weights, width)?;
        (width, 2)
    };
    let edges = passes * dimensions.div_ceil(width) * rounds * rows.edges();
    let report = Report { iterations: rounds, edges, ..Report::default() };
    Ok(Outcome { output: Output::Vectors(Vectors { dimensions, values }), report })
}

struct Projection<'p, 'r> {
    run: &'p Run<'r>,
    rows: &'p Rows,
    dimensions: usize,
    /// The absolute value of the non-zero components of each node's initial vector.
    sizes: Vec<f32>,
}

/// Vectors of all nodes, or the same components of each, in the order of the nodes.
trait Source: Sync {
    /// Adds the vectors of some nodes, in their order, each times its weight.
    fn add(&self, nodes: &[u32], weight: impl Fn(usize) -> f32, sums: &mut [f32]);
}

/// Vectors, and their number of components.
struct Dense<'v>(&'v [f32], usize);

/// Initial vectors: the signs of their components, the number of components, and the absolute
/// values by node.
struct First<'v>(&'v [i8], usize, &'v [f32]);

impl Source for Dense<'_> {
    #[inline]
    fn add(&self, nodes: &[u32], weight: impl Fn(usize) -> f32, sums: &mut [f32]) {
        let width = self.1;
        let of = |node: u32| &self.0[node as usize * width..][..width];
        let (fours, rest) = nodes.as_chunks::<FETCHED>();
        for (number, nodes) in fours.iter().enumerate() {
            let [one, two, three, four] = nodes.map(of);
            let weights: [f32; FETCHED] =
                std::array::from_fn(|position| weight(number * FETCHED + position));
            // The loads of several vectors overlap, but each component is summed in a fixed order.
            for (position, sum) in sums[..width].iter_mut().enumerate() {
                *sum = *sum
                    + weights[0] * one[position]
                    + weights[1] * two[position]
                    + weights[2] * three[position]
                    + weights[3] * four[position];
            }
        }
        let before = nodes.len() - rest.len();
        for (position, node) in rest.iter().enumerate() {
            let weight = weight(before + position);
            sums.iter_mut().zip(of(*node)).for_each(|(sum, it)| *sum += weight * it);
        }
    }
}

impl Source for First<'_> {
    #[inline]
    fn add(&self, nodes: &[u32], weight: impl Fn(usize) -> f32, sums: &mut [f32]) {
        let First(signs, width, sizes) = *self;
        for (position, &node) in nodes.iter().enumerate() {
            let size = weight(position) * sizes[node as usize];
            let signs = &signs[node as usize * width..][..width];
            sums.iter_mut().zip(signs).for_each(|(sum, sign)| *sum += size * f32::from(*sign));
        }
    }
}

impl<'p, 'r> Projection<'p, 'r> {
    fn new(run: &'p Run<'r>, dimensions: usize) -> Result<Projection<'p, 'r>> {
        let rows = run.graph.outgoing();
        // Two of `SPARSITY` components are not 0, so the squared norm of an initial vector is 1 on
        // average.
        let unit = (SPARSITY as f64 / 2.0 / dimensions as f64).sqrt();
        let power = run.call.float("normalization_strength");
        let mut sizes = vec![0.0; rows.nodes()];
        run.task.fill_evenly(&mut sizes, |range, part| {
            for (node, size) in range.zip(part) {
                let scale = (rows.degree(node as u32).max(1) as f64).powf(power);
                *size = (unit * scale) as f32;
            }
            Ok(())
        })?;
        Ok(Projection { run, rows, dimensions, sizes })
    }

    /// Runs at most [`ROUNDS_AT_ONCE`] rounds on entire vectors, and adds them to the result, which
    /// is 0 before.
    fn at_once(&self, result: &mut [f32], weights: &[f32]) -> Result<()> {
        let Some((&last, before)) = weights.split_last() else { return Ok(()) };
        let width = self.dimensions;
        let mut copy = vec![0.0; result.len()];
        // The initial vectors are in the memory of the second ones. A byte for each component needs
        // a quarter of the memory of the floats.
        let signs = &mut bytemuck::cast_slice_mut(&mut copy)[..result.len()];
        self.sample(signs, &(0..width))?;
        let first = First(signs, width, &self.sizes);
        let Some(&of_first) = before.first() else {
            return self.step(&first, width, result, |vector, sums| add(vector, sums, last));
        };
        self.step(&first, width, result, <[f32]>::copy_from_slice)?;
        if let Some(&of_second) = before.get(1) {
            self.step(&Dense(result, width), width, &mut copy, <[f32]>::copy_from_slice)?;
            self.each_pair(result, &mut copy, |vector, second| {
                scale(vector, of_first);
                add(vector, second, of_second);
            })?;
        } else {
            self.each_pair(result, &mut copy, |vector, first| {
                first.copy_from_slice(vector);
                scale(vector, of_first);
            })?;
        }
        self.step(&Dense(&copy, width), width, result, |vector, sums| add(vector, sums, last))
    }

    /// Calls `visit` with the entire vectors of each node in two lists.
    fn each_pair(
        &self,
        ones: &mut [f32],
        others: &mut [f32],
        visit: impl Fn(&mut [f32], &mut [f32]) + Sync,
    ) -> Result<()> {
        let bounds: Vec<usize> =
            even_bounds(self.rows.nodes()).iter().map(|end| end * self.dimensions).collect();
        self.run.task.fill_both((ones, others), &bounds, |_, ones, others| {
            let others = others.chunks_exact_mut(self.dimensions);
            let pairs = ones.chunks_exact_mut(self.dimensions).zip(others);
            pairs.for_each(|(one, other)| visit(one, other));
            Ok(())
        })
    }

    /// Runs any number of rounds on `width` components of each vector at a time, and adds them to
    /// the result, which is 0 before.
    fn by_strips(&self, result: &mut [f32], weights: &[f32], width: usize) -> Result<()> {
        let nodes = self.rows.nodes();
        let (mut now, mut next) = (vec![0.0; nodes * width], vec![0.0; nodes * width]);
        let strips = (0..self.dimensions).step_by(width);
        let strips = strips.map(|start| start..self.dimensions.min(start + width));
        // The squared norms after each round, and then the factors of the round's vectors.
        let mut counts = vec![vec![0.0_f32; nodes]; weights.len()];
        for strip in strips.clone() {
            let capacity = (&mut now, &mut next);
            self.rounds(&strip, weights, capacity, |round, strip| {
                self.measure(strip, &mut counts[round])
            })?;
        }
        for (squares, weight) in counts.iter_mut().zip(weights) {
            self.run.task.fill_evenly(squares, |_, part| {
                part.iter_mut().for_each(|square| *square = count_of(*square, *weight));
                Ok(())
            })?;
        }
        for strip in strips {
            let capacity = (&mut now, &mut next);
            self.rounds(&strip, weights, capacity, |round, numbers| {
                self.add_strip(result, &counts[round], (&strip, numbers))
            })?;
        }
        Ok(())
    }

    /// Runs the rounds of a strip, and calls `visit` with the components after each round whose
    /// weight is not 0.
    fn rounds(
        &self,
        strip: &Range<usize>,
        weights: &[f32],
        (now, next): (&mut Vec<f32>, &mut Vec<f32>),
        mut visit: impl FnMut(usize, &[f32]) -> Result<()>,
    ) -> Result<()> {
        let (nodes, width) = (self.rows.nodes(), strip.len());
        for (round, weight) in weights.iter().enumerate() {
            let made = &mut next[..nodes * width];
            if round == 0 {
                let signs = &mut bytemuck::cast_slice_mut(now)[..nodes * width];
                self.sample(signs, strip)?;
                let first = First(signs, width, &self.sizes);
                self.step(&first, width, made, <[f32]>::copy_from_slice)?;
            } else {
                self.step(&Dense(now, width), width, made, <[f32]>::copy_from_slice)?;
            }
            if *weight != 0.0 {
                visit(round, made)?;
            }
            std::mem::swap(now, next);
        }
        Ok(())
    }

    /// Samples the signs of the components of a strip of the initial vectors.
    fn sample(&self, signs: &mut [i8], strip: &Range<usize>) -> Result<()> {
        let (seed, width) = (self.run.call.seed, strip.len());
        let bounds: Vec<usize> =
            even_bounds(self.rows.nodes()).iter().map(|end| end * width).collect();
        self.run.task.fill(signs, &bounds, |block, part| {
            let nodes = (block * EVEN_BLOCK) as u32..;
            for (node, signs) in nodes.zip(part.chunks_exact_mut(width)) {
                for (chunk, signs) in signs.chunks_mut(CHUNK).enumerate() {
                    // Seeded by the chunk's number in the entire vector, so that strips generate
                    // the same components as an entire vector.
                    let mut random = random_of(seed, node, strip.start / CHUNK + chunk);
                    signs.fill_with(|| match random.below(SPARSITY) {
                        0 => 1,
                        1 => -1,
                        _ => 0,
                    });
                }
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Calls `finish` with each node's vector in `vectors` and the weighted mean of its targets'
    /// vectors, which is 0 for a node without edges.
    fn step(
        &self,
        source: &impl Source,
        width: usize,
        vectors: &mut [f32],
        finish: impl Fn(&mut [f32], &[f32]) + Sync,
    ) -> Result<()> {
        let rows = self.rows;
        let bounds: Vec<usize> = rows.blocks().iter().map(|end| end * width).collect();
        self.run.task.fill(vectors, &bounds, |number, part| {
            let mut sums = vec![0.0; width];
            for (node, vector) in rows.block(number).zip(part.chunks_exact_mut(width)) {
                sums.fill(0.0);
                let (targets, weights) = rows.row(node);
                let full = match weights {
                    WeightSlice::Ones => {
                        source.add(targets, |_| 1.0, &mut sums);
                        targets.len() as f64
                    }
                    weights => {
                        let unit = unit_of(weights, targets.len());
                        let weight = |position: usize| weights.at(position) / unit;
                        source.add(targets, |position| weight(position) as f32, &mut sums);
                        (0..targets.len()).map(weight).sum()
                    }
                };
                if 0.0 < full {
                    let fraction = (1.0 / full) as f32;
                    sums.iter_mut().for_each(|sum| *sum *= fraction);
                }
                finish(vector, &sums);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Adds the squares of a strip's components.
    fn measure(&self, strip: &[f32], squares: &mut [f32]) -> Result<()> {
        let width = strip.len() / squares.len().max(1);
        self.run.task.fill_evenly(squares, |range, part| {
            let numbers = strip[range.start * width..].chunks_exact(width.max(1));
            part.iter_mut().zip(numbers).for_each(|(sum, numbers)| *sum += squared(numbers));
            Ok(())
        })?;
        Ok(())
    }

    /// Adds a strip's components to the result, those of each node times its factor in `counts`.
    fn add_strip(
        &self,
        result: &mut [f32],
        counts: &[f32],
        (strip, numbers): (&Range<usize>, &[f32]),
    ) -> Result<()> {
        let width = strip.len();
        let bounds: Vec<usize> =
            even_bounds(self.rows.nodes()).iter().map(|end| end * self.dimensions).collect();
        self.run.task.fill(result, &bounds, |block, part| {
            for (node, vector) in (block * EVEN_BLOCK..).zip(part.chunks_exact_mut(self.dimensions))
            {
                let numbers = &numbers[node * width..][..width];
                let sums = vector[strip.clone()].iter_mut();
                sums.zip(numbers).for_each(|(sum, it)| *sum += counts[node] * it);
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// The divisor of a node's edge weights with which they and their sums fit into an `f32`.
fn unit_of(weights: WeightSlice<'_>, edges: usize) -> f64 {
    let greatest = (0..edges).map(|position| weights.at(position)).fold(0.0, f64::max);
    if greatest == 0.0 || ORDINARY_WEIGHTS.contains(&greatest) { 1.0 } else { greatest }
}

/// The squared L2 norm of a vector.
fn squared(vector: &[f32]) -> f32 {
    vector.chunks(CHUNK).map(|chunk| chunk.iter().map(|it| it * it).sum::<f32>()).sum()
}

/// The factor that scales a vector of this squared norm to the norm `weight`; 0 for a zero vector.
fn count_of(square: f32, weight: f32) -> f32 {
    if 0.0 < square { weight / square.sqrt() } else { 0.0 }
}

/// Adds a vector, scaled to the norm `weight`, to another.
fn add(sums: &mut [f32], vector: &[f32], weight: f32) {
    let count = count_of(squared(vector), weight);
    sums.iter_mut().zip(vector).for_each(|(sum, it)| *sum += count * it);
}

/// Scales a vector to the norm `weight`.
fn scale(vector: &mut [f32], weight: f32) {
    let count = count_of(squared(vector), weight);
    // No component becomes -0.
    vector.iter_mut().for_each(|it| *it = 0.0 + count * *it);
}
