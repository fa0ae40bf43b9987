//! Sets of keys in files.

use crate::graphql::auth::FetchedKeys;
use crate::graphql::auth::KeySource;
use std::fs::File;
use std::io::Read;
use std::time::Duration;

/// The longest file that is read, in bytes.
const FILE_MAX: u64 = 1 << 20;

/// How long a file's keys are used before it is read again.
const LIFETIME: Duration = Duration::from_secs(60);

/// Answers addresses of files, `file:///path`. Sets of keys behind other addresses are fetched by whoever keeps the files.
pub(super) struct KeyFiles;

impl KeySource for KeyFiles {
    fn fetch(&self, address: &str) -> Result<FetchedKeys, String> {
        let Some(path) = address.strip_prefix("file://") else {
            return Err(format!(
                "{address}: keys are read from files alone; keep the set in one and write file:///path"
            ));
        };
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(FILE_MAX).read_to_string(&mut text));
        read.map_err(|error| format!("{address}: {error}"))?;
        Ok(FetchedKeys { text, lifetime: Some(LIFETIME) })
    }
}
