//! The event loop: waits for events, updates the model, runs effects, and draws once.
//!
//! Invariants:
//! - only this thread writes to the terminal; everything else uses channels;
//! - all ready events are handled before drawing: input is drawn at once, data at most sixty times a second;
//! - there is no tick: without events, only the next age label and the model's deadline wake the loop.

use std::io::{self, Read as _, Write as _};
use std::time::Duration;

use crossterm::event::Event as InputEvent;
use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use zeroize::Zeroizing;

use super::capture;
use super::effect::{Effects, MouseHold, TerminalRequest};
use super::event::{Event, Focus, What};
use super::hits::HitMap;
use super::model::{Layer, Model, PluginDialog, ScreenId, Standing, Timeline, ToastKind, Zone};
use super::recording::{Recorder, RecordingSink};
use super::reply_sender::ReplySender;
use super::settings::{ModelSettings, RenderSettings, ThemeChoice};
use super::task::{ConsoleServices, SavedFile, Start, Task, TaskReply};
use super::terminal::{
    Asked, BACKGROUND_QUERY, ColorDepth, Cursor, Dialect, Input, Mode, Screen, Shade, Signals, Stop, alert, copy,
    hand_over, install_panic_hook, progress_title, read_background, rest, title,
};
use super::theme::{GlyphSet, Theme, Themes};
use super::update::update;
use super::view::{Appearance, view};
use trueup_core::engine::text::Printable;
use trueup_core::world::ClusterName;
use trueup_fleet::connect::PluginQuestion;
use trueup_fleet::live::Update;

/// Shortest time between frames for data: more cannot be seen.
const FRAME: Duration = Duration::from_millis(16);
/// How long an unfocused screen may show an outdated age.
const UNFOCUSED: Duration = Duration::from_secs(10);
/// Shortest time between frames for ages.
const AGES: Duration = Duration::from_secs(1);
/// How long to wait for the terminal's background colour. A terminal that supports the query answers in a round trip.
const BACKGROUND_WAIT: Duration = Duration::from_millis(200);
/// Limit of a credential plugin's output: a certificate chain takes some 10 KiB.
const PRINTED_MAX: u64 = 1 << 20;
/// How long a plugin's pipe may stay open after it exited: its child processes may hold it.
const PIPE_AFTER_EXIT: Duration = Duration::from_millis(500);
/// Events handled between two frames, so that many updates do not delay keys.
const DRAIN_MAX: usize = 256;

/// Inputs of the console.
pub struct Opening {
    pub depth: ColorDepth,
    pub dialect: Dialect,
    pub signs: GlyphSet,
    pub zone: Zone,
    pub is_tmux: bool,
    /// Alternatives shown when there is nothing to show.
    pub instead: &'static [&'static str],
    /// The time. In a replay, that of the recording.
    pub clock: Clock,
    /// Where the session is recorded, if it is.
    pub record: Option<OpenRecording>,
    /// Connects the services. Started after the first frame.
    pub start: Box<dyn FnOnce(ReplySender) -> BoxFuture<'static, Result<Started, String>> + Send>,
}

/// Says the time.
pub type Clock = Box<dyn Fn() -> Timestamp + Send>;

/// Opens the place where a session is recorded.
pub type OpenRecording = Box<dyn FnOnce(ReplySender) -> Box<dyn RecordingSink> + Send>;

/// Services of the console.
pub struct Started {
    pub render: RenderSettings,
    pub settings: ModelSettings,
    pub start: Start,
    pub services: Box<dyn ConsoleServices>,
    /// What happened before, oldest first: the events of a session recording.
    pub history: Vec<Event>,
    pub updates: mpsc::Receiver<Update>,
}

/// How a user logs in to a cluster.
#[derive(Debug)]
pub enum Login {
    /// This program interacts with the user. Its stdout is never shown.
    Program(Box<Command>),
    /// There is no program: instructions instead.
    Otherwise(String),
    /// The user has to agree first.
    Ask(PluginQuestion),
}

/// Runs until the user quits or the terminal closes.
///
/// # Errors
/// There is no terminal, or it closed.
pub async fn run(opening: Opening) -> io::Result<()> {
    let Opening { depth, dialect, signs, zone, is_tmux, instead, clock, record, start } = opening;
    let (sender, replies) = ReplySender::new();
    let panics = sender.clone();
    install_panic_hook(move |message| panics.send(TaskReply::ServiceRestarted { what: message }));
    let screen = Screen::open(depth, dialect)?;
    let mut model = Model::new(clock(), screen.area(), zone);
    (model.instead, model.signs) = (instead, signs);
    let recorder = record.map(|open| Recorder::start(open(sender.clone()), &model));
    let mut shell = Shell {
        model,
        appearance: Appearance { theme: Theme::default(), signs },
        themes: Themes::built_in(),
        screen,
        input: Input::start()?,
        signals: Signals::listen()?,
        hits: HitMap::default(),
        services: None,
        clock,
        recorder,
        is_tmux,
        data_drawn_at: None,
        wake_at: None,
        titled: String::new(),
    };
    shell.draw()?;
    let ended = shell.run(replies, start(sender)).await;
    // Settings are stored however the console ended.
    if matches!(shell.model.standing, Standing::Running(_)) {
        let remembered = Box::new(shell.model.remembered());
        shell.perform(Task::Remember(remembered));
    }
    ended
}

struct Shell {
    model: Model,
    appearance: Appearance,
    themes: Themes,
    screen: Screen,
    input: Input,
    signals: Signals,
    hits: HitMap,
    services: Option<Box<dyn ConsoleServices>>,
    clock: Clock,
    recorder: Option<Recorder>,
    is_tmux: bool,
    /// Time of the last frame for data. Frames for keys do not count: typing does not delay rows.
    data_drawn_at: Option<Instant>,
    /// When the next label on the screen changes, or the model's deadline.
    wake_at: Option<Instant>,
    titled: String,
}

/// When to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Nothing,
    /// Data arrived: in the next frame.
    Frame,
    Now,
}

/// Why the loop woke up.
enum Wake {
    End,
    Stopped,
    Input(io::Result<InputEvent>),
    Started(Result<Box<Started>, String>),
    TaskReply(TaskReply),
    Data(Update),
    DataEnded,
    Time,
}

impl Shell {
    async fn run(
        &mut self,
        mut replies: mpsc::UnboundedReceiver<TaskReply>,
        start: BoxFuture<'static, Result<Started, String>>,
    ) -> io::Result<()> {
        let mut start = Some(start);
        let mut updates: Option<mpsc::Receiver<Update>> = None;
        let mut due = Due::Now;
        loop {
            // Not by the timer: it has millisecond resolution and the lowest priority.
            let now = Instant::now();
            let draw_at = self.draw_at(due, now);
            if draw_at.is_some_and(|at| at <= now) {
                if due == Due::Frame {
                    self.data_drawn_at = Some(now);
                }
                self.draw()?;
                due = Due::Nothing;
            }
            let wake_at = match due {
                Due::Nothing => self.wake_at,
                Due::Frame | Due::Now => draw_at,
            };
            let wake = tokio::select! {
                biased;
                asked = self.signals.next() => match asked {
                    Asked::End => Wake::End,
                    Asked::Rest => Wake::Stopped,
                },
                event = self.input.next() => Wake::Input(event),
                started = maybe(&mut start), if start.is_some() => Wake::Started(started.map(Box::new)),
                Some(reply) = replies.recv() => Wake::TaskReply(reply),
                update = next(&mut updates), if updates.is_some() => update.map_or(Wake::DataEnded, Wake::Data),
                () = sleep_until(wake_at.unwrap_or_else(Instant::now)), if wake_at.is_some() => Wake::Time,
            };
            match wake {
                Wake::End => return Ok(()),
                Wake::Stopped => {
                    self.rest(Stop::Process).await?;
                    due = Due::Now;
                }
                Wake::Input(event) => {
                    due = due.max(self.take_input(event?).await?);
                    for _ in 0..DRAIN_MAX {
                        let Some(event) = self.input.ready()? else { break };
                        due = due.max(self.take_input(event).await?);
                    }
                }
                Wake::Started(Ok(started)) => {
                    start = None;
                    updates = Some(self.take_start(*started).await?);
                    due = Due::Now;
                }
                Wake::Started(Err(message)) => {
                    start = None;
                    due = due
                        .max(self.take(What::TaskReply(Box::new(TaskReply::NotStarted { message })), Due::Now).await?);
                }
                Wake::TaskReply(first) => {
                    due = due.max(self.take(What::TaskReply(Box::new(first)), Due::Frame).await?);
                    for _ in 0..DRAIN_MAX {
                        let Ok(one) = replies.try_recv() else { break };
                        due = due.max(self.take(What::TaskReply(Box::new(one)), Due::Frame).await?);
                    }
                }
                Wake::Data(update) => due = due.max(self.take(What::Data(Box::new(update)), Due::Frame).await?),
                Wake::DataEnded => updates = None,
                Wake::Time if due == Due::Nothing => due = self.take(What::Time, Due::Now).await?,
                // The pending frame is drawn at the start of the loop.
                Wake::Time => {}
            }
            if self.model.leaving && !self.model.activity.is_running() {
                return Ok(());
            }
        }
    }

    fn draw_at(&self, due: Due, now: Instant) -> Option<Instant> {
        match due {
            Due::Nothing => None,
            Due::Frame => Some(self.data_drawn_at.map_or(now, |at| at + FRAME)),
            Due::Now => Some(now),
        }
    }

    /// Stores the services and the user's settings.
    async fn take_start(&mut self, started: Started) -> io::Result<mpsc::Receiver<Update>> {
        let Started { render: RenderSettings { themes, theme, signs }, settings, start, services, history, updates } =
            started;
        self.services = Some(services);
        self.appearance.signs = signs;
        self.model.signs = signs;
        self.model.themes = themes.names().map(str::to_owned).collect();
        self.themes = themes;
        self.model.theme = self.theme_of(theme)?;
        self.model.theme_set.clone_from(&self.model.theme);
        if let Some(recorder) = &mut self.recorder {
            recorder.theme(&self.model, &self.themes);
        }
        self.take(What::TaskReply(Box::new(TaskReply::Started(Box::new(start)))), Due::Now).await?;
        self.take(What::TaskReply(Box::new(TaskReply::Settings(Box::new(settings)))), Due::Now).await?;
        if let Some(first) = history.first() {
            self.model.timeline = Timeline::new(first.at);
            self.model.timeline.keep_all();
            self.model.navigation.go(ScreenId::Timeline);
        }
        for event in history {
            // Its tasks were performed in the recorded session.
            let _performed = update(&mut self.model, event, &self.hits);
        }
        Ok(updates)
    }

    fn theme_of(&mut self, choice: ThemeChoice) -> io::Result<String> {
        let (light, dark, unknown) = match choice {
            ThemeChoice::Named(name) => return Ok(name),
            ThemeChoice::ByBackground { light, dark, unknown } => (light, dark, unknown),
        };
        // The response arrives on stdin; the key decoder would read it as keys.
        self.input.stop();
        self.screen.say(BACKGROUND_QUERY)?;
        let shade = read_background(BACKGROUND_WAIT);
        self.input.restart()?;
        let theme = match shade {
            Ok(Some(Shade::Light)) => light,
            Ok(Some(Shade::Dark)) => dark,
            Ok(None) | Err(_) => unknown,
        };
        Ok(theme.to_owned())
    }

    async fn take_input(&mut self, event: InputEvent) -> io::Result<Due> {
        let what = match event {
            InputEvent::Key(key) => What::Key(key),
            InputEvent::Mouse(mouse) => What::Mouse(mouse),
            InputEvent::Paste(text) => What::Paste(text),
            InputEvent::FocusGained => What::Focus(Focus::Here),
            InputEvent::FocusLost => What::Focus(Focus::Elsewhere),
            InputEvent::Resize(width, height) => {
                self.screen.resize(width, height);
                What::Resize { width, height }
            }
        };
        let effects = self.apply(what);
        self.follow(effects, Due::Now).await
    }

    async fn take(&mut self, what: What, due: Due) -> io::Result<Due> {
        if let What::TaskReply(reply) = &what
            && let TaskReply::SettingsReloaded(new) = &**reply
        {
            self.themes = new.themes.clone();
            self.appearance.theme = self.themes.resolve(&self.model.theme).unwrap_or_default();
        }
        let effects = self.apply(what);
        self.follow(effects, due).await
    }

    /// Records an event and applies it to the model.
    fn apply(&mut self, what: What) -> Effects {
        let event = Event { at: (self.clock)(), what };
        if let Some(recorder) = &mut self.recorder {
            recorder.event(&event, &self.model);
        }
        update(&mut self.model, event, &self.hits)
    }

    fn message(&mut self, kind: ToastKind, text: String) {
        let now = (self.clock)();
        if let Some(recorder) = &mut self.recorder {
            recorder.message(now, kind, &text);
        }
        match kind {
            ToastKind::Info => self.model.toasts.info(text, now),
            ToastKind::Error => self.model.toasts.error(text, now),
        }
    }

    /// Runs the effects of an event.
    async fn follow(&mut self, effects: Effects, due: Due) -> io::Result<Due> {
        let Effects { tasks, terminal, redraw, end } = effects;
        tasks.into_iter().for_each(|task| self.perform(task));
        for wish in terminal {
            self.grant(wish).await?;
        }
        self.follow_theme();
        self.follow_title()?;
        self.model.leaving |= end;
        Ok(if redraw { due } else { Due::Nothing })
    }

    async fn grant(&mut self, wish: TerminalRequest) -> io::Result<()> {
        match wish {
            TerminalRequest::Copy(text) => match copy(&text, self.is_tmux) {
                Ok(bytes) => self.screen.say(&bytes)?,
                Err(error) => self.message(ToastKind::Error, error.to_string()),
            },
            TerminalRequest::Repaint => self.screen.distrust(),
            TerminalRequest::Mouse(MouseHold::Taken) => self.screen.take(Mode::Mouse)?,
            TerminalRequest::Mouse(MouseHold::Released) => self.screen.release(Mode::Mouse)?,
            TerminalRequest::SaveScreen => self.save_screen(),
            TerminalRequest::Alert(how, text) => self.screen.say(&alert(how, &text, self.is_tmux))?,
            TerminalRequest::Page(text) => self.page(text).await?,
            TerminalRequest::RunPlugin(cluster) => self.log_in(&ClusterName::new(cluster.as_str())).await?,
            TerminalRequest::ApprovePlugin(cluster) => {
                let cluster = ClusterName::new(cluster.as_str());
                if let Some(services) = &mut self.services {
                    services.approve_plugin(&cluster);
                }
                self.log_in(&cluster).await?;
            }
            TerminalRequest::Suspend => self.rest(Stop::Job).await?,
        }
        Ok(())
    }

    fn save_screen(&mut self) {
        let shown = self.screen.shown();
        let palette = capture::Palette::of(&self.appearance.theme);
        let (text, svg) = (capture::text(shown), capture::svg(shown, &palette));
        self.perform(Task::Save { file: SavedFile::ScreenText, text });
        self.perform(Task::Save { file: SavedFile::ScreenSvg, text: svg });
    }

    fn perform(&mut self, task: Task) {
        if let Some(services) = &mut self.services {
            services.perform(task);
        }
    }

    /// Runs a cluster's credential plugin on the terminal, then reconnects.
    async fn log_in(&mut self, cluster: &ClusterName) -> io::Result<()> {
        let Some(services) = &mut self.services else { return Ok(()) };
        let mut command = match services.login(cluster) {
            Login::Program(command) => command,
            Login::Otherwise(message) => {
                self.message(ToastKind::Info, message);
                return Ok(());
            }
            Login::Ask(question) => {
                let now = (self.clock)();
                if let Some(recorder) = &mut self.recorder {
                    recorder.plugin(now, cluster, &question);
                }
                let dialog = PluginDialog::new(cluster.clone(), question, now);
                self.model.layer = Some(Layer::Plugin(dialog));
                return Ok(());
            }
        };
        let (reader, writer) = io::pipe()?;
        command.stdout(writer);
        // Read while it runs: a pipe buffers only a few pages.
        let reading = tokio::task::spawn_blocking(move || {
            let mut printed = Zeroizing::new(Vec::new());
            reader.take(PRINTED_MAX).read_to_end(&mut printed).map(|_| printed)
        });
        let ended = hand_over(&mut self.screen, &mut self.input, &mut self.signals, &mut command).await;
        drop(command);
        let printed = tokio::time::timeout(PIPE_AFTER_EXIT, reading).await;
        let printed = printed.ok().and_then(Result::ok).and_then(Result::ok).unwrap_or_default();
        match ended {
            Ok(status) if status.success() => {
                if let Some(services) = &mut self.services {
                    services.logged_in(cluster, printed);
                }
            }
            Ok(status) => {
                self.message(ToastKind::Error, format!("credential plugin of {cluster} failed: {status}"));
            }
            Err(error) => {
                self.message(ToastKind::Error, format!("cannot run credential plugin of {cluster}: {error}"));
            }
        }
        self.resized();
        Ok(())
    }

    /// Runs the user's pager.
    async fn page(&mut self, text: Printable) -> io::Result<()> {
        let (reader, mut writer) = io::pipe()?;
        // A pipe buffers only a few pages; the pager may exit early.
        let writing = tokio::task::spawn_blocking(move || writer.write_all(text.as_bytes()));
        let pager = std::env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty());
        let mut command = Command::new("sh");
        command.args(["-c", pager.as_deref().unwrap_or("less")]).stdin(reader);
        let paged = hand_over(&mut self.screen, &mut self.input, &mut self.signals, &mut command).await;
        drop(command);
        let _left_early = writing.await;
        if let Err(error) = paged {
            self.message(ToastKind::Error, format!("cannot run pager: {error}; set PAGER"));
        }
        self.resized();
        Ok(())
    }

    /// Suspends the process and takes the terminal back when it is continued.
    async fn rest(&mut self, who: Stop) -> io::Result<()> {
        rest(&mut self.screen, &mut self.input, &mut self.signals, who).await?;
        self.resized();
        Ok(())
    }

    fn resized(&mut self) {
        let area = self.screen.area();
        let _redrawn_anyway = self.apply(What::Resize { width: area.width, height: area.height });
    }

    fn follow_theme(&mut self) {
        if self.appearance.theme.name() != self.model.theme
            && let Ok(theme) = self.themes.resolve(&self.model.theme)
        {
            self.appearance.theme = theme;
        }
    }

    /// Shows the progress of a run in the terminal's title.
    fn follow_title(&mut self) -> io::Result<()> {
        let running = self.model.activity.run.as_ref().filter(|run| run.is_running());
        let (text, bytes) = match running {
            Some(run) => {
                let (done, all) = (run.tally().done, run.rows.len());
                (format!("{done}/{all}"), progress_title("trueup", done, all))
            }
            None => ("trueup".to_owned(), title(&Printable::line("trueup"))),
        };
        if self.titled != text {
            self.titled = text;
            self.screen.say(&bytes)?;
        }
        Ok(())
    }

    fn draw(&mut self) -> io::Result<()> {
        self.model.now = (self.clock)();
        let mut cursor = Cursor::Hidden;
        let (model, appearance) = (&self.model, &self.appearance);
        let (hits, wake_at) = (&mut self.hits, &mut self.wake_at);
        let unfocused = model.focus == Focus::Elsewhere;
        self.screen.draw(|buffer| {
            let area = buffer.area;
            let drawn = view(model, appearance, area, buffer);
            *hits = drawn.hits;
            let until = |at: Timestamp| Duration::try_from(at.duration_since(model.now)).unwrap_or_default();
            let label = drawn.changes_at.map(|at| until(at).max(if unfocused { UNFOCUSED } else { AGES }));
            let wait = [label, model.deadline().map(until)].into_iter().flatten().min();
            *wake_at = wait.map(|wait| Instant::now() + wait);
            cursor = drawn.cursor;
            cursor
        })?;
        if let Some(recorder) = &mut self.recorder {
            recorder.frame(&self.model, self.screen.shown(), cursor);
        }
        Ok(())
    }
}

impl Due {
    fn max(self, other: Self) -> Self {
        match (self, other) {
            (Self::Now, _) | (_, Self::Now) => Self::Now,
            (Self::Frame, _) | (_, Self::Frame) => Self::Frame,
            (Self::Nothing, Self::Nothing) => Self::Nothing,
        }
    }
}

async fn maybe<T>(future: &mut Option<BoxFuture<'static, T>>) -> T {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

async fn next(updates: &mut Option<mpsc::Receiver<Update>>) -> Option<Update> {
    match updates {
        Some(updates) => updates.recv().await,
        None => std::future::pending().await,
    }
}
