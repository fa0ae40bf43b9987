//! Reads the access rules of a server from arguments, files and the environment.

use super::arguments::{AnonymousRequests, McpArguments, ServeArguments};
use crate::http::{Certificates, Secret, Security, TlsFiles, access_options, read_secret};
use hexgraph::db::access::AccessOptions;
use hexgraph_base::types::{Error, Result, without_mark};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// The names of the environment variables.
const VARIABLES: [(&str, Secret); 3] = [
    ("HEXGRAPH_ADMIN_KEY", Secret::AdminKey),
    ("HEXGRAPH_CLIENT_KEY", Secret::ClientKey),
    ("HEXGRAPH_TOKEN", Secret::Token),
];

/// The environment variables with secrets that are set.
pub(super) fn secret_variables() -> impl Iterator<Item = &'static str> {
    VARIABLES.iter().map(|(name, _)| *name).filter(|name| std::env::var_os(name).is_some())
}

/// Reads the access rules. `variable` returns the value of a variable of the environment.
///
/// # Errors
///
/// Errors of a setting; never what it is, since it may be a secret, or meant to be one.
pub(super) fn security(
    arguments: &ServeArguments,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Security> {
    let mut security = Security::default();
    arguments.security.iter().try_for_each(|setting| security.set(setting))?;
    for (name, kind) in VARIABLES {
        add_variable(name, kind, &variable, &mut security)?;
    }
    let files = [
        (Secret::AdminKey, &arguments.admin_key_file[..]),
        (Secret::ClientKey, &arguments.client_key_file[..]),
        (Secret::Token, arguments.token_file.as_slice()),
    ];
    for (kind, paths) in files {
        paths.iter().try_for_each(|path| add_file(kind, path, &mut security))?;
    }
    arguments.allow_host.iter().try_for_each(|name| security.origins.allow_host(name))?;
    arguments.allow_origin.iter().try_for_each(|origin| security.origins.allow_origin(origin))?;
    if arguments.anonymous == AnonymousRequests::Off {
        security.refuse_anonymous();
    }
    if arguments.allow_get_changes {
        security.origins.allow_get_changes();
    }
    Ok(security)
}

/// Reads the certificates by which TLS is spoken; `None` where it is not.
///
/// # Errors
///
/// Which file is wrong, and what is.
pub(super) fn certificates(arguments: &ServeArguments) -> Result<Option<Arc<Certificates>>> {
    let (Some(certificate), Some(key)) = (&arguments.tls_cert, &arguments.tls_key) else {
        return Ok(None);
    };
    let (certificate, key) = (certificate.clone(), key.clone());
    let client_authorities = arguments.tls_client_ca.clone();
    let files = TlsFiles { certificate, key, client_authorities };
    Ok(Some(Arc::new(Certificates::read(files)?)))
}

/// Reads the settings of users and their rights; `None` where there are none.
///
/// # Errors
///
/// Errors of a setting or a file, without what is in the file.
pub(super) fn access_list(arguments: &ServeArguments) -> Result<Option<AccessOptions>> {
    let Some(settings) = &arguments.acl else { return Ok(None) };
    let mut options = access_options(settings)?;
    options.allows_default_password = arguments.acl_allow_default_password;
    if let Some(path) = &arguments.acl_initial_password_file {
        let password = String::from_utf8(read_secret(path)?);
        let wrong = |_| Error::query(format!("{}: it is not UTF-8", path.display()));
        options.initial_password = Some(password.map_err(wrong)?);
    }
    Ok(Some(options))
}

/// Reads the keys of `hexgraph mcp --http`, and whether there are any besides those of the
/// database.
///
/// # Errors
///
/// As [`security`].
pub(super) fn mcp_security(
    arguments: &McpArguments,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<(Security, bool)> {
    let mut security = Security::default();
    let (name, kind) = VARIABLES[1];
    let files = &arguments.client_key_file;
    let has_keys = !files.is_empty() || variable(name).is_some();
    add_variable(name, kind, variable, &mut security)?;
    files.iter().try_for_each(|path| add_file(kind, path, &mut security))?;
    arguments.allow_host.iter().try_for_each(|name| security.origins.allow_host(name))?;
    arguments.allow_origin.iter().try_for_each(|origin| security.origins.allow_origin(origin))?;
    security.refuse_anonymous();
    Ok((security, has_keys))
}

/// Adds the secret of a variable, where it is set.
fn add_variable(
    name: &str,
    kind: Secret,
    variable: impl Fn(&str) -> Option<OsString>,
    security: &mut Security,
) -> Result<()> {
    let Some(value) = variable(name) else { return Ok(()) };
    let wrong = |what: &str| Error::query(format!("the environment variable {name}: {what}"));
    let value = value.into_string().map_err(|_| wrong("it is not UTF-8"))?;
    match value.trim() {
        "" => Err(wrong("it is empty: set it to a secret, or not at all")),
        value => security.add(kind, value),
    }
}

fn add_file(kind: Secret, path: &Path, security: &mut Security) -> Result<()> {
    let shown = path.display();
    let text = fs::read_to_string(path)
        .map_err(|error| Error::io(format!("reading secrets from {shown}"), error))?;
    let secrets: Vec<&str> =
        without_mark(&text).lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match secrets[..] {
        [] => Err(Error::query(format!("{shown}: there is no secret in it, one a line"))),
        [_, _, ..] if kind == Secret::Token => {
            Err(Error::query(format!("{shown}: there is one token, and the file has more lines")))
        }
        _ => secrets.iter().try_for_each(|secret| security.add(kind, secret)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::arguments::{Arguments, Command};
    use clap::Parser;

    fn read(arguments: &[&str], environment: &[(&str, &str)]) -> Result<String> {
        let words = ["hexgraph", "serve"].iter().chain(arguments);
        let Ok(Arguments { command: Command::Serve(arguments), .. }) =
            Arguments::try_parse_from(words)
        else {
            panic!("{arguments:?}")
        };
        let variable = |name: &str| {
            let result = environment.iter().find(|(existing, _)| *existing == name);
            result.map(|(_, value)| OsString::from(value))
        };
        // It shows digests, no secrets.
        security(&arguments, variable).map(|security| format!("{security:?}"))
    }

    #[test]
    fn secrets_come_from_files_and_the_environment() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let typed =
            ["--security", "admin-key=hunter1;client-key=hunter2;client-key=hunter3;token=hunter4"];
        let want = read(&typed, &[]).unwrap();
        assert!(!want.contains("hunter"), "{want}");
        let (admin, clients) = (file("a", "hunter1\n"), file("c", "\n hunter2 \r\n\nhunter3"));
        let token = file("t", "hunter4\n");
        let files =
            ["--admin-key-file", &admin, "--client-key-file", &clients, "--token-file", &token];
        assert_eq!(read(&files, &[]).unwrap(), want);
        let environment = [
            ("HEXGRAPH_ADMIN_KEY", "hunter1"),
            ("HEXGRAPH_CLIENT_KEY", "hunter2"),
            ("HEXGRAPH_TOKEN", " hunter4\n"),
        ];
        let third = file("third", "hunter3");
        assert_eq!(read(&["--client-key-file", &third], &environment).unwrap(), want);
        let (empty, two) = (file("e", "\n \n"), file("two", "hunter1\nhunter2\n"));
        for (arguments, environment, why) in [
            (["--admin-key-file", &empty], ("", ""), "there is no secret in it"),
            (["--token-file", &two], ("", ""), "there is one token, and the file has more lines"),
            (
                ["--client-key-file", "/nowhere/hunter"],
                ("", ""),
                "reading secrets from /nowhere/hunter",
            ),
            (
                ["--port", "1"],
                ("HEXGRAPH_ADMIN_KEY", ""),
                "variable HEXGRAPH_ADMIN_KEY: it is empty",
            ),
        ] {
            let error = read(&arguments, &[environment]).unwrap_err().to_string();
            assert!(error.contains(why) && !error.contains("hunter1"), "{error}");
        }
    }
}
