//! A server that programs on the same machine reach by a file.

use super::site::{Answer, send_by};
use crate::grpc::client::Client;
use crate::grpc::messages::{Request, Response};
use hexgraph::db::Database;
use hexgraph_server::http::{ServeOptions, Server, SocketFileOptions};
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

/// Starts a server that has only a file.
fn start(path: &Path) -> Result<Server, String> {
    let database = Database::in_memory();
    database.set_graphql_schema("type Film { title: String! @id }").unwrap();
    let socket_file = Some(SocketFileOptions::new(path.to_owned()));
    let options = ServeOptions { port: None, socket_file, ..ServeOptions::default() };
    Server::start(database, options).map_err(|error| error.to_string())
}

fn ask(path: &Path, request: (&str, &str), content_type: &str, body: &str) -> Answer {
    let stream = UnixStream::connect(path).unwrap();
    send_by(stream, request, &[&format!("Content-Type: {content_type}")], body.as_bytes())
}

#[test]
fn all_routes_are_answered_at_the_file_and_no_port_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.sock");
    let mut server = start(&path).unwrap();
    assert_eq!((server.address(), server.grpc_address()), (None, None));
    assert_eq!(server.url(), format!("unix:{}", path.display()));
    assert_eq!(server.socket_path(), Some(&*path));

    let added = ask(
        &path,
        ("POST", "/graphql"),
        "application/json",
        r#"{"query": "mutation { addFilm(input: {title: \"Metropolis\"}) { numUids } }"}"#,
    );
    assert_eq!(added.json()["data"]["addFilm"]["numUids"], 1);
    let dql = "{ q(func: has(Film.title)) { Film.title } }";
    let result = ask(&path, ("POST", "/query"), "application/dql", dql);
    assert_eq!(result.json()["data"]["q"][0]["Film.title"], "Metropolis");
    // What is for this machine alone, this is.
    let altered = ask(&path, ("POST", "/alter"), "application/dql", "year: int .");
    assert_eq!(altered.json()["data"]["code"], "Success");
    let state = ask(&path, ("GET", "/state"), "application/json", "");
    assert!(state.text().contains(&server.url()), "{}", state.text());

    let client = Client::at_file(&path);
    let request = Request { query: dql.to_owned(), read_only: true, ..Request::default() };
    let response: Response = client.call("Query", request).unwrap();
    assert_eq!(&response.json[..], br#"{"q":[{"Film.title":"Metropolis"}]}"#);
    server.stop();
    assert!(!path.exists(), "the file goes with the server");
}

#[test]
fn the_permissions_of_the_file_say_who_may_connect() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.sock");
    let permissions = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let server = start(&path).unwrap();
    assert_eq!(permissions(&path), 0o600);
    drop(server);
    let socket_file = Some(SocketFileOptions { path: path.clone(), mode: 0o660 });
    let options = ServeOptions { port: Some(0), socket_file, ..ServeOptions::default() };
    let server = Server::start(Database::in_memory(), options).unwrap();
    assert_eq!(permissions(&path), 0o660);
    assert!(server.address().is_some() && server.url().starts_with("http://"));
}

#[test]
fn a_file_that_a_server_has_left_gives_way_and_nothing_else_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.sock");
    drop(UnixListener::bind(&path).unwrap());
    assert!(fs::symlink_metadata(&path).unwrap().file_type().is_socket(), "it was left");
    let server = start(&path).unwrap();

    let refusal = start(&path).err().unwrap();
    assert!(refusal.contains("another server answers at"), "{refusal}");
    let dql = "{ q(func: uid(1)) { uid } }";
    assert_eq!(ask(&path, ("POST", "/query"), "application/dql", dql).status, 200);
    drop(server);

    fs::write(&path, "a letter").unwrap();
    let refusal = start(&path).err().unwrap();
    assert!(refusal.contains("is there and is no socket"), "{refusal}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "a letter");
}

#[test]
fn a_server_leaves_a_file_that_is_no_longer_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.sock");
    let first = start(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let second = start(&path).unwrap();
    drop(first);
    assert!(path.exists());
    drop(second);
    assert!(!path.exists());
}

#[test]
fn a_server_needs_a_place_to_listen_at() {
    let options = ServeOptions { port: None, ..ServeOptions::default() };
    let refusal = Server::start(Database::in_memory(), options).err().unwrap().to_string();
    assert!(refusal.contains("neither a port nor a file"), "{refusal}");
    let folder = tempfile::tempdir().unwrap();
    let refusal = start(&folder.path().join("no/folder/graph.sock")).err().unwrap();
    assert!(refusal.contains("listening at the file"), "{refusal}");
    let refusal = start(&folder.path().join("long".repeat(50))).err().unwrap();
    assert!(refusal.contains("listening at the file"), "{refusal}");
}
