//! What the journal promises, on a disk that keeps none of its own.
