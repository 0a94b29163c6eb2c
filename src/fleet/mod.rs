//! (room fleet)
