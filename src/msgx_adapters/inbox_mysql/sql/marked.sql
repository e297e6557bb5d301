-- Which of these rows are there, and whether they have a processing time (R-144, R-145).
SELECT {id}, ({processed} >= '1000-01-01 00:00:00') IS TRUE FROM {table} WHERE {id} IN (/*list*/)
