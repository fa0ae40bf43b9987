//! What is said of settings that cannot be right, before anything is opened.

use super::authority::Authority;
use std::fs;
use std::process::Command;

#[test]
fn wrong_files_are_told_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new("ours");
    let (one, other) = (authority.sign("one"), authority.sign("other"));
    let path = |name: &str| folder.path().join(name).display().to_string();
    let damaged = one.certificate.replacen("MII", "AAA", 1);
    for (name, text) in [
        ("cert", one.certificate.as_str()),
        ("key", &one.key),
        ("other.key", &other.key),
        ("damaged", &damaged),
        ("text", "hunter2"),
    ] {
        fs::write(path(name), text).unwrap();
    }
    let dgraph = path("never");
    for (cert, key, authorities, why) in [
        ("cert", None, None, "--tls-key <FILE>"),
        ("none", Some("key"), None, "none for TLS: No such file"),
        ("cert", Some("none"), None, "none for TLS: No such file"),
        ("text", Some("key"), None, "text: there is no certificate in PEM in it"),
        ("key", Some("key"), None, "key: there is no certificate in PEM in it"),
        ("cert", Some("cert"), None, "cert: there is no private key in PEM in it"),
        ("cert", Some("other.key"), None, "does not belong to the certificate in"),
        ("damaged", Some("key"), None, "damaged: its first certificate is damaged"),
        ("cert", Some("key"), Some("text"), "text: there is no certificate in PEM in it"),
        ("cert", Some("key"), Some("damaged"), "damaged: certificate 1 cannot be an authority's"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hexgraph"));
        command.args(["serve", &dgraph, "--port", "0", "--tls-cert", &path(cert)]);
        for (option, name) in [("--tls-key", key), ("--tls-client-ca", authorities)] {
            if let Some(name) = name {
                command.args([option, &path(name)]);
            }
        }
        let done = command.output().unwrap();
        let reported = String::from_utf8_lossy(&done.stderr);
        assert!(!done.status.success() && reported.contains(why), "{cert} {key:?}: {reported}");
        assert!(
            !reported.contains("hunter2") && !reported.contains("BEGIN PRIVATE KEY-----\nM"),
            "{reported}"
        );
        assert!(done.stdout.is_empty());
        assert!(!folder.path().join("never").exists(), "a database was opened");
    }
}
