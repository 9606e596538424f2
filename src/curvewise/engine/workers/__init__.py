"""Who runs trials: this process, processes on this machine, a cluster."""
