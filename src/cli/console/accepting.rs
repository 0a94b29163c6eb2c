//! Accepting a finding: it counts as match in the console and in every command until a date.
//!
//! Invariants:
//! - a rule accepts one finding, never a pattern;
//! - a rule takes effect after it is written.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use zeroize::Zeroizing;

use crate::config::{CONFIG_BYTES_MAX, accept_line, parse_accepted};
use trueup_core::engine::{AcceptRule, Glob, SubjectId};
use trueup_core::files;

/// Header of the file.
const HEAD: &str =
    "# Findings accepted on the console. Each counts as match until its date; remove one to see it again.\n";

/// The rule for one finding.
///
/// # Errors
/// The date is invalid or past, or the id has wildcards.
pub fn rule(subject: &SubjectId, reason: String, until: &str, now: Timestamp) -> Result<AcceptRule, String> {
    let day: Date = until.parse().map_err(|_| format!("invalid date `{until}`; use YYYY-MM-DD"))?;
    if day < TimeZone::UTC.to_datetime(now).date() {
        return Err(format!("{day} is in the past"));
    }
    let id = subject.to_string();
    if id.contains(['*', '?']) {
        return Err("the id has wildcards; write a pattern into [[accept]] of the config".to_owned());
    }
    let finding = Glob::parse(&id).map_err(|error| error.to_string())?;
    Ok(AcceptRule { finding, reason, until: day })
}

/// Appends a rule to the file, which is created if needed.
///
/// # Errors
/// The file cannot be written, or its content is invalid.
pub fn write_down(path: &Path, rule: &AcceptRule) -> Result<(), String> {
    let not_written = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    let text = match files::read_text(path, CONFIG_BYTES_MAX) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Zeroizing::default(),
        Err(error) => return Err(not_written(error)),
    };
    if let Err(problems) = parse_accepted(&text) {
        let first = problems.first().map(|problem| problem.message.as_str()).unwrap_or_default();
        return Err(format!("cannot append to {}: {first}", path.display()));
    }
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(not_written)?;
    }
    let head = if text.is_empty() { HEAD } else { "" };
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(path).map_err(not_written)?;
    // One write, so that rules of two consoles do not mix.
    file.write_all(format!("{head}{end}{}", accept_line(rule)).as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(not_written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_core::engine::CheckName;
    use trueup_core::world::ClusterName;

    fn subject(name: &str) -> SubjectId {
        SubjectId {
            domain: CheckName("hosted-oidc"),
            cluster: ClusterName::new("guest-a"),
            api_version: "v1",
            kind: "Secret",
            namespace: Some("openshift-config".to_owned()),
            name: name.to_owned(),
            cloud: None,
        }
    }

    fn now() -> Timestamp {
        "2026-11-16T10:00:00Z".parse().unwrap()
    }

    #[test]
    fn written_rules_are_read_back_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trueup/accepted.toml");
        let reasons = ["kept for the audit", "says \"who\" \\ why\nand 名前"];
        let rules = reasons.map(|reason| rule(&subject("old"), reason.to_owned(), "2026-12-31", now()).unwrap());
        for rule in &rules {
            write_down(&path, rule).unwrap();
        }
        assert_eq!(parse_accepted(&std::fs::read_to_string(&path).unwrap()).unwrap(), rules);
    }

    #[test]
    fn an_invalid_file_is_not_appended_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("accepted.toml");
        std::fs::write(&path, "[[accept]]\nfinding = ").unwrap();
        let rule = rule(&subject("old"), "why".to_owned(), "2026-12-31", now()).unwrap();
        assert!(write_down(&path, &rule).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "[[accept]]\nfinding = ");
    }

    #[test]
    fn only_one_finding_and_only_a_future_date_can_be_accepted() {
        let cases = [
            ("today", "old", "2026-11-16", true),
            ("yesterday", "old", "2026-11-15", false),
            ("no day", "old", "soon", false),
            ("a subject with a wildcard", "*", "2026-12-31", false),
        ];
        for (case, name, until, expected) in cases {
            assert_eq!(rule(&subject(name), "why".to_owned(), until, now()).is_ok(), expected, "case: {case}");
        }
    }
}
