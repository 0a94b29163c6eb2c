//! `trueup version`: the version, the commit and the build of this program.
//!
//! Elsewhere: where commit and build come from (`build.rs`).

use serde_json::json;

use super::args::{ExplainFormat, VersionArgs};
use super::error::CliError;
use super::terminal::print;
use trueup_core::engine::text::Printable;

pub fn run(args: &VersionArgs) -> Result<u8, CliError> {
    let (version, commit, build) = (env!("CARGO_PKG_VERSION"), env!("TRUEUP_BUILD_COMMIT"), env!("TRUEUP_BUILD"));
    let text = match args.format {
        ExplainFormat::Table => Printable::lines(&format!("trueup {version}\ncommit {commit}\nbuild  {build}")),
        ExplainFormat::Json => {
            let value = json!({ "version": version, "commit": commit, "build": build });
            Printable::json(&format!("{value:#}"))
        }
    };
    print(&text.ended())?;
    Ok(0)
}
