//! Floats as they are stored, and what changed of them: read in their order without a copy.
//!
//! ```text
//!   stored     s0 s1 s2 s3 s4 s5 s6        patches   1 replaces s1, s3 is lost, 2 lies before s5
//!   in order   s0  1 s2    s4  2 s5 s6
//! ```

/// The floats that a [`FloatCursor`] reads at a time: two cache lines, and so few that most lie
/// between two changes: one row in 64 has one at most, unless a compaction is overdue.
pub(crate) const STEP: usize = 2 * CACHE_LINE_BYTES / size_of::<f64>();

const CACHE_LINE_BYTES: usize = 64;

/// Stored floats with what changed of them.
#[derive(Clone, Copy)]
pub(crate) struct PatchedFloats<'f> {
    stored: &'f [f64],
    patches: &'f [Patch],
    len: usize,
}

/// One change. Positions count floats in their order, rows stored ones; both are below the number
/// of nodes.
#[derive(Clone, Copy)]
struct Patch {
    /// The number of floats before it.
    position: u32,
    /// The row after it.
    row: u32,
    /// The new float; `None` where one is lost.
    float: Option<f64>,
}

/// Collects what changed of some stored floats. It is reused from one batch to the next for its
/// capacity.
#[derive(Default)]
pub(crate) struct Patches {
    patches: Vec<Patch>,
    position: usize,
    row: usize,
}

impl Patches {
    /// Forgets all changes.
    pub(crate) fn clear(&mut self) {
        self.patches.clear();
        (self.position, self.row) = (0, 0);
    }

    /// Notes a change after those before: of the float in a row, or, where it `is_new`, of one
    /// before that row.
    pub(crate) fn add(&mut self, row: usize, is_new: bool, float: Option<f64>) {
        debug_assert!(self.row <= row, "changes ascend");
        let position = self.position + row - self.row;
        self.row = row + usize::from(!is_new);
        self.position = position + usize::from(float.is_some());
        self.patches.push(Patch { position: position as u32, row: self.row as u32, float });
    }

    /// The row after the last change.
    pub(crate) fn row(&self) -> usize {
        self.row
    }

    /// The floats with these changes.
    pub(crate) fn of<'f>(&'f self, stored: &'f [f64]) -> PatchedFloats<'f> {
        let len = self.position + stored.len() - self.row;
        PatchedFloats { stored, patches: &self.patches, len }
    }
}

impl<'f> PatchedFloats<'f> {
    /// The number of floats.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The stored floats, where nothing changed.
    pub(crate) fn unchanged(&self) -> Option<&'f [f64]> {
        self.patches.is_empty().then_some(self.stored)
    }

    /// What reads them from the first one on.
    pub(crate) fn cursor(self) -> FloatCursor<'f> {
        let first = self.patches.first().map_or(self.len, |patch| patch.position as usize);
        FloatCursor {
            stored: self.stored,
            patches: self.patches,
            len: self.len,
            row: 0,
            position: 0,
            patch: first,
        }
    }
}

/// A position among floats with changes.
#[derive(Clone, Copy)]
pub(crate) struct FloatCursor<'f> {
    stored: &'f [f64],
    /// The patches that were not passed by.
    patches: &'f [Patch],
    len: usize,
    /// The next row.
    row: usize,
    /// The next position.
    position: usize,
    /// The position of the next patch, or the number of floats.
    patch: usize,
}

impl<'f> FloatCursor<'f> {
    /// The number of floats that were not read.
    pub(crate) fn left(&self) -> usize {
        self.len - self.position
    }

    /// How many floats lie contiguously from here on.
    #[inline]
    pub(crate) fn unchanged(&self) -> usize {
        self.patch - self.position
    }

    /// The next floats, which have to lie contiguously.
    #[inline]
    pub(crate) fn next_run(&mut self, count: usize) -> &'f [f64] {
        let floats = &self.stored[self.row..self.row + count];
        self.row += count;
        self.position += count;
        floats
    }

    /// The next floats, which must exist: borrowed if none of them changed, else put together in
    /// `buffer`.
    #[inline]
    pub(crate) fn step<'r>(&mut self, buffer: &'r mut [f64; STEP]) -> &'r [f64; STEP]
    where
        'f: 'r,
    {
        if STEP <= self.unchanged()
            && let Some(floats) = self.stored[self.row..].first_chunk::<STEP>()
        {
            self.row += STEP;
            self.position += STEP;
            return floats;
        }
        self.put_together(buffer);
        buffer
    }

    #[inline(never)]
    fn put_together(&mut self, buffer: &mut [f64; STEP]) {
        let at = self.patch - self.position;
        // Mostly one float is replaced by another.
        if let [Patch { row, float: Some(float), .. }, rest @ ..] = self.patches
            && *row as usize == self.row + at + 1
            && let Some(floats) = self.stored[self.row..].first_chunk::<STEP>()
            && rest.first().map_or(self.len, |next| next.position as usize) >= self.position + STEP
        {
            *buffer = *floats;
            buffer[at] = *float;
            self.patches = rest;
            self.patch = rest.first().map_or(self.len, |next| next.position as usize);
            self.row += STEP;
            self.position += STEP;
            return;
        }
        let mut filled = 0;
        self.visit_next(STEP, |floats| {
            buffer[filled..filled + floats.len()].copy_from_slice(floats);
            filled += floats.len();
        });
    }

    /// Passes by so many floats. O(patches between).
    pub(crate) fn skip(&mut self, count: usize) {
        self.visit_next(count, |_| {});
    }

    /// Adds the next floats to a list.
    pub(crate) fn append_to(&mut self, count: usize, floats: &mut Vec<f64>) {
        self.visit_next(count, |some| floats.extend_from_slice(some));
    }

    /// Calls `visit` with the next floats in chunks, as many as there are and no more than `count`.
    fn visit_next(&mut self, count: usize, mut visit: impl FnMut(&[f64])) {
        let end = self.position + count.min(self.left());
        while self.position < end {
            let run = self.patch.min(end) - self.position;
            visit(&self.stored[self.row..self.row + run]);
            self.row += run;
            self.position += run;
            // What is lost before the end is passed by now or with what comes next.
            while self.position < end
                && let [Patch { position, row, float }, rest @ ..] = self.patches
                && *position as usize == self.position
            {
                if let Some(float) = float {
                    visit(std::slice::from_ref(float));
                    self.position += 1;
                }
                self.row = *row as usize;
                self.patches = rest;
            }
            self.patch = self.patches.first().map_or(self.len, |next| next.position as usize);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use fastrand::Rng;

    /// Changes about one in so many of some floats, and gives them in their order.
    pub(crate) fn patched(
        patches: &mut Patches,
        stored: &[f64],
        one_in: usize,
        rng: &mut Rng,
    ) -> Vec<f64> {
        let mut floats = Vec::new();
        let changes = |rng: &mut Rng| 0 < one_in && rng.usize(..one_in) == 0;
        for row in 0..=stored.len() {
            while one_in != 1 && changes(rng) && rng.u8(..10) == 0 {
                floats.push(rng.f64());
                patches.add(row, true, floats.last().copied());
            }
            let Some(&float) = stored.get(row) else { break };
            let changed = match rng.u8(..10) {
                _ if !changes(rng) => {
                    floats.push(float);
                    continue;
                }
                0 | 1 => None,
                _ => Some(rng.f64()),
            };
            patches.add(row, false, changed);
            floats.extend(changed);
        }
        floats
    }

    #[test]
    fn a_cursor_reads_what_is_there() {
        let mut rng = Rng::with_seed(5);
        let (mut patches, mut capacity) = (Patches::default(), [0.0; STEP]);
        for round in 0..300 {
            let stored: Vec<f64> = (0..rng.usize(..300)).map(|_| rng.f64()).collect();
            patches.clear();
            let one_in = [0, 1, 2, 9, 60][rng.usize(..5)];
            let expected = patched(&mut patches, &stored, one_in, &mut rng);
            let floats = patches.of(&stored);
            assert_eq!(floats.len(), expected.len(), "round {round}");
            let mut cursor = floats.cursor();
            let mut done = 0;
            while 0 < cursor.left() {
                assert_eq!(cursor.left(), expected.len() - done, "round {round}");
                let count = rng.usize(..40).min(cursor.left());
                let before = done;
                match rng.u8(..4) {
                    0 => {
                        cursor.skip(count);
                        done += count;
                    }
                    1 => {
                        let mut list = Vec::new();
                        cursor.append_to(count, &mut list);
                        done += count;
                        assert_eq!(list, expected[before..done], "round {round}");
                    }
                    _ if STEP <= cursor.left() => {
                        done += STEP;
                        assert_eq!(
                            *cursor.step(&mut capacity),
                            expected[before..done],
                            "round {round}"
                        );
                    }
                    _ => {}
                }
            }
        }
    }

    /// What lies between changes is borrowed: without that the sums would be right and slow.
    #[test]
    fn only_steps_with_a_change_are_put_together() {
        let stored = vec![1.0; 100 * STEP];
        let mut patches = Patches::default();
        patches.add(3 * STEP + 2, false, Some(2.0));
        patches.add(50 * STEP, false, None);
        let mut cursor = patches.of(&stored).cursor();
        let put_together = (0..99).filter(|_| {
            let mut capacity = [f64::NAN; STEP];
            cursor.step(&mut capacity);
            !capacity[0].is_nan()
        });
        assert_eq!(put_together.collect::<Vec<_>>(), [3, 50]);
    }
}
