//! `[egress]`: hosts that may receive this machine's own cloud identity beside the provider's own, and what kubeconfigs out
//! of Secrets may use.

use std::collections::BTreeSet;

use super::Problems;
use trueup_checks::{SettingsProblem, SettingsTable};
use trueup_net::{Egress, Exemption, HostPort};

const KNOWN_KEYS: [&str; 2] = ["allow", "guests"];

pub(super) fn read(root: &SettingsTable, problems: &mut Problems) -> Egress {
    let Some(table) = problems.keep_given(root.take_table("egress")) else { return Egress::default() };
    problems.extend(table.unknown_keys(&KNOWN_KEYS));
    let hosts = problems.keep_given(table.take_strings("allow")).unwrap_or_default();
    let host = |text: toml::Spanned<&str>| {
        let host = HostPort::parse(text.get_ref());
        problems.keep(host.map_err(|error| SettingsProblem::at(text.span(), error.to_string())))
    };
    let allow = hosts.into_iter().filter_map(host).collect::<Vec<_>>();
    Egress::new(allow).with_guests(guests(table, problems))
}

fn guests(table: &SettingsTable, problems: &mut Problems) -> Vec<(String, BTreeSet<Exemption>)> {
    let Some(guests) = problems.keep_given(table.take_table("guests")) else { return Vec::new() };
    let mut read = Vec::new();
    for name in guests.keys() {
        let words = problems.keep_given(guests.take_strings(name.get_ref())).unwrap_or_default();
        let word = |text: toml::Spanned<&str>| {
            let known = Exemption::ALL.map(Exemption::as_str);
            let word = Exemption::parse(text.get_ref());
            problems.keep(word.ok_or_else(|| SettingsProblem::unknown(&text, "word", &known)))
        };
        let words: BTreeSet<Exemption> = words.into_iter().filter_map(word).collect();
        read.push(((*name.get_ref()).to_owned(), words));
    }
    read
}
