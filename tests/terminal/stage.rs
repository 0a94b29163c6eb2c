//! The program the tests put on stage: a loop around the terminal as the console has one, and a key for each accident.
//!
//! It is this test binary, started again with a variable set. Without it, there is nothing to play.

use std::io;
use std::time::Duration;

use crossterm::event::{Event, KeyCode};
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};
use tokio::process::Command;
use trueup::console::terminal::{
    Asked, BACKGROUND_QUERY, ColorChoice, Cursor, Dialect, Input, Mode, Screen, Signals, Stop, color_depth, copy,
    hand_over, install_panic_hook, read_background, rest, title,
};

use crate::pty::Program;
use trueup_core::engine::text::Printable;

const PLAY: &str = "TRUEUP_TEST_PLAY";

/// The program, for a pty.
pub fn program() -> Program {
    let here = std::env::current_exe().unwrap();
    Program::new(here)
        .args(&["--ignored", "--exact", "stage::the_program", "--nocapture"])
        .env(PLAY, "1")
        .env("PATH", "/usr/bin:/bin")
}

#[test]
#[ignore = "started by the tests of this binary, behind a terminal"]
fn the_program() {
    if std::env::var_os(PLAY).is_none() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(play()).unwrap();
}

struct Stage {
    screen: Screen,
    input: Input,
    signals: Signals,
    /// What happened last.
    line: String,
    panics: std::sync::mpsc::Receiver<String>,
}

enum Next {
    Go,
    Quit,
}

async fn play() -> io::Result<()> {
    let (said, panics) = std::sync::mpsc::channel();
    install_panic_hook(move |panic| drop(said.send(panic)));
    let env = |name: &str| std::env::var_os(name);
    let screen = Screen::open(color_depth(ColorChoice::Auto, &env), Dialect::detect(&env))?;
    let signals = Signals::listen()?;
    let mut stage = Stage { screen, input: Input::start()?, signals, line: "ready".to_owned(), panics };
    stage.draw()?;
    loop {
        tokio::select! {
            biased;
            asked = stage.signals.next() => match asked {
                Asked::End => return Ok(()),
                Asked::Rest => stage.rest(Stop::Process).await?,
            },
            event = stage.input.next() => {
                if let Next::Quit = stage.react(event?).await? {
                    return Ok(());
                }
                while let Some(event) = stage.input.ready()? {
                    if let Next::Quit = stage.react(event).await? {
                        return Ok(());
                    }
                }
            }
        }
        stage.draw()?;
    }
}

impl Stage {
    fn draw(&mut self) -> io::Result<()> {
        let line = self.line.clone();
        self.screen.draw(|buffer: &mut Buffer| {
            let bold = Style::new().fg(Color::Rgb(0x7e, 0xc6, 0x99)).add_modifier(Modifier::BOLD);
            buffer.set_string(0, 0, &line, bold);
            buffer.set_string(0, 1, format!("{} x {}", buffer.area.width, buffer.area.height), Style::new());
            Cursor::Hidden
        })?;
        Ok(())
    }

    async fn react(&mut self, event: Event) -> io::Result<Next> {
        match event {
            Event::Resize(columns, rows) => self.screen.resize(columns, rows),
            Event::Paste(text) => self.line = format!("pasted {text}"),
            Event::FocusLost => self.line = "left alone".to_owned(),
            Event::FocusGained => self.line = "looked at".to_owned(),
            Event::Mouse(mouse) => self.line = format!("mouse at {} {}", mouse.column, mouse.row),
            Event::Key(key) => match key.code {
                KeyCode::Char('q') => return Ok(Next::Quit),
                KeyCode::Char('f') => return Err(io::Error::other("failed on purpose")),
                KeyCode::Char('p') => panic!("broken on purpose"),
                KeyCode::Char('b') => self.break_behind(),
                KeyCode::Char('z') => self.rest(Stop::Job).await?,
                KeyCode::Char('e') => self.edit().await?,
                KeyCode::Char('n') => self.edit_with_nothing().await?,
                KeyCode::Char('m') => self.screen.release(Mode::Mouse)?,
                KeyCode::Char('M') => self.screen.take(Mode::Mouse)?,
                KeyCode::Char('c') => self.screen.say(&copy(&Printable::line("copied"), false).unwrap())?,
                KeyCode::Char('t') => self.screen.say(&title(&Printable::line("a title")))?,
                KeyCode::Char('l') => self.ask()?,
                other => self.line = format!("key {other}"),
            },
        }
        Ok(Next::Go)
    }

    /// A panic on another thread.
    fn break_behind(&mut self) {
        let _ = std::thread::spawn(|| panic!("broken behind")).join();
        self.line = self.panics.recv().unwrap();
    }

    async fn rest(&mut self, who: Stop) -> io::Result<()> {
        rest(&mut self.screen, &mut self.input, &mut self.signals, who).await?;
        self.line = "back".to_owned();
        Ok(())
    }

    /// Another program has the terminal, and all keys.
    async fn edit(&mut self) -> io::Result<()> {
        let script = "stty size; echo editing; read line; echo \"got $line\"; read line";
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        let status = hand_over(&mut self.screen, &mut self.input, &mut self.signals, &mut command).await?;
        self.line = format!("edited: {}", status.success());
        Ok(())
    }

    async fn edit_with_nothing(&mut self) -> io::Result<()> {
        let mut command = Command::new("/no/such/editor");
        let failed = hand_over(&mut self.screen, &mut self.input, &mut self.signals, &mut command).await;
        self.line = format!("no editor: {}", failed.unwrap_err().kind());
        Ok(())
    }

    /// Light or dark?
    fn ask(&mut self) -> io::Result<()> {
        self.input.stop();
        self.screen.say(BACKGROUND_QUERY)?;
        let shade = read_background(Duration::from_secs(20))?;
        self.input.restart()?;
        self.line = format!("shade {shade:?}");
        Ok(())
    }
}
