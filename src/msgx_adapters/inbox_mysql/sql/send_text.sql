-- A new message, unmarked.
INSERT INTO {table} ({text}, {received}) VALUES (%s, %s)
