-- Touches the table, so that one that is gone or forbidden does not pass.
SELECT {id} FROM {table} LIMIT 1
