//! Shared by the benchmarks: objects of realistic size, a small fleet, and the process's memory.
#![allow(dead_code, reason = "each measurement uses its own part")]

use base64::Engine as _;
use jiff::Timestamp;
use trueup_core::world::{
    Cluster, ClusterIdentity, ClusterName, ClusterSource, Content, HostedBy, Interest, Link, Namespace, ObjectName,
    RiskClass, Served, World,
};

/// Content of each object on a page.
#[derive(Clone, Copy)]
pub enum Shape {
    Whole,
    Metadata,
}

/// The first number among the arguments.
pub fn argument() -> Option<usize> {
    std::env::args().skip(1).find_map(|word| word.parse().ok())
}

pub fn now() -> Timestamp {
    "2026-11-16T10:00:00Z".parse().expect("a valid time")
}

/// Resident memory of the process, in bytes.
pub fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: usize = statm.split_whitespace().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    pages * 4096
}

/// Peak memory of the process, in kB.
pub fn peak_resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// CPU time of this process, all threads together.
pub fn cpu_seconds() -> f64 {
    cpu_ticks(13) / TICKS_A_SECOND
}

/// CPU time of child processes.
pub fn cpu_seconds_of_children() -> f64 {
    cpu_ticks(15) / TICKS_A_SECOND
}

/// Linux clock ticks per second, on every machine this runs on.
const TICKS_A_SECOND: f64 = 100.0;

/// The sum of two adjacent fields of `/proc/self/stat`, counted from 0: user and system time.
fn cpu_ticks(first: usize) -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name may contain spaces; the fields after its bracket do not. The first of them is field 2.
    let after = stat.rsplit(')').next().unwrap_or_default();
    after.split_whitespace().skip(first - 2).take(2).filter_map(|field| field.parse::<f64>().ok()).sum()
}

/// A base64 value of a Secret.
pub fn base64_value(index: usize, bytes: usize) -> String {
    let value: Vec<u8> = (0..bytes).map(|place| ((index * 31 + place * 7) % 251) as u8).collect();
    base64::engine::general_purpose::STANDARD.encode(value)
}

/// The product's own interest in Secrets: of a guest (full) or of a control plane's namespace (metadata).
pub fn secret_interest(content: Content) -> Interest {
    use trueup_checks::Check;
    let (world, now) = small_world();
    let interests = trueup_checks::hosted_oidc::HostedOidc::new(Default::default()).interests(world.view(now));
    let wanted = |interest: &Interest| interest.id.resource.kind == "Secret" && interest.id.content == content;
    interests.into_iter().find(wanted).expect("the check looks at Secrets both ways")
}

/// A page of Secrets of a control plane's namespace, 7.0 kB each: 6 labels, 3 annotations, an owner, two field managers
/// (1.5 kB) and 4.4 kB of data.
pub fn hcp_secret_page(first: usize, count: usize, shape: Shape) -> Vec<u8> {
    let mut body =
        String::from(r#"{"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"900000"},"items":["#);
    for index in first..first + count {
        if index > first {
            body.push(',');
        }
        body.push_str(&hcp_secret(index, shape));
    }
    body.push_str("]}");
    body.into_bytes()
}

fn hcp_secret(index: usize, shape: Shape) -> String {
    let fields: String =
        (0..12).map(|field| format!(r#""f:hypershift.openshift.io/field-number-{field}":{{}},"#)).collect();
    let manager = format!(
        r#"{{"manager":"control-plane-operator","operation":"Update","apiVersion":"v1","time":"2026-11-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{{"f:metadata":{{"f:annotations":{{{fields}".":{{}}}},"f:labels":{{".":{{}}}}}}}}}}"#
    );
    let metadata = format!(
        r#""metadata":{{"name":"kube-apiserver-serving-cert-{index:07}","namespace":"clusters-guest-a","uid":"{:08x}-1111-4222-8333-{index:012x}","resourceVersion":"{}","creationTimestamp":"2026-10-01T00:00:00Z","labels":{{"app":"kube-apiserver","hypershift.openshift.io/control-plane-component":"kube-apiserver","hypershift.openshift.io/hosted-control-plane":"clusters-guest-a","hypershift.openshift.io/kubeconfig":"external","cluster.x-k8s.io/cluster-name":"guest-a","hypershift.openshift.io/need-management-kas-access":"true"}},"annotations":{{"hypershift.openshift.io/cluster":"clusters/guest-a","hypershift.openshift.io/release-image":"quay.example/ocp/release:4.20.1-x86_64","certificates.hypershift.openshift.io/ca-hash":"0f1e2d3c4b5a69788796a5b4c3d2e1f0"}},"ownerReferences":[{{"apiVersion":"hypershift.openshift.io/v1beta1","kind":"HostedControlPlane","name":"guest-a","uid":"5d8c5d3e-0000-4000-8000-000000000001","controller":true,"blockOwnerDeletion":true}}],"managedFields":[{manager},{manager}]}}"#,
        index as u32,
        100_000 + index,
    );
    match shape {
        Shape::Metadata => format!("{{{metadata}}}"),
        Shape::Whole => {
            let value = base64::engine::general_purpose::STANDARD.encode(vec![(index % 251) as u8; 1100]);
            format!(
                r#"{{{metadata},"data":{{"clientSecret":"{value}","tls.crt":"{value}","tls.key":"{value}"}},"type":"Opaque"}}"#
            )
        }
    }
}

/// A management cluster with one guest whose control plane is known.
pub fn small_world() -> (World, Timestamp) {
    let mut world = World::default();
    world.put_cluster(cluster("mgmt", None));
    let by = HostedBy {
        cluster: ClusterName::new("mgmt"),
        namespace: Namespace::new("clusters"),
        name: ObjectName::new("guest-a"),
    };
    world.put_cluster(cluster("guest-a", Some(by)));
    feed(
        &mut world,
        "mgmt",
        serde_json::json!({
            "apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedControlPlane",
            "metadata": {"name": "guest-a", "namespace": "clusters-guest-a"}, "spec": {},
        }),
    );
    (world, now())
}

pub fn cluster(name: &str, hosted_by: Option<HostedBy>) -> Cluster {
    Cluster {
        name: ClusterName::new(name),
        class: RiskClass::Prod,
        source: ClusterSource::Snapshot,
        hosted_by,
        link: Link::Recorded,
        identity: ClusterIdentity::default(),
        served: Served::Recorded(["hypershift.openshift.io", "config.openshift.io", ""].map(str::to_owned).into()),
    }
}

fn feed(world: &mut World, cluster: &str, object: serde_json::Value) {
    use trueup_checks::Check;
    use trueup_core::decode::recorded::{Coverage, KindCoverage, RecordedCluster, RecordedObject, fill};
    let mut recorded = RecordedCluster::new(Coverage { kinds: KindCoverage::All, ..Coverage::default() });
    recorded.push(RecordedObject {
        group: "hypershift.openshift.io".to_owned(),
        kind: "HostedControlPlane".to_owned(),
        namespace: object["metadata"]["namespace"].as_str().unwrap_or_default().to_owned(),
        name: object["metadata"]["name"].as_str().unwrap_or_default().to_owned(),
        json: zeroize::Zeroizing::new(object.to_string()),
    });
    let clusters = [(ClusterName::new(cluster), recorded)].into();
    let check = trueup_checks::hosted_oidc::HostedOidc::new(Default::default());
    let interests = check.interests(world.view(now()));
    fill(world, &clusters, &interests, &trueup_core::decode::Digester::new(&[7; 32]), now());
}
