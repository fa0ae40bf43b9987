//! `hexgraph serve` as a process of its own, under the limits of a shell, and what the system knows
//! of it.

use super::wire::Line;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

/// A server. It is killed when this is dropped.
pub struct Program {
    child: Child,
    /// Where it answers.
    pub address: SocketAddr,
    log: Arc<Mutex<String>>,
}

impl Program {
    /// Starts one after what the shell is told first, like `ulimit -n 1024;`.
    pub fn start(shell: &str, arguments: &[&str]) -> Program {
        let binary = env!("CARGO_BIN_EXE_hexgraph");
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(format!("{shell} exec \"$0\" serve --port 0 \"$@\""))
            .arg(binary)
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let (errors, retained) = (child.stderr.take().unwrap(), Arc::clone(&log));
        std::thread::spawn(move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                *retained.lock().unwrap() += &format!("{line}\n");
            }
        });
        // A load is told first.
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let address = said.find_map(|line| {
            let address = line.split("://").nth(1)?.split(' ').next()?;
            address.parse().ok()
        });
        let Some(address) = address else {
            // Nobody else would end it.
            let _ = child.kill();
            let _ = child.wait();
            panic!("it does not say where it answers: {}", log.lock().unwrap());
        };
        Program { child, address, log }
    }

    /// A connection to it.
    pub fn connect(&self) -> Line {
        Line::connect(self.address)
    }

    /// What it has logged.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// What it logged, as soon as that has a text, or after ten seconds: another thread reads it.
    pub fn log_with(&self, text: &str) -> String {
        let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
        loop {
            let log = self.log();
            if log.contains(text) || end < std::time::Instant::now() {
                return log;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    /// The files and sockets that it has open.
    pub fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// The bytes of anonymous memory that it has: heaps and stacks.
    pub fn anonymous(&self) -> u64 {
        self.status("RssAnon:")
    }

    /// The bytes of its address space, with what it has only mapped.
    pub fn address_space(&self) -> u64 {
        self.status("VmSize:")
    }

    /// A line of what the system tells of it, in bytes; 0 when it has ended.
    fn status(&self, name: &str) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kilobytes.unwrap_or(0) * 1024
    }

    /// How many it may have open from now on.
    pub fn limit_descriptors(&self, most: usize) {
        let pid = Pid::from_child(&self.child);
        let limit = Rlimit { current: Some(most as u64), maximum: Some(20_000) };
        prlimit(Some(pid), Resource::Nofile, limit).unwrap();
    }

    /// Has it end gently.
    pub fn end(&self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
    }

    /// Fails where it has ended.
    pub fn check_alive(&mut self) {
        let ended = self.child.try_wait().unwrap();
        assert!(ended.is_none(), "{ended:?}\n{}", self.log());
    }

    /// A schema, and data for it.
    pub fn fill(&self, schema: &str, facts: &str) {
        let mut line = self.connect();
        let done = line.post("/alter", "application/dql", schema.as_bytes());
        assert!(done.text().contains("Success"), "{}", done.text());
        let body = format!("{{ set {{ {facts} }} }}");
        let done = line.post("/mutate?commitNow=true", "application/rdf", body.as_bytes());
        assert!(done.text().contains("Success"), "{}", done.text());
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
