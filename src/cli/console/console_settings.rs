//! The console as the user set it up: `[console]` of the config, and the keys and themes beside it.
//!
//! Invariants: problems of a file are reported with their line and never keep the console from opening.

use std::io;
use std::path::{Path, PathBuf};

use crate::cli::args::ColorWhen;
use crate::cli::context::Context;
use crate::config::{AlertSetting, ConsoleSettings, FLEET, ViewSettings};
use crate::console::effect::{Alert, MouseHold};
use crate::console::filter::Filter;
use crate::console::keymap::Keymap;
use crate::console::model::{Remembered, SavedView, Zone};
use crate::console::settings::{ModelSettings, RenderSettings, ThemeChoice};
use crate::console::terminal::{ColorChoice, ColorDepth, Dialect, color_depth};
use crate::console::theme::{DEFAULT, GlyphSet, Themes};
use trueup_core::engine::AcceptRule;
use trueup_core::engine::text::Charset;
use trueup_core::files;

/// In the folder of the config.
/// Key and theme files have a few kilobytes.
const FILE_BYTES_MAX: u64 = 4 << 20;
const KEYS: &str = "keys.toml";
const THEMES: &str = "themes";
/// The theme for no colours.
const MONO: &str = "mono";
/// Chooses by the background of the terminal.
const AUTO: &str = "auto";
const LIGHT: &str = "paper";
const DARK: &str = "night";

/// The colour depth of the terminal.
pub fn depth(context: &Context) -> ColorDepth {
    let choice = match context.globals.color {
        ColorWhen::Auto => ColorChoice::Auto,
        ColorWhen::Always => ColorChoice::Always,
        ColorWhen::Never => ColorChoice::Never,
    };
    color_depth(choice, &|name: &str| context.env.raw(name).map(ToOwned::to_owned))
}

/// The editing sequences of the terminal.
pub fn dialect(context: &Context) -> Dialect {
    Dialect::detect(&|name: &str| context.env.raw(name).map(ToOwned::to_owned))
}

pub fn signs(context: &Context) -> GlyphSet {
    match context.terminal.charset {
        Charset::Unicode => GlyphSet::Unicode,
        Charset::Ascii => GlyphSet::Plain,
    }
}

pub fn zone(context: &Context) -> Zone {
    if context.globals.utc { Zone::Utc } else { Zone::Local }
}

/// Builds the settings of the console. `folder` has the user's keys and themes.
pub fn build(
    context: &Context,
    settings: &ConsoleSettings,
    accepted: &[AcceptRule],
    folder: Option<&Path>,
    remembered: Option<Remembered>,
) -> (RenderSettings, ModelSettings) {
    let (keys, mut notices) = keymap(settings, folder);
    let (themes, of_themes) = themes(folder);
    notices.extend(of_themes);
    let theme = theme(settings, &themes, depth(context), &mut notices);
    notices.extend(settings.views.iter().filter_map(view_problem));
    let view = |view: &ViewSettings| SavedView {
        name: view.name.clone(),
        screen: view.screen.clone(),
        filter: view.filter.clone(),
    };
    let model = ModelSettings {
        keys,
        zone: if settings.utc { Zone::Utc } else { zone(context) },
        local: jiff::tz::TimeZone::system(),
        mouse: if settings.mouse { MouseHold::Taken } else { MouseHold::Released },
        alert: match settings.alert {
            AlertSetting::Off => Alert::Off,
            AlertSetting::Bell => Alert::Bell,
            AlertSetting::Message => Alert::Message,
        },
        views: settings.views.iter().map(view).collect(),
        accepted: accepted.to_vec(),
        remembered,
        notices,
    };
    let signs = if settings.plain { GlyphSet::Plain } else { signs(context) };
    (RenderSettings { themes, theme, signs }, model)
}

/// Every file and folder of keys and themes, which may not exist.
pub fn files(settings: &ConsoleSettings, folder: &Path) -> Vec<PathBuf> {
    let keys = settings.keys.clone().unwrap_or_else(|| folder.join(KEYS));
    let themes = folder.join(THEMES);
    let mut files = theme_files(&themes).unwrap_or_default();
    files.extend([keys, themes]);
    files
}

/// The keys with the user's changes, and the problems of the user's file.
pub fn keymap(settings: &ConsoleSettings, folder: Option<&Path>) -> (Keymap, Vec<String>) {
    let (path, is_named) = match (&settings.keys, folder) {
        (Some(path), _) => (path.clone(), true),
        (None, Some(folder)) => (folder.join(KEYS), false),
        (None, None) => return (Keymap::default(), Vec::new()),
    };
    match files::read_text(&path, FILE_BYTES_MAX) {
        Ok(text) => {
            let (keymap, problems) = Keymap::with_user_file(&text);
            let problem = |problem: &crate::console::keymap::KeymapProblem| {
                format!("{}:{}: {}", path.display(), problem.line, problem.message)
            };
            (keymap, problems.iter().map(problem).collect())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound && !is_named => (Keymap::default(), Vec::new()),
        Err(error) => (Keymap::default(), vec![format!("cannot read {}: {error}", path.display())]),
    }
}

/// The built-in and the user's themes, and the problems of the latter.
pub fn themes(folder: Option<&Path>) -> (Themes, Vec<String>) {
    let mut themes = Themes::built_in();
    let Some(folder) = folder.map(|folder| folder.join(THEMES)) else { return (themes, Vec::new()) };
    let mut problems = Vec::new();
    let paths = match theme_files(&folder) {
        Ok(paths) => paths,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return (themes, Vec::new()),
        Err(error) => return (themes, vec![format!("cannot read {}: {error}", folder.display())]),
    };
    let mut names = Vec::new();
    for path in paths {
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else { continue };
        match files::read_text(&path, FILE_BYTES_MAX) {
            Ok(text) => {
                themes.add(name, &text);
                names.push(name.to_owned());
            }
            Err(error) => problems.push(format!("cannot read {}: {error}", path.display())),
        }
    }
    // After all are added: one may be the parent of another.
    for name in names {
        for problem in themes.resolve(&name).err().unwrap_or_default() {
            let file = folder.join(format!("{}.toml", problem.theme));
            problems.push(format!("{}:{}: {}", file.display(), problem.line, problem.message));
        }
    }
    problems.dedup();
    (themes, problems)
}

fn theme_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let files = std::fs::read_dir(folder)?;
    let mut paths: Vec<PathBuf> = files.filter_map(Result::ok).map(|file| file.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    paths.sort();
    Ok(paths)
}

fn theme(settings: &ConsoleSettings, themes: &Themes, depth: ColorDepth, notices: &mut Vec<String>) -> ThemeChoice {
    let named = |name: &str| ThemeChoice::Named(name.to_owned());
    let has_shades = match depth {
        ColorDepth::None => return named(MONO),
        // The user configures the 16 colours to fit the background.
        ColorDepth::Ansi16 => false,
        ColorDepth::Ansi256 | ColorDepth::True => true,
    };
    match settings.theme.as_deref() {
        Some(AUTO) if has_shades => ThemeChoice::ByBackground { light: LIGHT, dark: DARK, unknown: DEFAULT },
        Some(AUTO) | None => named(DEFAULT),
        Some(name) => match themes.resolve(name) {
            Ok(_) => named(name),
            Err(problems) => {
                // The problems of a file are reported already.
                if !themes.names().any(|known| known == name) {
                    notices.extend(problems.iter().map(|problem| format!("[console] theme: {}", problem.message)));
                }
                named(DEFAULT)
            }
        },
    }
}

/// The problem of a view's filter. The filter of the fleet accepts any text.
fn view_problem(view: &ViewSettings) -> Option<String> {
    if view.screen == FLEET {
        return None;
    }
    let problem = Filter::parse(&view.filter).err()?;
    Some(format!("[[console.views]] {}: {problem}", view.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(theme: Option<&str>) -> ConsoleSettings {
        ConsoleSettings { theme: theme.map(str::to_owned), ..ConsoleSettings::default() }
    }

    #[test]
    fn the_configured_theme_is_used_unless_there_are_no_colours() {
        let named = |name: &str| ThemeChoice::Named(name.to_owned());
        let by_background = ThemeChoice::ByBackground { light: LIGHT, dark: DARK, unknown: DEFAULT };
        let cases = [
            ("nothing set", None, ColorDepth::True, named(DEFAULT), 0),
            ("one set", Some("night"), ColorDepth::Ansi256, named("night"), 0),
            ("auto", Some("auto"), ColorDepth::True, by_background, 0),
            ("auto, sixteen colours", Some("auto"), ColorDepth::Ansi16, named(DEFAULT), 0),
            ("no colours", Some("night"), ColorDepth::None, named(MONO), 0),
            ("an unknown one", Some("nigth"), ColorDepth::True, named(DEFAULT), 1),
        ];
        for (case, set, depth, expected, notice_count) in cases {
            let mut notices = Vec::new();
            assert_eq!(theme(&settings(set), &Themes::built_in(), depth, &mut notices), expected, "case: {case}");
            assert_eq!(notices.len(), notice_count, "case: {case}: {notices:?}");
        }
    }

    #[test]
    fn user_files_are_read_and_problems_have_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let (keys, broken) = (folder.path().join("keys.toml"), folder.path().join("themes/broken.toml"));
        assert_eq!(keymap(&settings(None), Some(folder.path())), (Keymap::default(), Vec::new()), "no file");
        std::fs::create_dir(folder.path().join("themes")).unwrap();
        std::fs::write(&keys, "[global]\nqiut = \"q\"\n").unwrap();
        std::fs::write(folder.path().join("themes/mine.toml"), "parent = \"night\"\n").unwrap();
        std::fs::write(&broken, "[roles]\ntext = \"yelow\"\n").unwrap();
        let (_, problems) = keymap(&settings(None), Some(folder.path()));
        assert!(problems[0].starts_with(&format!("{}:2: ", keys.display())), "{problems:?}");
        let (themes, problems) = themes(Some(folder.path()));
        assert!(themes.resolve("mine").is_ok());
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].starts_with(&format!("{}:2: ", broken.display())), "{problems:?}");
    }

    #[test]
    fn a_configured_key_file_must_exist() {
        let named = ConsoleSettings { keys: Some("nowhere/keys.toml".into()), ..ConsoleSettings::default() };
        assert_eq!(keymap(&named, None).1.len(), 1);
    }
}
