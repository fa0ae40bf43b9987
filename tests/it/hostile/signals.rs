//! A process that serves ends gently when it is asked to, by whichever signal and whoever handles Ctrl-C in it.

use crate::process;
use crate::process::{number_from_environment, start};
use hexgraph::db::{Database, OpenOptions};
use hexgraph_server::cli;
use hexgraph_server::cli::Interrupt;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const FOLDER: &str = "HEXGRAPH_SIGNALS_FOLDER";
const HOST: &str = "HEXGRAPH_SIGNALS_HOST";

/// How long something may take that has to happen.
const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn a_process_that_serves() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let interrupt = match number_from_environment(HOST) {
        Some(1) => Interrupt::Host(|| false),
        _ => Interrupt::System,
    };
    process::report_failures();
    let arguments = ["hexgraph", "serve", &folder, "--port", "0", "--sync", "never"];
    let status = cli::run(arguments.map(Into::into), interrupt);
    process::say(&format!("ended {status}"));
}

/// Serves, changes something, sends the signal while a request is under way, and says what the process said at its end.
fn end_by(signal: &str, host: bool) -> (Vec<String>, Vec<u8>) {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("db").display().to_string();
    let environment = [(FOLDER, folder.clone()), (HOST, u8::from(host).to_string())];
    let mut served = start("hostile::signals::a_process_that_serves", &environment);
    let address = loop {
        let line = served.lines.recv_timeout(PATIENCE).unwrap();
        if let Some(rest) = line.split("http://").nth(1) {
            break rest.split(' ').next().unwrap().to_owned();
        }
    };
    let body = "{ set { <1> <name> \"Ada\" . } }";
    let head = |rest: &str| {
        let length = body.len();
        format!(
            "POST /mutate?commitNow=true HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/rdf\r\nContent-Length: {length}\r\n\r\n{rest}"
        )
    };
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // Half of a request, which is under way then.
    stream.write_all(head(&body[..10]).as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let pid = served.child.id().to_string();
    assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    std::thread::sleep(Duration::from_millis(100));
    stream.write_all(&body.as_bytes()[10..]).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let started = Instant::now();
    let mut said = Vec::new();
    while let Ok(line) = served.lines.recv_timeout(PATIENCE.saturating_sub(started.elapsed())) {
        said.push(line);
    }
    assert!(served.child.wait().unwrap().success(), "{said:?}");
    // Nothing has to be carried out again: it was closed, not killed.
    let db = Database::open(Path::new(&folder), OpenOptions::default()).unwrap();
    assert_eq!((db.stats().unwrap().nodes, db.recovery().unwrap().cut), (1, 0));
    (said, answer)
}

#[test]
#[cfg(unix)]
fn signals_end_a_server_gently() {
    // A host handles SIGINT itself, as Python does.
    for (signal, host) in [("-TERM", false), ("-TERM", true), ("-INT", false)] {
        let (said, answer) = end_by(signal, host);
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.contains("\"code\":\"Success\""), "{signal} {host}: {answer}");
        assert!(said.iter().any(|line| line == "ended 0"), "{signal} {host}: {said:?}");
    }
}
