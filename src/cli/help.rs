//! Examples and exit codes, below the options of `--help`.
//!
//! Invariants: every example parses, as a test checks; the exit codes are those of the command's own file.

pub const TRUEUP: &str = "\
Examples:
  trueup                                the console on the current context
  trueup demo                           the console on an embedded fleet
  trueup plan --changes-only            findings and fixes as a table

Exit codes:
  0  done; plan: nothing to do
  1  usage, or another error
  2  plan: there are actions; apply: applied in part
  3  refused for safety, or something is unknown
  4  plan is stale, expired or another one
  130  interrupted before anything was sent";

pub const PLAN: &str = "\
Examples:
  trueup plan --changes-only --cluster 'guest-*'
  trueup plan -o json --out plan.json
  trueup plan --from snapshot --domain hosted-oidc
  trueup plan secrets -n openshift-config -o name
  trueup plan --field-selector kind=Secret,state!=match
  trueup plan -o junit                  also sarif, openmetrics, markdown, csv
  trueup plan --watch -o json           the plan, then an object per change, one per line
  trueup plan --from must-gather.tar.gz -o html
  trueup plan --within reviewed.json --out plan.json

Exit codes:
  0  every finding matches, and no action is blocked
  2  at least one action can be applied
  3  anything else: unknown, blocked, expired, or an input that cannot be read
  4  an action is not within the plan of --within
  1  usage, or another error";

pub const EXPLAIN: &str = "\
Examples:
  trueup explain ext-auth
  trueup explain Secret/ext-auth-console -n openshift-config
  trueup explain a1 --plan plan.json
  trueup explain hc/guest-a -A --diff   actual and expected in KUBECTL_EXTERNAL_DIFF

Exit codes:
  0  explained
  1  nothing or several findings match, or another error";

pub const GATHER: &str = "\
Examples:
  trueup gather snap --all-contexts
  trueup gather redacted --from must-gather.tar.gz

Exit codes:
  0  the snapshot is complete and gives the same findings
  3  something is incomplete, or judged otherwise in the snapshot
  1  nothing was gathered";

pub const SHOW: &str = "\
Examples:
  trueup show plan.json
  trueup show plan.json -o markdown
  trueup show plan.json --diff          what each action changes, in KUBECTL_EXTERNAL_DIFF

Exit codes:
  0  plan can be applied
  3  something stands in the way; stderr says what
  4  plan was edited: its content is not what its id says
  1  the file is not a plan, or another error";

pub const SCHEMA: &str = "\
Examples:
  trueup schema plan
  trueup schema config";

pub const APPLY: &str = "\
Examples:
  trueup apply plan.json
  trueup apply plan.json --only a1 a2
  trueup apply plan.json --expect 5f21c9aa -o json

Exit codes:
  0  everything was applied and verified
  2  applied in part
  3  refused for safety: a gate, a policy, or something unknown
  4  plan is stale, expired or another one
  130  interrupted before anything was sent";

pub const RBAC: &str = "\
Examples:
  trueup rbac
  trueup rbac --check hosted-oidc --mode apply
  trueup rbac --belt --user system:serviceaccount:trueup:trueup

Exit codes:
  0  printed
  1  no enabled check has that name, or another error";

pub const PROPOSALS: &str = "\
Examples:
  trueup proposals list --hub hub
  trueup proposals show 7029d4a7 --hub hub
  trueup proposals approve guest-payments-hosted-oidc-7029d4a7 --hub hub
  trueup proposals reject 7029d4a7 --reason 'wait' --hub hub

Exit codes:
  0  done
  3  refused: the API server, the answer, or the state of the Proposal
  4  another plan than expected, or its content is not what its id says
  1  usage, or another error";

pub const UNDO: &str = "\
Examples:
  trueup undo 5f21c9aa
  trueup undo 5f21c9aa/a1
  trueup undo 5f21c9aa --out undo.json

Exit codes:
  as trueup apply; 0 with --out when the plan was written";

pub const HISTORY: &str = "\
Examples:
  trueup history
  trueup history show 5f21c9aa
  trueup history verify

Exit codes:
  0  listed, or the journal is intact
  3  verify found damage
  1  the journal cannot be read";

pub const DOCTOR: &str = "\
Examples:
  trueup doctor
  trueup doctor --context mgmt-eu

Exit codes:
  0  every check passed
  3  at least one failed";

pub const DEMO: &str = "\
Examples:
  trueup demo
  trueup demo --headless --listen 127.0.0.1:0";

pub const RUN: &str = "\
Examples:
  trueup run --config /etc/trueup/config.toml
  trueup run --context hub --namespace trueup --listen 127.0.0.1:8080

Exit codes:
  0  stopped by a signal: the action in flight has ended, and the Leases are released
  1  anything else";

pub const TOKEN: &str = "\
Examples:
  trueup token kubeconfig.yaml
  oc whoami -t | trueup token";

pub const MCP: &str = "\
Examples:
  trueup mcp --context mgmt-eu
  trueup mcp --from must-gather
  trueup mcp --all-contexts --out-dir plans

Exit codes:
  0  the client closed stdin
  1  the fleet or the folder cannot be used, or another error";

pub const MAN: &str = "\
Examples:
  trueup man | man -l -
  trueup man history verify
  trueup man --dir ~/.local/share/man/man1";

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::super::args::Cli;

    /// The examples of every command, as their words.
    fn examples(command: &clap::Command) -> Vec<Vec<String>> {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let lines = help
            .lines()
            .map(str::trim)
            .filter_map(|line| line.rsplit_once("| ").map_or(Some(line), |(_, last)| Some(last)));
        let of_line = |line: &str| {
            let command = line.split("   ").next().unwrap_or_default();
            command.split_whitespace().map(|word| word.trim_matches('\'').to_owned()).collect::<Vec<_>>()
        };
        let own = lines.filter(|line| line.starts_with("trueup")).map(of_line);
        own.chain(command.get_subcommands().flat_map(examples)).collect()
    }

    #[test]
    fn every_example_in_the_help_parses() {
        let examples = examples(&Cli::command());
        assert!(examples.len() > 20, "{examples:?}");
        for example in examples {
            assert!(Cli::try_parse_from(&example).is_ok(), "{example:?}");
        }
    }

    #[test]
    fn help_groups_own_and_common_options() {
        let help = Cli::try_parse_from(["trueup", "plan", "--help"]).unwrap_err().to_string();
        let (own, common) = help.split_once("Common options:").unwrap();
        assert!(own.contains("--changes-only") && !own.contains("--kubeconfig"), "{help}");
        assert!(common.contains("--kubeconfig") && common.contains("Exit codes:"), "{help}");
    }
}
