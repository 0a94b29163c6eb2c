//! How this check is shown: a column with what is wanted beside what is, the way a switch takes, the nodes of a rollout,
//! the OAuth stack as a table, and the question who a token would be.

use super::availability::{Revision, auth_of_revision};
use super::console::listed;
use super::context::CheckContext;
use super::evidence::revision_message;
use super::facts::{Infrastructure, Node};
use super::judge::{PartExpectation, part_expectation};
use super::messages::awaited;
use super::names::{CONSOLE_NAMESPACE, INFRASTRUCTURE, KAS_NAMESPACE, MANAGED_NAMESPACE, SINGLETON};
use super::remedy::Operator;
use super::spec::Component;
use super::stack::{PARTS, Part};
use super::subjects::ResolvedSubject;
use crate::present::{Cell, CheckDescription, Column, Form, FormInput, Panel, Step};
use crate::workload::Workload;
use trueup_core::engine::State;
use trueup_core::engine::text::ShellCommand;
use trueup_core::world::{CollectionId, Key, Observation};

/// The form that asks for a token's claims.
pub const WHO_FORM: &str = "who";
/// What to type there.
pub const WHO_PROMPT: &str = "Claims (JSON) or token:";

pub const DESCRIPTION: CheckDescription = CheckDescription {
    title: "External OIDC",
    short: "OIDC",
    plural: "objects",
    message: "who may log in: what was asked for, what every node runs with, and what is left of the OAuth server",
    columns: &[Column::fixed("WANTED", 18, 4)],
    verdict_width: 16,
    forms: &[Form {
        name: WHO_FORM,
        title: "Who would I be with this token?",
        prompt: WHO_PROMPT,
        input: FormInput::Secret,
    }],
};

/// What is wanted beside what is.
pub fn cells(context: &CheckContext<'_>, subject: &ResolvedSubject) -> Vec<Cell> {
    let pair = |expected: String, actual: String| Cell::Pair { expected: expected.into(), actual: actual.into() };
    let cell = match subject {
        ResolvedSubject::Part(part) => match part_expectation(context, part) {
            PartExpectation::Wanted => pair("present".to_owned(), presence(context, part).to_owned()),
            PartExpectation::Unwanted => pair("absent".to_owned(), presence(context, part).to_owned()),
            PartExpectation::Either | PartExpectation::NotKnown(_) => Cell::Text(presence(context, part).into()),
        },
        ResolvedSubject::AuthConfig => {
            let wanted = context.checked().ok().and_then(|checked| checked.rendered.as_deref());
            pair(size(wanted), size(file(context, MANAGED_NAMESPACE)))
        }
        ResolvedSubject::KasCopy => pair(size(file(context, MANAGED_NAMESPACE)), size(file(context, KAS_NAMESPACE))),
        ResolvedSubject::Rollout => match context.kube_api_server.seen {
            None => Cell::Nothing,
            Some(kas) => {
                let there = kas.nodes.iter().filter(|node| runs_oidc(context, node)).count();
                Cell::Text(format!("{there} of {} on OIDC", kas.nodes.len()).into())
            }
        },
        ResolvedSubject::Authentication => match context.kind() {
            Ok(kind) => Cell::Text(kind.as_str().into()),
            Err(_) => Cell::Nothing,
        },
        ResolvedSubject::ObservedConfig
        | ResolvedSubject::Restrictions
        | ResolvedSubject::ConsoleCa { .. }
        | ResolvedSubject::ConsoleSecret
        | ResolvedSubject::OauthCopy(_)
        | ResolvedSubject::Namespace(_)
        | ResolvedSubject::Operator(_)
        | ResolvedSubject::Client { .. } => Cell::Nothing,
    };
    vec![cell]
}

fn presence(context: &CheckContext<'_>, part: &Part) -> &'static str {
    match context.part(part).known() {
        Err(_) => "not known",
        Ok(None) => "absent",
        Ok(Some(_)) => "present",
    }
}

fn size(text: Option<&str>) -> String {
    text.map_or_else(|| "absent".to_owned(), |text| format!("{} bytes", text.len()))
}

fn file<'a>(context: &CheckContext<'a>, namespace: &str) -> Option<&'a str> {
    context.auth_config(namespace).seen.and_then(|file| file.auth_config.as_deref())
}

fn runs_oidc(context: &CheckContext<'_>, node: &Node) -> bool {
    auth_of_revision(context, node.current) == Revision::Oidc
}

/// The operator that writes the object of a subject, or rolls it out.
pub fn operator(context: &CheckContext<'_>, subject: &ResolvedSubject) -> Workload {
    let operator = match subject {
        ResolvedSubject::Authentication | ResolvedSubject::AuthConfig | ResolvedSubject::Part(_) => {
            Operator::Authentication
        }
        ResolvedSubject::Restrictions | ResolvedSubject::Namespace(_) => Operator::Authentication,
        ResolvedSubject::KasCopy
        | ResolvedSubject::Rollout
        | ResolvedSubject::ObservedConfig
        | ResolvedSubject::OauthCopy(_) => Operator::KubeApiServer,
        ResolvedSubject::ConsoleCa { .. } | ResolvedSubject::ConsoleSecret | ResolvedSubject::Client { .. } => {
            Operator::Console
        }
        ResolvedSubject::Operator(operator) => *operator,
    };
    let (namespace, deployment) = match operator {
        Operator::Authentication => ("openshift-authentication-operator", "authentication-operator"),
        Operator::KubeApiServer => ("openshift-kube-apiserver-operator", "kube-apiserver-operator"),
        Operator::Console => ("openshift-console-operator", "console-operator"),
    };
    Workload::new(context.name(), namespace, deployment)
}

/// What else there is to see of a subject.
pub fn panels(context: &CheckContext<'_>, subject: &ResolvedSubject) -> Vec<Panel> {
    match subject {
        ResolvedSubject::Authentication => {
            let mut panels = vec![way(context)];
            panels.extend(log_in(context));
            panels
        }
        ResolvedSubject::Rollout => {
            let lines = vec![awaited(context)];
            vec![nodes(context), Panel::Lines { title: "NEXT", lines }, stack(context)]
        }
        ResolvedSubject::AuthConfig | ResolvedSubject::KasCopy | ResolvedSubject::ObservedConfig => vec![way(context)],
        ResolvedSubject::Part(_) | ResolvedSubject::Restrictions | ResolvedSubject::OauthCopy(_) => {
            vec![stack(context)]
        }
        ResolvedSubject::ConsoleCa { .. }
        | ResolvedSubject::ConsoleSecret
        | ResolvedSubject::Namespace(_)
        | ResolvedSubject::Operator(_)
        | ResolvedSubject::Client { .. } => Vec::new(),
    }
}

/// The way of a switch, from the wish to the last leftover.
fn way(context: &CheckContext<'_>) -> Panel {
    let link = |label: &str, subject: ResolvedSubject| {
        let ruling = context.ruling(&subject);
        let (state, note) = ruling.map_or((State::Match, ""), |ruling| (ruling.state, ruling.verdict.as_str()));
        Step::judged(label, state, note)
    };
    let left = PARTS.iter().map(|part| context.ruling(&ResolvedSubject::Part(part)));
    let states: Vec<State> = left.flatten().map(|ruling| ruling.state).filter(|state| *state != State::Match).collect();
    let to_look_at =
        if states.is_empty() { "as it should be".to_owned() } else { format!("{} to look at", states.len()) };
    let stack = Step::judged("OAuth objects", states.first().copied().unwrap_or(State::Match), to_look_at);
    Panel::Chain {
        title: "ROLLOUT",
        links: vec![
            link("Authentication", ResolvedSubject::Authentication),
            link("auth-config", ResolvedSubject::AuthConfig),
            link("copy", ResolvedSubject::KasCopy),
            link("arguments", ResolvedSubject::ObservedConfig),
            link("nodes", ResolvedSubject::Rollout),
            stack,
        ],
    }
}

fn nodes(context: &CheckContext<'_>) -> Panel {
    let nodes = context.kube_api_server.seen.map_or(&[][..], |kas| &kas.nodes);
    let wanted = context.authentication.seen.is_some_and(|authentication| authentication.spec.is_oidc());
    let step = |node: &Node| {
        let auth = auth_of_revision(context, node.current);
        let moving = node.target > 0 && node.target != node.current;
        let failing = node.last_failed.as_ref().is_some_and(|failed| failed.revision == node.target);
        let state = match (&auth, wanted) {
            _ if moving && failing => State::Error,
            (Revision::NotKnown(_), _) => State::Unknown,
            (Revision::Oidc, true) | (Revision::NoFile, false) => State::Match,
            (Revision::Oidc | Revision::Half(_), false) | (Revision::NoFile | Revision::Half(_), true) => State::Stale,
        };
        let way = if moving { format!("{} → {}", node.current, node.target) } else { node.current.to_string() };
        Step::judged(node.name.to_string(), state, revision_message(&auth)).with_value(way)
    };
    Panel::Strip { title: "NODES", steps: nodes.iter().map(step).collect() }
}

/// Every resource of the OAuth stack, a line each, under the namespace it is in.
fn stack(context: &CheckContext<'_>) -> Panel {
    let line = |part: &&'static Part| {
        let part_expectation = match part_expectation(context, part) {
            PartExpectation::Wanted => "wanted",
            PartExpectation::Unwanted => "unwanted",
            PartExpectation::Either => "either",
            PartExpectation::NotKnown(_) => "?",
        };
        let glyph = context.ruling(&ResolvedSubject::Part(part)).map_or('?', |ruling| ruling.state.glyph());
        let presence = presence(context, part);
        format!("{glyph} {part_expectation:<8} {presence:<7} {} {}", part.resource.kind, part.name)
    };
    let mut namespaces: Vec<Option<&str>> = Vec::new();
    for part in &PARTS {
        if !namespaces.contains(&part.namespace) {
            namespaces.push(part.namespace);
        }
    }
    let mut lines = Vec::new();
    for namespace in namespaces {
        lines.push(format!("in {}", namespace.unwrap_or("the whole cluster")));
        lines.extend(PARTS.iter().filter(|part| part.namespace == namespace).map(|part| line(&part)));
    }
    Panel::Lines { title: "OAUTH STACK", lines }
}

/// How people log in once OIDC is there: the command of the `cli` client. It is shown before, too.
fn log_in(context: &CheckContext<'_>) -> Option<Panel> {
    let spec = &context.authentication.seen?.spec;
    let component = Component { namespace: CONSOLE_NAMESPACE.to_owned(), name: "cli".to_owned() };
    let (provider, client) = listed(spec, &component)?;
    let id = CollectionId::all(context.name(), INFRASTRUCTURE);
    let server = match context.view.read::<Infrastructure>(&id).get(&Key::new(None, SINGLETON)) {
        Observation::Present(infrastructure) if !infrastructure.api_server_url.is_empty() => {
            &*infrastructure.api_server_url
        }
        Observation::Present(_) | Observation::ProvenAbsent(_) | Observation::Unknown(_) => "API_SERVER",
    };
    let command = ShellCommand::new("oc login")
        .operand(server)
        .option("--issuer-url", provider.issuer_url())
        .words("--exec-plugin oc-oidc")
        .option("--client-id", &client.client_id);
    let command = match client.extra_scopes.as_slice() {
        [] => command,
        scopes => command.option("--extra-scopes", &scopes.join(",")),
    };
    let title = if spec.is_oidc() { "LOG IN" } else { "LOG IN, ONCE ON OIDC" };
    Some(Panel::Command { title, command: command.line() })
}
