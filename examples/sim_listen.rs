//! Serves one simulated cluster on a local port until interrupted, and prints a kubeconfig for it.
//!
//! `cargo run --example sim_listen > /tmp/kubeconfig & kubectl --kubeconfig /tmp/kubeconfig get configmaps -A`

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "an example measures with the real clock and prints"
)]

use std::net::SocketAddr;

use jiff::Timestamp;
use serde_json::json;
use trueup_sim::{ResourceKind, SimCluster, SimOptions, listen};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cluster = SimCluster::new(SimOptions { name: "sim".into(), seed: 1, start: Timestamp::now() });
    cluster.register(
        ResourceKind::custom("hypershift.openshift.io/v1beta1", "HostedCluster", "hostedclusters")
            .with_status()
            .short("hc")
            .column("Version", "string", ".spec.release.image"),
    );
    cluster.seed(json!({
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "HostedCluster",
        "metadata": { "name": "checkout", "namespace": "clusters" },
        "spec": { "release": { "image": "quay.io/openshift-release-dev/ocp-release:4.21.3-x86_64" } },
    }))?;
    let address: SocketAddr = std::env::args().nth(1).as_deref().unwrap_or("127.0.0.1:0").parse()?;
    let listening = listen(address, vec![("sim".into(), cluster.clone())]).await?;
    println!("{}", listening.kubeconfig());
    tokio::signal::ctrl_c().await?;
    Ok(())
}
