//! Clients of a database: in its process, and over HTTP.

use super::history::{ACCOUNTS, CLIENTS, REGISTERS, Reading};
use hexgraph::db::{
    Database, Mutation, MutationRequest, QueryRequest, RequestContext, Statements, Txn, TxnOptions,
};
use hexgraph::types::Error;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

/// The uids of registers, accounts and counters.
pub const FIRST_REGISTER: usize = 0x10;
pub const FIRST_ACCOUNT: usize = 0x20;
pub const FIRST_COUNTER: usize = 0x30;

/// Everything, found in three ways.
pub const READING: &str = "{
    registers(func: uid(0x10, 0x11, 0x12, 0x13, 0x14, 0x15)) { uid history }
    balances(func: ge(balance, -1000000)) { uid balance }
    counts(func: has(counter)) { uid counter } }";

/// Why a transaction came to its end: somebody else was first.
#[derive(Debug)]
pub struct Aborted;

/// A transaction of a client.
pub trait Session {
    fn read(&mut self) -> Result<Reading, Aborted>;
    /// Sets N-Quads.
    fn write(&mut self, lines: &str) -> Result<(), Aborted>;
    /// Returns the number of the commit.
    fn commit(self) -> Result<u64, Aborted>;
    fn discard(self);
}

/// A client, with or without a transaction.
pub trait Client: Send {
    type Session<'a>: Session
    where
        Self: 'a;
    fn begin(&self) -> Self::Session<'_>;
    /// Reads outside of transactions. Returns the number of the commit that is read, too, where it
    /// is told.
    fn read(&self) -> (Reading, Option<u64>);
    /// Carries a request in DQL out at once. Returns the number of the commit.
    fn mutate(&self, text: &str) -> u64;
}

pub fn reading_of(json: &str) -> Reading {
    let json: Value = serde_json::from_str(json).unwrap();
    reading(&json)
}

fn reading(json: &Value) -> Reading {
    let rows = |block: &str, field: &str, first: usize| -> Vec<(usize, Value)> {
        let rows = json[block].as_array().into_iter().flatten();
        let rows = rows.filter(|row| !row[field].is_null());
        rows.map(|row| {
            let uid = row["uid"].as_str().unwrap().trim_start_matches("0x");
            (usize::from_str_radix(uid, 16).unwrap() - first, row[field].clone())
        })
        .collect()
    };
    let mut reading = Reading {
        registers: vec![Vec::new(); REGISTERS],
        balances: vec![0; ACCOUNTS],
        counts: vec![0; CLIENTS],
    };
    for (position, history) in rows("registers", "history", FIRST_REGISTER) {
        let ids = history.as_str().unwrap().split_whitespace();
        reading.registers[position] = ids.map(|id| id.parse().unwrap()).collect();
    }
    for (position, balance) in rows("balances", "balance", FIRST_ACCOUNT) {
        reading.balances[position] = balance.as_i64().unwrap();
    }
    for (position, count) in rows("counts", "counter", FIRST_COUNTER) {
        reading.counts[position] = count.as_u64().unwrap();
    }
    reading
}

/// In the process of the database.
pub struct Inside {
    pub database: Database,
}

fn request() -> QueryRequest {
    QueryRequest { text: READING.to_owned(), ..QueryRequest::default() }
}

fn expect<T>(done: hexgraph::types::Result<T>) -> Result<T, Aborted> {
    match done {
        Ok(done) => Ok(done),
        Err(Error::Conflict) => Err(Aborted),
        Err(other) => panic!("{other}"),
    }
}

impl Client for Inside {
    type Session<'a> = Txn;

    fn begin(&self) -> Txn {
        self.database.begin(TxnOptions::default()).unwrap()
    }

    fn read(&self) -> (Reading, Option<u64>) {
        let answer = self.database.query_with(&request(), &RequestContext::new()).unwrap();
        (reading_of(&answer.to_json().unwrap().0), Some(answer.commit()))
    }

    fn mutate(&self, text: &str) -> u64 {
        self.database.mutate_text_with(text, &RequestContext::new()).unwrap().commit.unwrap()
    }
}

impl Session for Txn {
    fn read(&mut self) -> Result<Reading, Aborted> {
        let answer = expect(self.query_with(&request(), &RequestContext::new()))?;
        Ok(reading_of(&answer.to_json().unwrap().0))
    }

    fn write(&mut self, lines: &str) -> Result<(), Aborted> {
        let mutation = Mutation { set: vec![Statements::NQuads(lines)], ..Mutation::default() };
        let request = MutationRequest { mutations: vec![mutation], ..MutationRequest::default() };
        expect(self.mutate_with(&request, &RequestContext::new())).map(drop)
    }

    fn commit(self) -> Result<u64, Aborted> {
        expect(Txn::commit(&self))
    }

    fn discard(self) {
        Txn::discard(&self);
    }
}

/// Over HTTP, a connection for each request.
pub struct OverHttp {
    pub address: SocketAddr,
}

/// A transaction over HTTP: its start, and what the replies to its mutations told.
pub struct HttpSession<'a> {
    client: &'a OverHttp,
    start: u64,
    keys: Vec<Value>,
    predicates: Vec<Value>,
}

impl OverHttp {
    /// Posts a body. Returns the reply.
    fn post(&self, path: &str, content_type: &str, body: &str) -> Result<Value, Aborted> {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let length = body.len();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {content_type}\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{reply}");
        let reply: Value = serde_json::from_str(body).unwrap();
        let Some(errors) = reply.get("errors") else { return Ok(reply) };
        let message = errors[0]["message"].as_str().unwrap();
        assert!(
            message.contains("Transaction has been aborted. Please retry"),
            "{path}: {message}"
        );
        Err(Aborted)
    }
}

impl Client for OverHttp {
    type Session<'a> = HttpSession<'a>;

    fn begin(&self) -> HttpSession<'_> {
        HttpSession { client: self, start: 0, keys: Vec::new(), predicates: Vec::new() }
    }

    fn read(&self) -> (Reading, Option<u64>) {
        let reply = self.post("/query?ro=true&be=true", "application/dql", READING).unwrap();
        (reading(&reply["data"]), None)
    }

    fn mutate(&self, text: &str) -> u64 {
        let reply = self.post("/mutate?commitNow=true", "application/rdf", text).unwrap();
        reply["extensions"]["txn"]["commit_ts"].as_u64().unwrap()
    }
}

impl HttpSession<'_> {
    /// The first request begins the transaction.
    fn post(&mut self, path: &str, content_type: &str, body: &str) -> Result<Value, Aborted> {
        let path = match self.start {
            0 => path.to_owned(),
            start => format!("{path}?startTs={start}"),
        };
        let reply = self.client.post(&path, content_type, body)?;
        let start = reply["extensions"]["txn"]["start_ts"].as_u64().unwrap();
        assert!(self.start == 0 || self.start == start, "{start} is not {}", self.start);
        self.start = start;
        Ok(reply)
    }
}

impl Session for HttpSession<'_> {
    fn read(&mut self) -> Result<Reading, Aborted> {
        Ok(reading(&self.post("/query", "application/dql", READING)?["data"]))
    }

    fn write(&mut self, lines: &str) -> Result<(), Aborted> {
        let body = format!("{{ set {{\n{lines}\n}} }}");
        let reply = self.post("/mutate", "application/rdf", &body)?;
        let txn = &reply["extensions"]["txn"];
        self.keys.extend(txn["keys"].as_array().into_iter().flatten().cloned());
        self.predicates.extend(txn["preds"].as_array().into_iter().flatten().cloned());
        Ok(())
    }

    fn commit(self) -> Result<u64, Aborted> {
        let body = serde_json::json!({ "keys": self.keys, "preds": self.predicates });
        let path = format!("/commit?startTs={}", self.start);
        let reply = self.client.post(&path, "application/json", &body.to_string())?;
        Ok(reply["extensions"]["txn"]["commit_ts"].as_u64().unwrap())
    }

    fn discard(self) {
        let path = format!("/commit?startTs={}&abort=true", self.start);
        self.client.post(&path, "application/json", "{}").unwrap();
    }
}
