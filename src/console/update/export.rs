//! Copies, commands and files.
//!
//! Invariants: everything that leaves is [`Printable`]; names and values come from clusters and may hold anything.

use super::act::say;
use crate::console::effect::{Effects, TerminalRequest};
use crate::console::model::{ExportForm, Model, Pane, PlanSheet, ScreenId};
use crate::console::task::{SavedFile, Task};
use crate::console::view;
use crate::render::{csv, markdown};
use trueup_checks::Panel;
use trueup_checks::judgements::CurrentJudgement;
use trueup_core::engine::text::{Printable, ShellCommand};
use trueup_core::engine::{ObjectRef, SubjectId};
use trueup_core::world::Provider;

/// Copies the name of the selected row.
pub fn copy(model: &mut Model) -> Effects {
    let line = |text: String| Printable::line(&text);
    let text = match model.screen() {
        ScreenId::Fleet => model.fleet.list.cursor().map(|name| line(name.to_string())),
        ScreenId::Check(_) => model.subject().map(|subject| line(subject.to_string())),
        ScreenId::Plan => model.plan.as_ref().map(|sheet| line(sheet.plan.id.clone())),
        ScreenId::Activity => model.activity.cursor().map(|row| line(row.entry.plan.clone())),
        ScreenId::Object | ScreenId::Logs => Some(view::text_of(model)),
        ScreenId::Timeline => None,
        ScreenId::Expiry => model.expiry.list.cursor().map(|id| line(id.subject.to_string())),
    };
    copied(model, text)
}

/// Copies the command shown in the focused detail, else the kubectl command of the selected object.
pub fn copy_command(model: &mut Model) -> Effects {
    let text = match model.screen() {
        ScreenId::Check(_) if model.pane == Pane::Detail && shown_command(model).is_some() => shown_command(model),
        ScreenId::Check(_) => model.subject().and_then(|subject| match &subject.cloud {
            Some(place) => cloud_command(Some(place.provider), place.crn.as_deref(), &subject.name),
            None => Some(command(subject.cluster.as_str(), subject.kind, subject.namespace.as_deref(), &subject.name)),
        }),
        ScreenId::Plan => {
            model.plan.as_ref().and_then(PlanSheet::cursor).and_then(|action| match &action.target.cloud {
                Some(cloud) => cloud_command(Provider::parse(&cloud.cloud), cloud.crn.as_deref(), &cloud.id),
                None => {
                    let ObjectRef { kind, namespace, name, .. } = &action.target;
                    Some(command(&action.cluster, kind, namespace.as_deref(), name))
                }
            })
        }
        ScreenId::Object => model.object.as_ref().map(|view| {
            let ObjectRef { kind, namespace, name, .. } = &view.target;
            command(view.cluster.as_str(), kind, namespace.as_deref(), name)
        }),
        ScreenId::Fleet => {
            let of = |name: &str| ShellCommand::new("kubectl").option("--context", name).words("cluster-info").line();
            model.fleet.list.cursor().map(|name| of(name.as_str()))
        }
        ScreenId::Activity => model.activity.cursor().map(|row| {
            ShellCommand::new("trueup history show").operand(trueup_core::engine::short_id(&row.entry.plan)).line()
        }),
        ScreenId::Logs | ScreenId::Expiry | ScreenId::Timeline => None,
    };
    copied(model, text)
}

/// The command shown by a panel of the detail.
fn shown_command(model: &Model) -> Option<Printable> {
    model.detail.content.as_ref()?.panels.iter().find_map(|panel| match panel {
        Panel::Command { command, .. } => Some(command.clone()),
        Panel::Lines { .. } | Panel::Strip { .. } | Panel::Chain { .. } | Panel::Bar { .. } => None,
    })
}

/// Opens the text of the screen in the pager.
pub fn page(model: &mut Model) -> Effects {
    let text = view::text_of(model);
    if text.is_empty() {
        return say(model, "no text on this screen");
    }
    Effects { terminal: vec![TerminalRequest::Page(text)], redraw: true, ..Effects::default() }
}

/// Writes the shown rows, in their order, to a file.
pub fn export(model: &mut Model, form: ExportForm) -> Effects {
    let Some(check) = model.check() else {
        return say(model, "only the list of a check can be exported");
    };
    let rows = check.order.window(0..usize::MAX).filter_map(|id| Some((&**id, model.findings.get(id)?)));
    let (file, text) = match form {
        ExportForm::Markdown => (SavedFile::ViewMarkdown, as_markdown(check.description.title, rows)),
        ExportForm::Csv => (SavedFile::ViewCsv, as_csv(rows)),
    };
    Effects::redraw().with(Task::Save { file, text })
}

fn copied(model: &mut Model, text: Option<Printable>) -> Effects {
    match text {
        Some(text) => {
            let shown = text.lines().next().unwrap_or_default().to_owned();
            model.toasts.info(format!("copied: {shown}"), model.now);
            Effects { terminal: vec![TerminalRequest::Copy(text)], redraw: true, ..Effects::default() }
        }
        None => say(model, "nothing to copy here"),
    }
}

fn command(cluster: &str, kind: &str, namespace: Option<&str>, name: &str) -> Printable {
    let command = ShellCommand::new("kubectl").option("--context", cluster).words("get").operand(&kind.to_lowercase());
    let command = if name == "*" { command } else { command.operand(name) };
    let command = match namespace {
        Some(namespace) => command.option("-n", namespace),
        None => command,
    };
    command.words("-o yaml").line()
}

/// The command that finds a cloud resource: by its CRN, where it has one.
fn cloud_command(provider: Option<Provider>, crn: Option<&str>, id: &str) -> Option<Printable> {
    let query = crn.map_or_else(|| id.to_owned(), |crn| format!("crn:\"{crn}\""));
    Some(ShellCommand::new(provider?.search_command()?).operand(&query).line())
}

fn as_markdown<'a>(title: &str, rows: impl Iterator<Item = (&'a SubjectId, &'a CurrentJudgement)>) -> Printable {
    let mut lines = vec![format!("# {title}"), String::new()];
    lines.extend(markdown::header(&["state", "object", "cluster", "verdict", "since"]));
    for (id, held) in rows {
        let place = id.namespace.as_deref().map_or(String::new(), |namespace| format!("{namespace}/"));
        let object = format!("{} {place}{}", id.kind, id.called());
        let (state, verdict) = (held.judgement.state.as_str(), held.judgement.verdict);
        lines.push(markdown::row([state, &object, id.cluster.as_str(), verdict, &held.since.to_string()]));
    }
    Printable::lines(&lines.join("\n")).ended()
}

pub fn as_csv<'a>(rows: impl Iterator<Item = (&'a SubjectId, &'a CurrentJudgement)>) -> Printable {
    let cells = |(id, held): (&SubjectId, &CurrentJudgement)| {
        [
            held.judgement.state.as_str().to_owned(),
            id.kind.to_owned(),
            id.namespace.clone().unwrap_or_default(),
            id.name.clone(),
            id.cluster.to_string(),
            held.judgement.verdict.to_owned(),
            held.judgement.codes.join(" "),
            held.since.to_string(),
        ]
    };
    csv::table(["state", "kind", "namespace", "name", "cluster", "verdict", "codes", "since"], rows.map(cells))
}
