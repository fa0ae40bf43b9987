//! A server with a database in memory, and a client of tonic.

use super::messages::{Mutation, Operation, Payload, Request, Response, TxnContext};
use axum::http::uri::PathAndQuery;
use hexgraph::db::Database;
use hexgraph_server::http::{GrpcPort, ServeOptions, Server};
use prost::Message;
use std::net::SocketAddr;
use std::path::Path;
use tokio::runtime::{Builder, Runtime};
use tonic::client::Grpc;
use tonic::metadata::{MetadataKey, MetadataMap};
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request as Call, Status};
use tonic_prost::ProstCodec;

/// Names, edges with a weight, and a counter that two may not change at once.
pub const SCHEMA: &str = "name: string @index(exact, term) @lang .\nage: int @index(int) .\nknows: [uid] @reverse .\nnick: string @index(exact) @upsert .";

/// A server and a client that is connected to it.
pub struct Site {
    pub server: Server,
    pub database: Database,
    pub client: Client,
}

/// A client on one connection.
#[derive(Clone)]
pub struct Client {
    runtime: std::sync::Arc<Runtime>,
    channel: Channel,
}

/// What came back of a call that was executed.
#[derive(Debug)]
pub struct Report<M> {
    pub message: M,
    pub headers: MetadataMap,
}

impl Site {
    pub fn new() -> Site {
        Site::with(ServeOptions::default())
    }

    pub fn with(options: ServeOptions) -> Site {
        Site::of(Database::in_memory(), options)
    }

    pub fn of(database: Database, options: ServeOptions) -> Site {
        database.alter(SCHEMA).unwrap();
        let options = ServeOptions { port: Some(0), grpc: GrpcPort::Beside, ..options };
        let server = Server::start(database.clone(), options).unwrap();
        let client = Client::new(server.grpc_address().unwrap());
        Site { server, database, client }
    }
}

impl Client {
    pub fn new(address: SocketAddr) -> Client {
        Client::of(Endpoint::from_shared(format!("http://{address}")).unwrap())
    }

    /// A client of a server that has a file. By itself it would name the file as the server's name,
    /// where others say localhost.
    pub fn at_file(path: &Path) -> Client {
        let endpoint = Endpoint::from_shared(format!("unix://{}", path.display())).unwrap();
        Client::of(endpoint.origin("http://localhost".parse().unwrap()))
    }

    fn of(endpoint: Endpoint) -> Client {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let channel = {
            let _inside = runtime.enter();
            endpoint.connect_lazy()
        };
        Client { runtime: std::sync::Arc::new(runtime), channel }
    }

    /// Calls a method of `api.Dgraph`, or one by its whole path, with metadata.
    pub fn call_with<Q, A>(
        &self,
        method: &str,
        message: Q,
        metadata: &[(&str, &str)],
    ) -> Result<Report<A>, Status>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        self.runtime.block_on(self.calling(method, message, metadata))
    }

    async fn calling<Q, A>(
        &self,
        method: &str,
        message: Q,
        metadata: &[(&str, &str)],
    ) -> Result<Report<A>, Status>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let path = match method.starts_with('/') {
            true => method.to_owned(),
            false => format!("/api.Dgraph/{method}"),
        };
        let mut call = Call::new(message);
        for (key, value) in metadata {
            let key: MetadataKey<_> = key.parse().unwrap();
            call.metadata_mut().insert(key, value.parse().unwrap());
        }
        let mut client = Grpc::new(self.channel.clone()).max_decoding_message_size(usize::MAX);
        client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
        let path: PathAndQuery = path.parse().unwrap();
        let done = client.unary(call, path, ProstCodec::<Q, A>::default()).await?;
        let (headers, message, _) = done.into_parts();
        Ok(Report { message, headers })
    }

    pub fn call<Q, A>(&self, method: &str, message: Q) -> Result<A, Status>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        self.call_with(method, message, &[]).map(|reported| reported.message)
    }

    /// Begins a call, and gives it up after so long.
    pub fn give_up(&self, request: Request, after: std::time::Duration) {
        let call = self.calling::<Request, Response>("Query", request, &[]);
        let given_up = self.runtime.block_on(async { tokio::time::timeout(after, call).await });
        assert!(given_up.is_err(), "it was answered");
    }

    pub fn ask(&self, request: Request) -> Result<Response, Status> {
        self.call("Query", request)
    }

    /// The JSON that a query is answered with.
    pub fn json(&self, query: &str) -> String {
        let request = Request { query: query.to_owned(), read_only: true, ..Request::default() };
        text(&self.ask(request).unwrap().json)
    }

    /// Sets N-Quads in a commit of their own.
    pub fn set(&self, nquads: &str) -> Response {
        let mutations = vec![Mutation { set_nquads: bytes(nquads), ..Mutation::default() }];
        self.ask(Request { mutations, commit_now: true, ..Request::default() }).unwrap()
    }

    pub fn alter(&self, operation: Operation) -> Result<Payload, Status> {
        self.call("Alter", operation)
    }

    pub fn commit(&self, txn: TxnContext) -> Result<TxnContext, Status> {
        self.call("CommitOrAbort", txn)
    }
}

pub fn bytes(text: &str) -> bytes::Bytes {
    bytes::Bytes::copy_from_slice(text.as_bytes())
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Asserts that a call failed so.
#[track_caller]
pub fn failed<A: std::fmt::Debug>(done: Result<A, Status>, code: Code, why: &str) {
    let status = done.unwrap_err();
    assert!(status.code() == code && status.message().contains(why), "{status:?}");
}
