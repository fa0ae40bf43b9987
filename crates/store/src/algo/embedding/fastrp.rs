//! Vectors of nodes by random projection (FastRP): each node begins with a random vector of few numbers other than 0, then takes the mean
//! of those that it leads to, again and again. The vector of a node is the sum of what it had after each round, scaled to the length 1 and
//! weighted.
//!
//! The numbers of a vector do not depend on each other but by those lengths. So they are computed some at a time: the neighbours' numbers
//! of one strip lie in one line of the cache, and beside the result there is room for two strips alone. The strips are gone through twice,
//! first for the lengths.

use super::choice::draws_of;
use crate::algo::compact::rows::Rows;
use crate::algo::run::{Found, Output, Report, Run, Vectors};
use crate::algo::task::EVEN_BLOCK;
use hexgraph_base::types::Result;
use std::array::from_fn;

/// The numbers of a strip: 64 bytes.
const STRIP: usize = 16;

/// One in so many of the first numbers is above 0, and as many below.
const SPARSITY: usize = 6;

type Strip = [f32; STRIP];

pub(in crate::algo) fn fastrp(run: &Run<'_>) -> Result<Found> {
    let rows = run.graph.outgoing();
    let nodes = rows.nodes();
    let dimensions = run.call.int("dimensions").unwrap_or(1) as usize;
    let weights = run.call.numbers("iteration_weights");
    let _result = run.task.room(nodes.saturating_mul(dimensions), size_of::<f32>())?;
    let _room = run.room_a_node(2 * size_of::<Strip>() + size_of::<f32>() * weights.len())?;
    let power = run.call.float("normalization_strength");
    let mut projection = Projection {
        run,
        rows,
        power,
        now: vec![[0.0; STRIP]; nodes],
        next: vec![[0.0; STRIP]; nodes],
    };
    let strips = dimensions.div_ceil(STRIP);
    // The squares of the lengths after each round, and then what a round's numbers count.
    let mut lengths = vec![vec![0.0_f32; nodes]; weights.len()];
    for strip in 0..strips {
        projection.begin(strip, dimensions)?;
        for (round, weight) in weights.iter().enumerate() {
            projection.step()?;
            if *weight != 0.0 {
                projection.measure(&mut lengths[round])?;
            }
        }
    }
    for (lengths, weight) in lengths.iter_mut().zip(weights) {
        run.task.fill_evenly(lengths, |_, part| {
            part.iter_mut().filter(|square| 0.0 < **square).for_each(|square| {
                *square = *weight as f32 / square.sqrt();
            });
            Ok(())
        })?;
    }
    let mut values = vec![0.0; nodes * dimensions];
    for strip in 0..strips {
        projection.begin(strip, dimensions)?;
        for (round, weight) in weights.iter().enumerate() {
            projection.step()?;
            if *weight != 0.0 {
                projection.add_to(&mut values, &lengths[round], (strip, dimensions))?;
            }
        }
    }
    let edges = 2 * strips * weights.len() * rows.edges();
    let report = Report { iterations: weights.len(), edges, ..Report::default() };
    Ok(Found { output: Output::Vectors(Vectors { dimensions, values }), report })
}

struct Projection<'p, 'r> {
    run: &'p Run<'r>,
    rows: &'p Rows,
    power: f64,
    now: Vec<Strip>,
    next: Vec<Strip>,
}

impl Projection<'_, '_> {
    /// Begins a strip with random numbers, those behind the last dimension 0.
    fn begin(&mut self, strip: usize, dimensions: usize) -> Result<()> {
        let unit = (SPARSITY as f64 / 2.0 / dimensions as f64).sqrt();
        let (rows, power, seed) = (self.rows, self.power, self.run.call.seed);
        let used = STRIP.min(dimensions - strip * STRIP);
        self.run.task.fill_evenly(&mut self.now, |range, part| {
            for (node, numbers) in range.zip(part) {
                let scale = (rows.degree(node as u32).max(1) as f64).powf(power);
                let size = (unit * scale) as f32;
                let mut draws = draws_of(seed, node as u32, strip);
                *numbers = from_fn(|place| match draws.below(SPARSITY) {
                    0 if place < used => size,
                    1 if place < used => -size,
                    _ => 0.0,
                });
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Gives each node the mean of those that it leads to, by the weights of its edges; 0 to one that leads nowhere.
    fn step(&mut self) -> Result<()> {
        let (rows, now) = (self.rows, &self.now);
        self.run.task.fill(&mut self.next, rows.blocks(), |number, part| {
            for (node, sums) in rows.block(number).zip(part) {
                *sums = [0.0; STRIP];
                let mut whole = rows.degree(node) as f64;
                if rows.is_weighted() {
                    whole = 0.0;
                    for (to, weight) in rows.weighted(node) {
                        whole += weight;
                        let weight = weight as f32;
                        let others = &now[to as usize];
                        sums.iter_mut().zip(others).for_each(|(sum, it)| *sum += weight * it);
                    }
                } else {
                    for to in rows.of(node) {
                        let others = &now[*to as usize];
                        sums.iter_mut().zip(others).for_each(|(sum, it)| *sum += it);
                    }
                }
                if 0.0 < whole {
                    let share = (1.0 / whole) as f32;
                    sums.iter_mut().for_each(|sum| *sum *= share);
                }
            }
            Ok(())
        })?;
        std::mem::swap(&mut self.now, &mut self.next);
        Ok(())
    }

    /// Adds the squares of the strip's numbers.
    fn measure(&self, squares: &mut [f32]) -> Result<()> {
        let now = &self.now;
        self.run.task.fill_evenly(squares, |range, part| {
            for (numbers, sum) in now[range].iter().zip(part) {
                *sum += numbers.iter().map(|it| it * it).sum::<f32>();
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Adds the strip's numbers, times what those of each node count, to the vectors.
    fn add_to(
        &self,
        values: &mut [f32],
        counts: &[f32],
        (strip, dimensions): (usize, usize),
    ) -> Result<()> {
        let now = &self.now;
        let ends = (1..=now.len().div_ceil(EVEN_BLOCK))
            .map(|block| now.len().min(block * EVEN_BLOCK) * dimensions)
            .collect::<Vec<usize>>();
        self.run.task.fill(values, &ends, |block, part| {
            let nodes = block * EVEN_BLOCK..;
            for (node, vector) in nodes.zip(part.chunks_exact_mut(dimensions)) {
                let sums = vector[strip * STRIP..].iter_mut();
                sums.zip(&now[node]).for_each(|(sum, it)| *sum += counts[node] * it);
            }
            Ok(())
        })?;
        Ok(())
    }
}
