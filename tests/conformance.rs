//! The simulated server held against a real kube-apiserver: the same random sequences of operations must give the same
//! codes, reasons, messages, objects, lists and events.
//!
//! `TRUEUP_SEQUENCES` sets how many sequences are tried (200 unless told), `TRUEUP_SEED` which ones. Both servers see the
//! same operations; a difference is made as short as possible and printed with both answers.
//!
//! Not here: faults, delays, lost answers. A healthy server has none of them, so there is nothing to hold them against.

mod support;

mod conformance {
    mod bodies;
    pub mod compare;
    mod normal;
    mod ops;
    mod server;
    mod session;
    mod targets;
}

use conformance::compare::compare;
use support::crds::install_crd;
use support::real::{RealServer, User};

const WIDGETS: &str = include_str!("conformance/widgets.conformance.trueup.dev.yaml");

fn from_env(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is a number, not {text:?}"))
    })
}

/// Holds the comparison itself to account: whatever it says here, the normalisation invented.
#[tokio::test(flavor = "multi_thread")]
async fn a_real_server_does_not_differ_from_itself() {
    let Some(server) = RealServer::shared() else {
        return;
    };
    let real = server.connect(User::Admin);
    install_crd(&real, WIDGETS).await;
    let count = from_env("TRUEUP_SEQUENCES", 200).div_ceil(10);
    if let Err(report) = compare(&real, &real, from_env("TRUEUP_SEED", 1), count).await {
        panic!("{report}");
    }
}
