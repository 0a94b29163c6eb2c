//! The user's own kubeconfig files as a member of the fleet: each chosen context is an object that can be listed.
//!
//! Invariants:
//! - the files are read for each list, and nothing of them is kept between two;
//! - nothing a kubeconfig names is run, and a context whose files can't be read says so in its place;
//! - a watch sends nothing: it ends when a kubeconfig changed or after a while, and the observer lists again.
//!
//! Elsewhere: connecting to what a context names (`connector`), what a context is worth (a check).
//!
//! # Limits
//! A list is made of text that is not wiped piece by piece; the whole of it is.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream;
use http::{Method, Request, Response, StatusCode, Uri, header};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use kube::client::Body;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::change_watcher::ChangeWatcher;
use super::connector::{Connector, LinkError};
use super::kubeconfig::{Kubeconfig, KubeconfigError, Places, Selection, Trust};
use super::transport::{Clock, Connection, IdleConnections, ServerClock, TlsTrust};

/// Where the contexts are listed: the kind `Context` of the group `local.trueup`.
const CONTEXTS: &str = "/apis/local.trueup/v1/contexts";
/// The name of the file a context is written in, without its folder.
const FILE: &str = "local.trueup/file";
/// Why a context can't be read.
const PROBLEM: &str = "local.trueup/problem";
/// How long a watch is held while the kubeconfig stays as it is: the files it names are renewed by the hour.
const WATCH_HELD: Duration = Duration::from_secs(60);

/// Lets the contexts of the user's kubeconfig files be listed like the objects of a cluster.
pub struct LocalConnector(Arc<Own>);

struct Own {
    places: Places,
    selection: Selection,
    clock: Clock,
}

type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

impl LocalConnector {
    /// The chosen contexts of the files at these places, read for each list.
    pub fn new(places: Places, selection: Selection, clock: Clock) -> Self {
        Self(Arc::new(Own { places, selection, clock }))
    }
}

impl Connector for LocalConnector {
    fn connect(&self) -> BoxFuture<'_, Result<Connection, LinkError>> {
        let own = self.0.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let own = own.clone();
            let (head, _) = request.into_parts();
            async move { Ok::<_, Infallible>(own.answer(&head.method, &head.uri).await) }
        });
        let connection = Connection {
            client: kube::Client::new(service, "default"),
            tls: TlsTrust::InProcess,
            server: "this machine".to_owned(),
            proxy: None,
            clock: ServerClock::default(),
            idle: IdleConnections::default(),
        };
        Box::pin(std::future::ready(Ok(connection)))
    }
}

impl Own {
    async fn answer(self: Arc<Self>, method: &Method, uri: &Uri) -> Answer {
        let is_watch = uri.query().is_some_and(|query| query.split('&').any(|part| part == "watch=true"));
        match (method, uri.path()) {
            // Discovery rejects a server without namespaces.
            (&Method::GET, "/api") => said(&discovery("", "namespaces")),
            (&Method::GET, "/apis") => said(&discovery("local.trueup", "contexts")),
            (&Method::GET, CONTEXTS) if is_watch => self.watch(),
            (&Method::GET, CONTEXTS) => self.list().await,
            _ => refused(StatusCode::NOT_FOUND, "NotFound"),
        }
    }

    async fn list(self: Arc<Self>) -> Answer {
        match tokio::task::spawn_blocking(move || self.read_list()).await {
            Ok(Ok(list)) => respond(StatusCode::OK, list),
            Ok(Err(_)) | Err(_) => refused(StatusCode::SERVICE_UNAVAILABLE, "KubeconfigUnreadable"),
        }
    }

    /// A watch that sends nothing but, at its end, that the list expired.
    fn watch(&self) -> Answer {
        let expired = json!({
            "type": "ERROR",
            "object": { "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Expired", "code": 410 },
        });
        let line = Bytes::from(format!("{expired}\n"));
        let mut alarm = ChangeWatcher::new(self.places.files(), self.clock.clone());
        let end = stream::once(async move {
            // Whatever is noticed, and when nothing is, what follows is a new list.
            let _noticed = tokio::time::timeout(WATCH_HELD, alarm.next()).await;
            Ok::<_, Infallible>(Frame::data(line))
        });
        answer(StatusCode::OK, StreamBody::new(end).boxed_unsync())
    }

    fn read_list(&self) -> Result<Zeroizing<Vec<u8>>, KubeconfigError> {
        let kubeconfig = Kubeconfig::read(&self.places)?;
        let version = (self.clock)().to_string();
        let contexts = match kubeconfig.trust() {
            Trust::UsersOwn => kubeconfig.select(&self.selection)?,
            // The kubelet renews what the pod has.
            Trust::Pod | Trust::FromSecret => Vec::new(),
        };
        let items: Vec<Value> = contexts.iter().map(|context| object(&kubeconfig, context, &version)).collect();
        let list = json!({
            "apiVersion": "local.trueup/v1", "kind": "ContextList",
            "metadata": { "resourceVersion": version }, "items": items,
        });
        Ok(Zeroizing::new(list.to_string().into_bytes()))
    }
}

fn object(kubeconfig: &Kubeconfig, context: &str, version: &str) -> Value {
    let place = Path::new(kubeconfig.place_of(context).unwrap_or_default());
    let file = place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut annotations = json!({ FILE: file });
    let data = match kubeconfig.flat(context) {
        Ok(text) => json!({ "kubeconfig": STANDARD.encode(text.expose()) }),
        Err(problem) => {
            annotations[PROBLEM] = json!(problem.to_string());
            json!({})
        }
    };
    json!({
        "metadata": { "name": context, "resourceVersion": version, "annotations": annotations },
        "data": data,
    })
}

fn discovery(group: &str, plural: &str) -> Value {
    json!({
        "apiVersion": "apidiscovery.k8s.io/v2", "kind": "APIGroupDiscoveryList",
        "items": [{
            "metadata": { "name": group },
            "versions": [{ "version": "v1", "resources": [{ "resource": plural }] }],
        }],
    })
}

fn said(document: &Value) -> Answer {
    respond(StatusCode::OK, Zeroizing::new(document.to_string().into_bytes()))
}

fn refused(status: StatusCode, reason: &str) -> Answer {
    let body =
        json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": status.as_u16() });
    respond(status, Zeroizing::new(body.to_string().into_bytes()))
}

fn respond(status: StatusCode, body: Zeroizing<Vec<u8>>) -> Answer {
    answer(status, Full::new(Bytes::from_owner(body)).boxed_unsync())
}

fn answer(status: StatusCode, body: UnsyncBoxBody<Bytes, Infallible>) -> Answer {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connect::testing::still;
    use crate::connect::{discovery, send};
    use trueup_core::world::Served;

    async fn client(text: &str, selection: Selection) -> (tempfile::TempDir, kube::Client) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        std::fs::write(&path, text).unwrap();
        let connector = LocalConnector::new(Places::Only(path), selection, still());
        (folder, connector.connect().await.unwrap().client)
    }

    async fn get(client: &kube::Client, path: &str) -> (u16, Value) {
        let (status, body) = send::get_bytes(client, path, send::JSON).await.unwrap();
        (status.as_u16(), serde_json::from_slice(&body).unwrap())
    }

    const TWO: &str = "{current-context: a, contexts: [{name: a, context: {user: u}}, {name: 'b/c', context: {user: v}}], \
                       users: [{name: u, user: {token: t}}, {name: v, user: {tokenFile: gone}}]}";

    #[tokio::test]
    async fn it_serves_contexts_and_nothing_else() {
        let (_folder, client) = client(TWO, Selection::All).await;
        let Served::Complete(kinds) = discovery::read(&client).await else { panic!("not believed") };
        let kinds: Vec<(&str, &str)> = kinds.names().collect();
        assert_eq!(kinds, [("", "namespaces"), ("local.trueup", "contexts")]);
        let (status, _) = get(&client, "/api/v1/namespaces/kube-system").await;
        assert_eq!(status, 404, "it is not a cluster");
    }

    #[tokio::test]
    async fn the_chosen_contexts_are_listed_as_they_are_now() {
        let (folder, client) = client(TWO, Selection::All).await;
        let (status, list) = get(&client, &format!("{CONTEXTS}?limit=1000")).await;
        let names: Vec<&str> =
            list["items"].as_array().unwrap().iter().map(|one| one["metadata"]["name"].as_str().unwrap()).collect();
        assert_eq!((status, names), (200, vec!["a", "b/c"]));
        let problem = list["items"][1]["metadata"]["annotations"][PROBLEM].as_str().unwrap();
        assert!(problem.contains("tokenFile") && problem.contains("gone"), "{problem}");
        std::fs::write(folder.path().join("gone"), "t").unwrap();
        let (_, list) = get(&client, CONTEXTS).await;
        assert!(list["items"][1]["metadata"]["annotations"][PROBLEM].is_null(), "it is there now");
        std::fs::write(folder.path().join("config"), "[").unwrap();
        assert_eq!(get(&client, CONTEXTS).await.0, 503);
    }

    #[tokio::test]
    async fn only_the_contexts_somebody_chose_are_listed() {
        let cases = [
            ("the current one", Selection::Current, vec!["a"]),
            ("by name", Selection::Named(vec!["b/c".to_owned()]), vec!["b/c"]),
        ];
        for (case, selection, expected) in cases {
            let (_folder, client) = client(TWO, selection).await;
            let (_, list) = get(&client, CONTEXTS).await;
            let names: Vec<&str> =
                list["items"].as_array().unwrap().iter().map(|one| one["metadata"]["name"].as_str().unwrap()).collect();
            assert_eq!(names, expected, "case: {case}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_ends_and_asks_for_a_new_list() {
        let (_folder, client) = client(TWO, Selection::All).await;
        let began = tokio::time::Instant::now();
        let response =
            send::stream(&client, &format!("{CONTEXTS}?watch=true&timeoutSeconds=240"), send::JSON).await.unwrap();
        let body = send::collect(response.into_body(), 1 << 10).await.unwrap();
        let event: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!((event["type"].as_str(), event["object"]["code"].as_u64()), (Some("ERROR"), Some(410)));
        assert_eq!(began.elapsed(), WATCH_HELD);
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_ends_soon_after_the_kubeconfig_changed() {
        let (folder, client) = client(TWO, Selection::All).await;
        let began = tokio::time::Instant::now();
        let response = send::stream(&client, &format!("{CONTEXTS}?watch=true"), send::JSON).await.unwrap();
        std::fs::write(folder.path().join("config"), "{}").unwrap();
        send::collect(response.into_body(), 1 << 10).await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    }
}
