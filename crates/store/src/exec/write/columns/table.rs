//! The rows of a block as a table, made column by column.
//!
//! ```text
//!   level 0   positions 0 1 2         id  7 8 9        knows  0 → 2 1,  1 → none,  2 → 1
//!   level 1   positions   0 1 2       id  3 4 5        objects: positions 2 1 1, as lists of 2, null, 1
//! ```
//!
//! Each level is read once, a cell for each of its nodes, from the bottom up; so the nodes with
//! anything to show are determined. Then the objects are listed from the top down: those of a level
//! below are the targets of those above, a node as often as there are paths to it, and their cells
//! are gathered.

use super::fill::fill;
use super::gather::{NOWHERE, gather};
use super::source::{Source, qualifies};
use crate::exec::control::stop::RequestContext;
use crate::exec::control::tree::{BlockResult, EdgeField, FieldData, Level, is_visible};
use crate::graph::Version;
use hexgraph_base::answer::{CellOffsets, Cells, Column, Lists, Structs, Table};
use hexgraph_base::plan::{Block, BlockKind, Field};
use hexgraph_base::types::{Result, stack};

/// Is called with the bytes of more values and their keys, and refuses those that are too many.
pub(crate) type Look<'l> = dyn FnMut(u64) -> Result<()> + 'l;

/// A level with the cells of its nodes.
struct Read<'a> {
    level: &'a Level,
    fields: Vec<(&'a Field, Data<'a>)>,
    /// Which nodes have something to show; `None` where all have.
    shown: Option<Vec<bool>>,
}

/// The values of a field.
enum Data<'a> {
    Cells(Cells),
    Edges(&'a EdgeField, Box<Read<'a>>),
}

/// Nodes of a level, by their positions.
enum Positions {
    /// All of them, in their order.
    All(usize),
    /// These, or none for [`NOWHERE`].
    Some(Vec<u32>),
}

/// What tables are made with.
struct Maker<'m, 'l> {
    version: &'m Version,
    control: &'m RequestContext,
    look: &'m mut Look<'l>,
}

/// The table of a block, with the columns that have a value, in the order of the text; `None` where
/// the block has to be written object by object. `look` is called with the bytes of the values.
///
/// # Errors
///
/// Those of `look` and of `control`.
pub(in crate::exec) fn table(
    version: &Version,
    block: &Block,
    result: &BlockResult,
    control: &RequestContext,
    look: &mut Look<'_>,
) -> Result<Option<Table>> {
    let is_plain = block.kind == BlockKind::Visible
        && is_visible(block)
        && !block.normalize
        && !block.ignore_reflex
        && result.groups.is_none()
        && result.algorithm.is_none();
    if !is_plain || !qualifies(&result.level) {
        return Ok(None);
    }
    let mut maker = Maker { version, control, look };
    let Some(read) = maker.read(&result.level)? else { return Ok(None) };
    let positions = read.roots(&result.roots);
    let rows = positions.len();
    let columns = maker.objects(read, &positions)?;
    Ok(Some(Table { columns, rows }))
}

impl Maker<'_, '_> {
    /// Reads a level and those below; `None` where some values do not qualify.
    fn read<'a>(&mut self, level: &'a Level) -> Result<Option<Read<'a>>> {
        stack::require();
        let mut sources = Vec::new();
        for (position, result) in level.fields.iter().enumerate() {
            if matches!(result.data, FieldData::Edges(_)) {
                continue;
            }
            match Source::of(self.version, level, result) {
                Ok(Some(source)) => {
                    let own = size_of::<(usize, Source<'_>)>() + source.byte_len();
                    self.control.reserve(own as u64)?;
                    sources.push((position, source));
                }
                Ok(None) => {}
                Err(_) => return Ok(None),
            }
        }
        let (positions, sources): (Vec<usize>, Vec<Source<'_>>) = sources.into_iter().unzip();
        let Some(cells) = fill(self.control, &level.nodes, &sources)? else { return Ok(None) };
        let mut cells = positions.into_iter().zip(cells).peekable();
        let mut fields = Vec::with_capacity(level.fields.len());
        for (position, result) in level.fields.iter().enumerate() {
            let field = &*result.field;
            if let Some((_, cells)) = cells.next_if(|(other, _)| *other == position) {
                fields.push((field, Data::Cells(cells)));
            } else if let FieldData::Edges(edges) = &result.data
                && !edges.level.fields.is_empty()
            {
                let Some(below) = self.read(&edges.level)? else { return Ok(None) };
                fields.push((field, Data::Edges(edges, Box::new(below))));
            }
        }
        let shown = shown(level, &fields);
        Ok(Some(Read { level, fields, shown }))
    }

    /// The columns of objects, those that have a value in none left out.
    fn objects(&mut self, read: Read<'_>, positions: &Positions) -> Result<Vec<Column>> {
        stack::require();
        let mut columns = Vec::with_capacity(read.fields.len());
        for (field, data) in read.fields {
            self.control.check()?;
            let cells = match data {
                Data::Cells(cells) => {
                    let cells = match positions {
                        Positions::All(_) => cells,
                        Positions::Some(positions) => gather(self.control, &cells, positions)?,
                    };
                    Some(cells).filter(has_some)
                }
                Data::Edges(edges, below) if edges.is_single() => {
                    self.single(edges, *below, positions)?
                }
                Data::Edges(edges, below) => self.lists(edges, *below, positions)?,
            };
            if let Some(cells) = cells {
                (self.look)(counted(field, &cells))?;
                columns.push(Column { name: field.key.clone(), cells });
            }
        }
        Ok(columns)
    }

    /// The objects at the end of edges if each node has one at most.
    fn single(
        &mut self,
        edges: &EdgeField,
        below: Read<'_>,
        positions: &Positions,
    ) -> Result<Option<Cells>> {
        self.control.reserve(5 * positions.len() as u64)?;
        let target = |position: Option<usize>| {
            let target = edges.targets_of(position?).first()?;
            below.level.position(*target).filter(|&position| below.is_shown(position))
        };
        let targets: Vec<u32> = positions
            .iter()
            .map(|position| target(position).map_or(NOWHERE, |it| it as u32))
            .collect();
        let valid: Vec<bool> = targets.iter().map(|&target| target != NOWHERE).collect();
        if !valid.contains(&true) {
            return Ok(None);
        }
        let columns = self.objects(below, &Positions::Some(targets))?;
        Ok(Some(Cells::Struct(Box::new(Structs::new(columns, valid)))))
    }

    /// The lists of objects at the end of edges.
    fn lists(
        &mut self,
        edges: &EdgeField,
        below: Read<'_>,
        positions: &Positions,
    ) -> Result<Option<Cells>> {
        let (mut targets, mut ends, mut valid) = (Vec::new(), CellOffsets::default(), Vec::new());
        let lens = positions.iter().flatten().map(|position| edges.targets_of(position).len());
        let most: usize = lens.sum();
        self.control.reserve((5 * most + 5 * positions.len()) as u64)?;
        targets.reserve_exact(most);
        for position in positions.iter() {
            let before = targets.len();
            // Targets are mostly in the order of their level.
            let mut next = 0;
            for &target in position.map_or(&[][..], |position| edges.targets_of(position)) {
                let Some(position) = below.level.position_near(target, next) else { continue };
                next = position + 1;
                if below.is_shown(position) {
                    targets.push(position as u32);
                }
            }
            ends.push(targets.len());
            valid.push(before < targets.len());
        }
        if targets.is_empty() {
            return Ok(None);
        }
        if !valid.contains(&false) {
            valid = Vec::new();
        }
        let objects = vec![true; targets.len()];
        let columns = self.objects(below, &Positions::Some(targets))?;
        let items = Cells::Struct(Box::new(Structs::new(columns, objects)));
        Ok(Some(Cells::List(Box::new(Lists { items, offsets: ends, valid }))))
    }
}

impl Read<'_> {
    fn is_shown(&self, position: usize) -> bool {
        self.shown.as_ref().is_none_or(|shown| shown[position])
    }

    /// The positions of roots that have something to show.
    fn roots(&self, roots: &[u32]) -> Positions {
        if self.shown.is_none() && roots == self.level.nodes.as_slice() {
            return Positions::All(roots.len());
        }
        let mut next = 0;
        let positions = roots.iter().filter_map(|&root| {
            let position = self.level.position_near(root, next)?;
            next = position + 1;
            self.is_shown(position).then_some(position as u32)
        });
        Positions::Some(positions.collect())
    }
}

impl Positions {
    fn len(&self) -> usize {
        match self {
            Positions::All(len) => *len,
            Positions::Some(positions) => positions.len(),
        }
    }

    /// The positions; `None` where there is no node.
    fn iter(&self) -> impl Iterator<Item = Option<usize>> + Clone {
        let (all, some) = match self {
            Positions::All(len) => (0..*len, &[][..]),
            Positions::Some(positions) => (0..0, positions.as_slice()),
        };
        let some = some.iter().map(|&position| (position != NOWHERE).then_some(position as usize));
        all.map(Some).chain(some)
    }
}

/// Which nodes of a level have something to show; `None` where all have.
fn shown(level: &Level, fields: &[(&Field, Data<'_>)]) -> Option<Vec<bool>> {
    let alive = level.alive.as_deref();
    let has_all = |(_, data): &(&Field, Data<'_>)| matches!(data, Data::Cells(cells) if cells.valid().is_empty());
    if fields.iter().any(has_all) {
        return alive.filter(|alive| alive.contains(&false)).map(<[bool]>::to_vec);
    }
    let mut shown = vec![false; level.nodes.len()];
    for (_, data) in fields {
        match data {
            Data::Cells(cells) => {
                let valid = cells.valid();
                shown.iter_mut().zip(valid.iter()).for_each(|(shown, valid)| *shown |= valid);
            }
            Data::Edges(edges, below) => {
                for (position, shown) in shown.iter_mut().enumerate().filter(|(_, shown)| !**shown)
                {
                    *shown = leads_to_some(edges, below, position);
                }
            }
        }
    }
    if let Some(alive) = alive {
        shown.iter_mut().zip(alive).for_each(|(shown, alive)| *shown &= alive);
    }
    shown.contains(&false).then_some(shown)
}

/// Whether the edges of a node have a target that shows something.
fn leads_to_some(edges: &EdgeField, below: &Read<'_>, position: usize) -> bool {
    let targets = edges.targets_of(position);
    let targets = if edges.is_single() { &targets[..targets.len().min(1)] } else { targets };
    let is_shown = |target: &u32| {
        below.level.position(*target).is_some_and(|position| below.is_shown(position))
    };
    targets.iter().any(is_shown)
}

/// Whether some cell has a value.
fn has_some(cells: &Cells) -> bool {
    let valid = cells.valid();
    if valid.is_empty() { !cells.is_empty() } else { valid.contains(&true) }
}

/// The bytes of cells and their keys, counted as where they are written one by one.
fn counted(field: &Field, cells: &Cells) -> u64 {
    let valid = cells.valid();
    let present = match valid.is_empty() {
        true => cells.len(),
        false => valid.iter().filter(|valid| **valid).count(),
    };
    let values = match cells {
        Cells::Text(texts) => texts.bytes.len(),
        Cells::List(lists) => match &lists.items {
            Cells::Text(texts) => texts.bytes.len(),
            // Those of objects are counted with their keys.
            Cells::Struct(_) => 0,
            items => 8 * items.len(),
        },
        Cells::Struct(_) => 0,
        _ => 8 * present,
    };
    ((field.key.len() + 4) * present + values) as u64
}
