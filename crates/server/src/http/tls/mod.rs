//! TLS: the certificate that the server shows, and the certificates that it wants to see of
//! clients.

mod files;
mod settings;
mod certificates;

pub use certificates::Certificates;
pub use files::TlsFiles;
