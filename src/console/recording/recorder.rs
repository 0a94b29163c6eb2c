//! Turns the inputs of a running console into lines.
//!
//! Invariants: an input is handed over before it is applied. Changes of the fleet, which can be large, are turned into a line
//! by the sink: the console only shares them.

use jiff::Timestamp;
use serde::Serialize;

use super::Digest;
use super::line::{FORMAT, FrameMark, Header, Line, Opened, ThemeLine};
use super::redact::{redacted, shows_revealed_values};
use crate::console::event::{Event, What};
use crate::console::model::{Model, ToastKind};
use crate::console::terminal::Cursor;
use crate::console::theme::Themes;
use ratatui::buffer::Buffer;
use trueup_core::world::ClusterName;
use trueup_fleet::connect::PluginQuestion;
use trueup_fleet::live::Update;

/// Receives the pieces of a recording in their order. Never waits.
pub trait RecordingSink: Send {
    fn put(&mut self, piece: Piece);
}

/// A line, or what one is made of.
#[derive(Debug)]
pub enum Piece {
    Line(Vec<u8>),
    /// A change of the fleet.
    Data(Timestamp, Box<Update>),
}

/// Records a session.
pub struct Recorder(Box<dyn RecordingSink>);

impl Piece {
    /// The line, with its line feed.
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            Self::Line(bytes) => bytes,
            Self::Data(at, update) => bytes(&Line::Event(Event { at, what: What::Data(update) })),
        }
    }
}

impl Recorder {
    /// Starts a recording with the state of the model before its first event.
    pub fn start(sink: Box<dyn RecordingSink>, model: &Model) -> Self {
        let mut recorder = Self(sink);
        let version = env!("CARGO_PKG_VERSION").to_owned();
        recorder.0.put(Piece::Line(bytes(&Header { format: FORMAT, version, at: model.now })));
        recorder.put(&Line::Opened(Opened {
            at: model.now,
            width: model.area.width,
            height: model.area.height,
            zone: model.zone,
            signs: model.signs,
            instead: model.instead.to_vec(),
        }));
        recorder
    }

    pub fn theme(&mut self, model: &Model, themes: &Themes) {
        let (theme, own_themes) = (model.theme_set.clone(), themes.own());
        self.put(&Line::Theme(ThemeLine { signs: model.signs, theme, own_themes }));
    }

    /// Records an event. `model` is the one it is going to be applied to.
    pub fn event(&mut self, event: &Event, model: &Model) {
        match (&event.what, redacted(event, model)) {
            (What::Data(update), _) => self.0.put(Piece::Data(event.at, update.clone())),
            (_, Some(redacted)) => self.put(&Line::Event(&redacted)),
            (_, None) => self.put(&Line::Event(event)),
        }
    }

    pub fn message(&mut self, at: Timestamp, kind: ToastKind, text: &str) {
        self.put(&Line::Message { at, kind, text: text.to_owned() });
    }

    pub fn plugin(&mut self, at: Timestamp, cluster: &ClusterName, question: &PluginQuestion) {
        self.put(&Line::Plugin { at, cluster: cluster.clone(), question: question.clone() });
    }

    /// Records a frame that was drawn from the model.
    pub fn frame(&mut self, model: &Model, buffer: &Buffer, cursor: Cursor) {
        let digest = (!shows_revealed_values(model)).then(|| Digest::of(buffer, cursor));
        self.put(&Line::Frame(FrameMark { at: model.now, digest }));
    }

    fn put(&mut self, line: &Line<&Event>) {
        self.0.put(Piece::Line(bytes(line)));
    }
}

fn bytes(line: &impl Serialize) -> Vec<u8> {
    let mut bytes =
        serde_json::to_vec(line).expect("an input is made of texts and numbers, and its maps have text keys");
    bytes.push(b'\n');
    bytes
}
