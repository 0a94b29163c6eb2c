//! Short messages that disappear after a time.

use std::time::Duration;

use jiff::Timestamp;

/// Display time of a message.
const STAYS: Duration = Duration::from_secs(5);
/// Errors stay longer: they are read, not glanced at.
const ERROR_STAYS: Duration = Duration::from_secs(15);
/// More messages would cover the screen.
const COUNT_MAX: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToastKind {
    Info,
    Error,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toast {
    pub kind: ToastKind,
    pub message: String,
    until: Timestamp,
}

#[derive(Debug, Clone, Default)]
pub struct Toasts(Vec<Toast>);

impl Toasts {
    pub fn info(&mut self, message: impl Into<String>, now: Timestamp) {
        self.push(ToastKind::Info, message.into(), now, STAYS);
    }

    pub fn error(&mut self, message: impl Into<String>, now: Timestamp) {
        self.push(ToastKind::Error, message.into(), now, ERROR_STAYS);
    }

    pub fn iter(&self) -> impl Iterator<Item = &Toast> {
        self.0.iter()
    }

    /// Removes expired messages.
    pub fn expire(&mut self, now: Timestamp) {
        self.0.retain(|toast| toast.until > now);
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// When the next message expires.
    pub fn next_end(&self) -> Option<Timestamp> {
        self.0.iter().map(|toast| toast.until).min()
    }

    fn push(&mut self, kind: ToastKind, message: String, now: Timestamp, stays: Duration) {
        let until = now.checked_add(stays).unwrap_or(Timestamp::MAX);
        self.0.retain(|toast| toast.message != message);
        self.0.push(Toast { kind, message, until });
        if self.0.len() > COUNT_MAX {
            self.0.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    #[test]
    fn a_repeated_message_is_shown_once_and_longer() {
        let mut toasts = Toasts::default();
        toasts.info("copied", at(0));
        toasts.info("copied", at(3));
        assert_eq!(toasts.iter().count(), 1);
        assert_eq!(toasts.next_end(), Some(at(8)));
        toasts.expire(at(8));
        assert_eq!(toasts.iter().count(), 0);
    }

    #[test]
    fn the_oldest_message_is_dropped() {
        let mut toasts = Toasts::default();
        (0..6).for_each(|number| toasts.error(number.to_string(), at(0)));
        assert_eq!(toasts.iter().map(|toast| toast.message.as_str()).collect::<Vec<_>>(), ["2", "3", "4", "5"]);
    }
}
