//! What a piece of text on the screen means.

use trueup_core::engine::State;
use trueup_core::world::RiskClass;

macro_rules! roles {
    ($($role:ident = $name:literal: $says:literal,)+) => {
        /// The meaning of a piece of text: the one thing a view says about how it looks.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Role {
            $(#[doc = $says] $role,)+
        }

        impl Role {
            pub const ALL: &'static [Self] = &[$(Self::$role,)+];

            /// As theme files spell it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$role => $name,)+
                }
            }

            /// What it is for, for people who write a theme.
            pub fn says(self) -> &'static str {
                match self {
                    $(Self::$role => $says,)+
                }
            }
        }
    };
}

roles! {
    Text = "text": "ordinary text; its background is the screen's, so views fill their area with it first",
    Muted = "muted": "what matters less",
    Title = "title": "the name of a pane",
    Accent = "accent": "what stands out without being good or bad",
    Border = "border": "the frame of a pane",
    BorderFocus = "border-focus": "the frame of the pane that has the keys",
    Header = "header": "the heads of a table's columns",
    Selection = "selection": "the row under the cursor, in the pane that has the keys; laid on last",
    SelectionUnfocused = "selection-unfocused": "the row under the cursor, in a pane that waits; laid on last",
    Mark = "mark": "a row that was marked for a plan",
    Ghost = "ghost": "a row that a plan would take away and that is still there",
    Match = "match": "as expected",
    Missing = "missing": "expected and not there",
    Extra = "extra": "there and not expected",
    Drift = "drift": "there, and different",
    Warn = "warn": "stale, expiring, soon to matter",
    Unknown = "unknown": "nothing can be said",
    Error = "error": "danger: an error, a refusal, something that can't be taken back",
    Blocked = "blocked": "something stands in the way",
    Ok = "ok": "something went well",
    HintKey = "hint-key": "a key in the hint line",
    HintText = "hint-text": "what a key in the hint line does",
    DiffAdd = "diff-add": "a line that comes",
    DiffRemove = "diff-remove": "a line that goes",
    DiffContext = "diff-context": "a line that stays",
    ClassDev = "class-dev": "a cluster of class dev",
    ClassStage = "class-stage": "a cluster of class stage",
    ClassProd = "class-prod": "a cluster of class prod, not to be mistaken for another",
    BarFull = "bar-full": "the part of a bar that is reached",
    BarEmpty = "bar-empty": "the part of a bar that is left",
    Toast = "toast": "a result, told in passing",
    ToastError = "toast-error": "a failure, told in passing",
    Link = "link": "something to follow: a referrer, a command",
    Filter = "filter": "the filter line, and what it found in a text",
    ReadOnly = "read-only": "the sign that nothing can be changed",
}

impl From<State> for Role {
    fn from(state: State) -> Self {
        match state {
            State::Match => Self::Match,
            State::Missing => Self::Missing,
            State::Extra => Self::Extra,
            State::Drift => Self::Drift,
            State::Stale => Self::Warn,
            State::Unknown => Self::Unknown,
            State::Error => Self::Error,
            State::Blocked => Self::Blocked,
        }
    }
}

impl From<RiskClass> for Role {
    fn from(class: RiskClass) -> Self {
        match class {
            RiskClass::Dev => Self::ClassDev,
            RiskClass::Stage => Self::ClassStage,
            RiskClass::Prod => Self::ClassProd,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_has_a_name_of_its_own_that_a_file_can_hold() {
        let mut names: Vec<&str> = Role::ALL.iter().map(|role| role.name()).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        let is_key = |name: &&str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        assert!(names.iter().all(is_key), "{names:?}");
    }

    #[test]
    fn a_role_stands_at_its_own_place_in_the_list() {
        for (index, role) in Role::ALL.iter().enumerate() {
            assert_eq!(*role as usize, index, "{role:?}");
        }
    }
}
