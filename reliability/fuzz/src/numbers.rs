//! Small matrices of extreme numbers.

use arbitrary::{Result, Unstructured};
use upoe::expert::{Expert, Mixture, StudentT, Tilt};

/// Rows, row after row, and perhaps weights.
#[derive(Debug)]
pub struct Matrix {
    pub columns: usize,
    pub values: Vec<f64>,
    pub weights: Option<Vec<f64>>,
}

/// Up to 24 rows of up to 4 columns: ties, whole numbers, huge and tiny ones, and, where
/// `dirty`, NaN and infinities.
pub fn matrix(u: &mut Unstructured, dirty: bool) -> Result<Matrix> {
    let (columns, rows) = (u.int_in_range(1..=4)?, u.int_in_range(0..=24)?);
    let mut values: Vec<f64> = Vec::new();
    for _ in 0..rows * columns {
        let above = values.len().checked_sub(columns).map_or(0.0, |at| values[at]);
        values.push(number(u, above, dirty)?);
    }
    let weights = match u.arbitrary()? {
        true => Some((0..rows).map(|_| weight(u, dirty)).collect::<Result<_>>()?),
        false => None,
    };
    Ok(Matrix { columns, values, weights })
}

/// A number, near another one or not.
pub fn number(u: &mut Unstructured, near: f64, dirty: bool) -> Result<f64> {
    let sign = if u.arbitrary()? { 1.0 } else { -1.0 };
    let finite = |x: f64| if x.is_finite() || dirty { x } else { 0.0 };
    Ok(match u.int_in_range(0..=15)? {
        0 => near,
        1 => near.next_up(),
        2 => finite(-near),
        3 => 0.0,
        4 => sign * f64::from(u.int_in_range(0..=3u8)?),
        5 => sign * 1e15,
        6 => sign * 1e300,
        7 => sign * 1e-300,
        8 => sign * f64::from_bits(u.arbitrary::<u16>()?.into()),
        9 => finite(f64::from_bits(u.arbitrary()?)),
        10 => finite(sign * f64::INFINITY),
        11 => finite(f64::NAN),
        12 => sign * 10f64.powi(u.int_in_range(-308..=308)?),
        13 => finite(near + f64::from(u.arbitrary::<i8>()?) * 1e-9),
        _ => f64::from(u.arbitrary::<i16>()?) / 1000.0,
    })
}

fn weight(u: &mut Unstructured, dirty: bool) -> Result<f64> {
    Ok(match u.int_in_range(0..=7)? {
        0 => 0.0,
        1 => 1e-300,
        2 => 1e300,
        3 => number(u, 1.0, dirty)?,
        4 => f64::from(u.arbitrary::<u8>()?),
        _ => 1.0,
    })
}

/// This many experts of any family and any parameters; those refused are left out.
pub fn experts(u: &mut Unstructured, count: usize) -> Result<Vec<Expert>> {
    let student = |u: &mut Unstructured| -> Result<Option<StudentT>> {
        let (mu, scale) = (number(u, 0.0, true)?, number(u, 1.0, true)?);
        Ok(StudentT::with_scale(mu, scale, number(u, 3.0, true)?).ok())
    };
    let mut experts: Vec<Expert> = Vec::new();
    for _ in 0..count {
        match u.int_in_range(0..=3)? {
            0 => experts.push(Tilt::gaussian(number(u, 100.0, false)?.abs()).into()),
            1 => {
                let both: Vec<StudentT> =
                    [student(u)?, student(u)?].into_iter().flatten().collect();
                let weights = both.iter().map(|_| number(u, 1.0, true)).collect::<Result<_>>()?;
                experts.extend(Mixture::new(weights, both).ok().map(Expert::from));
            }
            _ => experts.extend(student(u)?.map(Expert::from)),
        }
    }
    Ok(experts)
}
