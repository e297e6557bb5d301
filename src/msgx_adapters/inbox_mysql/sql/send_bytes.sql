-- A new message into a column of bytes: they are in no character set.
INSERT INTO {table} ({text}, {received}) VALUES (_binary %s, %s)
