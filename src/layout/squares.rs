//! A tree of squares over positions, by which what is far away pushes as one.

/// No square of a level below this one is divided: positions that are the same would divide it for
/// ever.
const LEVELS: usize = 20;

/// A square pushes as one where its side is at most this part of the distance of its centre of
/// mass.
const WIDE: f32 = 0.9;

/// No square: the index of a missing one. The root is nobody's child.
const NONE: u32 = 0;

/// A square of the plane, with what lies in it.
#[derive(Clone, Copy)]
struct Square {
    /// The number of positions in it.
    count: f32,
    /// The sum of their coordinates; their mean, once the tree is complete.
    x: f32,
    y: f32,
    /// The length of a side.
    side: f32,
    /// Where its quarters are: lower left, lower right, upper left, upper right.
    quarters: [u32; 4],
}

/// Squares within squares; the first one holds all positions.
pub(super) struct Squares(Vec<Square>);

impl Squares {
    /// Returns the tree over some positions, one position in each of the smallest squares. Costs
    /// O(positions · levels).
    pub(super) fn of(positions: &[[f32; 2]]) -> Self {
        let bound = |axis: usize, pick: fn(f32, f32) -> f32, start: f32| {
            positions.iter().map(|position| position[axis]).fold(start, pick)
        };
        let low = [bound(0, f32::min, f32::MAX), bound(1, f32::min, f32::MAX)];
        let high = [bound(0, f32::max, f32::MIN), bound(1, f32::max, f32::MIN)];
        let side = (high[0] - low[0]).max(high[1] - low[1]).max(1e-6);
        let mut tree = Self(Vec::with_capacity(2 * positions.len()));
        tree.0.push(empty(side));
        for position in positions {
            tree.insert(*position, low);
        }
        for square in &mut tree.0 {
            square.x /= square.count.max(1.0);
            square.y /= square.count.max(1.0);
        }
        tree
    }

    /// Adds a position to all squares that it lies in. `corner` is the lower left one of the root.
    fn insert(&mut self, position: [f32; 2], mut corner: [f32; 2]) {
        let mut at = 0;
        for level in 0..LEVELS {
            let square = &mut self.0[at];
            let (before, alone) = (square.count, [square.x, square.y]);
            square.count += 1.0;
            square.x += position[0];
            square.y += position[1];
            if level + 1 == LEVELS || (before == 0.0 && level != 0) {
                return;
            }
            let half = square.side / 2.0;
            if before == 1.0 && square.quarters == [NONE; 4] {
                // The position that was alone in here gets a square of its own, which may also
                // contain the new one.
                let (quarter, _) = quarter_of(alone, corner, half);
                let child = self.child(at, quarter, half);
                let child = &mut self.0[child];
                (child.count, child.x, child.y) = (1.0, alone[0], alone[1]);
            }
            let (quarter, inner) = quarter_of(position, corner, half);
            at = self.child(at, quarter, half);
            corner = inner;
        }
    }

    /// Returns a quarter of a square, which is made where it is not there yet.
    fn child(&mut self, at: usize, quarter: usize, side: f32) -> usize {
        let existing = self.0[at].quarters[quarter];
        if existing != NONE {
            return existing as usize;
        }
        let made = self.0.len();
        self.0.push(empty(side));
        self.0[at].quarters[quarter] = made as u32;
        made
    }

    /// Returns how all positions push what lies at one: with 1 / distance each.
    pub(super) fn push(&self, position: [f32; 2]) -> [f32; 2] {
        let mut force = [0.0, 0.0];
        // Depth first, each level leaves at most three squares behind, and a fourth is looked at:
        // so the positions are enough.
        let mut stack = [0_u32; 4 * LEVELS + 4];
        let mut left = 1;
        while 0 < left {
            left -= 1;
            let square = &self.0[stack[left] as usize];
            let (dx, dy) = (position[0] - square.x, position[1] - square.y);
            let squared = dx * dx + dy * dy;
            let is_last = square.quarters == [NONE; 4];
            if is_last || square.side * square.side < WIDE * WIDE * squared {
                // Nothing divides by zero: what lies in the same position does not push.
                let push = square.count / squared.max(1e-4);
                force[0] += dx * push;
                force[1] += dy * push;
                continue;
            }
            for quarter in square.quarters {
                if quarter != NONE {
                    stack[left] = quarter;
                    left += 1;
                }
            }
        }
        force
    }
}

/// Returns a square in which nothing lies.
fn empty(side: f32) -> Square {
    Square { count: 0.0, x: 0.0, y: 0.0, side, quarters: [NONE; 4] }
}

/// Returns in which quarter of a square a position lies, and the lower left corner of it.
fn quarter_of(position: [f32; 2], corner: [f32; 2], half: f32) -> (usize, [f32; 2]) {
    let right = corner[0] + half <= position[0];
    let upper = corner[1] + half <= position[1];
    let inner = [
        if right { corner[0] + half } else { corner[0] },
        if upper { corner[1] + half } else { corner[1] },
    ];
    (usize::from(right) + 2 * usize::from(upper), inner)
}
