//! A server that a program runs in addition to its other work.

use super::interrupt::detached;
use crate::convert::errors::to_python;
use hexgraph::db::access::AccessOptions;
use hexgraph::db::{Database, byte_count};
use hexgraph_base::types::Result;
use hexgraph_server::http::{
    AuditOptions, Certificates, GrpcPort, Security, ServeOptions, Server, SocketFileOptions,
    SpanOptions, TlsFiles, access_options, default_password_warning,
};
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use std::ffi::CString;
use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A server in the background. `with db.serve() as server:` stops it at the end of the block;
/// closing the database stops it too.
///
/// >>> import hexgraph
/// >>> db = hexgraph.connect()
/// >>> from urllib.request import urlopen
/// >>> with db.serve(port=0) as server:
/// ...     urlopen(f"{server.url}/health").status
/// 200
#[pyclass(frozen, name = "Server", module = "hexgraph")]
pub struct PyServer {
    server: Arc<Mutex<Server>>,
    url: String,
    grpc_address: Option<String>,
    metrics_address: Option<String>,
    unix_socket: Option<PathBuf>,
}

/// The servers of a database, which stop when it is closed.
#[derive(Default)]
pub(crate) struct Servers {
    running: Mutex<Vec<Weak<Mutex<Server>>>>,
}

impl Servers {
    /// Starts a server of a database, and warns of a password that everybody knows.
    ///
    /// # Errors
    ///
    /// Those of [`Settings::options`]; `OSError` for an address that is in use.
    pub(crate) fn start(
        &self,
        py: Python<'_>,
        database: &Database,
        settings: Settings,
    ) -> PyResult<PyServer> {
        let options = settings.options()?;
        let server = detached(py, || Server::start(database.clone(), options));
        let server = PyServer::new(server.map_err(to_python)?);
        self.add(&server);
        warn_of_default_password(py, database)?;
        Ok(server)
    }

    /// Adds a server, and forgets those that are gone.
    fn add(&self, server: &PyServer) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|server| 0 < server.strong_count());
        running.push(Arc::downgrade(&server.server));
    }

    /// Stops all servers. The caller must not hold the interpreter's lock, since stopping waits for
    /// requests.
    pub(crate) fn stop(&self) {
        let running = mem::take(&mut *self.running.lock().unwrap_or_else(PoisonError::into_inner));
        for server in running.iter().filter_map(Weak::upgrade) {
            server.lock().unwrap_or_else(PoisonError::into_inner).stop();
        }
    }
}

/// The arguments of `Database.serve`, which Python hands over by their names.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    host: String,
    port: Option<u16>,
    grpc_port: Option<u16>,
    unix_socket: Option<PathBuf>,
    unix_socket_mode: u32,
    metrics_address: Option<String>,
    otlp_endpoint: Option<String>,
    security: String,
    anonymous: bool,
    acl: Option<String>,
    acl_initial_password: Option<String>,
    acl_allow_default_password: bool,
    tls_cert: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    tls_client_ca: Option<PathBuf>,
    audit_log: Option<PathBuf>,
    audit_log_size: String,
    export: Option<PathBuf>,
    allow_host: Vec<String>,
    allow_origin: Vec<String>,
    allow_get_changes: bool,
}

impl Settings {
    /// The options of a server.
    ///
    /// # Errors
    ///
    /// `ValueError` for what is no address, no permissions, or half of what TLS needs;
    /// [`Error::Query`] and [`Error::Io`] for what is wrong with a setting or a file.
    fn options(self) -> PyResult<ServeOptions> {
        let host: IpAddr = self.host.parse().map_err(|_| {
            PyValueError::new_err(format!("host must be an IP address, not {:?}", self.host))
        })?;
        let mode = self.unix_socket_mode;
        if 0o777 < mode {
            let message = "unix_socket_mode must be permissions such as 0o600 or 0o660";
            return Err(PyValueError::new_err(format!("{message}, not {mode:#o}")));
        }
        let socket_file = self.unix_socket.clone().map(|path| SocketFileOptions { path, mode });
        let certificates = self.certificates()?;
        let security = self.security().map_err(to_python)?;
        let access = self.access().map_err(to_python)?;
        let audit = self.audit().map_err(to_python)?;
        let metrics_address = self.metrics_address.as_deref().map(|address| {
            let wrong = || format!("metrics_address must be an IP address and a port such as \"127.0.0.1:9100\", not {address:?}");
            address.parse().map_err(|_| PyValueError::new_err(wrong()))
        });
        let metrics_address = metrics_address.transpose()?;
        let spans = self.otlp_endpoint.as_deref().map(SpanOptions::new).transpose();
        let spans = spans.map_err(to_python)?;
        let grpc = self.grpc_port.map_or(GrpcPort::Off, GrpcPort::At);
        Ok(ServeOptions {
            host,
            port: self.port,
            grpc,
            socket_file,
            metrics_address,
            spans,
            security,
            access,
            audit,
            exports: self.export,
            certificates,
            ..ServeOptions::default()
        })
    }

    fn security(&self) -> Result<Security> {
        let mut security = Security::default();
        security.set(&self.security)?;
        self.allow_host.iter().try_for_each(|name| security.origins.allow_host(name))?;
        self.allow_origin.iter().try_for_each(|origin| security.origins.allow_origin(origin))?;
        if self.allow_get_changes {
            security.origins.allow_get_changes();
        }
        if !self.anonymous {
            security.refuse_anonymous();
        }
        Ok(security)
    }

    fn access(&self) -> Result<Option<AccessOptions>> {
        let Some(settings) = &self.acl else { return Ok(None) };
        let mut options = access_options(settings)?;
        options.initial_password.clone_from(&self.acl_initial_password);
        options.allows_default_password = self.acl_allow_default_password;
        Ok(Some(options))
    }

    fn audit(&self) -> Result<Option<AuditOptions>> {
        let Some(path) = self.audit_log.clone() else { return Ok(None) };
        let bytes_max = byte_count("audit_log_size", &self.audit_log_size)?;
        Ok(Some(AuditOptions { bytes_max, ..AuditOptions::new(path) }))
    }

    fn certificates(&self) -> PyResult<Option<Arc<Certificates>>> {
        match (&self.tls_cert, &self.tls_key, &self.tls_client_ca) {
            (Some(certificate), Some(key), authorities) => {
                let (certificate, key) = (certificate.clone(), key.clone());
                let files = TlsFiles { certificate, key, client_authorities: authorities.clone() };
                Ok(Some(Arc::new(Certificates::read(files).map_err(to_python)?)))
            }
            (None, None, None) => Ok(None),
            _ => Err(PyValueError::new_err(
                "TLS needs both tls_cert and tls_key, the certificate of the server and its private key",
            )),
        }
    }
}

/// Warns as long as the first user of a database that has users has the first password.
pub(crate) fn warn_of_default_password(py: Python<'_>, database: &Database) -> PyResult<()> {
    let warning = py.detach(|| default_password_warning(database)).map_err(to_python)?;
    if let Some(warning) = warning {
        let message = format!(
            "{warning}: set another one by acl_initial_password, or at /admin by resetPassword"
        );
        let message =
            CString::new(message).map_err(|error| PyValueError::new_err(error.to_string()))?;
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 2)?;
    }
    Ok(())
}

impl PyServer {
    /// Creates the handle of a running server.
    pub fn new(server: Server) -> PyServer {
        let url = server.url();
        let shown = |address: Option<SocketAddr>| address.map(|address| address.to_string());
        let grpc_address = shown(server.grpc_address());
        let metrics_address = shown(server.metrics_address());
        let unix_socket = server.socket_path().map(Path::to_owned);
        let server = Arc::new(Mutex::new(server));
        PyServer { server, url, grpc_address, metrics_address, unix_socket }
    }
}

#[pymethods]
impl PyServer {
    /// The URL for clients, such as `http://127.0.0.1:8080`; `unix:` and a path if there is only a
    /// socket file.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> with db.serve(port=0) as server:
    /// ...     server.url.rpartition(":")[0]
    /// 'http://127.0.0.1'
    #[getter]
    fn url(&self) -> &str {
        &self.url
    }

    /// The gRPC address for clients of Dgraph, such as `127.0.0.1:9080`; None if it is off.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> with db.serve(port=0, grpc_port=0) as server:
    /// ...     server.grpc_address.rpartition(":")[0]
    /// '127.0.0.1'
    /// >>> with db.serve(port=0) as server:
    /// ...     print(server.grpc_address)
    /// None
    #[getter]
    fn grpc_address(&self) -> Option<&str> {
        self.grpc_address.as_deref()
    }

    /// The address that serves `/metrics` without a key, `127.0.0.1:9100` for instance; None if
    /// there is none.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> with db.serve(port=0, metrics_address="127.0.0.1:0") as server:
    /// ...     server.metrics_address.rpartition(":")[0]
    /// '127.0.0.1'
    #[getter]
    fn metrics_address(&self) -> Option<&str> {
        self.metrics_address.as_deref()
    }

    /// The path of the Unix domain socket; None if there is none.
    ///
    /// >>> import hexgraph, pathlib, tempfile
    /// >>> db = hexgraph.connect()
    /// >>> file = pathlib.Path(tempfile.mkdtemp()) / "hexgraph.sock"
    /// >>> with db.serve(port=None, unix_socket=file) as server:
    /// ...     server.unix_socket == file, server.url == f"unix:{file}"
    /// (True, True)
    #[getter]
    fn unix_socket(&self) -> Option<&Path> {
        self.unix_socket.as_deref()
    }

    /// Stop listening, and wait a moment for running requests. Stopping again does nothing.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> server = db.serve(port=0)
    /// >>> server.stop()
    /// >>> repr(server).startswith("<hexgraph.Server stopped, was at http://127.0.0.1:")
    /// True
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
