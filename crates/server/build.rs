//! Makes the messages of gRPC from their description. protox reads it, so no `protoc` has to be installed.

use prost_build::Config;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = "src/http/grpc";
    let file = format!("{folder}/api.proto");
    println!("cargo::rerun-if-changed={file}");
    println!("cargo::rerun-if-changed=build.rs");
    let described = protox::compile([&file], [folder])?;
    // Bytes are parts of the message that came, and of the answer; not copies.
    Config::new().bytes(["."]).compile_fds(described)?;
    Ok(())
}
