//! Sums over parts of rows, one by one.

use super::{as_rows, numbers};
use crate::{Aligned, Packed, Pass, Real, part_rows, pass, reduce};

#[test]
fn parts_that_are_summed_one_by_one_give_the_bits_of_all_rows() {
    parts_of::<f64>();
    parts_of::<f32>();
}

/// Of narrow rows, which are packed by columns, and wide ones, with the parts of a much wider table.
fn parts_of<T: Real>() {
    let (n, wider) = (2_500, 3_000);
    let part = part_rows(wider);
    assert_eq!((part, part_rows(50)), (960, 41_280));
    for cols in [3, 150] {
        let rows: Vec<T> = as_rows(&numbers(n * cols, 1));
        let directions = numbers(9 * cols, 2);
        let tails: Vec<super::pass::Tail> =
            (1..=9).map(|c| super::pass::Tail(f64::from(c))).collect();
        let terms: Vec<&dyn crate::Term> = tails.iter().map(|t| t as _).collect();
        let sums = |rows: &Packed<T>| {
            let Pass { gradients, sums } = pass(rows, None, &directions, &terms);
            gradients.into_iter().chain(sums.concat()).collect::<Vec<f64>>()
        };
        let whole = sums(&Packed::new(rows.clone(), cols).in_parts_of(wider));
        let parts: Vec<Vec<f64>> =
            rows.chunks(part * cols).map(|rows| sums(&Packed::new(rows.to_vec(), cols))).collect();
        let add = |a: &mut Vec<f64>, b: Vec<f64>| a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        let merged = reduce(0..parts.len(), false, &|k| parts[k].clone(), &add);
        assert!(merged == whole, "{cols} columns");
    }
}

#[test]
fn bytes_of_numbers_are_read_and_written() {
    let mut to = Aligned::<f32>::new(3);
    to.bytes_mut().copy_from_slice(Aligned::from(&[1.5_f32, -2.0, 0.25][..]).bytes());
    assert_eq!(*to, [1.5, -2.0, 0.25]);
    assert!(Aligned::<f64>::new(0).bytes().is_empty());
}
