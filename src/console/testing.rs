//! A console for tests: a model, a fixed clock, keys typed as text, and the screen as text.
//!
//! Invariants:
//! - time advances only when a test says so;
//! - the screen depends only on events, as in the real loop; state that no event can produce is set directly.
//!
//! The fleet, the checks and the plans are in `tests/fixtures.rs`.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use jiff::{SignedDuration, Timestamp};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::capture;
use super::effect::{Effects, TerminalRequest};
use super::event::{Event, What};
use super::hits::{Hit, HitMap};
use super::keymap::Action;
use super::model::{Model, REST, Zone};
use super::recording::{Recorder, RecordingSink};
use super::task::{PlanTarget, Start, Task, TaskReply};
use super::tests::fixtures;
use super::theme::{Theme, Themes};
use super::update::update;
use super::view::{Appearance, view};
use trueup_core::redact::CredentialValues;
use trueup_fleet::live::Update;

/// Screen sizes of the snapshots: narrow, classic, detail beside the list, large.
pub const SIZES: [(u16, u16); 4] = [(60, 20), (80, 24), (120, 40), (200, 60)];

pub fn now() -> Timestamp {
    "2026-11-16T10:00:00Z".parse().unwrap()
}

/// A time this many seconds before the clock's start.
pub fn ago(seconds: i64) -> Timestamp {
    now() - SignedDuration::from_secs(seconds)
}

/// A time this many seconds after the clock's start.
pub fn after(seconds: i64) -> Timestamp {
    now() + SignedDuration::from_secs(seconds)
}

/// A console of 120 × 40, and its effects so far.
pub struct TestConsole {
    pub model: Model,
    pub tasks: Vec<Task>,
    pub wishes: Vec<TerminalRequest>,
    pub has_ended: bool,
    recorder: Option<Recorder>,
    hits: HitMap,
}

impl TestConsole {
    /// The first frame: nothing has been read.
    pub fn starting() -> Self {
        let mut model = Model::new(now(), Rect::new(0, 0, 120, 40), Zone::Utc);
        model.themes = Themes::built_in().names().map(str::to_owned).collect();
        model.theme = super::theme::DEFAULT.to_owned();
        Self { model, tasks: Vec::new(), wishes: Vec::new(), has_ended: false, recorder: None, hits: HitMap::default() }
    }

    /// The first frame of a session that is recorded.
    pub fn recorded(sink: Box<dyn RecordingSink>) -> Self {
        let mut stage = Self::starting();
        stage.model.theme_set.clone_from(&stage.model.theme);
        let mut recorder = Recorder::start(sink, &stage.model);
        recorder.theme(&stage.model, &Themes::built_in());
        stage.recorder = Some(recorder);
        stage
    }

    /// Only the checks are known.
    pub fn started() -> Self {
        Self::started_with(|_| {})
    }

    pub fn started_with(change: impl FnOnce(&mut Start)) -> Self {
        let mut start = fixtures::start();
        change(&mut start);
        let mut stage = Self::starting();
        stage.reply(TaskReply::Started(Box::new(start)));
        stage
    }

    /// A small fleet with a finding of every state.
    pub fn full() -> Self {
        Self::full_with(|_| {})
    }

    pub fn full_with(change: impl FnOnce(&mut Start)) -> Self {
        let mut stage = Self::started_with(change);
        stage.data(Update { clusters: fixtures::clusters_before(), ..Update::default() });
        stage.data(Update::of(fixtures::findings()));
        stage.data(Update { clusters: fixtures::clusters(), ..Update::default() });
        stage.forget();
        stage
    }

    pub fn event(&mut self, what: What) -> &mut Self {
        let event = Event { at: self.model.now, what };
        if let Some(recorder) = &mut self.recorder {
            recorder.event(&event, &self.model);
        }
        let Effects { tasks, terminal, redraw: _, end } = update(&mut self.model, event, &self.hits);
        self.tasks.extend(tasks);
        self.wishes.extend(terminal);
        self.has_ended |= end;
        self
    }

    /// Types words separated by spaces, each the name of a key (`enter`, `ctrl-r`) or letters.
    pub fn keys(&mut self, text: &str) -> &mut Self {
        for word in text.split(' ') {
            match named(word) {
                Some(key) => {
                    self.event(What::Key(key));
                }
                None => self.letters(word),
            }
        }
        self
    }

    /// Types letters.
    pub fn letters(&mut self, text: &str) {
        for letter in text.chars() {
            self.event(What::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE)));
        }
    }

    /// Advances the clock and fires timers.
    pub fn later(&mut self, time: Duration) -> &mut Self {
        self.model.now += SignedDuration::try_from(time).unwrap();
        self.event(What::Time)
    }

    pub fn reply(&mut self, reply: TaskReply) -> &mut Self {
        self.event(What::TaskReply(Box::new(reply)))
    }

    pub fn data(&mut self, update: Update) -> &mut Self {
        self.event(What::Data(Box::new(update)))
    }

    pub fn mouse(&mut self, kind: MouseEventKind, (column, row): (u16, u16)) -> &mut Self {
        self.event(What::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }))
    }

    /// Clicks the middle of the last drawn area of this kind.
    pub fn click(&mut self, hit: Hit) -> &mut Self {
        let place = self.place_of(hit);
        self.mouse(MouseEventKind::Down(MouseButton::Left), place)
    }

    /// The middle of the last drawn area of this kind.
    pub fn place_of(&self, hit: Hit) -> (u16, u16) {
        let Rect { width, height, .. } = self.model.area;
        let all = (0..height).flat_map(|row| (0..width).map(move |column| (column, row)));
        let found: Vec<(u16, u16)> = all.filter(|(column, row)| self.hits.at(*column, *row) == Some(hit)).collect();
        *found.get(found.len() / 2).unwrap_or_else(|| panic!("{hit:?} is not on the screen"))
    }

    /// The actions of the hint line as it was last drawn, from the left.
    pub fn hints(&self) -> Vec<Action> {
        let Rect { width, height, .. } = self.model.area;
        let at = |column: u16| match self.hits.at(column, height.checked_sub(1)?) {
            Some(Hit::Hint(action)) => Some(action),
            Some(_) | None => None,
        };
        let mut hints: Vec<Action> = (0..width).filter_map(at).collect();
        hints.dedup();
        hints
    }

    /// Lets the cursor rest, so that its detail is requested.
    pub fn rest(&mut self) -> &mut Self {
        self.later(REST.unsigned_abs())
    }

    /// Lets the cursor rest, and replies to the last request about its subject.
    pub fn explained(&mut self) -> &mut Self {
        if self.model.deadline().is_some() {
            self.rest();
        }
        let subject = self.model.detail.subject.clone().expect("the cursor is on a subject");
        let detail = fixtures::subject_detail(&subject);
        self.reply(TaskReply::Explained { ask: self.model.detail.ask, detail: Some(Box::new(detail)) })
    }

    /// Requests a plan and replies with this one.
    pub fn planned(&mut self, plan: trueup_core::engine::Plan) -> &mut Self {
        let ask = self.model.next_request();
        self.model.planning = Some(ask);
        let planned = super::task::Planned { plan, left_out: Vec::new(), objects: fixtures::objects() };
        self.reply(TaskReply::Planned { ask, plan: Ok(Box::new(planned)) })
    }

    /// Tasks since the last call, in a few words each.
    pub fn take_tasks(&mut self) -> Vec<String> {
        std::mem::take(&mut self.tasks).iter().map(said).collect()
    }

    /// Drops the tasks so far.
    pub fn forget(&mut self) -> &mut Self {
        self.tasks.clear();
        self.wishes.clear();
        self
    }

    /// The shown messages.
    pub fn toasts(&self) -> Vec<&str> {
        self.model.toasts.iter().map(|toast| toast.message.as_str()).collect()
    }

    /// The screen in a size, as text.
    pub fn draw(&mut self, width: u16, height: u16) -> String {
        capture::text(&self.buffer(width, height, Theme::default())).into()
    }

    /// The cells of the screen in a size.
    pub fn buffer(&mut self, width: u16, height: u16, theme: Theme) -> Buffer {
        if (self.model.area.width, self.model.area.height) != (width, height) {
            self.event(What::Resize { width, height });
        }
        let mut buffer = Buffer::empty(self.model.area);
        let appearance = Appearance { theme, signs: self.model.signs };
        let drawn = view(&self.model, &appearance, self.model.area, &mut buffer);
        self.hits = drawn.hits;
        if let Some(recorder) = &mut self.recorder {
            recorder.frame(&self.model, &buffer, drawn.cursor);
        }
        buffer
    }

    /// The screen in every size, one below the other.
    pub fn draw_all(&mut self) -> String {
        SIZES
            .iter()
            .map(|(width, height)| format!("{width}x{height}\n{}", folded(&self.draw(*width, *height))))
            .collect()
    }
}

/// A key by its name; none when the word is letters.
fn named(word: &str) -> Option<KeyEvent> {
    let (held, name) = match word.split_once('-') {
        Some(("ctrl", name)) => (KeyModifiers::CONTROL, name),
        Some(("shift", name)) => (KeyModifiers::SHIFT, name),
        Some(_) | None => (KeyModifiers::NONE, word),
    };
    let code = match name {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "space" => KeyCode::Char(' '),
        "backspace" => KeyCode::Backspace,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pageup" => KeyCode::PageUp,
        "pagedown" => KeyCode::PageDown,
        _ if name.starts_with('f') && name.len() > 1 => KeyCode::F(name[1..].parse().ok()?),
        letter if held == KeyModifiers::CONTROL => KeyCode::Char(letter.chars().next()?),
        _ => return None,
    };
    Some(KeyEvent::new(code, held))
}

/// Folds equal lines: empty boxes are long.
fn folded(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = String::new();
    for same in lines.chunk_by(|one, other| one == other) {
        match same.len() {
            count @ 3.. => out.push_str(&format!("{}  x{count}\n", same[0])),
            _ => same.iter().for_each(|line| out.push_str(&format!("{line}\n"))),
        }
    }
    out
}

fn said(task: &Task) -> String {
    match task {
        Task::Explain { ask: _, subject } => format!("explain {}", subject.name),
        Task::Plan { ask: _, wanted } => match wanted {
            PlanTarget::Everything => "plan everything".to_owned(),
            PlanTarget::Check(check) => format!("plan {}", check.0),
            PlanTarget::Subjects(subjects) => {
                let names: Vec<&str> = subjects.iter().map(|subject| subject.name.as_str()).collect();
                format!("plan {}", names.join(" "))
            }
        },
        Task::Undo { ask: _, plan, action: _ } => format!("undo {plan}"),
        Task::DryRun { plan: _, actions } => format!("dry run {}", actions.join(" ")),
        Task::Apply(approval) => {
            let ids: Vec<&str> = approval.chosen.actions(&approval.plan).map(|action| action.id.as_str()).collect();
            format!("apply {}", ids.join(" "))
        }
        Task::Stop => "stop".to_owned(),
        Task::ReadHistory { .. } => "read history".to_owned(),
        Task::ReadObject { ask: _, cluster, target, values } => {
            let values = match values {
                CredentialValues::Masked => "",
                CredentialValues::Shown => " with credentials",
            };
            format!("read {cluster} {} {}{values}", target.kind, target.name)
        }
        Task::ReadReferences { ask: _, subject } => format!("references of {}", subject.name),
        Task::ReadOperatorLog { ask: _, subject } => format!("operator log of {}", subject.name),
        Task::FleetTable { ask: _, check, typed: None } => format!("table of {}", check.0),
        Task::FleetTable { ask: _, check, typed: Some(typed) } => format!("table of {} for {typed}", check.0),
        Task::Answer { ask: _, form, typed, subject } => format!("answer {form} {typed:?} of {}", subject.name),
        Task::Need(cluster) => format!("need {cluster}"),
        Task::Reconnect(cluster) => format!("reconnect {cluster}"),
        Task::AskPlugin(cluster) => format!("look up plugin of {cluster}"),
        Task::Probe(subject) => format!("probe {}", subject.name),
        Task::Resync => "resync".to_owned(),
        Task::Save { file, text: _ } => format!("save {file:?}"),
        Task::WriteBundle(request) => format!("write bundle of {} files", request.files.len()),
        Task::Accept { subject, reason, until } => format!("accept {} because {reason} until {until}", subject.name),
        Task::ReadLog => "read log".to_owned(),
        Task::Remember(_) => "remember".to_owned(),
    }
}
