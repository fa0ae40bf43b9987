//! Header, sections, arrays and bitmaps of a snapshot.

use super::bytes::{
    Bytes, Read, crc, need, number, shown_float, shown_plain, shown_text, shown_time, shown_vector,
    text_of, usize_at,
};
use std::collections::BTreeMap;

/// A snapshot whose header and tables were found whole.
pub struct Snapshot {
    bytes: Vec<u8>,
    pub sums: usize,
    pub data_len: usize,
    pub identity: u128,
    pub sections: BTreeMap<String, Section>,
}

#[derive(Clone, Copy)]
pub struct Section {
    start: usize,
    len: usize,
    item_len: usize,
}

impl Snapshot {
    pub fn open(bytes: Vec<u8>) -> Read<Snapshot> {
        // "Header"
        need(128 <= bytes.len() && bytes[..8] == *b"hexgraph", "no magic")?;
        need(number(&bytes[8..12]) == 2, "another version")?;
        need(number(&bytes[12..16]) == 0x0102_0304, "another order of bytes")?;
        need(usize_at(&bytes, 124, 4) as u32 == crc(&bytes[..124]), "the header's checksum")?;
        need(usize_at(&bytes, 16, 8) == bytes.len(), "another length")?;
        let data_len = usize_at(&bytes, 24, 8);
        let (count, names_len) = (usize_at(&bytes, 32, 8), usize_at(&bytes, 40, 8));
        // "Snapshot"
        let sums = 128 + data_len.next_multiple_of(64);
        let entries = sums + (4 * data_len.div_ceil(65536)).next_multiple_of(64);
        let names = entries + 32 * count;
        need(names + names_len == bytes.len(), "lengths do not add up")?;
        need(usize_at(&bytes, 48, 4) as u32 == crc(&bytes[sums..]), "the tables' checksum")?;
        // "Table of sections"
        let mut sections = BTreeMap::new();
        let mut last = String::new();
        for entry in bytes[entries..names].chunks(32) {
            let (start, len) = (usize_at(entry, 0, 8), usize_at(entry, 8, 8));
            let (name_start, name_len) = (usize_at(entry, 16, 8), usize_at(entry, 24, 4));
            let item_len = usize_at(entry, 28, 4);
            let name = text_of(&bytes[names + name_start..][..name_len])?;
            need(last < name && start % 64 == 0 && len % item_len == 0, "a senseless section")?;
            need(start + len <= data_len, "a section ends behind the data")?;
            last.clone_from(&name);
            sections.insert(name, Section { start, len, item_len });
        }
        let identity = number(&bytes[52..68]);
        Ok(Snapshot { bytes, sums, data_len, identity, sections })
    }

    /// "Blocks and checksums"
    fn check_block(&self, block: usize) -> Read<()> {
        let end = 128 + (65536 * (block + 1)).min(self.data_len);
        let result = crc(&self.bytes[128 + 65536 * block..end]);
        let expected = usize_at(&self.bytes, self.sums + 4 * block, 4) as u32;
        need(result == expected, &format!("the checksum of block {block}"))
    }

    pub fn check_all(&self) -> Read<()> {
        (0..self.data_len.div_ceil(65536)).try_for_each(|block| self.check_block(block))
    }

    pub fn section(&self, name: &str, item_len: usize) -> Read<&[u8]> {
        let section = self.sections.get(name).ok_or(format!("there is no section {name}"))?;
        need(section.item_len == item_len, &format!("{name} has other items"))?;
        Ok(&self.bytes[128 + section.start..][..section.len])
    }

    /// "Arrays"
    pub fn numbers(&self, name: &str, item_len: usize) -> Read<Vec<u64>> {
        let items = self.section(name, item_len)?.chunks(item_len);
        Ok(items.map(|item| number(item) as u64).collect())
    }

    /// "Arrays": the beginning and end of each row.
    pub fn rows(&self, name: &str) -> Read<Vec<(usize, usize)>> {
        let (wide, narrow) = (format!("{name}.wide"), format!("{name}.narrow"));
        let starts = match self.sections.contains_key(&wide) {
            true => self.numbers(&wide, 8)?,
            false => self.numbers(&narrow, 4)?,
        };
        need(!starts.is_empty() && starts.is_sorted(), "senseless offsets")?;
        Ok(starts.windows(2).map(|pair| (pair[0] as usize, pair[1] as usize)).collect())
    }

    /// The bytes of each row, of an array with items of that length.
    fn chunks(&self, name: &str, array: &str, item_len: usize) -> Read<Vec<&[u8]>> {
        let bytes = self.section(&format!("{name}.{array}"), item_len)?;
        let rows = self.rows(name)?.into_iter();
        Ok(rows.map(|(start, end)| &bytes[item_len * start..item_len * end]).collect())
    }

    fn texts(&self, name: &str) -> Read<Vec<String>> {
        self.chunks(name, "text", 1)?.into_iter().map(text_of).collect()
    }

    /// "Bitmaps"
    pub fn bitmap(&self, name: &str) -> Read<Bitmap<'_>> {
        let directory = self.section(&format!("{name}.dir"), 16)?;
        let bitmap = Bitmap { directory, words: self.section(&format!("{name}.words"), 8)? };
        let members = bitmap.members();
        need(members.is_sorted_by(|one, next| one < next), "members do not ascend")?;
        for (row, member) in members.iter().enumerate() {
            need(bitmap.row(*member) == Some(row), &format!("{name}: the row of {member}"))?;
        }
        Ok(bitmap)
    }

    /// "Values", as texts.
    pub fn values(&self, name: &str, kind: (u8, u8)) -> Read<Vec<String>> {
        let part = |part: &str| format!("{name}.{part}");
        let int = |len: usize| self.numbers(name, len);
        let seconds = |seconds: i64| shown_time(seconds, 0, 0);
        Ok(match kind.0 {
            0 => int(4)?.into_iter().map(|it| (it as i32).to_string()).collect(),
            1 => int(8)?.into_iter().map(|it| (it as i64).to_string()).collect(),
            2 => int(8)?.into_iter().map(shown_float).collect(),
            3 => int(1)?.into_iter().map(|it| (it != 0).to_string()).collect(),
            4 => {
                let (nanos, zones) =
                    (self.numbers(&part("nanos"), 4)?, self.numbers(&part("zones"), 2)?);
                let of = |all: &[u64], at: usize| all.get(at).copied().unwrap_or(0);
                let times = self.numbers(&part("seconds"), 8)?.into_iter().enumerate();
                let shown = times
                    .map(|(at, it)| shown_time(it as i64, of(&nanos, at), of(&zones, at) as i16));
                shown.collect()
            }
            5 => self.texts(name)?.iter().map(|text| shown_text(kind.1, text)).collect(),
            6 => self.chunks(name, "numbers", 4)?.into_iter().map(shown_vector).collect(),
            7 => self.chunks(name, "bytes", 1)?.into_iter().map(mixed).collect::<Read<_>>()?,
            8 => int(2)?.into_iter().map(|it| seconds(i64::from(it as i16) * 86400)).collect(),
            9 => int(4)?.into_iter().map(|it| seconds(i64::from(it as i32))).collect(),
            10 => {
                let texts = self.texts(name)?;
                let codes = self.numbers(&part("codes"), 2)?.into_iter();
                codes.map(|code| shown_text(kind.1, &texts[code as usize])).collect()
            }
            _ => return Err("values of an unknown kind".to_owned()),
        })
    }
}

/// "Values": the content of kind 7.
fn mixed(row: &[u8]) -> Read<String> {
    let (value_type, content) = row.split_first().ok_or("a value without a type")?;
    let mut bytes = Bytes(content);
    match value_type {
        1 | 2 | 4 | 5 => shown_plain(*value_type, &mut bytes),
        _ => Ok(shown_text(*value_type, &text_of(content)?)),
    }
}

/// "Bitmaps"
pub struct Bitmap<'a> {
    directory: &'a [u8],
    words: &'a [u8],
}

impl Bitmap<'_> {
    pub fn kinds(&self) -> impl Iterator<Item = usize> {
        self.directory.chunks(16).map(|entry| usize_at(entry, 12, 2))
    }

    pub fn members(&self) -> Vec<u32> {
        let mut members = Vec::new();
        for entry in self.directory.chunks(16) {
            let (offset, before) = (usize_at(entry, 0, 4), usize_at(entry, 4, 4));
            let (key, last) = (usize_at(entry, 8, 2), usize_at(entry, 10, 2));
            let (kind, runs) = (usize_at(entry, 12, 2), usize_at(entry, 14, 2));
            assert_eq!(members.len(), before);
            let payload = |at: usize| usize_at(self.words, 8 * offset + 2 * at, 2);
            let lows: Vec<usize> = match kind {
                0 => (0..=last).map(payload).collect(),
                1 => (0..65536).filter(|low| payload(low / 16) >> (low % 16) & 1 == 1).collect(),
                2 => (offset..=offset + last).collect(),
                3 => (0..runs).flat_map(|run| payload(4 * run)..=payload(4 * run + 1)).collect(),
                _ => panic!("a container of kind {kind}"),
            };
            assert_eq!(lows.len(), last + 1);
            members.extend(lows.into_iter().map(|low| (key << 16 | low) as u32));
        }
        members
    }

    /// "Reading the values of a predicate", step 4: a look at one container.
    pub fn row(&self, member: u32) -> Option<usize> {
        let (key, low) = ((member >> 16) as usize, (member & 0xffff) as usize);
        let entry = self.directory.chunks(16).find(|entry| usize_at(entry, 8, 2) == key)?;
        let (offset, before) = (usize_at(entry, 0, 4), usize_at(entry, 4, 4));
        let (last, runs) = (usize_at(entry, 10, 2), usize_at(entry, 14, 2));
        let payload = |at: usize| usize_at(self.words, 8 * offset + 2 * at, 2);
        let word = |at: usize| number(&self.words[8 * (offset + at)..][..8]) as u64;
        let row = match usize_at(entry, 12, 2) {
            0 => (0..=last).find(|at| payload(*at) == low)?,
            1 => {
                let below = word(low / 64) & ((1 << (low % 64)) - 1);
                let full = (low / 512 * 8..low / 64).map(|at| word(at).count_ones()).sum::<u32>();
                let has = word(low / 64) >> (low % 64) & 1 == 1;
                let step = payload(4 * 1024 + low / 512);
                has.then_some(step + (full + below.count_ones()) as usize)?
            }
            2 => low.checked_sub(offset).filter(|row| *row <= last)?,
            _ => {
                let has = |run: &usize| payload(4 * run) <= low && low <= payload(4 * run + 1);
                let run = (0..runs).find(has)?;
                payload(4 * run + 2) + low - payload(4 * run)
            }
        };
        Some(before + row)
    }
}
