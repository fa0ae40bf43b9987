//! A process that serves ends gently when it is asked to, by whichever signal and whoever handles
//! Ctrl-C in it.

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

/// Serves, changes something, sends the signal while a request is under way, and says what the
/// process said at its end.
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
    // Nothing has to be executed again: it was closed, not killed.
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

/// systemd starts a service of the type `notify`: the server says when it answers, that it lives,
/// and that it ends. Sockets are named by a path, or by `@` and a name that no folder has.
#[test]
#[cfg(target_os = "linux")]
fn a_service_manager_is_notified() {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify").display().to_string();
    let name = format!("hexgraph-{}", std::process::id());
    let unnamed = SocketAddr::from_abstract_name(&name).unwrap();
    for (name, socket) in [
        (path.clone(), UnixDatagram::bind(&path).unwrap()),
        (format!("@{name}"), UnixDatagram::bind_addr(&unnamed).unwrap()),
    ] {
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let receive = || {
            let mut state = [0; 500];
            let length = socket.recv(&mut state).expect(&name);
            String::from_utf8(state[..length].to_vec()).unwrap()
        };
        let environment =
            format!("export NOTIFY_SOCKET={name} WATCHDOG_USEC=200000 WATCHDOG_PID=$$;");
        let server = super::program::Program::start(&environment, &["--grpc-port", "off"]);
        let ready = receive();
        assert_eq!(ready, format!("READY=1\nSTATUS=answers at {}\n", server.address));
        // Twice within the time of the watchdog.
        let started = Instant::now();
        assert_eq!([receive(), receive(), receive()], ["WATCHDOG=1\n"; 3]);
        assert!(Duration::from_millis(150) < started.elapsed());
        server.end();
        let stopping = std::iter::repeat_with(receive).find(|state| state != "WATCHDOG=1\n");
        assert_eq!(stopping.unwrap().lines().next(), Some("STOPPING=1"));
        assert_eq!(server.log(), "");
    }
}

/// A manager that cannot be notified is reported, and the server answers nevertheless. Without
/// `WATCHDOG_USEC` it does not say that it lives.
#[test]
#[cfg(target_os = "linux")]
fn a_server_answers_without_its_service_manager() {
    let start =
        |name: &str| super::program::Program::start(&format!("export NOTIFY_SOCKET={name};"), &[]);
    let server = start("vsock:2:1");
    let log = server.log_with("NOTIFY_SOCKET");
    assert!(log.contains("NOTIFY_SOCKET=vsock:2:1: expected an absolute path, or @"), "{log}");
    TcpStream::connect(server.address).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let socket = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    let _server = start(&path.display().to_string());
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut state = [0; 500];
    let length = socket.recv(&mut state).unwrap();
    assert!(state[..length].starts_with(b"READY=1\n"));
    socket.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!(socket.recv(&mut state).is_err(), "nobody expects more");
}
