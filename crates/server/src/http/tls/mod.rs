//! TLS: the certificate that the server shows, and the certificates that it requires of clients.

mod files;
mod settings;
mod certificates;

pub use certificates::Certificates;
pub use files::TlsFiles;
