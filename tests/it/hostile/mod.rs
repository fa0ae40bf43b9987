//! What strangers try at an open port.

mod matrix;
#[cfg(target_os = "linux")]
mod program;
#[cfg(target_os = "linux")]
mod wire;
#[cfg(target_os = "linux")]
mod watch;
#[cfg(target_os = "linux")]
mod load;
#[cfg(target_os = "linux")]
mod connections;
#[cfg(target_os = "linux")]
mod overload;
mod signals;
