//! `trueup doctor` as a shell sees it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::fixture::{add, folder, guest_with_an_orphan, transcript};

#[test]
fn all_checks_passed_is_exit_0() {
    let dir = guest_with_an_orphan();
    let output = doctor(&dir, &[]);
    insta::assert_snapshot!(output, @r##"
ok config       $TMP/home/.config/trueup/config.toml does not exist; using defaults
ok state folder $TMP/home/.local/state/trueup does not exist yet
ok terminal     stdout is not a terminal, no colour, plain ASCII (LANG names no UTF-8 locale)
ok snapshot     $TMP holds 2 clusters
4 checks: 4 ok, 0 failed
----- stderr
----- exit 0
"##);
}

#[test]
fn a_failed_check_has_a_remedy_and_is_exit_3() {
    let dir = guest_with_an_orphan();
    let state = dir.path().join("home/.local/state/trueup");
    fs::create_dir_all(&state).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o755)).unwrap();
    add(dir.path(), &[("home/.config/trueup/config.toml", "colour = true\n"), ("clusters/mgmt/x.yaml", "a: [")]);
    insta::assert_snapshot!(doctor(&dir, &[]), @r##"
ok terminal     stdout is not a terminal, no colour, plain ASCII (LANG names no UTF-8 locale)
!! config       $TMP/home/.config/trueup/config.toml:1: unknown key `colour` in the config; known are clusters, policy, safety, domains, accept, clouds, egress, exec, budgets, journal, console, controller, defaults
!! state folder $TMP/home/.local/state/trueup has mode 755, expected 700; run chmod 700 $TMP/home/.local/state/trueup
!! snapshot     $TMP/clusters/mgmt/x.yaml:1: is not valid YAML from here on: fix or remove it
4 checks: 1 ok, 3 failed
----- stderr
----- exit 3
"##);
}

#[test]
fn doctor_reports_a_missing_kubeconfig() {
    let dir = folder(&[]);
    insta::assert_snapshot!(transcript(&dir, &["doctor", "--kubeconfig", "$TMP/none"]), @r##"
ok config       neither XDG_CONFIG_HOME nor HOME is set; using defaults
ok terminal     stdout is not a terminal, no colour, plain ASCII (LANG names no UTF-8 locale)
ok aws          no AWS login on this machine; the credentials Secret of each MachineSet is used
!! state folder neither XDG_STATE_HOME nor HOME is set; set HOME
!! kubeconfig   $TMP/none: cannot be read (entity not found); check the path and its permissions; or use --from
5 checks: 3 ok, 2 failed
----- stderr
----- exit 3
"##);
}

/// Runs doctor on the folder with a home of its own.
fn doctor(dir: &tempfile::TempDir, args: &[&str]) -> String {
    let tmp = dir.path().to_str().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_trueup"))
        .env_clear()
        .env("HOME", dir.path().join("home"))
        .env("AWS_EC2_METADATA_DISABLED", "true")
        .args(["doctor", "--from", tmp])
        .args(args)
        .output()
        .unwrap();
    let clean = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(tmp, "$TMP");
    let (stdout, stderr) = (clean(&output.stdout), clean(&output.stderr));
    format!("{stdout}----- stderr\n{stderr}----- exit {}\n", output.status.code().unwrap())
}
