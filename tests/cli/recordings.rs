//! Recordings from the field: archives, gathered snapshots, and plans that are compared with reviewed ones.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use trueup_core::engine::Plan;

use super::fixture::{FLEET, GUEST_CONFIG, HOSTED, add, folder, guest_with_an_orphan, run, run_with_state, transcript};
use super::live;

/// Packs a folder in one of the forms.
fn pack(folder: &Path, top: &str, archive: &Path) {
    let mut builder = tar::Builder::new(Vec::new());
    builder.append_dir_all(top, folder).unwrap();
    let tar = builder.into_inner().unwrap();
    let name = archive.file_name().unwrap().to_string_lossy();
    let bytes = if name.ends_with(".tar") {
        tar
    } else if name.ends_with(".tar.zst") {
        ruzstd::encoding::compress_to_vec(tar.as_slice(), ruzstd::encoding::CompressionLevel::Fastest)
    } else {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(&tar).unwrap();
        packer.finish().unwrap()
    };
    fs::write(archive, bytes).unwrap();
}

/// Id, state and verdict of each finding.
fn findings(dir: &TempDir, from: &str) -> Vec<(String, String, String)> {
    let output = run(dir, &["plan", "--from", from, "-o", "json"]);
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap().to_owned();
    let all = plan["findings"].as_array().unwrap().iter();
    all.map(|one| (text(one, "id"), text(one, "state"), text(one, "verdict"))).collect()
}

/// Every byte below a folder.
fn content(folder: &Path) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        if entry.path().is_dir() {
            assert_eq!(mode, 0o700, "{}", entry.path().display());
            all.push_str(&content(&entry.path()));
        } else {
            assert_eq!(mode, 0o600, "{}", entry.path().display());
            all.push_str(&fs::read_to_string(entry.path()).unwrap());
        }
    }
    all
}

#[test]
fn a_packed_snapshot_gives_the_bytes_of_its_folder() {
    let dir = guest_with_an_orphan();
    let out = tempfile::tempdir().unwrap();
    let plain = run(&dir, &["plan", "--from", "$TMP", "-o", "json"]);
    assert_eq!(plain.status.code(), Some(2));
    for form in ["tar", "tar.gz", "tgz", "tar.zst"] {
        for top in ["", "must-gather.local.1"] {
            let archive = out.path().join(format!("snap.{form}"));
            pack(dir.path(), top, &archive);
            let packed = run(&out, &["plan", "--from", &format!("$TMP/snap.{form}"), "-o", "json"]);
            let errors = String::from_utf8_lossy(&packed.stderr);
            assert_eq!(packed.status.code(), Some(2), "{form}, {top}: {errors}");
            assert!(packed.stdout == plain.stdout, "{form}, {top}: {errors}");
        }
    }
}

#[test]
fn a_truncated_archive_never_plans_a_delete() {
    let dir = guest_with_an_orphan();
    let out = tempfile::tempdir().unwrap();
    let archive = out.path().join("snap.tar.gz");
    pack(dir.path(), "", &archive);
    let whole = fs::read(&archive).unwrap();
    for length in (0..whole.len()).step_by(whole.len() / 20) {
        fs::write(&archive, &whole[..length]).unwrap();
        let output = run(&out, &["plan", "--from", "$TMP/snap.tar.gz", "-o", "json"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(1 | 3)), "{length} bytes: {errors}");
        assert!(errors.contains("snap.tar.gz"), "{length} bytes: {errors}");
        assert!(!String::from_utf8_lossy(&output.stdout).contains("\"verb\":\"delete\""), "{length} bytes");
    }
    fs::write(&archive, &whole[..whole.len() - 4]).unwrap();
    let shown = transcript(&out, &["plan", "--from", "$TMP/snap.tar.gz", "--utc"]);
    let tail = shown.split_once("2 clusters; ").map(|(_, tail)| tail);
    insta::assert_snapshot!(tail.unwrap(), @r"
    6 findings: 6 unknown; 0 actions
    ----- stderr
    $TMP/snap.tar.gz: is cut short after 3 object files: copy it again
    ----- exit 3
    ");
}

#[test]
fn a_gathered_snapshot_gives_the_same_findings_and_holds_no_secret() {
    let dir = guest_with_an_orphan();
    insta::assert_snapshot!(transcript(&dir, &["gather", "$TMP/gathered", "--from", "$TMP"]), @r"
    $TMP/gathered written: 6 objects, 2 clusters
    ----- stderr
    ----- exit 0
    ");
    let text = content(&dir.path().join("gathered"));
    for hidden in ["czNjcmV0", "b2xkLXMzY3JldA", "s3cret"] {
        assert!(!text.contains(hidden), "{hidden} is in the snapshot");
    }
    assert_eq!(findings(&dir, "$TMP/gathered"), findings(&dir, "$TMP"));
    let again = run(&dir, &["gather", "$TMP/gathered", "--from", "$TMP"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains("it is not empty; name a folder that is new or empty"));
}

#[test]
fn what_was_not_read_completely_is_incomplete_in_the_gathered_snapshot() {
    let fleet = FLEET.replace("  guest-a:\n", "  guest-a:\n    incomplete: [ \"v1/secrets@openshift-config\" ]\n");
    let dir = guest_with_an_orphan();
    add(dir.path(), &[("fleet.yaml", &fleet)]);
    let out = tempfile::tempdir().unwrap();
    let output = run(&dir, &["gather", &format!("{}/s", out.path().display()), "--from", "$TMP"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{errors}");
    assert!(errors.contains("guest-a: v1/secrets@openshift-config is incomplete"), "{errors}");
    assert_eq!(findings(&out, "$TMP/s"), findings(&dir, "$TMP"));
}

#[tokio::test(flavor = "multi_thread")]
async fn live_clusters_are_gathered_as_the_checks_read_them() {
    let fleet = live::fleet().await;
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("snap");
    let (kubeconfig, target) = (fleet.dir.path().join("kubeconfig"), folder.display().to_string());
    let arguments = ["gather", &target, "--kubeconfig", kubeconfig.to_str().unwrap(), "--all-contexts"];
    let output = tokio::task::block_in_place(|| run(&fleet.dir, &arguments));
    let (stdout, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(matches!(output.status.code(), Some(0 | 3)), "{stdout}{errors}");
    assert!(!errors.contains("in the fleet"), "every finding is the same: {errors}");
    let text = content(&folder);
    for hidden in ["czNjcmV0", "b2xkLXMzY3JldA"] {
        assert!(!text.contains(hidden), "{hidden} is in the snapshot");
    }
    let found = findings(&out, "$TMP/snap");
    let orphan = found.iter().find(|(id, ..)| id.ends_with("/Secret/openshift-config/old-client"));
    assert_eq!(orphan.map(|(_, _, verdict)| verdict.as_str()), Some("orphan-certain"), "{found:?} {errors}");
}

/// A plan of the snapshot, saved; and the same with an edit, under its new id.
fn reviewed(dir: &TempDir, name: &str, edit: impl FnOnce(&mut Value)) -> String {
    let output = run(dir, &["plan", "--from", "$TMP", "-o", "json"]);
    let mut plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    edit(&mut plan);
    let plan = plan.as_object_mut().unwrap();
    plan.remove("id");
    plan.remove("mark");
    let id = trueup_core::engine::canonical_digest(&Value::Object(plan.clone())).unwrap();
    plan.insert("id".to_owned(), json!(id));
    let text = Value::Object(plan.clone()).to_string();
    Plan::read(&text).unwrap();
    let path = dir.path().join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn a_plan_passes_only_within_the_reviewed_one() {
    let dir = guest_with_an_orphan();
    let same = reviewed(&dir, "same.json", |plan| {
        plan["created_at"] = json!("2026-11-01T00:00:00Z");
        plan["expires_at"] = json!("2026-11-02T00:00:00Z");
        plan["actions"][0]["preconditions"]["resourceVersion"] = json!("1");
    });
    let empty = reviewed(&dir, "empty.json", |plan| {
        plan["actions"] = json!([]);
        plan["findings"].as_array_mut().unwrap().iter_mut().for_each(|finding| finding["actions"] = json!([]));
    });
    let other = reviewed(&dir, "other.json", |plan| {
        plan["actions"][0]["target"]["uid"] = json!("u-0");
        plan["actions"][0]["preconditions"]["uid"] = json!("u-0");
    });
    let broken = reviewed(&dir, "broken.json", |_| {});
    fs::write(&broken, fs::read_to_string(&broken).unwrap().replace("old-client", "new-client")).unwrap();
    let within = |file: &str| {
        let output = run_with_state(&dir, &["plan", "--from", "$TMP", "--within", file, "--out", "$TMP/fresh.json"]);
        let errors = String::from_utf8_lossy(&output.stderr).replace(file, "reviewed.json");
        let out = dir.path().join("fresh.json");
        let written = out.exists();
        let _ = fs::remove_file(out);
        (output.status.code(), written, errors)
    };
    let (code, written, errors) = within(&same);
    assert_eq!((code, written), (Some(2), true), "{errors}");
    for (case, file, says) in [
        (
            "more actions",
            &empty,
            "a1 delete Secret openshift-config/old-client in guest-a: the reviewed plan does not hold it\n",
        ),
        (
            "other object",
            &other,
            "a1 delete Secret openshift-config/old-client in guest-a: uid was u-0 in the reviewed plan, is s-2 now\n",
        ),
        ("edited file", &broken, "trueup: plan --within reviewed.json: "),
    ] {
        let (code, written, errors) = within(file);
        assert_eq!((code, written), (Some(4), false), "case: {case}: {errors}");
        assert!(errors.contains(says), "case: {case}: {errors}");
    }
    let (_, _, errors) = within(&empty);
    assert!(errors.contains("trueup: plan --within reviewed.json: 1 action is not within reviewed plan "), "{errors}");
}

#[test]
fn a_page_holds_nothing_that_a_browser_would_fetch_or_run() {
    let hostile = "<script src=https://evil.example/x.js></script>\"'onload='x";
    let dir = folder(&[
        ("fleet.yaml", FLEET),
        ("clusters/mgmt/hosted.yaml", HOSTED),
        ("clusters/guest-a/config.yaml", GUEST_CONFIG),
        (
            "clusters/guest-a/s.json",
            &json!({
                "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": { "clientSecret": "eA==" },
                "metadata": { "name": hostile, "namespace": "openshift-config", "uid": "u", "resourceVersion": "1",
                    "labels": { "hypershift.openshift.io/oidc-provider-managed": "true" } },
            })
            .to_string(),
        ),
    ]);
    let output = run(&dir, &["plan", "--from", "$TMP", "-o", "html"]);
    let page = String::from_utf8(output.stdout).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"), "{page}");
    assert!(page.contains("&lt;script src=https://evil.example/x.js&gt;"), "the name is shown");
    for never in ["<script", "onload='x", "<iframe", "<img", "http://", "url(", "@import", "javascript:"] {
        let place = page.find(never).map(|at| page[at..].chars().take(80).collect::<String>());
        assert_eq!(place, None, "{never}");
    }
    assert!(page.contains("default-src 'none'"));
    let links: Vec<&str> = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(links.iter().all(|link| link.starts_with('#') || *link == "data:,"), "{links:?}");
}
