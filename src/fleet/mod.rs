//! (room fleet)
pub mod identity;
pub mod snapshot;
pub(crate) mod text;
