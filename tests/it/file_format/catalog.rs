//! All that a snapshot has, by its catalog.

use super::bytes::{Bytes, Read, need, text_of};
use super::snapshot::{Bitmap, Snapshot};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A facet of the values or edges of one predicate.
struct Facet<'a> {
    key: String,
    positions: Bitmap<'a>,
    values: Vec<String>,
}

/// Reads all that a snapshot has, by its catalog.
pub struct Walk<'a> {
    file: &'a Snapshot,
    catalog: Bytes<'a>,
    high: Vec<u64>,
    pub lines: Vec<String>,
    pub kinds: BTreeSet<u8>,
    pub containers: BTreeSet<usize>,
}

impl<'a> Walk<'a> {
    /// "Catalog"
    pub fn of(file: &'a Snapshot) -> Read<Walk<'a>> {
        file.check_all()?;
        let catalog = Bytes(file.section("catalog", 1)?);
        // "Nodes"
        let high = file.numbers("high", 8)?;
        let (lines, kinds, containers) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        let mut walk = Walk { file, catalog, high, lines, kinds, containers };
        need(walk.catalog.u8()? == 2, "another layout")?;
        let (_commit, _next_uid) = (walk.catalog.number(8)?, walk.catalog.number(8)?);
        let len = walk.catalog.u32()?;
        let types = definitions(Bytes(walk.catalog.take(len)?))?;
        for position in 0..walk.catalog.u32()? {
            let name = walk.catalog.text()?;
            let value_type = types.get(&name).copied();
            need(value_type.is_some() || name.starts_with("dgraph."), "an undefined predicate")?;
            walk.predicate(position, &name, value_type == Some(7))?;
        }
        let len = walk.catalog.u32()?;
        Bytes(walk.catalog.take(len)?).fields(&[])?;
        need(walk.catalog.0.is_empty(), "more follows than there should be")?;
        Ok(walk)
    }

    fn predicate(&mut self, position: usize, name: &str, is_uid: bool) -> Read<()> {
        let kind = self.catalog.u8()?;
        need(kind <= 2 && is_uid == (kind != 0), "a predicate of another kind")?;
        if kind == 0 {
            for lang in 0..self.catalog.u32()? {
                self.language(name, &format!("{position}.{lang}"))?;
            }
            return Ok(());
        }
        self.edges(name, &format!("{position}.edges"))?;
        match kind {
            2 => self.edges(&format!("~{name}"), &format!("{position}.reverse")),
            _ => Ok(()),
        }
    }

    /// "Columns"
    fn language(&mut self, name: &str, column: &str) -> Read<()> {
        let label = format!("{name}@{}", self.catalog.text()?);
        let label = label.trim_end_matches('@');
        let nodes = self.subjects(column)?;
        let rows: Vec<(usize, usize)> = match self.catalog.u8()? {
            0 => (0..nodes.len()).map(|row| (row, row + 1)).collect(),
            _ => self.file.rows(&format!("{column}.rows"))?,
        };
        let values = self.values(&format!("{column}.values"))?;
        let facets = self.facets(column)?;
        self.rows(label, (&nodes, &rows), &values, &facets)?;
        for _ in 0..self.catalog.u32()? {
            match self.catalog.u8()? {
                kind @ 0..=5 => self.index(label, &format!("{column}.index{kind}"))?,
                6 => self.vectors(label, &format!("{column}.near"))?,
                _ => return Err("an index of an unknown kind".to_owned()),
            }
        }
        Ok(())
    }

    /// "Edges"
    fn edges(&mut self, label: &str, edges: &str) -> Read<()> {
        let nodes = self.subjects(edges)?;
        let rows = self.file.rows(&format!("{edges}.offsets"))?;
        let targets = self.file.numbers(&format!("{edges}.targets"), 4)?;
        let targets: Vec<String> =
            targets.into_iter().map(|target| self.uid(target as u32)).collect();
        let facets = self.facets(edges)?;
        self.rows(label, (&nodes, &rows), &targets, &facets)
    }

    fn subjects(&mut self, name: &str) -> Read<Vec<u32>> {
        let bitmap = self.file.bitmap(&format!("{name}.subjects"))?;
        self.containers.extend(bitmap.kinds());
        Ok(bitmap.members())
    }

    /// "Reading the values of a predicate", steps 5 to 7, for all nodes.
    fn rows(
        &mut self,
        label: &str,
        (nodes, rows): (&[u32], &[(usize, usize)]),
        values: &[String],
        facets: &[Facet<'_>],
    ) -> Read<()> {
        let count = rows.last().map_or(0, |row| row.1);
        need(rows.len() == nodes.len() && count == values.len(), "lengths do not fit")?;
        for (node, (start, end)) in nodes.iter().zip(rows) {
            for (position, value) in (*start..*end).zip(&values[*start..*end]) {
                let mut line = format!("{} {label} {value}", self.uid(*node));
                for facet in facets {
                    if let Some(row) = facet.positions.row(position as u32) {
                        write!(line, " {}={}", facet.key, facet.values[row]).unwrap();
                    }
                }
                self.lines.push(line);
            }
        }
        Ok(())
    }

    /// "Catalog": the kind of values; then "Values".
    fn values(&mut self, name: &str) -> Read<Vec<String>> {
        let kind = self.catalog.u8()?;
        let value_type = if matches!(kind, 5 | 10) { self.catalog.u8()? } else { 0 };
        self.kinds.insert(kind);
        self.file.values(name, (kind, value_type))
    }

    /// "Facets"
    fn facets(&mut self, name: &str) -> Read<Vec<Facet<'a>>> {
        let mut facets = Vec::new();
        for position in 0..self.catalog.u32()? {
            let (key, name) = (self.catalog.text()?, format!("{name}.facet{position}"));
            let values = self.values(&format!("{name}.values"))?;
            let positions = self.file.bitmap(&format!("{name}.positions"))?;
            need(positions.members().len() == values.len(), "facets do not fit")?;
            facets.push(Facet { key, positions, values });
        }
        Ok(facets)
    }

    /// "Indexes"
    fn index(&mut self, label: &str, index: &str) -> Read<()> {
        let keys = self.values(&format!("{index}.keys"))?;
        let rows = self.file.rows(&format!("{index}.offsets"))?;
        let postings = self.file.numbers(&format!("{index}.postings"), 4)?;
        need(rows.len() == keys.len(), "an index does not fit")?;
        for (key, (start, end)) in keys.iter().zip(rows) {
            let nodes: Vec<String> =
                postings[start..end].iter().map(|node| self.uid(*node as u32)).collect();
            self.lines.push(format!("index {label} {key}: {}", nodes.join(" ")));
        }
        Ok(())
    }

    /// "Vector index"
    fn vectors(&mut self, label: &str, near: &str) -> Read<()> {
        let (has_own, dimension) = (self.catalog.u8()?, self.catalog.u32()?);
        let (_width, _untuned) = (self.catalog.u32()?, self.catalog.u32()?);
        let layers = self.catalog.u32()?;
        need(has_own == 0 || self.file.sections.contains_key(&format!("{near}.numbers")), near)?;
        self.file.bitmap(&format!("{near}.absent"))?;
        let scales = self.file.numbers(&format!("{near}.scales"), 4)?;
        let members = self.file.numbers(&format!("{near}.members"), 4)?;
        for layer in 0..layers {
            let rows = self.file.rows(&format!("{near}.{layer}.offsets"))?;
            let targets = self.file.numbers(&format!("{near}.{layer}.targets"), 4)?;
            need(rows.last().map_or(0, |row| row.1) == targets.len(), "links do not fit")?;
        }
        let scales: Vec<f32> = scales.into_iter().map(|it| f32::from_bits(it as u32)).collect();
        self.lines.push(format!("near {label} {dimension} {scales:?} {layers} {}", members.len()));
        Ok(())
    }

    /// "Nodes"
    fn uid(&self, node: u32) -> String {
        match node.checked_sub(1 << 31) {
            None => format!("{node:#x}"),
            Some(position) => format!("{:#x}", self.high[position as usize]),
        }
    }
}

/// "Definitions": the type of each predicate.
fn definitions(message: Bytes<'_>) -> Read<BTreeMap<String, u8>> {
    let mut types = BTreeMap::new();
    for (tag, field) in message.fields(&[3, 5])? {
        if tag != 3 {
            continue;
        }
        let (mut name, mut value_type) = (String::new(), 0);
        for (tag, mut field) in field.fields(&[3, 5, 7, 9, 11, 13, 15])? {
            match tag {
                3 => name = text_of(field.0)?,
                5 => value_type = field.u8()?,
                _ => {}
            }
        }
        types.insert(name, value_type);
    }
    Ok(types)
}
