//! Tests of the themes' readability: WCAG 2 contrast, and colour vision deficiencies.
//!
//! The matrices are those of Machado, Oliveira and Fernandes (2009) for full severity; distances are in OKLab, where 0.02
//! is about the smallest visible difference side by side.

#![expect(clippy::disallowed_types, reason = "the theme defines colours")]

use ratatui::style::{Color, Modifier};

use super::ground::linear;
use super::{Role, Theme, Themes, ground};

type Rgb = [f64; 3];

/// States with their own colour. Matching and blocked are both muted, stale and unknown both a warning, on purpose.
const STATES: [Role; 6] = [Role::Match, Role::Missing, Role::Extra, Role::Drift, Role::Warn, Role::Error];

/// Distance at which colours are distinguishable in different places of a screen.
const DISTANCE_MIN: f64 = 0.1;

const DEUTERANOPIA: [Rgb; 3] =
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]];
const TRITANOPIA: [Rgb; 3] =
    [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]];

#[test]
fn states_are_distinguishable_for_the_deficiency_a_theme_is_made_for() {
    for (name, seen) in [("deuteranopia", DEUTERANOPIA), ("tritanopia", TRITANOPIA)] {
        let theme = theme(name);
        let look = |role: Role| oklab(seen_through(text_of(&theme, role), seen));
        for (index, one) in STATES.iter().enumerate() {
            for other in &STATES[index + 1..] {
                let apart = distance(look(*one), look(*other));
                assert!(apart >= DISTANCE_MIN, "{name}: {} and {} are {apart:.3} apart", one.name(), other.name());
            }
        }
    }
}

/// The test above can fail: red and green of equal lightness are too close.
#[test]
fn red_and_green_of_equal_lightness_are_too_close() {
    let [red, green] = [[0xc0, 0x60, 0x30], [0x80, 0x80, 0x30]].map(|rgb: [u8; 3]| rgb.map(linear));
    let seen = |rgb| oklab(seen_through(rgb, DEUTERANOPIA));
    assert!(distance(seen(red), seen(green)) < DISTANCE_MIN);
}

#[test]
fn every_text_has_enough_contrast_to_its_background() {
    // WCAG 2.2: 4.5 for text, 3 for non-text. A quiet border is decoration without a minimum.
    let quiet = [Role::Border, Role::BarEmpty];
    let cases: [(&str, f64, &[Role]); 5] = [
        ("high-contrast", 4.5, &[]),
        ("night", 4.5, &quiet),
        ("paper", 4.5, &quiet),
        ("deuteranopia", 4.5, &quiet),
        ("tritanopia", 4.5, &quiet),
    ];
    for (name, least, decoration) in cases {
        let theme = theme(name);
        for role in Role::ALL.iter().filter(|role| !decoration.contains(role)) {
            let found = contrast(&theme, *role, *role);
            assert!(found >= least, "{name}: {} has {found:.2}", role.name());
            assert!(!theme.style(*role).add_modifier.contains(Modifier::DIM), "{name}: {} is dimmed", role.name());
        }
    }
}

/// A state on the cursor row: the selection's background behind the state's colour.
#[test]
fn a_state_is_readable_on_the_selected_row() {
    for name in ["night", "paper", "deuteranopia", "tritanopia"] {
        let theme = theme(name);
        for role in STATES {
            let found = contrast(&theme, role, Role::Selection);
            assert!(found >= 2.5, "{name}: {} has {found:.2}", role.name());
        }
    }
}

#[test]
fn text_has_enough_contrast_to_the_ground_of_dialogs() {
    for name in ["high-contrast", "night", "paper", "deuteranopia", "tritanopia"] {
        for role in [Role::Dialog, Role::Muted, Role::Title, Role::Error, Role::HintKey, Role::HintText] {
            let found = contrast(&theme(name), role, Role::Dialog);
            assert!(found >= 4.5, "{name}: {} has {found:.2}", role.name());
        }
    }
}

/// Red and green are not decoration: red is an error, a failure or what cannot be undone, green is done and verified.
#[test]
fn red_and_green_have_one_meaning() {
    let theme = theme("terminal");
    let with = |wanted: [Color; 2]| {
        let is_wanted = |role: &&Role| {
            let style = theme.style(**role);
            [style.fg, style.bg].into_iter().flatten().any(|color| wanted.contains(&color))
        };
        Role::ALL.iter().filter(is_wanted).copied().collect::<Vec<_>>()
    };
    assert_eq!(with([Color::Red, Color::LightRed]), [Role::Error, Role::ToastError]);
    assert_eq!(with([Color::Green, Color::LightGreen]), [Role::Ok]);
}

#[test]
fn the_contrast_of_black_and_white_is_21() {
    let (black, white) = (Color::Rgb(0, 0, 0), Color::Rgb(255, 255, 255));
    assert!((ground::contrast(black, white).unwrap() - 21.0).abs() < 1e-9);
    assert!((ground::contrast(white, white).unwrap() - 1.0).abs() < 1e-9);
    assert_eq!(ground::contrast(white, Color::Red), None);
}

fn theme(name: &str) -> Theme {
    Themes::built_in().resolve(name).unwrap()
}

fn color_of(theme: &Theme, role: Role) -> Option<Color> {
    theme.style(role).fg.or(theme.style(Role::Text).fg)
}

fn text_of(theme: &Theme, role: Role) -> Rgb {
    exact(color_of(theme, role)).unwrap_or_else(|| panic!("{}: {} has no exact colour", theme.name(), role.name()))
}

/// Contrast of a role's text on the ground of another.
fn contrast(theme: &Theme, role: Role, behind: Role) -> f64 {
    let behind = theme.style(behind).bg.or(theme.style(Role::Text).bg);
    let found = color_of(theme, role).zip(behind).and_then(|(text, behind)| ground::contrast(text, behind));
    found.unwrap_or_else(|| panic!("{}: {} has no exact colours", theme.name(), role.name()))
}

fn exact(color: Option<Color>) -> Option<Rgb> {
    match color {
        Some(Color::Rgb(red, green, blue)) => Some([red, green, blue].map(linear)),
        _ => None,
    }
}

fn seen_through(rgb: Rgb, matrix: [Rgb; 3]) -> Rgb {
    matrix.map(|row| row.iter().zip(rgb).map(|(weight, channel)| weight * channel).sum::<f64>().clamp(0.0, 1.0))
}

/// Björn Ottosson's OKLab, from linear light.
fn oklab([red, green, blue]: Rgb) -> Rgb {
    let long = (0.412_221_470_8 * red + 0.536_332_536_3 * green + 0.051_445_992_9 * blue).cbrt();
    let medium = (0.211_903_498_2 * red + 0.680_699_545_1 * green + 0.107_396_956_6 * blue).cbrt();
    let short = (0.088_302_461_9 * red + 0.281_718_837_6 * green + 0.629_978_700_5 * blue).cbrt();
    [
        0.210_454_255_3 * long + 0.793_617_785_0 * medium - 0.004_072_046_8 * short,
        1.977_998_495_1 * long - 2.428_592_205_0 * medium + 0.450_593_709_9 * short,
        0.025_904_037_1 * long + 0.782_771_766_2 * medium - 0.808_675_766_0 * short,
    ]
}

fn distance(one: Rgb, other: Rgb) -> f64 {
    one.iter().zip(other).map(|(one, other)| (one - other).powi(2)).sum::<f64>().sqrt()
}
