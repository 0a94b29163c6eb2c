//! `[defaults]` of the config: what flags are where the command line leaves them out, as kubectl's kuberc has it.
//!
//! Invariants: the command line wins; what approves a plan, or lets it write more, has no default.
//!
//! Elsewhere: reading the table, with the line of each problem (`config::defaults`).

use std::collections::BTreeMap;

use clap::{Arg, ArgAction, Command, CommandFactory as _, FromArgMatches as _, Parser as _, builder::ValueParser};

use super::args::{Cli, Globals};
use super::usage;
use crate::config::{ConfigFile, FlagDefaults, read_config};
use trueup_checks::registry;

/// Flags that are always typed.
const TYPED: [&str; 6] = ["confirm-cluster", "expect", "foreign-plan", "max-deletes", "only", "select"];

/// A flag that may have a default.
pub struct Flag {
    pub name: String,
    pub kind: FlagKind,
    parser: ValueParser,
}

/// What a flag takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlagKind {
    Switch,
    One,
    Many,
}

impl Flag {
    fn of(arg: &Arg) -> Option<Self> {
        let name = arg.get_long().filter(|name| !TYPED.contains(name) && !arg.is_global_set())?;
        let action = arg.get_action();
        let kind = if matches!(action, ArgAction::SetTrue) {
            FlagKind::Switch
        } else if matches!(action, ArgAction::Append) {
            FlagKind::Many
        } else if matches!(action, ArgAction::Set) {
            FlagKind::One
        } else {
            return None;
        };
        Some(Self { name: name.to_owned(), kind, parser: arg.get_value_parser().clone() })
    }

    /// Whether the flag takes the value.
    ///
    /// # Errors
    /// Why it does not.
    pub fn check(&self, value: &str) -> Result<(), String> {
        let arg = Arg::new(self.name.clone()).long(self.name.clone()).value_parser(self.parser.clone());
        let command = Command::new("trueup").no_binary_name(true).arg(arg);
        let parsed = command.try_get_matches_from([format!("--{}={value}", self.name)]);
        parsed.map(drop).map_err(|error| usage::reason(&error))
    }
}

/// The flags of every command, by its name: `plan`, `oidc login`.
pub fn known_flags() -> BTreeMap<String, Vec<Flag>> {
    let mut all = BTreeMap::new();
    add_flags(&Cli::command(), "", &mut all);
    all
}

fn add_flags(command: &Command, path: &str, all: &mut BTreeMap<String, Vec<Flag>>) {
    for sub in command.get_subcommands() {
        let path = format!("{path} {}", sub.get_name()).trim_start().to_owned();
        let flags: Vec<Flag> = sub.get_arguments().filter_map(Flag::of).collect();
        add_flags(sub, &path, all);
        if !flags.is_empty() {
            all.insert(path, flags);
        }
    }
}

/// Reads the command line, with the defaults of the config.
///
/// # Errors
/// The command line is wrong, or asks for help.
pub fn parse() -> Result<Cli, clap::Error> {
    let cli = Cli::try_parse()?;
    let defaults = configured(&cli.globals);
    if defaults.is_empty() {
        return Ok(cli);
    }
    with_defaults(Cli::command(), &defaults).try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches))
}

/// The defaults of the config. A config with problems has none: commands that read it report them, and others do not need
/// it. A pipe is left to the command, because it can be read once.
fn configured(globals: &Globals) -> FlagDefaults {
    let file = ConfigFile::locate(globals.config.clone(), |name| std::env::var_os(name));
    let is_file = match &file {
        ConfigFile::Named(path) | ConfigFile::Default(path) => path.is_file(),
        ConfigFile::Nowhere => false,
    };
    let config = is_file.then(|| read_config(&file, registry::entries()));
    config.and_then(Result::ok).map(|config| config.defaults).unwrap_or_default()
}

fn with_defaults(command: Command, defaults: &FlagDefaults) -> Command {
    defaults.iter().fold(command, |command, (path, flags)| {
        let path: Vec<&str> = path.split(' ').collect();
        in_subcommand(command, &path, flags)
    })
}

fn in_subcommand(command: Command, path: &[&str], flags: &BTreeMap<String, Vec<String>>) -> Command {
    match path.split_first() {
        Some((name, rest)) => command.mut_subcommand(name, |sub| in_subcommand(sub, rest, flags)),
        None => command.mut_args(|arg| match arg.get_long().and_then(|name| flags.get(name)) {
            Some(values) => with_default(arg, values),
            None => arg,
        }),
    }
}

fn with_default(arg: Arg, values: &[String]) -> Arg {
    let values = values.to_vec();
    if !matches!(arg.get_action(), ArgAction::SetTrue) {
        return arg.default_values(values);
    }
    // `--flag=false` overrides a default of true.
    let switch = arg.action(ArgAction::Set).num_args(0..=1).require_equals(true);
    switch.default_missing_value("true").default_values(values)
}

#[cfg(test)]
mod tests {
    use super::super::args::{Command as Asked, PlanArgs, PlanFormat};
    use super::*;

    fn defaults(flags: &[(&str, &[&str])]) -> FlagDefaults {
        let flags = flags.iter().map(|(name, values)| {
            ((*name).to_owned(), values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>())
        });
        BTreeMap::from([("plan".to_owned(), flags.collect())])
    }

    fn plan(defaults: &FlagDefaults, args: &[&str]) -> PlanArgs {
        let args = ["trueup", "plan"].iter().chain(args);
        let matches = with_defaults(Cli::command(), defaults).try_get_matches_from(args).unwrap();
        match Cli::from_arg_matches(&matches).unwrap().command {
            Some(Asked::Plan(args)) => args,
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn flags_of_the_command_line_win_over_defaults() {
        let set = defaults(&[("output", &["wide"]), ("changes-only", &["true"]), ("cluster", &["a", "b"])]);
        let left_out = plan(&set, &[]);
        assert_eq!((left_out.format, left_out.changes_only), (PlanFormat::Wide, true));
        assert_eq!(left_out.clusters, ["a", "b"]);
        let given = plan(&set, &["-o", "json", "--changes-only=false", "--cluster", "c"]);
        assert_eq!((given.format, given.changes_only), (PlanFormat::Json, false));
        assert_eq!(given.clusters, ["c"]);
        assert!(plan(&set, &["--changes-only"]).changes_only);
    }

    #[test]
    fn a_default_conflicts_with_nothing() {
        let set = defaults(&[("watch", &["true"])]);
        let cli = ["trueup", "plan", "--from", "x"];
        assert!(with_defaults(Cli::command(), &set).try_get_matches_from(cli).is_ok());
    }

    #[test]
    fn what_approves_a_plan_has_no_default() {
        let all = known_flags();
        let names = |command: &str| all[command].iter().map(|flag| flag.name.as_str()).collect::<Vec<_>>();
        assert!(names("plan").contains(&"output") && !names("plan").contains(&"max-deletes"));
        for name in TYPED {
            assert!(!all.values().flatten().any(|flag| flag.name == name), "{name}");
        }
        assert!(names("oidc login").contains(&"claims"));
        assert!(!names("plan").contains(&"kubeconfig"), "global flags are not of one command");
    }
}
