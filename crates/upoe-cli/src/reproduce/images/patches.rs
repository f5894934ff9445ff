//! The natural images, and patches of them at random places.

use std::ops::RangeInclusive;
use std::path::Path;

use rand::RngExt;
use upoe::random::{self, Use};
use upoe_table::{FileError, GreyPicture};

use super::missing;
use crate::failure::Failure;

/// Pixels of a patch's side.
pub const SIDE: usize = 30;
/// Size of the images.
const SIZE: (usize, usize) = (512, 256);

/// The images 1 to 13.
pub struct Pictures(Vec<GreyPicture>);

/// Patches, and where they are from.
pub struct Patches {
    /// Pixels, 0 to 255, patch after patch.
    pub values: Vec<f64>,
    /// Image, from 1, top and left.
    pub places: Vec<[usize; 3]>,
}

impl Pictures {
    /// Reads 1.tiff … 13.tiff from a directory.
    pub fn read(directory: &Path) -> Result<Pictures, Failure> {
        if !directory.join("1.tiff").is_file() && !directory.join("13.tiff").is_file() {
            return Err(missing(directory));
        }
        let one = |number: usize| {
            let path = directory.join(format!("{number}.tiff"));
            let picture = match GreyPicture::read(&path) {
                Err(upoe_table::Error::File(FileError::NotFound { .. })) => {
                    return Err(Failure::Message(format!(
                        "{}: no such file; all of 1.tiff … 13.tiff are needed, from \
                         www.cis.hut.fi/projects/ica/data/images",
                        path.display()
                    )));
                }
                picture => picture?,
            };
            if (picture.width, picture.height) != SIZE {
                return Err(Failure::Message(format!(
                    "{}: {} × {} pixels; the natural images are {} × {}, from \
                     www.cis.hut.fi/projects/ica/data/images",
                    path.display(),
                    picture.width,
                    picture.height,
                    SIZE.0,
                    SIZE.1
                )));
            }
            Ok(picture)
        };
        (1..=13).map(one).collect::<Result<_, _>>().map(Pictures)
    }

    /// `count` patches of some of the images, at random places.
    pub fn patches(&self, images: RangeInclusive<usize>, count: usize, seed: u64) -> Patches {
        let mut rng = random::stream(seed, Use::Data, *images.start() as u64);
        let (width, height) = SIZE;
        let mut patches =
            Patches { values: Vec::with_capacity(count * SIDE * SIDE), places: Vec::new() };
        for _ in 0..count {
            let image = rng.random_range(images.clone());
            let top = rng.random_range(0..=height - SIDE);
            let left = rng.random_range(0..=width - SIDE);
            for row in top..top + SIDE {
                let line = &self.0[image - 1].pixels[row * width + left..][..SIDE];
                patches.values.extend(line.iter().map(|shade| f64::from(*shade)));
            }
            patches.places.push([image, top, left]);
        }
        patches
    }
}

/// Where patches are from, as a table: 1 in the first column trains.
pub fn places(train: &Patches, held: &Patches) -> String {
    let mut table = String::from("train,image,top,left\n");
    for (trains, patches) in [(1, train), (0, held)] {
        for [image, top, left] in &patches.places {
            table += &format!("{trains},{image},{top},{left}\n");
        }
    }
    table
}

/// A number for each of the first patches, by which to know them again.
pub fn first(patches: &Patches) -> Vec<i64> {
    let number = |[image, top, left]: &[usize; 3]| (image * 1_000_000 + top * 1000 + left) as i64;
    patches.places.iter().take(500).map(number).collect()
}
