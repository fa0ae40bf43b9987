//! Nothing that was acknowledged is lost, and nothing is half there: a process commits from several
//! threads and is killed at some moment, during recovery, checkpoints and its end too; then all it
//! said it had done is compared with what is found, again and again in the same directory.
//!
//! `HEXGRAPH_TORTURE_ROUNDS` says how often (50), `HEXGRAPH_TORTURE_SEED` with which operations
//! (random ones). A failure tells its seed and keeps its directory; the moments of the kills are
//! those of that run alone.

mod operations;
mod state;

use super::process;
use super::process::{number_from_environment, say};
use fastrand::Rng;
use hexgraph::db::{Database, OpenOptions, Thresholds};
use operations::{Operation, THREADS};
use state::{Acknowledged, Model, export};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const DIRECTORY: &str = "HEXGRAPH_TORTURE_DIRECTORY";
const DATA_SEED: &str = "HEXGRAPH_TORTURE_DATA";
const SYNC: &str = "HEXGRAPH_TORTURE_SYNC";
/// All is dropped first; the number of the next generation.
const DROP: &str = "HEXGRAPH_TORTURE_DROP";
/// So many milliseconds until it is closed.
const CLOSE_AFTER: &str = "HEXGRAPH_TORTURE_CLOSE_AFTER";

/// In so many rounds on the average a directory is left for a new one.
const ROUNDS_OF_A_DIRECTORY: u64 = 12;

#[test]
fn kills_lose_nothing() {
    let rounds = number_from_environment("HEXGRAPH_TORTURE_ROUNDS").unwrap_or(50);
    let seed = number_from_environment("HEXGRAPH_TORTURE_SEED");
    let seed = seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
    let folder = tempfile::tempdir().unwrap().keep();
    let mut run = Run::new(seed, folder.clone());
    while run.round < rounds {
        run.do_round();
        run.round += 1;
    }
    println!("torture: seed {seed}, {rounds} rounds, {} operations", run.operations);
    drop(run);
    std::fs::remove_dir_all(folder).unwrap();
}

/// All rounds.
struct Run {
    seed: u64,
    rng: Rng,
    round: u64,
    /// Where everything is.
    folder: PathBuf,
    /// The database.
    directory: PathBuf,
    data_seed: u64,
    generation: u64,
    model: Model,
    /// A reader that outlives the writers; `None` while there is nothing to read.
    follower: Option<Database>,
    operations: u64,
}

/// How the process ends.
#[derive(Debug, Clone, Copy)]
enum End {
    /// Killed so long after its start.
    KilledAfter(Duration),
    /// Killed so long after it began to commit.
    KilledWriting(Duration),
    /// Killed so long after it began to close.
    KilledClosing(Duration),
    Closed,
}

impl Run {
    fn new(seed: u64, folder: PathBuf) -> Run {
        let mut run = Run {
            seed,
            rng: Rng::with_seed(seed),
            round: 0,
            directory: PathBuf::new(),
            folder,
            data_seed: 0,
            generation: 0,
            model: Model::new(0),
            follower: None,
            operations: 0,
        };
        run.begin_directory();
        run
    }

    fn begin_directory(&mut self) {
        self.data_seed = self.rng.u64(..);
        self.model = Model::new(self.data_seed);
        self.follower = None;
        // A directory that failed is retained, so those that did not are of no use.
        let _ = std::fs::remove_dir_all(&self.directory);
        self.directory = self.folder.join(format!("database-{}", self.round));
    }

    fn do_round(&mut self) {
        if self.rng.u64(0..ROUNDS_OF_A_DIRECTORY) == 0 {
            self.begin_directory();
        }
        let end = match self.rng.u8(0..10) {
            0..3 => End::KilledAfter(Duration::from_micros(self.rng.u64(0..30_000))),
            3..5 => End::KilledAfter(Duration::from_micros(self.rng.u64(0..200_000))),
            5..8 => End::KilledWriting(Duration::from_micros(self.rng.u64(0..200_000))),
            8 => End::KilledClosing(Duration::from_micros(self.rng.u64(0..10_000))),
            _ => End::Closed,
        };
        let acknowledged = self.write(end);
        self.operations += acknowledged.operations;
        if self.rng.u8(0..8) == 0 {
            self.add_garbage();
        }
        self.inspect(&acknowledged);
    }

    /// Has a process write until its end. Returns what it acknowledged.
    fn write(&mut self, end: End) -> Acknowledged {
        let sync = ["always", "every=20ms", "never"][self.rng.usize(0..3)];
        let mut environment = vec![
            (DIRECTORY, self.directory.display().to_string()),
            (DATA_SEED, self.data_seed.to_string()),
            (SYNC, sync.to_owned()),
        ];
        if self.rng.u8(0..10) == 0 || self.model.is_empty() {
            self.generation += 1;
            environment.push((DROP, self.generation.to_string()));
        }
        if matches!(end, End::KilledClosing(_) | End::Closed) {
            environment.push((CLOSE_AFTER, self.rng.u64(0..100).to_string()));
        }
        let mut process = process::start("torture::writer_process", &environment);
        let mut acknowledged = Acknowledged::default();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            if let Some(follower) = &self.follower {
                scope.spawn(|| follow(follower, &is_over));
            }
            let lines = process.lines.iter();
            match end {
                End::KilledAfter(time) => thread::sleep(time),
                End::KilledWriting(time) => {
                    acknowledged.hear_up_to(lines, "writing");
                    thread::sleep(time);
                }
                End::KilledClosing(time) => {
                    acknowledged.hear_up_to(lines, "closing");
                    thread::sleep(time);
                }
                End::Closed => acknowledged.hear_up_to(lines, ""),
            }
            is_over.store(true, Ordering::Relaxed);
        });
        if !matches!(end, End::Closed) {
            process.child.kill().unwrap();
        }
        acknowledged.hear_up_to(process.lines.iter(), "");
        let status = process.child.wait().unwrap();
        assert!(status.success() || !matches!(end, End::Closed), "{status}");
        acknowledged
    }

    /// Appends to the log that `CURRENT` names last what a commit may leave that was not written
    /// completely. A log that is not named yet gets no record, so bytes there would be damage,
    /// which is refused.
    fn add_garbage(&mut self) {
        let Ok(current) = std::fs::read_to_string(self.directory.join("CURRENT")) else { return };
        let mut named = current.lines().filter_map(|line| line.strip_prefix("log "));
        let Some(name) = named.next().and_then(|rest| rest.split(' ').next()) else { return };
        let log = self.directory.join(name);
        let garbage: Vec<u8> = (0..self.rng.usize(1..300)).map(|_| self.rng.u8(..)).collect();
        let mut log = std::fs::File::options().append(true).open(log).unwrap();
        log.write_all(&garbage).unwrap();
    }

    fn inspect(&mut self, acknowledged: &Acknowledged) {
        if !self.directory.join("CURRENT").exists() {
            assert!(self.model.is_empty() && acknowledged.ready.is_none(), "it was lost");
            return;
        }
        hexgraph::db::check(&self.directory).unwrap();
        let reader = self.open(true);
        let result = self.model.follow(&reader, acknowledged, &self.folder);
        let lines = export(&reader, &self.folder);
        let follower = self.follower.get_or_insert_with(|| reader.clone());
        assert_eq!(follower.refresh().unwrap(), reader.commit().unwrap());
        assert!(export(follower, &self.folder) == lines, "who follows reads something else");
        // In the other rounds the next process finds it as it was left.
        if self.rng.bool() {
            return;
        }
        for is_again in [false, true] {
            let writer = self.open(false);
            assert_eq!(writer.commit().unwrap(), reader.commit().unwrap());
            let state = state::State::of(&writer, &self.folder);
            state.assert_same(&result, "writer and reader differ");
            assert!(export(&writer, &self.folder) == lines, "the order of an export differs");
            if is_again && self.rng.bool() {
                writer.checkpoint().unwrap();
            }
            if self.rng.bool() {
                writer.close().unwrap();
            }
        }
        let checked = hexgraph::db::check(&self.directory).unwrap();
        assert_eq!(checked.tail, 0);
    }

    fn open(&self, read_only: bool) -> Database {
        let options = OpenOptions { read_only, threads: 2, ..OpenOptions::default() };
        Database::open(&self.directory, options).unwrap()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if thread::panicking() {
            println!(
                "torture failed in round {}: HEXGRAPH_TORTURE_SEED={} has the same operations; \
                 the directory is kept: {}",
                self.round,
                self.seed,
                self.directory.display()
            );
        }
    }
}

/// Reads what a writer does meanwhile: whole commits, and nothing backwards.
fn follow(reader: &Database, is_over: &AtomicBool) {
    let mut before = (0, None, [0; THREADS as usize]);
    while !is_over.load(Ordering::Relaxed) {
        let commit = reader.refresh().unwrap();
        let balances = operations::balances(reader);
        let is_complete = balances.is_empty() || balances.iter().sum::<i64>() == operations::TOTAL;
        assert!(is_complete, "the reader saw half a transfer: {balances:?}");
        let (generation, last) = operations::progress(reader);
        let grows = generation != before.1 || before.2.iter().zip(&last).all(|(a, b)| a <= b);
        assert!(before.0 <= commit && grows, "{:?} came after {before:?}", (commit, last));
        before = (commit, generation, last);
        thread::sleep(Duration::from_millis(1));
    }
}

impl Acknowledged {
    /// Hears all lines up to the one that is `last`.
    fn hear_up_to(&mut self, lines: impl Iterator<Item = String>, last: &str) {
        for line in lines {
            self.hear(&line);
            if line == last && !last.is_empty() {
                return;
            }
        }
    }

    fn hear(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |position: usize| words[position].parse::<u64>().unwrap();
        match words[0] {
            "done" => {
                self.last[number(1) as usize] = number(2);
                self.operations += 1;
                if number(3) < number(4) {
                    self.assigned.push(number(3)..number(4));
                }
            }
            "ready" => self.ready = Some(number(1)),
            "dropping" => self.dropping = Some(number(1)),
            "dropped" => self.dropped = true,
            "fail" => panic!("the writer failed: {line}"),
            _ => {}
        }
    }
}

/// What the other process does: nothing where no directory is named.
#[test]
fn writer_process() {
    let Ok(directory) = std::env::var(DIRECTORY) else { return };
    process::report_failures();
    let mut options = OpenOptions {
        threads: 2,
        checkpoint: 20_000,
        thresholds: Thresholds::small_background(),
        ..OpenOptions::default()
    };
    options.set_sync(&std::env::var(SYNC).unwrap()).unwrap();
    let db = Database::open(Path::new(&directory), options).unwrap();
    begin_generation(&db);
    say("writing");
    let seed = number_from_environment(DATA_SEED).unwrap();
    let (_, last) = operations::progress(&db);
    let (stops, closes) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (db, stops, closes) = (&db, &stops, &closes);
            let first = last[thread as usize] + 1;
            scope.spawn(move || {
                for number in first.. {
                    if stops.load(Ordering::Relaxed) {
                        return;
                    }
                    match Operation::new(seed, thread, number).perform(db) {
                        Ok(assigned) => {
                            say(&format!(
                                "done {thread} {number} {} {}",
                                assigned.start, assigned.end
                            ));
                        }
                        Err(_) if closes.load(Ordering::Relaxed) => return,
                        Err(error) => panic!("{error}: {:?}", Operation::new(seed, thread, number)),
                    }
                }
            });
        }
        let time = number_from_environment(CLOSE_AFTER).unwrap_or(10_000);
        thread::sleep(Duration::from_millis(time));
        if time.is_multiple_of(2) {
            stops.store(true, Ordering::Relaxed);
            return;
        }
        close(&db, &closes);
    });
    close(&db, &closes);
}

fn begin_generation(db: &Database) {
    let (generation, _) = operations::progress(db);
    let next = number_from_environment(DROP);
    if let (Some(next), Some(_)) = (next, generation) {
        say(&format!("dropping {next}"));
        db.drop(&operations::drop_before(next)).unwrap();
        say("dropped");
    }
    if let Some(next) = next.or_else(|| generation.is_none().then_some(0)) {
        operations::set_up(db, next).unwrap();
        say(&format!("ready {next}"));
    }
}

fn close(db: &Database, closes: &AtomicBool) {
    closes.store(true, Ordering::Relaxed);
    say("closing");
    db.close().unwrap();
    say("closed");
}
