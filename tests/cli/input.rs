//! What is wrong with the command line, the config or the input is said in one sentence with its place and a way out.

use std::fs;
use std::os::unix::fs::symlink;

use super::fixture::{add, folder, guest_with_an_orphan, run, transcript};

#[test]
fn wrong_usage_is_one_line_and_exit_1() {
    let dir = guest_with_an_orphan();
    insta::assert_snapshot!(transcript(&dir, &["plan", "--form", "x"]), @r##"
----- stderr
trueup: unexpected argument '--form' found; a similar argument exists: '--from'; see trueup --help
----- exit 1
"##);
    insta::assert_snapshot!(transcript(&dir, &["plan", "--from", "$TMP", "--settle", "soon"]), @r##"
----- stderr
trueup: invalid value 'soon' for '--settle <DURATION>': invalid duration `soon`; use 30s, 5m, 1h30m or 90d; see trueup --help
----- exit 1
"##);
    insta::assert_snapshot!(transcript(&dir, &["plan", "--from", "$TMP", "--watch"]), @r##"
----- stderr
trueup: the argument '--from <DIR>' cannot be used with '--watch'; see trueup --help
----- exit 1
"##);
    insta::assert_snapshot!(transcript(&dir, &["explain"]), @r##"
----- stderr
trueup: the following required arguments were not provided: <FINDING>; see trueup --help
----- exit 1
"##);
    insta::assert_snapshot!(transcript(&dir, &["plan", "--from", "$TMP/nowhere"]), @r##"
----- stderr
trueup: --from: cannot read $TMP/nowhere (no such file or directory); name a folder with clusters/<name>/*.yaml, or a must-gather
----- exit 1
"##);
    insta::assert_snapshot!(transcript(&dir, &["plan", "--from", "$TMP/fleet.yaml"]), @r##"
----- stderr
trueup: --from: $TMP/fleet.yaml is not a folder or an archive; name a folder with clusters/<name>/*.yaml, or a must-gather
----- exit 1
"##);
}

#[test]
fn a_config_is_checked_to_the_last_key() {
    let dir = guest_with_an_orphan();
    add(
        dir.path(),
        &[("config.toml", "[safety]\nread_olny = true\n[[clusters]]\nmatch = \"x\"\nclass = \"production\"\n")],
    );
    insta::assert_snapshot!(transcript(&dir, &["plan", "--from", "$TMP", "--config", "$TMP/config.toml"]), @r##"
----- stderr
trueup: $TMP/config.toml:2: unknown key `read_olny` in [safety]; did you mean `read_only`?
$TMP/config.toml:5: unknown value `production` for `class` in [[clusters]]; known are prod, stage, dev
----- exit 1
"##);
    insta::assert_snapshot!(transcript(&dir, &["plan", "--from", "$TMP", "--config", "$TMP/none.toml"]), @r##"
----- stderr
trueup: config $TMP/none.toml does not exist; check --config
----- exit 1
"##);
}

#[test]
fn the_config_decides_classes_and_stops_writes() {
    let dir = guest_with_an_orphan();
    let out = folder(&[(
        "config.toml",
        "[[clusters]]\nmatch = \"guest-*\"\nclass = \"dev\"\n[safety]\nkill_switch = \"stop\"\n",
    )]);
    let config = out.path().join("config.toml");
    let args = ["plan", "--from", "$TMP", "-o", "json", "--config", config.to_str().unwrap()];
    let plan =
        |out: std::process::Output| trueup_core::engine::Plan::read(&String::from_utf8(out.stdout).unwrap()).unwrap();
    let free = plan(run(&dir, &args));
    assert_eq!((free.targets[0].class.as_str(), free.actions[0].blocked_by.len()), ("dev", 0));
    fs::write(out.path().join("stop"), "").unwrap();
    let stopped = plan(run(&dir, &args));
    assert_eq!(stopped.actions[0].blocked_by[0].gate.as_str(), "kill-switch");
}

#[test]
fn unreadable_input_is_named_and_the_rest_is_judged() {
    let dir = guest_with_an_orphan();
    add(
        dir.path(),
        &[
            ("clusters/guest-a/broken.yaml", "apiVersion: v1\nkind: Secret\nmetadata: [\n"),
            ("clusters/guest-a/kindless.yaml", "metadata: { name: x }\n"),
            ("clusters/guest-a/bad.json", "{\n  \"kind\": }\n"),
            (
                "clusters/guest-a/again.yaml",
                "apiVersion: v1\nkind: Secret\nmetadata: { name: client, namespace: openshift-config }\n",
            ),
            ("clusters/guest-a/empty.yaml", ""),
            ("clusters/mgmt/list.yaml", "apiVersion: v1\nkind: SecretList\nmetadata: { continue: more }\nitems: []\n"),
            ("clusters/stray.yaml", "a: 1\n"),
        ],
    );
    fs::write(dir.path().join("clusters/guest-a/binary.yaml"), b"\x00\xff\xfe").unwrap();
    symlink("/etc/hostname", dir.path().join("clusters/guest-a/out.yaml")).unwrap();
    symlink(dir.path().join("clusters/guest-a"), dir.path().join("clusters/guest-a/loop")).unwrap();
    insta::assert_snapshot!(transcript(&dir, &["plan", "--from", "$TMP", "--utc"]), @r##"
plan $ID  made 2026-11-16 10:00:00 UTC, valid until 10:15:00

guest-a  prod  snapshot  11 of 11 collections not complete
  ? unknown ConfigMap      openshift-config/*                 unknown      ConfigMaps of openshift-config are not known completely: clusters/guest-a/out.yaml could not be read, and may have held v1/configmaps; trueup doctor says what cannot be read
  ? unknown Secret         openshift-config/*                 unknown      Secrets of openshift-config are not known completely: clusters/guest-a/out.yaml could not be read, and may have held v1/secrets; trueup doctor says what cannot be read
  ? unknown Secret         openshift-config/client            unknown      unknown: clusters/mgmt/list.yaml could not be read, and may have held v1/secrets; trueup doctor says what cannot be read
  ? unknown Secret         openshift-config/old-client        unknown 41d  unknown: Secrets of openshift-config: clusters/guest-a/out.yaml could not be read, and may have held v1/secrets; trueup doctor says what cannot be read

mgmt  prod  snapshot  10 of 10 collections not complete
  ? unknown HostedCluster  clusters/guest-a                   unknown      unknown: spec.configuration.authentication.oidcProviders[0].oidcClients[0].clientSecret.name: whether there is a Secret clusters/client is not known; trueup doctor says what cannot be read
  ? unknown Secret         clusters/guest-a-admin-kubeconfig  unknown      unknown: clusters/mgmt/list.yaml could not be read, and may have held v1/secrets

2 clusters; 6 findings: 6 unknown; 0 actions
----- stderr
$TMP/clusters/guest-a/bad.json:2: is not valid JSON from here on: fix or remove it
$TMP/clusters/guest-a/binary.yaml:1: is not UTF-8 text from here on: convert or remove it
$TMP/clusters/guest-a/broken.yaml:3: is not valid YAML from here on: fix or remove it
$TMP/clusters/guest-a/kindless.yaml:1: has no kind: add it, or move the file out of the snapshot
$TMP/clusters/guest-a/openshift-config.yaml:2: item 1 holds Secret openshift-config/client, which is also in $TMP/clusters/guest-a/again.yaml: remove one of them
$TMP/clusters/guest-a/out.yaml: is a link that leaves the snapshot and is not followed: copy its target
$TMP/clusters/mgmt/list.yaml:1: holds a truncated list (metadata.continue is set): record all pages
$TMP/clusters/stray.yaml: belongs to no cluster: move it to clusters/<name>/
----- exit 3
"##);
}

#[test]
fn a_file_too_large_is_refused_unread() {
    let dir = guest_with_an_orphan();
    let file = fs::File::create(dir.path().join("clusters/mgmt/huge.yaml")).unwrap();
    file.set_len(300 << 20).unwrap();
    let said = transcript(&dir, &["plan", "--from", "$TMP"]);
    assert!(said.contains("huge.yaml: is 300 MiB (limit 200 MiB) and was not read: split it"), "{said}");
}

#[test]
fn a_file_without_read_permission_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let dir = guest_with_an_orphan();
    let path = dir.path().join("clusters/mgmt/locked.yaml");
    fs::write(&path, "a: 1\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser may read everything; then the file is read, and is not an object.
    let expected = if fs::read(&path).is_ok() {
        "locked.yaml:1: has no kind"
    } else {
        "locked.yaml: cannot be read (permission denied)"
    };
    let said = transcript(&dir, &["plan", "--from", "$TMP"]);
    assert!(said.contains(expected), "{said}");
}

#[test]
fn a_typo_in_the_fleet_file_is_reported_with_line_and_similar_key() {
    let dir = guest_with_an_orphan();
    add(
        dir.path(),
        &[(
            "fleet.yaml",
            "now: 2026-11-16T10:00:00Z\nclusters:\n  mgmt: {}\n  guest-a:\n    hosted: { cluster: mgmt }\n",
        )],
    );
    let said = transcript(&dir, &["plan", "--from", "$TMP"]);
    assert!(
        said.contains("$TMP/fleet.yaml:5: unknown key `hosted`: did you mean `hosted_by`?\n----- exit 3"),
        "{said}"
    );
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    use std::io::Read;
    use std::process::{Command, Stdio};
    let dir = guest_with_an_orphan();
    let mut child = Command::new(env!("CARGO_BIN_EXE_trueup"))
        .env_clear()
        .args(["completions", "bash"])
        .current_dir(dir.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""));
}

#[test]
fn help_version_completions_and_manual_go_to_stdout() {
    let dir = folder(&[]);
    let cases = [
        (&["--help"][..], "Usage: trueup"),
        (&["--version"], "trueup 0."),
        (&["plan", "--help"], "--changes-only"),
        (&["completions", "zsh"], "#compdef trueup"),
        (&["man"], ".TH trueup"),
    ];
    for (args, expected) in cases {
        let output = run(&dir, args);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(expected), "args: {args:?}: {text}");
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()), "args: {args:?}");
    }
}

#[test]
fn without_a_kubeconfig_the_error_has_advice() {
    let dir = folder(&[]);
    insta::assert_snapshot!(transcript(&dir, &["plan", "--kubeconfig", "$TMP/none"]), @r##"
----- stderr
trueup: kubeconfig: $TMP/none: cannot be read (entity not found); check the path and its permissions; or read a snapshot folder with --from
----- exit 1
"##);
}
