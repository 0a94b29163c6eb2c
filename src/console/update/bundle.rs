//! The incident bundle: what the console knows now, as files of one archive.
//!
//! Invariants: pure. Everything here is on a screen or could be: values of Secrets are in none of it. What has to be read from
//! clusters (evidence, masked YAML, the journal) is named, and added where the archive is written.

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::act::object_of;
use super::export;
use crate::console::capture;
use crate::console::effect::Effects;
use crate::console::model::{ChangedThing, Model, ScreenId, Standing, link_word, rank, shown_name};
use crate::console::task::{BundleRequest, Task};
use crate::console::theme::{Theme, Themes};
use crate::console::view::{Appearance, view};
use crate::render::markdown;
use trueup_checks::judgements::CurrentJudgement;
use trueup_core::engine::text::Printable;
use trueup_core::engine::{State, SubjectId};

/// Findings whose evidence is added, worst first: each is explained from what is known.
const EXPLAINED_MAX: usize = 500;
/// Objects whose YAML is added: each is a request to its cluster.
const OBJECTS_MAX: usize = 50;
/// Rows of a table of the summary.
const ROWS_MAX: usize = 30;
/// Size of the pictured screens.
const PICTURE: (u16, u16) = (120, 40);

/// Requests the bundle.
pub fn write(model: &mut Model) -> Effects {
    let mut worst: Vec<(&SubjectId, &CurrentJudgement)> = model
        .findings
        .iter()
        .map(|(id, held)| (&**id, &**held))
        .filter(|(_, held)| held.judgement.state != State::Match)
        .collect();
    worst.sort_by_key(|(id, held)| (rank(held.judgement.state), *id));
    let findings: Vec<SubjectId> = worst.iter().take(EXPLAINED_MAX).map(|(id, _)| (*id).clone()).collect();
    let objects = worst.iter().filter_map(|(id, _)| object_of(id)).take(OBJECTS_MAX).collect();
    let rows = model.findings.iter().map(|(id, held)| (&**id, &**held));
    let mut files =
        vec![("summary.md".to_owned(), summary(model, &worst)), ("findings.csv".to_owned(), export::as_csv(rows))];
    files.extend(screens(model));
    let request = BundleRequest { at: model.now, zone: model.time_zone(), files, findings, objects };
    model.toasts.info("Writing the incident bundle.", model.now);
    Effects::redraw().with(Task::WriteBundle(Box::new(request)))
}

fn summary(model: &Model, worst: &[(&SubjectId, &CurrentJudgement)]) -> Printable {
    let (fleet, user) = match &model.standing {
        Standing::Running(start) => (start.fleet.as_str(), start.user.as_str()),
        Standing::Starting | Standing::Failed(_) => ("", ""),
    };
    let mut lines = vec![
        format!("# Incident bundle, {}", whole_second(model.now)),
        String::new(),
        format!(
            "trueup {}, fleet {}, by {}: {} clusters, {} findings, {} of them differ.",
            env!("CARGO_PKG_VERSION"),
            markdown::escaped(fleet),
            markdown::escaped(user),
            model.fleet.total(),
            model.findings.len(),
            worst.len()
        ),
    ];
    lines.extend(["", "## Clusters", ""].map(str::to_owned));
    lines.extend(markdown::header(&["cluster", "class", "source", "differences"]));
    for cluster in model.fleet.clusters() {
        let differences = model.findings.counts_in(&cluster.name).differences().to_string();
        let cells = [cluster.name.as_str(), cluster.class.as_str(), cluster.source.as_str(), differences.as_str()];
        lines.push(markdown::row(cells));
    }
    lines.extend(["", "## Findings, worst first", ""].map(str::to_owned));
    lines.extend(markdown::header(&["state", "object", "cluster", "verdict", "since"]));
    for (id, held) in worst.iter().take(ROWS_MAX) {
        let (state, verdict) = (held.judgement.state.as_str(), held.judgement.verdict);
        lines.push(markdown::row([state, &object(id), id.cluster.as_str(), verdict, &held.since.to_string()]));
    }
    lines.extend(more(worst.len(), "findings.csv"));
    lines.extend(changes(model));
    let contents = "`findings.csv`, `evidence.md`, `yaml/` (masked), `journal.jsonl`, `screens/`";
    lines.extend(["", "## Files", "", contents].map(str::to_owned));
    Printable::lines(&lines.join("\n")).ended()
}

/// The latest changes of the session.
fn changes(model: &Model) -> Vec<String> {
    let mut lines: Vec<String> = ["", "## Changes, latest first", ""].map(str::to_owned).into();
    let timeline = &model.timeline;
    if timeline.is_empty() {
        lines.push(format!("None since {}.", whole_second(timeline.began)));
        return lines;
    }
    lines.extend(markdown::header(&["time", "cluster", "object", "before", "after"]));
    let verdict = |held: Option<&CurrentJudgement>| held.map_or("absent", |held| held.judgement.verdict);
    for change in (0..timeline.count()).rev().take(ROWS_MAX).filter_map(|number| timeline.get(number)) {
        let time = whole_second(change.at);
        lines.push(match &change.what {
            ChangedThing::Finding { subject, before, after } => {
                let (was, is) = (verdict(before.as_deref()), verdict(after.as_deref()));
                markdown::row([time.as_str(), subject.cluster.as_str(), &object(subject), was, is])
            }
            ChangedThing::Link { before, after } => {
                let (was, is) = (link_word(&before.link), link_word(&after.link));
                markdown::row([time.as_str(), after.name.as_str(), "link", was, is])
            }
        });
    }
    lines
}

fn more(count: usize, file: &str) -> Option<String> {
    (count > ROWS_MAX).then(|| format!("\n{} more: {file}", count - ROWS_MAX))
}

fn object(id: &SubjectId) -> String {
    let place = id.namespace.as_deref().map_or(String::new(), |namespace| format!("{namespace}/"));
    format!("{} {place}{}", id.kind, shown_name(id))
}

fn whole_second(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The screen as it is, then Fleet and each check in one size, as text. The model is as before afterwards.
fn screens(model: &mut Model) -> Vec<(String, Printable)> {
    let (navigation, area) = (model.navigation.clone(), model.area);
    let shown = picture(model);
    let ground = capture::Palette::of(&theme_of(model));
    let mut files = vec![
        ("screens/shown.txt".to_owned(), capture::text(&shown)),
        ("screens/shown.svg".to_owned(), capture::svg(&shown, &ground)),
    ];
    (model.area.width, model.area.height) = PICTURE;
    let checks = model.checks.iter().enumerate().map(|(place, check)| (ScreenId::Check(place), check.name.0));
    let named: Vec<(ScreenId, &str)> = [(ScreenId::Fleet, "fleet")].into_iter().chain(checks).collect();
    for (screen, name) in named {
        model.navigation.go(screen);
        model.settle();
        files.push((format!("screens/{name}.txt"), capture::text(&picture(model))));
    }
    (model.navigation, model.area) = (navigation, area);
    model.settle();
    files
}

/// The theme in use, or the default where it is the user's own.
fn theme_of(model: &Model) -> Theme {
    Themes::built_in().resolve(&model.theme).unwrap_or_default()
}

fn picture(model: &Model) -> Buffer {
    let area = Rect::new(0, 0, model.area.width, model.area.height);
    let theme = theme_of(model);
    let mut buffer = Buffer::empty(area);
    view(model, &Appearance { theme, signs: model.signs }, area, &mut buffer);
    buffer
}
