//! Memory: whatever attackers ask for, and however many of them at once, the process stays below
//! its bound, answers who asks for little meanwhile, and gives back what it took.
//!
//! The limits of single requests are set so high here that nothing but the budget of the process
//! holds.

use super::program::Program;
use super::watch::Watch;
use super::{great, turn};
use crate::process::number_from_environment;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Mutex;
use std::thread;
use std::thread::sleep;
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;

const SECOND: Duration = Duration::from_secs(1);

/// How long it may take until what was taken is given back, and a body that nobody waits for is
/// given up.
const PATIENCE: Duration = Duration::from_secs(60);

const POINT: &str = "{ q(func: eq(name, \"n7\")) { name rank } }";

/// How much is tried.
#[derive(Clone, Copy)]
struct Size {
    bound: u64,
    nodes: usize,
    lasts: Duration,
}

/// For `cargo test`, and for `make hostile`.
fn size() -> Size {
    match number_from_environment("HEXGRAPH_HOSTILE_SECONDS") {
        Some(seconds) => {
            Size { bound: 2000 * MIB, nodes: 200_000, lasts: Duration::from_secs(seconds) }
        }
        None => Size { bound: 512 * MIB, nodes: 10_000, lasts: SECOND },
    }
}

/// What became of requests: how many got which status; 0 for none.
type Statuses = Mutex<BTreeMap<u16, usize>>;

/// A server and what is tried at it.
struct Siege<'a> {
    address: SocketAddr,
    size: Size,
    statuses: &'a Statuses,
}

/// What one of those who try does until that moment.
type Attack = fn(&Siege<'_>, Instant);

const ATTACKS: [(&str, Attack); 5] = [
    ("great requests", great_requests),
    ("unfinished bodies", unfinished_bodies),
    ("bombs", bombs),
    ("connections", connections),
    ("silence", silence),
];

impl Siege<'_> {
    fn note(&self, status: u16) {
        *self.statuses.lock().unwrap().entry(status).or_default() += 1;
    }

    /// A connection, if there is one to be had.
    fn connect(&self) -> Option<TcpStream> {
        let stream = TcpStream::connect_timeout(&self.address, PATIENCE).ok()?;
        stream.set_read_timeout(Some(SECOND / 10)).ok()?;
        stream.set_write_timeout(Some(SECOND)).ok()?;
        Some(stream)
    }

    /// Sends a request and reads all that comes, or nothing; until then.
    fn ask(&self, request: &[u8], end: Instant, reads: bool) {
        let Some(mut stream) = self.connect() else { return self.note(0) };
        if stream.write_all(request).is_err() {
            return self.note(0);
        }
        if !reads {
            return sleep(end.saturating_duration_since(Instant::now()));
        }
        let mut status = None;
        let mut buffer = vec![0; 64 << 10];
        while Instant::now() < end {
            match stream.read(&mut buffer) {
                Ok(0) => break,
                Ok(_) if status.is_some() => {}
                Ok(count) => {
                    let head = String::from_utf8_lossy(&buffer[..count.min(20)]).into_owned();
                    status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
                    if status != Some(200) {
                        break;
                    }
                }
                Err(error) if is_silence(&error) => {}
                Err(_) => break,
            }
        }
        self.note(status.unwrap_or(0));
    }
}

fn is_silence(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
}

/// So many clients, each of which does it again and again until then.
fn again_and_again(count: usize, end: Instant, work: impl Fn(usize) + Sync) {
    thread::scope(|scope| {
        for client in 0..count {
            let work = &work;
            scope.spawn(move || {
                let mut round = 0;
                while Instant::now() < end {
                    work(client + count * round);
                    round += 1;
                    sleep(SECOND / 50);
                }
            });
        }
    });
}

fn great_requests(siege: &Siege<'_>, end: Instant) {
    let requests = great::requests();
    // One in five asks and doesn't read.
    again_and_again(24, end, |number| {
        let request = requests[number % requests.len()].bytes();
        siege.ask(&request, end, !number.is_multiple_of(5));
    });
}

/// Bodies of 200 MB, of which so much comes that all together are more than there may be.
fn unfinished_bodies(siege: &Siege<'_>, end: Instant) {
    let head = "POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/dql\r\n\
        Content-Length: 200000000\r\n\r\n";
    let each = siege.size.bound as usize / 45 * 3 / 2;
    let chunk = vec![b' '; 256 << 10];
    again_and_again(45, end, |_| {
        let Some(mut stream) = siege.connect() else { return };
        let mut is_open = stream.write_all(head.as_bytes()).is_ok();
        for _ in 0..each / chunk.len() {
            is_open = is_open && Instant::now() < end && stream.write_all(&chunk).is_ok();
        }
        let mut reported = [0; 20];
        while Instant::now() < end {
            match stream.read(&mut reported) {
                Err(error) if is_silence(&error) => {}
                Ok(count) if 0 < count => {
                    let head = String::from_utf8_lossy(&reported[..count]).into_owned();
                    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
                    return siege.note(status.unwrap_or(0));
                }
                _ => return siege.note(0),
            }
        }
    });
}

/// Bodies of some hundred kilobytes that unpack to an eighth of what there may be, and then have no
/// end.
fn bombs(siege: &Siege<'_>, end: Instant) {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(b" ").unwrap();
    packer.flush().unwrap();
    let head = packer.get_ref().len();
    packer.write_all(&vec![b' '; MIB as usize]).unwrap();
    packer.flush().unwrap();
    let mut body = packer.get_ref().clone();
    // What is flushed may stand there again and again.
    let chunk = body[head..].to_vec();
    for _ in 1..siege.size.bound / MIB / 8 {
        body.extend_from_slice(&chunk);
    }
    let length = body.len();
    let head = format!(
        "POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/dql\r\n\
         Content-Encoding: gzip\r\nContent-Length: {length}\r\n\r\n"
    );
    let request = [head.as_bytes(), &body].concat();
    again_and_again(100, end, |_| siege.ask(&request, end, true));
}

/// A thousand connections, each of which asks for something now and then.
fn connections(siege: &Siege<'_>, end: Instant) {
    let request = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let in_time = |_: &usize| Instant::now() < end;
    let mut streams: Vec<_> =
        (0..1000).take_while(in_time).filter_map(|_| siege.connect()).collect();
    while Instant::now() < end {
        for stream in &mut streams {
            // Some were told to go.
            let _ = stream.write_all(request);
        }
        sleep(SECOND / 4);
    }
}

/// Six hundred that say nothing, half a head, or a long one.
fn silence(siege: &Siege<'_>, end: Instant) {
    let long = format!("GET /health HTTP/1.1\r\nX-Long: {}", "x".repeat(100_000));
    let said = ["", "POST /query HTTP/1.1\r\nHost: loc", &long];
    let mut streams = Vec::new();
    for number in (0..600).take_while(|_| Instant::now() < end) {
        if let Some(mut stream) = siege.connect() {
            // Some were told to go.
            let _ = stream.write_all(said[number % said.len()].as_bytes());
            streams.push(stream);
        }
    }
    sleep(end.saturating_duration_since(Instant::now()));
}

/// All of them.
fn together(siege: &Siege<'_>, end: Instant) {
    thread::scope(|scope| {
        for (_, attack) in ATTACKS {
            scope.spawn(move || attack(siege, end));
        }
    });
}

/// Nodes with ten edges each, a name, a number and a text of 200 bytes.
fn facts(nodes: usize) -> String {
    let mut facts = String::new();
    let text = "x".repeat(190);
    for node in 1..=nodes {
        let type_and_name = format!("<dgraph.type> \"Item\" .\n<{node}> <name> \"n{node}\"");
        writeln!(facts, "<{node}> {type_and_name} .").unwrap();
        writeln!(facts, "<{node}> <rank> \"{}\" .", node % 97).unwrap();
        writeln!(facts, "<{node}> <text> \"{text}{:06}\" .", node * 7919 % nodes).unwrap();
        for edge in 0..10 {
            writeln!(facts, "<{node}> <next> <{}> .", 1 + (node * (edge + 3) + edge) % nodes)
                .unwrap();
        }
    }
    facts
}

/// A server with data, after what the shell is told first, with a budget of `memory` bytes, or else
/// the default one.
fn start(shell: &str, size: Size, memory: Option<u64>, quick: &str) -> Program {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let schema = file("schema", great::SCHEMA);
    let graphql = file("graphql", great::GRAPHQL_SCHEMA);
    let facts = file("facts.rdf", &facts(size.nodes));
    let memory = memory.map(|bytes| bytes.to_string());
    let mut arguments = vec!["--schema", &schema, "--load", &facts];
    arguments.extend(memory.iter().flat_map(|memory| ["--memory", memory.as_str()]));
    arguments.extend(["--graphql-schema", &graphql]);
    let high =
        ["memory=1TiB", "result=1TiB", "edges=1000000000", "normalize=1000000000", "timeout=30s"];
    let high = high.map(|limit| limit.replace("1TiB", "1000GiB"));
    arguments.extend(high.iter().flat_map(|limit| ["--limit", limit.as_str()]));
    arguments.extend(["--limit", "body=256MiB", "--limit", "frontier=1000000000"]);
    arguments.extend(["--admission", quick, "--admission", "slow=24", "--admission", "queue=10s"]);
    arguments.extend(["--connection", "header=5s", "--connection", "stall=5s"]);
    Program::start(&format!("ulimit -n 8192; {shell}"), &arguments)
}

fn describe(name: &str, (before, peak): (u64, u64), statuses: &Statuses) {
    println!(
        "{name}: from {} up to {} MiB; statuses {:?}",
        before / MIB,
        peak / MIB,
        statuses.lock().unwrap()
    );
}

/// Tries something, and looks at the server meanwhile and afterwards.
fn besiege(server: &mut Program, size: Size, (name, attack): (&str, Attack)) {
    let before = server.anonymous();
    let statuses = Statuses::default();
    let siege = Siege { address: server.address, size, statuses: &statuses };
    let watch = Watch::start(server.address, SECOND / 50, Some(POINT));
    let end = Instant::now() + size.lasts;
    let peak = thread::scope(|scope| {
        let siege = &siege;
        let busy = scope.spawn(move || attack(siege, end));
        let mut peak = 0;
        while !busy.is_finished() {
            server.check_alive();
            peak = peak.max(server.anonymous());
            sleep(SECOND / 500);
        }
        peak
    });
    let seen = watch.stop();
    describe(name, (before, peak), &statuses);
    assert!(peak < size.bound, "{name}: {peak} bytes of {}", size.bound);
    seen.check(name, PATIENCE / 10);
}

/// Waits until what was taken is given back, while the server answers small requests: what threads
/// that have ended leave behind is taken over by those that go on, so one that is asked nothing
/// keeps it.
fn settle(server: &mut Program, before: u64) {
    let started = Instant::now();
    loop {
        server.check_alive();
        let now = server.anonymous();
        if now < before + 64 * MIB {
            return println!("{} MiB are left after {:?}", now / MIB, started.elapsed());
        }
        assert!(started.elapsed() < PATIENCE, "{now} bytes, and {before} before");
        check_answers(server);
        sleep(SECOND / 20);
    }
}

fn check_answers(server: &Program) {
    let reported = server.connect().query(POINT);
    assert_eq!(reported.status, 200, "{}", reported.text());
    assert!(reported.text().contains("\"name\":\"n7\",\"rank\":7"), "{}", reported.text());
}

#[test]
fn one_after_the_other_and_together_they_stay_below_the_bound() {
    let _turn = turn();
    let size = size();
    let mut server = start("", size, Some(size.bound), "quick=2ms");
    check_answers(&server);
    let before = server.anonymous();
    let all: (_, Attack) = ("all together", together);
    for attack in ATTACKS.into_iter().chain([all]) {
        besiege(&mut server, size, attack);
        settle(&mut server, before);
    }
    check_answers(&server);
}

/// The address space has space for what the server maps when it begins, and for the bound: an
/// allocation beyond that fails, and would abort it. The default budget is a third of the room: the
/// rest is for stacks, and for addresses that the allocator has reserved.
#[test]
fn without_address_space_for_more_they_abort_nothing() {
    let _turn = turn();
    let size = size();
    // Unoptimised, and where each page has to be begged for, a point query may compute for some
    // times the 2 ms of the default.
    let quick = "quick=20ms";
    let mapped = start("", Size { nodes: 10, ..size }, None, quick).address_space();
    let kilobytes = (mapped + size.bound) / 1024;
    let mut server = start(&format!("ulimit -v {kilobytes};"), size, None, quick);
    let before = server.anonymous();
    besiege(&mut server, size, ("all together, without address space", together));
    settle(&mut server, before);
    check_answers(&server);
}
