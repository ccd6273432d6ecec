//! Decoding of the wire messages, on bytes made by hand and on real ones.

mod by_hand;
mod recorded;
