//! A server that a program runs beside its other work.

use hexgraph_base::types::Result;
use hexgraph_server::http::{GrpcPort, Origins, ServeOptions, Server};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::mem;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A server in the background. `with db.serve() as server:` stops it at the end, and closing the
/// database stops it too.
#[pyclass(frozen, name = "Server", module = "hexgraph")]
pub struct PyServer {
    server: Arc<Mutex<Server>>,
    url: String,
    grpc_address: Option<String>,
}

/// The servers of a database, which stop when it is closed.
#[derive(Default)]
pub(crate) struct Servers {
    running: Mutex<Vec<Weak<Mutex<Server>>>>,
}

impl Servers {
    /// Adds a server, and forgets those that are gone.
    pub(crate) fn add(&self, server: &PyServer) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|server| 0 < server.strong_count());
        running.push(Arc::downgrade(&server.server));
    }

    /// Stops all servers. The caller must not hold the interpreter's lock, since stopping waits for requests.
    pub(crate) fn stop(&self) {
        let running = mem::take(&mut *self.running.lock().unwrap_or_else(PoisonError::into_inner));
        for server in running.iter().filter_map(Weak::upgrade) {
            server.lock().unwrap_or_else(PoisonError::into_inner).stop();
        }
    }
}

/// Lets names of the server, pages and changes by GET in.
///
/// # Errors
///
/// [`Error::Query`](hexgraph_base::types::Error::Query) for what is no name of a machine, and for what is no origin.
pub(crate) fn allow(
    origins: &mut Origins,
    hosts: &[String],
    pages: &[String],
    allows_get_changes: bool,
) -> Result<()> {
    hosts.iter().try_for_each(|name| origins.allow_host(name))?;
    pages.iter().try_for_each(|origin| origins.allow_origin(origin))?;
    if allows_get_changes {
        origins.allow_get_changes();
    }
    Ok(())
}

impl PyServer {
    /// Creates the handle of a running server.
    pub fn new(server: Server) -> PyServer {
        let url = server.url();
        let grpc_address = server.grpc_address().map(|address| address.to_string());
        PyServer { server: Arc::new(Mutex::new(server)), url, grpc_address }
    }
}

#[pymethods]
impl PyServer {
    /// Where clients connect to, `http://127.0.0.1:8080` for instance.
    #[getter]
    fn url(&self) -> &str {
        &self.url
    }

    /// Where clients of Dgraph connect to by gRPC, `127.0.0.1:9080` for instance; None where it is off.
    #[getter]
    fn grpc_address(&self) -> Option<&str> {
        self.grpc_address.as_deref()
    }

    /// Stop listening, and wait a moment for the requests that run. Stopping again does nothing.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.server.lock().unwrap_or_else(PoisonError::into_inner).stop());
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, pyo3::types::PyTuple>) {
        self.stop(py);
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let is_running =
            py.detach(|| self.server.lock().unwrap_or_else(PoisonError::into_inner).is_running());
        let state = if is_running { "answers at" } else { "stopped, was at" };
        format!("<hexgraph.Server {state} {}>", self.url)
    }
}

/// The options of a server at an address, and perhaps of one that speaks gRPC beside it.
///
/// # Errors
///
/// `ValueError` for what is no address.
pub(crate) fn serve_options(
    host: &str,
    port: u16,
    grpc_port: Option<u16>,
) -> PyResult<ServeOptions> {
    let host: IpAddr = host
        .parse()
        .map_err(|_| PyValueError::new_err(format!("host must be an IP address, not {host:?}")))?;
    let grpc = grpc_port.map_or(GrpcPort::Off, GrpcPort::At);
    Ok(ServeOptions { host, port, grpc, ..ServeOptions::default() })
}
