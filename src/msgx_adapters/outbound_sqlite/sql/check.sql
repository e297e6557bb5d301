-- Fails when the table or one of the columns that we use is not there.
SELECT {id}, {text}, {inserted}, {routing_id} FROM {table} LIMIT 1
