//! Sequences sent on entering and leaving.

use super::super::testing::Recording;
use super::*;

const ENTER: &str = "{raw on} ESC[?1049hESC[22;0tESC[?25lESC[?2004hESC[?1004hESC[?1000hESC[?1002hESC[?1006h";
const LEAVE: &str =
    "ESC[?2026lESC[0m ESC[?1006lESC[?1002lESC[?1000lESC[?1004lESC[?2004lESC[?25hESC[23;0tESC[?1049l {raw off}";

fn held() -> (Recording, Guard) {
    let recording = Recording::default();
    let guard = Guard::enter(Box::new(recording.clone()), &MODES).unwrap();
    (recording, guard)
}

#[test]
fn leaving_undoes_the_modes_in_reverse() {
    let (recording, guard) = held();
    assert_eq!(recording.take(), ENTER);
    drop(guard);
    assert_eq!(recording.take(), LEAVE);
}

#[test]
fn every_mode_is_undone_by_its_own_opposite() {
    for mode in MODES.into_iter().chain([Mode::Keyboard]) {
        let Some((set, unset)) = mode.sequences() else { continue };
        let spelled = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let mut turned: Vec<String> = spelled(set)
            .split_inclusive(['h', 'l', 't', 'u'])
            .map(|one| one.replace("22;", "23;").replace('>', "<"))
            .map(|one| if one.ends_with('h') { one.replace('h', "l") } else { one.replace('l', "h") })
            .collect();
        turned.reverse();
        assert_eq!(turned.concat(), spelled(unset), "{mode:?}");
    }
}

#[test]
fn suspend_and_resume_undo_and_set_the_modes() {
    let (recording, mut guard) = held();
    recording.take();
    guard.suspend().unwrap();
    assert_eq!(recording.take(), LEAVE);
    guard.suspend().unwrap();
    assert_eq!(recording.take(), "", "the second time there is nothing to undo");
    guard.resume().unwrap();
    assert_eq!(recording.take(), ENTER);
    guard.resume().unwrap();
    assert_eq!(recording.take(), "", "the second time there is nothing to set");
}

#[test]
fn a_released_terminal_is_not_written_to() {
    let (recording, mut guard) = held();
    guard.suspend().unwrap();
    recording.take();
    assert!(guard.write(b"frame").is_err());
    assert_eq!(recording.take(), "");
    drop(guard);
    assert_eq!(recording.take(), "", "what was handed over is the other's to leave");
}

#[test]
fn a_released_mouse_stays_released_after_a_suspend() {
    let (recording, mut guard) = held();
    recording.take();
    guard.unset(Mode::Mouse).unwrap();
    assert_eq!(recording.take(), "ESC[?1006lESC[?1002lESC[?1000l");
    guard.unset(Mode::Mouse).unwrap();
    assert_eq!(recording.take(), "");
    guard.suspend().unwrap();
    guard.resume().unwrap();
    assert!(!recording.take().contains("1006"));
    guard.set(Mode::Mouse).unwrap();
    guard.set(Mode::Mouse).unwrap();
    assert_eq!(recording.take(), "ESC[?1000hESC[?1002hESC[?1006h");
    drop(guard);
    assert_eq!(recording.take(), LEAVE);
}

#[test]
fn a_mode_changed_while_suspended_applies_on_resume() {
    let (recording, mut guard) = held();
    guard.suspend().unwrap();
    recording.take();
    guard.unset(Mode::Mouse).unwrap();
    guard.set(Mode::Keyboard).unwrap();
    assert_eq!(recording.take(), "");
    guard.resume().unwrap();
    let said = recording.take();
    assert!(said.ends_with("ESC[?1004hESC[>1u") && !said.contains("1006"), "{said}");
}

#[test]
fn raw_mode_is_reset_after_a_hang_up() {
    let (recording, guard) = held();
    recording.take();
    recording.hang_up();
    drop(guard);
    assert_eq!(recording.take(), "{raw off}");
}

#[test]
fn a_terminal_that_cannot_be_configured_is_unchanged() {
    let recording = Recording::default();
    recording.hang_up();
    assert!(Guard::enter(Box::new(recording.clone()), &MODES).is_err());
    assert_eq!(recording.take(), "{raw on} {raw off}");
}
