//! How a command learns that it is interrupted.

use crate::db::Control;
use crate::http::Ended;
use std::thread;
use std::time::Duration;
use tokio::runtime::Builder;

const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Who sees Ctrl-C.
#[derive(Clone, Copy)]
pub enum Interrupt {
    /// The operating system ends the process, or wakes a server that waits.
    System,
    /// A host that handles signals itself, as Python does, and is asked whether one came.
    Host(fn() -> bool),
}

impl Interrupt {
    /// What stops a load or a query.
    pub fn control(self) -> Control {
        match self {
            Interrupt::System => Control::new(),
            Interrupt::Host(came) => Control::new().with_poll(came),
        }
    }

    /// Whether a host has seen an interrupt; the system would have ended the process.
    pub fn came(self) -> bool {
        match self {
            Interrupt::System => false,
            Interrupt::Host(came) => came(),
        }
    }

    /// Returns when Ctrl-C was pressed, or a server ended by itself.
    pub fn wait(self, end: Ended) {
        match self {
            Interrupt::System => wait_for_signal(end),
            Interrupt::Host(came) => {
                while !came() && !end.is_over() {
                    thread::sleep(POLL_INTERVAL);
                }
            }
        }
    }
}

fn wait_for_signal(mut end: Ended) {
    let runtime = Builder::new_current_thread().enable_all().build();
    // Without it the process still ends at the signal, only less gently.
    let Ok(runtime) = runtime else {
        loop {
            thread::park()
        }
    };
    // An error means that no handler can be set: then there is nothing to wait for either.
    let _ = runtime.block_on(async {
        tokio::select! {
            signal = first_signal() => signal,
            () = end.wait() => Ok(()),
        }
    });
}

#[cfg(unix)]
async fn first_signal() -> std::io::Result<()> {
    use tokio::signal::unix::SignalKind;
    use tokio::signal::unix::signal;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        done = tokio::signal::ctrl_c() => done,
        _ = terminate.recv() => Ok(()),
    }
}

#[cfg(not(unix))]
async fn first_signal() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}
