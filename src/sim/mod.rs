//! (room sim)
