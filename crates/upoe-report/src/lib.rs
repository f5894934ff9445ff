//! Pictures and the HTML page of upoe.
