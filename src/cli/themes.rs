//! `trueup themes`: built-in and user themes, with a sample of every role.
//!
//! Exit codes: 0; 1 when the config is invalid. Problems of theme files go to stderr.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::args::{PageArgs, PageFormat};
use super::console::console_settings;
use super::context::Context;
use super::error::CliError;
use super::terminal::{Color, Style, print};
use crate::console::capture;
use crate::console::theme::{Role, Theme, Themes};
use trueup_core::engine::text::Printable;

/// Width of the samples if the width of the terminal is unknown.
const WIDTH: usize = 80;

pub fn run(context: &Context, args: &PageArgs) -> Result<u8, CliError> {
    let (themes, problems) = console_settings::themes(context.config_file().folder());
    problems.iter().for_each(|problem| context.note(problem));
    let page = match args.format {
        PageFormat::Table => table(context, &themes),
        PageFormat::Markdown => markdown(&themes),
    };
    print(&Printable::styled(&page))?;
    Ok(0)
}

fn table(context: &Context, themes: &Themes) -> String {
    let paint = |buffer: &Buffer| match context.terminal.color {
        Color::On => capture::ansi(buffer, console_settings::depth(context)),
        Color::Off => capture::text(buffer).into(),
    };
    let width = context.terminal.width.unwrap_or(WIDTH);
    let mut page = String::new();
    for name in themes.names() {
        let Ok(theme) = themes.resolve(name) else { continue };
        let (head, message) =
            (context.terminal.paint(name, Style::Title), context.terminal.safe(&themes.message(name)));
        page += &format!("{head}  {message}\n{}\n", paint(&samples(&theme, width)));
    }
    page
}

/// The name of every role, in its style.
fn samples(theme: &Theme, width: usize) -> Buffer {
    let width = u16::try_from(width).unwrap_or(u16::MAX);
    let (mut x, mut y) = (0, 0);
    let mut placed = Vec::new();
    for role in Role::ALL {
        let needed = u16::try_from(role.name().len()).unwrap_or(width);
        if x > 0 && x + needed > width {
            (x, y) = (0, y + 1);
        }
        placed.push((x, y, *role));
        x += needed + 2;
    }
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, y + 1));
    for (x, y, role) in placed {
        buffer.set_string(x, y, role.name(), theme.style(Role::Text).patch(theme.style(role)));
    }
    buffer
}

/// The page of the docs.
fn markdown(themes: &Themes) -> String {
    let mut page = String::from(
        "# Themes\n\nA theme gives each role a style; views use roles only. `T` in the console picks one, `theme` in \
         `[console]` sets one. `auto` uses `paper` on a light and `night` on a dark \
         background. With `NO_COLOR` or `--color never` it is always `mono`.\n\n| theme | |\n| --- | --- |\n",
    );
    for name in themes.names() {
        page += &format!("| `{name}` | {} |\n", themes.message(name));
    }
    page += "\n## User themes\n\n`themes/NAME.toml` in the folder of the config is the theme NAME. It may name a parent and overrides its \
             styles. An invalid file is reported with the line of each problem and is not used.\n\n```toml\n\
             parent = \"night\"\n\n[roles]\nselection = \"bold #101418 on #ffd866\"\nclass-prod = \"bold white on red\"\n```\n\n\
             A style is a colour, `on` and a colour for the background, and attributes, in any order: names (`red`, \
             `light-blue`, `dark-gray`, `default`), numbers up to 255, `#rrggbb`; `bold`, `dim`, `italic`, `underlined`, \
             `reversed`, `crossed-out`. Anything not set is the terminal's default.\n\n## Roles\n\n| role | for |\n| --- | --- |\n";
    for role in Role::ALL {
        page += &format!("| `{}` | {} |\n", role.name(), role.message());
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_the_docs_is_what_the_command_prints() {
        assert_eq!(
            include_str!("../../docs/themes.md"),
            markdown(&Themes::built_in()),
            "run `trueup themes -o markdown > docs/themes.md` without themes of your own"
        );
    }

    #[test]
    fn every_role_has_its_sample_and_none_is_cut() {
        let theme = Theme::default();
        for width in [40, 80, 200] {
            let text = capture::text(&samples(&theme, width));
            let words: Vec<&str> = text.split_whitespace().collect();
            let roles: Vec<&str> = Role::ALL.iter().map(|role| role.name()).collect();
            assert_eq!(words, roles, "{width} columns");
        }
    }
}
