//! Serves one simulated cluster on a local port until interrupted, and prints a kubeconfig for it.
//!
//! `cargo run --example sim_listen > /tmp/kubeconfig & kubectl --kubeconfig /tmp/kubeconfig get configmaps -A`
//!
//! Arguments: `[ADDRESS [SECRETS]]`. With a number of Secrets the cluster is a guest with as many copies in
//! `openshift-config`. A number on standard input sets how many of them are updated per second.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "an example measures with the real clock and prints"
)]

use std::io::BufRead as _;
use std::net::SocketAddr;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};
use trueup_sim::{ResourceKind, SeedError, SimCluster, SimOptions, listen};

const CONFIG: &str = "config.openshift.io/v1";
const CONFIG_KINDS: [(&str, &str); 6] = [
    ("APIServer", "apiservers"),
    ("Authentication", "authentications"),
    ("Image", "images"),
    ("Infrastructure", "infrastructures"),
    ("OAuth", "oauths"),
    ("Proxy", "proxies"),
];
/// Updates are sent in batches, a hundred times a second.
const BATCH: Duration = Duration::from_millis(10);
const BATCHES_PER_SECOND: usize = 100;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cluster = SimCluster::new(SimOptions { name: "sim".into(), seed: 1, start: Timestamp::now() });
    cluster.register(
        ResourceKind::custom("hypershift.openshift.io/v1beta1", "HostedCluster", "hostedclusters")
            .with_status()
            .short("hc")
            .column("Version", "string", ".spec.release.image"),
    );
    let mut args = std::env::args().skip(1);
    let address: SocketAddr = args.next().as_deref().unwrap_or("127.0.0.1:0").parse()?;
    let secrets: usize = args.next().as_deref().unwrap_or("0").parse()?;
    match secrets {
        0 => seed_hosted_cluster(&cluster)?,
        secrets => seed_guest(&cluster, secrets)?,
    }
    let listening = listen(address, vec![("sim".into(), cluster.clone())]).await?;
    println!("{}", listening.kubeconfig());
    tokio::select! {
        ended = update_secrets(&cluster, secrets, updates_per_second()) => ended?,
        interrupted = tokio::signal::ctrl_c() => interrupted?,
    }
    Ok(())
}

fn seed_hosted_cluster(cluster: &SimCluster) -> Result<(), SeedError> {
    cluster.seed(json!({
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "HostedCluster",
        "metadata": { "name": "checkout", "namespace": "clusters" },
        "spec": { "release": { "image": "quay.io/openshift-release-dev/ocp-release:4.21.3-x86_64" } },
    }))?;
    Ok(())
}

fn seed_guest(cluster: &SimCluster, secrets: usize) -> Result<(), SeedError> {
    for (kind, plural) in CONFIG_KINDS {
        cluster.register(ResourceKind::custom(CONFIG, kind, plural).cluster_scoped().with_status());
        cluster.seed(json!({
            "apiVersion": CONFIG, "kind": kind, "metadata": { "name": "cluster" }, "spec": {},
            "status": { "controlPlaneTopology": "External", "infrastructureName": "load-x2x2x" },
        }))?;
    }
    let labels = json!({
        "hypershift.openshift.io/managed": "true", "hypershift.openshift.io/oidc-provider-managed": "true",
    });
    for number in 0..secrets {
        cluster.seed(json!({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
            "metadata": { "namespace": "openshift-config", "name": secret_name(number), "labels": labels },
            // 1 KiB, as in the measurements on a real server.
            "data": { "clientSecret": "c2VjcmV0".repeat(128) },
        }))?;
    }
    Ok(())
}

fn secret_name(number: usize) -> String {
    format!("load-secret-{number:05}")
}

/// Numbers from standard input. They stop with it, and the last one stays.
fn updates_per_second() -> watch::Receiver<usize> {
    let (sender, receiver) = watch::channel(0);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if let Ok(number) = line.trim().parse() {
                sender.send_replace(number);
            }
        }
    });
    receiver
}

/// Changes one Secret after another, at the requested rate. Does not end.
async fn update_secrets(cluster: &SimCluster, secrets: usize, rate: watch::Receiver<usize>) -> Result<(), SeedError> {
    let mut ticks = interval(BATCH);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let (mut due, mut sent) = (0, 0);
    loop {
        ticks.tick().await;
        due += if secrets == 0 { 0 } else { *rate.borrow() };
        while due >= BATCHES_PER_SECOND {
            due -= BATCHES_PER_SECOND;
            sent += 1;
            let key = format!("openshift-config/{}", secret_name(sent % secrets));
            cluster.edit("v1", "Secret", &key, |secret| {
                secret["metadata"]["annotations"]["updated"] = sent.to_string().into();
            })?;
        }
    }
}
