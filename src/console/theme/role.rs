//! Roles: the meaning of a text on the screen.

use trueup_core::engine::State;
use trueup_core::world::RiskClass;

macro_rules! roles {
    ($($role:ident = $name:literal: $message:literal,)+) => {
        /// The meaning of a text: the only thing a view says about its appearance.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Role {
            $(#[doc = $message] $role,)+
        }

        impl Role {
            pub const ALL: &'static [Self] = &[$(Self::$role,)+];

            /// Name in theme files.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$role => $name,)+
                }
            }

            /// Description for theme authors.
            pub fn message(self) -> &'static str {
                match self {
                    $(Self::$role => $message,)+
                }
            }
        }
    };
}

roles! {
    Text = "text": "normal text; its background fills the screen",
    Muted = "muted": "less important text",
    Title = "title": "title of a pane",
    Accent = "accent": "neutral emphasis",
    Border = "border": "border of a pane",
    BorderFocus = "border-focus": "border of the focused pane",
    Dialog = "dialog": "normal text of a dialog; its background fills the dialog",
    Header = "header": "column headers",
    Selection = "selection": "cursor row in the focused pane; applied last",
    SelectionUnfocused = "selection-unfocused": "cursor row in an unfocused pane; applied last",
    Mark = "mark": "marked row",
    Ghost = "ghost": "existing row that the plan deletes",
    Match = "match": "as expected",
    Missing = "missing": "expected but absent",
    Extra = "extra": "present but not expected",
    Drift = "drift": "present but different",
    Warn = "warn": "stale or expiring",
    Unknown = "unknown": "unknown",
    Error = "error": "errors, refusals and actions without undo",
    Blocked = "blocked": "blocked by a gate",
    Ok = "ok": "success",
    HintKey = "hint-key": "key in the hint line",
    HintText = "hint-text": "description in the hint line",
    DiffAdd = "diff-add": "added line",
    DiffRemove = "diff-remove": "removed line",
    DiffContext = "diff-context": "unchanged line",
    ClassDev = "class-dev": "cluster of class dev",
    ClassStage = "class-stage": "cluster of class stage",
    ClassProd = "class-prod": "cluster of class prod; bold, no colour of its own",
    BarFull = "bar-full": "filled part of a bar",
    BarEmpty = "bar-empty": "empty part of a bar",
    Toast = "toast": "short message",
    ToastError = "toast-error": "short error message",
    Link = "link": "reference or command",
    Filter = "filter": "filter line and its matches",
    ReadOnly = "read-only": "read-only indicator",
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
    fn every_role_has_a_unique_name_for_files() {
        let mut names: Vec<&str> = Role::ALL.iter().map(|role| role.name()).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        let is_key = |name: &&str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        assert!(names.iter().all(is_key), "{names:?}");
    }

    #[test]
    fn a_role_has_its_own_index_in_the_list() {
        for (index, role) in Role::ALL.iter().enumerate() {
            assert_eq!(*role as usize, index, "{role:?}");
        }
    }
}
