//! Glyphs, names and colours of states and actions, as in the console.

use jiff::Timestamp;

use crate::cli::terminal::{Style, Terminal};
use trueup_core::engine::text::Charset;
use trueup_core::engine::{Action, Finding, ObjectRef, State};

/// The glyph of a state, its name, and the style of both.
pub fn state_mark(state: State, terminal: &Terminal) -> (char, &'static str, Style) {
    let (plain, word, style) = match state {
        State::Match => ('=', "ok", Style::Ok),
        State::Missing => ('+', "missing", Style::Missing),
        State::Extra => ('-', "extra", Style::Extra),
        State::Drift => ('~', "drift", Style::Drift),
        State::Stale => ('o', "stale", Style::Warn),
        State::Unknown => ('?', "unknown", Style::Muted),
        State::Error => ('!', "error", Style::Danger),
        State::Blocked => ('x', "blocked", Style::Muted),
    };
    let glyph = match terminal.charset {
        Charset::Unicode => state.glyph(),
        Charset::Ascii => plain,
    };
    (glyph, word, style)
}

/// `41d`: how long ago, in the largest unit that fits.
pub fn age(since: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second().saturating_sub(since.as_second()).max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// `openshift-config/old-secret`, or the name alone.
pub fn place(object: &ObjectRef) -> String {
    object.place()
}

/// `secret/old-client`, `machineset.machine.openshift.io/workers`: as `kubectl -o name` spells an object. Of a cloud resource
/// the cloud is the group, and the id the name: `vpc.ibm/r006-1`.
pub fn kubectl_name(object: &ObjectRef) -> String {
    let kind = object.kind.to_ascii_lowercase();
    match (&object.cloud, object.api_version.split_once('/')) {
        (Some(cloud), _) => format!("{kind}.{}/{}", cloud.cloud, cloud.id),
        (None, Some((group, _))) => format!("{kind}.{group}/{}", object.name),
        (None, None) => format!("{kind}/{}", object.name),
    }
}

/// Whether applying the plan would send an action.
pub fn would_run(action: &Action) -> bool {
    action.selected && action.blocked_by.is_empty()
}

/// Note about an accepted finding, with the state it would have.
pub fn accepted_note(finding: &Finding) -> Option<String> {
    let accepted = finding.accepted.as_ref()?;
    Some(format!("accepted until {} although {}: {}", accepted.until, accepted.state.as_str(), accepted.reason))
}

/// `1 action`, `2 actions`.
pub fn count(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}
