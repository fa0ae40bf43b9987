//! What an operator switches while a server runs: whether clients are answered, and whether it goes
//! on.

use hexgraph_base::types::Error;
use std::time::Duration;
use tokio::sync::watch;

/// The grace period of running requests after a shutdown request.
pub(in crate::http) const SHUTDOWN_GRACE: Duration = Duration::from_secs(30);

/// The grace period once the program stops it.
pub(in crate::http) const STOP_GRACE: Duration = Duration::from_secs(2);

/// What is reported to clients of a server that drains; they look for it.
pub(in crate::http) const DRAINING: &str = "the server is in draining mode and client requests will only be allowed \
     after exiting the mode  by sending a GraphQL draining(enable: false) mutation to /admin";

/// The switches of a server.
pub(in crate::http) struct Switches {
    draining: watch::Sender<bool>,
    ending: watch::Sender<Ending>,
}

/// How urgently a server stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ending {
    Not,
    Gently,
    Now,
}

impl Default for Switches {
    /// It answers, and goes on.
    fn default() -> Switches {
        Switches { draining: watch::Sender::new(false), ending: watch::Sender::new(Ending::Not) }
    }
}

impl Switches {
    /// Says whether clients are refused.
    pub(in crate::http) fn drain(&self, enable: bool) {
        self.draining.send_replace(enable);
    }

    /// Why clients are refused now; `None` when they are not.
    pub(in crate::http) fn refusal(&self) -> Option<Error> {
        self.draining.borrow().then(|| Error::query(DRAINING))
    }

    /// Returns when clients are refused.
    pub(in crate::http) async fn drained(&self) {
        // An error means that the server is gone, and they are refused, too.
        let _ = self.draining.subscribe().wait_for(|draining| *draining).await;
    }

    /// Stops the server after the requests so far.
    pub(in crate::http) fn shut_down(&self) {
        self.end(Ending::Gently);
    }

    /// Stops the server, and running requests soon after.
    pub(in crate::http) fn stop(&self) {
        self.end(Ending::Now);
    }

    /// Returns when the server is to end.
    pub(in crate::http) async fn ending(&self) {
        self.ended(Ending::Gently).await;
    }

    /// Returns after the grace period of running requests; called once the server stops.
    pub(in crate::http) async fn out_of_patience(&self) {
        tokio::select! {
            () = tokio::time::sleep(SHUTDOWN_GRACE) => {}
            () = self.ended(Ending::Now) => tokio::time::sleep(STOP_GRACE).await,
        }
    }

    fn end(&self, ending: Ending) {
        self.ending.send_if_modified(|existing| {
            let is_news = *existing < ending;
            *existing = ending.max(*existing);
            is_news
        });
    }

    async fn ended(&self, ending: Ending) {
        // An error means that the server is gone already.
        let _ = self.ending.subscribe().wait_for(|existing| ending <= *existing).await;
    }
}
