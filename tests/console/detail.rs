//! Why a finding is one: its difference, its references and what to do, by keys alone.

use crate::stage::demo;

#[test]
fn an_orphan_shows_why_it_is_one_and_its_references_open() {
    let mut demo = demo();
    demo.find_orphan();
    demo.pty.wait_for_text("expected: absent");
    demo.pty.send("o");
    demo.pty.wait_for_text("names");
    demo.pty.wait_for_text("does not name it");
    demo.pty.wait_for_text("USED BY");
    demo.pty.send("\r");
    demo.pty.wait_for_text("kind: HostedCluster");
    demo.pty.send("/metadata\r");
    demo.pty.send("\x1b");
    demo.pty.send("\x1b");
    demo.pty.wait_for_text("USED BY");
    demo.pty.send("\x1b");
    demo.pty.wait_for_text("EVIDENCE");
    demo.quit();
}

#[test]
fn a_claim_typed_into_the_question_is_answered_and_never_shown() {
    let mut demo = demo();
    demo.pty.send("2/cluster:ocp-paris kind:authentication\r");
    demo.pty.wait_for_text("EVIDENCE");
    demo.pty.send("i");
    demo.pty.wait_for_text("Claims (JSON) or token:");
    demo.pty.send("zq7XwK-not-a-token");
    demo.pty.wait_for_text("••••••••••••••••••");
    assert!(!demo.pty.text().contains("zq7XwK"), "{}", demo.pty.text());
    demo.pty.send("\r");
    demo.pty.wait_for_text("WHO WOULD I BE");
    assert!(!demo.pty.text().contains("zq7XwK"), "{}", demo.pty.text());
    demo.quit();
}

#[test]
fn a_rollout_shows_each_node_and_what_is_awaited() {
    let mut demo = demo();
    demo.pty.send("2/cluster:ocp-berlin kind:kubeapiserver\r");
    demo.pty.wait_for_text("EVIDENCE");
    // The search scrolls to the panel, wherever it is.
    demo.pty.send("\r/nodes\r");
    demo.pty.wait_for_text("master-0");
    demo.quit();
}

#[test]
fn a_set_that_cannot_scale_from_zero_says_what_to_run() {
    let mut demo = demo();
    demo.pty.send("5/name~pool-by-hand\r");
    demo.pty.wait_for_text("credentials-partial");
    demo.pty.send("\r");
    demo.pty.wait_for_text("DIFF");
    // The command, and annotations instead once the catalogue of another cluster has the type.
    let says = |screen: &str| {
        screen.contains("set env deploy/") || screen.contains("annotate MachineSet openshift-machine-api/pool-by-hand")
    };
    demo.pty.send_until("/fix\r", "the fix", says);
    demo.quit();
}
