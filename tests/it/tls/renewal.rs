//! Certificates that are replaced while the server runs.

use super::authority::{Authority, Identity};
use super::site::{Manner, Site, eventually};
use std::fs;
use std::thread::sleep;
use std::time::Duration;

/// Whether a new connection is shown this certificate.
fn shows(site: &Site, identity: &Identity) -> bool {
    let mut line = site.connect();
    assert_eq!(line.get("/health").status, 200);
    line.stream.conn.peer_certificates().unwrap()[0] == identity.der()
}

#[test]
fn new_connections_see_the_new_certificate() {
    let site = Site::new(&[]);
    let mut old = site.connect();
    for name in ["second", "third"] {
        let next = site.authority.sign(name);
        assert!(!shows(&site, &next));
        site.write(&next);
        eventually("it is shown", || shows(&site, &next));
    }
    site.logs("cert.pem: the certificate was read anew");
    // One that was there goes on.
    assert_eq!(old.get("/health").status, 200);
}

#[test]
fn what_cannot_be_used_leaves_the_old_one_and_is_told_once() {
    let site = Site::new(&[]);
    let first = site.authority.sign("first");
    site.write(&first);
    eventually("it is shown", || shows(&site, &first));
    let (next, cert, key) = (
        site.authority.sign("next"),
        site.folder.path().join("cert.pem"),
        site.folder.path().join("key.pem"),
    );
    let reported = |what: &str| {
        site.logs(what);
        assert!(shows(&site, &first), "{what}");
    };
    fs::write(&cert, "hunter2").unwrap();
    reported("there is no certificate in PEM in it");
    fs::write(&cert, &next.certificate).unwrap();
    reported("does not belong to the certificate in");
    fs::remove_file(&key).unwrap();
    reported("for TLS");
    sleep(Duration::from_secs(3));
    let log = site.program.log();
    assert_eq!(log.matches("and cannot be used, so those from before stay").count(), 3, "{log}");
    assert!(!log.contains("hunter2") && !log.contains("BEGIN PRIVATE"), "{log}");
    fs::write(&key, &next.key).unwrap();
    eventually("it is shown", || shows(&site, &next));
}

#[test]
fn an_authority_that_is_replaced_knows_its_clients_alone() {
    let (first, second) = (Authority::new("clients"), Authority::new("clients"));
    let site = Site::that_asks_for(&first);
    let (one, two) = (first.sign("ada"), second.sign("bob"));
    let is_known = |identity| {
        let manner = Manner { identity: Some(identity), ..Default::default() };
        let line = site.try_connect(manner);
        line.and_then(|mut line| line.try_get("/health"))
            .is_ok_and(|reported| reported.status == 200)
    };
    assert!(is_known(&one) && !is_known(&two));
    fs::write(site.folder.path().join("ca.pem"), &second.certificate).unwrap();
    eventually("the second is known", || is_known(&two));
    assert!(!is_known(&one));
}
