//! Actions that keys can be bound to.
//!
//! Invariants: no action writes to a cluster. The nearest is [`Action::Approve`], which opens the approval.

/// Section of an action in the help.
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
            Self::Moving => "Movement",
            Self::Going => "Navigation",
            Self::Choosing => "Selection",
            Self::Looking => "Inspection",
            Self::Repairing => "Plan and apply",
            Self::Sharing => "Export",
            Self::Console => "Console",
        }
    }
}

/// Defines the enum and, from the same lines, everything known about each action, so that none is forgotten.
macro_rules! actions {
    ($($variant:ident $name:literal $group:ident $short:literal $message:literal;)*) => {
        /// Something a key can be bound to.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Action {
            $(#[doc = $message] $variant,)*
        }

        impl Action {
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Name in the key file.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            pub fn group(self) -> Group {
                match self { $(Self::$variant => Group::$group),* }
            }

            /// One or two words, for the hint line.
            pub fn short(self) -> &'static str {
                match self { $(Self::$variant => $short),* }
            }

            /// One line, for help and docs.
            pub fn message(self) -> &'static str {
                match self { $(Self::$variant => $message),* }
            }
        }
    };
}

actions! {
    Up "up" Moving "up" "Move one row up";
    Down "down" Moving "down" "Move one row down";
    PageUp "page-up" Moving "page up" "Move one page up";
    PageDown "page-down" Moving "page down" "Move one page down";
    Top "top" Moving "top" "Move to the first row";
    Bottom "bottom" Moving "bottom" "Move to the last row";
    Left "left" Moving "left" "Move left, or close a branch of a tree";
    Right "right" Moving "right" "Move right, or open a branch of a tree";
    NextPane "next-pane" Moving "pane" "Focus the next pane";
    PrevPane "prev-pane" Moving "pane back" "Focus the previous pane";
    Wider "wider" Moving "wider" "Make the list wider";
    Narrower "narrower" Moving "narrower" "Make the detail wider";

    Open "open" Going "open" "Open the selected row, or submit the typed text";
    Back "back" Going "back" "Go back one step";
    HistoryBack "history-back" Going "earlier" "Go to the previous screen";
    HistoryForward "history-forward" Going "later" "Go to the next screen";
    GoFleet "go-fleet" Going "fleet" "Go to the fleet";
    GoDomain1 "go-domain-1" Going "1st check" "Go to the first check";
    GoDomain2 "go-domain-2" Going "2nd check" "Go to the second check";
    GoDomain3 "go-domain-3" Going "3rd check" "Go to the third check";
    GoDomain4 "go-domain-4" Going "4th check" "Go to the fourth check";
    GoDomain5 "go-domain-5" Going "5th check" "Go to the fifth check";
    GoDomain6 "go-domain-6" Going "6th check" "Go to the sixth check";
    GoDomain7 "go-domain-7" Going "7th check" "Go to the seventh check";
    GoDomain8 "go-domain-8" Going "8th check" "Go to the eighth check";
    GoDomain9 "go-domain-9" Going "9th check" "Go to the ninth check";
    GoPlan "go-plan" Going "plan" "Go to the open plan";
    GoActivity "go-activity" Going "activity" "Go to running and past applies";
    GoTimeline "go-timeline" Going "timeline" "Go to the changes of this session";
    StepBack "step-back" Going "step back" "Show the moment before the last change; older ones with each press";
    StepForward "step-forward" Going "step forward" "Show the moment after the next change; live after the last";
    Compare "compare" Going "compare" "Set moment A; pressed again, compare another moment with it";
    GoTour "go-tour" Going "tour" "Start the tour of the demo";
    GoLogs "go-logs" Going "logs" "Go to the log of trueup";
    Wall "wall" Going "wall" "Show or leave the wall: totals, worst clusters, apply, next expiries and news";
    GoExpiry "go-expiry" Going "expiry" "Show when credentials and certificates end";
    Clusters "clusters" Going "clusters" "Choose a cluster";
    Views "views" Going "views" "Choose a saved view";
    Palette "palette" Going "commands" "Find a screen, cluster, action or theme by name";

    Mark "mark" Choosing "mark" "Mark or unmark the row";
    MarkAll "mark-all" Choosing "mark all" "Mark every shown row";
    MarkRange "mark-range" Choosing "mark range" "Mark from the last marked row to the cursor";
    Unmark "unmark" Choosing "unmark all" "Unmark all rows";
    Filter "filter" Choosing "filter" "Show only rows that match the typed filter; search in a text";
    SearchNext "search-next" Choosing "next" "Go to the next match of the search";
    SearchPrevious "search-previous" Choosing "previous" "Go to the previous match of the search";
    ClearFilter "clear-filter" Choosing "clear filter" "Clear the filter";
    Complete "complete" Choosing "complete" "Complete the typed word";
    Sort "sort" Choosing "sort" "Choose the column that sorts the list";
    SortReverse "sort-reverse" Choosing "reverse" "Reverse the sort order";
    ShowMatches "show-matches" Choosing "show matches" "Show or hide the rows that match what is expected";
    GroupByCause "group-by-cause" Choosing "group" "Group findings by cause, or list all rows";
    SaveView "save-view" Choosing "save view" "Save the screen and its filter as a view";


    ViewObject "view-object" Looking "yaml" "Show the object as YAML, secrets masked";
    Reveal "reveal" Looking "reveal" "Show or mask values of an object that look like a credential; never those of a Secret";
    Events "events" Looking "events" "Show the events of the object";
    References "references" Looking "references" "Show what references the object, its owners, managers and finalizers";
    OperatorLog "operator-log" Looking "operator log" "Show the log of the operator that explains the finding";
    ToggleDiff "toggle-diff" Looking "diff" "Switch the difference: fields that differ, all fields, text";
    Question "question" Looking "ask" "Run a query of the check, such as the user of a token";
    FleetTable "fleet-table" Looking "matrix" "Compare the clusters in one table, odd values marked";
    OpenPager "open-pager" Looking "pager" "Open the text in $PAGER";
    OpenEditor "open-editor" Looking "editor" "Open the text in $EDITOR";

    Reconcile "reconcile" Repairing "plan a fix" "Plan a fix for the marked rows, or for the selected row";
    Refresh "refresh" Repairing "refresh" "List everything again, or replan";
    Include "include" Repairing "tick" "Include or exclude an action of the plan";
    DryRun "dry-run" Repairing "dry run" "Run a server-side dry run of the plan";
    WritePlan "write-plan" Repairing "write file" "Write the plan to a file for `trueup apply`";
    Approve "approve" Repairing "approve" "Open the approval dialog; nothing is sent before it is confirmed";
    Users "users" Repairing "used by" "List what uses each object to approve, or count it again";
    Discard "discard" Repairing "discard" "Discard the plan";
    Stop "stop" Repairing "stop" "Stop the apply after the running action";
    Undo "undo" Repairing "undo" "Plan the undo of an applied plan";
    Accept "accept" Repairing "accept" "Accept a finding, with a reason and an end date";
    Probe "probe" Repairing "probe" "Test a kubeconfig or OIDC provider with one request, or reconnect to a cluster";
    Reconnect "reconnect" Repairing "reconnect" "Reconnect to the cluster now";
    RunPlugin "run-plugin" Repairing "log in" "Run the credential plugin of a cluster on this terminal";

    Yes "yes" Repairing "yes" "Answer yes";
    No "no" Repairing "no" "Answer no";

    Copy "copy" Sharing "copy" "Copy the name of the selected row";
    CopyCommand "copy-command" Sharing "copy command" "Copy the kubectl or oc command for the selected row";
    Export "export" Sharing "export" "Write the shown rows as Markdown or CSV";
    Bundle "bundle" Sharing "bundle" "Write findings, evidence, masked YAML, journal and screens as one archive";
    SaveScreen "save-screen" Sharing "save screen" "Save the screen as text and SVG";

    Help "help" Console "help" "Show the keys of this screen";
    Pause "pause" Console "pause" "Pause or resume updates";
    ReadOnly "read-only" Console "writes on/off" "Switch writes off, or on after a question";
    Utc "utc" Console "utc" "Switch between UTC and local time";
    Theme "theme" Console "theme" "Choose a theme";
    Mouse "mouse" Console "mouse" "Release or capture the mouse";
    Repaint "repaint" Console "repaint" "Redraw the screen";
    Suspend "suspend" Console "suspend" "Suspend; `fg` resumes";
    Close "close" Console "close" "Close what is open; on the fleet quit, after a question while a plan is being applied";
    Quit "quit" Console "quit" "Quit; asks first while a plan is being applied";
}

impl Action {
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }

    /// Index of the check that the action goes to.
    pub fn check_index(self) -> Option<usize> {
        Self::GO_CHECKS.iter().position(|action| *action == self)
    }

    /// The action that goes to a check, if the keymap has one for its index.
    pub fn go_check(index: usize) -> Option<Self> {
        Self::GO_CHECKS.get(index).copied()
    }

    const GO_CHECKS: [Self; 9] = [
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
}
