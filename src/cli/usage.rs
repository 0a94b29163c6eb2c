//! Output of clap: help to stdout, usage errors as one line with exit code 1.

use super::terminal::{print, write_stderr};
use trueup_core::engine::text::{Charset, Printable, printable};

/// Prints the output of clap and returns the exit code.
pub fn answer(error: &clap::Error) -> u8 {
    let text = error.render().to_string();
    if error.use_stderr() {
        write_stderr(&printable(&sentence(&text), Charset::Unicode));
        return 1;
    }
    u8::from(print(&Printable::styled(&text)).is_err())
}

/// Joins clap's paragraphs to one line, without the usage.
fn sentence(text: &str) -> String {
    format!("trueup: {}; see trueup --help", joined(text))
}

/// Why clap refuses something, on one line.
pub fn reason(error: &clap::Error) -> String {
    joined(&error.render().to_string())
}

fn joined(text: &str) -> String {
    let parts =
        text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let parts = parts
        .filter(|line| !line.is_empty())
        .map(|line| line.trim_start_matches("error: ").trim_start_matches("tip: "));
    let mut sentence = String::new();
    for line in parts {
        let joint = if sentence.is_empty() {
            ""
        } else if sentence.ends_with(':') {
            " "
        } else {
            "; "
        };
        sentence.push_str(joint);
        sentence.push_str(line);
    }
    sentence
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::args::Cli;

    #[test]
    fn wrong_usage_is_one_sentence_with_a_way_out() {
        let cases: [(&[&str], &str); 5] = [
            (
                &["--form", "x"],
                "trueup: unexpected argument '--form' found; a similar argument exists: '--from'; see trueup --help",
            ),
            (&["explain"], "trueup: the following required arguments were not provided: <FINDING>; see trueup --help"),
            (
                &["--color", "red"],
                "trueup: invalid value 'red' for '--color <WHEN>'; [possible values: auto, always, never]; see trueup --help",
            ),
            (
                &["plna"],
                "trueup: unrecognized subcommand 'plna'; some similar subcommands exist: 'explain', 'replay', 'plan'; see trueup --help",
            ),
            (
                &["--from", "x", "--context", "y"],
                "trueup: the argument '--from <DIR>' cannot be used with '--context <NAME>'; see trueup --help",
            ),
        ];
        for (args, expected) in cases {
            let error = Cli::try_parse_from(std::iter::once(&"trueup").chain(args)).unwrap_err();
            assert_eq!(sentence(&error.render().to_string()), expected, "args: {args:?}");
        }
    }

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory as _;
        Cli::command().debug_assert();
    }
}
