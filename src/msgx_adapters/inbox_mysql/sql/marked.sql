-- Which of these rows are there, what processing time they have, if any, and whether the permit is over (R-144,
-- R-145, D-34).
SELECT {id}, IF(({processed} >= '1000-01-01 00:00:00') IS TRUE, {processed}, NULL), UTC_TIMESTAMP(6) >= %s
FROM {table} WHERE {id} IN (/*list*/)
