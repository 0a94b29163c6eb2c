//! Objects of former OIDC providers outside `openshift-config`: in the control plane's namespace, and the console's
//! mirror of the issuer's CA. Neither HyperShift nor the console operator removes them.
//!
//! Invariants: a leftover is judged by its own marks, not by the guest's copy; what isn't known makes it `unknown`.
//!
//! Elsewhere: the marks (`ownership`), the deletes (`remedy`).

use super::context::CheckContext;
use super::facts::{Bundle, BundleOwner, Origin, SourceMark};
use super::judge::{hosted, rule, undecided};
use super::names::{CONSOLE_OWN_BUNDLES, CopyKind, INJECT_LABEL};
use super::ownership::{is_marked_for, source_has_fingerprint};
use super::ruling::Ruling;
use super::settings::Settings;
use super::verdict::{Code, Verdict};
use trueup_core::world::{DeletionState, Restoration};

/// The names of one kind that this guest's judgement calls orphans.
pub fn orphans<'s>(
    context: &'s CheckContext<'_>,
    kind: CopyKind,
    settings: &'s Settings,
) -> impl Iterator<Item = &'s str> {
    let names = context.copies(kind).iter().map(|(key, _)| key.name.as_str());
    names.filter(move |name| is_orphan(context, kind, name, settings))
}

/// Whether the name is an orphan in the guest's `openshift-config`.
pub fn is_orphan(context: &CheckContext<'_>, kind: CopyKind, name: &str, settings: &Settings) -> bool {
    let ruling = rule(context, kind, name, settings);
    ruling.is_some_and(|ruling| matches!(ruling.verdict, Verdict::OrphanCertain | Verdict::OrphanProbable))
}

/// The names in the control plane's namespace that may be leftovers by their own marks.
pub fn marked_sources<'s>(context: &'s CheckContext<'_>, kind: CopyKind) -> impl Iterator<Item = &'s str> {
    let marks = context.sources(kind).into_iter().flat_map(|reading| reading.iter());
    let named = marks.map(|(key, mark)| (key.name.as_str(), mark));
    named.filter(move |(name, mark)| is_unreferenced(context, kind, name, mark)).map(|(name, _)| name)
}

/// Marked as referenced by this HostedCluster, and no text of its spec or its control plane's is its name.
fn is_unreferenced(context: &CheckContext<'_>, kind: CopyKind, name: &str, mark: &SourceMark) -> bool {
    let Ok(by) = &context.home else { return false };
    is_marked_for(by, mark)
        && !kind.protected_names().contains(&name)
        && mark.origin == Origin::Source
        && !hosted(context).any(|hosted| hosted.mentions(name))
}

/// Judges an object of the control plane's namespace; nothing when it is no leftover.
pub fn rule_source(context: &CheckContext<'_>, kind: CopyKind, name: &str, settings: &Settings) -> Option<Ruling> {
    let mark = context.source(kind, name).seen?;
    let content = context.current_content(kind, name, mark);
    if !is_orphan(context, kind, name, settings) {
        let differs = content.as_ref().is_ok_and(|content| !source_has_fingerprint(kind, content));
        if differs || !is_unreferenced(context, kind, name, mark) {
            return None;
        }
    }
    if mark.deletion_state == DeletionState::Terminating {
        return Some(Ruling::new(Verdict::Terminating));
    }
    let unread = content.err().map(Ruling::unknown);
    Some(unread.or_else(|| undecided(context, kind)).unwrap_or_else(|| leftover(mark.restoration)))
}

/// The names of ConfigMaps in the console's namespace that may be mirrors.
pub fn mirrors<'s>(context: &'s CheckContext<'_>) -> impl Iterator<Item = &'s str> {
    let maps = context.console_maps().iter().map(|(key, bundle)| (key.name.as_str(), bundle));
    maps.filter(move |(name, bundle)| is_unnamed_mirror(context, name, bundle)).map(|(name, _)| name)
}

/// Looks like the console operator's mirror of a CA, and no provider names such a CA.
fn is_unnamed_mirror(context: &CheckContext<'_>, name: &str, bundle: &Bundle) -> bool {
    let kind = CopyKind::ConfigMap;
    let by_guest = context.authentication.seen.is_some_and(|guest| guest.spec.providers.contains(kind, name));
    let wanted = context.control_plane.seen.map(|plane| &plane.hosted.authentication);
    let by_plane = wanted.is_some_and(|wanted| wanted.is_oidc() && wanted.providers.contains(kind, name));
    bundle.holds_ca_alone()
        && bundle.owner == BundleOwner::Console
        && bundle.meta.label(INJECT_LABEL).is_none()
        && !CONSOLE_OWN_BUNDLES.contains(&name)
        && !by_guest
        && !by_plane
}

/// Judges a ConfigMap of the console's namespace; nothing when it is no leftover.
pub fn rule_mirror(context: &CheckContext<'_>, name: &str, settings: &Settings) -> Option<Ruling> {
    let bundle = context.console_mirror(name)?;
    let kind = CopyKind::ConfigMap;
    if !is_unnamed_mirror(context, name, bundle) && !is_orphan(context, kind, name, settings) {
        return None;
    }
    if bundle.meta.is_terminating() {
        return Some(Ruling::new(Verdict::Terminating));
    }
    Some(undecided(context, kind).unwrap_or_else(|| leftover(bundle.meta.restoration)))
}

fn leftover(restoration: Restoration) -> Ruling {
    let ruling = Ruling::new(Verdict::Leftover);
    match restoration {
        Restoration::ByUndo => ruling.with(Code::Restored),
        Restoration::None => ruling,
    }
}
