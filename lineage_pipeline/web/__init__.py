"""The explorer: pages and an API over the marts, read-only, without a build step and without the network.

`marts` opens the DuckDB file, `mart_queries` holds the queries, `neighborhood` draws, `page_routes` and `api` answer
requests, `app` puts them together.
"""
