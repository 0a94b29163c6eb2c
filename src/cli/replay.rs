//! `trueup replay`: a recorded session in the console, or its frames without a terminal.
//!
//! Exit codes: 0 every frame is as it was recorded; 3 a frame differs; 1 the recording cannot be read.

use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::path::Path;

use jiff::{SignedDuration, Timestamp};

use super::args::ReplayArgs;
use super::console;
use super::context::Context;
use super::error::CliError;
use super::terminal::print_parts;
use crate::console::capture;
use crate::console::recording::{FrameCheck, Line, Player, Read, ReadError, Reader};
use trueup_core::engine::text::Printable;

/// Exit code when a frame differs from the recorded one.
const DIFFERS: u8 = 3;
/// The largest recording: a day of the busiest session.
const BYTES_MAX: u64 = 4 << 30;

type RecordingReader = Reader<BufReader<io::Take<File>>>;

/// What a replay found.
#[derive(Debug, Default)]
struct Replayed {
    inputs: usize,
    frames: usize,
    withheld: usize,
    /// Number and time of the first frame that differs.
    different: Option<(usize, Timestamp)>,
    is_cut_off: bool,
    over: SignedDuration,
}

/// Opens the console on a recording.
///
/// # Errors
/// The recording cannot be read, or the terminal cannot be used.
pub async fn on_console(context: Context, args: &ReplayArgs) -> Result<u8, CliError> {
    let mut reader = open(&args.file)?;
    let mut lines = Vec::new();
    while let Read::Line(line) = reader.next_line().map_err(|error| unreadable(&args.file, &error))? {
        lines.push(*line);
    }
    console::run_replay(context, &args.file, lines).await
}

/// Replays every input and compares the frames.
///
/// # Errors
/// The recording cannot be read, or stdout cannot be written.
pub fn run(args: &ReplayArgs) -> Result<u8, CliError> {
    let mut reader = open(&args.file)?;
    let mut replayed = Replayed::default();
    let mut failed = None;
    print_parts(|write| {
        match replay(&mut reader, &mut replayed, |text| if args.frames { write(text) } else { Ok(()) }) {
            Ok(Ok(())) => write(&Printable::lines(&format!("{}\n", replayed.message(&args.file)))),
            Ok(Err(closed)) => Err(closed),
            Err(error) => {
                failed = Some(unreadable(&args.file, &error));
                Ok(())
            }
        }
    })?;
    match failed {
        Some(error) => Err(error),
        None => Ok(if replayed.different.is_some() { DIFFERS } else { 0 }),
    }
}

fn open(path: &Path) -> Result<RecordingReader, CliError> {
    let opened = File::open(path).map_err(ReadError::Io);
    opened.and_then(|file| Reader::open(BufReader::new(file.take(BYTES_MAX)))).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &ReadError) -> CliError {
    CliError::failed("replay", format!("{}: {error}", path.display()), "")
}

fn replay(
    reader: &mut RecordingReader,
    replayed: &mut Replayed,
    mut print: impl FnMut(&Printable) -> io::Result<()>,
) -> Result<io::Result<()>, ReadError> {
    let mut player: Option<Player> = None;
    loop {
        let line = match reader.next_line()? {
            Read::Line(line) => *line,
            Read::End => return Ok(Ok(())),
            Read::CutOff => {
                replayed.is_cut_off = true;
                return Ok(Ok(()));
            }
        };
        let player = match (line, &mut player) {
            (Line::Opened(opened), player) => {
                *player = Some(Player::new(opened));
                continue;
            }
            (_, None) => return Err(ReadError::NotARecording),
            (line, Some(player)) => {
                replayed.inputs += usize::from(!matches!(line, Line::Frame(_)));
                let check = player.take(line);
                replayed.over = player.model().now.duration_since(reader.header.at);
                let Some(check) = check else { continue };
                replayed.count(check, player.model().now);
                player
            }
        };
        let title = Printable::lines(&format!("frame {}, {}\n", replayed.frames, player.model().now));
        if let Err(closed) = print(&title).and_then(|()| print(&capture::text(player.shown()))) {
            return Ok(Err(closed));
        }
    }
}

impl Replayed {
    fn count(&mut self, check: FrameCheck, at: Timestamp) {
        self.frames += 1;
        match check {
            FrameCheck::Same => {}
            FrameCheck::Withheld => self.withheld += 1,
            FrameCheck::Different => {
                self.different.get_or_insert((self.frames, at));
            }
        }
    }

    /// One sentence, and one for each thing that is not as usual.
    fn message(&self, path: &Path) -> String {
        let Self { inputs, frames, withheld, different, is_cut_off, over } = self;
        let result = match different {
            None => "every frame is as recorded".to_owned(),
            Some((number, at)) => format!("frame {number} ({at}) differs from the recorded one"),
        };
        let mut message =
            format!("{}: {inputs} inputs, {frames} frames, {} s: {result}", path.display(), over.as_secs());
        if *withheld > 0 {
            message
                .push_str(&format!("\n{withheld} frames showed revealed values, which are not recorded; not compared"));
        }
        if *is_cut_off {
            message.push_str("\nthe last line is cut off; everything before it was replayed");
        }
        message
    }
}
