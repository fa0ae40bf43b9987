//! A server in the background, and how to stop it.

use super::graphql::Feeds;
use super::graphql::SubscribeOptions;
use super::peer::Peer;
use super::router::App;
use super::router::router;
use crate::db::Control;
use crate::db::Database;
use crate::types::Error;
use crate::types::Result;
use std::io;
use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::process;
use std::sync::Arc;
use std::thread;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::TcpListener as TokioListener;
use tokio::runtime::Builder;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

/// How long requests that run may take to finish once the server is asked to stop.
const STOP_GRACE: Duration = Duration::from_secs(2);

/// Where the server listens.
#[derive(Debug, Clone, Copy)]
pub struct ServeOptions {
    /// The address; only this machine unless another one is named.
    pub host: IpAddr,
    /// The port; 0 for any that is free.
    pub port: u16,
    /// Whether queries that take longer than the limit `slow` are printed to standard error.
    pub prints_slow: bool,
    /// How GraphQL subscriptions are served.
    pub subscriptions: SubscribeOptions,
}

/// A running server. It stops when it is dropped.
pub struct Server {
    address: SocketAddr,
    process: u32,
    running: Option<Running>,
}

struct Running {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Default for ServeOptions {
    fn default() -> ServeOptions {
        ServeOptions {
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 8080,
            prints_slow: false,
            subscriptions: SubscribeOptions::default(),
        }
    }
}

impl Server {
    /// Listens, and answers from threads of its own until it is stopped.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the address can't be had.
    pub fn start(database: Database, options: ServeOptions) -> Result<Server> {
        let wanted = SocketAddr::new(options.host, options.port);
        let failed = |error| Error::io(format!("listening on {wanted}"), error);
        let listener = TcpListener::bind(wanted).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let runtime = runtime().map_err(failed)?;
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new().name("hexgraph-http".to_owned());
        let thread = thread
            .spawn(move || run(runtime, listener, database, address, options, stopped))
            .map_err(failed)?;
        Ok(Server { address, process: process::id(), running: Some(Running { stop, thread }) })
    }

    /// The address with the port that was taken.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where clients connect to: `http://127.0.0.1:8080`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// True until it is stopped.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Stops listening, and waits a moment for the requests that run. Does nothing the second
    /// time, and in a forked child, which has no server.
    pub fn stop(&mut self) {
        let Some(Running { stop, thread }) = self.running.take() else { return };
        if self.process != process::id() {
            return;
        }
        // Both fail only when the thread is gone already, and that is what is wanted.
        let _ = stop.send(());
        let _ = thread.join();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread().thread_name("hexgraph-http").enable_all().build()
}

fn run(
    runtime: Runtime,
    listener: TcpListener,
    database: Database,
    address: SocketAddr,
    options: ServeOptions,
    stopped: oneshot::Receiver<()>,
) {
    let stop = Control::new();
    let feeds = Arc::new(Feeds::new(options.subscriptions));
    let stopping = stop.canceller();
    let app = App::new(database, address, options.prints_slow, Arc::clone(&feeds), stopping);
    runtime.block_on(async {
        let Ok(listener) = TokioListener::from_std(listener) else { return };
        let (stopping, is_stopping) = oneshot::channel::<()>();
        let wait = async move {
            // An error means that the handle is gone, which stops the server too.
            let _ = stopped.await;
            drop(stopping);
            feeds.close(STOP_GRACE).await;
        };
        let service = router(app).into_make_service_with_connect_info::<Peer>();
        let server = axum::serve(listener, service);
        let served = server.with_graceful_shutdown(wait);
        let out_of_patience = async {
            let _ = is_stopping.await;
            tokio::time::sleep(STOP_GRACE).await;
        };
        tokio::select! {
            _ = served => {}
            () = out_of_patience => {}
        }
    });
    // Requests that still run end now, at their next look at their control.
    stop.canceller().cancel();
    runtime.shutdown_timeout(STOP_GRACE);
}
