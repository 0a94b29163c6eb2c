//! CustomResourceDefinitions of the demo's kinds.
//!
//! Elsewhere: schemas. The demo's servers keep unknown fields.

use serde_json::{Value, json};

pub const HYPERSHIFT: &str = "hypershift.openshift.io/v1beta1";
pub const CLUSTER_API: &str = "cluster.x-k8s.io/v1beta1";
pub const CAPT: &str = "controlplane.cluster.x-k8s.io/v1beta1";
/// CAPT's own kinds.
pub const CAPT_INFRASTRUCTURE: &str = "infrastructure.cluster.x-k8s.io/v1beta1";
pub const TERRAFORM: &str = "tf.upbound.io/v1beta1";
pub const CONFIG: &str = "config.openshift.io/v1";
pub const POWER: &str = "infrastructure.cluster.x-k8s.io/v1beta3";
pub const MACHINE_API: &str = "machine.openshift.io/v1beta1";

/// Custom kinds of a management cluster.
pub fn of_management() -> Vec<Value> {
    let mut kinds = config();
    kinds.push(definition(&Shape {
        scope: "Namespaced",
        short: &["hc", "hcs"],
        columns: &[
            ("KubeConfig", ".status.kubeconfig.name"),
            ("Authentication", ".spec.configuration.authentication.type"),
            ("Available", ".status.conditions[?(@.type==\"Available\")].status"),
        ],
        ..Shape::new(HYPERSHIFT, "HostedCluster", "hostedclusters")
    }));
    kinds.push(definition(&Shape {
        scope: "Namespaced",
        short: &["hcp", "hcps"],
        columns: &[("Authentication", ".spec.configuration.authentication.type")],
        ..Shape::new(HYPERSHIFT, "HostedControlPlane", "hostedcontrolplanes")
    }));
    kinds
}

/// Custom kinds of a management cluster with Cluster API and CAPT.
pub fn of_cluster_api() -> Vec<Value> {
    vec![
        definition(&Shape {
            scope: "Namespaced",
            short: &["cl"],
            columns: &[("Phase", ".status.phase")],
            ..Shape::new(CLUSTER_API, "Cluster", "clusters")
        }),
        definition(&Shape {
            scope: "Namespaced",
            columns: &[
                ("Ready", ".status.ready"),
                ("Phase", ".status.phase"),
                ("Version", ".spec.version"),
                ("Endpoint", ".spec.controlPlaneEndpoint.host"),
            ],
            ..Shape::new(CAPT, "CAPTControlPlane", "captcontrolplanes")
        }),
        definition(&Shape {
            scope: "Namespaced",
            columns: &[("Applied", ".status.applied"), ("Workspace", ".status.workspaceName")],
            ..Shape::new(CAPT_INFRASTRUCTURE, "WorkspaceTemplateApply", "workspacetemplateapplies")
        }),
        definition(&Shape {
            columns: &[("Ready", ".status.conditions[?(@.type==\"Ready\")].status")],
            ..Shape::new(TERRAFORM, "Workspace", "workspaces")
        }),
    ]
}

/// Custom kind of a management cluster with PowerVS clusters.
pub fn of_power() -> Value {
    definition(&Shape {
        scope: "Namespaced",
        columns: &[("Workspace", ".status.workspace.id"), ("VPC", ".status.vpc.id")],
        ..Shape::new(POWER, "IBMPowerVSCluster", "ibmpowervsclusters")
    })
}

/// Custom kinds of a guest.
pub fn of_guest() -> Vec<Value> {
    config()
}

fn config() -> Vec<Value> {
    let kinds = [
        ("APIServer", "apiservers"),
        ("Authentication", "authentications"),
        ("Image", "images"),
        ("Infrastructure", "infrastructures"),
        ("OAuth", "oauths"),
        ("Proxy", "proxies"),
    ];
    kinds.iter().map(|(kind, plural)| definition(&Shape::new(CONFIG, kind, plural))).collect()
}

pub struct Shape<'s> {
    pub api_version: &'s str,
    pub kind: &'s str,
    pub plural: &'s str,
    pub scope: &'s str,
    pub short: &'s [&'s str],
    pub columns: &'s [(&'s str, &'s str)],
}

impl<'s> Shape<'s> {
    pub fn new(api_version: &'s str, kind: &'s str, plural: &'s str) -> Self {
        Self { api_version, kind, plural, scope: "Cluster", short: &[], columns: &[] }
    }
}

pub fn definition(shape: &Shape<'_>) -> Value {
    let Shape { api_version, kind, plural, scope, short, columns } = shape;
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let age = ("Age", ".metadata.creationTimestamp");
    let columns = columns.iter().chain([&age]).map(|(name, path)| {
        let sort = if *name == "Age" { "date" } else { "string" };
        json!({ "name": name, "type": sort, "jsonPath": path })
    });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{plural}.{group}") },
        "spec": {
            "group": group,
            "scope": scope,
            "names": {
                "kind": kind,
                "listKind": format!("{kind}List"),
                "plural": plural,
                "singular": kind.to_lowercase(),
                "shortNames": short,
            },
            "versions": [{
                "name": version,
                "served": true,
                "storage": true,
                "subresources": { "status": {} },
                "additionalPrinterColumns": columns.collect::<Vec<Value>>(),
                "schema": { "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } },
            }],
        },
    })
}
