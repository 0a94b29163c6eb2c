//! The objects of a cluster on EKS, as Cluster API, CAPT and its provider write them.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::certificate;
use super::dice::Dice;
use super::guest::Place;
use super::kinds::{CAPT, CLUSTER_API};
use super::objects;
use super::provider::CopyKind;
use crate::SimCluster;

const REGION: &str = "eu-central-1";
const CLUSTER_LABEL: &str = "cluster.x-k8s.io/cluster-name";
/// Where CAPT's provider writes, whatever the namespace of the cluster.
const SOURCES: &str = "default";

/// Where a cluster is, and who vouches for it.
#[derive(Debug, Clone)]
pub struct Access {
    pub namespace: String,
    pub name: String,
    server: String,
    /// PEM, one after another.
    authorities: String,
}

impl Access {
    pub fn new(namespace: &str, name: &str, dice: &mut Dice, since: Timestamp) -> Self {
        // `.invalid` is reserved: nothing of the story can be reached by mistake.
        let id = dice.letters(16).to_uppercase();
        Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            server: format!("https://{id}.gr7.{REGION}.eks.demo.invalid"),
            authorities: certificate::authority(dice, &format!("kubernetes of {namespace}/{name}"), since),
        }
    }

    /// The same with an authority that will follow the first.
    pub fn with_second_authority(mut self, dice: &mut Dice, since: Timestamp) -> Self {
        let second = certificate::authority(dice, &format!("kubernetes of {}, the next", self.name), since);
        self.authorities.push_str(&second);
        self
    }

    /// A kubeconfig with a token signed at this time.
    pub fn kubeconfig(&self, dice: &mut Dice, signed: Timestamp) -> String {
        self.kubeconfig_of(&format!("token: {}", token(dice, signed)))
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

/// A token as `aws eks get-token` makes them, but for its key and signature, which are nobody's.
fn token(dice: &mut Dice, signed: Timestamp) -> String {
    let time = signed.strftime("%Y%m%dT%H%M%SZ");
    let day = signed.strftime("%Y%m%d");
    let signature: String = dice.bytes(32).iter().map(|byte| format!("{byte:02x}")).collect();
    let url = format!(
        "https://sts.{REGION}.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Algorithm=AWS4-HMAC-SHA256\
         &X-Amz-Credential=ASIADEMODEMODEMODEMO%2F{day}%2F{REGION}%2Fsts%2Faws4_request&X-Amz-Date={time}\
         &X-Amz-Expires=60&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id&X-Amz-Signature={signature}"
    );
    format!("k8s-aws-v1.{}", URL_SAFE_NO_PAD.encode(url))
}

/// A kubeconfig that would run a command on the machine of whoever uses it. The command does nothing.
pub fn planted_kubeconfig(access: &Access) -> String {
    access.kubeconfig_of(
        "exec:\n      apiVersion: client.authentication.k8s.io/v1\n      command: trueup-demo-never-run\n      \
         interactiveMode: Never",
    )
}

pub fn namespace(name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } })
}

/// Everything about a cluster but its kubeconfigs.
pub fn surroundings(access: &Access) -> Vec<Value> {
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

/// The uid of a cluster's control plane.
pub fn plane_uid(sim: &SimCluster, access: &Access) -> String {
    let key = format!("{}/{}", access.namespace, access.name);
    let plane = sim.look(CAPT, "CAPTControlPlane", &key).expect("it was put there just now");
    plane["metadata"]["uid"].as_str().unwrap_or_default().to_owned()
}

/// What the provider writes.
pub fn source(access: &Access, kubeconfig: &str) -> Value {
    let name = format!("{}-outputs-kubeconfig", access.name);
    let mut object = objects::one_key(CopyKind::Secret, SOURCES, &name, "kubeconfig", kubeconfig);
    object["type"] = "connection.crossplane.io/v1alpha1".into();
    object
}

/// What CAPT's controller makes of it.
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

/// Where a Secret is.
pub fn place<'s>(sim: &'s SimCluster, secret: &Value) -> Place<'s> {
    let text = |field: &str| secret["metadata"][field].as_str().unwrap_or_default();
    Place::secret(sim, text("namespace"), text("name"))
}
