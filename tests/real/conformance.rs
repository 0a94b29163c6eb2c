//! The simulated server held against a real kube-apiserver: the same random sequences of operations must give the same
//! codes, reasons, messages, objects, lists and events.
//!
//! `TRUEUP_SEQUENCES` sets how many sequences are tried (default 200), `TRUEUP_SEED` which ones. Both servers see the
//! same operations; a difference is made as short as possible and printed with both answers.
//!
//! Not here: faults, delays, lost answers. A healthy server has none of them, so there is nothing to hold them against.

mod bodies;
mod compare;
mod flawed;
mod normal;
mod ops;
mod requests;
mod session;
mod strategies;
mod targets;

use trueup_sim::{SimCluster, SimOptions};

use self::compare::compare;
use self::flawed::{Flaw, Flawed};
use crate::support::crds::install_crd;
use crate::support::real::{Connection, RealServer, User};

const WIDGETS: &str = include_str!("conformance/widgets.conformance.trueup.dev.yaml");

/// Enough for every answer below to come up, in a few seconds.
const SEQUENCES: u64 = 200;

/// What the sequences must lead to. An answer that never comes up would be compared in vain.
const ANSWERS: [&str; 31] = [
    "Apply 200",
    "Apply 201",
    "Apply 409 Conflict",
    "Create 201",
    "Create 403 Forbidden",
    "Create 409 AlreadyExists",
    "CreateWrong 400 BadRequest",
    "CreateWrong 422 Invalid",
    "CreateWrong 500",
    "Delete 200",
    "Delete 404 NotFound",
    "Delete 409 Conflict",
    "Delete 422 Invalid",
    "DeleteNamespace 200",
    "DeleteNamespace 409 Conflict",
    "DeleteNamespace 422 Invalid",
    "Get 200",
    "Get 404 NotFound",
    "JsonPatch 200",
    "JsonPatch 422 Invalid",
    "List 200",
    "ListPages",
    "ListPages 200",
    "MergePatch 200",
    "MergePatch 409 Conflict",
    "Update 200",
    "Update 404 NotFound",
    "Update 409 Conflict",
    "Update 422 Invalid",
    "UpdateStatus 200",
    "Watch events",
];

fn from_env(name: &str, otherwise: u64) -> u64 {
    std::env::var(name)
        .map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number, not {text:?}")))
}

async fn prepared(server: &RealServer) -> Connection {
    let real = server.connect(User::Admin);
    install_crd(&real, WIDGETS).await;
    real
}

#[tokio::test(flavor = "multi_thread")]
async fn the_simulated_server_answers_like_the_real_one() {
    let Some(server) = RealServer::shared() else {
        return;
    };
    let real = prepared(server).await;
    let options = SimOptions { name: "sim".to_owned(), seed: 1, start: jiff::Timestamp::UNIX_EPOCH };
    let sim = SimCluster::new(options);
    sim.seed(serde_saphyr::from_str(WIDGETS).unwrap()).unwrap();

    let count = from_env("TRUEUP_SEQUENCES", SEQUENCES);
    let comparison = compare(&real, &sim, from_env("TRUEUP_SEED", 1), count).await.confirmed(&real, &sim).await;
    assert!(comparison.is_alike(), "{}", comparison.report(&real, &sim).await);
}

/// Holds the comparison itself to account: whatever it says here, the normalisation invented.
#[tokio::test(flavor = "multi_thread")]
async fn two_real_servers_do_not_differ() {
    let Some(server) = RealServer::shared() else {
        return;
    };
    let real = prepared(server).await;
    let count = from_env("TRUEUP_SEQUENCES", SEQUENCES).div_ceil(10).max(SEQUENCES);
    let comparison = compare(&real, &real, from_env("TRUEUP_SEED", 1), count).await.confirmed(&real, &real).await;
    let missed: Vec<_> = ANSWERS.iter().filter(|answer| !comparison.answers.contains_key(**answer)).collect();
    assert!(missed.is_empty(), "never answered: {missed:?}");
    assert!(comparison.is_alike(), "{}", comparison.report(&real, &real).await);
}

/// Holds the comparison itself to account: a server that does one thing wrong must not pass.
#[tokio::test(flavor = "multi_thread")]
async fn every_planted_flaw_is_found() {
    let Some(server) = RealServer::shared() else {
        return;
    };
    let real = prepared(server).await;
    for flaw in Flaw::ALL {
        let comparison = compare(&real, &Flawed::new(real.clone(), flaw), 1, 60).await;
        assert!(!comparison.is_alike(), "flaw: {flaw:?}");
    }
}
