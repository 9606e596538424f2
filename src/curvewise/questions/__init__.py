"""The questions that trials can answer, a folder each."""
