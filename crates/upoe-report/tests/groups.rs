//! The page shows the groups of the model file, with the words and numbers of `upoe groups`.

use upoe::expert::Family;
use upoe::groups::{Agreement, Groups};
use upoe::{Fit, Rows, Settings};
use upoe_report::{Cells, FitRecord, Input, Kept, Page, build};

const CRABS: &str = include_str!("../../upoe/tests/data/crabs.csv");
const COLUMNS: usize = 5;

fn lines() -> impl Iterator<Item = Vec<&'static str>> {
    CRABS.lines().skip(1).map(|line| line.split(',').collect())
}

fn crabs() -> Vec<f64> {
    lines()
        .flat_map(|cells| cells[4..].iter().map(|c| c.parse().unwrap()).collect::<Vec<_>>())
        .collect()
}

fn fitted(values: &[f64]) -> (Fit, Groups) {
    let settings = Settings::default().with(|s| {
        s.experts = Some(2);
        s.families = Family::Mixture.into();
        s.fix_mu = Some(vec![-1.0, 1.0]);
        s.fix_beta = Some(20.0);
    });
    let rows = Rows::new(values, COLUMNS).unwrap();
    let fit = upoe::fit(&rows, &settings).unwrap();
    let groups = fit.groups(&rows).unwrap();
    (fit, groups)
}

fn page(fit: &Fit, groups: &Groups, values: &[f64], kept: &[Kept]) -> upoe::Result<Page> {
    let names = ["FL", "RW", "CL", "CW", "BD"].map(str::to_owned);
    build(&Input {
        title: "crabs",
        fitted: (&fit.model).into(),
        training: &FitRecord { state: fit.state.clone(), ..FitRecord::default() },
        names: &names[..fit.model.whitening().columns()],
        rows: Rows::new(values, fit.model.whitening().columns())?,
        numbers: None,
        groups: Some(groups),
        kept,
        image: None,
        seed: 7,
    })
}

#[test]
fn groups_of_crabs_have_labels_sizes_and_differences() {
    let values = crabs();
    let (fit, groups) = fitted(&values);
    let species: Vec<String> = lines().map(|cells| cells[1].to_owned()).collect();
    let kept = [
        Kept { name: "sp".into(), cells: Cells::Text(species.clone()) },
        Kept { name: "age".into(), cells: Cells::Numbers(vec![1.0; 200]) },
    ];
    let page = page(&fit, &groups, &values, &kept).unwrap();
    let (shown, findings) = (page.groups.unwrap(), page.summary.findings);
    assert!(groups.count() > 1 && shown.groups.len() == groups.count());
    assert_eq!((&shown.none, &shown.merged), (&None, &groups.merged_words()));

    let labels = groups.labels(&fit.model, &Rows::new(&values, COLUMNS).unwrap()).unwrap();
    assert_eq!(shown.labels.0, labels.iter().map(|l| *l as u32).collect::<Vec<_>>());
    let names = ["FL", "RW", "CL", "CW", "BD"].map(str::to_owned);
    for (k, (group, name)) in shown.groups.iter().zip(groups.names(&names)).enumerate() {
        let is_in = |row: usize| labels[row] == k;
        let rows = (0..200).filter(|row| is_in(*row)).count();
        assert_eq!((&group.name, group.rows), (&name, rows));
        assert_eq!(group.share, rows as f64 / 200.0);
        assert!(group.name.starts_with(&group.differences[0].column));
        for told in &group.differences {
            let [difference, low, high] =
                [&told.difference, &told.low, &told.high].map(|text| text.parse::<f64>().unwrap());
            assert!(low < difference && difference < high && (low > 0.0 || high < 0.0));
            assert_eq!(told.difference.starts_with('+'), difference > 0.0);
            // All rows are training rows here, so the means are those of the labels.
            let column = names.iter().position(|name| *name == told.column).unwrap();
            let mean = |inside: bool| {
                let cells = values.iter().skip(column).step_by(COLUMNS).enumerate();
                let own: Vec<f64> =
                    cells.filter(|(row, _)| is_in(*row) == inside).map(|(_, x)| *x).collect();
                own.iter().sum::<f64>() / own.len() as f64
            };
            assert!((told.mean - mean(true)).abs() < 1e-9);
            if told.given.is_none() {
                let gap = mean(true) - mean(false);
                assert!((difference - gap).abs() <= 0.005 * gap.abs(), "{difference} {gap}");
            }
        }
    }

    // Amounts are no labels.
    let [agreement] = &shown.agreement[..] else { panic!("{:?}", shown.agreement) };
    let most = |k: usize| {
        let blue = (0..200).filter(|row| labels[*row] == k && species[*row].contains("B")).count();
        blue.max(shown.groups[k].rows - blue)
    };
    let right: usize = (0..groups.count()).map(most).sum();
    assert_eq!((agreement.matches, agreement.chance), (right as f64 / 200.0, 0.5));
    assert_eq!(agreement.words, Agreement::of(&labels, &species).words("sp"));
    let matches = format!("matches `sp` {:.0} % (50 % with one group;", right as f64 / 2.0);
    assert!(agreement.words.starts_with(&matches), "{}", agreement.words);

    let sizes: Vec<String> = shown.groups.iter().map(|group| group.rows.to_string()).collect();
    let [a, b, c, d] = &sizes[..] else { panic!("{sizes:?}") };
    let start = format!("Four groups of {a}, {b}, {c} and {d} rows. They differ in ");
    assert!(findings[0].starts_with(&start), "{}", findings[0]);
    assert!(findings[0].ends_with(", and match `sp` 100 %."), "{}", findings[0]);
    assert!(findings[1].starts_with("Two directions"), "{}", findings[1]);
}

#[test]
fn without_groups_the_page_says_so() {
    // One species and sex, in the columns that grow together.
    let values: Vec<f64> =
        crabs()[..50 * COLUMNS].chunks(COLUMNS).flat_map(|r| [r[0], r[2]]).collect();
    let rows = Rows::new(&values, 2).unwrap();
    let settings = Settings::default().with(|s| s.experts = Some(1));
    let fit = upoe::fit(&rows, &settings).unwrap();
    let groups = fit.groups(&rows).unwrap();
    let kept = [Kept { name: "one".into(), cells: Cells::Text(vec!["a".into(); 50]) }];
    let shown = page(&fit, &groups, &values, &kept).unwrap();
    let one = shown.groups.unwrap();
    assert!(one.none.unwrap().starts_with("No groups: no direction"));
    assert_eq!((one.groups.len(), one.groups[0].rows, one.agreement.len()), (1, 50, 0));
    let first = &shown.summary.findings[0];
    assert!(first.starts_with("One direction"), "{first}");
}

#[test]
fn groups_of_another_model_are_refused() {
    let values = crabs();
    let (fit, groups) = fitted(&values);
    let two: Vec<f64> = values.chunks(COLUMNS).flat_map(|r| [r[0], r[1]]).collect();
    let rows = Rows::new(&two, 2).unwrap();
    let other = upoe::fit(&rows, &Settings::default().with(|s| s.experts = Some(0))).unwrap();
    let refused = page(&other, &groups, &two, &[]).unwrap_err().to_string();
    assert_eq!(refused, "groups = groups of another model: must be those of the model");
    assert!(page(&fit, &groups, &values, &[]).is_ok());
}
