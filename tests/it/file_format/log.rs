//! The records of a log.

use super::bytes::{
    Bytes, Read, crc, need, shown_plain, shown_text, shown_vector, text_of, usize_at,
};
use std::fmt::Write;

/// "Log": the commit and the payload of each record, up to the end of the log.
pub fn records(log: &[u8]) -> Read<Vec<(u64, &[u8])>> {
    need(log.starts_with(b"hexlog\0"), "no magic")?;
    // "Format 1"
    let (header, frame) = if log[7] == 1 { (32, 28) } else { (128, 32) };
    let sum_at = if log[7] == 1 { 24 } else { 124 };
    need(usize_at(log, sum_at, 4) as u32 == crc(&log[..sum_at]), "the header's checksum")?;
    let (mut records, mut at) = (Vec::new(), header);
    while at + frame <= log.len() {
        // "Framing"
        let head = &log[at..at + frame];
        let len = usize_at(head, 4, 4);
        need(head[..4] == [b'h', b'x', b'r', log[7]], "no record")?;
        let payload = &log[at + frame..at + frame + len];
        let sum = usize_at(head, 24, 4) as u32;
        if log[7] == 1 {
            need(crc(&[&head[..24], payload].concat()) == sum, "a record's checksum")?;
        } else {
            let full = [&log[32..48], &log[16..24], &head[..28]].concat();
            need(crc(&full) == usize_at(head, 28, 4) as u32, "a frame's checksum")?;
            need(crc(payload) == sum, "a payload's checksum")?;
        }
        records.push((usize_at(head, 8, 8) as u64, payload));
        at += frame + len;
    }
    Ok(records)
}

/// "Records": the statements of a record of changes.
pub fn statements(payload: &[u8]) -> Read<Vec<String>> {
    let mut lines = Vec::new();
    if payload[0] != 3 {
        need(payload[0] == 4, "a record of an unknown kind")?;
        return Bytes(&payload[1..]).fields(&[3, 5, 7, 9, 11]).map(|_| lines);
    }
    for (_, request) in Bytes(&payload[1..]).fields(&[3])? {
        let (mut names, mut langs) = (Vec::new(), Vec::new());
        for (tag, mut field) in request.fields(&[3, 5, 7, 9, 11])? {
            match tag {
                7 => names.push(text_of(field.0)?),
                9 => langs.push(text_of(field.0)?),
                11 => part(field, &names, &langs, &mut lines)?,
                3 => drop(field.varint()?),
                _ => {}
            }
        }
    }
    Ok(lines)
}

fn part(field: Bytes<'_>, names: &[String], langs: &[String], lines: &mut Vec<String>) -> Read<()> {
    for (tag, mut bytes) in field.fields(&[3, 5, 7])? {
        while !bytes.0.is_empty() {
            let name = &names[bytes.varint()? as usize];
            let mut line = match tag {
                3 => {
                    let (node, kind) = (bytes.varint()?, bytes.u8()?);
                    let what = match kind {
                        0 => "*".to_owned(),
                        1 => format!("@{}", langs[bytes.varint()? as usize]),
                        2 => {
                            let lang = &langs[bytes.varint()? as usize];
                            format!("@{lang} {}", value(&mut bytes)?)
                        }
                        4 => format!("{:#x}", bytes.varint()?),
                        _ => return Err("a delete of an unknown kind".to_owned()),
                    };
                    lines.push(format!("- {node:#x} {name} {what}"));
                    continue;
                }
                5 => {
                    let (lang, node) = (&langs[bytes.varint()? as usize], bytes.varint()?);
                    format!("{node:#x} {name}@{lang} {}", value(&mut bytes)?)
                }
                _ => format!("{:#x} {name} {:#x}", bytes.varint()?, bytes.varint()?),
            };
            for _ in 0..bytes.varint()? {
                let key = text_of(bytes.counted()?)?;
                write!(line, " {key}={}", value(&mut bytes)?).unwrap();
            }
            lines.push(line);
        }
    }
    Ok(())
}

/// "Records": a value.
fn value(bytes: &mut Bytes<'_>) -> Read<String> {
    match bytes.u8()? {
        plain @ (1 | 2 | 4 | 5) => shown_plain(plain, bytes),
        10 => bytes.counted().map(shown_vector),
        value_type => Ok(shown_text(value_type, &text_of(bytes.counted()?)?)),
    }
}
