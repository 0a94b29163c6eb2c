//! (room world)
