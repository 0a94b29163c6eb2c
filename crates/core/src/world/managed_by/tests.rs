//! Which marks count, what they name, and which fields the tool owns.

use serde_json::json;

use super::*;
use crate::decode::{DataSort, Digester, Reader};

fn managed_by(kind: &str, metadata: Value) -> Option<ManagedBy> {
    let digester = Digester::new(&[1; 32]);
    let (sort, digested, reduced) = (DataSort::of("", kind), &[] as &[&str], &[] as &[&str]);
    let text = json!({ "metadata": metadata }).to_string();
    let reader = Reader { digester: &digester, sort, digested, reduced, api_version: "v1", kind };
    ManagedBy::of(&reader.object(&text).unwrap())
}

fn described(metadata: Value) -> Option<String> {
    managed_by("Secret", metadata).map(|found| found.describe())
}

fn owner(api_version: &str, kind: &str) -> Value {
    json!({ "ownerReferences": [{ "apiVersion": api_version, "kind": kind, "name": "x", "uid": "u" }] })
}

#[test]
fn a_mark_names_the_tool_and_its_owner() {
    let cases = [
        (
            json!({ "annotations": { "argocd.argoproj.io/tracking-id": "shop:/Secret:ns/a" } }),
            Some("Argo CD (application shop)"),
        ),
        (json!({ "labels": { "argocd.argoproj.io/instance": "shop" } }), Some("Argo CD (application shop)")),
        (
            json!({ "labels": { "kustomize.toolkit.fluxcd.io/name": "apps",
                "kustomize.toolkit.fluxcd.io/namespace": "flux-system" } }),
            Some("Flux (Kustomization flux-system/apps)"),
        ),
        (json!({ "labels": { "helm.toolkit.fluxcd.io/name": "db" } }), Some("Flux (HelmRelease db)")),
        (
            json!({ "annotations": { "meta.helm.sh/release-name": "db", "meta.helm.sh/release-namespace": "prod" } }),
            Some("Helm (release prod/db)"),
        ),
        (json!({ "labels": { "applyset.kubernetes.io/part-of": "applyset-1" } }), Some("an ApplySet (set applyset-1)")),
        (
            json!({ "labels": { "olm.owner": "etcd.v1", "olm.owner.kind": "ClusterServiceVersion" } }),
            Some("OLM (ClusterServiceVersion etcd.v1)"),
        ),
        (owner("external-secrets.io/v1", "ExternalSecret"), Some("External Secrets (ExternalSecret x)")),
        (owner("bitnami.com/v1alpha1", "SealedSecret"), Some("Sealed Secrets (SealedSecret x)")),
        (owner("cert-manager.io/v1", "Certificate"), Some("cert-manager (Certificate x)")),
        (owner("networking.internal.knative.dev/v1alpha1", "Certificate"), None),
        (owner("apps/v1", "Deployment"), None),
        (json!({ "labels": { "app.kubernetes.io/managed-by": "Helm" } }), None),
        (json!({ "annotations": { "argocd.argoproj.io/instance": "an annotation, not the label" } }), None),
        (json!({}), None),
    ];
    for (metadata, expected) in cases {
        assert_eq!(described(metadata.clone()).as_deref(), expected, "case: {metadata}");
    }
}

#[test]
fn only_fields_of_the_tools_own_manager_are_owned() {
    let path = |text: &str| text.split(' ').map(ToOwned::to_owned).collect::<FieldPath>();
    let marked = |managed: Value| {
        managed_by(
            "Deployment",
            json!({ "labels": { "argocd.argoproj.io/instance": "shop" }, "managedFields": managed }),
        )
        .unwrap()
    };
    let fields = json!({ "f:metadata": { "f:labels": { ".": {}, "f:a/b": {} }, "f:annotations": { ".": {} } },
        "f:spec": { "f:replicas": {}, "f:ports": { "k:{\"port\":1}": { "f:port": {} } } } });
    let by = |manager: &str, subresource: &str| {
        marked(json!([{ "manager": manager, "subresource": subresource, "fieldsV1": fields }]))
    };
    let owned = |found: &ManagedBy, text: &str| found.owned_among(&[path(text)]).is_some();
    let argo = by("argocd-controller", "");
    let cases = [
        ("metadata labels a/b", true),
        ("metadata labels other", false),
        ("metadata annotations other", false),
        ("spec replicas", true),
        ("spec", true),
        ("spec ports", true),
        ("spec paused", false),
        ("data key", false),
    ];
    for (field, expected) in cases {
        assert_eq!(owned(&argo, field), expected, "field: {field}");
        assert!(!owned(&by("kubectl-edit", ""), field), "field: {field}: of another manager");
        assert!(!owned(&by("argocd-controller", "status"), field), "field: {field}: of a subresource");
        assert!(owned(&marked(json!("no list")), field), "field: {field}: a list that cannot be read owns all");
        assert!(!owned(&marked(json!(null)), field), "field: {field}: without a list nothing is proven");
    }
}

#[test]
fn a_merge_patch_writes_its_leaves() {
    let patch = json!({ "spec": { "type": "OIDC", "none": null, "list": [1], "empty": {} } });
    let mut paths: Vec<String> = patched_paths(patch.as_object().unwrap()).iter().map(|path| path.join(".")).collect();
    paths.sort();
    assert_eq!(paths, ["spec.empty", "spec.list", "spec.none", "spec.type"]);
}
