//! Other processes: this test program again, which does what one of its own tests says.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::sync::mpsc::Receiver;

/// A process, and what it says. It is killed when this is dropped.
pub struct Process {
    pub child: Child,
    /// Its lines, as they come. It ends with the process.
    pub lines: Receiver<String>,
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a process that runs the test `name` with these variables in its environment.
pub fn start(name: &str, environment: &[(&str, String)]) -> Process {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .envs(environment.iter().map(|(key, value)| (key, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        // A process that is killed may have said half a line.
        for line in stdout.lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    Process { child, lines }
}

/// Says a line to the process that started this one: with the entire line or nothing of it in the
/// pipe when this process is killed. Nobody may listen any more.
pub fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(format!("{line}\n").as_bytes());
    let _ = out.flush();
}

/// Has panics of this process said as lines that begin with `fail`, and ends the line that the test
/// runner has begun.
pub fn report_failures() {
    say("");
    std::panic::set_hook(Box::new(|panic| {
        say(&format!("fail {}", panic.to_string().replace('\n', " | ")));
    }));
}

/// The number in a variable of the environment.
pub fn number_from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a whole number"))
}
