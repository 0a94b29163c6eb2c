//! `trueup keys`: the keys of the console, with the user's changes.
//!
//! Exit codes: 0; 1 when the config is invalid. Problems of the key file go to stderr.

use super::args::{PageArgs, PageFormat};
use super::console::console_settings;
use super::context::Context;
use super::error::CliError;
use super::terminal::{Style, print};
use crate::console::keymap::{Group, Keymap, Scope};
use trueup_core::engine::text::Printable;

pub fn run(context: &Context, args: &PageArgs) -> Result<u8, CliError> {
    let config = context.config()?;
    let (keymap, problems) = console_settings::keymap(&config.console, context.config_file().folder());
    problems.iter().for_each(|problem| context.note(problem));
    let page = match args.format {
        PageFormat::Table => table(context, &keymap),
        PageFormat::Markdown => keymap.docs_markdown(),
    };
    print(&Printable::styled(&page))?;
    Ok(0)
}

/// Keys by scope, then by purpose.
fn table(context: &Context, keymap: &Keymap) -> String {
    let rows = keymap.table();
    let width = rows.iter().map(|row| row.keys.join(", ").chars().count()).max().unwrap_or_default();
    let mut page = String::new();
    for scope in Scope::ALL {
        let here: Vec<_> = rows.iter().filter(|row| row.scope == scope).collect();
        if here.is_empty() {
            continue;
        }
        let head = context.terminal.paint(scope.title(), Style::Title);
        page += &format!("{}{head}\n", if page.is_empty() { "" } else { "\n" });
        for group in Group::ALL {
            for row in here.iter().filter(|row| row.action.group() == group) {
                let (keys, message) = (context.terminal.safe(&row.keys.join(", ")), row.action.message());
                page += &format!("  {keys:width$}  {:18}  {message}\n", row.action.name());
            }
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_the_docs_is_what_the_command_prints() {
        assert_eq!(
            include_str!("../../docs/keys.md"),
            Keymap::default().docs_markdown(),
            "run `trueup keys -o markdown > docs/keys.md` without a key file"
        );
    }
}
