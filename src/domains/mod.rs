//! (room domains)
