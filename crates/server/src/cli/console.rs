//! `hexgraph console`: a server for one browser on this machine, which stops with the terminal.

use super::arguments::ConsoleArguments;
use super::given::{report_recovery, set_memory};
use super::interrupt::Interrupt;
use super::output::print;
use super::quote::Done;
use super::requests::check_exists;
use crate::http::{Ended, GrpcPort, Security, ServeOptions, Server};
use hexgraph::db::{Database, OpenOptions};
use hexgraph_base::types::{Error, Result};
use std::io::Read;
use std::time::Duration;
use std::{fs, io, thread};
use tokio::sync::oneshot;

/// The interval at which the commits of other processes are read.
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);

/// Serves a database to one browser until the terminal or that browser stops it.
///
/// # Errors
///
/// Those of opening the database and of binding the port.
pub(super) fn console(arguments: &ConsoleArguments, interrupt: Interrupt) -> Done {
    let ConsoleArguments { path, write, no_browser, port } = arguments;
    if path.to_str().is_some_and(|path| path.contains("://")) {
        let message = "the console opens a database on this machine, and not a server";
        let hint = "open the address of a hexgraph server in a browser: it has a console at /";
        return Err(Error::query(message).with_hint(hint).into());
    }
    check_exists(path)?;
    let mut options = OpenOptions { read_only: !write, ..OpenOptions::default() };
    set_memory(&mut options, None)?;
    let database = Database::open(path, options)?;
    report_recovery(database.recovery()?);
    let mut security = Security::default();
    let token = security.open_session()?;
    let signals = interrupt.listen();
    let serving =
        ServeOptions { port: Some(*port), grpc: GrpcPort::Off, security, ..Default::default() };
    let mut server = Server::start(database.clone(), serving)?;
    let url = format!("{}/#token={token}", server.url());
    let may = if *write { "" } else { ", read-only: --write allows changes" };
    let (shown, line) = (path.display(), "works once; Ctrl-C stops it");
    print(format!("{url}\nThe console of {shown}{may} (the URL {line})\n").as_bytes())?;
    if !no_browser && has_display() {
        // The URL is printed, and can be opened by hand.
        if let Err(error) = open::that_detached(&url) {
            eprintln!("warning: no browser was opened: {error}");
        }
    }
    if let Some(end) = server.ended() {
        if !write {
            follow(&database, end.clone())?;
        }
        signals.wait(Some(end), closed_input());
    }
    server.stop();
    Ok(database.close()?)
}

/// Whether a browser can be opened outside the terminal.
fn has_display() -> bool {
    // On other systems there is always one.
    let variables = ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"];
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(any(windows, target_os = "macos")) || variables.iter().any(is_set)
}

/// Shows what other processes commit, until the server has stopped.
fn follow(database: &Database, end: Ended) -> Result<()> {
    let database = database.clone();
    let mut last = String::new();
    let work = move || {
        while !end.is_over() {
            thread::sleep(REFRESH_INTERVAL);
            let fault = database.refresh().err().map(|error| error.to_string());
            let fault = fault.filter(|_| !end.is_over()).unwrap_or_default();
            if !fault.is_empty() && fault != last {
                eprintln!("warning: changes of other processes are not shown: {fault}");
            }
            last = fault;
        }
    };
    let thread = thread::Builder::new().name("hexgraph-follow".to_owned()).spawn(work);
    thread.map_err(|error| Error::io("starting a thread", error)).map(drop)
}

/// Resolves when the standard input is closed, if that is a pipe: the program at its other end has
/// started the console, and is gone. The end of a terminal is a signal, and a file or no input at
/// all says nothing.
fn closed_input() -> Option<oneshot::Receiver<()>> {
    if !is_pipe() {
        return None;
    }
    let (closed, reports) = oneshot::channel();
    let read = move || {
        // An error is an end, too; what is read is nothing to the console.
        let mut chunk = [0; 1024];
        while io::stdin().lock().read(&mut chunk).is_ok_and(|length| 0 < length) {}
        let _ = closed.send(());
    };
    thread::Builder::new().name("hexgraph-input".to_owned()).spawn(read).ok()?;
    Some(reports)
}

#[cfg(unix)]
fn is_pipe() -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileTypeExt;
    let input = io::stdin().as_fd().try_clone_to_owned();
    let kind = input.and_then(|input| fs::File::from(input).metadata()).map(|it| it.file_type());
    kind.is_ok_and(|kind| kind.is_fifo() || kind.is_socket())
}

#[cfg(not(unix))]
fn is_pipe() -> bool {
    false
}
