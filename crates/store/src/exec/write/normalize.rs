//! `@normalize`: each node's nested lists multiplied out into flat objects of the aliased fields.

use super::answer_writer::{AnswerWriter, Edge, chosen, counts_of};
use super::flat_rows::{Cell, Flat, Item, LabelledGroups, Rows, bytes_of};
use super::groups::{GroupList, group_labels};
use crate::exec::columns::read::{Langs, typed};
use crate::exec::control::limits::past_limit;
use crate::exec::control::pending::CHARGED_BYTES;
use crate::exec::control::tree::{EdgeField, FieldData, FieldResult, Level, ValueField};
use crate::graph::ValueList;
use hexgraph_base::plan::{Facets, Field, FieldKind};
use hexgraph_base::types::{Error, Result, Value, ValueRef, ValueType, stack};
use std::mem;

/// More bytes are freed when the rows of a root are written.
const RETAINED_BYTES: usize = 1 << 20;

/// More keys are forgotten when the rows of a root are written: names of languages and facets come
/// from the data.
const RETAINED_KEYS: usize = 1 << 12;

/// Writes the flat objects of the node at a position; `edge` is the one that led to it, where its
/// facets are requested.
pub(super) fn write_flat<'a>(
    writer: &mut AnswerWriter<'a, '_>,
    level: &'a Level,
    position: usize,
    edge: Option<&Edge<'_>>,
) -> Result<()> {
    if !level.is_alive(position) {
        return Ok(());
    }
    let mut flat = mem::take(&mut writer.flat);
    let rows = flat.rows(writer, level, position, edge)?;
    rows.iter().for_each(|row| flat.write(writer, row));
    flat.clear(writer);
    writer.flat = flat;
    Ok(())
}

impl<'a> Flat<'a> {
    /// Forgets the rows of a node.
    fn clear(&mut self, writer: &mut AnswerWriter<'_, '_>) {
        if RETAINED_KEYS < self.keys.names.len() {
            (self.keys, self.repeats) = Default::default();
        }
        self.items.clear();
        self.path.clear();
        self.bytes = 0;
        if RETAINED_BYTES < self.reserved {
            self.items = Vec::new();
            self.reserved = 0;
            writer.hold(0);
        }
    }

    /// Counts bytes of items or rows that come, and reserves them: twice as many, since lists
    /// double.
    fn count(&mut self, writer: &mut AnswerWriter<'_, '_>, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
        let needed = self.bytes.saturating_mul(2);
        if self.reserved < needed {
            self.reserved = needed.saturating_add(CHARGED_BYTES);
            writer.hold(self.reserved);
        }
    }

    fn write(&mut self, writer: &mut AnswerWriter<'_, '_>, row: &[Cell]) {
        let Flat { keys, items, repeats, .. } = self;
        repeats.find(row, keys.names.len());
        writer.sink.begin_object();
        for (at, cell) in row.iter().enumerate() {
            if !repeats.is_first(at, *cell) {
                continue;
            }
            writer.sink.key(keys.name(cell.key));
            let mut next = repeats.next[at];
            if next.is_none() {
                write_item(writer, &items[cell.item as usize], false);
                continue;
            }
            writer.sink.begin_array();
            write_item(writer, &items[cell.item as usize], true);
            while let Some(at) = next {
                write_item(writer, &items[row[at].item as usize], true);
                next = repeats.next[at];
            }
            writer.sink.end_array();
        }
        writer.sink.end_object();
    }

    /// The flat objects of a node: the product of its own fields, with the facets of the edge that
    /// led to it, and those of each nested list.
    fn rows(
        &mut self,
        writer: &mut AnswerWriter<'a, '_>,
        level: &'a Level,
        position: usize,
        edge: Option<&Edge<'_>>,
    ) -> Result<Rows> {
        stack::require();
        let node = level.nodes[position];
        self.path.push(node);
        let (mut own, mut lists) = (Vec::new(), Vec::new());
        for result in &level.fields {
            match &result.data {
                FieldData::Edges(edges) if edges.groups.is_some() => {
                    if let Some(groups) = groups_of(result, edges, position) {
                        lists.push(Rows::of(vec![self.cell("@groupby", Item::Groups(groups))]));
                    }
                }
                FieldData::Edges(edges) => {
                    let below = self.rows_below(writer, result, edges, (node, position))?;
                    if 0 < below.len() {
                        lists.push(below);
                    }
                }
                FieldData::Nothing
                | FieldData::Uid
                | FieldData::Values(_)
                | FieldData::Counts(_)
                | FieldData::CountUid
                | FieldData::Column(_)
                | FieldData::Passwords(_) => {
                    self.add_items(writer, level, position, result, &mut own)?;
                }
            }
        }
        self.path.pop();
        // Facets of the edge alone make no object.
        if own.is_empty() && lists.is_empty() {
            return Ok(Rows::default());
        }
        if writer.options.debug && own.iter().all(|cell: &Cell| self.keys.name(cell.key) != "uid") {
            own.push(self.cell("uid", Item::Uid(writer.version.nodes.uid(node))));
        }
        if let Some(edge) = edge {
            let hit = edge.stored.all(edge.node, node);
            for (key, value) in chosen(edge.facets, edge.key(), &hit) {
                own.push(self.cell(&key, Item::Value(value.to_value())));
            }
        }
        self.count(writer, bytes_of(own.len(), 1));
        self.multiplied(writer, Rows::of(own), &lists)
    }

    /// The product of a node's own row and the rows of its lists.
    fn multiplied(
        &mut self,
        writer: &mut AnswerWriter<'_, '_>,
        own: Rows,
        lists: &[Rows],
    ) -> Result<Rows> {
        // Nothing of its own is one object without a key.
        let mut all = if own.len() == 0 { Rows { ends: vec![0], ..own } } else { own };
        let most = writer.options.normalize;
        for below in lists {
            let rows = all.len().saturating_mul(below.len());
            if most < rows as u64 {
                return Err(too_many(most));
            }
            let before = all.byte_len() + below.byte_len();
            self.count(writer, bytes_of(all.cells_with(below), rows));
            all = all.product(below);
            self.bytes = self.bytes.saturating_sub(before);
        }
        if lists.is_empty() {
            return Ok(all);
        }
        self.count(writer, all.byte_len());
        let flat = self.sorted(&all);
        self.bytes = self.bytes.saturating_sub(all.byte_len());
        Ok(flat)
    }

    /// The flat objects of a nested list.
    fn rows_below(
        &mut self,
        writer: &mut AnswerWriter<'a, '_>,
        result: &'a FieldResult,
        edges: &'a EdgeField,
        (node, position): (u32, usize),
    ) -> Result<Rows> {
        let mut below = Rows::default();
        let edge = Edge::of(&result.field, edges, node);
        let targets = edges.targets_of(position);
        for &target in targets {
            let Some(position) = edges.level.position(target) else { continue };
            let again = writer.path.is_some() && self.path.contains(&target);
            if !edges.level.is_alive(position) || again {
                continue;
            }
            // The rows were counted when they were made.
            let hit = self.rows(writer, &edges.level, position, edge.as_ref())?;
            match below.len() {
                0 => below = hit,
                _ => below.append(&hit),
            }
            if writer.options.normalize < below.len() as u64 {
                return Err(too_many(writer.options.normalize));
            }
        }
        if !targets.is_empty() {
            let counts = counts_of(&edges.level).filter_map(|count| count.alias.as_deref());
            for alias in counts {
                let count = self.cell(alias, Item::Int(targets.len() as i64));
                below.append(&Rows::of(vec![count]));
                self.count(writer, bytes_of(1, 1));
            }
        }
        Ok(below)
    }

    /// Sorts the keys of objects that are products of nested ones.
    ///
    /// A uid without an alias goes, unless the object began with it, or with a key after it in the
    /// order: Dgraph looks for it from that key on.
    fn sorted(&self, rows: &Rows) -> Rows {
        let mut sorted = Rows {
            cells: Vec::with_capacity(rows.cells.len()),
            ends: Vec::with_capacity(rows.len()),
        };
        let is_uid = |cell: &Cell| {
            matches!(self.items[cell.item as usize], Item::Uid(_))
                && self.keys.name(cell.key) == "uid"
        };
        for row in rows.iter() {
            let start = sorted.cells.len();
            match row.first() {
                Some(first) if self.keys.name(first.key) < "uid" => {
                    sorted.cells.extend(row.iter().filter(|cell| !is_uid(cell)));
                }
                _ => sorted.cells.extend_from_slice(row),
            }
            sorted.cells[start..].sort_by(|one, other| self.keys.compare(one.key, other.key));
            // Without its uid an object may be empty.
            if start < sorted.cells.len() {
                sorted.ends.push(sorted.cells.len());
            }
        }
        sorted
    }

    /// Adds what a field, which is no edge field, adds to a flat object: with an alias what it
    /// would add to any object; else a uid, whether a password agrees, the values in all languages,
    /// and the facets of values.
    fn add_items(
        &mut self,
        writer: &AnswerWriter<'_, '_>,
        level: &'a Level,
        position: usize,
        result: &'a FieldResult,
        row: &mut Vec<Cell>,
    ) -> Result<()> {
        let field = &result.field;
        let node = level.nodes[position];
        let shown = field.alias.is_some();
        let item = match &result.data {
            FieldData::Uid => Some(Item::Uid(writer.version.nodes.uid(node))),
            FieldData::Passwords(answers) => Some(Item::Value(Value::Bool(answers[position]))),
            FieldData::Counts(counts) => shown.then(|| Item::Int(counts[position] as i64)),
            FieldData::Column(map) => map.get(node).filter(|_| shown).map(Item::Stored),
            FieldData::Values(values) => return self.add_values(field, values, node, row),
            FieldData::Nothing | FieldData::Edges(_) | FieldData::CountUid => None,
        };
        if let Some(item) = item {
            row.push(self.cell(&field.key, item));
        }
        Ok(())
    }

    /// Adds what a field of values adds to a flat object.
    fn add_values(
        &mut self,
        field: &Field,
        values: &'a ValueField,
        node: u32,
        row: &mut Vec<Cell>,
    ) -> Result<()> {
        let FieldKind::Predicate { name, langs, .. } = &field.kind else { return Ok(()) };
        let predicate = &values.predicate;
        if values.is_hidden(node) || predicate.def.value_type == ValueType::Password {
            return Ok(());
        }
        if langs.iter().any(|lang| lang == "*") {
            let alias = field.alias.as_deref().unwrap_or(name);
            return self.add_all_langs(field, values, alias, node, row);
        }
        let shown = field.alias.is_some();
        if !shown && field.facets.is_none() {
            return Ok(());
        }
        if langs.is_empty() && field.facets.is_none() && 1 < predicate.untagged().len() {
            let mut result = predicate.untagged_values(node)?;
            let item = match result.len() {
                0 => return Ok(()),
                1 if !predicate.def.list => Item::from(result.remove(0)),
                _ => Item::List(result.iter().map(|value| value.as_ref().to_value()).collect()),
            };
            row.push(self.cell(&field.key, item));
            return Ok(());
        }
        let Some((_, list)) = predicate.values_in(Langs::First(langs), node) else {
            return Ok(());
        };
        let positions = values.positions(node, list.len());
        if let Some(facets) = &field.facets {
            self.add_facets(
                facets,
                &field.key,
                (predicate.def.list, &list),
                positions.clone(),
                row,
            );
        }
        if !shown {
            return Ok(());
        }
        let convert = |value: ValueRef<'a>| typed(value, predicate.def.value_type);
        let item = match predicate.def.list {
            true => {
                let shown =
                    positions.map(|position| Ok(convert(list.get(position))?.as_ref().to_value()));
                Item::List(shown.collect::<Result<_>>()?)
            }
            false => Item::from(convert(list.get(0))?),
        };
        row.push(self.cell(&field.key, item));
        Ok(())
    }

    /// Adds the facets of values, those of a list by their positions.
    fn add_facets(
        &mut self,
        facets: &Facets,
        alias: &str,
        (is_list, list): (bool, &ValueList<'_>),
        positions: impl Iterator<Item = usize>,
        row: &mut Vec<Cell>,
    ) {
        let start = row.len();
        for (shown, position) in positions.enumerate() {
            for (key, value) in chosen(facets, alias, &list.facets(position)) {
                let value = value.to_value();
                if !is_list {
                    row.push(self.cell(&key, Item::Value(value)));
                    continue;
                }
                let number = self.keys.number(&key);
                let existing = row[start..].iter().find(|cell| cell.key == number);
                match existing.map(|cell| &mut self.items[cell.item as usize]) {
                    Some(Item::Positions(values)) => {
                        self.bytes += 8 + size_of::<Value>() + value.heap_size();
                        values.push((shown, value));
                    }
                    _ => row.push(self.cell(&key, Item::Positions(vec![(shown, value)]))),
                }
            }
        }
    }

    fn add_all_langs(
        &mut self,
        field: &Field,
        values: &'a ValueField,
        alias: &str,
        node: u32,
        row: &mut Vec<Cell>,
    ) -> Result<()> {
        for (part, list) in values.in_all_langs(node) {
            let key = match &*part.lang {
                "" => alias.to_owned(),
                lang => format!("{alias}@{lang}"),
            };
            if let Some(facets) = &field.facets {
                self.add_facets(facets, &key, (false, &list), 0..1, row);
            }
            let value = typed(list.get(0), values.predicate.def.value_type)?;
            row.push(self.cell(&key, Item::from(value)));
        }
        Ok(())
    }
}

/// Writes an item; the elements of a list alone where it stands inside of an array.
fn write_item(writer: &mut AnswerWriter<'_, '_>, item: &Item<'_>, inside: bool) {
    let opens = !inside && matches!(item, Item::List(_) | Item::Groups(_));
    if opens {
        writer.sink.begin_array();
    }
    match item {
        Item::Stored(value) => writer.sink.value(*value),
        Item::Value(value) => writer.sink.value(value.as_ref()),
        Item::Uid(uid) => writer.sink.uid(*uid),
        Item::Int(number) => writer.sink.int(*number),
        Item::Positions(values) => {
            writer.sink.begin_object();
            for (position, value) in values {
                writer.sink.key(&position.to_string());
                writer.sink.value(value.as_ref());
            }
            writer.sink.end_object();
        }
        Item::List(values) => values.iter().for_each(|value| writer.sink.value(value.as_ref())),
        Item::Groups(result) => {
            let groups = GroupList::Rows(&result.groups);
            writer.group_objects(groups, 0..result.groups.len(), &result.labels);
        }
    }
    if opens {
        writer.sink.end_array();
    }
}

fn too_many(most: u64) -> Error {
    past_limit(&format!("@normalize would make more than {most} objects of one node"), "normalize")
}

/// The groups of a node's edge field; `None` where there are none.
fn groups_of(result: &FieldResult, edges: &EdgeField, position: usize) -> Option<LabelledGroups> {
    let hit = edges.groups.as_ref()?.get(position).filter(|groups| !groups.is_empty())?;
    let group_by = result.field.group_by.as_ref()?;
    let labels = group_labels(group_by, &result.field.fields);
    Some(LabelledGroups { labels, groups: hit.clone() })
}
