//! What `trueup version` says about the build: the commit, and compiler, target and profile.
//!
//! Invariants: no time and no path of this machine, so that the same sources and compiler give the same bytes.
//!
//! The commit is `TRUEUP_COMMIT`, else that of the git repository these sources are the top of, else that of a crate
//! archive (`.cargo_vcs_info.json`), else unknown. Debug builds do not ask git: every commit would compile them again.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=TRUEUP_COMMIT");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let profile = variable("PROFILE");
    let is_release = profile == "release";
    let given = Some(variable("TRUEUP_COMMIT")).filter(|commit| !commit.is_empty());
    let commit = given.or_else(|| git_commit().filter(|_| is_release)).or_else(archived_commit);
    println!("cargo:rustc-env=TRUEUP_BUILD_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
    println!("cargo:rustc-env=TRUEUP_BUILD={} {} {profile}", rustc_version(), variable("TARGET"));
}

/// The commit of the repository whose top folder this is: an archive that was unpacked in another repository is not of it.
fn git_commit() -> Option<String> {
    let top = git(&["rev-parse", "--show-toplevel"])?;
    let here = env::var("CARGO_MANIFEST_DIR").ok()?;
    if Path::new(&top).canonicalize().ok()? != Path::new(&here).canonicalize().ok()? {
        return None;
    }
    for file in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", file])?;
        if Path::new(&path).exists() {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    git(&["rev-parse", "HEAD"])
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// The commit that `cargo package` noted: `{ "git": { "sha1": "…" } }`.
fn archived_commit() -> Option<String> {
    let text = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = text.split_once("\"sha1\"")?;
    let commit: String =
        rest.chars().skip_while(|letter| *letter != '"').skip(1).take_while(|letter| *letter != '"').collect();
    (commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(commit)
}

/// `rustc-1.95.0`
fn rustc_version() -> String {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(rustc).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.split_whitespace().take(2).collect::<Vec<_>>().join("-")
}
