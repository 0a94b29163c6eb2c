//! A server whose clock and the clock of this machine disagree, as a shell sees it.

use std::time::Duration;

use super::apply::{apply, deletes, is_there, planned, text, trueup};
use super::live::fleet;

const NINE_DAYS: Duration = Duration::from_secs(9 * 86_400 + 60);
const SKEW: &str = "the clock of guest-a is 9 d ahead of this machine";

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_another_time_blocks_its_deletes_and_is_named_by_plan_and_doctor() {
    let fleet = fleet().await;
    fleet.guest.advance(NINE_DAYS);
    let args = ["plan", "--settle", "0s", "--domain", "hosted-oidc", "--kubeconfig", "$TMP/kubeconfig"];
    let plan = trueup(fleet.dir.path(), &args);
    let said = text(&plan);
    assert_eq!(plan.status.code(), Some(3), "{said}");
    let stderr = String::from_utf8_lossy(&plan.stderr);
    let sentence = format!("{SKEW}; deletes there are blocked until the wrong clock is corrected");
    assert_eq!(stderr.matches(&sentence).count(), 1, "{said}");
    let stdout = String::from_utf8_lossy(&plan.stdout);
    assert!(stdout.contains("orphan-certain") && stdout.contains("clock"), "the finding stays as it is: {said}");
    let doctor = trueup(fleet.dir.path(), &["doctor", "--kubeconfig", "$TMP/kubeconfig"]);
    let said = text(&doctor);
    assert!(said.contains(SKEW) && said.contains("mgmt agrees within 60 s"), "{said}");
    assert_eq!(doctor.status.code(), Some(3), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_goes_wrong_after_the_plan_refuses_the_delete() {
    let fleet = fleet().await;
    let plan = planned(&fleet);
    fleet.guest.advance(NINE_DAYS);
    let applied = apply(&fleet, &["--expect", &plan.id]);
    let said = text(&applied);
    assert_eq!((applied.status.code(), deletes(&fleet), is_there(&fleet)), (Some(3), 0, true), "{said}");
    assert!(said.contains("clock") && said.contains(SKEW), "{said}");
}
