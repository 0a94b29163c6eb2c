//! From an orphan to its end and back, by keys alone.

use crate::stage::{Demo, demo, demo_with};

/// Clears the line, then types the name: twice is the same as once.
const NAME: &str = "\x15guest-payments";

/// Makes a plan of one action that nothing speaks against. A finding has to hold for a moment first, so a plan may be
/// made several times.
fn plan(demo: &mut Demo, keys: &str, total: &str) {
    demo.pty.send(keys);
    demo.pty.wait_for_text("[Plan]");
    demo.pty.send_until("R", total, |screen| screen.contains(total));
}

#[test]
fn an_orphan_is_found_explained_deleted_and_undone() {
    let mut demo = demo();
    demo.find_orphan();
    demo.pty.wait_for_text("orphan-certain");
    demo.pty.wait_for_text("no provider names it");

    plan(&mut demo, "r", "−1 delete");
    demo.pty.send("a");
    demo.pty.wait_for_text("Delete 1 object in guest-payments · ▌prod");
    demo.pty.wait_for_text("end of list");
    demo.pty.send_until(NAME, "the name to be heard", |screen| screen.contains("> guest-payments"));
    demo.pty.send("\r");
    demo.pty.wait_for_text("✓ deleted");
    demo.pty.wait_for_text("finished");
    demo.pty.wait_for_text("1 deleted");

    plan(&mut demo, "u", "+1 create");
    demo.pty.send("a");
    demo.pty.wait_for_text("Create 1 object in guest-payments · ▌prod");
    let is_sent = |screen: &str| screen.contains("[Activity");
    match demo.pty.text().contains("Press enter") {
        true => demo.pty.send_until("\r", "the undo to begin", is_sent),
        false => {
            demo.pty.send_until(NAME, "the name to be heard", |screen| screen.contains("> guest-payments"));
            demo.pty.send("\r");
        }
    }
    demo.pty.wait_for_text("✓ restored");
    demo.pty.wait_for_text("1 restored");
    demo.pty.send("1");
    demo.pty.wait_for_text("ext-auth-console");
    demo.quit();
}

#[test]
fn a_cancelled_approval_changes_nothing() {
    let mut demo = demo();
    demo.find_orphan();
    plan(&mut demo, "r", "−1 delete");
    demo.pty.send("a");
    demo.pty.wait_for_text("to approve:");
    demo.pty.send_until(NAME, "the name to be heard", |screen| screen.contains("> guest-payments"));
    demo.pty.send("\x1b");
    demo.pty.wait_for_text("nothing was sent");
    demo.pty.send("ga");
    demo.pty.wait_for_text("No applies yet");
    demo.quit();
}

#[test]
fn read_only_shows_everything_and_offers_no_write() {
    let mut demo = demo_with(|program| program.arg("--read-only").size(120, 40));
    demo.find_orphan();
    demo.pty.send("r");
    demo.pty.wait_for_text("[Plan]");
    demo.pty.send("a");
    demo.pty.wait_for_text("cannot approve: read-only");
    demo.quit();
}

#[test]
fn a_saved_plan_is_accepted_by_apply() {
    let mut demo = demo();
    demo.find_orphan();
    plan(&mut demo, "r", "−1 delete");
    demo.pty.send("w");
    demo.pty.wait_for_text("apply: trueup apply");
    let file = std::fs::read_dir(demo.folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let file = file.into_iter().find(|path| path.extension().is_some_and(|end| end == "json")).unwrap();
    let plan = trueup_core::engine::Plan::read(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(plan.actions.len(), 1);
    std::fs::remove_file(file).unwrap();
    demo.quit();
}
