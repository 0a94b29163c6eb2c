//! Snapshots packed as one file.

use std::io::Write as _;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use tar::{Builder, EntryType, Header};

use super::super::limits::Limits;
use super::super::load::{LoadError, load_within};
use super::*;

const FORMS: [&str; 4] = ["tar", "tar.gz", "tgz", "tar.zst"];

fn tar_of(files: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (path, text) in files {
        let mut header = Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, path, text.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap()
}

/// An entry with a header as it is written, whatever its path.
fn raw(kind: EntryType, path: &str, link: &str, size: u64) -> Header {
    let mut header = Header::new_ustar();
    header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
    header.as_old_mut().linkname[..link.len()].copy_from_slice(link.as_bytes());
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(0o644);
    header.set_cksum();
    header
}

/// The files, and one more entry.
fn with_entry(files: &[(&str, &str)], header: &Header, content: &str) -> Vec<u8> {
    let mut bytes = tar_of(files);
    bytes.truncate(bytes.len() - 1024);
    let mut builder = Builder::new(bytes);
    builder.append(header, content.as_bytes()).unwrap();
    builder.into_inner().unwrap()
}

fn packed(tar: &[u8], form: &str) -> Vec<u8> {
    match form {
        "tar" => tar.to_vec(),
        "tar.zst" => compress_to_vec(tar, CompressionLevel::Fastest),
        _ => {
            let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
            packer.write_all(tar).unwrap();
            packer.finish().unwrap()
        }
    }
}

/// The archive `snap.<form>` in a folder of its own.
fn archive(bytes: &[u8], form: &str) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(format!("snap.{form}"));
    fs::write(&path, bytes).unwrap();
    (dir, path)
}

fn listed(files: &[(String, String)]) -> Vec<(&str, &str)> {
    files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect()
}

/// Everything a snapshot says, without the place it was read from.
fn content(snapshot: &Snapshot, place: &Path) -> Vec<String> {
    let place = place.display().to_string();
    let mut all = vec![format!("{:?}", snapshot.now)];
    for cluster in &snapshot.clusters {
        let SnapshotCluster { name, source, class, hosted_by, served, recorded, identity } = cluster;
        all.push(format!("{name} {source:?} {class:?} {hosted_by:?} {served:?} {identity:?} {:?}", recorded.coverage));
        for kind in ["Secret", "ConfigMap", "Namespace"] {
            all.extend(recorded.of_kind("", kind).iter().map(|object| format!("{kind} {}", object.json.as_str())));
        }
    }
    all.extend(snapshot.problems.iter().map(|problem| problem.to_string().replace(&place, "")));
    all
}

fn fixture() -> Vec<(String, String)> {
    let mut files = vec![
        ("fleet.yaml".to_owned(), "now: 2026-11-16T10:00:00Z\nclusters: { a: { class: dev }, b: {} }\n".to_owned()),
        ("clouds/ibm/main.yaml".into(), "account: acc\nresources: [ { kind: vpc, id: r006-1 } ]\n".into()),
        ("clusters/a/notes.txt".into(), "not read".into()),
        ("clusters/a/broken.yaml".into(), "a: [\n".into()),
        ("clusters/README.yaml".into(), object("Secret", "lost")),
        (
            "clusters/b/deep/long-".to_owned() + &"x".repeat(150) + ".json",
            "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"j\",\"namespace\":\"n\"}}".into(),
        ),
    ];
    files.extend((0..40).map(|number| (format!("clusters/a/{number}.yaml"), object("Secret", &format!("s{number}")))));
    files
}

#[test]
fn an_archive_is_the_folder_it_was_made_from() {
    let files = fixture();
    let dir = folder(&listed(&files));
    let expected = content(&read(&dir), dir.path());
    for form in FORMS {
        for top in ["", "./", "must-gather.local.1/"] {
            let files: Vec<_> = files.iter().map(|(path, text)| (format!("{top}{path}"), text.clone())).collect();
            let (_dir, path) = archive(&packed(&tar_of(&listed(&files)), form), form);
            let place = path.join(top.trim_start_matches("./").trim_end_matches('/'));
            let place = PathBuf::from(place.display().to_string().trim_end_matches('/'));
            assert_eq!(content(&load(&path).unwrap(), &place), expected, "{form}, inside {top:?}");
        }
    }
}

#[test]
fn the_one_cluster_of_an_archive_has_the_name_of_its_folder_or_of_the_archive() {
    let one = object("Secret", "one");
    let cases = [
        ("lab/x.yaml", "lab"),
        ("x.yaml", "snap"),
        ("namespaces/n/core/secrets.yaml", "snap"),
        ("inspect.local.7/namespaces/n/core/secrets.yaml", "inspect.local.7"),
        ("must-gather/quay-io-x/namespaces/n/core/secrets.yaml", "must-gather"),
        ("clusters/c/x.yaml", "c"),
    ];
    for (file, name) in cases {
        for form in FORMS {
            let (_dir, path) = archive(&packed(&tar_of(&[(file, &one)]), form), form);
            let snapshot = load(&path).unwrap();
            let seen: Vec<&str> = snapshot.clusters.iter().map(|cluster| cluster.name.as_str()).collect();
            assert_eq!((seen, snapshot.problems.len()), (vec![name], 0), "{file} in {form}");
            assert_eq!(names(&snapshot.clusters[0].recorded, "Secret"), ["one"], "{file} in {form}");
        }
    }
}

/// Whether every cluster says that parts of it are not known.
fn all_incomplete(snapshot: &Snapshot) -> bool {
    !snapshot.clusters.is_empty()
        && snapshot.clusters.iter().all(|cluster| !cluster.recorded.coverage.unreadable.is_empty())
}

#[test]
fn an_archive_that_is_cut_anywhere_proves_nothing() {
    let files = fixture();
    for form in FORMS {
        let bytes = packed(&tar_of(&listed(&files)), form);
        // Uncompressed, the end of an archive is two blocks of zeros: without the second one it is still whole.
        let ends = if form == "tar" { bytes.len() - 1024 } else { bytes.len() - 1 };
        let step = bytes.len() / 37;
        for length in (0..=ends).step_by(step.max(1)).chain([ends, ends - ends % 512, 512, 1024]) {
            let (_dir, path) = archive(&bytes[..length.min(ends)], form);
            match load(&path) {
                Err(error) => assert!(error.to_string().contains("snap."), "{form}, {length} bytes: {error}"),
                Ok(snapshot) => {
                    let named = snapshot.problems.iter().any(|problem| problem.file == path.display().to_string());
                    assert!(named, "{form}, {length} bytes: {:?}", snapshot.problems);
                    assert!(snapshot.clusters.is_empty() || all_incomplete(&snapshot), "{form}, {length} bytes");
                }
            }
        }
    }
}

#[test]
fn a_flipped_byte_in_a_compressed_archive_proves_nothing() {
    let files = fixture();
    for form in ["tar.gz", "tar.zst"] {
        let bytes = packed(&tar_of(&listed(&files)), form);
        let (_dir, path) = archive(&bytes, form);
        let expected = content(&load(&path).unwrap(), &path);
        for place in (0..bytes.len()).step_by((bytes.len() / 61).max(1)) {
            let mut bytes = bytes.clone();
            bytes[place] ^= 0x10;
            let (_dir, path) = archive(&bytes, form);
            // Some bits mean nothing: a time in the header of gzip, the rest of the last byte of a block.
            if let Ok(snapshot) = load(&path)
                && content(&snapshot, &path) != expected
            {
                assert!(all_incomplete(&snapshot) || snapshot.clusters.is_empty(), "{form}, byte {place}");
                assert!(!snapshot.problems.is_empty(), "{form}, byte {place}");
            }
        }
    }
}

#[test]
fn several_parts_that_were_compressed_one_by_one_are_one_archive() {
    let tar = tar_of(&[("clusters/a/x.yaml", &object("Secret", "one"))]);
    let (start, end) = tar.split_at(700);
    for form in ["tar.gz", "tar.zst"] {
        let mut bytes = packed(start, form);
        if form == "tar.zst" {
            // A frame without data, as pzstd writes them.
            bytes.splice(0..0, [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
        }
        bytes.extend(packed(end, form));
        let (_dir, path) = archive(&bytes, form);
        let snapshot = load(&path).unwrap();
        assert_eq!(names(&cluster(&snapshot, "a").recorded, "Secret"), ["one"], "{form}");
        assert_eq!(snapshot.problems, [], "{form}");
    }
}

#[test]
fn entries_outside_the_archive_are_not_read_and_nothing_is_complete() {
    let one = object("Secret", "one");
    for path in ["/etc/shadow.yaml", "../x.yaml", "clusters/a/../../../x.yaml", "/clusters/a/x.yaml"] {
        let header = raw(EntryType::Regular, path, "", one.len() as u64);
        let files = [("fleet.yaml", "clusters: { a: {} }"), ("clusters/a/one.yaml", &one)];
        let (_dir, file) = archive(&with_entry(&files, &header, &one), "tar");
        let snapshot = load(&file).unwrap();
        assert!(all_incomplete(&snapshot), "{path}");
        let [problem] = snapshot.problems.as_slice() else { panic!("{path}: {:?}", snapshot.problems) };
        assert!(problem.message.contains(path) && problem.message.contains("outside"), "{problem}");
    }
}

#[test]
fn links_and_devices_are_named_and_not_followed() {
    use EntryType::{Block, Char, Fifo, Link, Symlink};
    let one = object("Secret", "one");
    let cases = [
        (Symlink, "clusters/a/x.yaml", "one.yaml", true),
        (Symlink, "clusters/a/deep", "../b", true),
        (Symlink, "clusters/b", "a", true),
        (Symlink, "clouds", "/etc", true),
        (Symlink, "clouds/ibm", "/etc", true),
        (Link, "clusters/a/x.json", "clusters/a/one.yaml", true),
        (Fifo, "clusters/a/x.yaml", "", true),
        (Char, "clusters/a/x.yaml", "", true),
        (Block, "clusters/a/x.yaml", "", true),
        (Symlink, "clusters/a/current.log", "1.log", false),
        (Fifo, "clusters/a/pipe", "", false),
    ];
    for (kind, path, target, is_named) in cases {
        let files = [("fleet.yaml", "clusters: { a: {} }"), ("clusters/a/one.yaml", one.as_str())];
        let (_dir, file) = archive(&with_entry(&files, &raw(kind, path, target, 0), ""), "tar");
        let snapshot = load(&file).unwrap();
        assert_eq!(!snapshot.problems.is_empty(), is_named, "{kind:?} {path}: {:?}", snapshot.problems);
        assert_eq!(all_incomplete(&snapshot), is_named, "{kind:?} {path}");
        assert_eq!(names(&cluster(&snapshot, "a").recorded, "Secret"), ["one"], "{kind:?} {path}");
    }
}

#[test]
fn what_is_over_a_limit_ends_the_reading_with_its_place_and_limit() {
    let one = object("Secret", "one");
    let files: Vec<(String, String)> =
        (0..9).map(|number| (format!("clusters/a/{number}.yaml"), object("Secret", &format!("s{number}")))).collect();
    let large = "x".repeat(3 << 20);
    let mut with_log = files.clone();
    with_log.insert(1, ("clusters/a/large.log".to_owned(), large));
    let deep = [(format!("clusters/a/{}x.yaml", "d/".repeat(70)), one.clone())];
    let limits = Limits::default();
    let cases = [
        (
            "files",
            files.as_slice(),
            Limits { files_max: 4, ..limits },
            "was read up to clusters/a/4.yaml only: it has more than 4",
        ),
        ("bytes", files.as_slice(), Limits { bytes_max: 4 * one.len() as u64, ..limits }, "was read up to clusters/a/"),
        ("entries", files.as_slice(), Limits { entries_max: 5, ..limits }, "more than 5 files and folders"),
        ("bomb", with_log.as_slice(), Limits { unpacked_bytes_max: 1 << 20, ..limits }, "unpacks to more than 1 MiB"),
        ("depth", deep.as_slice(), limits, "73 folders deep and was not read"),
        ("fits", with_log.as_slice(), Limits { files_max: 9, entries_max: 10, ..limits }, ""),
    ];
    for (case, files, limits, expected) in cases {
        for form in FORMS {
            let (_dir, path) = archive(&packed(&tar_of(&listed(files)), form), form);
            let snapshot = load_within(&path, &limits).unwrap();
            let named = snapshot.problems.iter().any(|problem| problem.message.contains(expected));
            assert!(named || expected.is_empty(), "case: {case}, {form}: {:?}", snapshot.problems);
            assert_eq!(all_incomplete(&snapshot), !expected.is_empty(), "case: {case}, {form}");
        }
    }
}

#[test]
fn a_name_that_fills_the_memory_is_not_read() {
    let name = "x/".repeat(3 << 20);
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::GNULongName);
    header.set_size(name.len() as u64);
    header.set_cksum();
    let bytes = with_entry(&[("clusters/a/x.yaml", &object("Secret", "one"))], &header, &name);
    for form in FORMS {
        let (_dir, path) = archive(&packed(&bytes, form), form);
        let snapshot = load(&path).unwrap();
        assert!(all_incomplete(&snapshot), "{form}");
        assert!(snapshot.problems[0].message.contains("invalid entry after 1 object files"), "{:?}", snapshot.problems);
    }
}

#[test]
fn a_file_and_a_folder_of_one_path_are_refused() {
    let one = object("Secret", "one");
    for files in [["clusters/a/x.yaml", "clusters/a/x.yaml/y.yaml"], ["clusters/a/x.yaml/y.yaml", "clusters/a/x.yaml"]]
    {
        let (_dir, path) = archive(&tar_of(&files.map(|path| (path, one.as_str()))), "tar");
        let snapshot = load(&path).unwrap();
        assert!(all_incomplete(&snapshot) && snapshot.problems[0].message.contains("of one path"), "{files:?}");
    }
}

#[test]
fn what_is_no_archive_is_refused_with_its_path() {
    let cases: [(&str, &[u8]); 4] = [
        ("text", b"apiVersion: v1\nkind: Secret\n"),
        ("nothing", b""),
        ("a gzip of text", &packed(b"apiVersion: v1\n", "tar.gz")),
        ("noise", &[0xa5; 4096]),
    ];
    for (case, bytes) in cases {
        let (_dir, path) = archive(bytes, "tar.gz");
        let error = load(&path).err().unwrap_or_else(|| panic!("case: {case}"));
        let is_refused = matches!(error, LoadError::NoArchive { .. } | LoadError::NoFolder { .. });
        assert!(is_refused, "case: {case}: {error}");
        assert!(error.to_string().starts_with(&path.display().to_string()), "case: {case}: {error}");
    }
    assert!(matches!(load(Path::new("/dev/null")), Err(LoadError::NoFolder { .. })));
}
