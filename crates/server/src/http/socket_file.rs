//! A Unix domain socket: a file by which programs on the same machine connect. Who may is said by
//! the file's permissions, which hold before the first connection is accepted.

use super::connections::Listener;
use hexgraph_base::types::{Error, Result};
use std::io;
use std::path::{Path, PathBuf};

#[cfg(unix)]
pub(super) use unix::SocketFile;

/// The file by which programs on the same machine connect: a Unix domain socket.
#[derive(Debug, Clone)]
pub struct SocketFileOptions {
    /// Where it is made, in a folder that is there.
    pub path: PathBuf,
    /// Who may connect, as the file's permissions: 0o600 for the user of the server alone, 0o660
    /// for its group, too.
    pub mode: u32,
}

impl SocketFileOptions {
    /// A file by which only the user of the server connects.
    pub fn new(path: PathBuf) -> SocketFileOptions {
        SocketFileOptions { path, mode: 0o600 }
    }
}

#[cfg(unix)]
mod unix {
    use super::{Error, Listener, Path, PathBuf, Result, SocketFileOptions, io};
    use socket2::{Domain, SockAddr, Socket, Type};
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
    use std::os::unix::net::UnixListener;
    use tokio::net::UnixListener as TokioListener;

    /// The number of connections that wait to be accepted.
    const WAITING_MAX: i32 = 1024;

    /// A listener, until a runtime has it, and its file, which is removed when this is dropped.
    pub(in crate::http) struct SocketFile {
        listener: Option<UnixListener>,
        path: PathBuf,
        /// The device and the number of the file, which detect that another file has replaced it.
        identity: (u64, u64),
    }

    impl SocketFile {
        /// Makes the file and listens. A stale file of a crashed server is replaced.
        ///
        /// # Errors
        ///
        /// [`Error::Query`] when something else is there, a server that answers or a file of
        /// another kind; [`Error::Io`] when the file can't be made.
        pub(in crate::http) fn bind(options: &SocketFileOptions) -> Result<SocketFile> {
            let path = std::path::absolute(&options.path).unwrap_or(options.path.clone());
            let failed =
                |error| Error::io(format!("listening at the file {}", path.display()), error);
            make_space(&path)?;
            let socket = Socket::new(Domain::UNIX, Type::STREAM, None).map_err(failed)?;
            socket.bind(&SockAddr::unix(&path).map_err(failed)?).map_err(failed)?;
            let identity = identity(&path).map_err(failed)?;
            let mut file = SocketFile { listener: None, path: path.clone(), identity };
            // Nobody can connect before it listens, and by then the permissions hold.
            fs::set_permissions(&path, Permissions::from_mode(options.mode & 0o777))
                .map_err(failed)?;
            socket.listen(WAITING_MAX).map_err(failed)?;
            socket.set_nonblocking(true).map_err(failed)?;
            file.listener = Some(socket.into());
            Ok(file)
        }

        /// Where it is, from the root.
        pub(in crate::http) fn path(&self) -> &Path {
            &self.path
        }

        /// Hands the listener over to the runtime.
        ///
        /// # Errors
        ///
        /// What the runtime has, and that it was handed over before.
        pub(in crate::http) fn listener(&mut self) -> io::Result<Listener> {
            let listener = self.listener.take().ok_or(io::ErrorKind::NotFound)?;
            TokioListener::from_std(listener).map(Listener::Unix)
        }
    }

    impl Drop for SocketFile {
        fn drop(&mut self) {
            if identity(&self.path).is_ok_and(|result| result == self.identity) {
                // It may be gone, and the next server replaces a stale file.
                let _ = fs::remove_file(&self.path);
            }
        }
    }

    fn identity(path: &Path) -> io::Result<(u64, u64)> {
        let result = fs::symlink_metadata(path)?;
        Ok((result.dev(), result.ino()))
    }

    /// Removes the file of a server that has ended without doing so.
    fn make_space(path: &Path) -> Result<()> {
        let Ok(result) = fs::symlink_metadata(path) else { return Ok(()) };
        let shown = path.display();
        if !result.file_type().is_socket() {
            return Err(Error::query(format!("{shown} is there and is no socket"))
                .with_hint("name a file that is not there, in a folder that is"));
        }
        match knock(path) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path)
                .map_err(|error| Error::io(format!("removing {shown}, left by a server"), error)),
            // More wait there than it takes: whoever it is may never answer.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(Error::query(format!(
                "another program listens at {shown}, and takes no connections"
            ))
            .with_hint("stop it, or name another file")),
            _ => Err(Error::query(format!("another server answers at {shown}"))
                .with_hint("stop it, or name another file")),
        }
    }

    /// Connects to a file without waiting: where as many wait as may, the system says so at once.
    fn knock(path: &Path) -> io::Result<()> {
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        socket.connect(&SockAddr::unix(path)?)
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::time::{Duration, Instant};

        #[test]
        fn a_file_whose_program_takes_nobody_is_refused_at_once() {
            let root = tempfile::tempdir().unwrap();
            let path = root.path().join("squatter");
            let squatter = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
            squatter.bind(&SockAddr::unix(&path).unwrap()).unwrap();
            squatter.listen(0).unwrap();
            let mut waiting = Vec::new();
            while waiting.len() < 10 {
                let socket = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
                socket.set_nonblocking(true).unwrap();
                if socket.connect(&SockAddr::unix(&path).unwrap()).is_err() {
                    break;
                }
                waiting.push(socket);
            }
            assert!(waiting.len() < 10, "the queue is not full");
            let started = Instant::now();
            let options = SocketFileOptions { path: path.clone(), mode: 0o600 };
            let error = SocketFile::bind(&options).err().expect("it is another's").to_string();
            assert!(error.contains("takes no connections"), "{error}");
            assert!(started.elapsed() < Duration::from_secs(1));
            assert!(path.exists());
        }
    }
}

/// Where the system has no such files there is none.
#[cfg(not(unix))]
pub(super) enum SocketFile {}

#[cfg(not(unix))]
impl SocketFile {
    pub(super) fn bind(_: &SocketFileOptions) -> Result<SocketFile> {
        Err(Error::query("this system has no Unix domain sockets"))
    }

    pub(super) fn path(&self) -> &Path {
        match *self {}
    }

    pub(super) fn listener(&mut self) -> io::Result<Listener> {
        match *self {}
    }
}
