//! Snapshot isolation, for all who may come at once: transactions in the process of a database that
//! lives in a directory, transactions over HTTP, requests without a transaction, and readers in
//! other processes. What all of them did and saw is checked as one history.
//!
//! `HEXGRAPH_ISOLATION_SECONDS` says how long (6), `HEXGRAPH_ISOLATION_SEED` with which
//! transactions (random ones).

mod client;
mod history;
mod matrix;

use super::process;
use super::process::{number_from_environment, say};
use client::{
    Aborted, Client, FIRST_ACCOUNT, FIRST_COUNTER, FIRST_REGISTER, Inside, OverHttp, Session,
};
use fastrand::Rng;
use hexgraph::db::{Database, LoadOptions, OpenOptions, Source, Thresholds};
use hexgraph_server::http::{ServeOptions, Server};
use history::{ACCOUNTS, Change, Event, REGISTERS, Reading};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const DIRECTORY: &str = "HEXGRAPH_ISOLATION_DIRECTORY";

const SCHEMA: &str = "history: string .\nbalance: int @index(int) .\ncounter: int .";

const POLICIES: [&str; 3] = ["always", "every=5ms", "never"];

/// A run goes on until there are so many commits, but not for so long beyond its time.
const COMMITS_LEAST: u64 = 100;
const LATE_MOST: Duration = Duration::from_secs(30);

/// What all clients share.
struct World {
    until: Instant,
    commits: AtomicU64,
    /// The number of the newest commit that was acknowledged to anybody.
    acknowledged: AtomicU64,
    /// Counts the moments.
    clock: AtomicU64,
    /// The next thing to be appended.
    next: AtomicU64,
}

impl World {
    /// Where a disk is slow it takes longer: a history of a few commits shows nothing.
    fn is_over(&self) -> bool {
        let late = self.until.elapsed();
        let is_enough = COMMITS_LEAST <= self.commits.load(Ordering::Relaxed);
        self.until <= Instant::now() && (is_enough || LATE_MOST < late)
    }

    fn floor(&self) -> u64 {
        self.acknowledged.load(Ordering::SeqCst)
    }

    fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    fn acknowledge(&self, commit: u64) {
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.acknowledged.fetch_max(commit, Ordering::SeqCst);
    }
}

#[test]
fn all_clients_are_isolated() {
    let seconds = number_from_environment("HEXGRAPH_ISOLATION_SECONDS").unwrap_or(6);
    let seed = number_from_environment("HEXGRAPH_ISOLATION_SEED");
    let seed = seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
    println!("isolation: HEXGRAPH_ISOLATION_SEED={seed}");
    let mut rng = Rng::with_seed(seed);
    // The checker keeps all states, so a long test is several short ones.
    let runs = seconds.div_ceil(10).max(1) * POLICIES.len() as u64;
    for policy in POLICIES.iter().cycle().take(runs as usize) {
        run(Duration::from_secs(seconds) / runs as u32, policy, &mut rng);
    }
}

fn run(length: Duration, policy: &str, rng: &mut Rng) {
    let folder = tempfile::tempdir().unwrap();
    let mut options = OpenOptions {
        checkpoint: 20_000,
        threads: 2,
        thresholds: Thresholds::small_background(),
        ..OpenOptions::default()
    };
    options.set_sync(policy).unwrap();
    let db = Database::open(folder.path(), options).unwrap();
    db.alter(SCHEMA).unwrap();
    let account = |position| format!("<{:#x}> <balance> \"100\" .\n", FIRST_ACCOUNT + position);
    db.mutate(&(0..ACCOUNTS).map(account).collect::<String>(), "").unwrap();
    let mut server =
        Server::start(db.clone(), ServeOptions { port: Some(0), ..ServeOptions::default() })
            .unwrap();
    let world = World {
        until: Instant::now() + length,
        commits: AtomicU64::new(0),
        acknowledged: AtomicU64::new(0),
        clock: AtomicU64::new(1),
        next: AtomicU64::new(1),
    };
    let inside = || Inside { database: db.clone() };
    let http = || OverHttp { address: server.address().unwrap() };
    let world = &world;
    let mut history = Vec::new();
    thread::scope(|scope| {
        let mut threads = Vec::new();
        let mut seed = || Rng::with_seed(rng.u64(..));
        for counter in 0..3 {
            let (one, other) = (inside(), http());
            let (mine, its) = (seed(), seed());
            threads.push(scope.spawn(move || transact(world, &one, counter, mine)));
            threads.push(scope.spawn(move || transact(world, &other, 3 + counter, its)));
        }
        let (one, other) = (inside(), http());
        let (mine, its) = (seed(), seed());
        threads.push(scope.spawn(move || move_at_once(world, &one, 6, mine)));
        threads.push(scope.spawn(move || move_at_once(world, &other, 7, its)));
        let (one, other) = (inside(), http());
        threads.push(scope.spawn(move || read_only(world, &one, "a reader inside")));
        threads.push(scope.spawn(move || read_only(world, &other, "a reader over HTTP")));
        for number in 0..2 {
            let path = folder.path();
            threads.push(scope.spawn(move || follow(world, path, number)));
        }
        let disturbed = seed();
        let db = &db;
        scope.spawn(move || disturb(world, db, disturbed));
        threads.into_iter().for_each(|thread| history.extend(thread.join().unwrap()));
    });
    let (last, _) = inside().read();
    let commits = history.iter().filter(|event| event.commit.is_some()).count();
    let reads = history.iter().filter(|event| event.read.is_some()).count();
    println!("isolation: sync={policy}, {commits} commits, {reads} reads");
    assert!(0 < commits && 0 < reads);
    history::check(&history, &last);
    server.stop();
    db.close().unwrap();
}

/// Transactions that read all, append and move, read again, and are committed or not.
fn transact<C: Client>(world: &World, client: &C, counter: usize, mut rng: Rng) -> Vec<Event> {
    let mut events = Vec::new();
    let mut count = 0;
    while !world.is_over() {
        let floor = world.floor();
        let mut session = client.begin();
        let read = session.read().expect("nobody aborts what has changed nothing");
        let mut event = Event {
            client: format!("client {counter}"),
            floor,
            read: Some(read.clone()),
            read_at: world.now(),
            read_commit: None,
            change: Change::default(),
            counted: Some(counter),
            commit: None,
        };
        let change = |session: &mut C::Session<'_>, event: &mut Event, rng: &mut Rng| {
            fill(world, session, event, &read, rng)?;
            let line = format!("<{:#x}> <counter> \"{}\" .", FIRST_COUNTER + counter, count + 1);
            session.write(&line)
        };
        let is_done = change(&mut session, &mut event, &mut rng);
        if is_done.is_err() {
            assert!(matches!(session.commit(), Err(Aborted)), "its changes were gone");
        } else if rng.u8(0..6) == 0 {
            session.discard();
        } else {
            let requested = world.now();
            if let Ok(commit) = session.commit() {
                world.acknowledge(commit);
                event.commit = Some((requested, commit));
                count += 1;
            }
        }
        events.push(event);
        thread::sleep(Duration::from_micros(rng.u64(0..3000)));
    }
    events
}

/// Changes a few things in a transaction, which goes on to see what it saw first and what it
/// changed itself.
fn fill<S: Session>(
    world: &World,
    session: &mut S,
    event: &mut Event,
    read: &Reading,
    rng: &mut Rng,
) -> Result<(), Aborted> {
    let mut seen = read.clone();
    for _ in 0..rng.u8(0..4) {
        let mut change = Change::default();
        if rng.u8(0..3) == 0 {
            let (from, to, amount) = transfer(rng);
            change.moved = [(from, -amount), (to, amount)].into();
        } else {
            let id = world.next.fetch_add(1, Ordering::Relaxed);
            change.appended.insert(rng.usize(0..REGISTERS), vec![id]);
        }
        seen.apply(&change);
        session.write(&lines(&change, &seen))?;
        for (register, ids) in change.appended {
            event.change.appended.entry(register).or_default().extend(ids);
        }
        for (account, amount) in change.moved {
            *event.change.moved.entry(account).or_default() += amount;
        }
        if rng.bool() {
            check_again(session.read()?, &seen, read)?;
        }
        thread::sleep(Duration::from_micros(rng.u64(0..1000)));
    }
    check_again(session.read()?, &seen, read)
}

/// Reads are repeatable: what a transaction saw, and its own changes. When it was aborted, which a
/// client over HTTP does not learn before the commit, some of its own changes are gone.
fn check_again(again: Reading, seen: &Reading, read: &Reading) -> Result<(), Aborted> {
    if again == *seen {
        return Ok(());
    }
    let mut without = again.clone();
    for (position, register) in without.registers.iter_mut().enumerate() {
        if *register == seen.registers[position] {
            register.clone_from(&read.registers[position]);
        }
    }
    for (position, balance) in without.balances.iter_mut().enumerate() {
        if *balance == seen.balances[position] {
            *balance = read.balances[position];
        }
    }
    assert_eq!(without, *read, "a transaction saw first one thing and then another");
    Err(Aborted)
}

/// What is written so that everything a change is about becomes what it is in `after`.
fn lines(change: &Change, after: &Reading) -> String {
    let mut lines = String::new();
    for register in change.appended.keys() {
        let ids = after.registers[*register].iter().map(|id| format!("{id} "));
        let ids: String = ids.collect();
        lines += &format!("<{:#x}> <history> \"{ids}\" .\n", FIRST_REGISTER + register);
    }
    for account in change.moved.keys() {
        let balance = after.balances[*account];
        lines += &format!("<{:#x}> <balance> \"{balance}\" .\n", FIRST_ACCOUNT + account);
    }
    lines
}

fn transfer(rng: &mut Rng) -> (usize, usize, i64) {
    let from = rng.usize(0..ACCOUNTS);
    (from, (from + rng.usize(1..ACCOUNTS)) % ACCOUNTS, rng.i64(1..30))
}

/// Transfers that the database computes, a request each.
fn move_at_once<C: Client>(world: &World, client: &C, counter: usize, mut rng: Rng) -> Vec<Event> {
    let mut events = Vec::new();
    while !world.is_over() {
        let (from, to, amount) = transfer(&mut rng);
        let (a, b) = (FIRST_ACCOUNT + from, FIRST_ACCOUNT + to);
        let (own, count) = (FIRST_COUNTER + counter, events.len() + 1);
        let text = format!(
            "upsert {{ query {{ a as var(func: uid({a:#x})) {{ x as balance \
             nx as math(x - {amount}) }} b as var(func: uid({b:#x})) {{ y as balance \
             ny as math(y + {amount}) }} }} mutation {{ set {{ uid(a) <balance> val(nx) .\n \
             uid(b) <balance> val(ny) .\n <{own:#x}> <counter> \"{count}\" . }} }} }}"
        );
        let (floor, requested) = (world.floor(), world.now());
        let commit = client.mutate(&text);
        world.acknowledge(commit);
        assert!(floor < commit);
        events.push(Event {
            client: format!("client {counter}"),
            floor,
            read: None,
            read_at: requested,
            read_commit: None,
            change: Change {
                appended: Default::default(),
                moved: [(from, -amount), (to, amount)].into(),
            },
            counted: Some(counter),
            commit: Some((requested, commit)),
        });
        thread::sleep(Duration::from_micros(rng.u64(0..6000)));
    }
    events
}

fn read_only<C: Client>(world: &World, client: &C, name: &str) -> Vec<Event> {
    let mut events = Vec::new();
    while !world.is_over() {
        let floor = world.floor();
        let (reading, commit) = client.read();
        events.push(seen(world, name.to_owned(), floor, reading, commit));
        thread::sleep(Duration::from_millis(1));
    }
    events
}

fn seen(world: &World, client: String, floor: u64, read: Reading, commit: Option<u64>) -> Event {
    Event {
        client,
        floor,
        read: Some(read),
        read_at: world.now(),
        read_commit: commit,
        change: Change::default(),
        counted: None,
        commit: None,
    }
}

/// Has another process read, as often as it is asked to.
fn follow(world: &World, path: &Path, number: usize) -> Vec<Event> {
    let environment = [(DIRECTORY, path.display().to_string())];
    let mut process = process::start("isolation::reader_process", &environment);
    let mut orders = process.child.stdin.take().unwrap();
    let mut events = Vec::new();
    while !world.is_over() {
        let floor = world.floor();
        orders.write_all(b"read\n").unwrap();
        let line = process.lines.iter().find(|line| {
            assert!(!line.starts_with("fail "), "{line}");
            line.starts_with("saw ")
        });
        let line = line.expect("the reader lives");
        let (commit, json) = line["saw ".len()..].split_once(' ').unwrap();
        let (commit, name) = (commit.parse().unwrap(), format!("process {number}"));
        events.push(seen(world, name, floor, client::reading_of(json), Some(commit)));
    }
    drop(orders);
    assert!(process.child.wait().unwrap().success());
    events
}

/// What the other process does: nothing where no directory is named. For each line that it is
/// told it looks what is new and says what there is; now and then it opens the directory anew.
#[test]
fn reader_process() {
    let Ok(directory) = std::env::var(DIRECTORY) else { return };
    process::report_failures();
    let options = OpenOptions { read_only: true, threads: 1, ..OpenOptions::default() };
    let open = || Inside { database: Database::open(Path::new(&directory), options).unwrap() };
    let mut reader = open();
    for line in std::io::stdin().lines() {
        line.unwrap();
        match fastrand::u8(0..20) {
            0 => reader = open(),
            _ => drop(reader.database.refresh().unwrap()),
        }
        let request = hexgraph::db::QueryRequest {
            text: client::READING.replace('\n', " "),
            ..Default::default()
        };
        let read = || {
            let control = hexgraph::db::RequestContext::new();
            let answer = reader.database.query_with(&request, &control).unwrap();
            (answer.commit(), answer.to_json().unwrap().0)
        };
        let (commit, json) = read();
        assert_eq!((commit, &json), (read().0, &read().1), "nothing changes without a refresh");
        say(&format!("saw {commit} {json}"));
    }
}

/// What else goes on: changes of the schema, which abort transactions, and of the files.
fn disturb(world: &World, db: &Database, mut rng: Rng) {
    let mut number = 0;
    while !world.is_over() {
        number += 1;
        match rng.u8(0..5) {
            0 => {
                let index = ["", "@index(hash)"][number % 2];
                // It fails where it aborts a transaction.
                let _ = db.alter(&format!("history: string {index} ."));
            }
            1 => db.compact().unwrap(),
            2 => db.checkpoint().unwrap(),
            3 => {
                let line = format!("<0x100> <other> \"{number}\" .\n");
                let (source, options) = (Source::Bytes(line.into()), LoadOptions::default());
                db.load_with(source, None, options, &hexgraph::db::RequestContext::new()).unwrap();
            }
            _ => drop(db.mutate(&format!("<0x101> <other> \"{number}\" ."), "").unwrap()),
        }
        thread::sleep(Duration::from_millis(rng.u64(0..60)));
    }
}
