//! `[[policy]]` and `[[accept]]`.

use super::Problems;
use super::clusters::{CLASSES, take_glob};
use trueup_checks::{SettingsProblem, SettingsTable};
use trueup_core::engine::{AcceptRule, Glob, PolicyEffect, PolicyRule, Tier, Verb};

const POLICY_KEYS: [&str; 8] = ["cluster", "class", "namespace", "kind", "verb", "deny", "cap", "tier"];

pub(super) fn policy(root: &SettingsTable, problems: &mut Problems) -> Vec<PolicyRule> {
    let tables = problems.keep(root.take_tables("policy")).unwrap_or_default();
    tables.into_iter().filter_map(|table| policy_rule(table, problems)).collect()
}

fn policy_rule(table: &SettingsTable, problems: &mut Problems) -> Option<PolicyRule> {
    problems.extend(table.unknown_keys(&POLICY_KEYS));
    let classes = CLASSES.map(|(word, _)| word);
    let verbs = Verb::ALL.map(Verb::as_str);
    let mut glob = |key: &str| problems.keep_given(take_glob(table, key));
    let (cluster, namespace, kind) = (glob("cluster"), glob("namespace"), glob("kind"));
    let class = problems.keep_given(take_glob_over(table, "class", &classes));
    let verb = problems.keep_given(take_glob_over(table, "verb", &verbs));
    let effect = effect(table, problems)?;
    Some(PolicyRule { cluster, class, namespace, kind, verb, effect })
}

/// Reads a pattern over known words: a pattern that matches none of them is an error, since its rule would never apply.
fn take_glob_over(table: &SettingsTable, key: &str, words: &[&str]) -> Result<Option<Glob>, SettingsProblem> {
    let glob = take_glob(table, key)?;
    let covers_none = glob.as_ref().is_some_and(|glob| !words.iter().any(|word| glob.matches(word)));
    match table.take_str(key)? {
        Some(text) if covers_none => Err(SettingsProblem::unknown(&text, key, words)),
        _ => Ok(glob),
    }
}

/// Reads exactly one of deny, cap and tier.
fn effect(table: &SettingsTable, problems: &mut Problems) -> Option<PolicyEffect> {
    let given: Vec<&str> = table.keys().map(toml::Spanned::into_inner).filter(|key| EFFECTS.contains(key)).collect();
    match given[..] {
        ["deny"] => {
            let reason = problems.keep_given(take_words(table, "deny"))?;
            Some(PolicyEffect::Deny(reason))
        }
        ["cap"] => {
            let most = problems.keep_given(table.take_integer("cap", 0..=i64::MAX))?;
            Some(PolicyEffect::Cap(most.unsigned_abs()))
        }
        ["tier"] => {
            let number = problems.keep_given(table.take_integer("tier", 1..=4))?;
            let tier = u8::try_from(number).ok().and_then(|number| Tier::try_from(number).ok());
            Some(PolicyEffect::Tier(tier.expect("numbers from 1 to 4 are tiers")))
        }
        [] => {
            problems.push(table.problem("[[policy]] needs one of `deny`, `cap` and `tier`"));
            None
        }
        _ => {
            let message = format!("[[policy]] takes one of `deny`, `cap` and `tier`, and has {}", given.join(" and "));
            problems.push(table.problem(message + "; write a rule for each"));
            None
        }
    }
}

const EFFECTS: [&str; 3] = ["cap", "deny", "tier"];

pub(super) fn accept(root: &SettingsTable, problems: &mut Problems) -> Vec<AcceptRule> {
    let tables = problems.keep(root.take_tables("accept")).unwrap_or_default();
    tables.into_iter().filter_map(|table| accept_rule(table, problems)).collect()
}

/// An accepted finding needs a reason and an end date, so that it does not stay forever.
fn accept_rule(table: &SettingsTable, problems: &mut Problems) -> Option<AcceptRule> {
    problems.extend(table.unknown_keys(&["finding", "reason", "until"]));
    let finding = required(table, "finding", take_glob(table, "finding"), problems);
    let reason = required(table, "reason", take_words(table, "reason"), problems);
    let until = required(table, "until", table.take_date("until"), problems);
    Some(AcceptRule { finding: finding?, reason: reason?, until: until? })
}

pub(super) fn required<T>(
    table: &SettingsTable,
    key: &str,
    read: Result<Option<T>, SettingsProblem>,
    problems: &mut Problems,
) -> Option<T> {
    problems.keep(read.and_then(|value| value.ok_or_else(|| table.lacks(key))))
}

/// Reads a non-empty text.
pub(super) fn take_words(table: &SettingsTable, key: &str) -> Result<Option<String>, SettingsProblem> {
    match table.take_str(key)? {
        Some(text) if text.get_ref().trim().is_empty() => {
            Err(SettingsProblem::at(text.span(), format!("`{key}` in {} says nothing", table.title())))
        }
        Some(text) => Ok(Some(text.into_inner().to_owned())),
        None => Ok(None),
    }
}
