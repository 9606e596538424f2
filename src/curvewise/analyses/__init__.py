"""Answers from trials, one file per question."""
