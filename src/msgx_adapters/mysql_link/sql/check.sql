-- Fails when the table or one of the columns is not there or may not be read.
SELECT {columns} FROM {table} LIMIT 0
