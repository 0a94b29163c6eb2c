//! Splits a byte stream into lines, independent of the network's chunks.

use memchr::memchr;
use zeroize::Zeroizing;

/// Longest accepted line. An object in etcd is at most 1.5 MB; its JSON and the event around it are less than ten times
/// that.
const LINE_BYTES_MAX: usize = 16 << 20;

/// The start of a line whose end has not arrived.
///
/// It may be part of a Secret, so it is wiped on drop.
#[derive(Default)]
pub(super) struct Lines {
    unfinished: Zeroizing<Vec<u8>>,
}

/// A line longer than any event.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl Lines {
    /// Passes every line that `piece` completes to `each`, without its line end. Empty lines are skipped.
    ///
    /// # Errors
    /// A line is too long, or `each` fails; the rest of the stream is then unusable.
    pub fn feed<E: From<TooLong>>(
        &mut self,
        mut piece: &[u8],
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(end) = memchr(b'\n', piece) {
            let (line, rest) = (&piece[..end], &piece[end + 1..]);
            piece = rest;
            if self.unfinished.is_empty() {
                pass_line(line, &mut each)?;
                continue;
            }
            self.keep(line)?;
            let whole = std::mem::take(&mut self.unfinished);
            pass_line(&whole, &mut each)?;
        }
        self.keep(piece)?;
        Ok(())
    }

    fn keep(&mut self, piece: &[u8]) -> Result<(), TooLong> {
        if self.unfinished.len() + piece.len() > LINE_BYTES_MAX {
            return Err(TooLong);
        }
        super::api_client::grow(&mut self.unfinished, piece);
        Ok(())
    }
}

fn pass_line<E>(line: &[u8], each: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.is_empty() { Ok(()) } else { each(line) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines_of(pieces: &[&[u8]]) -> Result<Vec<String>, TooLong> {
        let mut lines = Lines::default();
        let mut seen = Vec::new();
        for piece in pieces {
            lines.feed(piece, |line| {
                seen.push(String::from_utf8(line.to_vec()).unwrap());
                Ok::<(), TooLong>(())
            })?;
        }
        Ok(seen)
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_the_chunks(
            text in proptest::collection::vec("[a-zé🦀]{0,9}", 0..6), cuts in proptest::collection::vec(0usize..80, 0..6)
        ) {
            let whole: String = text.iter().map(|line| format!("{line}\n")).collect();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(whole.len())).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts {
                pieces.push(&whole.as_bytes()[from..cut]);
                from = cut;
            }
            pieces.push(&whole.as_bytes()[from..]);
            let expected: Vec<String> = text.into_iter().filter(|line| !line.is_empty()).collect();
            prop_assert_eq!(lines_of(&pieces).unwrap(), expected);
        }
    }

    #[test]
    fn an_endless_line_is_an_error_and_an_unfinished_line_is_not_passed_on() {
        assert_eq!(lines_of(&[b"a\r\nb"]).unwrap(), ["a"]);
        let long = vec![b'x'; LINE_BYTES_MAX];
        assert_eq!(lines_of(&[&long, b"y"]), Err(TooLong));
    }
}
