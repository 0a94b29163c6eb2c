//! Gates that shut for everything at once: read-only mode and the kill switch.

use std::fmt;
use std::io;

use super::{Blocked, Candidate, Conditions, GateInputs, GateName, blocked};

/// Whether writing was ruled out, and by whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOnly {
    Off,
    ByFlag,
    ByConfig,
}

/// A kill switch that stops all writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KillSwitch {
    /// Its file exists.
    Set { file: String },
    /// Whether its file exists is unknown, and why: a switch must not fail open.
    Unknown { file: String, cause: String },
}

impl KillSwitch {
    /// What a look at the file says: only a file that is not there is no switch. A dangling link is there.
    pub fn of<T>(file: String, looked: &io::Result<T>) -> Option<Self> {
        match looked {
            Ok(_) => Some(Self::Set { file }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(Self::Unknown { file, cause: error.kind().to_string() }),
        }
    }
}

impl fmt::Display for KillSwitch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set { file } => write!(f, "kill switch {file} exists; remove it to write"),
            Self::Unknown { file, cause } => {
                write!(f, "kill switch {file} cannot be inspected ({cause}); make its folder readable to write")
            }
        }
    }
}

/// Nothing is written in read-only mode.
pub fn read_only(_: &Candidate<'_>, around: &GateInputs<'_>) -> Option<Blocked> {
    read_only_mode(around.conditions)
}

pub fn read_only_mode(conditions: &Conditions) -> Option<Blocked> {
    match conditions.read_only {
        ReadOnly::Off => None,
        ReadOnly::ByFlag => Some(blocked(GateName::ReadOnly, "started with --read-only; leave the flag out to write")),
        ReadOnly::ByConfig => {
            let why = "the config says [safety] read_only = true; set it to false to write";
            Some(blocked(GateName::ReadOnly, why))
        }
    }
}

/// A file whose presence stops all writes.
pub fn kill_switch(_: &Candidate<'_>, around: &GateInputs<'_>) -> Option<Blocked> {
    kill_switch_file(around.conditions)
}

pub fn kill_switch_file(conditions: &Conditions) -> Option<Blocked> {
    let switch = conditions.kill_switch.as_ref()?;
    Some(blocked(GateName::KillSwitch, switch.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_that_is_not_there_is_no_kill_switch() {
        use rustix::io::Errno;
        let table = [
            ("ENOENT", Errno::NOENT, None),
            ("EACCES: its folder may not be searched", Errno::ACCESS, Some("permission denied")),
            ("EPERM", Errno::PERM, Some("permission denied")),
            ("ENOTDIR: a part of the path is a file", Errno::NOTDIR, Some("not a directory")),
            (
                "ELOOP: links that lead in a circle",
                Errno::LOOP,
                Some("filesystem loop or indirection limit (e.g. symlink loop)"),
            ),
            ("ENAMETOOLONG", Errno::NAMETOOLONG, Some("invalid filename")),
            ("EIO: the disk fails", Errno::IO, Some("uncategorized error")),
            ("ESTALE: the NFS server lost it", Errno::STALE, Some("stale network file handle")),
            ("ETIMEDOUT: the NFS server is silent", Errno::TIMEDOUT, Some("timed out")),
            ("EMFILE: no file descriptor is left", Errno::MFILE, Some("uncategorized error")),
            ("ENOMEM", Errno::NOMEM, Some("out of memory")),
            ("EINTR", Errno::INTR, Some("operation interrupted")),
        ];
        for (case, errno, cause) in table {
            let found = KillSwitch::of("stop".to_owned(), &io::Result::<()>::Err(errno.into()));
            let expected = cause.map(|cause| KillSwitch::Unknown { file: "stop".to_owned(), cause: cause.to_owned() });
            assert_eq!(found, expected, "case: {case}");
        }
        assert_eq!(KillSwitch::of("stop".to_owned(), &Ok(())), Some(KillSwitch::Set { file: "stop".to_owned() }));
    }
}
