//! Tries a kubeconfig of a Secret, when the user asks for it.
//!
//! Invariants:
//! - it is one `GET /version`, answered within seconds or given up; nothing else is ever sent with it;
//! - what came out of a Secret runs no command and reads no file, and its bytes are overwritten;
//! - no text of an answer is repeated.
//!
//! Elsewhere: whether a kubeconfig may be tried (`checks`).

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;

use super::env::Env;
use super::guest::{is_object_name, kubeconfig_text};
use super::kubeconfig::{Impersonation, Kubeconfig, Selection, Trust};
use super::plugins::PluginPolicy;
use super::transport::{self, Clock, GuestOrigin, Login};
use super::{classify, send};

/// How long an answer may take, connecting included: what Cluster API waits.
const PROBE_TIME: Duration = Duration::from_secs(5);

/// The Secret and key that hold a kubeconfig.
#[derive(Debug, Clone, Copy)]
pub struct ProbePlace<'p> {
    pub namespace: &'p str,
    pub secret: &'p str,
    pub key: &'static str,
}

/// The result of trying a kubeconfig.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probed {
    /// The server accepts the credentials.
    Accepted,
    /// The server accepts the credentials and forbids reading the version.
    NotAllowed,
    /// 401, or a certificate it does not take.
    NotAccepted(String),
    /// Unknown: no connection to the server, or to the right one.
    NotReached(String),
    /// It could not be tried.
    NotTried(String),
}

impl Probed {
    /// What was found out, in a sentence.
    pub fn message(&self) -> String {
        match self {
            Self::Accepted => "tried: the server accepts it".to_owned(),
            Self::NotAllowed => {
                "tried: the server knows who it is and allows nothing (403): the login is good".to_owned()
            }
            Self::NotAccepted(why) => format!("tried: {why}: the session may have ended, or the user has no access"),
            Self::NotReached(why) => format!("tried: {why}; this says nothing about the login"),
            Self::NotTried(why) => format!("could not be tried: {why}"),
        }
    }
}

/// Reads the kubeconfig of a Secret and asks its server for its version.
pub async fn probe(
    management: &kube::Client,
    place: ProbePlace<'_>,
    origin: &GuestOrigin,
    env: &Env,
    clock: Clock,
) -> Probed {
    let asked = tokio::time::timeout(PROBE_TIME, ask(management, place, origin, env, clock)).await;
    asked.unwrap_or_else(|_| Probed::NotReached(format!("no answer within {} s", PROBE_TIME.as_secs())))
}

async fn ask(
    management: &kube::Client,
    place: ProbePlace<'_>,
    origin: &GuestOrigin,
    env: &Env,
    clock: Clock,
) -> Probed {
    let ProbePlace { namespace, secret, key } = place;
    if !is_object_name(namespace) || !is_object_name(secret) {
        return Probed::NotTried("its name is not a valid object name".to_owned());
    }
    let named = format!("{namespace}/{secret}");
    let (what, path) = (format!("reading Secret {named}"), format!("/api/v1/namespaces/{namespace}/secrets/{secret}"));
    let body = match send::get_bytes(management, &path, send::JSON).await {
        Ok((StatusCode::OK, body)) => body,
        Ok((code, body)) => {
            return Probed::NotTried(
                classify::status(code, classify::reason(&body).as_deref(), &what).message.to_string(),
            );
        }
        Err(error) => return Probed::NotTried(classify::transport(&error, &what).message.to_string()),
    };
    let text = match kubeconfig_text(body, &named, key) {
        Ok((text, _)) => text,
        Err(error) => return Probed::NotTried(error.to_string()),
    };
    let opened = async {
        let file =
            Kubeconfig::parse(&text, &format!("Secret {named}"), Trust::FromSecret).map_err(|e| e.to_string())?;
        let context = file.select(&Selection::Current).map_err(|error| error.to_string())?.remove(0);
        let access = file.access(&context).map_err(|error| error.to_string())?;
        let login = Arc::new(Login::new(&access.bearer, env, &PluginPolicy::none(), clock));
        let opened = transport::open(&access, &login, &Impersonation::default(), env, Some(origin)).await;
        opened.map_err(|error| error.to_string())
    };
    let connection = match opened.await {
        Ok(connection) => connection,
        Err(why) => return Probed::NotTried(why),
    };
    drop(text);
    answered(send::get_bytes(&connection.client, "/version", send::JSON).await.map(|(code, _)| code))
}

fn answered(answer: Result<StatusCode, send::TransportError>) -> Probed {
    let what = "asking its server for the version";
    match answer {
        Ok(StatusCode::OK) => Probed::Accepted,
        Ok(StatusCode::FORBIDDEN) => Probed::NotAllowed,
        Ok(StatusCode::UNAUTHORIZED) => Probed::NotAccepted("the server does not accept it (401)".to_owned()),
        Ok(other) => Probed::NotReached(classify::status(other, None, what).message.to_string()),
        Err(error) => {
            let gap = classify::transport(&error, what);
            let is_refused = matches!(gap.cause, trueup_core::world::GapCause::Unauthorized);
            if is_refused {
                Probed::NotAccepted(gap.message.to_string())
            } else {
                Probed::NotReached(gap.message.to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde_json::{Value, json};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;
    use crate::connect::testing::{answering, closed_port, still};
    use trueup_net::{Egress, Exemption, HolderReach};

    const PLACE: ProbePlace<'static> = ProbePlace { namespace: "workloads", secret: "eks-kubeconfig", key: "value" };
    const PATH: &str = "/api/v1/namespaces/workloads/secrets/eks-kubeconfig";
    const CANARY: &str = "canary-77c1d0";

    fn secret(server: &str, user: &str) -> Value {
        let text = format!(
            "{{current-context: admin, clusters: [{{name: c, cluster: {{server: '{server}'}}}}], \
             contexts: [{{name: admin, context: {{cluster: c, user: u}}}}], users: [{{name: u, user: {user}}}]}}"
        );
        json!({ "metadata": { "resourceVersion": "1" }, "data": { "value": STANDARD.encode(text) } })
    }

    /// A server that answers everything so, or nothing at all.
    async fn server(status_line: Option<&'static str>) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let mut silent = Vec::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                let Some(status_line) = status_line else {
                    silent.push(stream);
                    continue;
                };
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(stream.read_u8().await.unwrap());
                }
                let answer = format!("HTTP/1.1 {status_line}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}");
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        url
    }

    /// The origin of a Secret in a cluster that is reached so.
    fn origin(holder: HolderReach) -> GuestOrigin {
        let words = [Exemption::Http].into();
        let egress = Egress::default().with_guests([("eks".to_owned(), words)]);
        GuestOrigin { cluster: "eks".to_owned(), holder, egress }
    }

    async fn tried(server: &str, user: &str) -> Probed {
        let origin = origin(HolderReach::LoopbackCleartext);
        let management = answering(vec![(PATH, 200, secret(server, user))]);
        probe(&management, PLACE, &origin, &Env::default(), still()).await
    }

    #[tokio::test]
    async fn a_kubeconfig_that_leads_where_the_policy_refuses_is_not_tried() {
        let url = server(Some("200 OK")).await;
        let management = answering(vec![(PATH, 200, secret(&url, "{}"))]);
        let said = probe(&management, PLACE, &origin(HolderReach::Network), &Env::default(), still()).await;
        let Probed::NotTried(why) = said else { panic!("{said:?}") };
        assert!(why.contains("[egress] guests = { \"eks\" = [\"http\", \"loopback\"] }"), "{why}");
    }

    #[tokio::test]
    async fn each_answer_to_a_login_has_its_own_result() {
        let closed = closed_port();
        let cases = [
            ("200", server(Some("200 OK")).await, "accepts it"),
            ("401", server(Some("401 Unauthorized")).await, "does not accept it (401)"),
            ("403", server(Some("403 Forbidden")).await, "the login is good"),
            ("500", server(Some("500 Internal Server Error")).await, "the server failed"),
            ("refused", format!("http://127.0.0.1:{}", closed.port), "connection refused"),
            ("no such name", "http://nobody.invalid".to_owned(), "cannot be resolved"),
        ];
        for (case, url, expected) in cases {
            let said = tried(&url, &format!("{{token: {CANARY}}}")).await.message();
            assert!(said.contains(expected) && !said.contains(CANARY), "case: {case}: {said}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_says_nothing_is_given_up_after_five_seconds() {
        let url = server(None).await;
        let said = tried(&url, "{}").await;
        assert_eq!(said, Probed::NotReached("no answer within 5 s".to_owned()));
    }

    #[tokio::test]
    async fn nothing_is_run_and_nothing_read_for_a_kubeconfig_of_a_secret() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("made-by-a-plugin");
        let touch = format!(
            "{{apiVersion: client.authentication.k8s.io/v1, command: touch, args: ['{}'], interactiveMode: Never}}",
            file.display()
        );
        for user in [format!("{{exec: {touch}}}"), "{tokenFile: /etc/hostname}".to_owned()] {
            let said = tried("http://127.0.0.1:1", &user).await;
            assert!(matches!(said, Probed::NotTried(_)), "{user}: {said:?}");
        }
        assert!(!file.exists(), "the plugin was run");
    }

    #[tokio::test]
    async fn a_secret_that_can_not_be_read_is_not_tried() {
        let cases = [
            ("absent", vec![], "404"),
            ("forbidden", vec![(PATH, 403, json!({}))], "403"),
            ("no key", vec![(PATH, 200, json!({ "metadata": { "resourceVersion": "1" }, "data": {} }))], "has no key"),
        ];
        for (case, answers, expected) in cases {
            let said = probe(&answering(answers), PLACE, &origin(HolderReach::Network), &Env::default(), still())
                .await
                .message();
            assert!(said.starts_with("could not be tried") && said.contains(expected), "case: {case}: {said}");
        }
    }
}
