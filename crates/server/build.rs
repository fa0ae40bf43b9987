//! Makes the messages of gRPC from their description, and compresses the files of the console.
//! protox reads the description, so no `protoc` has to be installed.

use flate2::{Compression, GzBuilder};
use prost_build::Config;
use std::env;
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::Path;

/// What `make console` writes.
const CONSOLE: [&str; 7] = [
    "index.html",
    "console.js",
    "console.css",
    "graphiql.html",
    "graphiql.js",
    "graphiql.css",
    "licenses.txt",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    make_messages()?;
    compress_console()
}

fn make_messages() -> Result<(), Box<dyn Error>> {
    let folder = "src/http/grpc";
    let file = format!("{folder}/api.proto");
    println!("cargo::rerun-if-changed={file}");
    let described = protox::compile([&file], [folder])?;
    // Bytes are parts of the message that came, and of the answer; not copies.
    Config::new().bytes(["."]).compile_fds(described)?;
    Ok(())
}

/// Compresses each file once, here, and not for each request. The same file gives the same bytes,
/// so that builds can be repeated.
fn compress_console() -> Result<(), Box<dyn Error>> {
    let out = env::var("OUT_DIR")?;
    for name in CONSOLE {
        let file = format!("assets/console/{name}");
        println!("cargo::rerun-if-changed={file}");
        let target = fs::File::create(Path::new(&out).join(format!("{name}.gz")))?;
        let mut encoder = GzBuilder::new().mtime(0).write(target, Compression::best());
        encoder.write_all(&fs::read(&file)?)?;
        encoder.finish()?;
    }
    Ok(())
}
