//! A server in the background, and how to stop it.

use super::admission::{AdmissionOptions, Queues, stay_max};
use super::app::App;
use super::audit::{AuditLog, AuditOptions};
use super::connections;
use super::connections::{BoundListener, ConnectionOptions};
use super::graphql::{Feeds, SubscribeOptions};
use super::listeners::{BoundListeners, GrpcPort, ListenerOptions, unix_url};
use super::logs::{Level, LogOptions, RequestLog, SpanOptions, log};
use super::metrics::ServerMetrics;
use super::mounted::{Mounted, mounted};
use super::router::{Port, router};
use super::service_manager::ServiceManager;
use super::socket_file::SocketFileOptions;
use super::tls::Certificates;
use crate::http::guard::access_settings::enable_access;
use crate::http::guard::security::Security;
use crate::http::guard::switches::{SHUTDOWN_GRACE, STOP_GRACE, Switches};
use crate::http::message::incoming::Bodies;
use crate::http::message::stream_slots::StreamSlots;
use crate::http::message::streamed_answer::STREAMS_MAX;
use hexgraph::db::access::AccessOptions;
use hexgraph::db::graphql::Folder;
use hexgraph::db::{Database, RequestContext};
use hexgraph_base::types::{Error, Result};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{io, process, thread};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::{task, time};

/// The interval at which idle transactions are aborted.
const EXPIRE_INTERVAL: Duration = Duration::from_secs(5);

/// The interval at which memory that large requests have freed is given back to the system.
const TIDY_INTERVAL: Duration = Duration::from_secs(1);

/// The interval at which the files of certificates are looked at.
const RENEW_INTERVAL: Duration = Duration::from_secs(1);

/// The time for which an idle thread is retained. The allocator retains the freed memory of a
/// thread until the thread exits.
const IDLE_THREAD: Duration = Duration::from_secs(1);

/// The largest number of blocking threads of the runtime. Requests are answered on threads of their
/// own.
const SPARE_THREADS: usize = 16;

/// Options for starting a server.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// The address to listen on; by default only this machine can connect.
    pub host: IpAddr,
    /// The port; 0 means any free one, and `None` for none, where there is a file.
    pub port: Option<u16>,
    /// The port of gRPC.
    pub grpc: GrpcPort,
    /// The file by which programs on this machine connect, for HTTP as well as gRPC.
    pub socket_file: Option<SocketFileOptions>,
    /// An address that answers `/metrics` alone, without a key; `None` for none.
    pub metrics_address: Option<SocketAddr>,
    /// Which requests are logged.
    pub logs: LogOptions,
    /// The collector that a span of each request is sent to; `None` for none.
    pub spans: Option<SpanOptions>,
    /// How many requests may run at once, and how long they may wait.
    pub admission: AdmissionOptions,
    /// The limits on the number of connections and their times.
    pub connections: ConnectionOptions,
    /// How GraphQL subscriptions are served.
    pub subscriptions: SubscribeOptions,
    /// The rules on who may query, alter and administer.
    pub security: Security,
    /// Users and their rights; `None` where they are not begun here.
    pub access: Option<AccessOptions>,
    /// The audit log; `None` for none.
    pub audit: Option<AuditOptions>,
    /// The folder that requests may have exports and backups written to; without it they may not.
    pub exports: Option<PathBuf>,
    /// The certificates by which TLS is spoken on all ports; without them nothing is encrypted.
    pub certificates: Option<Arc<Certificates>>,
    /// What started this process and is to hear that the server is ready, alive and stopping.
    pub service_manager: Option<Arc<ServiceManager>>,
    /// A service that answers at the port instead of the routes.
    pub mounted: Option<Mounted>,
}

/// A running server. It stops when it is dropped.
pub struct Server {
    address: Option<SocketAddr>,
    grpc_address: Option<SocketAddr>,
    metrics_address: Option<SocketAddr>,
    socket_path: Option<PathBuf>,
    is_encrypted: bool,
    /// The process that started the server: a forked child has this value and none of the threads.
    process: u32,
    /// `None` once the server was stopped here.
    running: Option<Running>,
}

struct Running {
    switches: Arc<Switches>,
    thread: JoinHandle<()>,
    end: Ended,
}

/// A handle to wait until a server has stopped. Clones refer to the same server.
#[derive(Clone)]
pub struct Ended(watch::Receiver<()>);

impl Ended {
    /// Whether the server has ended.
    pub fn is_over(&self) -> bool {
        // The other end is with the server's thread; nothing is sent.
        self.0.has_changed().is_err()
    }

    /// Waits until the server has ended.
    pub async fn wait(&mut self) {
        while self.0.changed().await.is_ok() {}
    }
}

impl Default for ServeOptions {
    fn default() -> ServeOptions {
        ServeOptions {
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: Some(8080),
            grpc: GrpcPort::default(),
            socket_file: None,
            metrics_address: None,
            logs: LogOptions::default(),
            spans: None,
            admission: AdmissionOptions::default(),
            connections: ConnectionOptions::default(),
            subscriptions: SubscribeOptions::default(),
            security: Security::default(),
            access: None,
            audit: None,
            exports: None,
            certificates: None,
            service_manager: None,
            mounted: None,
        }
    }
}

impl Server {
    /// Starts a server, which listens and answers on threads of its own until it is stopped. The
    /// port is bound when this returns, so clients can connect at once.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when an address or a file can't be had, or the folder of exports;
    /// [`Error::Query`] when there is neither a port nor a file, and when there is no port for
    /// gRPC.
    pub fn start(database: Database, options: ServeOptions) -> Result<Server> {
        let listeners = BoundListeners::open(&ListenerOptions {
            host: options.host,
            port: options.port,
            grpc: options.grpc,
            socket_file: options.socket_file.as_ref(),
            metrics: options.metrics_address,
        })?;
        let (address, grpc_address) = (listeners.address, listeners.grpc_address);
        let metrics_address = listeners.metrics_address;
        let socket_path = listeners.socket_path();
        let failed = |error| Error::io("starting the threads of a server".to_owned(), error);
        let runtime = runtime().map_err(failed)?;
        let exports = options.exports.as_deref().map(Folder::new).transpose()?;
        let (audit, audit_end) = options.audit.map(AuditLog::open).transpose()?.unzip();
        if let Some(access) = options.access {
            enable_access(&database, access, address.map(|address| address.ip()))?;
        }
        let (stop, switches) = (RequestContext::new(), Arc::new(Switches::default()));
        let (certificates, manager) = (options.certificates, options.service_manager);
        let (mut security, is_encrypted) = (options.security, certificates.is_some());
        if is_encrypted {
            security.origins.come_encrypted();
        }
        if let Some(address) = address {
            security.keys.serve_at(address.port());
        }
        let metrics = Arc::new(ServerMetrics::new());
        let logs = RequestLog::new(options.logs).with_spans(options.spans, metrics.spans())?;
        let app = App {
            bodies: Bodies::new(database.budget()),
            unguarded: database,
            address: listeners.name(),
            started: Instant::now(),
            logs,
            feeds: Arc::new(Feeds::new(options.subscriptions)),
            security,
            exports,
            streams: Arc::new(StreamSlots::new(STREAMS_MAX)),
            admission: Arc::new(Queues::new(options.admission)),
            metrics,
            switches: Arc::clone(&switches),
            tasks: Arc::default(),
            audit: audit.map(Arc::new),
            stopping: stop.canceller(),
        };
        let (going, end) = watch::channel(());
        let thread = thread::Builder::new().name("hexgraph-http".to_owned());
        let thread = thread
            .spawn(move || {
                let listening = ((listeners, options.mounted), certificates, manager);
                run(runtime, listening, app, options.connections, &stop);
                if let Some(end) = audit_end {
                    end.wait(STOP_GRACE);
                }
                drop(going);
            })
            .map_err(failed)?;
        let running = Some(Running { switches, thread, end: Ended(end) });
        let process = process::id();
        Ok(Server {
            address,
            grpc_address,
            metrics_address,
            socket_path,
            is_encrypted,
            process,
            running,
        })
    }

    /// The address with the actual port; `None` where there is only a file.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// The address of gRPC; `None` where it is off.
    pub fn grpc_address(&self) -> Option<SocketAddr> {
        self.grpc_address
    }

    /// The address of metrics; `None` where they have none of their own.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics_address
    }

    /// The file by which programs on this machine connect.
    pub fn socket_path(&self) -> Option<&Path> {
        self.socket_path.as_deref()
    }

    /// The URL for clients, such as `http://127.0.0.1:8080`, or `https://…` with TLS. Where there
    /// is only a file, it is `unix:` and the file's path.
    pub fn url(&self) -> String {
        let scheme = if self.is_encrypted { "https" } else { "http" };
        match (self.address, &self.socket_path) {
            (Some(address), _) => format!("{scheme}://{address}"),
            (None, path) => unix_url(path.as_deref().unwrap_or(Path::new(""))),
        }
    }

    /// True until it is stopped, here or by a request to `/admin`.
    pub fn is_running(&self) -> bool {
        self.running.as_ref().is_some_and(|running| !running.end.is_over())
    }

    /// Returns a handle to wait until the server has stopped; `None` after [`Server::stop`].
    pub fn ended(&self) -> Option<Ended> {
        self.running.as_ref().map(|running| running.end.clone())
    }

    /// Stops listening, and waits a moment for the requests that run: up to 2 seconds before they
    /// are reported to end, and up to 2 more each for tasks, requests and the runtime to do so.
    /// Does nothing the second time, and in a forked child, which has no server.
    pub fn stop(&mut self) {
        let Some(Running { switches, thread, .. }) = self.running.take() else { return };
        if self.process != process::id() {
            return;
        }
        switches.stop();
        // It fails only when the thread has panicked, and that it is gone is what is requested.
        let _ = thread.join();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn runtime() -> io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(stay_max());
    builder.max_blocking_threads(SPARE_THREADS).thread_keep_alive(IDLE_THREAD);
    builder.thread_name("hexgraph-http").enable_all().build()
}

fn run(
    runtime: Runtime,
    ((ports, service), certificates, manager): (
        (BoundListeners, Option<Mounted>),
        Option<Arc<Certificates>>,
        Option<Arc<ServiceManager>>,
    ),
    app: App,
    options: ConnectionOptions,
    stop: &RequestContext,
) {
    let (switches, feeds) = (Arc::clone(&app.switches), Arc::clone(&app.feeds));
    let (database, queues) = (app.unguarded.clone(), Arc::clone(&app.admission));
    let metrics = Arc::clone(&app.metrics);
    let (tasks, begun) = (Arc::clone(&app.tasks), Arc::clone(&app.tasks));
    let app = Arc::new(app);
    runtime.block_on(async {
        // Without a listener the server stops at once, and `is_running` says so. The socket file is
        // removed when this is dropped, at the end of the block.
        let Ok((listeners, _socket_file)) = ports.listeners() else { return };
        let listeners = listeners.into_iter().map(|(listener, port)| {
            // What comes by the file does not leave this machine.
            let certificates = certificates.clone().filter(|_| port != Port::File);
            let router = match (port, &service) {
                (Port::Http, Some(service)) => mounted(&app, service),
                _ => router(&app, port),
            };
            BoundListener { listener, router, certificates }
        });
        let listeners = listeners.collect();
        if let Some(manager) = &manager {
            manager.ready(&app.address);
        }
        let (patience, informed) = (Arc::clone(&switches), manager.clone());
        let wait = async move {
            switches.ending().await;
            if let Some(manager) = informed {
                manager.stopping();
            }
            feeds.close(STOP_GRACE).await;
        };
        let served =
            connections::serve(listeners, options, (database.budget().clone(), metrics), wait);
        let out_of_patience = async {
            patience.ending().await;
            patience.out_of_patience().await;
        };
        let all_done = async {
            served.await;
            // Background work of requests counts, too. An error would mean that waiting panicked.
            let _ = task::spawn_blocking(move || begun.wait(SHUTDOWN_GRACE)).await;
        };
        tokio::select! {
            () = all_done => {}
            () = out_of_patience => {}
            () = every(EXPIRE_INTERVAL, || { database.expire_txns(); }) => {}
            () = every(TIDY_INTERVAL, || database.budget().tidy()) => {}
            () = renewing(certificates.as_ref()) => {}
            () = reporting(manager.as_ref()) => {}
        }
    });
    // Requests that still run end now, at their next look at their control.
    stop.canceller().cancel();
    tasks.close(STOP_GRACE);
    queues.workers.wait(STOP_GRACE);
    runtime.shutdown_timeout(STOP_GRACE);
    app.logs.stop(STOP_GRACE);
}

/// Does something at intervals and never returns.
async fn every(interval: Duration, work: impl Fn()) {
    let mut ticks = time::interval(interval);
    loop {
        ticks.tick().await;
        work();
    }
}

/// Reports that the server is alive, as often as that is expected, and never returns. The report is
/// a task like any other, so none is sent while the threads of the runtime do nothing.
async fn reporting(manager: Option<&Arc<ServiceManager>>) {
    let interval = manager.and_then(|manager| Some((manager, manager.alive_interval()?)));
    let Some((manager, interval)) = interval else { return std::future::pending().await };
    let mut ticks = time::interval(interval);
    loop {
        ticks.tick().await;
        let manager = Arc::clone(manager);
        // An error would mean that reporting panicked: then none comes, and the manager acts.
        let _ = task::spawn(async move { manager.alive() }).await;
    }
}

/// Reads certificates anew when their files change, and never returns.
async fn renewing(certificates: Option<&Arc<Certificates>>) {
    let Some(certificates) = certificates else { return std::future::pending().await };
    let shown = certificates.files().certificate.display();
    let mut ticks = time::interval(RENEW_INTERVAL);
    loop {
        ticks.tick().await;
        let looked = Arc::clone(certificates);
        // An error would mean that looking panicked; the certificates are there nevertheless.
        match task::spawn_blocking(move || looked.renew()).await {
            Ok(Some(Ok(()))) => {
                log(Level::Info, &format!("{shown}: the certificate was read anew"), &[]);
            }
            Ok(Some(Err(error))) => {
                let message =
                    "the certificates have changed and cannot be used, so those from before stay";
                log(Level::Error, &format!("{message}: {error}"), &[]);
            }
            Ok(None) | Err(_) => {}
        }
    }
}
