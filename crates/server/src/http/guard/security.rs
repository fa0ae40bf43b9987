//! Who may alter and administer: a common token, and their addresses. And who may query at all.

use super::keys::{Anonymous, Keys, digest, key_of};
use super::origins::Origins;
use crate::http::message::incoming::Incoming;
use axum::http::HeaderMap;
use hexgraph::db::Database;
use hexgraph::db::access::{KEY_PREFIX, KeyRole, random_hex};
use hexgraph_base::types::{Error, Result};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::{IpAddr, ToSocketAddrs};

/// The headers that name the token: that of HTTP, and what clients of gRPC send.
const TOKEN_HEADERS: [&str; 2] = ["x-dgraph-authtoken", "auth-token"];

/// Who may alter and administer a server. Without more it is who comes from this machine, and
/// anybody may query.
#[derive(Debug, Clone, Default)]
pub struct Security {
    /// A digest of the token, so that comparing reveals nothing about it.
    token: Option<[u8; 32]>,
    /// Those without which nobody is answered, where there are any.
    pub(in crate::http) keys: Keys,
    /// Which web pages may send requests.
    pub origins: Origins,
    /// The first and the last address of ranges that others than this machine may come from.
    ranges: Vec<(IpAddr, IpAddr)>,
}

/// What a secret lets its holder do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secret {
    /// Alter and administer, in addition to a key where there are any: `token`.
    Token,
    /// Everything: `admin-key`.
    AdminKey,
    /// Read and write: `client-key`.
    ClientKey,
}

impl Secret {
    fn of_name(name: &str) -> Option<Secret> {
        match name {
            "token" => Some(Secret::Token),
            "admin-key" => Some(Secret::AdminKey),
            "client-key" => Some(Secret::ClientKey),
            _ => None,
        }
    }
}

impl Security {
    /// Reads settings as they are typed: `token=…`, `whitelist=…`, `admin-key=…`, `client-key=…`,
    /// `anonymous=…`, with `;` between. The keys may come more than once.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for what is none of them, and for addresses that are none. It says which
    /// setting is wrong and not what stands there: that may be a secret.
    pub fn set(&mut self, text: &str) -> Result<()> {
        let settings = text.split(';').map(str::trim).enumerate();
        for (at, setting) in settings.filter(|(_, setting)| !setting.is_empty()) {
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            let (name, value) = (name.trim(), value.trim());
            match (Secret::of_name(name), name, value) {
                (Some(_), _, "") => {
                    return Err(Error::query(format!("security {name}: it is empty")));
                }
                (Some(kind), _, secret) => self.add(kind, secret)?,
                (None, "whitelist", addresses) if setting.contains('=') => {
                    let addresses = addresses.split(',').map(str::trim);
                    for (at, text) in addresses.enumerate().filter(|(_, text)| !text.is_empty()) {
                        self.ranges.extend(ranges_of(text, at + 1)?);
                    }
                }
                (None, "anonymous", value) => {
                    let anonymous = Anonymous::of_name(value).ok_or_else(|| {
                        Error::query("security anonymous: expected full, data or none")
                    })?;
                    self.keys.restrict_anonymous(anonymous);
                }
                _ => {
                    let expected = "expected token=SECRET, whitelist=ADDRESSES, admin-key=SECRET, client-key=SECRET or anonymous=full|data|none";
                    let message = format!("security, setting {}: {expected}", at + 1);
                    return Err(Error::query(message));
                }
            }
        }
        Ok(())
    }

    /// The client of a request for fair queues: its key, where there are keys, else its address, or
    /// its network where clients have many addresses.
    pub fn client_of(&self, database: &Database, incoming: &Incoming) -> u64 {
        self.client_at(database, incoming.headers(), incoming.client())
    }

    /// As [`Security::client_of`], by the headers and the address.
    pub fn client_at(
        &self,
        database: &Database,
        headers: &HeaderMap,
        address: Option<IpAddr>,
    ) -> u64 {
        let mut hasher = DefaultHasher::new();
        match address.map(|address| address.to_canonical()) {
            _ if self.keys.are_needed(database) => key_of(headers).hash(&mut hasher),
            // A network of 64 bits is the least that a provider assigns, so one machine has all of
            // its addresses.
            Some(IpAddr::V6(address)) => address.segments()[..4].hash(&mut hasher),
            other => other.hash(&mut hasher),
        }
        hasher.finish()
    }

    /// Has nobody answered without a key, be there any or not.
    pub fn refuse_anonymous(&mut self) {
        self.keys.restrict_anonymous(Anonymous::None);
    }

    /// Answers one browser as an administrator, and others by their keys alone. Returns the token
    /// by which the page in that browser opens its session, once, at `POST /console/session`.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the system has no random bits.
    pub fn open_session(&mut self) -> Result<String> {
        self.keys.open_session()
    }

    /// Adds a key of 256 random bits, which lets its holder read and write. Returns it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the system has no random bits.
    pub fn add_random_key(&mut self) -> Result<String> {
        let key = random_hex::<32>()?;
        self.add(Secret::ClientKey, &key)?;
        Ok(key)
    }

    /// Adds a secret. There is one token, the last; of keys there may be many.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for a key that looks like one that is retained in a database.
    pub fn add(&mut self, kind: Secret, secret: &str) -> Result<()> {
        if kind != Secret::Token && secret.starts_with(KEY_PREFIX) {
            let message = format!(
                "a key that begins with {KEY_PREFIX}, as those do that `hexgraph keys` makes"
            );
            let hint = "those are known without being named here";
            return Err(Error::query(message).with_hint(hint));
        }
        match kind {
            Secret::Token => {
                self.token = Some(digest(secret));
                self.keys.has_token = true;
            }
            Secret::AdminKey => self.keys.add(secret, KeyRole::Admin),
            Secret::ClientKey => self.keys.add(secret, KeyRole::Client),
        }
        Ok(())
    }

    /// Whether a request names the token, where there is one.
    pub fn knows_token(&self, incoming: &Incoming) -> bool {
        self.token.is_none() || given(incoming.headers()).is_some_and(|given| self.is_token(given))
    }

    /// The role of who sends a request: that of the key, where keys are requested. Where they are
    /// not, and there are no users who have rights of their own, it is that of an administrator for
    /// those who may administer, and that of a client for all others.
    pub fn role_at(
        &self,
        database: &Database,
        headers: &HeaderMap,
        address: Option<IpAddr>,
    ) -> KeyRole {
        if self.keys.are_needed(database) {
            // Without a valid key nothing runs that needs one.
            return self.keys.role(database, headers).unwrap_or(KeyRole::ReadOnly);
        }
        let may_administer = || {
            !self.keys.prevents_administering(database)
                && self.refusal_at(headers, address).is_none()
        };
        match database.has_access_list() || may_administer() {
            true => KeyRole::Admin,
            false => KeyRole::Client,
        }
    }

    /// Why a request may not come from where it comes; `None` where it may.
    pub fn address_refusal(&self, incoming: &Incoming) -> Option<String> {
        self.address_refusal_at(incoming.client())
    }

    fn address_refusal_at(&self, address: Option<IpAddr>) -> Option<String> {
        let Some(address) = address else {
            return Some("unauthorized ip address: it is not known".to_owned());
        };
        // A socket for both protocols sees IPv4 clients as `::ffff:a.b.c.d`.
        let address = address.to_canonical();
        let is_listed = |(first, last): &(IpAddr, IpAddr)| {
            // Addresses of IPv4 are ordered before all of IPv6, so a range compares only with its
            // own kind.
            first.is_ipv4() == address.is_ipv4() && (*first..=*last).contains(&address)
        };
        if !address.is_loopback() && !self.ranges.iter().any(is_listed) {
            return Some(format!("unauthorized ip address: {address}"));
        }
        None
    }

    /// Why a request may not alter; `None` when it may.
    pub fn refusal(&self, incoming: &Incoming) -> Option<String> {
        self.refusal_at(incoming.headers(), incoming.client())
    }

    fn refusal_at(&self, headers: &HeaderMap, address: Option<IpAddr>) -> Option<String> {
        if let Some(refusal) = self.address_refusal_at(address) {
            return Some(refusal);
        }
        match given(headers) {
            _ if self.token.is_none() => None,
            None => Some("No Auth Token found. Token needed for Admin operations.".to_owned()),
            Some(given) if self.is_token(given) => None,
            Some(_) => Some("Provided auth token does not match. Permission denied.".to_owned()),
        }
    }

    fn is_token(&self, given: &str) -> bool {
        self.token == Some(digest(given))
    }
}

fn given(headers: &HeaderMap) -> Option<&str> {
    let given = TOKEN_HEADERS.iter().find_map(|name| headers.get(*name))?;
    given.to_str().ok().filter(|given| !given.is_empty())
}

/// An address, a network (`10.0.0.0/8`, `fd00::/8`), a range (`10.0.0.1-10.0.0.9`,
/// `fd00::1-fd00::9`; of IPv4 also with `:` between), or the name of a machine. An address of IPv4
/// that is written as one of IPv6 (`::ffff:10.0.0.1`) is the one of IPv4. `at` is its position in
/// the list: its text is not reported, since it may be a secret that went astray.
fn ranges_of(text: &str, at: usize) -> Result<Vec<(IpAddr, IpAddr)>> {
    let address_of = |text: &str| text.parse::<IpAddr>().ok().map(|address| address.to_canonical());
    if let Some(address) = address_of(text) {
        return Ok(vec![(address, address)]);
    }
    let bad = || Error::query(format!("security whitelist, entry {at}: it is no address"));
    if let Some((address, bits)) = text.split_once('/') {
        let address = address.parse::<IpAddr>().map_err(|_| bad())?;
        let bits = bits.parse::<u32>().map_err(|_| bad())?;
        return Ok(vec![network(address, bits).ok_or_else(bad)?]);
    }
    // No address of IPv4 has a colon itself, and none at all a dash.
    let mut pairs = [text.split_once('-'), text.split_once(':')].into_iter().flatten();
    let bounds = pairs.find_map(|(first, last)| Some((address_of(first)?, address_of(last)?)));
    if let Some((first, last)) = bounds {
        let is_range = first.is_ipv4() == last.is_ipv4() && first <= last;
        return if is_range { Ok(vec![(first, last)]) } else { Err(bad()) };
    }
    // Only what can be a name goes to the name servers.
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    if !text.chars().all(is_name) {
        return Err(bad());
    }
    let failed = |error| Error::io(format!("security whitelist, entry {at}: looking it up"), error);
    let result = (text, 0).to_socket_addrs().map_err(failed)?;
    Ok(result.map(|result| (result.ip().to_canonical(), result.ip().to_canonical())).collect())
}

/// The first and the last address that have the first bits of another.
fn network(address: IpAddr, bits: u32) -> Option<(IpAddr, IpAddr)> {
    Some(match address {
        IpAddr::V4(address) => {
            // A shift by all 32 bits is not defined in Rust; an entire address leaves no rest.
            let rest = u32::MAX.checked_shr(bits).unwrap_or(0);
            let first = (bits <= 32).then_some(address.to_bits() & !rest)?;
            (IpAddr::V4(first.into()), IpAddr::V4((first | rest).into()))
        }
        // The first 96 bits say that it is one of IPv4; a network of fewer has all of them and many
        // others.
        IpAddr::V6(address) if 96 <= bits && address.to_ipv4_mapped().is_some() => {
            return network(IpAddr::V6(address).to_canonical(), bits - 96);
        }
        IpAddr::V6(address) => {
            let rest = u128::MAX.checked_shr(bits).unwrap_or(0);
            let first = (bits <= 128).then_some(address.to_bits() & !rest)?;
            (IpAddr::V6(first.into()), IpAddr::V6((first | rest).into()))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Bytes;
    use axum::http::HeaderMap;

    fn request(address: &str, token: Option<&str>) -> Incoming {
        let mut headers = HeaderMap::new();
        if let Some(token) = token {
            headers.insert(TOKEN_HEADERS[0], token.parse().unwrap());
        }
        let incoming = Incoming::new(headers, None, Bytes::new()).unwrap();
        incoming.with_client(address.parse().ok())
    }

    #[test]
    fn addresses() {
        let mut security = Security::default();
        let may = |security: &Security, address: &str| {
            security.address_refusal(&request(address, None)).is_none()
        };
        for (address, want) in [
            ("127.0.0.1", true),
            ("127.9.9.9", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("10.0.0.1", false),
            ("unknown", false),
        ] {
            assert_eq!(may(&security, address), want, "{address}");
        }
        security.set("whitelist=10.1.2.3, 10.2.0.0/16,10.3.0.5:10.3.0.7;").unwrap();
        security.set("whitelist=fd00::/8,10.4.0.1-10.4.0.2,2001:db8::1").unwrap();
        for address in [
            "10.1.2.3",
            "::ffff:10.1.2.3",
            "10.2.255.255",
            "10.3.0.5",
            "10.3.0.7",
            "fd12::9",
            "10.4.0.2",
            "2001:db8::1",
            "127.0.0.1",
        ] {
            assert!(may(&security, address), "{address}");
        }
        for address in ["10.1.2.4", "10.3.0.8", "10.1.255.255", "2001:db8::2", "fe80::1", "0.0.0.0"]
        {
            assert!(!may(&security, address), "{address}");
        }
        let refusal = security.refusal(&request("9.9.9.9", None)).unwrap();
        assert_eq!(refusal, "unauthorized ip address: 9.9.9.9");
        security.set("whitelist=0.0.0.0/0,::/0").unwrap();
        assert!(may(&security, "9.9.9.9") && may(&security, "fe80::1"));
    }

    #[test]
    fn ranges_of_both_protocols() {
        for (setting, inside, outside) in [
            ("fd00::1-fd00::9", "fd00::9", "fd00::a"),
            ("fd00::1-fd00::9", "fd00::1", "10.0.0.1"),
            ("fd00::a/127", "fd00::b", "fd00::9"),
            ("10.0.0.1-10.0.0.9", "10.0.0.9", "fd00::1"),
            ("::ffff:10.0.0.1-::ffff:10.0.0.9", "10.0.0.9", "10.0.0.10"),
            ("10.0.0.1-::ffff:10.0.0.9", "::ffff:10.0.0.2", "10.0.0.10"),
            ("::ffff:10.0.0.1", "10.0.0.1", "10.0.0.2"),
            ("::ffff:10.0.0.0/104", "10.255.255.255", "11.0.0.0"),
        ] {
            let mut security = Security::default();
            security.set(&format!("whitelist={setting}")).expect(setting);
            assert_eq!(security.address_refusal(&request(inside, None)), None, "{setting}");
            assert!(security.address_refusal(&request(outside, None)).is_some(), "{setting}");
        }
    }

    #[test]
    fn tokens() {
        let mut security = Security::default();
        assert_eq!(security.refusal(&request("::1", None)), None);
        security.set("token= itIs=Secret ;whitelist=1.1.1.1").unwrap();
        assert_eq!(security.refusal(&request("1.1.1.1", Some("itIs=Secret"))), None);
        let wrong = security.refusal(&request("::1", Some("x"))).unwrap();
        assert_eq!(wrong, "Provided auth token does not match. Permission denied.");
        for none in [None, Some("")] {
            let refusal = security.refusal(&request("::1", none)).unwrap();
            assert_eq!(refusal, "No Auth Token found. Token needed for Admin operations.");
            assert!(!security.knows_token(&request("::1", none)));
        }
        assert!(security.knows_token(&request("::1", Some("itIs=Secret"))));
        assert!(!format!("{security:?}").contains("Secret"));
    }

    #[test]
    fn callers_of_other_addresses() {
        use crate::http::effect::Effect;
        use crate::http::guard::keys::Role;
        let (database, here) = (Database::in_memory(), "127.0.0.1".parse().ok());
        let (admin, client) = ((Role::Admin, Effect::Changes), (Role::Client, Effect::Changes));
        let may = |setting: &str| {
            let mut security = Security::default();
            security.set("whitelist=0.0.0.0/0").unwrap();
            security.set(setting).unwrap();
            let none = HeaderMap::new();
            let passes = |requested| security.keys.refusal(requested, &database, &none).is_none();
            (passes(client), passes(admin), security.role_at(&database, &none, here))
        };
        assert_eq!(may(""), (true, true, KeyRole::Admin));
        assert_eq!(may("anonymous=full"), (true, true, KeyRole::Admin));
        assert_eq!(may(" anonymous = data "), (true, false, KeyRole::Client));
        assert_eq!(may("anonymous=none"), (false, false, KeyRole::ReadOnly));
        // A caller with the token is authenticated: `refusal` requires it, and without it a caller
        // is a client.
        assert_eq!(may("anonymous=data;token=secret"), (true, true, KeyRole::Client));
        // Keys are requested as ever, and the strictest setting counts.
        assert_eq!(may("anonymous=data;client-key=secret"), (false, false, KeyRole::ReadOnly));
        assert_eq!(may("anonymous=none;anonymous=full"), (false, false, KeyRole::ReadOnly));
    }

    #[test]
    fn wrong_settings() {
        let neither = "expected token=SECRET, whitelist=ADDRESSES";
        for (bad, why) in [
            ("anonymous", "security anonymous: expected full, data or none"),
            ("anonymous=hunter2", "security anonymous: expected full, data or none"),
            ("token", "security token: it is empty"),
            ("token=", "security token: it is empty"),
            ("admin-key", "security admin-key: it is empty"),
            ("client-key= ", "security client-key: it is empty"),
            ("tokens=hunter2", neither),
            ("hunter2", neither),
            ("admin_key=hunter2", neither),
            ("whitelist=10.0.0.0/33", "security whitelist, entry 1: it is no address"),
            ("whitelist=::/129", "entry 1: it is no address"),
            ("whitelist=1.2.3.4:1.2.3.3", "entry 1: it is no address"),
            ("whitelist=fd00::9-fd00::1", "entry 1: it is no address"),
            ("whitelist=fd00::1:fd00::9", "entry 1: it is no address"),
            ("whitelist=10.0.0.1-fd00::9", "entry 1: it is no address"),
            ("whitelist=1.2.3/8", "entry 1: it is no address"),
            ("whitelist=::1,::1/x", "entry 2: it is no address"),
            ("whitelist=::1,token=hunter2", "entry 2: it is no address"),
            ("whitelist=::1,hunter2!", "entry 2: it is no address"),
        ] {
            let error = Security::default().set(bad).expect_err(bad);
            assert!(matches!(error, Error::Query { .. }), "{error:?}");
            let error = error.to_string();
            assert!(error.contains(why) && !error.contains("hunter2"), "{error}");
        }
        let second = Security::default().set("token=a;hunter2").unwrap_err().to_string();
        assert!(second.contains("security, setting 2: expected"), "{second}");
    }
}
