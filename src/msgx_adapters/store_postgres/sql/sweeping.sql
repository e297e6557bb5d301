-- The history sweep (D-33, D-37).

-- name: flights_after
SELECT * FROM msgx.FLIGHT_FULL WHERE FLID > :after ORDER BY FLID LIMIT :limit;

-- name: unfinished_applied
SELECT MSG_ID FROM msgx.PROC_STATE
WHERE STATE IN ('PENDING', 'FAILED') AND APPLIED_AT IS NOT NULL ORDER BY MSG_ID;

-- name: archive_flights
SELECT msgx.ARCHIVE_FLIGHTS(:epoch, :now, :flids, :versions, :old, :old_tags, :notices, :documents);

-- name: cache_pending
SELECT FLID, STATE_VERSION FROM msgx.CACHE_PENDING ORDER BY FLID LIMIT :limit;

-- name: cache_settled
SELECT msgx.CACHE_SETTLED(:epoch, :flids);
