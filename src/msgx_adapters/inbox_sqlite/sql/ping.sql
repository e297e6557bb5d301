-- Touches a page of the table, so that a file that cannot be read does not pass.
SELECT {id} FROM {table} LIMIT 1
