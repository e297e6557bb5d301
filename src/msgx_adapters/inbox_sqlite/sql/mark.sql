-- The processing time, only where there is none (R-144).
UPDATE {table} SET {processed} = :at
WHERE {id} = :id AND ({processed} IS NULL OR {processed} IN ('', '0000-00-00 00:00:00'))
