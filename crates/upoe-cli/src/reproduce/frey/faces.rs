//! The Frey faces, and ways to split them.

use std::collections::BTreeSet;
use std::path::Path;

use upoe_table::{FileError, ReadOptions, Table};

use super::missing;
use crate::failure::Failure;

/// Frames of the video.
pub const FRAMES: usize = 1965;
/// Pixels of a frame: 28 rows of 20.
pub const PIXELS: usize = 560;
/// Rows to train on.
const TRAIN: usize = 1000;
/// Runs of successive frames that a split by blocks keeps together.
const BLOCKS: usize = 20;

/// The frames in video order, pixels between 0 and 1.
pub struct Faces(Vec<f64>);

impl Faces {
    /// Reads the original file or one made from it.
    pub fn read(path: &Path) -> Result<Faces, Failure> {
        let names = ["frey_rawface.mat", "frey_rawface.npy"];
        let inside = names.map(|name| path.join(name));
        let file = match inside.iter().find(|file| file.is_file()) {
            Some(file) => file.as_path(),
            None if path.is_dir() => return Err(missing(path)),
            None => path,
        };
        let table = match Table::read(file, &ReadOptions::default()) {
            Err(upoe_table::Error::File(FileError::NotFound { .. })) => return Err(missing(path)),
            table => table?,
        };
        let columns = table.names.len();
        let values = match (table.rows, columns) {
            (FRAMES, PIXELS) => table.data,
            // The original has one frame per column.
            (PIXELS, FRAMES) => (0..FRAMES)
                .flat_map(|frame| table.data.iter().skip(frame).step_by(FRAMES).copied())
                .collect(),
            (rows, columns) => {
                return Err(Failure::Message(format!(
                    "{}: {rows} rows × {columns} columns; the Frey faces are {FRAMES} frames of \
                     {PIXELS} pixels (28 × 20), one frame per row or per column, as in \
                     frey_rawface.mat from www.cs.toronto.edu/~roweis/data",
                    file.display()
                )));
            }
        };
        let (low, high) = super::super::statistics::extent(&values);
        if low < 0.0 || high > 255.0 || low == high {
            return Err(Failure::Message(format!(
                "{}: values from {low} to {high}; the pixels of the Frey faces lie between 0 and 255",
                file.display()
            )));
        }
        let scale = if high > 1.0 { 1.0 / 255.0 } else { 1.0 };
        Ok(Faces(values.iter().map(|value| scale * value).collect()))
    }

    /// Copies of some frames.
    pub fn pick(&self, frames: &[usize]) -> Vec<f64> {
        frames.iter().flat_map(|f| &self.0[f * PIXELS..(f + 1) * PIXELS]).copied().collect()
    }
}

/// Which frames to train on and which to test on, both in video order.
pub struct Split {
    pub train: Vec<usize>,
    pub test: Vec<usize>,
}

impl Split {
    /// These frames train, the others test.
    pub fn given(train: &BTreeSet<usize>) -> Split {
        let (train, test) = (0..FRAMES).partition(|frame| train.contains(frame));
        Split { train, test }
    }

    /// 1000 frames at random, as the paper does.
    pub fn random(seed: u64) -> Split {
        let share = (FRAMES - TRAIN) as f64 / FRAMES as f64;
        Split::of(upoe::held_out::<usize>(FRAMES, Some(share), None, seed))
    }

    /// Half of twenty blocks of successive frames: test frames have no neighbours among the
    /// training frames, but at the ends of their block.
    pub fn by_blocks(seed: u64) -> Split {
        let blocks: Vec<usize> = (0..FRAMES).map(|frame| frame * BLOCKS / FRAMES).collect();
        // Blocks have 98 or 99 frames: ten of them.
        Split::of(upoe::held_out(FRAMES, Some(0.49), Some(&blocks), seed))
    }

    fn of(out: upoe::Result<Vec<bool>>) -> Split {
        let out = out.expect("these shares leave rows to learn from");
        let (test, train) = (0..FRAMES).partition(|frame| out[*frame]);
        Split { train, test }
    }
}

/// Row numbers from a text file, one per line.
pub fn read_rows(path: &Path) -> Result<BTreeSet<usize>, Failure> {
    let wrong = |what: String| Failure::Message(format!("{}: {what}", path.display()));
    let text = std::fs::read_to_string(path)
        .map_err(|error| wrong(format!("the training rows cannot be read ({error})")))?;
    let mut rows = BTreeSet::new();
    for (line, word) in text.split_whitespace().enumerate() {
        let row = word.parse().ok().filter(|row: &usize| *row < FRAMES);
        let row = row.ok_or_else(|| {
            let last = FRAMES - 1;
            wrong(format!("entry {}: `{word}` is not a row number between 0 and {last}", line + 1))
        })?;
        if !rows.insert(row) {
            return Err(wrong(format!("entry {}: row {row} comes twice", line + 1)));
        }
    }
    if rows.len() < 100 || rows.len() > FRAMES - 100 {
        return Err(wrong(format!(
            "{} rows to train on; between 100 and {} are needed, the paper takes {TRAIN}",
            rows.len(),
            FRAMES - 100
        )));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_share_no_frame() {
        for seed in 0..20 {
            for split in [Split::random(seed), Split::by_blocks(seed)] {
                let all: BTreeSet<usize> = split.train.iter().chain(&split.test).copied().collect();
                assert_eq!((all.len(), split.train.len() + split.test.len()), (FRAMES, FRAMES));
            }
            assert_eq!(Split::random(seed).train.len(), 1000);
            let blocks = Split::by_blocks(seed);
            assert!((975..=990).contains(&blocks.train.len()), "{}", blocks.train.len());
            // A test frame's neighbour is a test frame, but at the ends of at most ten blocks.
            let test: BTreeSet<usize> = blocks.test.iter().copied().collect();
            let alone = test.iter().filter(|f| !test.contains(&(*f + 1))).count();
            assert!(alone <= 10, "{alone}");
        }
        assert_ne!(Split::random(0).train, Split::random(1).train);
    }
}
