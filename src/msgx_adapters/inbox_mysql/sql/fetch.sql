-- The message of one row.
SELECT {text} FROM {table} WHERE {id} = %s
