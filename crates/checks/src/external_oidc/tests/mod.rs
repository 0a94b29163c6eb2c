//! The rules of this check, each on a cluster that differs in what the rule is about.

mod acting;
mod applying;
mod availability;
mod console;
mod files;
mod following;
mod oauth;
mod operators;
mod showing;
mod stack;
mod switching;
mod trying;

use super::testing::*;
use crate::testing::{Fixture, Follow, each, now};
use trueup_core::engine::GateName;

#[test]
fn a_cluster_that_went_over_and_one_that_never_did_have_nothing_to_mend() {
    for (case, given) in [("on OIDC", given()), ("on OAuth", integrated())] {
        let judged = given.judged();
        assert_eq!(judged.troubles(), Vec::<String>::new(), "case: {case}");
        let drafts = judged.answers.values().flat_map(|answer| &answer.explanation.remedy);
        assert_eq!(drafts.count(), 0, "case: {case}: a healthy cluster exits 0");
    }
    assert!(given().judged().answers.len() > 30, "every resource of the stack is a subject");
}

#[test]
fn every_action_belongs_to_an_operator_until_the_config_hands_it_over() {
    let drifting = given().file("openshift-config-managed", "auth-config", "{}").with_parts();
    let gates = |given: Given| -> Vec<GateName> {
        let judged = given.judged();
        let drafts = judged.answers.values().flat_map(|answer| &answer.explanation.remedy);
        drafts.flat_map(|draft| draft.blocked_by.iter().map(|blocked| blocked.gate)).collect()
    };
    assert!(!gates(drifting.clone()).is_empty());
    assert!(gates(drifting.clone()).iter().all(|gate| *gate == GateName::OperatorOwned));
    assert_eq!(gates(drifting.managed()), []);
}
