//! Faults for a number of calls.

/// A fault for the next calls of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwsFault {
    /// `AssumeRoleWithWebIdentity`, `DescribeInstanceTypes`, …
    pub action: &'static str,
    /// Number of affected calls.
    pub times: u32,
    pub kind: AwsFaultKind,
}

/// What the client receives in place of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AwsFaultKind {
    /// An AWS error.
    Refuse { status: u16, code: &'static str, message: &'static str },
    /// A proxy's HTML page.
    Page { status: u16, body: &'static str },
    /// Status 200 with an invalid body.
    Malformed { body: String },
    /// A truncated response.
    CutShort,
    /// A response that starts and never ends.
    SlowBody,
    /// No response.
    Silence,
    /// The connection is closed without a response.
    Lost,
}

impl AwsFault {
    pub fn refuse(action: &'static str, times: u32, code: &'static str) -> Self {
        let status = if code == "UnauthorizedOperation" || code == "AccessDenied" { 403 } else { 400 };
        Self { action, times, kind: AwsFaultKind::Refuse { status, code, message: "injected fault" } }
    }

    pub fn new(action: &'static str, times: u32, kind: AwsFaultKind) -> Self {
        Self { action, times, kind }
    }
}

/// Returns the fault for a call and decrements its count.
pub(super) fn strike(faults: &mut Vec<AwsFault>, action: &str) -> Option<AwsFaultKind> {
    let fault = faults.iter_mut().find(|fault| fault.action == action)?;
    fault.times = fault.times.saturating_sub(1);
    let kind = fault.kind.clone();
    faults.retain(|fault| fault.times > 0);
    Some(kind)
}
