//! All commands as one page of the docs.
//!
//! Invariants: what the page says of a command is what `--help` says; options that every command takes are listed once.

use clap::{Arg, Command};

/// What the page starts with.
const HEAD: &str = "# Commands\n\nMade by `trueup man -o markdown`. `trueup COMMAND --help` prints the same, `trueup man COMMAND` as a \
    manual page.\n";

/// The page of a program and its commands.
pub fn commands(program: &Command) -> String {
    let mut page = HEAD.to_owned();
    section(&mut page, program, program.get_name());
    page
}

fn section(page: &mut String, command: &Command, name: &str) {
    *page += &format!("\n## {name}\n");
    if let Some(about) = command.get_about() {
        *page += &format!("\n{}.\n", escaped(about.to_string().trim_end_matches('.')));
    }
    let own: Vec<&Arg> = command.get_arguments().filter(|arg| is_listed(arg, command)).collect();
    if !own.is_empty() {
        *page += "\n| argument | |\n| --- | --- |\n";
        own.iter().for_each(|arg| *page += &row(arg));
    }
    if let Some(after) = command.get_after_help() {
        *page += &format!("\n```text\n{after}\n```\n");
    }
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        section(page, sub, &format!("{name} {}", sub.get_name()));
    }
}

/// Global options are listed with the program, `--help` and `--version` nowhere.
fn is_listed(arg: &Arg, command: &Command) -> bool {
    let is_own = !arg.is_global_set() || command.get_name() == env!("CARGO_PKG_NAME");
    is_own && !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str())
}

fn row(arg: &Arg) -> String {
    let short = arg.get_short().map(|letter| format!("-{letter}"));
    let long = arg.get_long().map(|name| format!("--{name}"));
    let names: Vec<String> = short.into_iter().chain(long).collect();
    let takes_value = arg.get_action().takes_values();
    let values = arg.get_value_names().unwrap_or_default();
    let value = values.iter().map(|name| name.to_string()).collect::<Vec<_>>().join(" ");
    let argument = match (names.is_empty(), takes_value) {
        (true, _) => value,
        (false, true) => format!("{} {value}", names.join(", ")),
        (false, false) => names.join(", "),
    };
    let mut about = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let choices: Vec<String> = match takes_value {
        true => arg.get_possible_values().iter().map(|choice| format!("`{}`", choice.get_name())).collect(),
        false => Vec::new(),
    };
    if !choices.is_empty() {
        about += &format!("{}{}", if about.is_empty() { "" } else { ": " }, choices.join(", "));
    }
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    if takes_value && !defaults.is_empty() {
        about += &format!(" (default `{}`)", defaults.join(" "));
    }
    format!("| `{}` | {} |\n", argument.replace('|', "\\|"), escaped(&about))
}

/// A text that Markdown shows as it is, outside of its backticks.
fn escaped(text: &str) -> String {
    let outside = |part: &str| part.replace('<', "&lt;").replace('*', "\\*").replace('_', "\\_");
    let parts = text.split('`').enumerate().map(|(at, part)| if at % 2 == 0 { outside(part) } else { part.to_owned() });
    parts.collect::<Vec<_>>().join("`").replace('|', "\\|")
}
