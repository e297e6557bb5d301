-- Fails when the table or one of the columns that we use is not there.
SELECT {id}, {text}, {received}, {processed} FROM {table} LIMIT 0
