//! A histogram in block characters, with a curve over it.

/// Lines of a histogram of `values` with the density `curve` drawn over it as dots.
pub fn histogram(
    values: &[f64],
    curve: impl Fn(f64) -> f64,
    width: usize,
    height: usize,
) -> Vec<String> {
    const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let (low, high) = range(values);
    let step = (high - low) / width as f64;
    let mut bars = vec![0.0; width];
    for z in values {
        let bin = ((z - low) / step).floor();
        if (0.0..width as f64).contains(&bin) {
            bars[bin as usize] += 1.0 / (values.len() as f64 * step);
        }
    }
    let dots: Vec<f64> = (0..width).map(|i| curve(low + (i as f64 + 0.5) * step)).collect();
    let top = bars.iter().chain(&dots).copied().fold(0.0, f64::max);
    let scale = if top > 0.0 { height as f64 / top } else { 0.0 };
    let green = anstyle::AnsiColor::Green.on_default();
    let mut lines: Vec<String> = (0..height)
        .rev()
        .map(|line| {
            let mut text = String::new();
            for (bar, dot) in bars.iter().zip(&dots) {
                let at = ((dot * scale).floor() as usize).min(height - 1);
                if at == line && dot * scale > 0.05 {
                    text += &format!("{green}•{green:#}");
                } else {
                    let eighths = ((bar * scale - line as f64) * 8.0).round().clamp(0.0, 8.0);
                    text.push(BLOCKS[eighths as usize]);
                }
            }
            text.trim_end().to_owned()
        })
        .collect();
    let left = format!("{low:.1}");
    let right = format!("{high:.1}");
    let gap = width.saturating_sub(left.chars().count() + right.chars().count());
    lines.push(format!("{left}{}{right}", "─".repeat(gap)));
    lines
}

/// Where the values are, outliers beyond six standard deviations left out.
fn range(values: &[f64]) -> (f64, f64) {
    let inside = values.iter().copied().filter(|z| z.is_finite() && z.abs() < 6.0);
    let (low, high) =
        inside.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), z| (low.min(z), high.max(z)));
    if low < high { (low - 0.05 * (high - low), high + 0.05 * (high - low)) } else { (-1.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_follow_the_counts() {
        let values: Vec<f64> = (0..100).map(|i| if i < 90 { -1.0 } else { 1.0 }).collect();
        let lines = histogram(&values, |_| 0.0, 10, 4);
        assert_eq!(lines.len(), 5);
        assert_eq!(lines[0], "█");
        assert_eq!(lines[3].chars().filter(|c| *c != ' ').count(), 2);
        assert!(lines[4].starts_with("-1.1") && lines[4].ends_with("1.1"));
        assert_eq!(histogram(&[], |_| 0.0, 10, 4).len(), 5);
    }
}
