//! Everything a key can do.
//!
//! Invariants: no action writes to a cluster by itself. The nearest is [`Action::Approve`], which opens the approval.

/// Where an action stands in the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    Moving,
    Going,
    Choosing,
    Looking,
    Repairing,
    Sharing,
    Console,
}

impl Group {
    pub const ALL: [Self; 7] =
        [Self::Moving, Self::Going, Self::Choosing, Self::Looking, Self::Repairing, Self::Sharing, Self::Console];

    pub fn title(self) -> &'static str {
        match self {
            Self::Moving => "Moving",
            Self::Going => "Going elsewhere",
            Self::Choosing => "Choosing rows",
            Self::Looking => "Looking closer",
            Self::Repairing => "Repairing",
            Self::Sharing => "Taking it along",
            Self::Console => "The console",
        }
    }
}

/// Makes the enum and, from the same lines, everything that is known of each action: a new one can't be forgotten.
macro_rules! actions {
    ($($variant:ident $name:literal $group:ident $short:literal $says:literal;)*) => {
        /// What a key can be bound to.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Action {
            $(#[doc = $says] $variant,)*
        }

        impl Action {
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// As the key file spells it.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            pub fn group(self) -> Group {
                match self { $(Self::$variant => Group::$group),* }
            }

            /// A word or two, for the hint line.
            pub fn short(self) -> &'static str {
                match self { $(Self::$variant => $short),* }
            }

            /// One line, for help and docs.
            pub fn says(self) -> &'static str {
                match self { $(Self::$variant => $says),* }
            }
        }
    };
}

actions! {
    Up "up" Moving "up" "One row up.";
    Down "down" Moving "down" "One row down.";
    PageUp "page-up" Moving "page up" "One page up.";
    PageDown "page-down" Moving "page down" "One page down.";
    Top "top" Moving "top" "To the first row.";
    Bottom "bottom" Moving "bottom" "To the last row.";
    Left "left" Moving "left" "Left, or closes a branch of a tree.";
    Right "right" Moving "right" "Right, or opens a branch of a tree.";
    NextPane "next-pane" Moving "pane" "To the next pane.";
    PrevPane "prev-pane" Moving "pane back" "To the pane before.";
    Wider "wider" Moving "wider" "Gives the list more room.";
    Narrower "narrower" Moving "narrower" "Gives the detail more room.";

    Open "open" Going "open" "Opens what the cursor is on, or takes what was typed.";
    Back "back" Going "back" "Back to where this was opened from.";
    HistoryBack "history-back" Going "earlier" "To the screen looked at before.";
    HistoryForward "history-forward" Going "later" "To the screen looked at after.";
    GoFleet "go-fleet" Going "fleet" "To the fleet.";
    GoDomain1 "go-domain-1" Going "1st domain" "To the first domain.";
    GoDomain2 "go-domain-2" Going "2nd domain" "To the second domain.";
    GoDomain3 "go-domain-3" Going "3rd domain" "To the third domain.";
    GoDomain4 "go-domain-4" Going "4th domain" "To the fourth domain.";
    GoDomain5 "go-domain-5" Going "5th domain" "To the fifth domain.";
    GoDomain6 "go-domain-6" Going "6th domain" "To the sixth domain.";
    GoDomain7 "go-domain-7" Going "7th domain" "To the seventh domain.";
    GoDomain8 "go-domain-8" Going "8th domain" "To the eighth domain.";
    GoDomain9 "go-domain-9" Going "9th domain" "To the ninth domain.";
    GoPlan "go-plan" Going "plan" "To the plan that is open.";
    GoActivity "go-activity" Going "activity" "To what was applied, and what is being applied.";
    GoLogs "go-logs" Going "logs" "To the program's own log.";
    Clusters "clusters" Going "clusters" "Picks which clusters are shown.";
    Views "views" Going "views" "Picks a saved view.";
    Palette "palette" Going "commands" "Finds any screen, cluster, action or theme by its name.";

    Mark "mark" Choosing "mark" "Marks the row, or takes its mark away.";
    MarkAll "mark-all" Choosing "mark all" "Marks every row that is shown.";
    MarkRange "mark-range" Choosing "mark range" "Marks from the row marked last to the cursor.";
    Unmark "unmark" Choosing "unmark all" "Takes all marks away.";
    Filter "filter" Choosing "filter" "Shows only what matches what is typed.";
    ClearFilter "clear-filter" Choosing "clear filter" "Shows everything again.";
    Complete "complete" Choosing "complete" "Completes the word that is being typed.";
    SortNext "sort-next" Choosing "sort" "Sorts by the next column.";
    SortReverse "sort-reverse" Choosing "reverse" "Sorts the other way round.";

    ViewObject "view-object" Looking "view yaml" "Shows the object as YAML, secrets masked.";
    Events "events" Looking "events" "Shows the events of the object.";
    OpenReferrer "open-referrer" Looking "open referrer" "Goes to the object that refers to this one.";
    ToggleDiff "toggle-diff" Looking "diff" "Switches how the difference is shown: as text, field by field, or not.";
    Question "question" Looking "ask" "Asks the domain's question, such as who a token would be.";
    OpenPager "open-pager" Looking "pager" "Hands the text to $PAGER.";
    OpenEditor "open-editor" Looking "editor" "Hands the text to $EDITOR.";

    Reconcile "reconcile" Repairing "reconcile" "Makes a plan for the marked rows, else for the row at the cursor.";
    Refresh "refresh" Repairing "refresh" "Lists again, or makes the open plan anew.";
    Include "include" Repairing "include/exclude" "Takes an action of the plan in or out.";
    DryRun "dry-run" Repairing "dry run" "Has the servers check the plan without doing it.";
    WritePlan "write-plan" Repairing "write plan file" "Writes the plan to a file that `trueup apply` takes.";
    Approve "approve" Repairing "approve" "Opens the approval; nothing happens before it is answered.";
    Discard "discard" Repairing "discard" "Lets go of the plan.";
    Stop "stop" Repairing "stop" "Stops applying after the action that is running.";
    Undo "undo" Repairing "undo" "Makes the plan that takes an applied one back.";
    Accept "accept" Repairing "accept" "Accepts a finding as it is, with a reason and an end.";
    Probe "probe" Repairing "probe" "Tries a kubeconfig or a login provider, one request, or asks a cluster anew.";
    Reconnect "reconnect" Repairing "reconnect" "Tries the cluster again now.";
    RunPlugin "run-plugin" Repairing "log in" "Leaves the screen to run a cluster's credential plugin.";

    Copy "copy" Sharing "copy" "Copies what the cursor is on.";
    CopyCommand "copy-command" Sharing "copy command" "Copies the kubectl or oc command that shows the same.";
    Export "export" Sharing "export" "Writes what is shown as Markdown or CSV.";
    SaveScreen "save-screen" Sharing "save screen" "Saves the screen as text and as SVG.";

    Help "help" Console "help" "Shows the keys that work here.";
    Pause "pause" Console "pause" "Freezes the view, or lets it go on.";
    ReadOnly "read-only" Console "read-only" "Switches read-only mode.";
    Utc "utc" Console "utc" "Switches between UTC and local time.";
    Theme "theme" Console "theme" "Picks a theme.";
    Mouse "mouse" Console "mouse" "Lets go of the mouse, or takes it back.";
    Repaint "repaint" Console "repaint" "Draws the whole screen anew.";
    Suspend "suspend" Console "suspend" "Goes to the background; `fg` comes back.";
    Quit "quit" Console "quit" "Quits; asks first while a plan is being applied.";
}

impl Action {
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }

    /// Which domain the action goes to, counted from 0.
    pub fn domain_place(self) -> Option<usize> {
        let domains = [
            Self::GoDomain1,
            Self::GoDomain2,
            Self::GoDomain3,
            Self::GoDomain4,
            Self::GoDomain5,
            Self::GoDomain6,
            Self::GoDomain7,
            Self::GoDomain8,
            Self::GoDomain9,
        ];
        domains.iter().position(|domain| *domain == self)
    }
}
