//! The page of `plan -o html` in a real browser: nothing is requested, nothing fails.
//!
//! Runs where `TRUEUP_CHROMIUM` names a Chromium; with `TRUEUP_SCREENS` naming a folder, it also writes pictures there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::fixture::{guest_with_an_orphan, run};

fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("TRUEUP_CHROMIUM").map(PathBuf::from);
    if named.is_none() {
        eprintln!("skipped: TRUEUP_CHROMIUM names no browser");
    }
    named
}

/// Runs the browser on a page.
fn browse(chromium: &Path, profile: &Path, page: &Path, arguments: &[String]) -> (String, String) {
    let mut command = Command::new(chromium);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]);
    command.args(["--disable-component-update", "--disable-extensions", "--host-resolver-rules=MAP * ~NOTFOUND"]);
    command.arg(format!("--user-data-dir={}", profile.display())).args(arguments);
    let output = command.arg(format!("file://{}", page.display())).output().unwrap();
    (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Addresses that the browser requested, by its own record.
fn requested(record: &Path) -> Vec<String> {
    let text = fs::read_to_string(record).unwrap();
    // A record that ends with the process may lack its closing brackets.
    let urls = text.split("\"url\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    urls.map(str::to_owned).collect()
}

#[test]
fn a_browser_shows_the_page_without_a_request_or_an_error() {
    let Some(chromium) = chromium() else { return };
    let dir = guest_with_an_orphan();
    let output = run(&dir, &["plan", "--from", "$TMP", "-o", "html", "--utc"]);
    let page = dir.path().join("page.html");
    fs::write(&page, &output.stdout).unwrap();
    let (profile, record) = (dir.path().join("profile"), dir.path().join("net.json"));
    let arguments = ["--dump-dom", "--enable-logging=stderr", "--v=0"].map(str::to_owned);
    let arguments = [arguments.as_slice(), &[format!("--log-net-log={}", record.display())]].concat();
    let (dom, errors) = browse(&chromium, &profile, &page, &arguments);
    assert!(dom.contains("old-client") && dom.contains("Evidence"), "{dom}{errors}");
    let console: Vec<&str> = errors.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert_eq!(console, [""; 0], "the page is clean");
    let page_url = format!("file://{}", page.display());
    let other: Vec<String> = requested(&record)
        .into_iter()
        .filter(|url| url != &page_url && !url.starts_with("data:") && !url.starts_with("chrome"))
        // The browser's own business: updates, dictionaries, the time.
        .filter(|url| ![".google.com/", ".googleapis.com/", ".gvt1.com/"].iter().any(|host| url.contains(host)))
        .collect();
    assert_eq!(other, [""; 0], "nothing but the page is requested");
    let Some(screens) = std::env::var_os("TRUEUP_SCREENS").map(PathBuf::from) else { return };
    for (name, size) in [("desktop", "1280,1400"), ("phone", "390,1600")] {
        let picture = screens.join(format!("{name}.png"));
        let arguments = [format!("--screenshot={}", picture.display()), format!("--window-size={size}")];
        browse(&chromium, &profile, &page, &arguments);
        assert!(picture.exists(), "{name}");
    }
}
