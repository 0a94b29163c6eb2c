//! Status conditions, as most controllers write them.

use jiff::Timestamp;
use serde::Deserialize;

/// One condition.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Condition {
    pub r#type: Option<String>,
    pub status: Option<String>,
    pub reason: Option<String>,
    pub message: Option<String>,
    #[serde(rename = "lastTransitionTime")]
    pub last_transition_time: Option<String>,
}

/// A condition that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    pub condition: Box<str>,
    /// `type=status reason: message`, as the controller wrote it.
    pub message: Box<str>,
    /// The message alone, to look for names in it.
    pub text: Box<str>,
    /// `lastTransitionTime`, where it can be read.
    pub since: Option<Timestamp>,
}

impl Condition {
    pub fn name(&self) -> &str {
        self.r#type.as_deref().unwrap_or_default()
    }

    pub fn status(&self) -> &str {
        self.status.as_deref().unwrap_or_default()
    }

    pub fn complaint(&self) -> Complaint {
        let (reason, message) =
            (self.reason.as_deref().unwrap_or_default(), self.message.as_deref().unwrap_or_default());
        let whole = format!("{}={} {reason}: {message}", self.name(), self.status());
        let since = self.last_transition_time.as_deref().and_then(|time| time.parse().ok());
        Complaint { condition: self.name().into(), message: whole.into(), text: message.into(), since }
    }
}
