//! `hexgraph serve` as a process of its own, under the limits of a shell, and what the system knows of it.

use super::wire::Line;
use rustix::process::Pid;
use rustix::process::Resource;
use rustix::process::Rlimit;
use rustix::process::prlimit;
use std::io::BufRead;
use std::io::BufReader;
use std::net::SocketAddr;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::Mutex;

/// A server. It is killed when this is dropped.
pub struct Program {
    child: Child,
    /// Where it answers.
    pub address: SocketAddr,
    log: Arc<Mutex<String>>,
}

impl Program {
    /// Starts one behind what the shell is told first, like `ulimit -n 1024;`.
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
        let (errors, kept) = (child.stderr.take().unwrap(), Arc::clone(&log));
        std::thread::spawn(move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                *kept.lock().unwrap() += &format!("{line}\n");
            }
        });
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let address = first.split("http://").nth(1).and_then(|rest| rest.split(' ').next());
        let address = address.unwrap_or_else(|| panic!("{first} {}", log.lock().unwrap()));
        let address = address.parse().unwrap();
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

    /// The files and sockets that it has open.
    pub fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// How many it may have open from now on.
    pub fn limit_descriptors(&self, most: usize) {
        let pid = Pid::from_child(&self.child);
        let limit = Rlimit { current: Some(most as u64), maximum: Some(20_000) };
        prlimit(Some(pid), Resource::Nofile, limit).unwrap();
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
