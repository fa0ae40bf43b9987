//! Begins TLS on a new connection, and reports clients that do not speak it.

use super::timed_stream::Stream;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// The first byte of a client that speaks TLS: its first record is of a handshake.
const HANDSHAKE: u8 = 22;

/// The time for which a connection that is refused is retained open, so that the client can read
/// why.
pub(super) const REFUSED_FOR: Duration = Duration::from_millis(250);

/// The answer to a request without encryption. Clients of HTTP/2 show that it is one of HTTP/1.1.
const NOT_ENCRYPTED: &str = r#"{"errors":[{"message":"this port speaks TLS, and the request came without: ask by https://","extensions":{"code":"ErrorInvalidRequest"}}]}"#;

/// Runs the handshake, within the time for the head of a request.
///
/// # Errors
///
/// The log message; `None` if the client was too slow or went away, as those do that look whether a
/// port is open.
pub(super) async fn shake_hands(
    acceptor: TlsAcceptor,
    mut stream: Stream,
) -> Result<TlsStream<Stream>, Option<String>> {
    match stream.first().await {
        Ok(Some(HANDSHAKE)) => {}
        Ok(Some(first)) => {
            // Who speaks neither would not understand an answer either.
            if first.is_ascii_alphabetic() {
                let _ =
                    timeout(REFUSED_FOR, refuse(stream, "400 Bad Request", NOT_ENCRYPTED)).await;
            }
            return Err(Some("it does not speak TLS, as this port does".to_owned()));
        }
        Ok(None) | Err(_) => return Err(None),
    }
    match acceptor.accept(stream).into_fallible().await {
        Ok(stream) => Ok(stream),
        Err((error, stream)) => {
            // The client was sent an alert, which it could not read where the connection is reset.
            let _ = timeout(REFUSED_FOR, linger(stream)).await;
            let is_reported = error.kind() == io::ErrorKind::InvalidData;
            Err(is_reported.then(|| format!("its TLS handshake failed: {error}")))
        }
    }
}

/// Answers with a status and a body in JSON, without encryption, and waits for the client to read
/// it.
pub(super) async fn refuse(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    status: &str,
    body: &str,
) -> io::Result<()> {
    let length = body.len();
    let retry = if status.starts_with("503") { "retry-after: 1\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{retry}connection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await?;
    stream.flush().await?;
    linger(stream).await
}

/// Closes this side of a connection, and reads what the client still sends until it closes its own.
async fn linger(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
    stream.shutdown().await?;
    let mut rest = [0; 4096];
    while 0 < stream.read(&mut rest).await? {}
    Ok(())
}
