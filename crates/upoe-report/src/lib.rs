//! Pictures and the HTML page of upoe.

mod words;

pub use words::words;
