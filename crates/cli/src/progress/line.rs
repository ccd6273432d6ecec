//! The line that says how far a command is.

use std::time::Duration;

use indicatif::{BinaryBytes, HumanCount, HumanDuration};

use super::figures::Figures;

/// Share of the bytes from which on the rest of the time can be guessed, as one of so many.
const ENOUGH_TO_GUESS: usize = 50;

/// What is known of `figures`, `elapsed` after the start: rows, bytes, chunks, and the time that is left if it goes on
/// like that.
pub(super) fn describe(figures: &Figures, elapsed: Duration) -> String {
    let bytes = |bytes: usize| BinaryBytes(bytes as u64).to_string();
    let count = |count: usize| HumanCount(count as u64).to_string();
    let parts = [
        figures.rows.map(|rows| format!("{} rows", count(rows))),
        part("", figures.bytes_fetched, figures.bytes_planned, bytes),
        part(
            " chunks",
            figures.chunks_fetched,
            figures.chunks_planned,
            count,
        ),
        time_left(figures, elapsed).map(|left| format!("about {:#} left", HumanDuration(left))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.is_empty() {
        true => "running".to_owned(),
        false => parts.join(", "),
    }
}

/// What is done of what is planned, as far as it is known.
fn part(
    unit: &str,
    done: Option<usize>,
    planned: Option<usize>,
    text: impl Fn(usize) -> String,
) -> Option<String> {
    match (done, planned) {
        (done, Some(planned)) => {
            let done = text(done.unwrap_or(0));
            Some(format!("{done} of {}{unit}", text(planned)))
        }
        (Some(done), None) => Some(format!("{}{unit}", text(done))),
        (None, None) => None,
    }
}

/// The time that the rest of the bytes takes if it is fetched as the first ones were; `None` while that cannot be told.
fn time_left(figures: &Figures, elapsed: Duration) -> Option<Duration> {
    let (done, planned) = (figures.bytes_fetched?, figures.bytes_planned?);
    let rest = planned.checked_sub(done)?;
    if rest == 0 || done < planned.div_ceil(ENOUGH_TO_GUESS) {
        return None;
    }
    let left = elapsed.as_secs_f64() * rest as f64 / done as f64;
    Duration::try_from_secs_f64(left.ceil()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1024 * 1024;

    fn text(figures: Figures, seconds: u64) -> String {
        describe(&figures, Duration::from_secs(seconds))
    }

    #[test]
    fn all_that_is_known_is_said() {
        let figures = Figures {
            rows: Some(12345),
            chunks_fetched: Some(5),
            chunks_planned: Some(2000),
            bytes_fetched: Some(MIB),
            bytes_planned: Some(5 * MIB),
        };
        let expected = "12,345 rows, 1.00 MiB of 5.00 MiB, 5 of 2,000 chunks, about 12s left";
        assert_eq!(text(figures, 3), expected);
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let none = Figures::default();
        assert_eq!(text(none.clone(), 3), "running");
        let planned = Figures {
            chunks_planned: Some(2),
            bytes_planned: Some(2048),
            ..none.clone()
        };
        assert_eq!(text(planned, 3), "0 B of 2.00 KiB, 0 of 2 chunks");
        let done = Figures {
            rows: Some(7),
            chunks_fetched: Some(3),
            bytes_fetched: Some(10),
            ..none
        };
        assert_eq!(text(done, 3), "7 rows, 10 B, 3 chunks");
    }

    #[test]
    fn the_time_left_is_not_guessed_from_too_little_nor_at_the_end() {
        let at = |done: usize| Figures {
            bytes_fetched: Some(done),
            bytes_planned: Some(1000),
            ..Figures::default()
        };
        for (done, left) in [
            (0, None),
            (19, None),
            (20, Some(49)),
            (500, Some(1)),
            (1000, None),
            (1001, None),
        ] {
            let left = left.map(Duration::from_secs);
            assert_eq!(time_left(&at(done), Duration::from_secs(1)), left, "{done}");
        }
    }
}
