"""SQL: tables, migrations, journal, payloads, repositories."""
