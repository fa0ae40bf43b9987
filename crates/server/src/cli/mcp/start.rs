//! Opens the database, and serves it over the standard streams or HTTP.

use super::server::{McpServer, RUNNING_MAX};
use crate::cli::access::mcp_security;
use crate::cli::arguments::McpArguments;
use crate::cli::given::{log_options, report_recovery, set_memory, span_options};
use crate::cli::interrupt::Interrupt;
use crate::cli::quote::Done;
use crate::cli::requests::check_exists;
use crate::http::{GrpcPort, LogOptions, Mounted, ServeOptions, Server};
use axum::Router;
use hexgraph::db::{Database, OpenOptions};
use hexgraph_base::types::{Error, Result};
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::io;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

/// The longest answer of a query before it is cut, in bytes.
const RESULT_MAX: u64 = 16 << 20;

/// The longest text of a request, in bytes.
const TEXT_MAX: u64 = 1 << 20;

/// The longest body of a request over HTTP, in bytes: a text with the message around it.
const BODY_MAX: usize = 2 << 20;

/// The path over HTTP.
const PATH: &str = "/mcp";

/// The time for calls that run when the server stops.
const STOP_GRACE: Duration = Duration::from_secs(2);

/// Serves a database by the Model Context Protocol.
pub(in crate::cli) fn mcp(arguments: &McpArguments, interrupt: Interrupt) -> Done {
    let logs = log_options(&arguments.log)?;
    let is_logged = logs != LogOptions::default() || arguments.log.otlp_endpoint.is_some();
    if arguments.http.is_none() && is_logged {
        let fault = "--log-queries, --log-slow-queries and --otlp-endpoint are about requests over HTTP: add --http";
        return Err(Error::query(fault).into());
    }
    let root = open(arguments)?;
    report_recovery(root.recovery()?);
    let database = root.namespace(arguments.namespace)?;
    let server = McpServer::new(database.clone(), arguments.write);
    let done = match arguments.http {
        None => serve_streams(server, interrupt),
        Some(address) => serve_http(server, database, (arguments, address, logs), interrupt),
    };
    let closed = root.close();
    done?;
    Ok(closed?)
}

/// Opens the database that the arguments name.
fn open(arguments: &McpArguments) -> Result<Database> {
    let path = &arguments.path;
    let shown = path.display().to_string();
    if let Some((scheme, _)) = shown.split_once("://") {
        let fault = format!(
            "{scheme}:// is a server, and `hexgraph mcp` opens a database by its directory"
        );
        let hint = "run it where the directory is; --http serves it to other programs";
        return Err(Error::query(fault).with_hint(hint));
    }
    check_exists(path)?;
    let mut options = OpenOptions { read_only: !arguments.write, ..OpenOptions::default() };
    set_memory(&mut options, arguments.memory.as_deref())?;
    options.limits.result = RESULT_MAX;
    options.limits.text = TEXT_MAX;
    Database::open(path, options)
}

fn runtime() -> Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    // In addition to the calls, the standard streams may have a thread each.
    builder.worker_threads(2).max_blocking_threads(RUNNING_MAX + 4);
    let runtime = builder.thread_name("hexgraph-mcp").enable_all().build();
    runtime.map_err(|error| Error::io("starting the threads of a server", error))
}

/// Answers on the standard streams until the input is closed or a signal comes.
fn serve_streams(server: McpServer, interrupt: Interrupt) -> Result<()> {
    if io::stdin().is_terminal() {
        eprintln!(
            "hexgraph mcp speaks the Model Context Protocol: a client starts it, as docs/mcp.md shows. Ctrl-D stops it."
        );
    }
    let signals = interrupt.listen();
    let runtime = runtime()?;
    let (closed, reports) = oneshot::channel();
    let (failed, failures) = mpsc::channel();
    runtime.spawn(async move {
        let served = server.serve(stdio_pipes()).await;
        match served {
            // The reason makes no difference: the client has gone, or the program stops.
            Ok(service) => drop(service.waiting().await),
            Err(ServerInitializeError::ConnectionClosed(_)) => {}
            Err(error) => drop(failed.send(error.to_string())),
        }
        let _ = closed.send(());
    });
    signals.wait(None, Some(reports));
    runtime.shutdown_timeout(STOP_GRACE);
    match failures.try_recv() {
        Ok(error) => {
            Err(Error::query(format!("the client did not begin as the protocol says: {error}")))
        }
        Err(_) => Ok(()),
    }
}

/// Answers over HTTP until a signal comes.
fn serve_http(
    server: McpServer,
    database: Database,
    (arguments, address, logs): (&McpArguments, SocketAddr, LogOptions),
    interrupt: Interrupt,
) -> Result<()> {
    let (mut security, has_keys) = mcp_security(arguments, |name| std::env::var_os(name))?;
    let mut key = None;
    if !has_keys && !database.has_keys() {
        if !address.ip().is_loopback() {
            let fault =
                format!("--http {address}: other machines could connect, and there is no key");
            let hint = "make one by `hexgraph keys create`, or give --client-key-file FILE";
            return Err(Error::query(fault).with_hint(hint));
        }
        key = Some(security.add_random_key()?);
    }
    let config = StreamableHttpServerConfig::default()
        // The guards of the server check both.
        .disable_allowed_hosts()
        .disable_allowed_origins()
        // A request is answered by itself: there is nothing to retain between two of them.
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(BODY_MAX);
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    let router = Router::new().route_service(PATH, service);
    let options = ServeOptions {
        host: address.ip(),
        port: Some(address.port()),
        grpc: GrpcPort::Off,
        security,
        mounted: Some(Mounted { path: PATH, router }),
        metrics_address: arguments.metrics_address,
        logs,
        spans: span_options(&arguments.log)?,
        ..ServeOptions::default()
    };
    let signals = interrupt.listen();
    let mut server = Server::start(database, options)?;
    let metrics = server.metrics_address();
    let metrics = metrics.map_or(String::new(), |at| format!(", with metrics at {at}"));
    eprintln!("hexgraph mcp answers at {}{PATH}{metrics} (Ctrl-C stops it)", server.url());
    match key {
        Some(key) => {
            eprintln!("send this key, which holds until then: Authorization: Bearer {key}")
        }
        None => eprintln!("send a key: Authorization: Bearer KEY"),
    }
    if let Some(end) = server.ended() {
        signals.wait(Some(end), None);
    }
    server.stop();
    Ok(())
}
