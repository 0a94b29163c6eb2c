//! `trueup man [COMMAND...]`: the manual page of a command, a file for each command, or all of them as a page of the docs.
//!
//! Exit codes: 0; 1 when there is no such command or the folder cannot be written.

mod markdown;

use std::path::Path;

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;

use super::args::{Cli, ManArgs, ManFormat};
use super::error::CliError;
use super::terminal::print_exact;

const DOING: &str = "man";

pub fn run(args: &ManArgs) -> Result<u8, CliError> {
    match (&args.dir, args.format) {
        (Some(folder), _) => write_each(folder)?,
        (None, ManFormat::Roff) => {
            print_exact(&page(&args.command)?)?;
        }
        (None, ManFormat::Markdown) => {
            print_exact(&markdown::commands(&program()))?;
        }
    }
    Ok(0)
}

/// The program with the full name of each command. `help` has no page: it prints those of the others.
fn program() -> Command {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    program
}

/// The page of the command with these words.
fn page(words: &[String]) -> Result<String, CliError> {
    let mut command = program();
    for word in words {
        let known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let hint = format!("there are: {}", known.join(", "));
        let found = command.find_subcommand(word).cloned();
        command = found.ok_or_else(|| CliError::usage(DOING, format!("no command {}", words.join(" ")), hint))?;
    }
    let mut page = Vec::new();
    let written = Man::new(command).render(&mut page);
    written.map_err(|error| CliError::failed(DOING, error.to_string(), ""))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

fn write_each(folder: &Path) -> Result<(), CliError> {
    let failed = |error: std::io::Error| {
        let hint = "name a folder you can write to";
        CliError::failed(format!("man --dir {}", folder.display()), error.to_string(), hint)
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(program(), folder).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_with_its_own_options() {
        let words = |line: &str| -> Vec<String> { line.split_whitespace().map(str::to_owned).collect() };
        for (command, title, option) in [
            ("", "trueup", "all\\-contexts"),
            ("plan", "trueup\\-plan", "changes\\-only"),
            ("history verify", "trueup\\-history\\-verify", "published"),
            ("mcp", "trueup\\-mcp", "out\\-dir"),
        ] {
            let page = page(&words(command)).unwrap();
            assert!(page.contains(&format!(".SH NAME\n{title} ")), "{command}: {page}");
            assert!(page.contains(option), "{command}: no {option}");
        }
        let wrong = page(&words("history rewrite")).unwrap_err();
        assert_eq!(wrong.to_string(), "trueup: man: no command history rewrite; there are: show, verify, export");
    }

    #[test]
    fn a_folder_gets_a_file_for_each_command() {
        fn count(command: &Command) -> usize {
            1 + command.get_subcommands().map(count).sum::<usize>()
        }
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("man");
        write_each(&folder).unwrap();
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), count(&program()));
        assert_eq!(
            std::fs::read_to_string(folder.join("trueup-oidc-render.1")).unwrap(),
            page(&["oidc".to_owned(), "render".to_owned()]).unwrap()
        );
    }

    #[test]
    fn the_page_of_the_docs_is_what_the_command_prints() {
        assert_eq!(
            include_str!("../../../docs/reference/commands.md"),
            markdown::commands(&program()),
            "run `trueup man -o markdown > docs/reference/commands.md`"
        );
    }
}
