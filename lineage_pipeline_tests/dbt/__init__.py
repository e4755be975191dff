"""dbt projects of users are read without dbt, and names, columns and positions are those that dbt would give."""
