-- Several messages that are not too long.
SELECT {id}, {text} FROM {table}
WHERE {id} IN (SELECT value FROM json_each(:ids)) AND LENGTH(CAST({text} AS BLOB)) <= :most_bytes
