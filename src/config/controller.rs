//! `[controller]`: what `trueup run` does.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::time::Duration;

use super::Problems;
use super::clusters::CLASSES;
use super::parse_duration;
use trueup_checks::registry::{Entry, announced};
use trueup_checks::{SettingsProblem, SettingsTable};
use trueup_controller::settings::{
    AUTO_TIER_MAX, AutoRule, CheckMode, ClusterScope, ControllerSettings, FourEyes, KEEP_MIN, NEVER_AUTO,
    PROPOSAL_TTL_MAX, SHARDS_MAX,
};
use trueup_core::engine::Tier;

const KNOWN_KEYS: [&str; 8] =
    ["shards", "proposal_ttl", "four_eyes", "clusters", "keep", "auto_deletes_per_hour", "settle", "mode"];
const RULE_KEYS: [&str; 4] = ["mode", "tier", "verdicts", "class"];

/// The word of a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Observe,
    Propose,
    Auto,
}

const WORDS: [(&str, Word); 3] = [("observe", Word::Observe), ("propose", Word::Propose), ("auto", Word::Auto)];

pub(super) fn read(root: &SettingsTable, entries: &[Entry], problems: &mut Problems) -> ControllerSettings {
    let defaults = ControllerSettings::default();
    let Some(table) = problems.keep_given(root.take_table("controller")) else { return defaults };
    problems.extend(table.unknown_keys(&KNOWN_KEYS));
    let shards = problems.keep_given(table.take_integer("shards", 1..=SHARDS_MAX.into()));
    let shards = shards.and_then(|count| u32::try_from(count).ok()).and_then(NonZeroU32::new);
    let deletes = problems.keep_given(table.take_integer("auto_deletes_per_hour", 0..=i64::MAX));
    let mut duration =
        |key, least, most, default| problems.keep_given(take_duration(table, key, least, most)).unwrap_or(default);
    let second = Duration::from_secs(1);
    ControllerSettings {
        shards: shards.unwrap_or(defaults.shards),
        proposal_ttl: duration("proposal_ttl", second, PROPOSAL_TTL_MAX, defaults.proposal_ttl),
        keep: duration("keep", KEEP_MIN, Duration::MAX, defaults.keep),
        settle: duration("settle", Duration::ZERO, Duration::MAX, defaults.settle),
        four_eyes: problems.keep_given(take_four_eyes(table)).unwrap_or(defaults.four_eyes),
        clusters: take_clusters(table, problems).unwrap_or(defaults.clusters),
        auto_deletes_per_hour: deletes.map_or(defaults.auto_deletes_per_hour, i64::unsigned_abs),
        modes: modes(table, entries, problems),
    }
}

fn take_duration(
    table: &SettingsTable,
    key: &str,
    least: Duration,
    most: Duration,
) -> Result<Option<Duration>, SettingsProblem> {
    let Some(text) = table.take_str(key)? else { return Ok(None) };
    let problem =
        |message: String| SettingsProblem::at(text.span(), format!("`{key}` in {}: {message}", table.title()));
    let span = parse_duration(text.get_ref()).map_err(|error| problem(error.to_string()))?;
    if span < least {
        return Err(problem(format!("must be at least {}", spelled(least))));
    }
    if span > most {
        return Err(problem(format!("must be at most {}", spelled(most))));
    }
    Ok(Some(span))
}

/// `7d` or `1s`: the limits are whole days or seconds.
fn spelled(span: Duration) -> String {
    match span.as_secs() {
        seconds if seconds.is_multiple_of(24 * 3600) => format!("{}d", seconds / (24 * 3600)),
        seconds => format!("{seconds}s"),
    }
}

fn take_four_eyes(table: &SettingsTable) -> Result<Option<FourEyes>, SettingsProblem> {
    let number = table.take_integer("four_eyes", 0..=4)?;
    Ok(number.map(|number| if number == 0 { FourEyes::Never } else { FourEyes::From(tier(number)) }))
}

fn tier(number: i64) -> Tier {
    let tier = u8::try_from(number).ok().and_then(|number| Tier::try_from(number).ok());
    tier.expect("numbers from 0 to 4 are tiers")
}

fn take_clusters(table: &SettingsTable, problems: &mut Problems) -> Option<BTreeSet<ClusterScope>> {
    let words = problems.keep_given(table.take_strings("clusters"))?;
    let known = ClusterScope::ALL.map(ClusterScope::as_str);
    let scope = |word: toml::Spanned<&str>| {
        let scope = ClusterScope::parse(word.get_ref());
        problems.keep(scope.ok_or_else(|| SettingsProblem::unknown(&word, "source of `clusters`", &known)))
    };
    Some(words.into_iter().filter_map(scope).collect())
}

fn modes(table: &SettingsTable, entries: &[Entry], problems: &mut Problems) -> BTreeMap<String, CheckMode> {
    let Some(modes) = problems.keep_given(table.take_table("mode")) else { return BTreeMap::new() };
    let known: Vec<&str> = entries.iter().map(|entry| entry.name.0).collect();
    let mut read = BTreeMap::new();
    for key in modes.keys() {
        let name = *key.get_ref();
        if !known.contains(&name) && !announced().contains(&name) {
            problems.push(SettingsProblem::unknown(&key, &format!("check in {}", modes.title()), &known));
            continue;
        }
        let Some(mode) = mode(modes, name, problems) else { continue };
        if let (NEVER_AUTO, CheckMode::Auto(_)) = (name, &mode) {
            let message = format!("`{name}` in {} is never auto: it changes who can log in", modes.title());
            problems.push(SettingsProblem::at(key.span(), message));
            continue;
        }
        read.insert(name.to_owned(), mode);
    }
    read
}

/// Reads a word, or a table with a rule.
fn mode(modes: &SettingsTable, name: &str, problems: &mut Problems) -> Option<CheckMode> {
    if let Ok(Some(table)) = modes.take_table(name) {
        return rule(table, problems);
    }
    Some(match problems.keep_given(modes.take_choice(name, &WORDS))? {
        Word::Observe => CheckMode::Observe,
        Word::Propose => CheckMode::Propose,
        Word::Auto => CheckMode::Auto(AutoRule { tier: Tier::T1, verdicts: BTreeSet::new(), classes: BTreeSet::new() }),
    })
}

/// Reads a list. An empty one is an error: without the key it would mean everything, and written it would mean nothing.
fn take_some<'t>(table: &'t SettingsTable, key: &str) -> Result<Option<Vec<toml::Spanned<&'t str>>>, SettingsProblem> {
    match table.take_strings(key)? {
        Some(words) if words.is_empty() => {
            Err(table.problem(format!("`{key}` in {} is empty; leave it out or name something", table.title())))
        }
        words => Ok(words),
    }
}

fn rule(table: &SettingsTable, problems: &mut Problems) -> Option<CheckMode> {
    problems.extend(table.unknown_keys(&RULE_KEYS));
    let word = match problems.keep(table.take_choice("mode", &WORDS))? {
        Some(word) => word,
        None => {
            problems.push(table.lacks("mode"));
            return None;
        }
    };
    let most = u8::from(AUTO_TIER_MAX).into();
    let number = problems.keep(table.take_integer("tier", 1..=most))?;
    let verdicts = problems.keep(take_some(table, "verdicts"))?;
    let classes = problems.keep(take_some(table, "class"))?;
    if word != Word::Auto {
        if number.is_some() || verdicts.is_some() || classes.is_some() {
            let message = format!("`tier`, `verdicts` and `class` in {} need mode = \"auto\"", table.title());
            problems.push(table.problem(message));
            return None;
        }
        return Some(if word == Word::Observe { CheckMode::Observe } else { CheckMode::Propose });
    }
    let tier = number.map_or(Tier::T1, tier);
    let verdicts: BTreeSet<String> =
        verdicts.unwrap_or_default().into_iter().map(|verdict| verdict.into_inner().to_owned()).collect();
    if tier > Tier::T1 && verdicts.is_empty() {
        let message = format!("`tier` in {} above 1 needs `verdicts`: only named verdicts are applied", table.title());
        problems.push(table.problem(message));
        return None;
    }
    let words = CLASSES.map(|(word, _)| word);
    let class = |word: toml::Spanned<&str>| {
        let class = CLASSES.iter().find(|(name, _)| name == word.get_ref()).map(|(_, class)| *class);
        problems.keep(class.ok_or_else(|| SettingsProblem::unknown(&word, "class", &words)))
    };
    let classes = classes.unwrap_or_default().into_iter().filter_map(class).collect();
    Some(CheckMode::Auto(AutoRule { tier, verdicts, classes }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse_config;
    use trueup_checks::registry;
    use trueup_core::world::RiskClass;

    fn parse(text: &str) -> Result<ControllerSettings, Vec<String>> {
        let parsed = parse_config(text, std::path::Path::new("/etc/trueup"), registry::entries());
        let lines = |problems: Vec<SettingsProblem>| problems.into_iter().map(|problem| problem.message).collect();
        parsed.map(|config| config.controller).map_err(lines)
    }

    #[test]
    fn without_the_table_everything_is_proposed_and_four_eyes_begin_at_t3() {
        let settings = parse("").unwrap();
        assert_eq!(settings, ControllerSettings::default());
        assert_eq!((settings.shards.get(), settings.four_eyes), (4, FourEyes::From(Tier::T3)));
        assert_eq!(settings.mode("hosted-oidc"), &CheckMode::Propose);
    }

    #[test]
    fn every_key_is_read() {
        let settings = parse(
            r#"
            [controller]
            shards = 12
            proposal_ttl = "7d"
            four_eyes = 0
            clusters = ["self", "guests", "workloads", "profiles"]
            keep = "1d"
            auto_deletes_per_hour = 0
            settle = "0s"
            [controller.mode]
            kubeconfig = { mode = "auto", tier = 1 }
            machineset-capacity = "auto"
            powervs-tags = { mode = "auto", tier = 3, verdicts = ["untagged"], class = ["dev", "stage"] }
            hosted-oidc = "observe"
            external-oidc = { mode = "propose" }
            "#,
        );
        let t1 = AutoRule { tier: Tier::T1, verdicts: BTreeSet::new(), classes: BTreeSet::new() };
        let tags = AutoRule {
            tier: Tier::T3,
            verdicts: ["untagged".to_owned()].into(),
            classes: [RiskClass::Dev, RiskClass::Stage].into(),
        };
        let modes = [
            ("kubeconfig", CheckMode::Auto(t1.clone())),
            ("machineset-capacity", CheckMode::Auto(t1)),
            ("powervs-tags", CheckMode::Auto(tags)),
            ("hosted-oidc", CheckMode::Observe),
            ("external-oidc", CheckMode::Propose),
        ];
        let expected = ControllerSettings {
            shards: NonZeroU32::new(12).unwrap(),
            proposal_ttl: PROPOSAL_TTL_MAX,
            four_eyes: FourEyes::Never,
            clusters: ClusterScope::ALL.into(),
            keep: KEEP_MIN,
            auto_deletes_per_hour: 0,
            settle: Duration::ZERO,
            modes: modes.map(|(name, mode)| (name.to_owned(), mode)).into(),
        };
        assert_eq!(settings, Ok(expected));
    }

    #[test]
    fn what_cannot_be_meant_is_an_error_with_the_way_out() {
        let rule = |rule: &str| format!("[controller.mode]\nhosted-oidc = {rule}");
        let cases = [
            (
                "an unknown key",
                "[controller]\nshard = 4".to_owned(),
                "unknown key `shard` in [controller]; did you mean `shards`?",
            ),
            (
                "no shard",
                "[controller]\nshards = 0".to_owned(),
                "`shards` in [controller] wants a whole number from 1 to 256, and got 0",
            ),
            (
                "too long",
                "[controller]\nproposal_ttl = \"8d\"".to_owned(),
                "`proposal_ttl` in [controller]: must be at most 7d",
            ),
            (
                "no time",
                "[controller]\nproposal_ttl = \"0s\"".to_owned(),
                "`proposal_ttl` in [controller]: must be at least 1s",
            ),
            ("kept too short", "[controller]\nkeep = \"1h\"".to_owned(), "`keep` in [controller]: must be at least 1d"),
            (
                "a source",
                "[controller]\nclusters = [\"guest\"]".to_owned(),
                "unknown source `guest` of `clusters`; did you mean `guests`?",
            ),
            (
                "a check",
                "[controller.mode]\nhosted-oid = \"auto\"".to_owned(),
                "unknown check `hosted-oid` in [controller.mode]; did you mean `hosted-oidc`?",
            ),
            (
                "a mode",
                rule("\"autom\""),
                "unknown value `autom` for `hosted-oidc` in [controller.mode]; did you mean `auto`?",
            ),
            (
                "T4",
                rule("{ mode = \"auto\", tier = 4, verdicts = [\"x\"] }"),
                "`tier` in [controller.mode.hosted-oidc] wants a whole number from 1 to 3, and got 4",
            ),
            (
                "T2 without verdicts",
                rule("{ mode = \"auto\", tier = 2 }"),
                "`tier` in [controller.mode.hosted-oidc] above 1 needs `verdicts`: only named verdicts are applied",
            ),
            ("no mode", rule("{ tier = 1 }"), "[controller.mode.hosted-oidc] needs `mode`"),
            (
                "a rule that proposes",
                rule("{ mode = \"propose\", tier = 1 }"),
                "`tier`, `verdicts` and `class` in [controller.mode.hosted-oidc] need mode = \"auto\"",
            ),
            (
                "no class",
                rule("{ mode = \"auto\", class = [] }"),
                "`class` in [controller.mode.hosted-oidc] is empty; leave it out or name something",
            ),
            (
                "logins",
                "[controller.mode]\nexternal-oidc = \"auto\"".to_owned(),
                "`external-oidc` in [controller.mode] is never auto: it changes who can log in",
            ),
        ];
        for (case, text, expected) in cases {
            assert_eq!(parse(&text), Err(vec![expected.to_owned()]), "case: {case}");
        }
    }
}
