//! Networks that see faces, in pure Rust.
//!
//! This crate holds a small engine for convolutional networks with gradients with respect to their
//! input ([`engine`]).

pub mod engine;
