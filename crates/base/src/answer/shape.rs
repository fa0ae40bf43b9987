//! The columns that a block's rows have by the text of the query and the schema, independent of the
//! data.

use super::cells::{Cells, Column, Lists, Structs, Texts};
use super::name_positions::NamePositions;
use super::table::Table;
use super::values::Values;
use std::collections::HashSet;

/// A column by its name and the type of its cells.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// The key.
    pub key: String,
    /// What its cells hold.
    pub form: Form,
}

/// What the cells of a column hold.
#[derive(Debug, Clone, PartialEq)]
pub enum Form {
    /// Depends on the data.
    Unknown,
    /// Integers.
    Int,
    /// Numbers.
    Float,
    /// Truth values.
    Bool,
    /// Instants.
    Time,
    /// Texts.
    Text,
    /// Lists.
    List(Box<Form>),
    /// Objects with these keys.
    Object(Vec<Shape>),
}

/// What the rows of a block are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowForm {
    /// Each object of the block is a row, and its values are no objects.
    Flat,
    /// Each object of the block is a row, which may have objects in it.
    Nested,
    /// Each group of the block is a row.
    Groups,
    /// All objects of the block are one row: those of a block without nodes have a value each.
    Joined,
}

impl Form {
    /// So many null cells.
    fn nulls(&self, len: usize) -> Cells {
        let mut cells = match self {
            Form::Unknown => Cells::default(),
            Form::Int => Cells::Int(Values::default()),
            Form::Float => Cells::Float(Values::default()),
            Form::Bool => Cells::Bool(Values::default()),
            Form::Time => Cells::Time(Values::default()),
            Form::Text => Cells::Text(Texts::default()),
            Form::List(item) => {
                Cells::List(Box::new(Lists { items: item.nulls(0), ..Lists::default() }))
            }
            Form::Object(shapes) => {
                let mut structs = Structs::default();
                shape_columns(&mut structs.columns, 0, shapes);
                Cells::Struct(Box::new(structs))
            }
        };
        cells.pad_to(len);
        cells
    }
}

impl Table {
    /// Gives the table the columns of a shape, in that order, before others: those that no row has
    /// are null in all, and of the type that the shape says. So do objects within it.
    pub fn shape(&mut self, shapes: &[Shape]) {
        shape_columns(&mut self.columns, self.rows, shapes);
    }
}

fn shape_columns(columns: &mut Vec<Column>, rows: usize, shapes: &[Shape]) {
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let mut rest: Vec<Option<Column>> = std::mem::take(columns).into_iter().map(Some).collect();
    let (mut shaped, mut positions) =
        (HashSet::with_capacity(shapes.len()), NamePositions::default());
    for (next, Shape { key, form }) in shapes.iter().enumerate() {
        if !shaped.insert(key) {
            continue;
        }
        let result = positions.find(key, next, names.len(), |position| &names[position]);
        let cells = match result.and_then(|position| rest[position].take()) {
            Some(Column { mut cells, .. }) => {
                shape_cells(&mut cells, form);
                cells
            }
            None => form.nulls(rows),
        };
        columns.push(Column { name: key.clone(), cells });
    }
    columns.extend(rest.into_iter().flatten());
}

fn shape_cells(cells: &mut Cells, form: &Form) {
    match (cells, form) {
        (cells @ Cells::Null(_), form) => *cells = form.nulls(cells.len()),
        (Cells::List(lists), Form::List(item)) => shape_cells(&mut lists.items, item),
        (Cells::Struct(structs), Form::Object(shapes)) => {
            let rows = structs.valid.len();
            structs.positions = NamePositions::default();
            shape_columns(&mut structs.columns, rows, shapes);
        }
        _ => {}
    }
}
