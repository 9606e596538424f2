"""The live view of a run: a page on this machine that moves while trials arrive."""
