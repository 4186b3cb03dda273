//! Programs behind `BENCHMARKS.md`.
