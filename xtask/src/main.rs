//! Maintenance programs: `cargo run --release -p xtask -- TASK`.

mod bits;
mod null_table;
mod pages;
mod radial_table;

use std::error::Error;

const USAGE: &str = "tasks:
  null-table               print the table behind the null stop rule; about 40 minutes
  radial-table             print the table behind the radial expert's p-values; about a minute
  pages DIRECTORY [NAME…]  fit models and write their pages, which the tests of the page open
  bits                     print a small fit to the bit, which the Python package must match";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("null-table") => null_table::run(),
        Some("radial-table") => radial_table::run(),
        Some("pages") => {
            let directory = arguments.next().unwrap_or_else(|| ".".to_owned());
            pages::run(&directory, &arguments.collect::<Vec<_>>())
        }
        Some("bits") => Ok(bits::run()?),
        _ => {
            eprintln!("{USAGE}");
            std::process::exit(2);
        }
    }
}
