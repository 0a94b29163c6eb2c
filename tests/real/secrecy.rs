//! No value of any Secret on real clusters, nor any credential used to reach them, is in what the program writes.

use super::fleet::{Hosted, inline_kubeconfig, run};

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_of_a_real_fleet_is_in_any_output() {
    let Some(fleet) = Hosted::shared().await else {
        return;
    };
    let out = tempfile::tempdir().unwrap();
    let file = |name: &str| out.path().join(name).to_str().unwrap().to_owned();
    let (plan, log, config) = (file("plan.json"), file("log"), file("config.toml"));
    std::fs::write(&config, "[safety]\nsettle = \"0s\"\n").unwrap();
    let mut commands: Vec<Vec<&str>> =
        ["table", "json", "markdown", "csv"].map(|format| vec!["plan", "-o", format, "--out", &plan]).to_vec();
    for name in ["Secret/openshift-config/client", "old-client", "stale-client", "users-own"] {
        commands.extend(["table", "json"].map(|format| vec!["explain", name, "-o", format]));
    }
    commands.push(vec!["doctor"]);

    let kubeconfig = inline_kubeconfig(&fleet.mgmt, "mgmt", "admin");
    for command in commands {
        let args = [&command[..], &["-v", "--log", &log, "--config", &config]].concat();
        let output = run(&kubeconfig, &args);
        let code = output.status.code();
        assert!(
            code != Some(1) && !output.stdout.is_empty(),
            "{args:?}: {code:?}, {}",
            String::from_utf8_lossy(&output.stderr)
        );
        fleet.canaries.assert_absent(&format!("{args:?}"), &output.stdout);
        fleet.canaries.assert_absent(&format!("{args:?} on stderr"), &output.stderr);
    }
    for file in [plan, log] {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!bytes.is_empty(), "{file} is empty");
        fleet.canaries.assert_absent(&file, &bytes);
    }
}
