//! Cuts a stream of bytes into lines, wherever the network cut it before.

use memchr::memchr;
use zeroize::Zeroizing;

/// The longest line that is waited for. An object in etcd is at most 1.5 MB; JSON and an event around it don't make
/// that ten times as much.
const LINE_BYTES_MAX: usize = 16 << 20;

/// The beginning of a line whose end has not come yet.
///
/// It may be part of a Secret, so it is wiped when it is let go.
#[derive(Default)]
pub(super) struct Lines {
    unfinished: Zeroizing<Vec<u8>>,
}

/// A line that is longer than any event.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl Lines {
    /// Hands every line that `piece` completes to `each`, without its end. Empty lines are left out.
    ///
    /// # Errors
    /// A line is longer than any event, or `each` refuses one; the rest of the stream is then of no use.
    pub fn feed<E: From<TooLong>>(
        &mut self,
        mut piece: &[u8],
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(end) = memchr(b'\n', piece) {
            let (line, rest) = (&piece[..end], &piece[end + 1..]);
            piece = rest;
            if self.unfinished.is_empty() {
                hand_on(line, &mut each)?;
                continue;
            }
            self.keep(line)?;
            let whole = std::mem::take(&mut self.unfinished);
            hand_on(&whole, &mut each)?;
        }
        self.keep(piece)?;
        Ok(())
    }

    fn keep(&mut self, piece: &[u8]) -> Result<(), TooLong> {
        if self.unfinished.len() + piece.len() > LINE_BYTES_MAX {
            return Err(TooLong);
        }
        super::ask::grow(&mut self.unfinished, piece);
        Ok(())
    }
}

fn hand_on<E>(line: &[u8], each: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
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
        fn lines_are_the_same_wherever_the_network_cuts_them(
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
    fn a_line_without_end_is_refused_and_an_unfinished_one_is_kept_back() {
        assert_eq!(lines_of(&[b"a\r\nb"]).unwrap(), ["a"]);
        let long = vec![b'x'; LINE_BYTES_MAX];
        assert_eq!(lines_of(&[&long, b"y"]), Err(TooLong));
    }
}
