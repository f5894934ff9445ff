use super::*;

fn sample() -> Figure {
    let mut figure = Figure::new(60.0, 40.0);
    figure.rectangle((10.0, 10.0), (30.0, 30.0), Colour::BLUE);
    figure.line(&[(40.0, 0.0), (40.0, 40.0)], Ink::dashed(Colour::RED, 2.0));
    figure.text((45.0, 20.0), "a<b", 10.0, Align::Left);
    figure.mark((50.0, 30.0), Mark::Plus, 6.0, Colour::GREEN);
    figure.picture((0.0, 0.0), (4.0, 4.0), Grey { width: 2, pixels: vec![0, 255, 255, 0] });
    figure
}

#[test]
fn both_files_show_the_shapes() {
    let svg = sample().svg();
    assert!(
        svg.contains("a&lt;b") && svg.contains("stroke-dasharray") && svg.ends_with("</svg>\n")
    );
    let page = tiny_skia::Pixmap::decode_png(&sample().png(2.0)).unwrap();
    assert_eq!((page.width(), page.height()), (120, 80));
    let at = |x: u32, y: u32| {
        let p = page.pixel(x, y).unwrap();
        (p.red(), p.green(), p.blue())
    };
    assert_eq!(at(40, 40), (11, 60, 140)); // inside the rectangle
    assert_eq!(at(70, 40), (255, 255, 255)); // outside
    assert_eq!(at(80, 2), (217, 72, 15)); // on the line
    assert_eq!((at(1, 1), at(6, 1)), ((0, 0, 0), (255, 255, 255))); // the picture's pixels
    let dark = (90..110).any(|x| (20..40).any(|y| at(x, y).0 < 100));
    assert!(dark, "letters leave ink");
}

#[test]
fn every_letter_of_the_figures_has_a_glyph() {
    let used = "0123456789−+±.,;:()[]/%×·–…⟨⟩θμβπσφλ²½₀₁₂₃°ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let missing: String = used.chars().filter(|c| !font::knows(*c)).collect();
    assert_eq!(missing, "", "the embedded font lacks these");
}
