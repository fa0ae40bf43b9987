//! Fields with tags and lengths: how records and definitions are written so that later releases can
//! add to them.
//!
//! A message is fields one after the other, to the end of its bytes. A field is a tag, the length
//! of what it holds, and that: so a reader can skip an unrecognised tag. Whether that is allowed,
//! the tag says: what has to be understood has an odd tag, and it is an error when it is not; what
//! may be left out has an even one. Numbers have seven bits a byte, the lowest first; all but the
//! last byte have the eighth bit set.

/// Why bytes can't be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    /// They are not what was written.
    Damaged,
    /// A later release wrote something that has to be understood.
    Later,
}

impl Unread {
    /// The reason as a part of a sentence.
    pub fn reason(self) -> &'static str {
        match self {
            Unread::Damaged => "it can't be read",
            Unread::Later => "it was written by a later version of hexgraph: open it with that one",
        }
    }
}

/// The tag of a field that has to be understood.
pub const fn required(number: u64) -> u64 {
    number << 1 | 1
}

/// The tag of a field that may be left out.
pub const fn optional(number: u64) -> u64 {
    number << 1
}

/// Adds a number.
pub fn put_number(mut number: u64, out: &mut Vec<u8>) {
    while 0x80 <= number {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Adds a text: its length and its bytes.
pub fn put_text(text: &str, out: &mut Vec<u8>) {
    put_number(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

/// Adds a field that holds what `write` adds.
pub fn put_field(tag: u64, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    put_number(tag, out);
    let start = out.len();
    write(out);
    let mut len = Vec::with_capacity(10);
    put_number((out.len() - start) as u64, &mut len);
    // How long the field is shows after it is written, so its length is put in before it.
    out.splice(start..start, len);
}

/// Adds a field that holds a text to its end.
pub fn put_text_field(tag: u64, text: &str, out: &mut Vec<u8>) {
    put_field(tag, out, |out| out.extend_from_slice(text.as_bytes()));
}

/// Bytes that are read from the front. What reads them takes nothing that is not there.
#[derive(Clone, Copy)]
pub struct ByteReader<'a>(&'a [u8]);

impl<'a> ByteReader<'a> {
    /// A reader of these bytes.
    pub fn new(bytes: &'a [u8]) -> ByteReader<'a> {
        ByteReader(bytes)
    }

    /// What was not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// True when all was read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next byte; `None` where the bytes end before, as for all that follow.
    pub fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    /// The next number.
    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// A number of things of at least one byte each.
    pub fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|count| *count <= self.0.len())
    }

    /// So many bytes.
    pub fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    /// The next text.
    pub fn text(&mut self) -> Option<&'a str> {
        let len = self.count()?;
        std::str::from_utf8(self.take(len)?).ok()
    }

    /// All that is left, as a text.
    pub fn entire_text(&self) -> Result<&'a str, Unread> {
        std::str::from_utf8(self.0).map_err(|_| Unread::Damaged)
    }

    /// All that is left, as one number.
    pub fn final_number(mut self) -> Result<u64, Unread> {
        self.number().filter(|_| self.0.is_empty()).ok_or(Unread::Damaged)
    }

    /// The next field: its tag and what it holds; `None` at the end of the message.
    ///
    /// # Errors
    ///
    /// [`Unread::Damaged`] when there is no entire field.
    pub fn field(&mut self) -> Result<Option<(u64, ByteReader<'a>)>, Unread> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let mut read = || {
            let tag = self.number()?;
            let len = self.count()?;
            Some((tag, ByteReader(self.take(len)?)))
        };
        read().map(Some).ok_or(Unread::Damaged)
    }
}

/// Leaves a field out that nobody here knows.
///
/// # Errors
///
/// [`Unread::Later`] when its tag says that it has to be understood.
pub fn skip_unknown(tag: u64) -> Result<(), Unread> {
    if tag & 1 == 1 { Err(Unread::Later) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn fields_read_back(fields in prop::collection::vec((any::<u64>(), prop::collection::vec(any::<u8>(), 0..200)), 0..6)) {
            let mut out = Vec::new();
            for (tag, content) in &fields {
                put_field(*tag, &mut out, |out| out.extend_from_slice(content));
            }
            let mut reader = ByteReader::new(&out);
            for (tag, content) in &fields {
                let (result, inner) = reader.field().unwrap().unwrap();
                prop_assert_eq!((result, inner.rest()), (*tag, content.as_slice()));
            }
            prop_assert!(reader.field().unwrap().is_none());
        }

        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut reader = ByteReader::new(&bytes);
            while let Ok(Some((tag, mut inner))) = reader.field() {
                prop_assert_eq!(skip_unknown(tag).is_err(), tag % 2 == 1);
                let _ = (inner.entire_text(), inner.final_number(), inner.text(), inner.count());
            }
        }
    }

    #[test]
    fn what_has_to_be_understood_is_not_left_out() {
        assert_eq!(skip_unknown(optional(7)), Ok(()));
        assert_eq!(skip_unknown(required(7)), Err(Unread::Later));
    }
}
