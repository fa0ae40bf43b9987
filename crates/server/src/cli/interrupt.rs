//! How a command learns that it is interrupted.

use crate::http::Ended;
use hexgraph::db::RequestContext;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{io, mem, thread};
use tokio::runtime::{Builder, Runtime};
#[cfg(unix)]
use tokio::signal::unix::Signal;
#[cfg(unix)]
use tokio::signal::unix::SignalKind;
#[cfg(unix)]
use tokio::signal::unix::signal;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Says who handles Ctrl-C.
#[derive(Clone, Copy)]
pub enum Interrupt {
    /// The operating system stops the process, or wakes a server that waits.
    System,
    /// A host that handles signals itself, as Python does, and is polled for them.
    Host(fn() -> bool),
}

impl Interrupt {
    /// Returns the control that stops a load or a query.
    pub fn control(self) -> RequestContext {
        match self {
            Interrupt::System => RequestContext::new(),
            Interrupt::Host(came) => RequestContext::new().with_poll(came),
        }
    }

    /// Whether a host has seen an interrupt; the system would have ended the process.
    pub fn came(self) -> bool {
        match self {
            Interrupt::System => false,
            Interrupt::Host(came) => came(),
        }
    }

    /// Has Ctrl-C stop the request that runs and not the process, from now on.
    ///
    /// # Errors
    ///
    /// `Io` on an error of the operating system a thread or the handler.
    pub(super) fn handled(self) -> io::Result<Interrupt> {
        if matches!(self, Interrupt::Host(_)) {
            return Ok(self);
        }
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let mut presses = {
            let _inside = runtime.enter();
            // Registers the handler at once, and not when the thread runs.
            presses()?
        };
        let handle = move || {
            while runtime.block_on(presses.recv()).is_some() {
                *PRESSED.lock().unwrap_or_else(PoisonError::into_inner) = true;
            }
        };
        thread::Builder::new().name("interrupts".to_owned()).spawn(handle)?;
        Ok(Interrupt::Host(was_pressed))
    }

    /// Waits from now on for a signal that stops a server: whatever comes before `Signals::wait` is
    /// not lost.
    pub fn listen(self) -> Signals {
        let runtime = Builder::new_current_thread().enable_all().build();
        // Without handlers the process still exits at a signal, only less gently.
        let streams = runtime.ok().and_then(|runtime| {
            let streams = {
                let _inside = runtime.enter();
                Streams::new(self).ok()?
            };
            Some((runtime, streams))
        });
        Signals { interrupt: self, streams }
    }
}

/// Whether Ctrl-C was pressed since [`was_pressed`] was called last, where the process handles it.
static PRESSED: Mutex<bool> = Mutex::new(false);

#[cfg(unix)]
fn presses() -> io::Result<Signal> {
    signal(SignalKind::interrupt())
}

#[cfg(windows)]
fn presses() -> io::Result<tokio::signal::windows::CtrlC> {
    tokio::signal::windows::ctrl_c()
}

fn was_pressed() -> bool {
    mem::replace(&mut *PRESSED.lock().unwrap_or_else(PoisonError::into_inner), false)
}

/// Signals that end a server.
pub struct Signals {
    interrupt: Interrupt,
    streams: Option<(Runtime, Streams)>,
}

impl Signals {
    /// Returns when Ctrl-C was pressed, the process got SIGTERM, the server stopped by itself, or
    /// `closed` resolves, where there is such a server or event.
    pub fn wait(self, mut end: Option<Ended>, closed: Option<oneshot::Receiver<()>>) {
        let Some((runtime, mut streams)) = self.streams else {
            let mut closed = closed;
            let mut is_closed =
                || closed.as_mut().is_some_and(|it| it.try_recv() != Err(TryRecvError::Empty));
            let is_over = || end.as_ref().is_some_and(Ended::is_over);
            while !self.interrupt.came() && !is_over() && !is_closed() {
                thread::sleep(POLL_INTERVAL);
            }
            return;
        };
        runtime.block_on(async {
            let closed = async {
                match closed {
                    Some(closed) => drop(closed.await),
                    None => std::future::pending().await,
                }
            };
            let ended = async {
                match &mut end {
                    Some(end) => end.wait().await,
                    None => std::future::pending().await,
                }
            };
            tokio::pin!(closed, ended);
            loop {
                tokio::select! {
                    () = &mut closed => return,
                    () = streams.next() => return,
                    () = &mut ended => return,
                    () = tokio::time::sleep(POLL_INTERVAL) => {}
                }
                if self.interrupt.came() {
                    return;
                }
            }
        });
    }
}

/// The signals themselves. A host that handles Ctrl-C goes on doing so; it does not handle SIGTERM.
#[cfg(unix)]
struct Streams {
    interrupt: Option<Signal>,
    terminate: Signal,
}

#[cfg(unix)]
impl Streams {
    fn new(interrupt: Interrupt) -> io::Result<Streams> {
        let is_ours = matches!(interrupt, Interrupt::System);
        let interrupt = is_ours.then(|| signal(SignalKind::interrupt())).transpose()?;
        Ok(Streams { interrupt, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        match &mut self.interrupt {
            None => drop(self.terminate.recv().await),
            Some(interrupt) => tokio::select! {
                _ = interrupt.recv() => {}
                _ = self.terminate.recv() => {}
            },
        }
    }
}

#[cfg(not(unix))]
struct Streams {
    interrupt: Interrupt,
}

#[cfg(not(unix))]
impl Streams {
    fn new(interrupt: Interrupt) -> io::Result<Streams> {
        Ok(Streams { interrupt })
    }

    async fn next(&mut self) {
        match self.interrupt {
            // An error means that no handler can be set: then there is nothing to wait for either.
            Interrupt::System => drop(tokio::signal::ctrl_c().await),
            Interrupt::Host(_) => std::future::pending().await,
        }
    }
}
