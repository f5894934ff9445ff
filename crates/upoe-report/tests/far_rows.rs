//! Any finite row makes a page, and any number a figure: huge, single, equal, off the subspace.

use std::sync::OnceLock;

use proptest::collection::vec;
use proptest::prelude::*;
use upoe::expert::Family;
use upoe::groups::Groups;
use upoe::{Fit, Rows, Settings};
use upoe_report::figure::{Align, Axes, Colour, Figure, Ink, Labels, Mark, range};
use upoe_report::{FitRecord, Input, Page, build, html};

const CRABS: &str = include_str!("../../upoe/tests/data/crabs.csv");
const COLUMNS: usize = 5;

/// Models of the crabs: groups in all five columns; heavy tails in four and the sum of two of
/// them, so that most rows have ln p = −∞; and a tilt, which draws slowly.
fn fits() -> &'static [(Fit, Groups); 3] {
    static FITS: OnceLock<[(Fit, Groups); 3]> = OnceLock::new();
    FITS.get_or_init(|| {
        let cells = |line: &'static str| line.split(',').skip(4).map(|cell| cell.parse().unwrap());
        let plain: Vec<f64> = CRABS.lines().skip(1).flat_map(cells).collect();
        let sum = |row: &[f64]| [row[0], row[1], row[2], row[3], row[0] + row[1]];
        let degenerate: Vec<f64> = plain.chunks(COLUMNS).flat_map(sum).collect();
        let families = [Family::Mixture, Family::StudentT, Family::Tilt];
        let fit = |(values, family): (&[f64], Family)| {
            let settings = Settings::default().with(|s| {
                s.experts = Some(2);
                s.families = family.into();
            });
            let rows = Rows::new(values, COLUMNS).unwrap();
            let fit = upoe::fit(&rows, &settings).unwrap();
            let groups = fit.groups(&rows).unwrap();
            (fit, groups)
        };
        [(&plain[..], families[0]), (&degenerate, families[1]), (&plain, families[2])].map(fit)
    })
}

fn page((fit, groups): &(Fit, Groups), values: &[f64]) -> Page {
    let training = FitRecord { state: fit.state.clone(), ..FitRecord::default() };
    let names: Vec<String> = (0..COLUMNS).map(|c| format!("c{c}")).collect();
    build(&Input {
        title: "far",
        fitted: (&fit.model).into(),
        training: &training,
        names: &names,
        rows: Rows::new(values, COLUMNS).unwrap(),
        numbers: None,
        groups: Some(groups),
        kept: &[],
        image: None,
        seed: 7,
    })
    .unwrap()
}

/// Every picture has a frame, and every row whose projection is a number is counted.
fn sound(fits: &[(Fit, Groups)], values: &[f64]) {
    for fit in fits {
        let page = page(fit, values);
        let shown = page.groups.as_ref().unwrap();
        let rows: usize = shown.groups.iter().map(|group| group.rows).sum();
        assert_eq!((rows, shown.labels.0.len()), (values.len() / COLUMNS, rows));
        let z = fit.0.model.transform(&Rows::new(values, COLUMNS).unwrap()).unwrap();
        for (j, expert) in page.experts.iter().enumerate() {
            let histogram = &expert.histogram;
            let along = z.iter().skip(j).step_by(page.experts.len());
            let known = along.filter(|z| !z.is_nan()).count();
            assert_eq!(histogram.counts.iter().sum::<f64>(), known as f64);
            assert!(histogram.from.is_finite() && histogram.width > 0.0);
            let to = histogram.from + histogram.width * histogram.counts.len() as f64;
            assert!(to.is_finite() && to > histogram.from);
            assert!(expert.curve.from < histogram.from && to < expert.curve.to);
            let quantiles = &expert.quantiles;
            for list in [&quantiles.model, &quantiles.data, &quantiles.low, &quantiles.high] {
                assert_eq!(list.0.len(), known.min(150));
                assert!(list.0.iter().all(|q| q.is_finite()));
            }
        }
        let lost = z.iter().any(|z| z.is_nan());
        assert_eq!(page.summary.notices.iter().any(|n| n.contains("no projection")), lost);
        assert!(html(&page).ends_with("</html>\n"));
    }
}

#[test]
fn a_single_row_at_the_end_of_the_numbers() {
    sound(fits(), &[1e308, -1e308, 1e308, 1e308, 1e308]);
    sound(fits(), &[f64::MAX, f64::MIN, f64::MAX, f64::MIN, f64::MAX].repeat(3));
    sound(fits(), &[0.0; COLUMNS]);
    sound(fits(), &[1e30; COLUMNS].repeat(40));
}

/// Anything finite, by its order of magnitude; or a crab's measurement.
fn cell() -> impl Strategy<Value = f64> {
    prop_oneof![
        5.0..50.0,
        (-308.0..308.25f64, any::<bool>()).prop_map(|(power, minus)| if minus {
            -10f64.powf(power)
        } else {
            10f64.powf(power)
        }),
        prop::sample::select(vec![0.0, -0.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 1e308]),
    ]
}

/// One row, some rows, or the same row many times.
fn rows() -> impl Strategy<Value = Vec<f64>> {
    let row = || vec(cell(), COLUMNS);
    prop_oneof![
        row(),
        vec(row(), 1..12).prop_map(|rows| rows.concat()),
        (row(), 2usize..200).prop_map(|(row, times)| row.repeat(times)),
        // one far row among crabs
        (row(), vec(5.0..50.0, 20 * COLUMNS)).prop_map(|(row, rest)| [row, rest].concat()),
    ]
}

/// Any number at all.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>(), cell(), Just(f64::NAN), Just(f64::INFINITY)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_rows_make_a_page(values in rows()) {
        sound(&fits()[..2], &values);
    }

    #[test]
    fn any_numbers_make_a_figure(
        x in (number(), number()),
        y in (number(), number()),
        data in vec((number(), number()), 0..20),
        powers in any::<bool>(),
    ) {
        let values = || data.iter().flat_map(|(x, y)| [*x, *y]);
        for scales in [(x, y), (range(values()), range(values()))] {
            let mut figure = Figure::new(300.0, 200.0);
            let labels = Labels { title: "t", x: "x", y: "y", powers };
            let axes = Axes::new(&mut figure, (40.0, 10.0), (200.0, 100.0), scales, labels);
            axes.curve(&mut figure, &data, Ink::dashed(Colour::RED, 1.0));
            axes.marks(&mut figure, &data, (Mark::Circle, 3.0), Colour::BLUE);
            axes.level(&mut figure, y.0, Ink::solid(Colour::INK, 1.0));
            let heights: Vec<f64> = values().collect();
            axes.bars(&mut figure, x, &heights, Colour::PALE);
            let band: Vec<_> = data.iter().map(|(a, b)| (*a, *b, x.0)).collect();
            axes.band(&mut figure, &band, Colour::PALE);
            figure.text(axes.at(x.1, y.1), "a", 9.0, Align::Left);
            let svg = figure.svg();
            prop_assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            prop_assert!(svg.len() < 100_000, "{}", svg.len());
            prop_assert!(!figure.png(1.0).is_empty());
        }
    }
}
