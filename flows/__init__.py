"""What Prefect runs: the run flow, the host, the mirror, triggers."""
