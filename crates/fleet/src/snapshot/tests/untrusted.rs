//! Folders that were made to hang the program, to exhaust its memory or to show other files of the machine.

use super::super::limits::Limits;
use super::super::load::{LoadError, load_within};
use super::*;

fn fifo(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
}

#[test]
fn a_pipe_anywhere_is_a_problem_and_never_waited_for() {
    for place in ["fleet.yaml", "clusters/a/x.yaml", "clouds/ibm/x.yaml", "clouds/aws/x.yml"] {
        let dir = folder(&[("clusters/a/one.yaml", &object("Secret", "one"))]);
        fifo(&dir.path().join(place));
        let snapshot = read(&dir);
        let problems = problems(&dir, &snapshot);
        assert!(
            problems.iter().any(|problem| problem.contains(&format!("{place}: is not a regular file"))),
            "{place}: {problems:?}"
        );
    }
}

#[test]
fn no_link_shows_other_files_of_the_machine() {
    let outside = folder(&[("x.yaml", &object("Secret", "s3cret")), ("deep/y.yaml", &object("Secret", "s3cret"))]);
    let links: [(&str, &str); 6] = [
        ("clusters/a/x.yaml", "x.yaml"),
        ("clusters/a/deep", "deep"),
        ("clusters/b", "."),
        ("clouds/ibm/x.yaml", "x.yaml"),
        ("clouds/ibm", "."),
        ("fleet.yaml", "x.yaml"),
    ];
    for (link, target) in links {
        let dir = folder(&[("clusters/a/one.yaml", &object("Secret", "one"))]);
        let link_path = dir.path().join(link);
        fs::create_dir_all(link_path.parent().unwrap()).unwrap();
        symlink(outside.path().join(target), &link_path).unwrap();
        let snapshot = read(&dir);
        let problems = problems(&dir, &snapshot);
        assert!(problems.iter().any(|problem| problem.contains("leaves the snapshot")), "{link}: {problems:?}");
        let shown = snapshot.clusters.iter().flat_map(|cluster| names(&cluster.recorded, "Secret"));
        assert!(shown.collect::<Vec<_>>().iter().all(|name| name != "s3cret"), "{link}");
    }
}

#[test]
fn what_is_over_the_limits_is_not_read_and_its_cluster_is_not_complete() {
    let one = object("Secret", "one");
    let files: Vec<(String, String)> =
        (0..9).map(|number| (format!("clusters/a/{number}.yaml"), object("Secret", &format!("s{number}")))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let small = Limits::default();
    let cases = [
        (
            "files",
            Limits { files_max: 4, ..small },
            "4.yaml: and 4 more were not read: the snapshot has more than 4 files",
        ),
        ("bytes", Limits { bytes_max: 4 * one.len() as u64, ..small }, "more were not read"),
        ("fits", Limits { files_max: 9, entries_max: 20, ..small }, ""),
    ];
    for (case, limits, expected) in cases {
        let dir = folder(&files);
        write(dir.path(), &[("fleet.yaml", "clusters: { a: {} }")]);
        let snapshot = load_within(dir.path(), &limits).unwrap();
        let problems = problems(&dir, &snapshot);
        assert!(
            expected.is_empty() || problems.iter().any(|line| line.contains(expected)),
            "case: {case}: {problems:?}"
        );
        let claimed = cluster(&snapshot, "a").recorded.coverage.unreadable.is_empty();
        assert_eq!(claimed, problems.is_empty(), "case: {case}: {problems:?}");
    }
}

#[test]
fn many_entries_and_deep_folders_are_not_walked() {
    let deep = "d/".repeat(80);
    let dir = folder(&[(&format!("clusters/a/{deep}x.yaml"), &object("Secret", "deep"))]);
    let snapshot = read(&dir);
    assert!(problems(&dir, &snapshot).iter().any(|line| line.contains("folders deep and was not read")));
    let files: Vec<(String, &str)> = (0..50).map(|number| (format!("clusters/a/in/{number}.log"), "")).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let dir = folder(&files);
    let snapshot = load_within(dir.path(), &Limits { entries_max: 49, ..Limits::default() }).unwrap();
    assert!(problems(&dir, &snapshot).iter().any(|line| line.contains("more than 49 files and folders")));
}

#[test]
fn aliases_of_all_files_together_have_a_limit() {
    let text = format!("{}data: {{ a: &x {}, b: *x }}\n", object("ConfigMap", "c"), "x".repeat(1000));
    let dir = folder(&[("clusters/a/1.yaml", &text), ("clusters/b/2.yaml", &text), ("clusters/c/3.yaml", &text)]);
    assert!(load_within(dir.path(), &Limits { alias_bytes_max: 4_000, ..Limits::default() }).is_ok());
    let refused = load_within(dir.path(), &Limits { alias_bytes_max: 2_500, ..Limits::default() });
    assert!(matches!(refused, Err(LoadError::TooManyAliases { bytes_max: 2_500, .. })));
}

#[test]
fn a_fleet_file_that_is_nested_deeply_is_a_problem() {
    let deep = |levels: usize| format!("clusters: {}{}\n", "[".repeat(levels), "]".repeat(levels));
    for (levels, expected) in
        [(20, "fleet.yaml:1: is nested more than 16 levels deep"), (200_000, "fleet.yaml:1: is n")]
    {
        let dir = folder(&[("fleet.yaml", &deep(levels))]);
        let snapshot = read(&dir);
        let problems = problems(&dir, &snapshot);
        assert!(problems.iter().any(|problem| problem.contains(expected)), "{levels} levels: {problems:?}");
    }
}
