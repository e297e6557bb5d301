-- Processing times of several rows, only where there is none (R-144) and before the permit is over (D-34). A
-- statement of its own transaction: nothing stays open that a frozen process could commit later. No condition can
-- use an index but that on the id, so that rows are found, and locked, by their primary key alone.
UPDATE {table} SET {processed} = CASE {id} /*cases*/ END
WHERE {id} IN (/*list*/) AND ({processed} >= '1000-01-01 00:00:00') IS NOT TRUE AND UTC_TIMESTAMP(6) < %s
