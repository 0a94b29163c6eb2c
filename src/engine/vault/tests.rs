//! What the vault promises, on a real folder.
