//! Reads the address of a `@custom`, and finds its variables.

/// The variables of an address.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UrlVariables {
    /// The names of the variables in the path: `/$id`.
    pub(crate) path: Vec<String>,
    /// The names of the variables in the query: `?a=$id`.
    pub(crate) query: Vec<String>,
}

/// Reads an address, which has a scheme or is a path from the root; `None` for what is no address.
pub(crate) fn read(url: &str) -> Option<UrlVariables> {
    let is_valid = url.bytes().all(|byte| byte > b' ' && byte != 0x7f) && escapes_are_complete(url);
    let rest = match url.strip_prefix('/') {
        Some(_) => url,
        None => behind_scheme(url)?,
    };
    if !is_valid {
        return None;
    }
    // Only entire segments and entire values are variables: `/a$b` is text.
    let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
    let path = match address.strip_prefix("//") {
        Some(host) => {
            let (host, path) = host.find('/').map_or((host, ""), |slash| host.split_at(slash));
            // A variable would let an argument choose the server.
            (!host.is_empty() && !host.starts_with('$') && valid_port(host)).then_some(path)?
        }
        // An argument that is empty would make the next segment of `http:/$a/$b` the host.
        None if !url.starts_with('/') && address.contains("/$") => return None,
        None => address,
    };
    let named = |text: &str| text.strip_prefix('$').map(str::to_owned);
    let values = query.split('&').filter_map(|pair| pair.split_once('=').map(|(_, value)| value));
    Some(UrlVariables {
        path: path.split('/').filter_map(named).collect(),
        query: values.filter_map(named).collect(),
    })
}

/// Whether a variable stands where an address has its host.
pub(crate) fn fills_host(url: &str) -> bool {
    let rest = behind_scheme(url).or_else(|| url.starts_with("//").then_some(url));
    rest.is_some_and(|rest| rest.trim_start_matches('/').starts_with('$'))
}

/// Returns what follows `scheme:` (RFC 3986, section 3.1).
fn behind_scheme(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once(':')?;
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let starts = scheme.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    (starts && scheme.bytes().all(is_part)).then_some(rest)
}

/// Returns true if two hexadecimal digits follow each `%`.
fn escapes_are_complete(url: &str) -> bool {
    url.split('%').skip(1).all(|rest| {
        rest.as_bytes().get(..2).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit))
    })
}

/// Returns true unless a host is followed by a port that is no number. The host may be an IPv6
/// address in brackets.
fn valid_port(host: &str) -> bool {
    let host = host.rsplit('@').next().unwrap_or(host);
    let behind = host.rsplit(']').next().unwrap_or(host);
    match behind.split_once(':') {
        Some((_, port)) => port.bytes().all(|byte| byte.is_ascii_digit()),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_complete_segments() {
        let result = read("http://mock:8888/a/$id/b?x=$name&y=1&z=$z").expect("valid");
        assert_eq!(result.path, ["id"]);
        assert_eq!(result.query, ["name", "z"]);
        assert!(read("/local/$a").is_some_and(|result| result.path == ["a"]));
        assert!(read("mailto:x").is_some());
        for wrong in ["123", "blah.com", "", "http://a b", "http://h:x/", "http://h/%z"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        // An argument never fills the host.
        assert!(!fills_host("http://h/$a") && !fills_host("/$a/x"));
        for wrong in
            ["http://$a/x", "https://$a", "//$a/x", "http://$a?b=1", "http:/$a/$b", "http:///$a"]
        {
            assert!(fills_host(wrong), "{wrong}");
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
