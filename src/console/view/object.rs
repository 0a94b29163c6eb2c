//! Text screens: an object, its events, the log.

use ratatui::layout::Rect;

use super::finder;
use super::paint::{Painter, PaneFocus};
use super::references;
use super::states;
use super::text::{Line, wrapped};
use crate::console::hits::Hit;
use crate::console::keymap::Action;
use crate::console::model::{Model, ObjectTab};
use crate::console::theme::Role;
use trueup_core::redact::CredentialValues;

pub fn draw(model: &Model, area: Rect, painter: &mut Painter<'_>) {
    let Some(view) = &model.object else { return };
    let place = view.target.namespace.as_deref().map_or(String::new(), |namespace| format!("{namespace}/"));
    let tab = match view.tab {
        ObjectTab::Yaml if view.values == CredentialValues::Shown => "YAML, credentials shown".to_owned(),
        ObjectTab::Yaml if view.has_credentials() => {
            format!("YAML, masked; {}: reveal", model.screen_key(Action::Reveal))
        }
        ObjectTab::Yaml => "YAML, masked".to_owned(),
        ObjectTab::Events => "events".to_owned(),
        ObjectTab::References => "references".to_owned(),
        ObjectTab::OperatorLog => "operator log".to_owned(),
    };
    let title = Line::of(format!("{} {place}{}", view.target.kind, view.target.name), Role::Title)
        .and(format!(" {} {tab}", painter.glyphs().separator), Role::Muted);
    let class = model.fleet.class_of(&view.cluster);
    let right =
        Line::of(format!("{} ", view.cluster), Role::Text).and(painter.glyphs().class(class), Role::from(class));
    let inside = painter.pane(area, &title, &right, PaneFocus::Keys);
    painter.hit(area, Hit::Detail);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    match (view.tab, &view.sheet) {
        (ObjectTab::References | ObjectTab::OperatorLog, _) => {
            match references::lines(model, view, usize::from(inside.width)) {
                None => states::empty(inside, "Loading.", "", painter),
                Some(lines) => text(model, area, inside, lines, painter),
            }
        }
        (ObjectTab::Yaml | ObjectTab::Events, None) => states::empty(inside, "Loading.", "", painter),
        (ObjectTab::Yaml | ObjectTab::Events, Some(Err(why))) => {
            let next = format!("{}: retry", model.screen_key(Action::Refresh));
            states::empty(inside, &format!("Cannot show the object: {why}."), &next, painter);
        }
        (ObjectTab::Yaml | ObjectTab::Events, Some(Ok(_))) => {
            text(model, area, inside, lines(model, usize::from(inside.width)), painter);
        }
    }
}

fn text(model: &Model, area: Rect, inside: Rect, lines: Vec<Line>, painter: &mut Painter<'_>) {
    let lines = finder::marked(model, lines);
    painter.lines(inside, &lines, model.scroll);
    painter.thumb(area.right() - 1, inside, lines.len(), model.scroll);
}

/// Text of the object screen.
pub fn lines(model: &Model, width: usize) -> Vec<Line> {
    if let Some(view) = model.object.as_ref().filter(|view| !matches!(view.tab, ObjectTab::Yaml | ObjectTab::Events)) {
        return references::lines(model, view, width).unwrap_or_default();
    }
    let Some(Some(Ok(sheet))) = model.object.as_ref().map(|view| &view.sheet) else { return Vec::new() };
    match model.object.as_ref().map(|view| view.tab) {
        Some(ObjectTab::Yaml | ObjectTab::References | ObjectTab::OperatorLog) | None => {
            sheet.yaml.iter().flat_map(|line| yaml_line(line, width)).collect()
        }
        Some(ObjectTab::Events) => match &sheet.events {
            Err(why) => wrapped(why, width, 0, Role::Error),
            Ok(events) if events.is_empty() => vec![Line::of("No recent events.", Role::Muted)],
            Ok(events) => events.iter().flat_map(|event| wrapped(event, width, 4, Role::Text)).collect(),
        },
    }
}

/// Keys in one colour, values in another.
fn yaml_line(line: &str, width: usize) -> Vec<Line> {
    match line.split_once(": ") {
        Some((key, value)) if key.len() + value.len() + 2 <= width => {
            vec![Line::of(format!("{key}: "), Role::Muted).and(value, Role::Text)]
        }
        Some(_) | None => wrapped(line, width, 4, Role::Text),
    }
}

pub fn draw_log(model: &Model, area: Rect, painter: &mut Painter<'_>) {
    let inside = painter.pane(area, &Line::of("Log", Role::Title), &Line::blank(), PaneFocus::Keys);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    if model.log.is_empty() {
        states::empty(inside, "The log is empty.", "", painter);
        return;
    }
    let lines = finder::marked(model, log_lines(model, usize::from(inside.width)));
    painter.lines(inside, &lines, model.scroll);
    painter.thumb(area.right() - 1, inside, lines.len(), model.scroll);
}

pub fn log_lines(model: &Model, width: usize) -> Vec<Line> {
    model.log.iter().flat_map(|line| wrapped(line, width, 4, Role::Text)).collect()
}
