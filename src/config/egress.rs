//! `[egress]`: hosts that may receive this machine's own cloud identity, beside the provider's own.

use super::Problems;
use trueup_checks::{SettingsProblem, SettingsTable};
use trueup_net::{Egress, HostPort};

const KNOWN_KEYS: [&str; 1] = ["allow"];

pub(super) fn read(root: &SettingsTable, problems: &mut Problems) -> Egress {
    let Some(table) = problems.keep_given(root.take_table("egress")) else { return Egress::default() };
    problems.extend(table.unknown_keys(&KNOWN_KEYS));
    let hosts = problems.keep_given(table.take_strings("allow")).unwrap_or_default();
    let host = |text: toml::Spanned<&str>| {
        let host = HostPort::parse(text.get_ref());
        problems.keep(host.map_err(|error| SettingsProblem::at(text.span(), error.to_string())))
    };
    Egress::new(hosts.into_iter().filter_map(host).collect::<Vec<_>>())
}
