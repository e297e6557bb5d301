-- Unprocessed ids in order (INV-1). Two branches, so that each follows the index in id order and stops at the
-- limit, however many rows are processed or waiting (D-35). A zero date is what lies before the first year of
-- DATETIME: a server that forbids zero dates refuses to compare with one. A NOT NULL column with zero dates
-- appears in both branches, hence UNION without ALL.
(SELECT {id} AS id FROM {table} WHERE {processed} IS NULL AND {id} > %s ORDER BY {id} LIMIT %s)
UNION
(SELECT {id} FROM {table} WHERE {processed} < '1000-01-01 00:00:00' AND {id} > %s ORDER BY {id} LIMIT %s)
ORDER BY id
LIMIT %s
