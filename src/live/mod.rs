//! (room live)
