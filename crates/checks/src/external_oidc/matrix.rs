//! The identity matrix: who issues tokens for each cluster, for whom, what becomes of them, and how long the CA lasts.
//!
//! Invariants: a cluster that could not be read is a row that says so; only known values are compared with each other.
//! Elsewhere: whether one cluster's spec can work (`validate`).

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::context::CheckContext;
use super::gates::Gates;
use super::login::{Answer, Token, login};
use super::names::CONFIG_NAMESPACE;
use super::pem::latest_end;
use super::present::WHO_PROMPT;
use super::render::{filled, groups_expression, username_expression, username_prefix};
use super::spec::{AuthSpec, Provider};
use crate::hosted_oidc::{AuthBlock, HostedContext};
use crate::present::{FleetCell, FleetRow, FleetTable, RowKnowledge};
use trueup_core::world::{Cluster, Gap, Link, View};

const COLUMNS: [&str; 5] = ["ISSUER", "AUDIENCE", "USERNAME", "GROUPS", "CA UNTIL"];
const WHO: &str = "WHO";
/// Where a CA that ends within this time is marked.
const EXPIRING: SignedDuration = SignedDuration::from_hours(30 * 24);

/// What is known of one cluster.
enum Known {
    Provider {
        cells: [String; 4],
        ca: CaEnd,
        who: Option<String>,
    },
    /// Another type than OIDC, or no provider.
    Other(String),
    Unread(String),
}

/// How long the provider's CA is valid.
enum CaEnd {
    SystemRoots,
    At(Timestamp),
    /// Why no end is known.
    NotKnown(&'static str),
}

/// The matrix of every cluster that has an Authentication or a HostedCluster. With a token, also who it is on each.
pub fn identity_matrix(view: View<'_>, token: Option<&Token>) -> FleetTable {
    let clusters = view.clusters().filter(|cluster| !cluster.source.is_account());
    let known: Vec<(&Cluster, Known)> = clusters.filter_map(|one| Some((one, of_cluster(view, one, token)?))).collect();
    let usual: [Option<String>; 4] = std::array::from_fn(|column| {
        usual(known.iter().filter_map(|(_, one)| match one {
            Known::Provider { cells, .. } => Some(cells[column].as_str()),
            Known::Other(_) | Known::Unread(_) => None,
        }))
    });
    let rows = known.into_iter().map(|(cluster, one)| row(cluster, one, &usual, view.now)).collect();
    let columns = COLUMNS.into_iter().chain(token.map(|_| WHO)).collect();
    FleetTable { title: "Identity matrix", columns, rows, question: Some(WHO_PROMPT), note: String::new() }
}

fn row(cluster: &Cluster, known: Known, usual: &[Option<String>; 4], now: Timestamp) -> FleetRow {
    let knowledge = if matches!(known, Known::Unread(_)) { RowKnowledge::NotKnown } else { RowKnowledge::Known };
    let (cells, note) = match known {
        Known::Other(note) => (Vec::new(), note),
        Known::Unread(why) => (Vec::new(), format!("? {why}")),
        Known::Provider { cells, ca, who } => {
            let compared = cells.into_iter().zip(usual).map(|(text, usual)| match usual {
                Some(usual) if *usual != text => FleetCell::Odd(text),
                Some(_) | None => FleetCell::Usual(text),
            });
            let who = who.map(FleetCell::Usual);
            (compared.chain([ca_cell(&ca, now)]).chain(who).collect(), String::new())
        }
    };
    FleetRow { cluster: cluster.name.clone(), class: cluster.class, cells, note, knowledge }
}

/// The value that more than half of the clusters have.
fn usual<'v>(values: impl Iterator<Item = &'v str>) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    let all: usize = counts.values().sum();
    counts.into_iter().find(|(_, count)| count * 2 > all).map(|(value, _)| value.to_owned())
}

fn ca_cell(ca: &CaEnd, now: Timestamp) -> FleetCell {
    match ca {
        CaEnd::SystemRoots => FleetCell::Usual("system roots".to_owned()),
        CaEnd::NotKnown(why) => FleetCell::Odd(format!("? {why}")),
        CaEnd::At(end) => {
            let (left, day) = (end.duration_since(now), end.strftime("%Y-%m-%d").to_string());
            match (left.is_negative() || left.is_zero(), left < EXPIRING) {
                (true, _) => FleetCell::Odd(format!("{day}, expired")),
                (false, true) => FleetCell::Odd(format!("{day}, in {}d", left.as_hours() / 24)),
                (false, false) => FleetCell::Usual(day),
            }
        }
    }
}

/// Nothing where the cluster has neither an Authentication of its own nor a HostedCluster.
fn of_cluster(view: View<'_>, cluster: &Cluster, token: Option<&Token>) -> Option<Known> {
    if let Some(found) = HostedContext::of_guest(view, &cluster.name) {
        return Some(
            found.map_or_else(|gap| Known::Unread(gap.message.to_string()), |context| of_hosted(&context, token)),
        );
    }
    let Some(context) = CheckContext::of(view, &cluster.name) else {
        return match &cluster.link {
            Link::Failed { gap } | Link::Degraded { gap, .. } | Link::AuthExpired { gap, .. } => {
                Some(Known::Unread(gap.message.to_string()))
            }
            Link::Idle | Link::Connecting | Link::Listing { .. } | Link::Live { .. } | Link::Recorded => None,
        };
    };
    let missing = |what: &str, gap: &Gap| Known::Unread(format!("{what}: {gap}"));
    let authentication = match context.authentication.known() {
        Err(gap) => return Some(missing("Authentication", &gap)),
        Ok(None) => return Some(Known::Other("no Authentication/cluster".to_owned())),
        Ok(Some(authentication)) => authentication,
    };
    let gates = match &context.gates {
        Ok(gates) => gates,
        Err(gap) => return Some(missing("FeatureGate", gap)),
    };
    let ca = |name: &str| match context.bundle(CONFIG_NAMESPACE, name).known() {
        Err(_) => CaEnd::NotKnown("not read"),
        Ok(bundle) => ca_end(bundle.and_then(|bundle| bundle.text.as_deref())),
    };
    Some(of_spec(&authentication.spec, gates, ca, token, view.now))
}

fn of_hosted(context: &HostedContext<'_>, token: Option<&Token>) -> Known {
    match &context.cluster.block {
        AuthBlock::Absent => Known::Other("type IntegratedOAuth".to_owned()),
        AuthBlock::TypeEmpty => Known::Unread("spec.configuration.authentication has no type".to_owned()),
        AuthBlock::Unreadable(why) => Known::Unread(format!("spec.configuration.authentication: {why}")),
        AuthBlock::Given(candidate) => {
            let ca = |name: &str| match context.ca_bundle(name).known() {
                Err(_) => CaEnd::NotKnown("not read"),
                Ok(bundle) => ca_end(bundle.and_then(|bundle| bundle.text.as_deref())),
            };
            of_spec(&candidate.spec, &context.gates(), ca, token, context.now())
        }
    }
}

fn ca_end(text: Option<&str>) -> CaEnd {
    match text {
        None | Some("") => CaEnd::NotKnown("missing"),
        Some(text) => latest_end(text).map_or(CaEnd::NotKnown("unreadable"), CaEnd::At),
    }
}

fn of_spec(spec: &AuthSpec, gates: &Gates, ca: impl Fn(&str) -> CaEnd, token: Option<&Token>, now: Timestamp) -> Known {
    if !spec.is_oidc() {
        return Known::Other(format!("type {}", spec.kind.as_str()));
    }
    let Some(provider) = spec.providers.first() else { return Known::Other("type OIDC, no provider".to_owned()) };
    let cells = [
        provider.issuer_url().to_owned(),
        provider.issuer.audiences.join(", "),
        username(provider, gates),
        groups(provider, gates),
    ];
    let ca = filled(provider.issuer.ca.as_deref()).map_or(CaEnd::SystemRoots, ca);
    let who = token.map(|token| match login(spec, gates, token, now) {
        Answer::Accepted(identity) => identity.username,
        Answer::Refused(refusal) => format!("refused by {}", refusal.by.as_str()),
        Answer::NotVerifiable(why) => format!("? {why}"),
    });
    Known::Provider { cells, ca, who }
}

fn username(provider: &Provider, gates: &Gates) -> String {
    match username_expression(provider, gates) {
        Some(expression) => expression.to_owned(),
        None => {
            let claim = provider.mappings.username.claim.as_deref().unwrap_or_default();
            format!("{}{claim}", username_prefix(&provider.mappings.username, provider.issuer_url()))
        }
    }
}

fn groups(provider: &Provider, gates: &Gates) -> String {
    let groups = &provider.mappings.groups;
    match (groups_expression(provider, gates), filled(groups.claim.as_deref())) {
        (Some(expression), _) => expression.to_owned(),
        (None, Some(claim)) => format!("{}{claim}", groups.prefix.as_deref().unwrap_or_default()),
        (None, None) => "-".to_owned(),
    }
}
