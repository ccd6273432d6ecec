//! How wide columns are, and which there is room for.

use std::borrow::Cow;

use crate::output::cell::shortened;
use crate::terminal;

/// Cells between two columns.
const GAP: usize = 2;

/// Cells that a column is left at least, if it needs them, before columns are left out: enough for a time, and for what
/// tells most names from each other.
const NARROWEST: usize = 24;

/// The columns of a table as they are printed.
#[derive(Debug)]
pub(super) struct Layout {
    /// Width of each column that there is room for.
    widths: Vec<usize>,
    /// Columns that there is no room for.
    missing: usize,
    /// Whether cells are cut to their column's width.
    is_bounded: bool,
    /// Whether some were.
    is_shortened: bool,
}

impl Layout {
    /// Columns as wide as `lines` need, within `room` cells of a terminal.
    pub(super) fn of<'a>(
        lines: impl Iterator<Item = &'a Vec<String>>,
        room: Option<usize>,
    ) -> Self {
        let mut widths: Vec<usize> = Vec::new();
        for line in lines {
            widths.resize(widths.len().max(line.len()), 0);
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = (*width).max(terminal::width(cell));
            }
        }
        let shown = room.map_or(widths.len(), |room| fit(&mut widths, room));
        let missing = widths.len() - shown;
        widths.truncate(shown);
        Self {
            widths,
            missing,
            is_bounded: room.is_some(),
            is_shortened: false,
        }
    }

    /// Writes cells with space between them, and none at the end of the line.
    pub(super) fn write(&mut self, cells: &[String], out: &mut Vec<u8>) {
        let mut pending = 0;
        for (cell, &width) in cells.iter().zip(&self.widths) {
            let mut cell = Cow::Borrowed(cell.as_str());
            if self.is_bounded && terminal::width(&cell) > width {
                cell = Cow::Owned(shortened(&cell, width).0);
                self.is_shortened = true;
            }
            if !cell.is_empty() {
                out.resize(out.len() + pending, b' ');
                out.extend_from_slice(cell.as_bytes());
                pending = 0;
            }
            pending += width.saturating_sub(terminal::width(&cell)) + GAP;
        }
        out.push(b'\n');
    }

    /// Writes the line below the header.
    pub(super) fn write_rule(&mut self, out: &mut Vec<u8>) {
        let rule: Vec<String> = self.widths.iter().map(|width| "-".repeat(*width)).collect();
        self.write(&rule, out);
    }

    /// What is missing; `has_long_cells` where values were cut before, too.
    pub(super) fn left_out(&self, has_long_cells: bool) -> String {
        let missing = self.missing;
        let columns = match missing {
            1 => "1 more column does".to_owned(),
            _ => format!("{missing} more columns do"),
        };
        match (missing, self.is_shortened || has_long_cells) {
            (0, false) => String::new(),
            (0, true) => "; values are shortened to fit the terminal".to_owned(),
            (_, false) => format!("; {columns} not fit the terminal"),
            (_, true) => format!("; {columns} not fit the terminal, values are shortened"),
        }
    }
}

/// Narrows columns until they fit into `room`, and gives the number of those that do.
fn fit(widths: &mut [usize], room: usize) -> usize {
    let total = |widths: &[usize], widest: usize| -> usize {
        let cells: usize = widths.iter().map(|width| (*width).min(widest)).sum();
        cells + GAP * widths.len().saturating_sub(1)
    };
    let fits = |count: &usize| total(&widths[..*count], NARROWEST) <= room;
    let shown = (1..=widths.len()).rev().find(fits);
    // One column is better than none.
    let shown = shown.unwrap_or(1).min(widths.len());
    let widest = widths[..shown].iter().copied().max().unwrap_or(0);
    let limit = (1..=widest)
        .rev()
        .find(|limit| total(&widths[..shown], *limit) <= room)
        .unwrap_or(1);
    for width in &mut widths[..shown] {
        *width = (*width).min(limit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(widths: &[usize], room: usize) -> Vec<usize> {
        let mut widths = widths.to_vec();
        let shown = fit(&mut widths, room);
        widths.truncate(shown);
        widths
    }

    #[test]
    fn wide_columns_give_way_first_and_then_the_last_columns_are_left_out() {
        assert_eq!(fitted(&[10, 20, 8], 42), [10, 20, 8]);
        assert_eq!(fitted(&[10, 40, 8], 61), [10, 39, 8]);
        assert_eq!(fitted(&[3, 80, 80], 80), [3, 36, 36]);
        assert_eq!(fitted(&[30, 30, 30], 76), [24, 24, 24]);
        assert_eq!(fitted(&[30, 30, 30], 75), [30, 30]);
        assert_eq!(fitted(&[24, 24, 5], 56), [24, 24]);
        assert_eq!(fitted(&[50], 10), [10]);
        assert_eq!(fitted(&[], 10), [0; 0]);
    }
}
