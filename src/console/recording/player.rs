//! Replays a session recording through the model.
//!
//! Invariants: inputs go through [`update`] as they did in the session; tasks they ask for are not performed, since their
//! replies are recorded.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::Digest;
use super::line::{FrameMark, Line, Opened, ThemeLine};
use crate::console::event::{Event, What};
use crate::console::hits::HitMap;
use crate::console::model::{Layer, Model, PluginDialog, ToastKind};
use crate::console::task::TaskReply;
use crate::console::theme::{Theme, Themes};
use crate::console::update::update;
use crate::console::view::{Appearance, view};

/// A console that is fed from a recording.
pub struct Player {
    model: Model,
    appearance: Appearance,
    themes: Themes,
    hits: HitMap,
    shown: Buffer,
}

/// A frame of the replay beside the recorded one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameCheck {
    Same,
    Different,
    /// The recorded frame showed revealed values, which are not in the recording.
    Withheld,
}

impl Player {
    pub fn new(opened: Opened) -> Self {
        let Opened { at, width, height, zone, signs, instead } = opened;
        let area = Rect::new(0, 0, width, height);
        let mut model = Model::new(at, area, zone);
        model.signs = signs;
        // One list per recording.
        model.instead = Vec::leak(instead);
        let appearance = Appearance { theme: Theme::default(), signs };
        Self { model, appearance, themes: Themes::built_in(), hits: HitMap::default(), shown: Buffer::empty(area) }
    }

    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The last drawn frame.
    pub fn shown(&self) -> &Buffer {
        &self.shown
    }

    /// Applies a line; for a frame, draws it and compares.
    pub fn take(&mut self, line: Line) -> Option<FrameCheck> {
        match line {
            Line::Opened(opened) => *self = Self::new(opened),
            Line::Theme(theme_line) => self.take_theme(theme_line),
            Line::Event(event) => self.take_event(event),
            Line::Message { at, kind: ToastKind::Info, text } => self.model.toasts.info(text, at),
            Line::Message { at, kind: ToastKind::Error, text } => self.model.toasts.error(text, at),
            Line::Plugin { at, cluster, question } => {
                self.model.layer = Some(Layer::Plugin(PluginDialog::new(cluster, question, at)));
            }
            Line::Frame(frame) => return Some(self.draw(frame)),
        }
        None
    }

    fn take_theme(&mut self, theme_line: ThemeLine) {
        let ThemeLine { signs, theme, own_themes } = theme_line;
        self.appearance.signs = signs;
        self.model.signs = signs;
        for (name, text) in &own_themes {
            self.themes.add(name, text);
        }
        self.model.themes = self.themes.names().map(str::to_owned).collect();
        self.model.theme_set.clone_from(&theme);
        self.model.theme = theme;
    }

    fn take_event(&mut self, event: Event) {
        if let What::TaskReply(reply) = &event.what
            && let TaskReply::SettingsReloaded(new) = &**reply
        {
            self.themes = new.themes.clone();
            self.appearance.theme = self.themes.resolve(&self.model.theme).unwrap_or_default();
        }
        let effects = update(&mut self.model, event, &self.hits);
        if self.appearance.theme.name() != self.model.theme
            && let Ok(theme) = self.themes.resolve(&self.model.theme)
        {
            self.appearance.theme = theme;
        }
        self.model.leaving |= effects.end;
    }

    fn draw(&mut self, frame: FrameMark) -> FrameCheck {
        let FrameMark { at, digest } = frame;
        self.model.now = at;
        let area = self.model.area;
        self.shown = Buffer::empty(area);
        let drawn = view(&self.model, &self.appearance, area, &mut self.shown);
        self.hits = drawn.hits;
        match digest {
            None => FrameCheck::Withheld,
            Some(digest) if digest == Digest::of(&self.shown, drawn.cursor) => FrameCheck::Same,
            Some(_) => FrameCheck::Different,
        }
    }
}
