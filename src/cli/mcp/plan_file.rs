//! A new plan file in the folder that was named at the start.
//!
//! Invariants: a file is made only inside the folder, with mode 0600, and never replaces another; its name is one word, so
//! that no `..`, link or hidden file can be meant.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::json;

use super::super::args::{Globals, PlanArgs};
use super::super::context::Context;
use super::super::error::CliError;
use super::super::out_file::write_new_private_parts;
use super::super::plan;
use super::tools::PlanCall;
use super::{Server, failed};
use crate::config::parse_duration;
use trueup_core::engine::text::{Printable, ShellCommand};
use trueup_core::engine::{Action, InputReading, StreamedPlan, TargetSource};

const SCHEMA: &str = "trueup/mcp/plan/v1";
const DOING: &str = "make_plan";

/// Characters of a file's name: half of what file systems take, because the draft's name is longer.
pub const NAME_MAX: usize = 128;
/// Files in the folder. A client that makes plans in a loop does not fill a disk.
const FILES_MAX: usize = 1_000;

/// The folder of `--out-dir`.
#[derive(Debug, Clone)]
pub struct OutFolder(PathBuf);

impl OutFolder {
    /// Checks the folder once, at the start.
    ///
    /// # Errors
    /// It is not a folder.
    pub fn open(path: &Path) -> Result<Self, CliError> {
        let doing = || format!("--out-dir {}", path.display());
        let hint = "name a folder that exists and that you can write to";
        let folder = path.canonicalize().map_err(|error| CliError::failed(doing(), error.to_string(), hint))?;
        match folder.is_dir() {
            true => Ok(Self(folder)),
            false => Err(CliError::failed(doing(), "is not a folder", hint)),
        }
    }

    /// The path of a new file.
    fn file(&self, name: &str) -> Result<PathBuf, CliError> {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let starts_well = name.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric());
        let is_name = starts_well && name.len() <= NAME_MAX && name.ends_with(".json") && name.bytes().all(is_word);
        if !is_name {
            let hint = "use letters, digits, `-`, `_` and `.`, and end it with .json";
            return Err(CliError::usage(DOING, format!("{name:?} is not the name of a plan file"), hint));
        }
        let failed = |cause: String| CliError::failed(DOING, cause, "remove old plans from the folder");
        let files = self.0.read_dir().map_err(|error| failed(error.to_string()))?.take(FILES_MAX).count();
        if files >= FILES_MAX {
            return Err(failed(format!("the folder has {FILES_MAX} files")));
        }
        Ok(self.0.join(name))
    }
}

/// Makes a plan, writes it, and says how a person approves it.
///
/// # Errors
/// There is no folder, the name is not one, the file exists, or the plan cannot be made.
pub async fn make(server: &Server, call: PlanCall) -> Result<Printable, CliError> {
    let Some(folder) = &server.folder else {
        return Err(CliError::usage(DOING, "no folder for plans", "start trueup mcp with --out-dir DIR"));
    };
    let path = folder.file(&call.file)?;
    let valid_for = call.valid_for.as_deref().map(parse_duration).transpose();
    let args = PlanArgs {
        domains: call.checks,
        clusters: call.clusters,
        namespaces: call.namespaces,
        settle: server.settle,
        valid_for: valid_for.map_err(|error| CliError::usage("valid_for", error.to_string(), ""))?,
        ..PlanArgs::default()
    };
    let (request, reading) = plan::request(&server.fleet, &args).await?;
    let (context, session) = (server.context.clone(), server.fleet.session().clone());
    let write = move |plan: StreamedPlan<'_>, _: Timestamp| {
        let plan = plan::marked(&context, &session, plan);
        write_new_private_parts(&path, |write| plan.write_file_text(write))
            .map_err(|cause| CliError::failed(format!("{DOING} {}", path.display()), cause, "choose another name"))?;
        Ok(written(&context, &plan, &path, reading))
    };
    server.fleet.plan_streamed(request, write).await.map_err(failed)?
}

/// What was written, and the commands for a person.
fn written(context: &Context, plan: &StreamedPlan<'_>, path: &Path, reading: InputReading) -> Printable {
    let file = path.to_string_lossy();
    let command = |words| for_person(words, &context.globals, &file);
    let is_recorded = plan.targets.iter().any(|target| target.source == TargetSource::Snapshot);
    let note = match is_recorded {
        true => "Made from a snapshot: a person applies it with --context naming the live cluster it was taken from.",
        false => "A person reviews and applies it.",
    };
    let text = json!({
        "schema": SCHEMA,
        "id": plan.id,
        "file": file,
        "created_at": plan.created_at,
        "expires_at": plan.expires_at,
        "complete": reading == InputReading::Whole,
        "findings": plan.summary.findings,
        "actions": plan.summary.actions,
        "blocked": plan.summary.blocked,
        "tiers": tiers(&plan.actions),
        "review": command("trueup show"),
        "approve": command("trueup apply"),
        "note": note,
    });
    Printable::json(&text.to_string())
}

/// Actions that nothing blocks, by tier.
fn tiers(actions: &[Action]) -> BTreeMap<String, u64> {
    let mut tiers = BTreeMap::new();
    for action in actions.iter().filter(|action| action.blocked_by.is_empty()) {
        *tiers.entry(action.tier.to_string()).or_default() += 1;
    }
    tiers
}

/// A command on the file, for the same clusters as this process.
fn for_person(words: &'static str, globals: &Globals, file: &str) -> Printable {
    let mut command = ShellCommand::new(words).operand(file);
    for (name, path) in [("--kubeconfig", &globals.kubeconfig), ("--config", &globals.config)] {
        if let Some(path) = path {
            // The person's shell is in another folder.
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            command = command.option(name, &path.to_string_lossy());
        }
    }
    for context in &globals.contexts {
        command = command.option("--context", context);
    }
    if globals.all_contexts {
        command = command.words("--all-contexts");
    }
    command.line()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_plan_file_is_named_by_one_word() {
        let dir = tempfile::tempdir().unwrap();
        let folder = OutFolder::open(dir.path()).unwrap();
        let long = format!("{}.json", "x".repeat(NAME_MAX));
        let cases = [
            ("a name", "fix-2026.json", true),
            ("a parent", "../fix.json", false),
            ("a folder", "a/fix.json", false),
            ("absolute", "/tmp/fix.json", false),
            ("hidden", ".fix.json", false),
            ("a flag", "-fix.json", false),
            ("another kind", "fix.sh", false),
            ("empty", "", false),
            ("a line break", "fix\n.json", false),
            ("a letter that looks like another", "f\u{456}x.json", false),
            ("too long", &long, false),
        ];
        for (case, name, expected) in cases {
            assert_eq!(folder.file(name).is_ok(), expected, "case: {case}");
        }
    }

    #[test]
    fn the_folder_has_to_exist_and_takes_a_limited_number_of_files() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x");
        std::fs::write(&file, "").unwrap();
        symlink(dir.path(), dir.path().join("link")).unwrap();
        assert!(OutFolder::open(&file).is_err() && OutFolder::open(&dir.path().join("none")).is_err());
        let folder = OutFolder::open(&dir.path().join("link")).unwrap();
        assert_eq!(folder.0, dir.path().canonicalize().unwrap());
        for number in 2..FILES_MAX {
            assert!(number > 2 || folder.file("fix.json").is_ok());
            std::fs::write(dir.path().join(number.to_string()), "").unwrap();
        }
        assert!(folder.file("fix.json").is_err_and(|error| error.cause.contains("1000 files")));
    }

    #[test]
    fn the_command_for_a_person_names_the_same_clusters() {
        use clap::Parser as _;
        let line = ["trueup", "mcp", "--kubeconfig", "/k/a b", "--context", "x;rm", "--context", "y"];
        let cli = super::super::super::args::Cli::try_parse_from(line).unwrap();
        let command = for_person("trueup apply", &cli.globals, "/plans/fix.json");
        assert_eq!(&*command, "trueup apply /plans/fix.json --kubeconfig '/k/a b' --context 'x;rm' --context y");
    }
}
