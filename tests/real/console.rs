//! The console on real clusters, by keys alone: find an orphan, read why, plan, try, approve, watch, take it back.

use super::desk::{AS_READER, Acting, Desk, EGRESS};
use crate::pty::{Program, Pty};

/// Clears the line, then types the name: twice is the same as once.
const NAME: &str = "\x15guest-a";

/// A console at a desk, when the guest's finding of this name is alone in the list and explained.
fn console(desk: &Desk, name: &str, more: &[&str]) -> Pty {
    desk.configure(&format!("[safety]\nsettle = \"1s\"\n{EGRESS}"));
    let program = Program::new(env!("CARGO_BIN_EXE_trueup"))
        .args(&["--utc", "--kubeconfig"])
        .arg(desk.path("kubeconfig"))
        .args(more)
        .env("HOME", desk.path(""))
        .env("XDG_STATE_HOME", desk.path("state"))
        .env("XDG_CONFIG_HOME", desk.path("config"))
        .env("USER", "anna")
        .env("LANG", "C.UTF-8")
        .folder(desk.path(""));
    let mut pty = program.size(120, 40).start();
    pty.wait_for_text("guest-a");
    pty.send(&format!("1/name~{name}\r"));
    pty.wait_for("the orphan alone", |screen| {
        let text = screen.contents();
        text.contains("1 of ") && text.contains(name) && text.contains("EVIDENCE")
    });
    // Before everything it rests on was read, it is unknown, and there is nothing to plan.
    pty.wait_for_text("extra · orphan-certain");
    pty.wait_for_text("no provider names it");
    pty
}

/// Makes a plan of one action. A finding has to hold for a moment first, so a plan may be made several times.
fn plan(pty: &mut Pty, keys: &str, total: &str) {
    pty.send(keys);
    pty.wait_for_text("[Plan]");
    pty.send_until("R", total, |screen| screen.contains(total));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_orphan_is_found_dry_run_deleted_and_undone_by_keys() {
    let Some(acting) = Acting::shared().await else {
        return;
    };
    let (name, desk) = ("by-keys", Desk::new(acting));
    let before = acting.orphan(name).await;
    tokio::task::block_in_place(|| {
        let mut pty = console(&desk, name, &[]);
        plan(&mut pty, "r", "−1 delete");
        pty.send("D");
        pty.wait_for_text("dry run: ok");
        let tried = tokio::runtime::Handle::current().block_on(acting.look(name));
        assert_eq!((tried.as_ref(), acting.deletes(name)), (Some(&before), 1), "the server tries, and deletes nothing");

        pty.send("a");
        pty.wait_for_text("Delete 1 object in guest-a · ▌prod");
        pty.wait_for_text("end of list");
        pty.send_until(NAME, "the name to be heard", |screen| screen.contains("> guest-a"));
        pty.send("\r");
        pty.wait_for_text("1 deleted");
        println!("{}", pty.text());

        plan(&mut pty, "u", "+1 create");
        pty.send("a");
        pty.wait_for_text("Create 1 object in guest-a · ▌prod");
        pty.send_until("\r", "the undo to begin", |screen| screen.contains("[Activity"));
        pty.wait_for_text("1 restored");
        println!("{}", pty.text());
        pty.send("\x03");
        assert!(pty.expect_clean_exit().success());
    });
    assert_eq!(acting.deletes(name), 2, "once to try, once to do it");
    let after = acting.look(name).await.expect("it was brought back");
    assert_eq!(after["data"], before["data"]);
    assert_ne!(after["metadata"]["uid"], before["metadata"]["uid"], "it is another object");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_delete_permission_is_shown_in_the_plan_and_blocks_approval() {
    let Some(acting) = Acting::shared().await else {
        return;
    };
    let (name, desk) = ("seen-not-touched", Desk::new(acting));
    acting.orphan(name).await;
    tokio::task::block_in_place(|| {
        let mut pty = console(&desk, name, &AS_READER);
        pty.send("r");
        pty.wait_for_text("[Plan]");
        pty.wait_for_text("you may not delete secrets");
        pty.send("a");
        pty.wait_for_text("cannot approve");
        pty.send("\x03");
        assert!(pty.expect_clean_exit().success());
    });
    assert_eq!(acting.deletes(name), 0);
    assert!(acting.look(name).await.is_some());
}
