//! The list of checks. A new one is a folder beside this file and one line here.
