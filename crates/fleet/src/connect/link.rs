//! The state of the link to one cluster, as a machine without IO: events in, the new state and what to do out.
//!
//! ```text
//!        Wanted            Connected           AllListed
//!  Idle ────────► Connecting ───────► Listing ──────────► Live
//!                   ▲   ▲  │ Failing                        │ Failing
//!          RetryDue │   │  ▼                                ▼
//!                   └── Degraded (retry at) ◄───────────────┘      Unauthorized twice in a row → AuthExpired
//!                                                                  Hopeless                    → Failed
//! ```
//!
//! Invariants:
//! - waits double from half a second to a minute and start again only after everything was listed;
//! - the first 401 gets one quick try with a fresh login; the second in a row waits for a person or a changed file,
//!   because asking a credential plugin again and again could open a browser each time;
//! - a changed kubeconfig or a jumped clock connects at once, from any state but Idle.

use std::time::Duration;

use jiff::Timestamp;

use trueup_core::world::{Gap, Link};

/// The first wait after a failure.
const WAIT_MIN: Duration = Duration::from_millis(500);

/// The longest wait: long enough to spare a server that is down, short enough that no user intervenes.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// The link to one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkMachine {
    link: Link,
    failures: u32,
    login: LoginState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LoginState {
    Unquestioned,
    /// A 401 came, and one try with a fresh login is under way.
    RefusedOnce,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkEvent {
    /// The cluster is needed, or a user asks to retry now.
    Wanted,
    /// The cluster is not needed any more.
    Released,
    Connected,
    /// So many objects have been listed so far.
    Progress(u64),
    /// Everything of interest has been listed and is being watched.
    AllListed,
    /// A failure that may be transient.
    Failing(Gap),
    /// The login was refused, or could not be had; `hint` says what a person can do.
    Unauthorized {
        gap: Gap,
        hint: String,
    },
    /// Something failed that only a person can mend, such as a broken kubeconfig.
    Hopeless(Gap),
    /// The time of [`LinkEffect::RetryAt`] has come.
    RetryDue,
    KubeconfigChanged,
    /// The wall clock jumped, as after sleep: connections that look open are dead.
    ClockJumped,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkEffect {
    /// Drop what is open, if anything, and connect.
    Connect,
    /// Wake the machine with [`LinkEvent::RetryDue`] then.
    RetryAt(Timestamp),
    /// Drop what is open.
    Disconnect,
}

/// Randomness, given from outside: 0 is the shortest wait, [`u16::MAX`] the longest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Jitter(pub u16);

impl Default for LinkMachine {
    fn default() -> Self {
        Self { link: Link::Idle, failures: 0, login: LoginState::Unquestioned }
    }
}

impl LinkMachine {
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// Takes an event in. Events that make no sense in the present state (late ones) change nothing.
    pub fn step(&mut self, event: LinkEvent, now: Timestamp, jitter: Jitter) -> Option<LinkEffect> {
        match event {
            LinkEvent::Released => self.release(),
            LinkEvent::Wanted | LinkEvent::RetryDue => self.connect_if_waiting(&event, now),
            LinkEvent::KubeconfigChanged | LinkEvent::ClockJumped => self.connect_again(),
            LinkEvent::Connected => self.advance(Link::Listing { objects: 0 }, |link| matches!(link, Link::Connecting)),
            LinkEvent::Progress(objects) => {
                self.advance(Link::Listing { objects }, |link| matches!(link, Link::Listing { .. }))
            }
            LinkEvent::AllListed => self.all_listed(now),
            LinkEvent::Failing(gap) => self.fail(gap, now, jitter),
            LinkEvent::Unauthorized { gap, hint } => self.unauthorized(gap, hint, now, jitter),
            LinkEvent::Hopeless(gap) => self.if_open(|machine| {
                machine.link = Link::Failed { gap };
                Some(LinkEffect::Disconnect)
            }),
        }
    }

    fn release(&mut self) -> Option<LinkEffect> {
        let before = std::mem::take(self);
        match before.link {
            Link::Idle | Link::Recorded => {
                *self = before;
                None
            }
            Link::Connecting
            | Link::Listing { .. }
            | Link::Live { .. }
            | Link::Degraded { .. }
            | Link::AuthExpired { .. }
            | Link::Failed { .. } => Some(LinkEffect::Disconnect),
        }
    }

    fn connect_if_waiting(&mut self, event: &LinkEvent, now: Timestamp) -> Option<LinkEffect> {
        let asked = *event == LinkEvent::Wanted;
        let connects = match &self.link {
            Link::Degraded { retry_at, .. } => asked || now >= *retry_at,
            Link::Idle | Link::AuthExpired { .. } | Link::Failed { .. } => asked,
            Link::Connecting | Link::Listing { .. } | Link::Live { .. } | Link::Recorded => false,
        };
        if !connects {
            return None;
        }
        self.link = Link::Connecting;
        Some(LinkEffect::Connect)
    }

    fn connect_again(&mut self) -> Option<LinkEffect> {
        match &self.link {
            Link::Idle | Link::Recorded => None,
            Link::Connecting
            | Link::Listing { .. }
            | Link::Live { .. }
            | Link::Degraded { .. }
            | Link::AuthExpired { .. }
            | Link::Failed { .. } => {
                *self = Self { link: Link::Connecting, ..Self::default() };
                Some(LinkEffect::Connect)
            }
        }
    }

    fn advance(&mut self, next: Link, fits: impl Fn(&Link) -> bool) -> Option<LinkEffect> {
        if fits(&self.link) {
            self.link = next;
        }
        None
    }

    fn all_listed(&mut self, now: Timestamp) -> Option<LinkEffect> {
        if matches!(self.link, Link::Listing { .. }) {
            *self = Self { link: Link::Live { since: now }, ..Self::default() };
        }
        None
    }

    fn fail(&mut self, gap: Gap, now: Timestamp, jitter: Jitter) -> Option<LinkEffect> {
        self.if_open(|machine| {
            let retry_at = later(now, wait(machine.failures, jitter));
            machine.failures = machine.failures.saturating_add(1);
            machine.link = Link::Degraded { gap, retry_at };
            Some(LinkEffect::RetryAt(retry_at))
        })
    }

    fn unauthorized(&mut self, gap: Gap, hint: String, now: Timestamp, jitter: Jitter) -> Option<LinkEffect> {
        match self.login {
            LoginState::Unquestioned => {
                let effect = self.fail(gap, now, jitter);
                if effect.is_some() {
                    self.login = LoginState::RefusedOnce;
                }
                effect
            }
            LoginState::RefusedOnce => self.if_open(|machine| {
                machine.login = LoginState::Unquestioned;
                machine.link = Link::AuthExpired { gap, hint };
                Some(LinkEffect::Disconnect)
            }),
        }
    }

    /// Runs a change only while connecting or connected: one dying connection reports many errors, and counts once.
    fn if_open(&mut self, change: impl FnOnce(&mut Self) -> Option<LinkEffect>) -> Option<LinkEffect> {
        match &self.link {
            Link::Connecting | Link::Listing { .. } | Link::Live { .. } => change(self),
            Link::Idle | Link::Degraded { .. } | Link::AuthExpired { .. } | Link::Failed { .. } | Link::Recorded => {
                None
            }
        }
    }
}

/// The wait after so many failures: doubled each time up to the longest, then shortened by up to half, so that a
/// hundred clusters behind one broken VPN don't come back in step.
fn wait(failures: u32, jitter: Jitter) -> Duration {
    let doubled = WAIT_MIN.saturating_mul(1u32.checked_shl(failures.min(16)).unwrap_or(u32::MAX));
    let whole = doubled.min(WAIT_MAX);
    whole / 2 + whole.mul_f64(f64::from(jitter.0) / f64::from(u16::MAX) / 2.0)
}

fn later(now: Timestamp, wait: Duration) -> Timestamp {
    now.checked_add(wait).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_core::world::GapCause;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;
    const LONGEST: Jitter = Jitter(u16::MAX);

    fn gap() -> Gap {
        Gap::new(GapCause::Unreachable, "gone")
    }

    fn refused() -> LinkEvent {
        LinkEvent::Unauthorized { gap: gap(), hint: "log in".to_owned() }
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(millis).unwrap()
    }

    fn degraded(millis: i64) -> Link {
        Link::Degraded { gap: gap(), retry_at: at(millis) }
    }

    fn after(events: impl IntoIterator<Item = LinkEvent>) -> (LinkMachine, Option<LinkEffect>) {
        let mut machine = LinkMachine::default();
        let mut effect = None;
        for event in events {
            effect = machine.step(event, NOW, LONGEST);
        }
        (machine, effect)
    }

    fn live() -> Vec<LinkEvent> {
        vec![LinkEvent::Wanted, LinkEvent::Connected, LinkEvent::Progress(7), LinkEvent::AllListed]
    }

    fn then(mut events: Vec<LinkEvent>, more: impl IntoIterator<Item = LinkEvent>) -> Vec<LinkEvent> {
        events.extend(more);
        events
    }

    #[test]
    fn the_link_goes_through_its_states() {
        use LinkEffect::{Connect, Disconnect, RetryAt};
        use LinkEvent::{
            ClockJumped, Connected, Failing, Hopeless, KubeconfigChanged, Progress, Released, RetryDue, Wanted,
        };
        let since = Link::Live { since: NOW };
        let expired = Link::AuthExpired { gap: gap(), hint: "log in".to_owned() };
        let twice_refused = || then(live(), [refused(), Wanted, refused()]);
        let cases = [
            ("wanted", vec![Wanted], Link::Connecting, Some(Connect)),
            ("wanted twice", vec![Wanted, Wanted], Link::Connecting, None),
            ("connected", vec![Wanted, Connected], Link::Listing { objects: 0 }, None),
            ("progress", vec![Wanted, Connected, Progress(9)], Link::Listing { objects: 9 }, None),
            ("live", live(), since.clone(), None),
            ("late progress", then(live(), [Progress(1)]), since.clone(), None),
            ("failing", then(live(), [Failing(gap())]), degraded(500), Some(RetryAt(at(500)))),
            ("many errors of one death", then(live(), [Failing(gap()), Failing(gap())]), degraded(500), None),
            ("retry before its time", then(live(), [Failing(gap()), RetryDue]), degraded(500), None),
            ("asked before its time", then(live(), [Failing(gap()), Wanted]), Link::Connecting, Some(Connect)),
            ("refused once", then(live(), [refused()]), degraded(500), Some(RetryAt(at(500)))),
            ("refused again", twice_refused(), expired.clone(), Some(Disconnect)),
            ("no automatic retry after that", then(twice_refused(), [RetryDue]), expired, None),
            ("asked after that", then(twice_refused(), [Wanted]), Link::Connecting, Some(Connect)),
            ("new kubeconfig after that", then(twice_refused(), [KubeconfigChanged]), Link::Connecting, Some(Connect)),
            ("hopeless", vec![Wanted, Hopeless(gap())], Link::Failed { gap: gap() }, Some(Disconnect)),
            ("mended", vec![Wanted, Hopeless(gap()), KubeconfigChanged], Link::Connecting, Some(Connect)),
            ("clock jumped", then(live(), [ClockJumped]), Link::Connecting, Some(Connect)),
            (
                "clock jumped while waiting",
                then(live(), [Failing(gap()), ClockJumped]),
                Link::Connecting,
                Some(Connect),
            ),
            ("not needed", vec![KubeconfigChanged], Link::Idle, None),
            ("released", then(live(), [Released]), Link::Idle, Some(Disconnect)),
            ("error after release", then(live(), [Released, Failing(gap())]), Link::Idle, None),
        ];
        for (case, events, expected, expected_effect) in cases {
            let (machine, effect) = after(events);
            assert_eq!((machine.link(), effect), (&expected, expected_effect), "case: {case}");
        }
    }

    #[test]
    fn a_retry_comes_when_its_time_has_come() {
        let (mut machine, _) = after(then(live(), [LinkEvent::Failing(gap())]));
        assert_eq!(machine.step(LinkEvent::RetryDue, at(500), LONGEST), Some(LinkEffect::Connect));
    }

    #[test]
    fn waits_double_up_to_a_minute_and_start_again_once_live() {
        let mut machine = LinkMachine::default();
        let mut waits = Vec::new();
        for _ in 0..9 {
            machine.step(LinkEvent::Wanted, NOW, LONGEST);
            machine.step(LinkEvent::Connected, NOW, LONGEST);
            let Some(LinkEffect::RetryAt(time)) = machine.step(LinkEvent::Failing(gap()), NOW, LONGEST) else {
                panic!("a failure is retried");
            };
            waits.push(time.as_millisecond());
        }
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000]);
        for event in live() {
            machine.step(event, NOW, LONGEST);
        }
        let effect = machine.step(LinkEvent::Failing(gap()), NOW, Jitter(0));
        assert_eq!(effect, Some(LinkEffect::RetryAt(at(250))), "the shortest wait is half of it");
    }
}
