-- When the owner says that these rows came in.
SELECT {id}, {received} FROM {table} WHERE {id} IN (/*list*/)
