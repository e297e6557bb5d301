-- What was inserted since, by us and by others (D-32). Bytes that are no text come out as they are.
SELECT {id}, CAST({text} AS BLOB) FROM {table} WHERE {inserted} >= :since ORDER BY {id}
