//! The demo behind a terminal.

use tempfile::TempDir;

use crate::pty::{Program, Pty};

/// A console on the demo, and the folder it may write to.
pub struct Demo {
    pub pty: Pty,
    pub folder: TempDir,
}

pub fn program(folder: &TempDir) -> Program {
    let path = folder.path();
    Program::new(env!("CARGO_BIN_EXE_trueup"))
        .args(&["demo", "--seed", "7", "--utc"])
        .env("HOME", path)
        .env("TMPDIR", path)
        .env("USER", "ann")
        .env("LANG", "C.UTF-8")
        .env("PATH", "/usr/bin:/bin")
        .folder(path)
}

/// The demo on 120 × 40, when the orphans of guest-payments are in sight.
pub fn demo() -> Demo {
    demo_with(|program| program.size(120, 40))
}

pub fn demo_with(change: impl FnOnce(Program) -> Program) -> Demo {
    let folder = tempfile::tempdir().unwrap();
    let pty = change(program(&folder)).start();
    let mut demo = Demo { pty, folder };
    demo.pty.wait_for_text("guest-payments");
    demo
}

impl Demo {
    /// Goes to the one finding the story leaves alone: a Secret that nothing refers to.
    pub fn find_orphan(&mut self) {
        self.pty.send("1/verdict:orphan-certain kind:secret name~ext-auth\r");
        self.pty.wait_for("the orphan alone", |screen| {
            let text = screen.contents();
            text.contains("1 of ") && text.contains("ext-auth-console") && text.contains("WHY")
        });
    }

    #[track_caller]
    pub fn quit(mut self) {
        self.pty.send("\x03");
        assert!(self.pty.expect_clean_exit().success());
        let left = std::fs::read_dir(self.folder.path()).unwrap().count();
        assert_eq!(left, 0, "the demo leaves nothing behind");
    }
}
