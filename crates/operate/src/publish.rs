//! Publishing the journal's last hash outside of the state folder, and reading it back.
//!
//! Invariants:
//! - only the hash, the name of this machine and user, and the time leave;
//! - what another machine published is never changed;
//! - a hash that cannot be read is an error, never "nothing was published".
//!
//! Elsewhere: comparing it with the journal (`core::engine::journal`).

use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::Duration;

use http::{Method, Request, StatusCode, header};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use kube::client::Body;
use serde_json::{Value, json};

use crate::event::Notice;
use crate::session::Session;
use crate::settings::PublishTarget;
use crate::state::SafetySwitches;
use trueup_core::engine::executor::Switches as _;
use trueup_core::files;
use trueup_fleet::connect::send;

const MERGE_PATCH: &str = "application/merge-patch+json";
/// How much of the end of the file is read: about 8,000 lines.
const FILE_TAIL_MAX: u64 = 1 << 20;
/// authpriv (10) × 8 + notice (5).
const SYSLOG_PRIORITY: u8 = 10 * 8 + 5;
/// What the messages are found by: `journalctl -t trueup`.
const SYSLOG_TAG: &str = "trueup";
/// How long a full queue of the daemon is waited for.
const SYSLOG_TIME_MAX: Duration = Duration::from_secs(2);
/// The longest key of a ConfigMap.
const KEY_MAX: usize = 253;

/// Why a hash was not published or cannot be read: one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PublishError(String);

impl PublishError {
    fn new(why: impl fmt::Display) -> Self {
        Self(why.to_string())
    }
}

/// Publishes the journal's last hash where the configuration says. A failure is a notice: what was applied is in the journal already.
pub(crate) async fn publish(session: &Session, last_hash: Option<String>) {
    let (Some(target), Some(hash)) = (&session.settings.publish, last_hash) else { return };
    if let Err(error) = publish_to(session, target, &hash).await {
        session.events.notice(Notice::NotPublished { target: target.to_string(), why: error.to_string() });
    }
}

async fn publish_to(session: &Session, target: &PublishTarget, hash: &str) -> Result<(), PublishError> {
    let (key, now) = (publisher(session), Timestamp::now());
    match target {
        PublishTarget::File(path) => append_line(path, &format!("{now} {key} {hash}")).map_err(PublishError::new),
        PublishTarget::Syslog { socket } => {
            let at = now.to_zoned(TimeZone::system());
            send_syslog(socket, &syslog_line(&at, &key, hash)).map_err(PublishError::new)
        }
        PublishTarget::ConfigMap { context, namespace, name } => {
            if let Some(blocked) = SafetySwitches::new(session).shut(now) {
                return Err(PublishError::new(blocked.why));
            }
            let client = connect(session, context).await?;
            write_config_map(&client, namespace, name, &key, hash).await
        }
    }
}

/// The hash this machine and user published last. None: nothing was published.
///
/// # Errors
/// The target cannot be read: syslog never can.
pub async fn read_published(session: &Session, target: &PublishTarget) -> Result<Option<String>, PublishError> {
    let key = publisher(session);
    match target {
        PublishTarget::Syslog { .. } => Err(PublishError::new("syslog is written and never read")),
        PublishTarget::File(path) => Ok(read_tail(path).map_err(PublishError::new)?.and_then(|text| last(&text, &key))),
        PublishTarget::ConfigMap { context, namespace, name } => {
            let client = connect(session, context).await?;
            read_config_map(&client, namespace, name, &key).await
        }
    }
}

/// `laptop.anna`, with the characters that a key of a ConfigMap may have.
fn publisher(session: &Session) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "-._".contains(c) { c } else { '-' };
    format!("{}.{}", session.host(), session.user()).chars().map(allowed).take(KEY_MAX).collect()
}

fn append_line(path: &Path, line: &str) -> io::Result<()> {
    let ends_open = read_tail(path)?.is_some_and(|text| !text.is_empty() && !text.ends_with('\n'));
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    // A line that an interrupted run left unfinished is not continued.
    let begin = if ends_open { "\n" } else { "" };
    file.write_all(format!("{begin}{line}\n").as_bytes())?;
    file.sync_data()
}

/// A message as the C library sends it: facility authpriv, severity notice, local time without a year.
fn syslog_line(at: &Zoned, key: &str, hash: &str) -> String {
    let (time, process) = (at.strftime("%b %e %H:%M:%S"), std::process::id());
    format!("<{SYSLOG_PRIORITY}>{time} {SYSLOG_TAG}[{process}]: journal {key} {hash}")
}

/// Sends one message to a local syslog daemon, which must not hold up a run that is over.
fn send_syslog(socket: &Path, line: &str) -> io::Result<()> {
    let sender = UnixDatagram::unbound()?;
    sender.set_write_timeout(Some(SYSLOG_TIME_MAX))?;
    sender.send_to(line.as_bytes(), socket).map(drop)
}

/// The end of the file. None: there is no file.
fn read_tail(path: &Path) -> io::Result<Option<String>> {
    match files::read_tail(path, FILE_TAIL_MAX) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The hash in the last whole line of this publisher.
fn last(text: &str, key: &str) -> Option<String> {
    let hash = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        [_, by, hash] if by == key => Some(hash.to_owned()),
        _ => None,
    };
    text.split_inclusive('\n').rev().filter_map(|line| line.strip_suffix('\n')).find_map(hash)
}

async fn connect(session: &Session, context: &str) -> Result<kube::Client, PublishError> {
    Ok(session.connect(context).await.map_err(PublishError::new)?.client)
}

async fn read_config_map(
    client: &kube::Client,
    namespace: &str,
    name: &str,
    key: &str,
) -> Result<Option<String>, PublishError> {
    let path = format!("/api/v1/namespaces/{namespace}/configmaps/{name}");
    let (status, body) = send::get_bytes(client, &path, send::JSON).await.map_err(PublishError::new)?;
    match status {
        StatusCode::NOT_FOUND => Ok(None),
        status if status.is_success() => {
            let object: Value = serde_json::from_slice(&body).map_err(|_| not_config_map())?;
            Ok(object.pointer("/data").and_then(|data| data.get(key)?.as_str()).map(str::to_owned))
        }
        status => Err(refused(status)),
    }
}

/// Replaces one key; makes the ConfigMap when there is none.
async fn write_config_map(
    client: &kube::Client,
    namespace: &str,
    name: &str,
    key: &str,
    hash: &str,
) -> Result<(), PublishError> {
    let all = format!("/api/v1/namespaces/{namespace}/configmaps");
    let change = json!({ "data": { key: hash } });
    match write(client, Method::PATCH, &format!("{all}/{name}"), MERGE_PATCH, &change).await? {
        StatusCode::NOT_FOUND => {}
        status if status.is_success() => return Ok(()),
        status => return Err(refused(status)),
    }
    let made = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": name, "namespace": namespace }, "data": { key: hash },
    });
    match write(client, Method::POST, &all, send::JSON, &made).await? {
        status if status.is_success() => Ok(()),
        status => Err(refused(status)),
    }
}

async fn write(
    client: &kube::Client,
    method: Method,
    path: &str,
    content_type: &str,
    body: &Value,
) -> Result<StatusCode, PublishError> {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::ACCEPT, send::JSON)
        .header(header::CONTENT_TYPE, content_type)
        .body(Body::from(body.to_string().into_bytes()))
        .map_err(PublishError::new)?;
    let sent = tokio::time::timeout(send::STREAM_START_TIMEOUT, client.send(request)).await;
    let response = sent.map_err(|_| PublishError::new("timed out"))?;
    Ok(response.map_err(|_| PublishError::new("the request failed"))?.status())
}

fn refused(status: StatusCode) -> PublishError {
    PublishError(format!("the API server returned {}", status.as_u16()))
}

fn not_config_map() -> PublishError {
    PublishError::new("the response is not a ConfigMap")
}

impl fmt::Display for PublishTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::ConfigMap { context, namespace, name } => write!(f, "ConfigMap {namespace}/{name} of {context}"),
            Self::Syslog { socket } => write!(f, "syslog ({})", socket.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_sim::{SimCluster, SimOptions};

    #[test]
    fn a_file_keeps_every_publication_and_gives_the_last_whole_line_of_this_machine() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hashes");
        assert_eq!(read_tail(&path).unwrap(), None, "nothing was published");
        for line in ["t1 here.anna sha256:1", "t2 elsewhere.anna sha256:2", "t3 here.anna sha256:3"] {
            append_line(&path, line).unwrap();
        }
        let last_of = |key| last(&read_tail(&path).unwrap().unwrap(), key);
        assert_eq!(last_of("here.anna").as_deref(), Some("sha256:3"));
        assert_eq!(last_of("elsewhere.anna").as_deref(), Some("sha256:2"));
        assert_eq!(last_of("here.ben"), None);
        std::fs::write(&path, "t1 here.anna sha256:1\nt2 here.anna sha2").unwrap();
        assert_eq!(last_of("here.anna").as_deref(), Some("sha256:1"), "an unfinished line says nothing");
        append_line(&path, "t3 here.anna sha256:3").unwrap();
        assert_eq!(last_of("here.anna").as_deref(), Some("sha256:3"));
        assert!(read_tail(dir.path()).is_err(), "a folder cannot be read, which is not \"nothing published\"");
    }

    #[test]
    fn syslog_receives_one_message_with_machine_and_hash() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("log");
        let daemon = UnixDatagram::bind(&socket).unwrap();
        let at = "2026-11-06T10:00:05[UTC]".parse().unwrap();
        send_syslog(&socket, &syslog_line(&at, "here.anna", "sha256:1")).unwrap();
        let mut bytes = [0; 200];
        let length = daemon.recv(&mut bytes).unwrap();
        let expected = format!("<85>Nov  6 10:00:05 trueup[{}]: journal here.anna sha256:1", std::process::id());
        assert_eq!(String::from_utf8_lossy(&bytes[..length]), expected);
        let absent = send_syslog(&dir.path().join("absent"), "x").unwrap_err();
        assert_eq!(absent.kind(), io::ErrorKind::NotFound);
        // A daemon that does not read has a full queue, and the run ends all the same.
        let full =
            std::iter::repeat_with(|| send_syslog(&socket, &"x".repeat(1000))).take(100_000).find_map(Result::err);
        assert_eq!(full.map(|error| error.kind()), Some(io::ErrorKind::WouldBlock));
    }

    #[tokio::test]
    async fn a_config_map_keeps_what_other_machines_published() {
        let start = "2026-11-16T10:00:00Z".parse().unwrap();
        let sim = SimCluster::new(SimOptions { name: "hub".to_owned(), seed: 1, start });
        sim.seed(json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "audit" } })).unwrap();
        let client = sim.client();
        let read = async |key| read_config_map(&client, "audit", "trueup", key).await;
        assert_eq!(read("here.anna").await, Ok(None));
        for (key, hash) in [("here.anna", "sha256:1"), ("there.ben", "sha256:2"), ("here.anna", "sha256:3")] {
            write_config_map(&client, "audit", "trueup", key, hash).await.unwrap();
        }
        assert_eq!(read("here.anna").await, Ok(Some("sha256:3".to_owned())));
        assert_eq!(read("there.ben").await, Ok(Some("sha256:2".to_owned())));
        let refused = kube::Client::new(sim.service_unauthenticated(), "default");
        let unreadable = read_config_map(&refused, "audit", "trueup", "here.anna").await;
        assert_eq!(
            unreadable,
            Err(PublishError::new("the API server returned 401")),
            "which is not \"nothing published\""
        );
    }
}
