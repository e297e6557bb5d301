-- What was inserted since, by us and by others: once per crash, so it needs no index (D-32).
SELECT {id}, {text} FROM {table} WHERE {inserted} >= %s ORDER BY {id}
