//! `[safety]`: limits that apply to every plan.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::SignedDuration;

use super::Problems;
use super::parse_duration;
use trueup_checks::{SettingsProblem, SettingsTable};
use trueup_core::engine::{FreezeWindow, ManagedElsewhere, PlanLimits, TOMBSTONE_TIME};
use trueup_operate::Safety;

const KNOWN_KEYS: [&str; 10] = [
    "read_only",
    "kill_switch",
    "freeze",
    "recipients",
    "live_max",
    "settle",
    "keep",
    "plan_ttl",
    "plan_ttl_max",
    "managed_elsewhere",
];

const MANAGED_ELSEWHERE: [(&str, ManagedElsewhere); 2] =
    [("block", ManagedElsewhere::Block), ("warn", ManagedElsewhere::Warn)];

pub(super) fn read(root: &SettingsTable, folder: &Path, problems: &mut Problems) -> Safety {
    let Some(table) = problems.keep_given(root.take_table("safety")) else { return Safety::default() };
    problems.extend(table.unknown_keys(&KNOWN_KEYS));
    let defaults = Safety::default();
    let live_max = problems.keep_given(table.take_integer("live_max", 1..=10_000));
    Safety {
        read_only: problems.keep_given(table.take_bool("read_only")).unwrap_or(defaults.read_only),
        kill_switch: problems.keep_given(take_path(table, "kill_switch", folder)),
        freeze: take_each(
            table,
            "freeze",
            |text| FreezeWindow::parse(text).map_err(|error| error.to_string()),
            problems,
        ),
        recipients: take_each(table, "recipients", recipient, problems),
        live_max: live_max.and_then(|count| usize::try_from(count).ok()).unwrap_or(defaults.live_max),
        settle: problems.keep_given(take_duration(table, "settle")),
        keep: problems.keep_given(take_keep(table)).unwrap_or(defaults.keep),
        plans: take_limits(table, problems),
        managed_elsewhere: problems
            .keep_given(table.take_choice("managed_elsewhere", &MANAGED_ELSEWHERE))
            .unwrap_or_default(),
    }
}

/// Reads a path relative to the config: the kill switch must not depend on the working directory.
pub(super) fn take_path(table: &SettingsTable, key: &str, folder: &Path) -> Result<Option<PathBuf>, SettingsProblem> {
    let Some(text) = table.take_str(key)? else { return Ok(None) };
    let problem =
        |message: &str| Err(SettingsProblem::at(text.span(), format!("`{key}` in {} {message}", table.title())));
    match *text.get_ref() {
        "" => problem("is an empty path"),
        // A kill switch at a path that cannot exist would never stop anything.
        path if path == "~" || path.starts_with("~/") => {
            problem("starts with ~, which is not expanded; write the whole path")
        }
        path => Ok(Some(folder.join(path))),
    }
}

fn take_duration(table: &SettingsTable, key: &str) -> Result<Option<Duration>, SettingsProblem> {
    let Some(text) = table.take_str(key)? else { return Ok(None) };
    let span = parse_duration(text.get_ref());
    span.map(Some).map_err(|error| SettingsProblem::at(text.span(), format!("`{key}` in {}: {error}", table.title())))
}

/// How long plans may be valid. The default validity is at most the limit.
fn take_limits(table: &SettingsTable, problems: &mut Problems) -> PlanLimits {
    let defaults = PlanLimits::default();
    let mut take = |key: &str, default: SignedDuration| {
        let given = problems.keep_given(take_duration(table, key));
        given.and_then(|span| SignedDuration::try_from(span).ok()).unwrap_or(default)
    };
    let (ttl, ttl_max) = (take("plan_ttl", defaults.ttl), take("plan_ttl_max", defaults.ttl_max));
    if ttl > ttl_max {
        let span = table.take_str("plan_ttl").ok().flatten().map(|text| text.span()).unwrap_or_default();
        let message = format!("`plan_ttl` in {} is more than `plan_ttl_max`", table.title());
        problems.push(SettingsProblem::at(span, message));
    }
    PlanLimits { ttl, ttl_max }
}

/// Recently deleted objects must stay in the journal for as long as references to them are checked.
fn take_keep(table: &SettingsTable) -> Result<Option<Duration>, SettingsProblem> {
    let Some(keep) = take_duration(table, "keep")? else { return Ok(None) };
    let least = TOMBSTONE_TIME.unsigned_abs();
    if keep >= least {
        return Ok(Some(keep));
    }
    let span = table.take_str("keep")?.map(|text| text.span()).unwrap_or_default();
    let days = least.as_secs() / (24 * 3600);
    let message = format!("`keep` in {} is less than {days}d, the lifetime of tombstones", table.title());
    Err(SettingsProblem::at(span, message))
}

/// Reads a list of texts, each on its own.
fn take_each<T>(
    table: &SettingsTable,
    key: &str,
    read: impl Fn(&str) -> Result<T, String>,
    problems: &mut Problems,
) -> Vec<T> {
    let texts = problems.keep_given(table.take_strings(key)).unwrap_or_default();
    let read = |text: toml::Spanned<&str>| {
        problems.keep(read(text.get_ref()).map_err(|message| SettingsProblem::at(text.span(), message)))
    };
    texts.into_iter().filter_map(read).collect()
}

fn recipient(text: &str) -> Result<String, String> {
    if text.starts_with("age1") {
        Ok(text.to_owned())
    } else {
        // The value is not repeated: a private key is easily pasted here by mistake.
        Err("every entry of `recipients` must start with age1".to_owned())
    }
}
