-- Processing times of several rows, only where there is none (R-144). The last condition can use no index, so
-- that rows are found, and locked, by their primary key alone.
UPDATE {table} SET {processed} = CASE {id} /*cases*/ END
WHERE {id} IN (/*list*/) AND ({processed} >= '1000-01-01 00:00:00') IS NOT TRUE
