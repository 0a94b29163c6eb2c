//! `trueup mcp` on live clusters, driven by the official Python SDK (`mcp/suite.py`).

use crate::clients::{Demo, Suite};

#[test]
fn the_official_python_sdk_lists_explains_and_plans_and_can_do_no_more() {
    let Some(suite) = Suite::named("mcp") else { return };
    let folder = tempfile::tempdir().unwrap();
    let demo = Demo::start(folder.path());
    let home = folder.path().to_str().unwrap();
    let calls = suite.run(folder.path(), &[env!("CARGO_BIN_EXE_trueup"), &demo.kubeconfig, home]);
    assert!(calls >= 22, "only {calls} calls were made");
    println!("{calls} calls, 0 failures");
}
