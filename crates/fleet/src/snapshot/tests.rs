use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use tempfile::TempDir;

use super::problem::Problem;
use super::{Snapshot, SnapshotCluster, load};
use trueup_core::decode::recording::{KindCoverage, RecordedCluster};
use trueup_core::world::{ClusterSource, Provider};

mod archives;
mod untrusted;

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), files);
    dir
}

fn write(dir: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn object(kind: &str, name: &str) -> String {
    format!("apiVersion: v1\nkind: {kind}\nmetadata: {{ name: {name}, namespace: n }}\n")
}

fn read(dir: &TempDir) -> Snapshot {
    load(dir.path()).unwrap()
}

/// Problems as lines, without the folder's path.
fn problems(dir: &TempDir, snapshot: &Snapshot) -> Vec<String> {
    let prefix = format!("{}/", dir.path().display());
    snapshot.problems.iter().map(|problem| problem.to_string().replace(&prefix, "")).collect()
}

fn names(recorded: &RecordedCluster, kind: &str) -> Vec<String> {
    recorded.of_kind("", kind).iter().map(|object| object.name.clone()).collect()
}

fn cluster<'s>(snapshot: &'s Snapshot, name: &str) -> &'s SnapshotCluster {
    snapshot.clusters.iter().find(|cluster| cluster.name.as_str() == name).unwrap()
}

#[test]
fn each_folder_in_clusters_is_a_cluster_and_listed_ones_are_complete() {
    let dir = folder(&[
        ("fleet.yaml", "clusters:\n  a: {}\n  gone: { unreachable: refused }\n"),
        ("clusters/a/deep/er/x.yaml", &object("Secret", "one")),
        ("clusters/a/y.json", r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"two","namespace":"n"}}"#),
        ("clusters/a/notes.txt", "not read"),
        ("clusters/b/x.yml", &object("Secret", "three")),
        ("clusters/README.md", "not read"),
    ]);
    let snapshot = read(&dir);
    let seen: Vec<(&str, KindCoverage, Option<&str>, Vec<String>)> = snapshot
        .clusters
        .iter()
        .map(|cluster| {
            let coverage = &cluster.recorded.coverage;
            (cluster.name.as_str(), coverage.kinds, coverage.unreachable.as_deref(), names(&cluster.recorded, "Secret"))
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("a", KindCoverage::All, None, vec!["one".to_owned(), "two".to_owned()]),
            ("b", KindCoverage::SeenOnly, None, vec!["three".to_owned()]),
            ("gone", KindCoverage::All, Some("refused"), vec![]),
        ]
    );
    assert_eq!(problems(&dir, &snapshot), [""; 0]);
}

#[test]
fn a_folder_without_clusters_is_one_cluster_named_after_it() {
    let dir = folder(&[("lab/x.yaml", &object("Secret", "one")), ("lab/fleet.yaml", "clusters: { lab: {} }\n")]);
    let snapshot = load(&dir.path().join("lab")).unwrap();
    let lab = cluster(&snapshot, "lab");
    assert_eq!(
        (lab.recorded.coverage.kinds, names(&lab.recorded, "Secret")),
        (KindCoverage::All, vec!["one".to_owned()])
    );
    assert_eq!((snapshot.clusters.len(), snapshot.problems.len()), (1, 0));
}

#[test]
fn gathered_trees_are_recognised_and_never_complete() {
    let inspected = "namespaces/n/core/secrets.yaml";
    let noise = ("etcd_info/member_list.json", "{\"members\":[]}");
    let cases = [
        ("a must-gather's inner folder", vec![(inspected, object("Secret", "one")), (noise.0, noise.1.into())]),
        ("with its image's folder", vec![("quay-io-x-sha256/namespaces/n/core/secrets.yaml", object("Secret", "one"))]),
        ("cluster scope alone", vec![("cluster-scoped-resources/core/s.yaml", object("Secret", "one"))]),
        (
            "a file put beside it",
            vec![("namespaces/n/n.yaml", object("Namespace", "n")), ("s.yaml", object("Secret", "one"))],
        ),
    ];
    for (case, files) in cases {
        let dir = folder(&[("snap/fleet.yaml", "clusters: { a: {} }\n")]);
        for (path, text) in &files {
            write(dir.path(), &[(&format!("snap/clusters/a/{path}"), text), (&format!("bare/{path}"), text)]);
        }
        for (root, name) in [("snap", "a"), ("bare", "bare")] {
            let snapshot = load(&dir.path().join(root)).unwrap();
            let recorded = &cluster(&snapshot, name).recorded;
            assert_eq!(names(recorded, "Secret"), ["one"], "case: {case}, {root}");
            assert_eq!(recorded.coverage.kinds, KindCoverage::SeenOnly, "case: {case}, {root}");
            assert_eq!(problems(&dir, &snapshot), [""; 0], "case: {case}, {root}");
        }
    }
}

#[test]
fn the_guest_inside_a_dump_is_a_cluster_of_its_own() {
    let hosted =
        "apiVersion: hypershift.openshift.io/v1beta1\nkind: HostedCluster\nmetadata: { name: shop, namespace: c }\n";
    let dir = folder(&[
        ("dump/namespaces/c/hc.yaml", hosted),
        ("dump/namespaces/n/s.yaml", &object("Secret", "one")),
        ("dump/hostedcluster-shop/namespaces/n/s.yaml", &object("Secret", "one")),
    ]);
    let snapshot = load(&dir.path().join("dump")).unwrap();
    let by = cluster(&snapshot, "shop").hosted_by.clone().unwrap();
    assert_eq!((by.cluster.as_str(), by.namespace.as_str(), by.name.as_str()), ("dump", "c", "shop"));
    assert_eq!((snapshot.clusters.len(), problems(&dir, &snapshot)), (2, vec![]));
}

#[test]
fn an_unreadable_file_is_reported_and_makes_only_its_cluster_incomplete() {
    let one = object("Secret", "one");
    let twice = format!("{one}---\n{one}");
    let cases: [(&str, &[u8], &str); 11] = [
        ("broken YAML", b"a: 1\nb: [\n", "clusters/a/x.yaml:2: is not valid YAML from here on: fix or remove it"),
        (
            "no UTF-8",
            b"a: 1\nb: \xff\xfe\n",
            "clusters/a/x.yaml:2: is not UTF-8 text from here on: convert or remove it",
        ),
        ("garbage", b"\x00\x01\x02", "clusters/a/x.yaml:1: is not valid YAML from here on: fix or remove it"),
        (
            "no kind",
            b"\n\nmetadata: { name: x }\n",
            "clusters/a/x.yaml:3: has no kind: add it, or move the file out of the snapshot",
        ),
        (
            "no name",
            b"apiVersion: v1\nkind: Secret\n",
            "clusters/a/x.yaml:1: has no metadata.name: add it, or move the file out of the snapshot",
        ),
        (
            "no object",
            b"just text\n",
            "clusters/a/x.yaml:1: is not an object with apiVersion, kind and metadata: move it out of the snapshot",
        ),
        (
            "item without a name",
            b"apiVersion: v1\nkind: SecretList\nitems:\n- metadata: { name: x }\n- {}\n",
            "clusters/a/x.yaml:1: item 2 has no metadata.name: add it, or move the file out of the snapshot",
        ),
        (
            "twice in a file",
            twice.as_bytes(),
            "clusters/a/x.yaml:5: holds Secret n/one, which is also earlier in the file: remove one of them",
        ),
        (
            "twice in two files",
            object("Secret", "good").leak().as_bytes(),
            "clusters/a/x.yaml:1: holds Secret n/good, which is also in clusters/a/good.yaml: remove one of them",
        ),
        (
            "two versions of one kind",
            b"apiVersion: v2\nkind: Secret\nmetadata: { name: good, namespace: n }\n",
            "clusters/a/x.yaml:1: holds Secret n/good, which is also in clusters/a/good.yaml: remove one of them",
        ),
        ("empty", b"", ""),
    ];
    for (case, bytes, expected) in cases {
        let dir = folder(&[
            ("fleet.yaml", "clusters: { a: {}, b: {} }\n"),
            ("clusters/a/good.yaml", &object("Secret", "good")),
            ("clusters/b/b.yaml", &one),
        ]);
        fs::write(dir.path().join("clusters/a/x.yaml"), bytes).unwrap();
        let snapshot = read(&dir);
        let expected: Vec<&str> = Some(expected).filter(|text| !text.is_empty()).into_iter().collect();
        assert_eq!(problems(&dir, &snapshot), expected, "case: {case}");
        let unreadable: Vec<&str> = if expected.is_empty() { vec![] } else { vec!["clusters/a/x.yaml"] };
        assert_eq!(cluster(&snapshot, "a").recorded.coverage.unreadable, unreadable, "case: {case}");
        assert!(names(&cluster(&snapshot, "a").recorded, "Secret").contains(&"good".to_owned()), "case: {case}");
        assert_eq!(cluster(&snapshot, "b").recorded.coverage.unreadable, [""; 0], "case: {case}");
    }
}

#[test]
fn json_files_hold_one_document_or_several_and_errors_have_their_line() {
    let one = r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"one","namespace":"n"}}"#;
    let dir =
        folder(&[("clusters/a/x.json", &format!("\u{feff}{one}\n{}\n\n{{\"kind\":}}\n", one.replace("one", "two")))]);
    let snapshot = read(&dir);
    assert_eq!(names(&cluster(&snapshot, "a").recorded, "Secret"), ["one", "two"]);
    assert_eq!(problems(&dir, &snapshot), ["clusters/a/x.json:4: is not valid JSON from here on: fix or remove it"]);
}

#[test]
fn a_file_above_the_limit_is_not_read() {
    let dir = folder(&[("clusters/a/good.yaml", &object("Secret", "good"))]);
    let file = fs::File::create(dir.path().join("clusters/a/x.yaml")).unwrap();
    file.set_len(super::file::FILE_BYTES_MAX + 1).unwrap();
    let snapshot = read(&dir);
    assert_eq!(problems(&dir, &snapshot), ["clusters/a/x.yaml: is 200 MiB (limit 200 MiB) and was not read: split it"]);
}

#[test]
fn links_are_followed_once_and_never_out_of_the_folder() {
    let outside = folder(&[("x.yaml", &object("Secret", "outside")), ("readme.txt", "")]);
    let dir = folder(&[("clusters/a/z/x.yaml", &object("Secret", "one"))]);
    let a = dir.path().join("clusters/a");
    symlink(&a, a.join("z/loop")).unwrap();
    symlink(a.join("z"), a.join("again")).unwrap();
    symlink(a.join("z/x.yaml"), a.join("same.yaml")).unwrap();
    symlink(outside.path().join("readme.txt"), a.join("readme.txt")).unwrap();
    let snapshot = read(&dir);
    assert_eq!(names(&cluster(&snapshot, "a").recorded, "Secret"), ["one"]);
    assert_eq!(problems(&dir, &snapshot), [""; 0]);

    symlink(outside.path().join("x.yaml"), a.join("out.yaml")).unwrap();
    symlink(outside.path(), a.join("out")).unwrap();
    symlink(a.join("self"), a.join("self")).unwrap();
    let snapshot = read(&dir);
    let leaves = "is a link that leaves the snapshot and is not followed: copy its target";
    let said = problems(&dir, &snapshot);
    assert_eq!(said[..2], [format!("clusters/a/out: {leaves}"), format!("clusters/a/out.yaml: {leaves}")]);
    assert!(said[2].starts_with("clusters/a/self: cannot be followed"), "{said:?}");
    assert_eq!(names(&cluster(&snapshot, "a").recorded, "Secret"), ["one"]);
    assert_eq!(cluster(&snapshot, "a").recorded.coverage.unreadable.len(), 3);
}

#[test]
fn an_invalid_fleet_file_leaves_nothing_complete() {
    let dir = folder(&[("fleet.yaml", "clusters: [\n"), ("clusters/a/x.yaml", &object("Secret", "one"))]);
    let snapshot = read(&dir);
    let coverage = &cluster(&snapshot, "a").recorded.coverage;
    assert_eq!(
        (coverage.kinds, coverage.unreadable.as_slice()),
        (KindCoverage::SeenOnly, ["fleet.yaml".to_owned()].as_slice())
    );
    assert_eq!(snapshot.problems.len(), 1);
}

#[test]
fn a_fleet_file_outside_the_folder_is_not_read() {
    let outside = folder(&[("fleet.yaml", "clusters: { a: {} }\n")]);
    let dir = folder(&[("clusters/a/x.yaml", &object("Secret", "one"))]);
    symlink(outside.path().join("fleet.yaml"), dir.path().join("fleet.yaml")).unwrap();
    let snapshot = read(&dir);
    assert_eq!(
        problems(&dir, &snapshot),
        ["fleet.yaml: is a link that leaves the snapshot and is not followed: copy its target"]
    );
    assert_eq!(cluster(&snapshot, "a").recorded.coverage.unreadable, ["fleet.yaml"]);
}

#[test]
fn a_listed_cluster_without_a_folder_next_to_an_unlisted_folder_is_a_problem() {
    let dir =
        folder(&[("fleet.yaml", "clusters:\n  mgmt: {}\n"), ("clusters/mgmt-eu/x.yaml", &object("Secret", "one"))]);
    let said = problems(&dir, &read(&dir));
    assert_eq!(
        said,
        [
            "fleet.yaml:2: lists cluster mgmt, which has no folder, while the folder of mgmt-eu is not listed: use one name"
        ]
    );
}

#[test]
fn misplaced_files_and_empty_folders_are_reported() {
    let dir = folder(&[("clusters/x.yaml", &object("Secret", "one"))]);
    let said = problems(&dir, &read(&dir));
    assert_eq!(said[1], "clusters/x.yaml: belongs to no cluster: move it to clusters/<name>/");
    assert!(said[0].ends_with("holds no objects: point --from at a folder with clusters/<name>/*.yaml"));
}

#[test]
fn cloud_accounts_are_members_of_the_fleet() {
    let dir = folder(&[
        ("clusters/a/x.yaml", &object("Secret", "one")),
        (
            "clouds/ibm/main.yaml",
            "account: '0123'\ncomplete: false\nresources: [{kind: vpc, id: r006-1, tags: ['a:b']}]\n",
        ),
        ("clouds/ibm/bad.yaml", "account: [\n"),
        ("clouds/aws/eu.yaml", "region: eu-west-1\ninstance_types: [{name: m5.large}]\n"),
    ]);
    let snapshot = read(&dir);
    let accounts: Vec<&SnapshotCluster> = snapshot.clusters.iter().filter(|one| one.source.is_account()).collect();
    let names: Vec<&str> = accounts.iter().map(|account| account.name.as_str()).collect();
    assert_eq!(names, ["aws:eu", "ibm:bad", "ibm:main"]);
    let whose = |account: String| ClusterSource::Cloud {
        provider: Provider::Ibm,
        account,
        used_from: trueup_core::world::MemberRule::default(),
    };
    assert_eq!([&accounts[1].source, &accounts[2].source], [&whose(String::new()), &whose("0123".to_owned())]);
    let resources = accounts[2].recorded.of_kind("ibm.cloud.trueup", "Resource");
    assert_eq!(resources.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["vpc/r006-1"]);
    assert!(resources[0].json.contains(r#""tags":["a:b"]"#));
    let types = accounts[0].recorded.of_kind("aws.cloud.trueup", "InstanceType");
    assert_eq!((types[0].namespace.as_str(), types[0].name.as_str()), ("eu-west-1", "m5.large"));
    assert_eq!(accounts[1].recorded.coverage.unreadable, ["bad.yaml"]);
    assert!(accounts[0].recorded.coverage.incomplete.is_empty());
    assert_eq!(accounts[2].recorded.coverage.incomplete.len(), 1, "complete: false");
    assert_eq!(problems(&dir, &snapshot), ["clouds/ibm/bad.yaml:1: is not valid YAML from here on: fix or remove it"]);
}

#[test]
fn an_account_with_invalid_entries_is_not_complete() {
    let entry =
        |entry: &str| format!("account: a\nresources:\n- {{kind: vpc, id: x}}\n- {{kind: vpc, id: y, {entry}}}\n");
    let cases = [
        ("- x\n".to_owned(), "1: is not a mapping: write account: and resources:"),
        ("resources: []\n".to_owned(), "1: has no account: add account:"),
        ("account: a\ncomplete: maybe\n".to_owned(), "2: has an invalid `complete`: write true or false"),
        (
            "account: a\nresources: {}\n".to_owned(),
            "2: has resources that are not a list: write `- { kind: vpc, id: r006-1 }`",
        ),
        ("account: a\nresurces: []\n".to_owned(), "2: unknown key `resurces`: did you mean `resources`?"),
        (
            "account: a\nresources: [{kind: vpc}]\n".to_owned(),
            "2: entry 1 has no kind and id: add it, or remove the entry",
        ),
        (entry("tag: []"), "4: entry 2 has the unknown key `tag`: did you mean `tags`?"),
        (entry("tags: a"), "4: entry 2 has tags that are not a list of texts: write [ \"key:value\" ]"),
        (entry("tags: [1]"), "4: entry 2 has tags that are not a list of texts: write [ \"key:value\" ]"),
        (entry("locked: 'yes'"), "4: entry 2 has an invalid `locked`: write true or false"),
        (entry("name: 7"), "4: entry 2 has a `name` that is not text: write it in quotes"),
        (
            "account: a\nresources:\n- id: x\n  kind: vpcs\n".to_owned(),
            "4: entry 1 has the unknown kind `vpcs`: did you mean `vpc`?",
        ),
        (
            "account: a\nresources: [{kind: vpc, id: x},\n {kind: vpc, id: x}]\n".to_owned(),
            "3: entry 2 repeats vpc/x: remove one of them",
        ),
    ];
    for (text, message) in cases {
        let dir = folder(&[("clusters/a/x.yaml", &object("Secret", "one")), ("clouds/ibm/main.yaml", &text)]);
        let snapshot = read(&dir);
        assert_eq!(problems(&dir, &snapshot), [format!("clouds/ibm/main.yaml:{message}")]);
        assert_eq!(snapshot.clusters[1].recorded.coverage.unreadable, ["main.yaml"], "{text}");
        let read = snapshot.clusters[1].recorded.of_kind("ibm.cloud.trueup", "Resource");
        assert!(read.iter().all(|one| one.name == "vpc/x"), "invalid entries are skipped: {text}");
    }
}

#[test]
fn an_invalid_instance_type_is_skipped_and_its_account_is_not_complete() {
    let good = "region: us-east-1\ninstance_types:\n  - { name: good, vcpu: 2 }\n";
    let cases = [
        ("  - name: bad\n    vcpu: many\n", Some((5, "entry 2 has an invalid `vcpu`: write a whole number like 16"))),
        (
            "  - name: bad\n    gpus:\n      - count: 1\n      - count: two\n",
            Some((7, "entry 2 has an invalid GPU count: write a number like 1")),
        ),
        ("  - { name: better, vcpu: 0, price: cheap }\n", None),
    ];
    for (entry, fault) in cases {
        let text = format!("{good}{entry}");
        let dir = folder(&[("clusters/a/x.yaml", &object("Secret", "one")), ("clouds/aws/main.yaml", &text)]);
        let snapshot = read(&dir);
        let account = snapshot.clusters.iter().find(|one| one.source.is_account()).unwrap();
        let types = account.recorded.of_kind("aws.cloud.trueup", "InstanceType");
        assert!(!types.iter().any(|one| one.name == "bad"), "{entry}");
        assert_eq!(types.len(), if fault.is_some() { 1 } else { 2 }, "{entry}");
        assert_eq!(account.recorded.coverage.unreadable.is_empty(), fault.is_none(), "{entry}");
        let message: Vec<String> =
            fault.iter().map(|(line, message)| format!("clouds/aws/main.yaml:{line}: {message}")).collect();
        assert_eq!(problems(&dir, &snapshot), message, "{entry}");
    }
}

#[test]
fn every_documented_key_of_an_account_is_accepted() {
    let text = "account: 12345\ncomplete: true\nresources:\n- kind: tg-connection\n  id: 7\n  crn: c\n  name: n\n  \
                state: attached\n  created_at: 2026-11-01T00:00:00Z\n  tags: [\"a:b\"]\n  parent: p\n  network_type: vpc\n  \
                network: w\n  network_id: i\n  locked: false\n- {kind: vpc, id: x, name: null, tags: , locked: }\n- {kind: \
                public-gateway, id: g, zone: us-south-1}\nregion: us-south\n";
    let dir = folder(&[("clusters/a/x.yaml", &object("Secret", "one")), ("clouds/ibm/main.yaml", text)]);
    let snapshot = read(&dir);
    assert_eq!(problems(&dir, &snapshot), [] as [String; 0]);
    let read = snapshot.clusters[1].recorded.of_kind("ibm.cloud.trueup", "Resource");
    assert_eq!(
        read.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(),
        ["tg-connection/7", "vpc/x", "public-gateway/g"]
    );
}

#[test]
fn an_account_in_two_files_is_not_complete_and_counts_once() {
    let dir = folder(&[
        ("clusters/a/x.yaml", &object("Secret", "one")),
        ("clouds/ibm/main.yaml", "account: a\nresources: [{kind: vpc, id: x}]\n"),
        ("clouds/ibm/more.yaml", "account: a\nresources: [{kind: vpc, id: x}]\n"),
        ("clouds/ibm/other.yaml", "account: b\n"),
    ]);
    let snapshot = read(&dir);
    assert_eq!(
        problems(&dir, &snapshot),
        ["clouds/ibm/more.yaml: describes the same account as main.yaml: merge the files"]
    );
    let accounts: Vec<&SnapshotCluster> = snapshot.clusters.iter().filter(|one| one.source.is_account()).collect();
    let names: Vec<&str> = accounts.iter().map(|account| account.name.as_str()).collect();
    assert_eq!(names, ["ibm:main", "ibm:other"]);
    assert_eq!(accounts[0].recorded.coverage.unreadable, ["more.yaml"]);
    assert!(accounts[1].recorded.coverage.unreadable.is_empty());
}

#[test]
fn an_environment_is_added_to_every_cluster_of_the_folder() {
    let with = "clusters: {a: {}}\nenvironment: {AWS_ROLE_ARN: arn}\n";
    for (fleet, seen) in [(with, 1), ("clusters: {a: {}}\nenvironment:\n", 1), ("clusters: {a: {}}\n", 0)] {
        let dir = folder(&[("fleet.yaml", fleet), ("clusters/a/x.yaml", &object("Secret", "one"))]);
        let cluster = &read(&dir).clusters[0];
        assert_eq!(cluster.recorded.of_kind("aws.cloud.trueup", "Environment").len(), seen, "{fleet}");
        assert_eq!(cluster.served.contains("aws.cloud.trueup"), seen == 1, "{fleet}");
    }
}

#[test]
fn a_file_of_another_kind_does_not_list_every_entry() {
    let text = format!("account: a\nresources:\n{}", "  - { colour: red }\n".repeat(3000));
    let dir = folder(&[("clusters/a/x.yaml", &object("Secret", "one")), ("clouds/ibm/main.yaml", &text)]);
    let problems = problems(&dir, &read(&dir));
    assert_eq!(problems.len(), 11);
    assert!(
        problems.iter().any(|one| one.starts_with("clouds/ibm/main.yaml:2: has 2990 more invalid entries")),
        "{problems:?}"
    );
}

#[test]
fn two_files_of_one_name_are_not_one_account() {
    let types = |region: &str| format!("{{region: {region}, instance_types: [{{name: m5.large}}]}}");
    let dir = folder(&[
        ("clusters/a/x.yaml", &object("Secret", "one")),
        ("clouds/aws/eu.json", &types("eu-west-1")),
        ("clouds/aws/eu.yaml", &types("eu-central-1")),
    ]);
    let snapshot = read(&dir);
    assert_eq!(snapshot.clusters.iter().filter(|one| one.source.is_account()).count(), 1);
    assert_eq!(
        problems(&dir, &snapshot),
        ["clouds/aws/eu.yaml: has the same name as another file and is not read: rename one"]
    );
}

#[test]
fn an_invalid_environment_is_not_an_empty_environment() {
    for environment in ["[]", "text", "{AWS_ROLE_ARN: [arn]}"] {
        let fleet = format!("clusters: {{a: {{}}}}\nenvironment: {environment}\n");
        let dir = folder(&[("fleet.yaml", &fleet), ("clusters/a/x.yaml", &object("Secret", "one"))]);
        let snapshot = read(&dir);
        let cluster = &snapshot.clusters[0];
        assert_eq!(snapshot.problems.len(), 1, "{environment}");
        assert!(cluster.recorded.of_kind("aws.cloud.trueup", "Environment").is_empty(), "{environment}");
        let plurals: Vec<&str> =
            cluster.recorded.coverage.incomplete.iter().map(|entry| entry.plural.as_str()).collect();
        assert_eq!(
            (plurals, cluster.served.contains("aws.cloud.trueup")),
            (vec!["environments"], true),
            "{environment}"
        );
    }
}

#[test]
fn a_cluster_is_identified_by_its_kube_system_namespace() {
    let dir = folder(&[(
        "clusters/a/ns.yaml",
        "apiVersion: v1\nkind: Namespace\nmetadata: { name: kube-system, uid: 7c1 }\n",
    )]);
    assert_eq!(cluster(&read(&dir), "a").identity.kube_system_uid, "7c1");
}

#[test]
fn a_missing_folder_is_a_separate_error() {
    let dir = folder(&[("x", "")]);
    assert!(load(&dir.path().join("nowhere")).is_err_and(|error| error.to_string().contains("cannot read")));
    assert!(
        load(&dir.path().join("x")).is_err_and(|error| error.to_string().ends_with("is not a folder or an archive"))
    );
}

#[test]
fn a_pipe_in_place_of_a_file_is_a_problem_and_never_waited_for() {
    for name in ["fleet.yaml", "clouds/ibm/main.yaml", "clusters/a/x.yaml"] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let problems = load(dir.path()).unwrap().problems;
        let is_named = |problem: &Problem| problem.to_string().contains("is not a regular file: replace it");
        assert!(problems.iter().any(is_named), "case: {name}: {problems:?}");
    }
}
