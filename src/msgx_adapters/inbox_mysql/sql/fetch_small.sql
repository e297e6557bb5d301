-- Several messages that are not too long.
SELECT {id}, {text} FROM {table} WHERE {id} IN (/*list*/) AND OCTET_LENGTH({text}) <= %s
