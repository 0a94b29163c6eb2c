//! What can go wrong, for so many calls.

/// A fault for the next calls of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwsFault {
    /// `AssumeRoleWithWebIdentity`, `DescribeInstanceTypes`, …
    pub action: &'static str,
    /// How many calls it strikes.
    pub times: u32,
    pub kind: AwsFaultKind,
}

/// What happens instead of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AwsFaultKind {
    /// AWS refuses.
    Refuse { status: u16, code: &'static str, message: &'static str },
    /// Somebody on the way answers with a page.
    Page { status: u16, body: &'static str },
    /// A good status, and a body that is no answer.
    Malformed { body: String },
    /// The answer breaks off in the middle.
    CutShort,
    /// The answer begins and never ends.
    SlowBody,
    /// No answer at all.
    Silence,
    /// The connection is closed without a word.
    Lost,
}

impl AwsFault {
    pub fn refuse(action: &'static str, times: u32, code: &'static str) -> Self {
        let status = if code == "UnauthorizedOperation" || code == "AccessDenied" { 403 } else { 400 };
        Self { action, times, kind: AwsFaultKind::Refuse { status, code, message: "as it was told to say" } }
    }

    pub fn new(action: &'static str, times: u32, kind: AwsFaultKind) -> Self {
        Self { action, times, kind }
    }
}

/// The fault that strikes a call, used up by one.
pub(super) fn strike(faults: &mut Vec<AwsFault>, action: &str) -> Option<AwsFaultKind> {
    let fault = faults.iter_mut().find(|fault| fault.action == action)?;
    fault.times = fault.times.saturating_sub(1);
    let kind = fault.kind.clone();
    faults.retain(|fault| fault.times > 0);
    Some(kind)
}
