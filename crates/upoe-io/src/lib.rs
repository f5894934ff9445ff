//! Tables and model files of upoe.
