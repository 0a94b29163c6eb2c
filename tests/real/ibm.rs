//! The simulated IBM Cloud account, judged by IBM's own clients (`ibm/suite.py`).

use crate::clients::{Demo, Suite};

#[test]
fn ibm_clients_accept_the_simulated_account() {
    let Some(suite) = Suite::named("ibm") else { return };
    let folder = tempfile::tempdir().unwrap();
    let demo = Demo::start(folder.path());
    let (url, key) = &demo.account;
    let calls = suite.run(folder.path(), &[url, key]);
    assert!(calls > 150, "only {calls} calls were made");
    println!("{calls} calls, 0 failures");
}
