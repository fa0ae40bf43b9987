//! The session of `hexgraph console`: a token in the URL that is opened, exchanged for a cookie.
//!
//! The token is in the fragment of the URL, which browsers do not send. The page posts it, once:
//! the arguments of the program that opens the browser, its history and the terminal show the
//! token, and after the exchange it is worth nothing there. Only digests are stored, so that the
//! time of a comparison says nothing about what is compared.
//!
//! Cookies of one host are sent to all of its ports. The name of the cookie holds the port, so
//! that two consoles do not replace each other's.

use super::keys::digest;
use axum::http::{HeaderMap, header};
use hexgraph::db::access::random_hex;
use hexgraph_base::types::Result;
use std::sync::OnceLock;

/// The session of the browser that a server was started for.
#[derive(Debug)]
pub(super) struct Session {
    /// The digest of the token.
    token: [u8; 32],
    /// The digest of the value of the cookie, from the exchange on.
    cookie: OnceLock<[u8; 32]>,
}

/// What an exchange results in.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::http) enum Exchange {
    /// The value of the cookie.
    Opened(String),
    /// It is the token, and was exchanged before.
    Used,
    /// It is another text.
    Wrong,
}

impl Session {
    /// Creates a session, and its token.
    ///
    /// # Errors
    ///
    /// As [`random_hex`].
    pub(super) fn new() -> Result<(Session, String)> {
        let token = random_hex::<32>()?;
        Ok((Session { token: digest(&token), cookie: OnceLock::new() }, token))
    }

    /// Exchanges the token for the value of the cookie.
    ///
    /// # Errors
    ///
    /// As [`Session::new`]; the token can be exchanged again then.
    pub(super) fn exchange(&self, token: &str) -> Result<Exchange> {
        if digest(token) != self.token {
            return Ok(Exchange::Wrong);
        }
        let value = random_hex::<32>()?;
        Ok(match self.cookie.set(digest(&value)) {
            Ok(()) => Exchange::Opened(value),
            Err(_) => Exchange::Used,
        })
    }

    /// Whether a request has the cookie. Costs one digest for each cookie of this name.
    pub(super) fn is_of(&self, headers: &HeaderMap, name: &str) -> bool {
        let Some(cookie) = self.cookie.get() else { return false };
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.split_once('='));
        let mut values = pairs.filter(|(it, _)| it.trim() == name).map(|(_, value)| value);
        values.any(|value| digest(value.trim()) == *cookie)
    }
}

/// The name of the cookie at a port.
pub(super) fn cookie_name(port: u16) -> String {
    format!("hexgraph-{port}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_exchanged_once() {
        let (session, token) = Session::new().unwrap();
        let (_, other) = Session::new().unwrap();
        assert_eq!(token.len(), 64, "256 bits, in digits that addresses and cookies may have");
        let has = |lines: &[&str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(header::COOKIE, line.parse().unwrap());
            }
            session.is_of(&headers, "hexgraph-1")
        };
        for wrong in ["", &other, &token[1..]] {
            assert_eq!(session.exchange(wrong).unwrap(), Exchange::Wrong);
        }
        assert!(!has(&["hexgraph-1="]), "there is no cookie yet");
        let Exchange::Opened(value) = session.exchange(&token).unwrap() else { panic!("refused") };
        assert_eq!(session.exchange(&token).unwrap(), Exchange::Used);
        let cookie = format!("hexgraph-1={value}");
        assert!(has(&[&cookie]));
        assert!(has(&["a=b; hexgraph-1=old", &format!("c; {cookie} ; d=e")]));
        for wrong in [&*format!("hexgraph-2={value}"), "hexgraph-1", &cookie[..20], &token] {
            assert!(!has(&[wrong]), "{wrong}");
        }
        assert!(!format!("{session:?}").contains(&value));
    }
}
