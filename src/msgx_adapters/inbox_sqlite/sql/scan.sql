-- Unprocessed ids in order (INV-1). Three branches, so that each follows the index in id order and the
-- merge stops at the limit, however many rows are processed or waiting (D-35).
SELECT {id} FROM {table} WHERE {processed} IS NULL AND {id} > :after
UNION ALL
SELECT {id} FROM {table} WHERE {processed} = '' AND {id} > :after
UNION ALL
SELECT {id} FROM {table} WHERE {processed} = '0000-00-00 00:00:00' AND {id} > :after
ORDER BY 1
LIMIT :limit
