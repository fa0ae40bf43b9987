//! Cells that cover an area.
//!
//! S2 divides the sphere into cells, with four children each. A covering has few cells and hardly
//! more than the area: start with the at most six cells that surely hold it, split the largest one
//! again and again, drop children that the area does not touch, and stop where more cells than
//! allowed would come out. Dgraph does the same, and where several cells are equally large
//! its heap decides which one is split while there still is space; the cells of an index are only
//! the same when the heap is.
//!
//! Each cell carries the edges that touch it and whether its middle is inside, so that a child
//! costs its own edges and not those of the entire area.

use super::area::Area;
use s2rst::r2;
use s2rst::s2::edge_clipping::{
    FACE_CLIP_ERROR_UV_COORD, INTERSECTS_RECT_ERROR_UV_DIST, clip_to_padded_face,
    edge_intersects_rect,
};
use s2rst::s2::edge_crosser::EdgeCrosser;
use s2rst::s2::{Cell, CellId, CellUnion, Face, Level, LevelMod, Point};

/// The largest cells of a covering: about 300 km wide.
pub(super) const LEVEL_MIN: Level = Level::new(5);
/// The smallest cells of a covering: about 150 m wide.
pub(super) const LEVEL_MAX: Level = Level::new(16);
/// So many cells a covering has at most, where cells of [`LEVEL_MIN`] are few enough.
const CELLS_MAX: usize = 18;

/// How far an edge may pass a cell and still count as touching it: what clipping rounds.
const PADDING: f64 = FACE_CLIP_ERROR_UV_COORD + INTERSECTS_RECT_ERROR_UV_DIST;

/// A cell and what of the area is in it.
#[derive(Debug)]
pub(super) struct Fragment {
    /// The cell.
    pub id: CellId,
    /// Whether its middle is inside of the area.
    middle_inside: bool,
    edges: Vec<FlatEdge>,
}

/// An edge as it runs over the flat face of the cube that cells lie on.
#[derive(Debug, Clone, Copy)]
struct FlatEdge {
    number: usize,
    from: r2::Point,
    to: r2::Point,
}

impl Fragment {
    /// The part of an entire area that is in a cell.
    fn of(area: &Area, id: CellId) -> Option<Fragment> {
        let face = id.face();
        let edges = (0..area.corners().len()).filter_map(|number| flat_edge(area, number, face));
        Fragment::new(id, edges, |middle| area.holds(middle))
    }

    /// The part that is in a child.
    fn child(&self, area: &Area, id: CellId) -> Option<Fragment> {
        Fragment::new(id, self.edges.iter().copied(), |middle| self.holds(area, middle))
    }

    fn new(
        id: CellId,
        edges: impl Iterator<Item = FlatEdge>,
        holds: impl Fn(Point) -> bool,
    ) -> Option<Fragment> {
        let cell = Cell::from(id);
        let square = cell.bound_uv().expanded_by_margin(PADDING);
        let touches = |edge: &FlatEdge| edge_intersects_rect(edge.from, edge.to, square);
        let edges: Vec<FlatEdge> = edges.filter(touches).collect();
        let middle_inside = holds(cell.center());
        (middle_inside || !edges.is_empty()).then_some(Fragment { id, middle_inside, edges })
    }

    /// Whether the area holds a position in this cell: counts the edges between it and the middle.
    pub(super) fn holds(&self, area: &Area, position: Point) -> bool {
        if self.edges.is_empty() {
            return self.middle_inside;
        }
        let mut crosser = EdgeCrosser::new(Cell::from(self.id).center(), position);
        let crosses = |edge: &&FlatEdge| {
            let (from, to) = area.edge(edge.number);
            crosser.edge_or_vertex_crossing(from, to)
        };
        self.middle_inside != (self.edges.iter().filter(crosses).count() % 2 == 1)
    }

    fn is_full(&self) -> bool {
        self.middle_inside && self.edges.is_empty()
    }
}

fn flat_edge(area: &Area, number: usize, face: Face) -> Option<FlatEdge> {
    let (from, to) = area.edge(number);
    let (from, to) = clip_to_padded_face(from, to, face, PADDING)?;
    Some(FlatEdge { number, from, to })
}

/// The chunks of a covering, by cell. Costs about the number of corners, times eight where the
/// area is wide.
pub(super) fn chunks_of(area: &Area) -> Vec<Fragment> {
    let mut splitter = Splitter { area, done: Vec::new(), heap: Heap::default() };
    for id in first_cells(area) {
        if let Some(fragment) = Fragment::of(area, id) {
            splitter.add(fragment);
        }
    }
    while let Some(split) = splitter.heap.pop() {
        let count = splitter.done.len() + splitter.heap.len() + split.children.len();
        // Larger cells than an index has are split whatever their number, and a single child adds
        // no cell.
        let is_split = split.fragment.id.level() < LEVEL_MIN
            || split.children.len() == 1
            || count <= CELLS_MAX;
        if is_split {
            split.children.into_iter().for_each(|child| splitter.add(child));
        } else {
            splitter.done.push(split.fragment);
        }
    }
    let mut fragments = splitter.done;
    fragments.sort_unstable_by_key(|fragment| fragment.id);
    fragments
}

/// The cells of a covering, ascending.
pub(super) fn covering(fragments: &[Fragment]) -> Vec<CellId> {
    let ids = fragments.iter().map(|fragment| fragment.id).collect();
    // Four sisters become their mother, and what is larger than allowed is split again.
    let cells = CellUnion::from_cell_ids(ids).denormalize(LEVEL_MIN, LevelMod::DEFAULT);
    cells.cell_ids().to_vec()
}

/// Four cells or fewer that hold the area, or the six faces of the cube.
fn first_cells(area: &Area) -> Vec<CellId> {
    let cells = area.cap().cell_union_bound().into_iter();
    let cells = cells.map(|id| id.parent_at_level(id.level().min(LEVEL_MAX))).collect();
    CellUnion::from_cell_ids(cells).cell_ids().to_vec()
}

struct Splitter<'a> {
    area: &'a Area,
    done: Vec<Fragment>,
    heap: Heap,
}

impl Splitter<'_> {
    fn add(&mut self, fragment: Fragment) {
        let is_last = |fragment: &Fragment| {
            let level = fragment.id.level();
            level == LEVEL_MAX || LEVEL_MIN <= level && fragment.is_full()
        };
        if is_last(&fragment) {
            self.done.push(fragment);
            return;
        }
        let ids = fragment.id.children();
        let children: Vec<Fragment> =
            ids.into_iter().filter_map(|id| fragment.child(self.area, id)).collect();
        let last = children.iter().filter(|child| is_last(child)).count();
        let level = fragment.id.level();
        match children.len() {
            0 => {}
            4 if last == 4 && LEVEL_MIN <= level => self.done.push(fragment),
            // Large cells first, then those with few children, then those with few last ones.
            count => {
                // As numbers of two bits after one another; a count of four carries into the number
                // before.
                let rank = (4 * usize::from(level.as_u8()) + count) * 4 + last;
                self.heap.push(Split { fragment, children, rank });
            }
        }
    }
}

/// A cell that may still be split.
struct Split {
    fragment: Fragment,
    children: Vec<Fragment>,
    rank: usize,
}

/// A binary heap with the least rank on top, which breaks ties as the textbook does.
#[derive(Default)]
struct Heap {
    nodes: Vec<Split>,
}

impl Heap {
    fn len(&self) -> usize {
        self.nodes.len()
    }

    fn is_before(&self, one: usize, other: usize) -> bool {
        self.nodes[one].rank < self.nodes[other].rank
    }

    fn push(&mut self, split: Split) {
        self.nodes.push(split);
        let mut at = self.nodes.len() - 1;
        while 0 < at && self.is_before(at, (at - 1) / 2) {
            self.nodes.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    fn pop(&mut self) -> Option<Split> {
        if self.nodes.is_empty() {
            return None;
        }
        let top = self.nodes.swap_remove(0);
        let mut at = 0;
        loop {
            let left = 2 * at + 1;
            if self.nodes.len() <= left {
                return Some(top);
            }
            let right = left + 1;
            let is_right = right < self.nodes.len() && self.is_before(right, left);
            let least = if is_right { right } else { left };
            if !self.is_before(least, at) {
                return Some(top);
            }
            self.nodes.swap(least, at);
            at = least;
        }
    }
}
