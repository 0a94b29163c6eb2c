//! `trueup plan` as a shell sees it.

#[path = "cli/fixture.rs"]
mod fixture;

use fixture::{guest_with_an_orphan, transcript};

#[test]
fn a_plan_shows_findings_actions_and_totals() {
    let dir = guest_with_an_orphan();
    insta::assert_snapshot!(transcript(&dir, &["plan", "--from", "$TMP", "--utc"]), @"");
}
