//! (room observe)
