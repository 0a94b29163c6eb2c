//! `kill -9` of the binary at every position of its journal, on simulated clusters.

use std::path::PathBuf;
use std::process::Command;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::act_secrets::{Watched, watched};
use super::front::Front;
use super::killed_support::{KillTarget, POSITIONS, kill_and_go_on};

impl KillTarget for Watched {
    fn front(&self) -> &Front {
        &self.front
    }

    fn orphan(&self) -> &str {
        "old-client"
    }

    fn is_there(&self) -> BoxFuture<'_, bool> {
        async { Watched::is_there(self) }.boxed()
    }

    fn path(&self, name: &str) -> PathBuf {
        Watched::path(self, name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let tmp = self.path("");
        let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
        command.env_clear().env("XDG_STATE_HOME", self.path("state")).current_dir("/");
        command.args(args.iter().map(|arg| arg.replace("$TMP", tmp.to_str().unwrap())));
        command
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_run_is_recovered_by_reading_and_nothing_is_deleted_twice() {
    let each = POSITIONS.iter().map(|position| {
        tokio::spawn(async move {
            kill_and_go_on(&watched().await, position).await;
        })
    });
    for ended in futures::future::join_all(each).await {
        ended.unwrap();
    }
}
