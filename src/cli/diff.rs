//! Differences, shown by the program in `KUBECTL_EXTERNAL_DIFF` or by `diff -u -N`, as `kubectl diff` does.
//!
//! Invariants: the files hold what a screen shows, so no byte of a Secret; their folder has mode 0700 and is removed
//! afterwards, each file has mode 0600; no shell runs, and the user's own environment names the program.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::context::Context;
use super::error::CliError;
use super::out_file::write_private;
use crate::render::yaml;
use trueup_core::engine::text::Printable;
use trueup_core::engine::{Action, Finding, ObjectRef};

const VARIABLE: &str = "KUBECTL_EXTERNAL_DIFF";
const DEFAULT: &str = "diff -u -N";
/// The highest exit code of a program that found differences.
const DIFFERENT: i32 = 1;
/// Names of files may have 255 bytes.
const NAME_BYTES_MAX: usize = 200;

/// An object as it is and as it should be.
pub struct Sides {
    /// The name of both files.
    name: String,
    live: Printable,
    merged: Printable,
}

impl Sides {
    pub fn of_finding(finding: &Finding) -> Self {
        let is_nothing = |tree: &Value| tree.is_null() || tree.as_object().is_some_and(serde_json::Map::is_empty);
        let tree = |tree: &Value| if is_nothing(tree) { Printable::default() } else { yaml::document(tree) };
        Self { name: file_name(&finding.subject), live: tree(&finding.actual), merged: tree(&finding.expected) }
    }

    /// The lines before and after an action: those that neither go nor come are in both.
    pub fn of_action(action: &Action) -> Self {
        let side = |skipped: &str, own: &str| {
            let lines = action.diff.lines().filter(|line| !line.starts_with(skipped));
            let text: String = lines.map(|line| format!("{}\n", line.strip_prefix(own).unwrap_or(line))).collect();
            Printable::lines(&text)
        };
        let name = format!("{}.{}", action.id, file_name(&action.target));
        Self { name, live: side("+ ", "- "), merged: side("- ", "+ ") }
    }
}

/// `v1.Secret.openshift-config.old-client`, with every other character replaced.
fn file_name(object: &ObjectRef) -> String {
    let version = object.api_version.replace('/', ".");
    let parts = [version.as_str(), &object.kind, object.namespace.as_deref().unwrap_or_default(), &object.name];
    let name = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".");
    let usual = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    name.chars().map(|letter| if usual(letter) { letter } else { '_' }).take(NAME_BYTES_MAX).collect()
}

/// Runs the program on both sides.
///
/// # Errors
/// The files cannot be written, or the program cannot be run or fails.
pub async fn show(context: &Context, sides: &[Sides]) -> Result<(), CliError> {
    let wanted = context.env.raw(VARIABLE).map(|value| value.to_string_lossy().into_owned());
    let wanted = wanted.filter(|text| !text.trim().is_empty()).unwrap_or_else(|| DEFAULT.to_owned());
    let mut words = wanted.split_whitespace();
    let program = words.next().unwrap_or_default();
    let failed = |cause: String| CliError::failed("--diff", cause, format!("check {VARIABLE}"));
    let folder = Folder::create().map_err(|error| failed(format!("cannot create a temporary folder: {error}")))?;
    let (live, merged) = (folder.side("LIVE").map_err(failed)?, folder.side("MERGED").map_err(failed)?);
    for side in sides {
        write_private(&live.join(&side.name), &side.live).map_err(failed)?;
        write_private(&merged.join(&side.name), &side.merged).map_err(failed)?;
    }
    let run =
        tokio::process::Command::new(program).args(words).args([&live, &merged]).kill_on_drop(true).status().await;
    let status = run.map_err(|error| failed(format!("cannot run {program}: {error}")))?;
    match status.code() {
        Some(0..=DIFFERENT) => Ok(()),
        Some(code) => Err(failed(format!("{program} exited with {code}"))),
        None => Err(failed(format!("{program} was killed"))),
    }
}

/// A folder that is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn create() -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("trueup-diff-{}", std::process::id()));
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }

    fn side(&self, name: &str) -> Result<PathBuf, String> {
        let path = self.0.join(name);
        fs::DirBuilder::new().mode(0o700).create(&path).map_err(|error| error.to_string())?;
        Ok(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is readable by the user alone, and holds no secret.
        let _ = fs::remove_dir_all::<&Path>(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_those_of_kubectl_and_harmless() {
        let object = |api_version: &str, namespace: Option<&str>, name: &str| ObjectRef {
            api_version: api_version.to_owned(),
            kind: "Kind".to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
            uid: None,
            cloud: None,
        };
        let cases = [
            (object("v1", Some("n"), "a"), "v1.Kind.n.a"),
            (object("x.io/v1", None, "a"), "x.io.v1.Kind.a"),
            (object("v1", None, "../../etc/x y\u{1b}"), "v1.Kind..._.._etc_x_y_"),
        ];
        for (object, expected) in cases {
            assert_eq!(file_name(&object), expected);
        }
        assert_eq!(file_name(&object("v1", None, &"x".repeat(300))).len(), NAME_BYTES_MAX);
    }
}
