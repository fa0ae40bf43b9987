//! [`ServiceManager`]: reports to what started the server that it is ready, alive, and about to
//! end, by the protocol of systemd (`sd_notify`): datagrams of `NAME=VALUE` lines.
//!
//! The crate sd-notify connects to paths only. systemd for users, and managers of containers, name
//! abstract sockets, too.

use super::logs::{Level, log};
use std::ffi::OsStr;
use std::time::Duration;
use std::{env, io, process};

/// The socket of the manager that started this process.
#[derive(Debug)]
pub struct ServiceManager {
    socket: Socket,
    /// How often the manager expects to hear that the process is alive.
    watchdog: Option<Duration>,
}

impl ServiceManager {
    /// Opens the socket that `NOTIFY_SOCKET` names. `None` without one; and for one that cannot be
    /// used, which is logged: the server can be used nevertheless.
    pub fn of_environment() -> Option<ServiceManager> {
        let name = env::var_os("NOTIFY_SOCKET").filter(|name| !name.is_empty())?;
        let socket = match Socket::open(&name) {
            Ok(socket) => socket,
            Err(error) => {
                let name = name.display();
                let message =
                    format!("NOTIFY_SOCKET={name}: {error}; the service manager is not notified");
                log(Level::Warning, &message, &[]);
                return None;
            }
        };
        let [time, pid] = ["WATCHDOG_USEC", "WATCHDOG_PID"].map(|name| env::var(name).ok());
        Some(ServiceManager { socket, watchdog: watchdog(time.as_deref(), pid.as_deref()) })
    }

    /// How often to report that the process is alive: twice as often as expected, as systemd
    /// recommends. `None` where nobody expects it.
    pub(super) fn alive_interval(&self) -> Option<Duration> {
        // A timer has no shorter intervals.
        self.watchdog.map(|time| (time / 2).max(Duration::from_millis(1)))
    }

    /// Reports that clients can connect to `address`.
    pub(super) fn ready(&self, address: &str) {
        self.notify(&format!("READY=1\nSTATUS=answers at {address}\n"));
    }

    /// Reports that the process is alive.
    pub(super) fn alive(&self) {
        self.notify("WATCHDOG=1\n");
    }

    /// Reports that the server is about to end.
    pub(super) fn stopping(&self) {
        self.notify("STOPPING=1\nSTATUS=running requests finish\n");
    }

    fn notify(&self, state: &str) {
        if let Err(error) = self.socket.send(state.as_bytes()) {
            let state = state.lines().next().unwrap_or_default();
            let message = format!("the service manager did not receive {state}: {error}");
            log(Level::Warning, &message, &[]);
        }
    }
}

/// The time between two reports at most, in microseconds, where it is for this process.
fn watchdog(time: Option<&str>, pid: Option<&str>) -> Option<Duration> {
    let is_ours = pid.is_none_or(|pid| pid.parse() == Ok(process::id()));
    let time = time.filter(|_| is_ours)?.parse().ok().filter(|time| *time != 0)?;
    Some(Duration::from_micros(time))
}

#[cfg(unix)]
#[derive(Debug)]
struct Socket(std::os::unix::net::UnixDatagram);

#[cfg(unix)]
impl Socket {
    fn open(name: &OsStr) -> io::Result<Socket> {
        use std::os::unix::ffi::OsStrExt;
        let socket = std::os::unix::net::UnixDatagram::unbound()?;
        match name.as_bytes() {
            [b'/', ..] => socket.connect(name)?,
            [b'@', name @ ..] => connect_abstract(&socket, name)?,
            _ => return Err(invalid("expected an absolute path, or @ and the name of a socket")),
        }
        // A manager that does not read stops nothing here.
        socket.set_nonblocking(true)?;
        Ok(Socket(socket))
    }

    fn send(&self, state: &[u8]) -> io::Result<()> {
        self.0.send(state).map(drop)
    }
}

#[cfg(target_os = "linux")]
fn connect_abstract(socket: &std::os::unix::net::UnixDatagram, name: &[u8]) -> io::Result<()> {
    use std::os::linux::net::SocketAddrExt;
    socket.connect_addr(&std::os::unix::net::SocketAddr::from_abstract_name(name)?)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn connect_abstract(_: &std::os::unix::net::UnixDatagram, _: &[u8]) -> io::Result<()> {
    Err(invalid("this system has no abstract sockets"))
}

/// There are no such sockets, nor managers that have them.
#[cfg(not(unix))]
#[derive(Debug)]
struct Socket;

#[cfg(not(unix))]
impl Socket {
    fn open(_: &OsStr) -> io::Result<Socket> {
        Err(invalid("this system has no Unix domain sockets"))
    }

    fn send(&self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_watchdog_is_for_one_process() {
        let own = process::id().to_string();
        let second = Some(Duration::from_secs(1));
        for (time, pid, want) in [
            (Some("1000000"), None, second),
            (Some("1000000"), Some(own.as_str()), second),
            (Some("1000000"), Some("1"), None),
            (Some("1000000"), Some("x"), None),
            (Some("0"), None, None),
            (Some("soon"), None, None),
            (None, Some(own.as_str()), None),
        ] {
            assert_eq!(watchdog(time, pid), want, "{time:?} {pid:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn other_names_are_refused() {
        let message = Socket::open(OsStr::new("vsock:2:1")).unwrap_err().to_string();
        assert_eq!(message, "expected an absolute path, or @ and the name of a socket");
        assert!(Socket::open(OsStr::new("/nowhere/at/all")).is_err());
    }
}
