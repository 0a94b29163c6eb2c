//! How many deletes a second on simulated clusters: planned, judged again, sealed, journalled, sent, verified.
//!
//! `TRUEUP_BIN=target/release/trueup cargo test --release --test cli -- --ignored --nocapture speed`;
//! `TRUEUP_OBJECTS` says how many (default 2,000). The simulated servers are in the test, so that it should be a
//! release build as well.

use std::time::Instant;

use serde_json::{Value, json};

use super::apply::{planned_with, text, trueup};
use super::live::fleet;

const OBJECTS: usize = 2_000;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement, of use only with a release build"]
async fn verified_deletes_per_second() {
    let fleet = fleet().await;
    let objects = std::env::var("TRUEUP_OBJECTS").map_or(OBJECTS, |text| text.parse().expect("a number"));
    let orphan = fleet.guest.object("v1", "Secret", "openshift-config/old-client").unwrap();
    for nth in 0..objects {
        let metadata = json!({"name": format!("orphan-{nth:05}"), "namespace": "openshift-config",
            "labels": orphan["metadata"]["labels"]});
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": metadata,
            "data": orphan["data"]});
        fleet.guest.seed(secret).unwrap();
    }
    let plan = planned_with(&fleet, &["--max-deletes", "100000"]);
    let args = ["apply", "$TMP/plan.json", "--expect", &plan.id, "--confirm-cluster", "guest-a", "--look-back", "0s"];
    let began = Instant::now();
    let args = [&args[..], &["-o", "json", "--kubeconfig", "$TMP/kubeconfig"]].concat();
    let applied = trueup(fleet.dir.path(), &args);
    let took = began.elapsed();
    let report: Value = serde_json::from_slice(&applied.stdout).unwrap_or_else(|_| panic!("{}", text(&applied)));
    let gone = report["summary"]["gone"].as_u64().unwrap_or_default();
    println!("{gone} verified deletes in {took:.2?}: {:.0} a second", gone as f64 / took.as_secs_f64());
    assert!(gone >= objects as u64, "{report}");
}
