//! The approval dialog.
//!
//! Invariants: every name is shown in full and escaped, over several lines where necessary.

use ratatui::layout::{Position, Rect};
use unicode_width::UnicodeWidthStr as _;

use super::paint::{Painter, centered};
use super::text::{Line, wrap, wrapped};
use crate::console::hits::Hit;
use crate::console::keymap;
use crate::console::layout::DIALOG_MIN;
use crate::console::model::{Approval, Fits, Layer, Model, UserList, Users, is_teardown};
use crate::console::table::list_age;
use crate::console::terminal::Cursor;
use crate::console::theme::{GlyphSet, Glyphs, Role};
use trueup_checks::RelatedObject;
use trueup_core::engine::text::{Charset, printable};
use trueup_core::engine::{
    Action, Asks, Reason, Tier, Undo, Verb, consequences, reclaimable_days, short_id, source_line,
};
use trueup_core::world::RiskClass;

/// Lines of the box besides the list: two borders, the end of the list, a blank, two lines each for undo and the prompt,
/// the input, and its error.
const BESIDE: u16 = 10;
const WIDTH_MAX: u16 = 96;
const LINES_MAX: u16 = 20;
/// Column of the verb before an object's kind and name.
const VERB: usize = 8;

/// Visible part of the list.
pub fn fits(model: &Model) -> Fits {
    let (Some(Layer::Approval(approval)), Some(_)) = (&model.layer, model.layout()) else { return Fits::default() };
    let total = list_lines(model, approval, inner_width(model.area)).len();
    let most = model.area.height.max(DIALOG_MIN.1).saturating_sub(BESIDE + 2).min(LINES_MAX);
    Fits { lines: usize::from(most).min(total), total }
}

pub fn draw(model: &Model, approval: &Approval, area: Rect, painter: &mut Painter<'_>) {
    let Some(plan) = &model.plan else { return };
    let question = approval.question();
    let width = inner_width(area);
    let Fits { lines: shown, total } = fits(model);
    let mut below = undo_lines(&actions(model, approval), &plan.plan.id, width);
    let class = class_of(model, &question.cluster);
    let gap = model.unknown_users(approval);
    below.extend(match &gap {
        None => prompt(approval, &model.key(keymap::Action::Open), width),
        Some(why) => wrapped(&refusal(model, why), width, 0, Role::Error),
    });
    let height = u16::try_from(shown + below.len()).unwrap_or(area.height) + 6;
    let place = centered(area, outer_width(area), height);
    painter.dialog(place);
    painter.hit(place, Hit::Layer);
    let inside = painter.boxed(place, &title(model, approval, class), &step(approval));
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let shown = u16::try_from(shown).unwrap_or(0);
    painter.lines(Rect { height: shown, ..inside }, &list_lines(model, approval, width), approval.scroll);
    let mut y = inside.y + shown;
    let left = total.saturating_sub(approval.scroll + usize::from(shown));
    let end = match left {
        0 => Line::of("end of list", Role::Muted),
        1 => Line::of("1 more line below: scroll down", Role::Warn),
        left => Line::of(format!("{left} more lines below: scroll down"), Role::Warn),
    };
    painter.line_right(inside.right(), y, inside.width, &end);
    y += 2;
    for line in &below {
        painter.line(inside.x, y, inside.width, line);
        y += 1;
    }
    // Without a word to type there is no text field.
    if approval.takes_text() && gap.is_none() {
        let x = painter.text(inside.x, y, inside.width, "> ", Role::Accent);
        let x = painter.text(x, y, inside.right().saturating_sub(x), &approval.typed, Role::Accent);
        painter.cursor = Cursor::At(Position { x: x.min(inside.right().saturating_sub(1)), y });
    }
    if let Some(wrong) = &approval.wrong {
        painter.text(inside.x, y + 1, inside.width, wrong, Role::Error);
    }
}

fn outer_width(area: Rect) -> u16 {
    WIDTH_MAX.min(area.width.saturating_sub(2))
}

fn inner_width(area: Rect) -> usize {
    usize::from(outer_width(area).saturating_sub(4))
}

fn actions<'m>(model: &'m Model, approval: &Approval) -> Vec<&'m Action> {
    // In plan order, which is the order of execution.
    let all = model.plan.iter().flat_map(|plan| plan.order().iter().filter_map(|id| plan.action(id)));
    all.filter(|action| approval.question().actions.contains(&action.id)).collect()
}

fn class_of(model: &Model, cluster: &str) -> RiskClass {
    let targets = model.plan.iter().flat_map(|plan| &plan.plan.targets);
    targets.filter(|target| target.cluster == cluster).map(|target| target.class).next().unwrap_or_default()
}

/// `Delete 2 objects in guest-payments · prod`, and whether that cannot be undone.
fn title(model: &Model, approval: &Approval, class: RiskClass) -> Line {
    let actions = actions(model, approval);
    let things = match actions.iter().all(|action| action.target.cloud.is_some()) {
        true => Things { one: "resource", many: "resources" },
        false => Things { one: "object", many: "objects" },
    };
    let separator = Glyphs::of(model.signs).separator;
    let between = format!(" {separator} ");
    let line = Line::of(heading(&actions, &things), Role::Title)
        .and(" in ", Role::Text)
        .and(approval.question().cluster.as_str(), Role::Accent)
        .and(between.as_str(), Role::Muted)
        .and(Glyphs::of(model.signs).class(class), Role::from(class));
    match actions.iter().any(|action| action.undo == Undo::None) {
        true => line.and(between, Role::Muted).and("NO UNDO", Role::Error),
        false => line,
    }
}

/// `T3`, `cluster 1 of 2 · T3`
fn step(approval: &Approval) -> Line {
    let tier = Line::of(approval.question().tier.to_string(), Role::Muted);
    match approval.questions.len() {
        1 => tier,
        count => {
            Line::of(format!("cluster {} of {count}  ", approval.at + 1), Role::Muted).and(tier.plain(), Role::Muted)
        }
    }
}

/// Why nothing can be approved, and the keys that plan again.
pub fn refusal(model: &Model, why: &str) -> String {
    let (back, again) = (model.key(keymap::Action::Back), model.screen_key(keymap::Action::Refresh));
    let sentence = format!("{}{}", why[..1].to_uppercase(), &why[1..]);
    format!("{sentence}. {back}: back, then {again}: plan again")
}

/// Nouns for the actions' targets.
struct Things {
    one: &'static str,
    many: &'static str,
}

/// `Delete 2 objects`, `Create 1 and delete 2 objects`
fn heading(actions: &[&Action], things: &Things) -> String {
    let mut counts: Vec<(&'static str, usize)> = Vec::new();
    for word in actions.iter().map(|action| imperative(action.verb())) {
        match counts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
    }
    // Deletes first: they are what has to be noticed.
    counts.sort_by_key(|(word, _)| *word != imperative(Verb::Delete));
    let parts: Vec<String> = counts.iter().map(|(word, count)| format!("{word} {count}")).collect();
    let noun = if actions.len() == 1 { things.one } else { things.many };
    let text = format!("{} {noun}", parts.join(", "));
    text[..1].to_uppercase() + &text[1..]
}

fn imperative(verb: Verb) -> &'static str {
    match verb {
        Verb::Create => "create",
        Verb::Delete => "delete",
        Verb::Tag | Verb::Untag | Verb::ReOwn => "tag",
        Verb::Apply | Verb::Update | Verb::Label | Verb::Annotate | Verb::Patch => "update",
    }
}

fn list_lines(model: &Model, approval: &Approval, width: usize) -> Vec<Line> {
    let charset = match model.signs {
        GlyphSet::Unicode => Charset::Unicode,
        GlyphSet::Plain => Charset::Ascii,
    };
    let actions = actions(model, approval);
    let kinds = actions.iter().map(|action| printable(&action.target.kind, charset).width()).max().unwrap_or(0);
    let lines = |action: &Action| {
        let mut lines = action_lines(action, &facts(model, action), kinds, width, charset);
        if let (UserList::Listed, Users::Known(users)) = (approval.users, model.users_of(action)) {
            let user = |one: &RelatedObject| format!("used by {} ({})", one.place(), one.cluster);
            let texts = users.iter().map(|one| printable(&user(one), charset));
            lines.extend(texts.flat_map(|text| below_name(&text, width, Role::Text)));
        }
        lines
    };
    actions.into_iter().flat_map(lines).collect()
}

/// A text below the name of an object.
fn below_name(text: &str, width: usize, role: Role) -> Vec<Line> {
    let parts = wrap(text, width.saturating_sub(VERB), 0).into_iter().filter(|part| !part.is_empty());
    parts.map(|part| Line::of(" ".repeat(VERB), Role::Text).and(part, role)).collect()
}

/// Age of the object, and why nothing keeps it: `200d  used by: nothing`.
fn facts(model: &Model, action: &Action) -> String {
    let created = model.plan.as_ref().and_then(|plan| plan.created(&action.id));
    let age = created.map(|at| list_age(at, model.now));
    let reason = match action.reason {
        Reason::NoOwner => Some("owner: none"),
        Reason::ClusterDeleted => Some("its cluster is being deleted"),
        Reason::SourceRemoved => Some("its source was removed"),
        Reason::NoReferrer
        | Reason::OidcAvailable
        | Reason::OidcNotWanted
        | Reason::Missing
        | Reason::Differs
        | Reason::Stale
        | Reason::NotLabelled
        | Reason::NotTagged
        | Reason::UserTag
        | Reason::Moved
        | Reason::TakeOver => None,
    };
    let users = match model.users_of(action) {
        Users::NotKnown(_) => Some("used by: ?".to_owned()),
        Users::Known([]) => action.is_delete().then(|| "used by: nothing".to_owned()),
        Users::Known([one]) => Some(format!("used by: {} {}", one.kind, one.name)),
        Users::Known(many) => Some(format!("used by: {}", many.len())),
        Users::NotJudged => None,
    };
    [age.as_deref(), reason, users.as_deref()].into_iter().flatten().collect::<Vec<_>>().join("  ")
}

fn action_lines(action: &Action, facts: &str, kinds: usize, width: usize, charset: Charset) -> Vec<Line> {
    let role = if action.verb() == Verb::Delete { Role::Extra } else { Role::Drift };
    let kind = printable(&action.target.kind, charset);
    let kind = format!("{kind}{}  ", " ".repeat(kinds.saturating_sub(kind.width())));
    let name = printable(&action.target.place(), charset);
    let before = VERB + kind.width();
    let mut lines: Vec<Line> = Vec::new();
    for part in wrap(&name, width.saturating_sub(before), 0) {
        let line = match lines.is_empty() {
            true => Line::of(format!("{:<VERB$}", action.verb().as_str()), role).and(kind.as_str(), Role::Muted),
            false => Line::of(" ".repeat(before), Role::Text),
        };
        lines.push(line.and(part, Role::Text));
    }
    // Beside the name where both fit, else below it.
    match lines.last_mut() {
        Some(last) if !facts.is_empty() && last.plain().width() + 2 + facts.width() <= width => {
            last.0.push((format!("  {facts}"), Role::Muted));
        }
        Some(_) | None if facts.is_empty() => {}
        Some(_) | None => lines.extend(wrapped(&format!("{}{facts}", " ".repeat(VERB)), width, VERB, Role::Muted)),
    }
    let set_off = consequences(action).map(|text| (text.to_owned(), Role::Text));
    let source = source_line(action).map(|text| (text, Role::Muted));
    for (text, role) in set_off.chain(source) {
        lines.extend(below_name(&printable(&text, charset), width, role));
    }
    lines
}

fn undo_lines(actions: &[&Action], plan: &str, width: usize) -> Vec<Line> {
    let permanent = actions.iter().filter(|action| action.undo == Undo::None).count();
    let id = short_id(plan);
    let deletes = actions.iter().any(|action| action.is_delete());
    let (text, role) = match (permanent, actions.len()) {
        (0, _) if deletes => {
            (format!("Undo: trueup undo {id} (sealed backup; new uid and creation time)"), Role::Muted)
        }
        (0, _) => (format!("Undo: trueup undo {id}"), Role::Muted),
        (permanent, count) if permanent == count => ("Cannot be undone.".to_owned(), Role::Error),
        (permanent, count) => (format!("{permanent} of {count} cannot be undone."), Role::Error),
    };
    let mut lines = wrapped(&text, width, 0, role);
    if actions.iter().any(|action| is_teardown(action)) {
        lines.extend(wrapped(
            "Teardown: the cluster that owns these resources is being deleted.",
            width,
            0,
            Role::Warn,
        ));
    }
    let kept: Vec<(&str, u32)> = actions
        .iter()
        .filter(|action| action.is_delete())
        .filter_map(|action| Some((action.target.name.as_str(), reclaimable_days(action.target.cloud.as_ref()?)?)))
        .collect();
    if let Some((_, days)) = kept.first() {
        let names: Vec<&str> = kept.iter().map(|(name, _)| *name).collect();
        let text = format!("IBM Cloud keeps {} for {days} days (reclamations).", names.join(", "));
        lines.extend(wrapped(&text, width, 0, Role::Muted));
    }
    lines
}

fn prompt(approval: &Approval, enter: &str, width: usize) -> Vec<Line> {
    let question = approval.question();
    let word = match &question.asks {
        Asks::Enter => None,
        Asks::Deletions(count) => Some(count.to_string()),
        Asks::ClusterName(cluster) => Some(cluster.clone()),
        Asks::ClusterNameAndId { cluster, short_id } => Some(format!("{cluster} {short_id}")),
    };
    let text = match (word, approval.seen_to_end()) {
        (None, _) => format!("Press {enter} to approve."),
        (Some(word), true) => format!("Type `{word}` to approve:"),
        (Some(word), false) => format!("Scroll to the end, then type `{word}` to approve:"),
    };
    wrapped(&text, width, 0, if question.tier >= Tier::T3 { Role::Error } else { Role::Text })
}
