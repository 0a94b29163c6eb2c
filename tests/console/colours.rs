//! What the terminal is sent, by what it says it can show.

use std::collections::BTreeSet;

use vt100::Color;

use crate::stage::demo_with;

/// The kinds of colour on a screen.
fn kinds(screen: &vt100::Screen) -> BTreeSet<&'static str> {
    let (rows, columns) = screen.size();
    let cells = (0..rows.get()).flat_map(|row| (0..columns.get()).map(move |column| (row, column)));
    let kind = |color: Color| match color {
        Color::Default => "none",
        Color::Idx(0..16) => "16",
        Color::Idx(_) => "256",
        Color::Rgb(..) => "true",
    };
    let seen = cells.filter_map(|(row, column)| screen.cell(row, column));
    seen.flat_map(|cell| [kind(cell.fgcolor()), kind(cell.bgcolor())]).collect()
}

#[test]
fn a_terminal_gets_only_colours_it_supports() {
    type Vars = &'static [(&'static str, &'static str)];
    let cases: [(&str, Vars, &str); 4] = [
        ("no colour", &[("NO_COLOR", "1")], "none"),
        ("16 colours", &[("TERM", "xterm")], "16"),
        ("256 colours", &[("TERM", "xterm-256color")], "256"),
        ("true colour", &[("COLORTERM", "truecolor")], "true"),
    ];
    for (case, env, richest) in cases {
        let mut demo = demo_with(|program| {
            env.iter().fold(program, |program, (name, value)| program.env(name, value)).size(100, 30)
        });
        // A theme whose colours are its own.
        demo.pty.send("Tnight\r");
        let allowed: BTreeSet<&str> = match richest {
            "none" => ["none"].into(),
            richest => ["none", richest].into(),
        };
        demo.pty.wait_for(case, |screen| {
            let kinds = kinds(screen);
            kinds.contains(richest) && kinds.is_subset(&allowed) && screen.contents().contains("guest-payments")
        });
        demo.quit();
    }
}

#[test]
fn a_terminal_without_unicode_gets_only_ascii() {
    let mut demo = demo_with(|program| program.env("LANG", "C").env("LC_ALL", "C").size(100, 30));
    for (keys, shown) in
        [("1", "VERDICT"), ("ga", "Journal"), ("?", "esc: close"), ("\x1b", "Journal ="), (":", "+ commands")]
    {
        demo.pty.send(keys);
        demo.pty.wait_for_text(shown);
        assert!(demo.pty.text().is_ascii(), "{}", demo.pty.picture());
    }
    // An escape and a letter right after it would be one key.
    demo.pty.send("\x1b");
    demo.pty.wait_for("the list to close", |screen| !screen.contents().contains("+ commands"));
    demo.quit();
}
