//! `--device`: where the work is done, and what is said where that is not possible.

use crate::{Place, fit_crabs};

#[test]
fn a_gpu_that_is_not_there_is_an_error_with_a_remedy() {
    let place = Place::with_model();
    let device = ["--device", "cuda:97"];
    let fit: Vec<&str> = fit_crabs().into_iter().chain(device).collect();
    place.run(&fit).failed(1, &["--device cuda:97: ", "`--device cpu`"]);
    let score = ["score", "m.upoe", "crabs.csv", device[0], device[1]];
    place.run(&score).failed(1, &["--device cuda:97: "]);
}

#[test]
fn a_small_table_stays_on_the_cpu_and_a_device_must_have_a_known_name() {
    let place = Place::with_model();
    let plain = place.run(&["score", "m.upoe", "crabs.csv"]).ok();
    for device in ["cpu", "auto"] {
        let same = place.run(&["score", "m.upoe", "crabs.csv", "--device", device]).ok();
        assert_eq!(plain.out, same.out, "the same bits");
    }
    place.run(&["score", "m.upoe", "crabs.csv", "--device", "gpu"]).failed(2, &["cpu, auto, cuda"]);
}
