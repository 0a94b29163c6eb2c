//! Reloading keys and themes when their files change.

use std::path::PathBuf;

use super::console_settings;
use crate::config::ConsoleSettings;
use crate::console::ReplySender;
use crate::console::settings::SettingsReload;
use crate::console::task::TaskReply;
use trueup_fleet::connect::{ChangeEvent, ChangeWatcher};
use trueup_operate::wall_clock;

/// Reads keys and themes again whenever their files change, until the console exits.
pub async fn follow_settings(settings: ConsoleSettings, folder: PathBuf, replies: ReplySender) {
    let watcher = || ChangeWatcher::new(&console_settings::files(&settings, &folder), wall_clock());
    let mut before = watcher();
    loop {
        while before.next().await == ChangeEvent::ClockJump {}
        // Created before the files are read, so that a later change is not missed.
        before = watcher();
        let (keys, mut problems) = console_settings::keymap(&settings, Some(&folder));
        let (themes, of_themes) = console_settings::themes(Some(&folder));
        problems.extend(of_themes);
        replies.send(TaskReply::SettingsReloaded(Box::new(SettingsReload { keys, themes, problems })));
    }
}
