//! Themes by name, and resolving one.
//!
//! Invariants:
//! - a theme is resolved as a whole: its parents' styles first, then its own;
//! - all problems of a theme file are reported at once, each with its line, and the theme is not used: nothing is partially
//!   applied;
//! - the built-in themes follow the same rules as a user's, and can be a user theme's parent.
//!
//! Elsewhere: finding and watching user files (`cli`).

use std::collections::BTreeMap;

use ratatui::style::Style;

use super::role::Role;
use super::style::{self, BadStyle};
use trueup_checks::{SettingsProblem, SettingsTable};

/// The theme that uses the terminal's own palette.
pub const DEFAULT: &str = "terminal";

/// The built-in themes, the default first.
const BUILT_IN: [(&str, &str); 7] = [
    (DEFAULT, include_str!("../../../themes/terminal.toml")),
    ("mono", include_str!("../../../themes/mono.toml")),
    ("high-contrast", include_str!("../../../themes/high-contrast.toml")),
    ("deuteranopia", include_str!("../../../themes/deuteranopia.toml")),
    ("tritanopia", include_str!("../../../themes/tritanopia.toml")),
    ("night", include_str!("../../../themes/night.toml")),
    ("paper", include_str!("../../../themes/paper.toml")),
];

/// Style of every role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    name: String,
    /// In the order of [`Role::ALL`].
    styles: Vec<Style>,
}

/// A problem of a theme file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("theme {theme}:{line}: {message}")]
pub struct ThemeProblem {
    /// The theme of the file, possibly a parent.
    pub theme: String,
    /// Line number, counted from 1.
    pub line: usize,
    pub message: String,
}

/// Themes by name, as text: each is parsed when it is used.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Themes {
    texts: BTreeMap<String, String>,
}

/// A parsed file before its parents are resolved.
struct Sheet {
    parent: Option<toml::Spanned<String>>,
    styles: Vec<(Role, Style)>,
}

impl Theme {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Style of a role. Applied over the existing style: unset parts stay.
    pub fn style(&self, role: Role) -> Style {
        self.styles[role as usize]
    }
}

impl Default for Theme {
    /// The terminal's own colours: the first frame, before any file is read.
    fn default() -> Self {
        Themes::built_in().resolve(DEFAULT).expect("a test resolves every built-in theme")
    }
}

impl Themes {
    pub fn built_in() -> Self {
        Self { texts: BUILT_IN.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect() }
    }

    /// Adds a user's theme, or replaces the one of that name.
    ///
    /// A user's theme may have the name of a built-in one and use that as its parent: then it changes it.
    pub fn add(&mut self, name: &str, text: &str) {
        self.texts.insert(name.to_owned(), text.to_owned());
    }

    /// Description of a theme: the comment at the start of its file.
    pub fn message(&self, name: &str) -> String {
        let text = self.texts.get(name).map(String::as_str).unwrap_or_default();
        let lines = text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim);
        lines.collect::<Vec<_>>().join(" ")
    }

    /// The themes that are not built in, by name, as text.
    pub fn own(&self) -> BTreeMap<String, String> {
        let is_built_in = |name: &str, text: &str| BUILT_IN.contains(&(name, text));
        let own = self.texts.iter().filter(|(name, text)| !is_built_in(name, text));
        own.map(|(name, text)| (name.clone(), text.clone())).collect()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.texts.keys().map(String::as_str)
    }

    /// Resolves a theme with its parents' styles under its own.
    ///
    /// # Errors
    /// No theme has the name, or its file or a parent's is invalid.
    pub fn resolve(&self, name: &str) -> Result<Theme, Vec<ThemeProblem>> {
        let Some(text) = self.texts.get(name) else {
            let known: Vec<&str> = self.names().collect();
            let problem = SettingsProblem::unknown(&toml::Spanned::new(0..0, name), "theme", &known);
            return Err(vec![on_line(name, "", problem)]);
        };
        let mut styles = vec![Style::new(); Role::ALL.len()];
        // Nearest first; applied farthest first.
        for sheet in self.lineage(name, text)?.iter().rev() {
            for (role, style) in &sheet.styles {
                styles[*role as usize] = *style;
            }
        }
        Ok(Theme { name: name.to_owned(), styles })
    }

    /// The theme's styles and its parents', nearest first.
    fn lineage(&self, name: &str, text: &str) -> Result<Vec<Sheet>, Vec<ThemeProblem>> {
        let (mut name, mut text) = (name.to_owned(), text);
        // By text and not by name: a user's theme may extend the built-in one of the same name.
        let mut seen: Vec<&str> = Vec::new();
        let mut sheets = Vec::new();
        loop {
            seen.push(text);
            let problems = |found: Vec<SettingsProblem>| -> Vec<ThemeProblem> {
                found.into_iter().map(|problem| on_line(&name, text, problem)).collect()
            };
            let mut sheet = read(text).map_err(problems)?;
            let parent = sheet.parent.take();
            sheets.push(sheet);
            let Some(parent) = parent else { return Ok(sheets) };
            let parent_text = self.parent_text(&name, &parent).map_err(|problem| problems(vec![problem]))?;
            if seen.contains(&parent_text) {
                let message = format!("`{}` is a descendant of this theme and cannot be its parent", parent.get_ref());
                return Err(problems(vec![SettingsProblem::at(parent.span(), message)]));
            }
            (name, text) = (parent.into_inner(), parent_text);
        }
    }

    fn parent_text(&self, child: &str, parent: &toml::Spanned<String>) -> Result<&str, SettingsProblem> {
        let name = parent.get_ref().as_str();
        let built_in = BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
        let text = if name == child { built_in } else { self.texts.get(name).map(String::as_str) };
        text.ok_or_else(|| {
            let known: Vec<&str> = self.names().filter(|known| *known != child).collect();
            SettingsProblem::unknown(&toml::Spanned::new(parent.span(), name), "theme", &known)
        })
    }
}

fn read(text: &str) -> Result<Sheet, Vec<SettingsProblem>> {
    let table = SettingsTable::parse("a theme", text)?;
    let mut problems = table.unknown_keys(&["parent", "roles"]);
    let mut taken = |result: Result<Option<toml::Spanned<String>>, SettingsProblem>| {
        result.unwrap_or_else(|problem| {
            problems.push(problem);
            None
        })
    };
    let owned = |text: toml::Spanned<&str>| toml::Spanned::new(text.span(), (*text.get_ref()).to_owned());
    let parent = taken(table.take_str("parent").map(|parent| parent.map(owned)));
    let mut styles = Vec::new();
    match table.take_table("roles") {
        Ok(None) => {}
        Ok(Some(roles)) => read_roles(roles, &mut styles, &mut problems),
        Err(problem) => problems.push(problem),
    }
    problems.sort_by_key(|problem| problem.span.start);
    if problems.is_empty() { Ok(Sheet { parent, styles }) } else { Err(problems) }
}

fn read_roles(roles: &SettingsTable, styles: &mut Vec<(Role, Style)>, problems: &mut Vec<SettingsProblem>) {
    let names: Vec<&str> = Role::ALL.iter().map(|role| role.name()).collect();
    problems.extend(roles.unknown_keys(&names));
    for role in Role::ALL {
        match roles.take_str(role.name()) {
            Ok(None) => {}
            Ok(Some(text)) => match style::parse(text.get_ref()) {
                Ok(style) => styles.push((*role, style)),
                Err(bad) => problems.push(bad_style(&text, bad)),
            },
            Err(problem) => problems.push(problem),
        }
    }
}

fn bad_style(text: &toml::Spanned<&str>, bad: BadStyle) -> SettingsProblem {
    match bad {
        BadStyle::Word(word) => {
            let known = style::words();
            let what = "style (a number up to 255 and #rrggbb are colours, too)";
            SettingsProblem::unknown(&toml::Spanned::new(text.span(), &word), what, &known)
        }
        BadStyle::NoBackground => SettingsProblem::at(text.span(), "expected a colour after `on`"),
        BadStyle::Twice(word) => {
            SettingsProblem::at(text.span(), format!("unexpected second colour `{word}`; a background follows `on`"))
        }
    }
}

fn on_line(theme: &str, text: &str, problem: SettingsProblem) -> ThemeProblem {
    let before = &text.as_bytes()[..problem.span.start.min(text.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    ThemeProblem { theme: theme.to_owned(), line, message: problem.message }
}

#[cfg(test)]
#[expect(clippy::disallowed_types, reason = "tests name colours")]
mod tests {
    use ratatui::style::{Color, Modifier};
    use trueup_core::world::RiskClass;

    use super::*;

    fn with(themes: &[(&str, &str)]) -> Themes {
        let mut all = Themes::built_in();
        for (name, text) in themes {
            all.add(name, text);
        }
        all
    }

    fn problems(themes: &Themes, name: &str) -> Vec<String> {
        themes.resolve(name).unwrap_err().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_built_in_theme_resolves() {
        for (name, _) in BUILT_IN {
            let theme = Themes::built_in().resolve(name).unwrap_or_else(|problems| panic!("{problems:?}"));
            assert_eq!(theme.name(), name);
        }
        assert_eq!(Theme::default().name(), DEFAULT);
    }

    #[test]
    fn the_default_theme_uses_only_palette_colours() {
        let theme = Theme::default();
        for role in Role::ALL {
            let style = theme.style(*role);
            for color in [style.fg, style.bg].into_iter().flatten() {
                assert!(!matches!(color, Color::Rgb(..) | Color::Indexed(_)), "{}: {color}", role.name());
            }
        }
    }

    #[test]
    fn the_mono_theme_shows_selection_and_prod_without_colours() {
        let theme = Themes::built_in().resolve("mono").unwrap();
        for role in Role::ALL {
            assert_eq!((theme.style(*role).fg, theme.style(*role).bg), (None, None), "{}", role.name());
        }
        for role in [Role::Selection, Role::ClassProd, Role::Error, Role::Ghost, Role::DiffRemove] {
            assert_ne!(theme.style(role).add_modifier, Modifier::empty(), "{}", role.name());
        }
    }

    #[test]
    fn prod_is_bold_without_a_ground_and_the_other_classes_are_muted() {
        for (name, _) in BUILT_IN {
            let theme = Themes::built_in().resolve(name).unwrap();
            let [dev, stage, prod] =
                [RiskClass::Dev, RiskClass::Stage, RiskClass::Prod].map(|class| theme.style(Role::from(class)));
            assert!(prod.add_modifier.contains(Modifier::BOLD) && prod.bg.is_none(), "{name}");
            assert_eq!((dev, stage), (theme.style(Role::Muted), theme.style(Role::Muted)), "{name}");
        }
    }

    #[test]
    fn a_theme_overrides_only_its_own_roles() {
        let themes = with(&[("mine", "parent = \"mono\"\n[roles]\ndrift = \"208\"\n")]);
        let (mine, mono) = (themes.resolve("mine").unwrap(), themes.resolve("mono").unwrap());
        assert_eq!(mine.style(Role::Drift), Style::new().fg(Color::Indexed(208)));
        for role in Role::ALL.iter().filter(|role| **role != Role::Drift) {
            assert_eq!(mine.style(*role), mono.style(*role), "{}", role.name());
        }
    }

    #[test]
    fn a_user_theme_can_extend_the_built_in_theme_of_its_name() {
        let themes = with(&[("night", "parent = \"night\"\n[roles]\ntext = \"white\"\n")]);
        let (theirs, ours) = (themes.resolve("night").unwrap(), Themes::built_in().resolve("night").unwrap());
        assert_eq!(theirs.style(Role::Text), Style::new().fg(Color::White));
        assert_eq!(theirs.style(Role::Drift), ours.style(Role::Drift));
    }

    #[test]
    fn problems_have_a_line_and_the_nearest_known_word() {
        let file =
            "parnt = \"mono\"\n\n[roles]\ndrfit = \"yellow\"\nextra = \"magnta\"\nmissing = 7\nwarn = \"red on\"\n";
        insta::assert_snapshot!(problems(&with(&[("mine", file)]), "mine").join("\n"), @r#"
        theme mine:1: unknown key `parnt` in a theme; did you mean `parent`?
        theme mine:4: unknown key `drfit` in [roles]; did you mean `drift`?
        theme mine:5: unknown style `magnta` (a number up to 255 and #rrggbb are colours, too); did you mean `magenta`?
        theme mine:6: `missing` in [roles] wants a text in quotes, and got 7
        theme mine:7: expected a colour after `on`
        "#);
    }

    #[test]
    fn an_unknown_theme_or_parent_is_an_error() {
        assert_eq!(problems(&with(&[]), "nigth"), ["theme nigth:1: unknown theme `nigth`; did you mean `night`?"]);
        let themes = with(&[("mine", "# mine\nparent = \"nigt\"\n")]);
        assert_eq!(problems(&themes, "mine"), ["theme mine:2: unknown theme `nigt`; did you mean `night`?"]);
        let themes = with(&[("mine", "parent = \"mine\"\n")]);
        assert!(problems(&themes, "mine")[0].starts_with("theme mine:1: unknown theme `mine`"));
    }

    #[test]
    fn a_cycle_of_parents_is_an_error() {
        let themes = with(&[("a", "parent = \"b\"\n"), ("b", "\nparent = \"a\"\n")]);
        assert_eq!(problems(&themes, "a"), ["theme b:2: `a` is a descendant of this theme and cannot be its parent"]);
    }

    #[test]
    fn a_problem_of_a_parent_names_the_parents_file() {
        let themes = with(&[("mine", "parent = \"base\"\n"), ("base", "[roles]\n\ndrift = \"nocolour\"\n")]);
        assert!(problems(&themes, "mine")[0].starts_with("theme base:3: "));
    }
}
