"""The explorer: pages and an API over the marts, read-only, without a build step and without the network.

`marts` asks the DuckDB file, `questions` holds the queries, `neighbourhood` draws, `pages` and `api` answer requests,
`app` puts them together.
"""
