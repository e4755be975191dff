"""The stages together: from a repository to marts and reports, cached, incremental, killed and offline."""
