//! The bytes of a log.

use crate::storage::Identity;
use crc32fast::Hasher;

/// The length of the header of a log.
pub(crate) const HEADER_LEN: u64 = 128;

/// The length of a header of the first format, and the least that says which format a log has.
pub(in crate::storage::files::log) const HEADER_LEN_1: usize = 32;

/// The length of what stands before the payload of a record.
pub(in crate::storage::files::log) const FRAME_LEN: usize = 32;

const FRAME_LEN_1: usize = 28;

/// The first bytes of a header, after which the number of the format stands.
const MAGIC: [u8; 7] = *b"hexlog\0";

/// The first bytes of each record, after which the number of the format stands.
const RECORD_MAGIC: [u8; 3] = *b"hxr";

/// The format that is written.
const FORMAT: u8 = 2;

/// The header of a log.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Header {
    /// The number of this log.
    pub number: u64,
    /// The number of the log before it, 0 for none.
    pub previous: u64,
    /// The database that it belongs to; none in a log of the first format.
    pub identity: Identity,
    /// The length of the log before it, all of which was durable; 0 if there is none, or if it is
    /// unknown.
    pub previous_end: u64,
    /// The last commit that was noted before this log.
    pub commit: u64,
}

/// Why bytes are no header.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NoHeader {
    /// They are not what was written.
    Damaged,
    /// A later release wrote them in this format.
    Later(u32),
}

/// The bytes that stand before the payload of a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// The length of the payload.
    pub len: u32,
    /// The number of the commit.
    pub commit: u64,
    /// The number of bytes of this log that were durable when the record was written.
    pub synced: u64,
    /// The checksum of the payload.
    sum: u32,
}

/// The layout of the records of a log.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Layout {
    /// The first format.
    One,
    /// The format that is written. What begins a record is of this log alone: the checksum begins
    /// with this number.
    Two(u32),
}

impl Header {
    /// The bytes.
    pub fn to_bytes(self) -> [u8; HEADER_LEN as usize] {
        let mut bytes = [0; HEADER_LEN as usize];
        bytes[..7].copy_from_slice(&MAGIC);
        bytes[7] = FORMAT;
        bytes[8..12].copy_from_slice(&(HEADER_LEN as u32).to_le_bytes());
        // From 12 to 16: bits for what has to be understood, none so far.
        bytes[16..24].copy_from_slice(&self.number.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.previous.to_le_bytes());
        bytes[32..48].copy_from_slice(&self.identity.0.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.previous_end.to_le_bytes());
        bytes[56..64].copy_from_slice(&self.commit.to_le_bytes());
        let sum = crc32fast::hash(&bytes[..124]);
        bytes[124..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads the header at the beginning of a log, and returns it with the layout of the records
    /// that follow.
    ///
    /// # Errors
    ///
    /// The reason when they are no header.
    pub fn of_bytes(bytes: &[u8]) -> Result<(Header, Layout), NoHeader> {
        if bytes.len() < HEADER_LEN_1 || bytes[..7] != MAGIC {
            return Err(NoHeader::Damaged);
        }
        match bytes[7] {
            1 => Header::of_format_1(bytes).map(|header| (header, Layout::One)),
            FORMAT => {
                let header = Header::of_format_2(bytes)?;
                Ok((header, Layout::of(&header)))
            }
            later if FORMAT < later => Err(NoHeader::Later(later.into())),
            _ => Err(NoHeader::Damaged),
        }
    }

    fn of_format_1(bytes: &[u8]) -> Result<Header, NoHeader> {
        let read = || {
            let is_complete = u32_at(bytes, 24)? == crc32fast::hash(&bytes[..24]);
            let (number, previous) = (u64_at(bytes, 8)?, u64_at(bytes, 16)?);
            is_complete.then_some(Header { number, previous, ..Header::default() })
        };
        read().ok_or(NoHeader::Damaged)
    }

    fn of_format_2(bytes: &[u8]) -> Result<Header, NoHeader> {
        let bytes: &[u8; HEADER_LEN as usize] = bytes.first_chunk().ok_or(NoHeader::Damaged)?;
        let read = || {
            let is_complete = u32_at(bytes, 124)? == crc32fast::hash(&bytes[..124]);
            let identity =
                bytes[32..].first_chunk().map(|id| Identity(u128::from_le_bytes(*id)))?;
            let header = Header {
                number: u64_at(bytes, 16)?,
                previous: u64_at(bytes, 24)?,
                identity,
                previous_end: u64_at(bytes, 48)?,
                commit: u64_at(bytes, 56)?,
            };
            // Both are for later releases: a longer header, or flags that have to be understood.
            let is_supported = u32_at(bytes, 8)? == HEADER_LEN as u32 && u32_at(bytes, 12)? == 0;
            is_complete.then_some((header, is_supported))
        };
        match read() {
            Some((header, true)) => Ok(header),
            Some((_, false)) => Err(NoHeader::Later(FORMAT.into())),
            None => Err(NoHeader::Damaged),
        }
    }
}

impl Layout {
    /// The layout of the records of a log that is written with this header.
    pub fn of(header: &Header) -> Layout {
        // The checksum of each record begins with the identity and the number of the log, so that
        // a record of another log is none of this one, as where the system gives old blocks to a
        // new file.
        let mut hasher = Hasher::new();
        hasher.update(&header.identity.0.to_le_bytes());
        hasher.update(&header.number.to_le_bytes());
        Layout::Two(hasher.finalize())
    }

    /// The length of the header.
    pub fn header_len(self) -> u64 {
        match self {
            Layout::One => HEADER_LEN_1 as u64,
            Layout::Two(_) => HEADER_LEN,
        }
    }

    /// The length of what stands before a payload.
    pub fn frame_len(self) -> usize {
        match self {
            Layout::One => FRAME_LEN_1,
            Layout::Two(_) => FRAME_LEN,
        }
    }

    /// The first bytes of each record.
    pub fn magic(self) -> [u8; 4] {
        let [one, two, three] = RECORD_MAGIC;
        let format = if self == Layout::One { 1 } else { FORMAT };
        [one, two, three, format]
    }

    /// Makes the frame of a payload; `None` when the payload is too long for a record.
    pub fn frame_of(self, commit: u64, synced: u64, payload: &[u8]) -> Option<[u8; FRAME_LEN]> {
        let len = u32::try_from(payload.len()).ok()?;
        let frame = Frame { len, commit, synced, sum: crc32fast::hash(payload) };
        let mut bytes = [0; FRAME_LEN];
        bytes[..24].copy_from_slice(&frame.head(self.magic()));
        bytes[24..28].copy_from_slice(&frame.sum.to_le_bytes());
        // A separate checksum: a length is only valid if the bytes before it are intact.
        let sum = self.head_sum(&bytes);
        bytes[28..].copy_from_slice(&sum.to_le_bytes());
        Some(bytes)
    }

    /// Reads a frame from the bytes at the beginning of a record; `None` when no record begins
    /// there. In the first format one checksum covers frame and payload, so nothing is compared
    /// yet.
    pub fn frame(self, bytes: &[u8]) -> Option<Frame> {
        let bytes = bytes.get(..self.frame_len())?;
        if bytes[..4] != self.magic() {
            return None;
        }
        if self != Layout::One && u32_at(bytes, 28)? != self.head_sum(bytes) {
            return None;
        }
        Some(Frame {
            len: u32_at(bytes, 4)?,
            commit: u64_at(bytes, 8)?,
            synced: u64_at(bytes, 16)?,
            sum: u32_at(bytes, 24)?,
        })
    }

    /// The beginning of the checksum of a record, to which its payload is added.
    pub fn hasher(self, frame: &Frame) -> Hasher {
        let mut hasher = Hasher::new();
        if self == Layout::One {
            hasher.update(&frame.head(self.magic()));
        }
        hasher
    }

    /// The checksum of the first 28 bytes of a record.
    fn head_sum(self, bytes: &[u8]) -> u32 {
        // The frames of the first format have no checksum, and `frame` does not compare it there.
        let Layout::Two(seed) = self else { return 0 };
        let mut hasher = Hasher::new_with_initial(seed);
        hasher.update(&bytes[..28]);
        hasher.finalize()
    }
}

impl Frame {
    /// True when `hasher`, which has read the record, came to the record's checksum.
    pub fn fits(&self, hasher: Hasher) -> bool {
        hasher.finalize() == self.sum
    }

    fn head(&self, magic: [u8; 4]) -> [u8; 24] {
        let mut bytes = [0; 24];
        bytes[..4].copy_from_slice(&magic);
        bytes[4..8].copy_from_slice(&self.len.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.commit.to_le_bytes());
        bytes[16..].copy_from_slice(&self.synced.to_le_bytes());
        bytes
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}
