//! The same servers by the console: the Fleet row and its detail say which lists are unread and why, and nothing of the
//! cluster is green.

use std::net::TcpStream;
use std::sync::Arc;

use super::front::{Attack, Attacked, HOSTED_CLUSTERS, hostile};
use super::thousands::{Planes, thousands};
use super::{Case, answer_with, behind, endless, flood, management, older, wrong};
use crate::live::sim;
use crate::pty::{Program, Pty};

/// What stands for a cluster that is live and read in full.
const LIVE: &str = "●";
/// What stands for a cluster that is live and not read in full.
const UNREAD: &str = "◑";
/// The width of the column LINK.
const LINK_COLUMNS: u16 = 15;
/// The colour of the theme `terminal` for what is well.
const GREEN: vt100::Color = vt100::Color::Idx(2);

fn console(dir: &tempfile::TempDir) -> Pty {
    Program::new(env!("CARGO_BIN_EXE_trueup"))
        .args(&["--kubeconfig", "kubeconfig", "--config", "config.toml", "--utc"])
        .env("HOME", dir.path())
        .env("XDG_STATE_HOME", dir.path().join("state"))
        .env("LANG", "C.UTF-8")
        .folder(dir.path())
        // Wide enough for a reason on one line.
        .size(230, 50)
        .start()
}

/// What the console has to show of the management cluster.
struct Expected<'a> {
    /// In its row.
    link: &'static str,
    /// In the detail: one of these.
    why: &'a [&'static str],
}

/// Whether a line is the row of a cluster whose name begins like this.
fn is_row(line: &str, cluster: &str) -> bool {
    line.trim_start_matches(['▸', ' ']).split("  ").any(|cell| cell.trim_start().starts_with(cluster))
        && line.contains("▌prod")
        && !line.contains("──")
}

/// The lines that speak of the management cluster: the header and its row.
fn lines_of_mgmt(screen: &vt100::Screen) -> Vec<(u16, String)> {
    let (_, columns) = screen.size();
    let rows = (0..).zip(screen.rows(0, columns.get()));
    rows.filter(|(row, line)| if *row == 0 { line.contains("mgmt ") } else { is_row(line, "mgmt") }).collect()
}

/// Whether the sign of a link, or the words beside it, are green. Matches further right may be.
fn is_link_green(screen: &vt100::Screen, row: u16, line: &str) -> bool {
    let sign = line.chars().position(|letter| letter.to_string() == UNREAD).unwrap_or_default();
    let first = u16::try_from(sign).unwrap();
    (first..first + LINK_COLUMNS).any(|column| screen.cell(row, column).is_some_and(|cell| cell.fgcolor() == GREEN))
}

#[expect(clippy::print_stdout, reason = "what the console says of a case, for the record")]
fn assert_shown(name: &str, pty: &mut Pty, expected: &Expected<'_>) {
    let Expected { link, why } = expected;
    pty.wait_for(&format!("{name}: {link}"), |screen| {
        let text = screen.contents();
        let row = text.lines().find(|line| is_row(line, "mgmt"));
        // A check without a finding could not look.
        row.is_some_and(|row| row.contains(link) && row.contains(" ? ") && !row.contains(" · "))
            && why.iter().any(|why| text.contains(why))
    });
    let lines = lines_of_mgmt(pty.screen());
    assert_eq!(lines.len(), 2, "{name}: header and row\n{}", pty.picture());
    for (row, line) in &lines {
        assert!(line.contains(UNREAD) && line.contains(" lists") && !line.contains(LIVE), "{name}: {line}");
        assert!(!is_link_green(pty.screen(), *row, line), "{name}: green in {line}");
    }
    let text = pty.text();
    let said = text.lines().find(|line| line.contains("not read (first: ")).unwrap_or_default();
    println!("console: {name}: {}", said.trim_matches(['│', ' ']));
}

/// A case that `plan` is asked about: the console gives the same reason.
fn unread(case: Case) -> (Case, Expected<'static>) {
    let expected = Expected { link: "◑ ", why: case.expected };
    (case, expected)
}

fn forbidding(name: &'static str, code: u16, reason: &'static str) -> Case {
    let attack = move |stream: &mut TcpStream, _: u64| {
        let status = serde_json::json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
            "reason": reason, "message": format!("{reason} on purpose")});
        answer_with(stream, code, "application/json", &status.to_string());
    };
    Case::lists(name, attack, &[])
}

#[tokio::test(flavor = "multi_thread")]
async fn the_console_says_which_lists_of_a_hostile_server_are_unread_and_why() {
    let cases = endless().into_iter().chain(wrong()).chain([flood(), older()]).map(unread);
    for (case, expected) in cases {
        let is_older = case.name == older().name;
        let (dir, _ports) = management(&case).await;
        tokio::task::block_in_place(|| {
            let mut pty = console(&dir);
            pty.wait_for_text("mgmt");
            if is_older {
                // The second list is the old one.
                pty.send_until("\x12", "the list to be read again", |text| text.contains("◑ "));
            }
            assert_shown(case.name, &mut pty, &expected);
            pty.send("\x03");
            assert!(pty.expect_clean_exit().success(), "{}", case.name);
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_console_never_shows_a_server_that_refuses_everything_as_live() {
    let all: &[&str] = &["/"];
    let lists: &[&str] = &["/api/v1/", "/apis/hypershift.openshift.io/v1beta1/"];
    let cases = [
        ("403 to everything", all, 403, "Forbidden", "forbidden (403)"),
        ("404 to everything", all, 404, "NotFound", "404"),
        ("403 to every list", lists, 403, "Forbidden", "forbidden (403)"),
        ("404 to every list", lists, 404, "NotFound", "404"),
    ];
    for (name, paths, code, reason, why) in cases {
        let case = forbidding(name, code, reason);
        let attack = case.attack.clone();
        let (dir, _port) = behind(sim("mgmt", 1, &[]), |server| hostile(server, paths, case.on, attack)).await;
        tokio::task::block_in_place(|| {
            let mut pty = console(&dir);
            assert_shown(name, &mut pty, &Expected { link: "◑ 0 of ", why: &[why] });
            pty.send("\x03");
            assert!(pty.expect_clean_exit().success(), "{name}");
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_console_shows_a_thousand_hosted_clusters_as_not_read() {
    const CLUSTERS: usize = 1_000;
    let pages = thousands(CLUSTERS, Planes::Usual);
    let attack: Arc<Attack> = Arc::new(move |stream, _, head| pages.serve(stream, head));
    let paths: &[&str] = &[HOSTED_CLUSTERS, super::CONTROL_PLANES];
    let (dir, _port) = behind(sim("mgmt", 1, &[]), |server| hostile(server, paths, Attacked::Lists, attack)).await;
    tokio::task::block_in_place(|| {
        let mut pty = console(&dir);
        // Two findings of each: the guest itself and its copies.
        pty.wait_for_text("1 Hosted OIDC ?2000");
        pty.wait_for("guests that were not read", |screen| {
            let text = screen.contents();
            let mut guests = text.lines().filter(|line| is_row(line, "guest-")).peekable();
            let is_unread =
                |line: &str| line.contains("?2") && ![LIVE, " = ", "·"].iter().any(|sign| line.contains(sign));
            guests.peek().is_some() && guests.all(is_unread)
        });
        pty.send("1/cluster:guest-00000\r");
        pty.wait_for_text("guest-00000-admin-kubeconfig");
        pty.send("\x03");
        assert!(pty.expect_clean_exit().success());
    });
}
