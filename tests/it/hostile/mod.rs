//! What attackers try at an open port.

mod calls;
mod matrix;
#[cfg(target_os = "linux")]
pub mod program;
#[cfg(target_os = "linux")]
pub mod wire;
#[cfg(target_os = "linux")]
mod watch;
#[cfg(target_os = "linux")]
mod load;
#[cfg(target_os = "linux")]
mod connections;
#[cfg(target_os = "linux")]
mod sockets;
#[cfg(target_os = "linux")]
mod overload;
#[cfg(target_os = "linux")]
mod great;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod everywhere;
#[cfg(target_os = "linux")]
mod logs;
mod signals;

/// Held by tests that keep all cores busy: one of them at a time.
#[cfg(target_os = "linux")]
fn turn() -> std::sync::MutexGuard<'static, ()> {
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    // One that failed has ended, too.
    TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
