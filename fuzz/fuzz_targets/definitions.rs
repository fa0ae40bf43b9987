//! Any bytes are read as definitions, or refused; what is read reads the same when it is written
//! again.
#![no_main]

use hexgraph::internals::graph::Definitions;
use hexgraph::types::fields::ByteReader;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(definitions) = Definitions::decode(ByteReader::new(data)) {
        let mut bytes = Vec::new();
        definitions.encode(&mut bytes);
        assert_eq!(Definitions::decode(ByteReader::new(&bytes)), Ok(definitions));
    }
});
