//! Numbers, texts, checksums and values as `docs/file-format.md` has them.

/// What is read, or why it is refused.
pub type Read<T> = Result<T, String>;

pub fn need(holds: bool, what: &str) -> Read<()> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

/// "Conventions": CRC-32 as zlib has it.
pub fn crc(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
        }
    }
    !sum
}

/// "Conventions": a little-endian number of up to 16 bytes.
pub fn number(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |all, byte| all << 8 | u128::from(*byte))
}

pub fn usize_at(bytes: &[u8], at: usize, len: usize) -> usize {
    number(&bytes[at..at + len]) as usize
}

/// Bytes that are read from the front.
pub struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    pub fn take(&mut self, len: usize) -> Read<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or("the bytes end too early")?;
        self.0 = rest;
        Ok(taken)
    }

    pub fn number(&mut self, len: usize) -> Read<u64> {
        self.take(len).map(|bytes| number(bytes) as u64)
    }

    pub fn u8(&mut self) -> Read<u8> {
        self.number(1).map(|number| number as u8)
    }

    pub fn u32(&mut self) -> Read<usize> {
        self.number(4).map(|number| number as usize)
    }

    /// "Catalog": a length of 32 bits and so many bytes of text.
    pub fn text(&mut self) -> Read<String> {
        let len = self.u32()?;
        text_of(self.take(len)?)
    }

    /// "Conventions": seven bits a byte, the lowest first.
    pub fn varint(&mut self) -> Read<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err("a number has no end".to_owned())
    }

    /// A varint and so many bytes.
    pub fn counted(&mut self) -> Read<&'a [u8]> {
        let len = self.varint()? as usize;
        self.take(len)
    }

    /// "Fields": all of them, to the end of the message; what may be ignored is left out.
    pub fn fields(mut self, existing: &[u64]) -> Read<Vec<(u64, Bytes<'a>)>> {
        let mut fields = Vec::new();
        while !self.0.is_empty() {
            let (tag, content) = (self.varint()?, self.counted()?);
            match existing.contains(&tag) {
                true => fields.push((tag, Bytes(content))),
                false => need(tag % 2 == 0, "a later release wrote it")?,
            }
        }
        Ok(fields)
    }
}

pub fn text_of(bytes: &[u8]) -> Read<String> {
    String::from_utf8(bytes.to_vec()).map_err(|_| "a text is not UTF-8".to_owned())
}

/// "Types of values", as this test writes them.
pub fn shown_text(value_type: u8, text: &str) -> String {
    if value_type == 3 { format!("{text:?}") } else { format!("{value_type}:{text:?}") }
}

pub fn shown_time(seconds: i64, nanos: u64, zone: i16) -> String {
    format!("{seconds}s{nanos}n{zone:+}")
}

pub fn shown_float(bits: u64) -> String {
    format!("{:?}", f64::from_bits(bits))
}

pub fn shown_vector(bytes: &[u8]) -> String {
    let numbers = bytes.chunks(4).map(|bytes| f32::from_bits(number(bytes) as u32));
    format!("{:?}", numbers.collect::<Vec<f32>>())
}

/// The values that have the same bytes in "Values" (kind 7) and in "Records".
pub fn shown_plain(value_type: u8, bytes: &mut Bytes<'_>) -> Read<String> {
    Ok(match value_type {
        1 => (bytes.number(8)? as i64).to_string(),
        2 => shown_float(bytes.number(8)?),
        4 => (bytes.u8()? == 1).to_string(),
        _ => {
            let (seconds, nanos) = (bytes.number(8)? as i64, bytes.number(4)?);
            shown_time(seconds, nanos, bytes.number(2)? as i16)
        }
    })
}
