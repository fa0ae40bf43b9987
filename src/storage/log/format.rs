//! The bytes of a log.

/// The length of the header of a log.
pub const HEADER_LEN: u64 = 32;

/// The length of what stands before the payload of a record.
pub const FRAME_LEN: usize = 28;

/// The first bytes of each record.
pub const RECORD_MAGIC: [u8; 4] = *b"hxr\x01";

const MAGIC: [u8; 8] = *b"hexlog\0\x01";

/// What the header of a log says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Header {
    /// The number of this log.
    pub number: u64,
    /// The number of the log before it, 0 for none.
    pub previous: u64,
}

/// What stands before the payload of a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// The length of the payload.
    pub len: u32,
    /// The number of the commit.
    pub commit: u64,
    /// How many bytes of this log were durable when the record was written.
    pub synced: u64,
    /// The checksum of the above and of the payload.
    pub sum: u32,
}

impl Header {
    /// The bytes.
    pub fn to_bytes(self) -> [u8; HEADER_LEN as usize] {
        let mut bytes = [0; HEADER_LEN as usize];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..16].copy_from_slice(&self.number.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.previous.to_le_bytes());
        let sum = crc32fast::hash(&bytes[..24]);
        bytes[24..28].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// What the bytes say; `None` when they are no header.
    pub fn of_bytes(bytes: &[u8]) -> Option<Header> {
        let bytes: &[u8; HEADER_LEN as usize] = bytes.first_chunk()?;
        let sum = u32_at(bytes, 24)?;
        let is_header = bytes[..8] == MAGIC && sum == crc32fast::hash(&bytes[..24]);
        is_header.then_some(Header { number: u64_at(bytes, 8)?, previous: u64_at(bytes, 16)? })
    }
}

impl Frame {
    /// The frame of a payload.
    pub fn of(commit: u64, synced: u64, payload: &[u8]) -> Option<Frame> {
        let mut frame = Frame { len: u32::try_from(payload.len()).ok()?, commit, synced, sum: 0 };
        frame.sum = frame.checksum(payload);
        Some(frame)
    }

    /// The bytes.
    pub fn to_bytes(self) -> [u8; FRAME_LEN] {
        let mut bytes = [0; FRAME_LEN];
        bytes[..4].copy_from_slice(&RECORD_MAGIC);
        bytes[4..8].copy_from_slice(&self.len.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.commit.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.synced.to_le_bytes());
        bytes[24..].copy_from_slice(&self.sum.to_le_bytes());
        bytes
    }

    /// What the bytes say; `None` when they are no frame. The checksum is not compared yet.
    pub fn of_bytes(bytes: &[u8]) -> Option<Frame> {
        let bytes: &[u8; FRAME_LEN] = bytes.first_chunk()?;
        let is_frame = bytes[..4] == RECORD_MAGIC;
        is_frame.then_some(Frame {
            len: u32_at(bytes, 4)?,
            commit: u64_at(bytes, 8)?,
            synced: u64_at(bytes, 16)?,
            sum: u32_at(bytes, 24)?,
        })
    }

    /// Whether the payload is the one that was written.
    pub fn fits(&self, payload: &[u8]) -> bool {
        self.sum == self.checksum(payload)
    }

    fn checksum(&self, payload: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.to_bytes()[..FRAME_LEN - 4]);
        hasher.update(payload);
        hasher.finalize()
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}
