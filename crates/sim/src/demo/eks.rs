//! The objects of a cluster on EKS, as Cluster API, CAPT and its provider write them.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::certificate;
use super::guest::ObjectHandle;
use super::kinds::{CAPT, CLUSTER_API};
use super::objects;
use super::provider::CopyKind;
use super::seeded_rng::SeededRng;
use crate::SimCluster;

const REGION: &str = "eu-central-1";
const CLUSTER_LABEL: &str = "cluster.x-k8s.io/cluster-name";
/// The namespace CAPT's provider writes to, whatever the namespace of the cluster.
const SOURCES: &str = "default";

/// Endpoint and CA of a cluster.
#[derive(Debug, Clone)]
pub struct Access {
    pub namespace: String,
    pub name: String,
    server: String,
    /// PEM bundle.
    authorities: String,
}

impl Access {
    pub fn new(namespace: &str, name: &str, rng: &mut SeededRng, since: Timestamp) -> Self {
        // `.invalid` is a reserved domain: nothing in the demo resolves to a real host.
        let id = rng.letters(16).to_uppercase();
        Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            server: format!("https://{id}.gr7.{REGION}.eks.demo.invalid"),
            authorities: certificate::authority(rng, &format!("kubernetes of {namespace}/{name}"), since),
        }
    }

    /// Adds a second CA, as during a CA rotation.
    pub fn with_second_authority(mut self, rng: &mut SeededRng, since: Timestamp) -> Self {
        let second = certificate::authority(rng, &format!("kubernetes of {}, the next", self.name), since);
        self.authorities.push_str(&second);
        self
    }

    /// Returns a kubeconfig with a token signed at this time.
    pub fn kubeconfig(&self, rng: &mut SeededRng, signed: Timestamp) -> String {
        self.kubeconfig_of(&format!("token: {}", token(rng, signed)))
    }

    fn kubeconfig_of(&self, user: &str) -> String {
        let name = format!("{}.{REGION}.eksctl.io", self.name);
        let (server, authority) = (&self.server, STANDARD.encode(&self.authorities));
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: installer@{name}\nclusters:\n- name: {name}\n  cluster:\n    \
             server: {server}\n    certificate-authority-data: {authority}\ncontexts:\n- name: installer@{name}\n  \
             context:\n    cluster: {name}\n    user: installer@{name}\nusers:\n- name: installer@{name}\n  user:\n    \
             {user}\n"
        )
    }
}

/// A token in the format of `aws eks get-token`, with a made-up key and signature.
fn token(rng: &mut SeededRng, signed: Timestamp) -> String {
    let time = signed.strftime("%Y%m%dT%H%M%SZ");
    let day = signed.strftime("%Y%m%d");
    let signature: String = rng.bytes(32).iter().map(|byte| format!("{byte:02x}")).collect();
    let url = format!(
        "https://sts.{REGION}.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Algorithm=AWS4-HMAC-SHA256\
         &X-Amz-Credential=ASIADEMODEMODEMODEMO%2F{day}%2F{REGION}%2Fsts%2Faws4_request&X-Amz-Date={time}\
         &X-Amz-Expires=60&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id&X-Amz-Signature={signature}"
    );
    format!("k8s-aws-v1.{}", URL_SAFE_NO_PAD.encode(url))
}

/// A kubeconfig with an exec plugin. The command does nothing.
pub fn exec_kubeconfig(access: &Access) -> String {
    access.kubeconfig_of(
        "exec:\n      apiVersion: client.authentication.k8s.io/v1\n      command: trueup-demo-never-run\n      \
         interactiveMode: Never",
    )
}

/// All objects of a cluster except its kubeconfigs.
pub fn cluster_objects(access: &Access) -> Vec<Value> {
    let Access { namespace, name, server, authorities } = access;
    let endpoint = json!({ "host": server, "port": 443 });
    let metadata = json!({ "namespace": namespace, "name": name });
    let cluster = json!({
        "apiVersion": CLUSTER_API, "kind": "Cluster", "metadata": metadata,
        "spec": {
            "controlPlaneEndpoint": endpoint,
            "controlPlaneRef": { "apiVersion": CAPT, "kind": "CAPTControlPlane", "namespace": namespace, "name": name },
        },
        "status": { "phase": "Provisioned", "controlPlaneReady": true, "infrastructureReady": true },
    });
    let plane = json!({
        "apiVersion": CAPT, "kind": "CAPTControlPlane", "metadata": metadata,
        "spec": {
            "version": "1.33",
            "workspaceTemplateRef": { "name": "eks-controlplane-template" },
            "controlPlaneConfig": { "region": REGION },
            "controlPlaneEndpoint": endpoint,
        },
        "status": { "ready": true, "initialized": true, "secretsReady": true, "phase": "Ready" },
    });
    let encoded = STANDARD.encode(authorities);
    let mut connection =
        objects::one_key(CopyKind::Secret, namespace, &format!("{name}-eks-connection"), "cluster_endpoint", server);
    connection["data"]["cluster_certificate_authority_data"] = STANDARD.encode(encoded).into();
    let mut authority = objects::one_key(CopyKind::Secret, namespace, &format!("{name}-ca"), "tls.crt", authorities);
    authority["data"]["ca.crt"] = authority["data"]["tls.crt"].clone();
    vec![cluster, plane, connection, authority]
}

/// Returns the uid of a cluster's control plane.
pub fn plane_uid(sim: &SimCluster, access: &Access) -> String {
    let key = format!("{}/{}", access.namespace, access.name);
    let plane = sim.object(CAPT, "CAPTControlPlane", &key).expect("the control plane was seeded above");
    plane["metadata"]["uid"].as_str().unwrap_or_default().to_owned()
}

/// The Secret that CAPT's provider writes.
pub fn source(access: &Access, kubeconfig: &str) -> Value {
    let name = format!("{}-outputs-kubeconfig", access.name);
    let mut object = objects::one_key(CopyKind::Secret, SOURCES, &name, "kubeconfig", kubeconfig);
    object["type"] = "connection.crossplane.io/v1alpha1".into();
    object
}

/// The Secret that CAPT's controller copies from the source.
pub fn target(access: &Access, plane_uid: &str, kubeconfig: &str) -> Value {
    let Access { namespace, name, .. } = access;
    let mut object = objects::one_key(CopyKind::Secret, namespace, &format!("{name}-kubeconfig"), "value", kubeconfig);
    object["type"] = "cluster.x-k8s.io/secret".into();
    object["metadata"]["labels"] = json!({ CLUSTER_LABEL: name });
    object["metadata"]["ownerReferences"] = json!([{
        "apiVersion": CAPT, "kind": "CAPTControlPlane", "name": name, "uid": plane_uid,
        "controller": true, "blockOwnerDeletion": true,
    }]);
    object
}

/// Returns the handle of a Secret.
pub fn handle<'s>(sim: &'s SimCluster, secret: &Value) -> ObjectHandle<'s> {
    let text = |field: &str| secret["metadata"][field].as_str().unwrap_or_default();
    ObjectHandle::secret(sim, text("namespace"), text("name"))
}
