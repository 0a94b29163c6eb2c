//! `trueup keys` and `trueup themes`: what the docs hold, and what is the user's own.

use super::fixture::{add, folder, run};

#[test]
fn without_user_files_the_pages_of_the_docs_are_printed() {
    let dir = folder(&[]);
    for (command, page) in
        [("keys", include_str!("../../docs/keys.md")), ("themes", include_str!("../../docs/themes.md"))]
    {
        let output = run(&dir, &[command, "-o", "markdown"]);
        assert_eq!(String::from_utf8_lossy(&output.stdout), page, "{command}");
        assert!(output.status.success() && output.stderr.is_empty(), "{command}");
    }
}

#[test]
fn user_keys_and_themes_are_listed_and_their_problems_reported() {
    let dir = folder(&[]);
    add(
        dir.path(),
        &[
            ("config.toml", ""),
            ("keys.toml", "[global]\nquit = \"f10\"\nqiut = \"q\"\n"),
            ("themes/mine.toml", "# My own.\nparent = \"night\"\n"),
        ],
    );
    let config = ["--config", "$TMP/config.toml"];
    let keys = run(&dir, &[&["keys"], &config[..]].concat());
    let (said, wrong) = (String::from_utf8_lossy(&keys.stdout), String::from_utf8_lossy(&keys.stderr));
    assert!(said.lines().any(|line| line.contains("f10") && line.contains("quit")), "{said}");
    assert!(wrong.contains("keys.toml:3: unknown action `qiut`"), "{wrong}");
    let themes = run(&dir, &[&["themes"], &config[..]].concat());
    let said = String::from_utf8_lossy(&themes.stdout);
    assert!(said.contains("mine  My own."), "{said}");
    assert!(!said.contains('\x1b'), "a pipe gets no colours");
}
