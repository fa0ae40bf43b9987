//! Files of Arrow batches: those with a footer (`.arrow`, Feather) and streams.
//!
//! ```text
//! file    ARROW1 | schema | message | message … | footer with the offsets of messages | length | ARROW1
//! stream  schema | message | message … | end
//! ```
//!
//! A message says how long it is, and how long its compressed buffers become. Both are compared
//! with the file and reserved before they are read.

use super::opened::{open_file, unreadable};
use super::pages::memory::ReadMemory;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_buffer::Buffer;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::{Block, Message, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use hexgraph_base::budget::Held;
use hexgraph_base::types::{Error, Result};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

const MAGIC: &[u8] = b"ARROW1";
const MAGIC_OF_FEATHER_1: &[u8] = b"FEA1";

/// What is in front of a message: a mark and the length of its metadata.
const PREFIX_LEN: u64 = 8;
const MARK: [u8; 4] = [0xff; 4];

/// What follows a footer: its length, and the magic.
const END_LEN: u64 = 10;

/// A file that is open, and the messages of it that are still to be read.
pub(super) struct ArrowFile {
    name: String,
    file: File,
    file_len: u64,
    schema: SchemaRef,
    decoder: FileDecoder,
    blocks: VecDeque<Block>,
    memory: ReadMemory,
    /// The memory of the dictionaries.
    dictionaries: Vec<Held>,
    /// The memory of the batch that was returned last.
    held: Vec<Held>,
}

impl ArrowFile {
    /// Reads where the messages of a file are.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], or [`Error::Query`] for a file that is none.
    pub(super) fn open(path: &Path, memory: ReadMemory) -> Result<ArrowFile> {
        let name = path.display().to_string();
        let mut file = open_file(path)?;
        let file_len = file.metadata().map_or(0, |file| file.len());
        let read = || messages_of(&mut file, file_len);
        let read = catch_unwind(AssertUnwindSafe(read));
        let read = read.unwrap_or_else(|_| Err("the file is damaged".to_owned()));
        let (schema, version, blocks) = read.map_err(|fault| unreadable(&name, fault))?;
        let schema = Arc::new(schema);
        let decoder = FileDecoder::new(Arc::clone(&schema), version);
        let (dictionaries, held) = (Vec::new(), Vec::new());
        Ok(ArrowFile { name, file, file_len, schema, decoder, blocks, memory, dictionaries, held })
    }

    /// The bytes of the file.
    pub(super) fn size(&self) -> u64 {
        self.file_len
    }

    /// Reserves bytes of a message for which `before` are reserved.
    fn reserve(&self, bytes: u64, before: u64) -> Result<Held> {
        let all = bytes.saturating_add(before);
        if self.memory.round_len() < all {
            return Err(self.memory.too_large(&format!("a batch of {}", self.name), all));
        }
        self.memory.reserve(bytes)
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        while let Some(block) = self.blocks.pop_front() {
            let failed = |fault: String| unreadable(&self.name, fault);
            let (offset, len) = range_of(&block, self.file_len).map_err(failed)?;
            self.held.clear();
            let packed = self.reserve(len, 0)?;
            let bytes = read_at(&mut self.file, self.file_len, offset, len).map_err(failed)?;
            let header_len = block.metaDataLength() as usize;
            let message = message_in(&bytes[..header_len]).map_err(failed)?;
            let is_dictionary = message.header_as_dictionary_batch().is_some();
            let unpacked = self.reserve(unpacked_len(&message, &bytes[header_len..]), len)?;
            match is_dictionary {
                true => self.dictionaries.extend([packed, unpacked]),
                false => self.held.extend([packed, unpacked]),
            }
            let buffer = Buffer::from_vec(bytes);
            let decoder = &mut self.decoder;
            let decode = || match is_dictionary {
                true => decoder.read_dictionary(&block, &buffer).map(|()| None),
                false => decoder.read_record_batch(&block, &buffer),
            };
            let decoded = catch_unwind(AssertUnwindSafe(decode));
            let damaged = |_| Err(ArrowError::IpcError("the file is damaged".to_owned()));
            let batch = decoded.unwrap_or_else(damaged);
            if let Some(batch) = batch.map_err(|error| unreadable(&self.name, error))? {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }
}

impl Iterator for ArrowFile {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_batch().map_err(|error| ArrowError::ExternalError(Box::new(error)));
        if next.is_err() {
            self.blocks.clear();
        }
        next.transpose()
    }
}

impl RecordBatchReader for ArrowFile {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// The error of a batch, as it was before Arrow's error was put around it.
pub(super) fn error_of(name: &str, error: ArrowError) -> Error {
    match error {
        ArrowError::ExternalError(inner) => match inner.downcast::<Error>() {
            Ok(own) => *own,
            Err(other) => unreadable(name, other),
        },
        other => unreadable(name, other),
    }
}

type Messages = (Schema, arrow_ipc::MetadataVersion, VecDeque<Block>);

/// The schema of a file, and where its dictionaries and batches are.
fn messages_of(file: &mut File, file_len: u64) -> std::result::Result<Messages, String> {
    let start = read_at(file, file_len, 0, file_len.min(MAGIC.len() as u64))?;
    if start.starts_with(MAGIC_OF_FEATHER_1) {
        return Err("Feather version 1 is not read; pyarrow.feather writes version 2".to_owned());
    }
    if start != MAGIC {
        return messages_of_stream(file, file_len);
    }
    let damaged = || "the file is damaged: it has no footer".to_owned();
    let at = file_len.checked_sub(END_LEN).ok_or_else(damaged)?;
    let end = read_at(file, file_len, at, END_LEN)?;
    let (len, magic) = end.split_first_chunk().ok_or_else(damaged)?;
    let len = u64::try_from(i32::from_le_bytes(*len)).map_err(|_| damaged())?;
    let at = at.checked_sub(len).filter(|_| magic == MAGIC).ok_or_else(damaged)?;
    let bytes = read_at(file, file_len, at, len)?;
    let footer = root_as_footer(&bytes).map_err(|error| error.to_string())?;
    let schema = fb_to_schema(footer.schema().ok_or_else(damaged)?);
    let dictionaries = footer.dictionaries().into_iter().flatten();
    let blocks = dictionaries.chain(footer.recordBatches().into_iter().flatten());
    Ok((schema, footer.version(), blocks.copied().collect()))
}

fn messages_of_stream(file: &mut File, file_len: u64) -> std::result::Result<Messages, String> {
    let (mut schema, mut blocks, mut at) = (None, VecDeque::new(), 0);
    while at + PREFIX_LEN <= file_len {
        let prefix = read_at(file, file_len, at, PREFIX_LEN)?;
        let Some((&MARK, len)) = prefix.split_first_chunk() else {
            return Err("it is no file of Arrow batches".to_owned());
        };
        let len = i32::from_le_bytes([len[0], len[1], len[2], len[3]]);
        let len = u64::try_from(len).map_err(|_| "a message is damaged".to_owned())?;
        if len == 0 {
            break;
        }
        let header = read_at(file, file_len, at, PREFIX_LEN + len)?;
        let message = message_in(&header)?;
        let body = u64::try_from(message.bodyLength()).unwrap_or(u64::MAX);
        match message.header_as_schema() {
            Some(own) => schema = Some((fb_to_schema(own), message.version())),
            None => {
                let header_len = i32::try_from(PREFIX_LEN + len).unwrap_or(i32::MAX);
                blocks.push_back(Block::new(at as i64, header_len, message.bodyLength()));
            }
        }
        let next = (at + PREFIX_LEN + len).checked_add(body);
        at = next.filter(|at| *at <= file_len).ok_or("a message ends behind the file")?;
    }
    let (schema, version) = schema.ok_or("it is no file of Arrow batches")?;
    Ok((schema, version, blocks))
}

/// The message in the bytes of its metadata.
fn message_in(bytes: &[u8]) -> std::result::Result<Message<'_>, String> {
    let skipped = if bytes.starts_with(&MARK) { 8 } else { 4 };
    let bytes = bytes.get(skipped..).ok_or("a message is damaged")?;
    root_as_message(bytes).map_err(|error| error.to_string())
}

/// The bytes that the compressed buffers of a message become, as they say.
fn unpacked_len(message: &Message<'_>, body: &[u8]) -> u64 {
    let batch = message.header_as_record_batch();
    let batch = batch.or_else(|| message.header_as_dictionary_batch()?.data());
    let Some(batch) = batch.filter(|batch| batch.compression().is_some()) else { return 0 };
    let lens = batch.buffers().into_iter().flatten().map(|buffer| {
        let start = usize::try_from(buffer.offset()).unwrap_or(usize::MAX);
        let prefix = body.get(start..).and_then(|rest| rest.first_chunk());
        prefix.map_or(0, |len| u64::try_from(i64::from_le_bytes(*len)).unwrap_or(0))
    });
    lens.fold(0, u64::saturating_add)
}

/// The offset and the length of a message with its body.
fn range_of(block: &Block, file_len: u64) -> std::result::Result<(u64, u64), String> {
    let number = |it: i64| u64::try_from(it).map_err(|_| "a message is damaged".to_owned());
    let header = number(i64::from(block.metaDataLength()))?;
    let len = header.saturating_add(number(block.bodyLength())?);
    let offset = number(block.offset())?;
    check_range(file_len, offset, len)?;
    Ok((offset, len))
}

/// Checks that a range lies in the file.
fn check_range(file_len: u64, offset: u64, len: u64) -> std::result::Result<(), String> {
    match offset.checked_add(len) {
        Some(end) if end <= file_len => Ok(()),
        _ => Err("a message ends behind the file".to_owned()),
    }
}

/// The bytes at an offset, which are compared with the length of the file before they are read.
fn read_at(
    file: &mut File,
    file_len: u64,
    offset: u64,
    len: u64,
) -> std::result::Result<Vec<u8>, String> {
    check_range(file_len, offset, len)?;
    let failed = |error: io::Error| error.to_string();
    let mut bytes = vec![0; len as usize];
    file.seek(SeekFrom::Start(offset)).map_err(failed)?;
    file.read_exact(&mut bytes).map_err(failed)?;
    Ok(bytes)
}
