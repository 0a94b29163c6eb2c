//! A hosted guest on real servers: a management cluster with the HostedCluster, its control plane and the guest's
//! kubeconfig, and the guest with its config and the copies HyperShift makes there.
//!
//! Always true:
//! - nothing here changes once it stands, so that tests share it; who sees less is another user (`--as`);
//! - every secret value is a canary;
//! - objects are valid for the upstream definitions too.

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use base64::Engine as _;
use http::Method;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::support::canaries::Canaries;
use crate::support::crds::install_crds;
use crate::support::http::Request;
use crate::support::real::{Connection, RealServer, User};

/// May read everything the check wants, and change nothing.
pub const READER: &str = "reader";
/// May not read the guest's Secrets; may delete its ConfigMaps.
pub const BLIND: &str = "blind";

/// The authorizer reads roles from a watch of its own, so rights arrive a moment after they were granted.
const GRANTED_WAIT_MAX: Duration = Duration::from_secs(20);
const LABELS: [&str; 2] = ["hypershift.openshift.io/managed", "hypershift.openshift.io/oidc-provider-managed"];

/// A management cluster and its guest `guest-a`, standing.
pub struct Hosted {
    pub mgmt: RealServer,
    pub guest: RealServer,
    pub canaries: Canaries,
}

impl Hosted {
    /// The pair that all tests share, or nothing without the real server.
    pub async fn shared() -> Option<&'static Self> {
        static SHARED: OnceCell<Option<Hosted>> = OnceCell::const_new();
        SHARED.get_or_init(Self::stand_up).await.as_ref()
    }

    async fn stand_up() -> Option<Self> {
        let (mgmt, guest) = start_two().await?;
        let mut canaries = Canaries::default();
        let (at_mgmt, at_guest) = (mgmt.connect(User::Admin), guest.connect(User::Admin));
        furnish_guest(&at_guest, &guest, &mut canaries).await;
        furnish_management(&at_mgmt, &mgmt).await;
        host(&at_mgmt, "guest-a", &guest, &mut canaries).await;
        grant_reader(&at_mgmt, &at_guest).await;
        grant(&at_mgmt, &[BLIND], &management_rules()).await;
        grant(&at_guest, &[BLIND], &guest_rules("configmaps", &["get", "delete"])).await;
        Some(Self { mgmt, guest, canaries })
    }
}

/// Starts two servers at once.
pub async fn start_two() -> Option<(RealServer, RealServer)> {
    let [one, two] = [(); 2].map(|()| tokio::task::spawn_blocking(RealServer::start));
    Some((one.await.unwrap()?, two.await.unwrap()?))
}

/// Runs the binary on a kubeconfig, in an empty environment.
pub fn run(kubeconfig: &str, args: &[&str]) -> Output {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("kubeconfig");
    std::fs::write(&file, kubeconfig).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_trueup"));
    // Without a state folder no backup could be made, and no delete would be offered.
    command.env_clear().env("XDG_STATE_HOME", dir.path());
    command.current_dir("/").args(args).arg("--kubeconfig").arg(file);
    tokio::task::block_in_place(|| command.output().unwrap())
}

/// A kubeconfig that needs no other file, as HyperShift puts it into a guest's Secret. `user` is one of the server's.
pub fn inline_kubeconfig(server: &RealServer, context: &str, user: &str) -> String {
    let config: Value = serde_json::from_slice(&std::fs::read(server.kubeconfig()).unwrap()).unwrap();
    let cluster = &config["clusters"][0]["cluster"];
    let found = config["users"].as_array().unwrap().iter().find(|one| one["name"] == user).unwrap();
    let inline = |settings: &Value| -> Value {
        let entries = settings.as_object().unwrap().iter().map(|(name, value)| match name.as_str() {
            "certificate-authority" | "client-certificate" | "client-key" => {
                let bytes = std::fs::read(Path::new(value.as_str().unwrap())).unwrap();
                (format!("{name}-data"), json!(base64::engine::general_purpose::STANDARD.encode(bytes)))
            }
            _ => (name.clone(), value.clone()),
        });
        Value::Object(entries.collect())
    };
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": context,
        "clusters": [{"name": "c", "cluster": inline(cluster)}],
        "users": [{"name": "u", "user": inline(&found["user"])}],
        "contexts": [{"name": context, "context": {"cluster": "c", "user": "u"}}],
    })
    .to_string()
}

/// Makes a server one that can host guests.
pub async fn furnish_management(at: &Connection, server: &RealServer) {
    install_crds(at).await;
    create(at, root_certificates(server)).await;
    create(at, namespace("clusters")).await;
}

/// Makes a server a guest: its config, and the copies in openshift-config.
pub async fn furnish_guest(at: &Connection, server: &RealServer, canaries: &mut Canaries) {
    install_crds(at).await;
    create(at, root_certificates(server)).await;
    create(at, namespace("openshift-config")).await;
    create(at, config("Infrastructure", json!({"platformSpec": {"type": "None"}}))).await;
    set_status(at, "infrastructures", json!({"controlPlaneTopology": "External"})).await;
    create(at, config("Proxy", json!({"trustedCA": {"name": "proxy-ca"}}))).await;
    for kind in ["Image", "APIServer", "OAuth"] {
        create(at, config(kind, json!({}))).await;
    }
    // In this order on a real cluster too: a client may be configured once its component has asked for one.
    create(at, config("Authentication", json!({}))).await;
    let current = |component: &str| {
        json!({"componentName": component, "componentNamespace": "openshift-console",
            "currentOIDCClients": [{"oidcProviderName": "idp", "issuerURL": "https://idp.example.org", "clientID": component}]})
    };
    set_status(at, "authentications", json!({"oidcClients": [current("console"), current("cli")]})).await;
    let path = "/apis/config.openshift.io/v1/authentications/cluster";
    merge(at, path, json!({"spec": authentication()})).await;

    create(at, copy("ConfigMap", "idp-ca", json!({"ca-bundle.crt": "the CA"}))).await;
    create(at, copy("ConfigMap", "old-ca", json!({"ca-bundle.crt": "an old CA"}))).await;
    create(at, in_namespace("ConfigMap", "openshift-config", "proxy-ca", json!({"ca-bundle.crt": "the proxy's CA"})))
        .await;
    for name in ["old-client", "stale-client"] {
        create(at, copy("Secret", name, json!({"clientSecret": canaries.next()}))).await;
    }
    let mut client = copy("Secret", "client", json!({"clientSecret": canaries.next()}));
    let applied = json!({"data": {"clientSecret": canaries.next_base64()}}).to_string();
    client["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": applied});
    create(at, client).await;
    create(at, in_namespace("Secret", "openshift-config", "users-own", json!({"password": canaries.next()}))).await;
}

/// Gives [`READER`] its rights.
pub async fn grant_reader(at_mgmt: &Connection, at_guest: &Connection) {
    grant(at_mgmt, &[READER], &management_rules()).await;
    grant(at_guest, &[READER], &guest_rules("secrets", &["get", "list", "watch"])).await;
}

/// Makes a HostedCluster, its control plane and sources, and the kubeconfig of the server that is the guest.
pub async fn host(at: &Connection, name: &str, guest: &RealServer, canaries: &mut Canaries) {
    let kubeconfig = inline_kubeconfig(guest, "admin", "admin-cert");
    let key = std::fs::read_to_string(guest.kubeconfig().with_file_name("admin.key")).unwrap();
    key.lines().filter(|line| line.len() >= 32 && !line.starts_with('-')).for_each(|line| canaries.guard(line));
    host_behind(at, name, guest, &kubeconfig, canaries).await;
}

/// The same, with a kubeconfig that leads to the guest some other way.
pub async fn host_behind(at: &Connection, name: &str, guest: &RealServer, kubeconfig: &str, canaries: &mut Canaries) {
    let plane_namespace = format!("clusters-{name}");
    create(at, namespace(&plane_namespace)).await;
    let secret = format!("{name}-admin-kubeconfig");
    create(at, in_namespace("Secret", "clusters", &secret, json!({"kubeconfig": kubeconfig}))).await;

    let services = ["APIServer", "OAuthServer", "Konnectivity", "Ignition"]
        .map(|service| json!({"service": service, "servicePublishingStrategy": {"type": "Route"}}));
    let common = json!({
        "etcd": {"managementType": "Managed", "managed": {"storage": {"type": "PersistentVolume"}}},
        "networking": {"clusterNetwork": [{"cidr": "10.132.0.0/14"}], "serviceNetwork": [{"cidr": "172.31.0.0/16"}]},
        "platform": {"type": "None"}, "pullSecret": {"name": "pull"}, "infraID": name, "issuerURL": "https://kubernetes.default.svc",
        "sshKey": {"name": "ssh"}, "dns": {"baseDomain": "example.org"}, "services": services,
        "configuration": {"authentication": authentication()},
    });
    let hosted = |kind: &str, namespace: &str, (field, value): (&str, Value)| {
        let mut spec = common.clone();
        spec[field] = value;
        json!({"apiVersion": "hypershift.openshift.io/v1beta1", "kind": kind, "spec": spec,
            "metadata": {"name": name, "namespace": namespace}})
    };
    let image = "quay.io/openshift-release-dev/ocp-release:4.20.0-x86_64";
    create(at, hosted("HostedCluster", "clusters", ("release", json!({"image": image})))).await;
    let path = format!("/apis/hypershift.openshift.io/v1beta1/namespaces/clusters/hostedclusters/{name}/status");
    merge(at, &path, json!({"status": {"kubeconfig": {"name": secret}}})).await;
    create(at, hosted("HostedControlPlane", &plane_namespace, ("releaseImage", json!(image)))).await;

    create(at, in_namespace("ConfigMap", &plane_namespace, "idp-ca", json!({"ca-bundle.crt": "the CA"}))).await;
    // The guest's copy was made first, so its value is taken over; a guest that was not furnished has none.
    let copy = Request::get("/api/v1/namespaces/openshift-config/secrets/client");
    let answer = guest.connect(User::Admin).send(&copy).await.unwrap();
    let mut source = in_namespace("Secret", &plane_namespace, "client", json!({}));
    source["data"] = answer.body["data"].clone();
    create(at, source).await;
    create(at, in_namespace("Secret", &plane_namespace, "stale-client", json!({"clientSecret": canaries.next()})))
        .await;
    create(at, in_namespace("Secret", &plane_namespace, "etcd-ca", json!({"ca.key": canaries.next()}))).await;
}

fn authentication() -> Value {
    let client = |component: &str, secret: &str| {
        json!({"componentName": component, "componentNamespace": "openshift-console", "clientID": component,
            "clientSecret": {"name": secret}})
    };
    json!({"type": "OIDC", "oidcProviders": [{
        "name": "idp",
        "issuer": {"issuerURL": "https://idp.example.org", "audiences": ["a"], "issuerCertificateAuthority": {"name": "idp-ca"}},
        "claimMappings": {"username": {"claim": "sub", "prefixPolicy": "NoPrefix"}},
        "oidcClients": [client("console", "client"), client("cli", "stale-client")],
    }]})
}

/// What the check reads on a management cluster.
fn management_rules() -> Value {
    json!([
        {"apiGroups": ["hypershift.openshift.io"], "resources": ["*"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": [""], "resources": ["secrets", "configmaps", "namespaces"], "verbs": ["get", "list", "watch"]},
    ])
}

/// What the check reads on a guest but for its Secrets, and something more.
fn guest_rules(resource: &str, verbs: &[&str]) -> Value {
    json!([
        {"apiGroups": ["config.openshift.io"], "resources": ["*"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": [""], "resources": ["configmaps", "namespaces"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": [""], "resources": [resource], "verbs": verbs},
    ])
}

/// Gives users these rights everywhere, and waits until they have them.
async fn grant(at: &Connection, users: &[&str], rules: &Value) {
    const RBAC: &str = "rbac.authorization.k8s.io";
    for user in users {
        let metadata = json!({"name": user});
        let role =
            json!({"apiVersion": format!("{RBAC}/v1"), "kind": "ClusterRole", "metadata": metadata, "rules": rules});
        let binding = json!({"apiVersion": format!("{RBAC}/v1"), "kind": "ClusterRoleBinding", "metadata": metadata,
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": user},
            "subjects": [{"apiGroup": RBAC, "kind": "User", "name": user}]});
        create(at, role).await;
        create(at, binding).await;
        let list = Request::get("/api/v1/configmaps").header("impersonate-user", *user);
        let granted =
            tokio::time::timeout(GRANTED_WAIT_MAX, async { while at.send(&list).await.unwrap().status != 200 {} });
        granted.await.unwrap_or_else(|_| panic!("{user} never got the rights it was given"));
    }
}

fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

/// No controller makes it here; it is half of a cluster's identity.
fn root_certificates(server: &RealServer) -> Value {
    let authority = std::fs::read_to_string(server.kubeconfig().with_file_name("ca.crt")).unwrap();
    in_namespace("ConfigMap", "kube-system", "kube-root-ca.crt", json!({"ca.crt": authority}))
}

fn config(kind: &str, spec: Value) -> Value {
    json!({"apiVersion": "config.openshift.io/v1", "kind": kind, "metadata": {"name": "cluster"}, "spec": spec})
}

fn in_namespace(kind: &str, namespace: &str, name: &str, data: Value) -> Value {
    let field = if kind == "Secret" { "stringData" } else { "data" };
    json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": namespace}, field: data})
}

/// An object as HyperShift copies it into a guest.
pub fn copy(kind: &str, name: &str, data: Value) -> Value {
    let mut object = in_namespace(kind, "openshift-config", name, data);
    object["metadata"]["labels"] = json!({LABELS[0]: "true", LABELS[1]: "true"});
    object
}

pub async fn create(at: &Connection, object: Value) {
    let path = collection_path(&object);
    let answer = at.send(&Request::post(&path, object)).await.unwrap();
    assert_eq!(answer.status, 201, "{path}: {}", answer.body);
}

async fn set_status(at: &Connection, plural: &str, status: Value) {
    merge(at, &format!("/apis/config.openshift.io/v1/{plural}/cluster/status"), json!({"status": status})).await;
}

async fn merge(at: &Connection, path: &str, patch: Value) {
    let request = Request::new(Method::PATCH, path).json("application/merge-patch+json", patch);
    let answer = at.send(&request).await.unwrap();
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
}

/// Where an object of its kind is created.
fn collection_path(object: &Value) -> String {
    let api_version = object["apiVersion"].as_str().unwrap();
    let kind = object["kind"].as_str().unwrap().to_lowercase();
    let root = if api_version.contains('/') { "/apis" } else { "/api" };
    let plural = if kind == "proxy" { "proxies".to_owned() } else { format!("{kind}s") };
    match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("{root}/{api_version}/namespaces/{namespace}/{plural}"),
        None => format!("{root}/{api_version}/{plural}"),
    }
}
