//! `kill -9` of a real `trueup apply` at every position of its journal, on a real API server.

use std::path::PathBuf;
use std::process::Command;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::desk::{Acting, Desk};
use crate::support::front::Front;
use crate::support::killed::{KillTarget, POSITIONS, Position, kill_and_go_on};

struct Real {
    acting: &'static Acting,
    desk: Desk,
    orphan: &'static str,
}

impl KillTarget for Real {
    fn front(&self) -> &Front {
        &self.acting.front
    }

    fn orphan(&self) -> &str {
        self.orphan
    }

    fn is_there(&self) -> BoxFuture<'_, bool> {
        async { self.acting.look(self.orphan).await.is_some() }.boxed()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.desk.path(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        self.desk.command(args)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_run_is_recovered_by_reading_and_nothing_is_deleted_twice() {
    let Some(acting) = Acting::shared().await else {
        return;
    };
    let each = POSITIONS.iter().map(|position| tokio::spawn(at(acting, position)));
    for ended in futures::future::join_all(each).await {
        ended.unwrap();
    }
}

async fn at(acting: &'static Acting, position: &'static Position) {
    acting.orphan(position.name).await;
    kill_and_go_on(&Real { acting, desk: Desk::new(acting), orphan: position.name }, position).await;
}
