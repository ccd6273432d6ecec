//! Where the values of a column come from, as runs of neighbouring rows.

use super::Cell;

/// What stands in some rows, one after the other, of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) what: What,
    /// How many rows there are.
    pub(super) len: usize,
}

/// What a run is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Nulls.
    Nothing,
    /// The cells of the rows of a chunk from this one on.
    From(Cell),
    /// This cell, again and again.
    Again(Cell),
}

/// What stands in the rows of a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Runs {
    runs: Vec<Run>,
    len: usize,
}

impl Runs {
    /// The runs, none of them empty.
    pub(super) fn iter(&self) -> impl Iterator<Item = Run> {
        self.runs.iter().copied()
    }

    /// How many runs there are.
    pub(super) fn count(&self) -> usize {
        self.runs.len()
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Appends one row.
    pub(super) fn push(&mut self, cell: Option<Cell>) {
        let Some(cell) = cell else {
            return self.push_nothing(1);
        };
        if let Some(last) = self.runs.last_mut() {
            match last.what {
                What::From(first) if first.after(last.len) == cell => {
                    last.len += 1;
                    self.len += 1;
                    return;
                }
                What::From(first) if last.len == 1 && first == cell => {
                    last.what = What::Again(first);
                    last.len += 1;
                    self.len += 1;
                    return;
                }
                What::Again(same) if same == cell => {
                    last.len += 1;
                    self.len += 1;
                    return;
                }
                _ => {}
            }
        }
        self.push_run(What::From(cell), 1);
    }

    /// Appends `len` rows with nothing in them.
    pub(super) fn push_nothing(&mut self, len: usize) {
        match self.runs.last_mut() {
            Some(last) if last.what == What::Nothing => {
                last.len += len;
                self.len += len;
            }
            _ => self.push_run(What::Nothing, len),
        }
    }

    /// Appends the cell of `len` rows of a chunk from that of `first` on.
    pub(super) fn push_from(&mut self, first: Cell, len: usize) {
        match self.runs.last_mut() {
            Some(last) if matches!(last.what, What::From(cell) if cell.after(last.len) == first) => {
                last.len += len;
                self.len += len;
            }
            _ => self.push_run(What::From(first), len),
        }
    }

    /// Appends `cell`, or nothing, `len` times.
    pub(super) fn push_again(&mut self, cell: Option<Cell>, len: usize) {
        match (cell, self.runs.last_mut()) {
            (None, _) => self.push_nothing(len),
            (_, _) if len == 1 => self.push(cell),
            (Some(cell), Some(last)) if last.what == What::Again(cell) => {
                last.len += len;
                self.len += len;
            }
            (Some(cell), _) => self.push_run(What::Again(cell), len),
        }
    }

    fn push_run(&mut self, what: What, len: usize) {
        if len > 0 {
            self.runs.push(Run { what, len });
            self.len += len;
        }
    }

    /// Keeps the first `len` rows.
    pub(super) fn truncate(&mut self, len: usize) {
        while let Some(last) = self.runs.last_mut()
            && self.len > len
        {
            let more = self.len - len;
            if last.len > more {
                last.len -= more;
                self.len = len;
            } else {
                self.len -= last.len;
                self.runs.pop();
            }
        }
    }
}

impl Cell {
    /// The cell `rows` rows further on in its chunk.
    pub(super) fn after(self, rows: usize) -> Self {
        Self {
            row: self.row + rows,
            ..self
        }
    }
}
