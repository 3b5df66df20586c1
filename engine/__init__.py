"""The typed DAG engine; pure: no SQL, no HTTP, no provider SDK, no Prefect."""
