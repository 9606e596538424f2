"""What all learning curves share: runs at sizes, and one kernel for their fits."""
