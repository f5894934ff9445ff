//! The examples for readers run, and find what they say they find.

#[path = "../examples/fit_table.rs"]
mod fit_table;
#[path = "../examples/own_engine.rs"]
mod own_engine;
#[path = "../examples/own_expert.rs"]
mod own_expert;

#[test]
fn a_table_is_fitted() {
    fit_table::main().unwrap();
}

/// The example itself asserts that the bits are the same.
#[test]
fn an_engine_of_two_halves_gives_the_same_bits() {
    own_engine::main().unwrap();
}

#[test]
fn a_density_from_outside_is_compared() {
    own_expert::main().unwrap();
}
