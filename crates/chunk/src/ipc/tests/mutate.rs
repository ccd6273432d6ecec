//! Damage to bytes, the same on every run.

/// A stream of numbers that depends on its seed alone (xorshift).
#[derive(Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number less than `end`; 0 when there is none.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % end.max(1)
    }
}

/// Numbers that break careless arithmetic.
const EVIL: [i64; 14] = [
    0,
    1,
    -1,
    -2,
    2,
    7,
    8,
    0x7f,
    0x80,
    0xffff,
    i32::MAX as i64,
    i32::MIN as i64,
    i64::MAX,
    1 << 40,
];

/// `bytes` with up to four injuries; pieces of `other` may be grafted in.
pub(crate) fn mutate(bytes: &[u8], other: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..=dice.below(3) {
        injure(&mut out, other, dice);
    }
    out
}

fn injure(out: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    let at = dice.below(out.len());
    let aligned = at & !3;
    match dice.below(12) {
        0..=2 if at < out.len() => out[at] = dice.below(256) as u8,
        3 if at < out.len() => out[at] ^= 1 << dice.below(8),
        4..=6 => {
            let width = [1, 2, 4, 8][dice.below(4)];
            let value = EVIL[dice.below(EVIL.len())].to_le_bytes();
            if let Some(target) = out.get_mut(aligned..aligned + width) {
                target.copy_from_slice(&value[..width]);
            }
        }
        7 => {
            // One word of the bytes in the place of another: offsets and lengths that exist.
            let from = dice.below(out.len()) & !3;
            if let Some(word) = out.get(from..from + 4).map(<[u8]>::to_vec)
                && let Some(target) = out.get_mut(aligned..aligned + 4)
            {
                target.copy_from_slice(&word);
            }
        }
        8 => {
            if let Some(target) = out.get_mut(aligned..aligned + 4) {
                let word = u32::from_le_bytes([target[0], target[1], target[2], target[3]]);
                let step = dice.below(17) as u32;
                target.copy_from_slice(&word.wrapping_add(step).wrapping_sub(8).to_le_bytes());
            }
        }
        9 => out.truncate(at),
        10 => {
            let end = (at + dice.below(32)).min(out.len());
            out.drain(at..end);
        }
        _ => {
            let from = dice.below(other.len());
            let end = (from + dice.below(64)).min(other.len());
            let piece = other[from..end].to_vec();
            if dice.below(2) == 0 {
                out.splice(at..at, piece);
            } else {
                let end = (at + piece.len()).min(out.len());
                out.splice(at..end, piece);
            }
        }
    }
}

/// How many damaged inputs to try: `fast`, or what `SEGUE_FUZZ_CASES` says.
pub(crate) fn cases(fast: usize) -> usize {
    std::env::var("SEGUE_FUZZ_CASES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(fast)
}
