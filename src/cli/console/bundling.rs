//! Writes an incident bundle: one archive of what the console knows, with evidence, masked YAML and the journal.
//!
//! Invariants:
//! - only what is shown elsewhere is in it: objects are masked, records of the journal are redacted;
//! - the same contents at the same time are the same bytes;
//! - what could not be read is a file that says why, and the archive has mode 600.

use std::io::{self, Write as _};
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::Timestamp;
use serde_json::json;

use super::objects;
use crate::cli::out_file::write_private_bytes;
use crate::console::task::{BundleRequest, SubjectDetail};
use crate::render::markdown;
use trueup_checks::Panel;
use trueup_core::engine::journal::Record;
use trueup_core::engine::text::{Printable, printable_json};
use trueup_core::engine::{ObjectRef, SubjectId};
use trueup_core::redact::CredentialValues;
use trueup_core::world::ClusterName;
use trueup_fleet::live::Live;
use trueup_operate::{Fleet, read_history};

/// Size of a block of a tar archive.
const BLOCK: usize = 512;
/// Longest path of a file in the archive: what the header of the oldest format holds.
const PATH_MAX: usize = 99;

/// Reads what is missing of a bundle and writes it. Returns the name of the file.
///
/// # Errors
/// The file cannot be written.
pub async fn write(fleet: &Fleet, request: BundleRequest) -> Result<String, String> {
    let BundleRequest { at, zone, mut files, findings, objects } = request;
    files.push(("evidence.md".to_owned(), evidence(fleet, findings).await));
    for (cluster, target) in objects {
        let path = yaml_path(&cluster, &target);
        let text = match objects::read(fleet, &cluster, &target, CredentialValues::Masked).await {
            Ok(sheet) => Printable::lines(&sheet.yaml.join("\n")).ended(),
            Err(why) => Printable::line(&format!("# not read: {why}")).ended(),
        };
        files.push((path, text));
    }
    files.push(("journal.jsonl".to_owned(), journal(fleet)));
    let name = format!("incident-{}", at.to_zoned(zone).strftime("%Y%m%d-%H%M%S"));
    let path = PathBuf::from(format!("{name}.tar.gz"));
    let bytes = archive(&name, at, files).map_err(|error| error.to_string())?;
    write_private_bytes(&path, &bytes).map_err(|cause| format!("{}: {cause}", path.display()))?;
    Ok(path.display().to_string())
}

async fn evidence(fleet: &Fleet, findings: Vec<SubjectId>) -> Printable {
    let mut text = String::from("# Evidence\n");
    for subject in findings {
        let wanted = subject.clone();
        let detail = move |live: &Live| {
            let domain = live.domains().iter().find(|domain| domain.name() == wanted.domain)?;
            let (explanation, panels) = domain.detail(&wanted, live.view())?;
            Some(SubjectDetail { subject: wanted, explanation, panels })
        };
        text.push_str(&match fleet.ask(detail).await {
            Ok(Some(detail)) => section(&detail),
            Ok(None) => format!("\n## {}\n\nno longer found\n", markdown::escaped(&subject.to_string())),
            Err(error) => format!("\n## {}\n\n{error}\n", markdown::escaped(&subject.to_string())),
        });
    }
    Printable::lines(&text)
}

fn section(detail: &SubjectDetail) -> String {
    let SubjectDetail { subject, explanation, panels } = detail;
    let mut text = format!("\n## {}\n\n", markdown::escaped(&subject.to_string()));
    text.push_str(&format!("{}\n\n", markdown::escaped(&explanation.summary)));
    for line in &explanation.evidence {
        let place =
            [line.object.as_str(), &line.field, &line.resource_version].into_iter().filter(|part| !part.is_empty());
        let place = place.collect::<Vec<_>>().join(", ");
        text.push_str(&format!("- {} ({})\n", markdown::escaped(&line.message), markdown::escaped(&place)));
    }
    for (title, value) in [("expected", &explanation.expected), ("actual", &explanation.actual)] {
        if !value.is_null() {
            text.push_str(&format!("\n{title}:\n\n    {}\n", printable_json(&value.to_string())));
        }
    }
    for panel in panels {
        if let Panel::Lines { title, lines } = panel {
            text.push_str(&format!("\n{title}:\n\n"));
            lines.iter().for_each(|line| text.push_str(&format!("- {}\n", markdown::escaped(line))));
        }
    }
    text
}

/// The journal as `trueup history export` prints it, or why it cannot be read.
fn journal(fleet: &Fleet) -> Printable {
    let history = match read_history(fleet.session()) {
        Ok(history) => history,
        Err(error) => return Printable::line(&json!({ "error": error.to_string() }).to_string()).ended(),
    };
    let line = |record: Record| printable_json(&json!({ "record": record.redacted() }).to_string()) + "\n";
    Printable::lines(&history.lines.into_iter().map(|entry| line(entry.record)).collect::<String>())
}

/// `yaml/guest-a/secret-openshift-config-x.yaml`, with letters that every file system has.
fn yaml_path(cluster: &ClusterName, target: &ObjectRef) -> String {
    let safe = |text: &str| -> String {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.' | '_');
        let plain: String = text.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
        plain.replace("..", "__")
    };
    let namespace = target.namespace.as_deref().map_or(String::new(), |namespace| format!("{namespace}-"));
    let name = safe(&format!("{}-{namespace}{}", target.kind.to_lowercase(), target.name));
    format!("yaml/{}/{name}.yaml", safe(cluster.as_str()))
}

/// A tar archive (ustar), compressed. Paths that are too long keep their end, which tells them apart.
fn archive(folder: &str, at: Timestamp, mut files: Vec<(String, Printable)>) -> io::Result<Vec<u8>> {
    files.sort();
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    for (path, text) in files {
        let bytes = text.as_bytes();
        out.write_all(&header(&format!("{folder}/{path}"), bytes.len(), at))?;
        out.write_all(bytes)?;
        out.write_all(&vec![0; bytes.len().next_multiple_of(BLOCK) - bytes.len()])?;
    }
    out.write_all(&[0; 2 * BLOCK])?;
    out.finish()
}

/// The header of one file (POSIX.1-1988): name, mode, owner, size, time, checksum, type.
fn header(path: &str, size: usize, at: Timestamp) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let mut put = |from: usize, text: &str| block[from..from + text.len()].copy_from_slice(text.as_bytes());
    put(0, &path[path.len().saturating_sub(PATH_MAX)..]);
    put(100, "0000600\0");
    put(108, "0000000\0");
    put(116, "0000000\0");
    put(124, &format!("{size:011o}\0"));
    put(136, &format!("{:011o}\0", at.as_second().max(0)));
    put(148, "        ");
    put(156, "0");
    put(257, "ustar\x0000");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::process::Command;

    use flate2::read::GzDecoder;

    use super::*;

    fn at() -> Timestamp {
        "2026-11-16T10:00:00Z".parse().unwrap()
    }

    fn files() -> Vec<(String, Printable)> {
        let long = "x".repeat(600);
        [("summary.md", "# Bundle\n"), ("yaml/guest-a/secret-x.yaml", long.as_str()), ("empty", "")]
            .map(|(path, text)| (path.to_owned(), Printable::lines(text)))
            .into()
    }

    #[test]
    fn an_archive_is_unpacked_by_tar_and_the_same_contents_are_the_same_bytes() {
        let bytes = archive("incident-1", at(), files()).unwrap();
        let mut turned = files();
        turned.reverse();
        assert_eq!(archive("incident-1", at(), turned).unwrap(), bytes);
        let folder = tempfile::tempdir().unwrap();
        let packed = folder.path().join("x.tar.gz");
        std::fs::write(&packed, &bytes).unwrap();
        let unpacked = Command::new("tar").arg("-xzf").arg(&packed).arg("-C").arg(folder.path()).status().unwrap();
        assert!(unpacked.success());
        for (path, text) in files() {
            let found = std::fs::read(folder.path().join("incident-1").join(&path)).unwrap();
            assert_eq!(found, text.as_bytes(), "{path}");
        }
    }

    #[test]
    fn a_long_path_stays_within_its_field() {
        let mut whole = Vec::new();
        let path = format!("{}/end.yaml", "long".repeat(60));
        let bytes = archive("incident-1", at(), vec![(path, Printable::line("x"))]).unwrap();
        GzDecoder::new(&bytes[..]).read_to_end(&mut whole).unwrap();
        let name: Vec<u8> = whole[..100].iter().copied().take_while(|byte| *byte != 0).collect();
        assert!(name.len() == PATH_MAX && name.ends_with(b"end.yaml"));
    }

    #[test]
    fn names_from_clusters_lead_nowhere_else() {
        let target = ObjectRef {
            api_version: "v1".to_owned(),
            kind: "Secret".to_owned(),
            namespace: Some("../..".to_owned()),
            name: "/etc/x\u{202e}".to_owned(),
            uid: None,
            cloud: None,
        };
        assert_eq!(yaml_path(&ClusterName::new(".."), &target), "yaml/__/secret-_____-_etc_x_.yaml");
    }
}
