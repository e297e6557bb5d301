-- Whether a row is there, to tell a mark that was there before from a row that is gone (R-145).
SELECT 1 FROM {table} WHERE {id} = :id
