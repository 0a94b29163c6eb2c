//! The list, a finding and its teardown as the console draws them, at the two sizes that count.

use serde_json::json;

use super::{Console, SIZES};
use trueup_checks::powervs_tags::testing::*;

/// A cluster that goes, whose gateway holds another's connection; things of somebody else; an orphan.
fn fleet() -> Given {
    newer()
        .going()
        .has(connection("theirs", "tg", "vpc", &crn("vpc", "x")))
        .has(resource("vpc", "stray"))
        .of("stray", "name", json!("left-behind"))
        .tags("stray", &dead())
        .of("cos", "state", json!("pending_reclamation"))
        .of("vpc", "created_at", json!("2026-11-01T10:00:00Z"))
        .tags::<&str>("sg", &[])
}

#[test]
fn the_account_as_people_see_it() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for (width, height) in SIZES {
            let mut console = Console::open(&fleet());
            console.keys("1");
            insta::assert_snapshot!(format!("powervs_tags_{width}x{height}"), console.screen((width, height)));
        }
    });
}
