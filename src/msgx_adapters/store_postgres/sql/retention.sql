-- Removal by age (IMP §9.3, FST §8.3). A row that changes meanwhile is asked again before it goes (R-405).

-- name: remove_events
WITH O AS (
    SELECT EVENT_ID, TARGET FROM msgx.MSG_EVENT
    WHERE (STATUS = 'SENT' AND SENT_AT < :cutoff) OR (STATUS = 'DISCARDED' AND UPDATED_AT < :cutoff)
    ORDER BY EVENT_ID LIMIT :limit
), D AS (
    DELETE FROM msgx.MSG_EVENT E USING O
    WHERE E.EVENT_ID = O.EVENT_ID AND E.TARGET = O.TARGET
        AND ((E.STATUS = 'SENT' AND E.SENT_AT < :cutoff) OR (E.STATUS = 'DISCARDED' AND E.UPDATED_AT < :cutoff))
    RETURNING 1
)
SELECT count(*) AS N FROM D;

-- name: preview_events
SELECT CASE STATUS WHEN 'SENT' THEN 'go' WHEN 'DISCARDED' THEN 'go' WHEN 'DEAD' THEN 'dead' ELSE 'pending' END
    AS REASON, count(*) AS N
FROM msgx.MSG_EVENT
WHERE CASE STATUS WHEN 'SENT' THEN SENT_AT WHEN 'PENDING' THEN CREATED_AT ELSE UPDATED_AT END < :cutoff
GROUP BY 1;

-- name: remove_processed
WITH O AS (
    SELECT MSG_ID FROM msgx.PROC_STATE
    WHERE STATE IN ('SUCCEEDED', 'SKIPPED', 'DEAD') AND BACKFILL_AT IS NOT NULL AND UPDATED_AT < :cutoff
    ORDER BY MSG_ID LIMIT :limit
), D AS (
    DELETE FROM msgx.PROC_STATE P USING O
    WHERE P.MSG_ID = O.MSG_ID AND P.STATE IN ('SUCCEEDED', 'SKIPPED', 'DEAD') AND P.BACKFILL_AT IS NOT NULL
        AND P.UPDATED_AT < :cutoff
    RETURNING 1
)
SELECT count(*) AS N FROM D;

-- name: preview_processed
SELECT CASE WHEN STATE IN ('PENDING', 'FAILED') THEN 'unfinished'
    WHEN BACKFILL_AT IS NULL THEN 'not-written-back' ELSE 'go' END AS REASON, count(*) AS N
FROM msgx.PROC_STATE WHERE UPDATED_AT < :cutoff GROUP BY 1;

-- name: remove_snapshots
WITH O AS (
    SELECT LOG_ID FROM msgx.SCHD_SNAP_LOG WHERE COALESCE(SCOPE_END, RECV_AT) < :cutoff
    ORDER BY LOG_ID LIMIT :limit
), D AS (
    DELETE FROM msgx.SCHD_SNAP_LOG L USING O WHERE L.LOG_ID = O.LOG_ID RETURNING 1
)
SELECT count(*) AS N FROM D;

-- name: preview_snapshots
SELECT 'go' AS REASON, count(*) AS N FROM msgx.SCHD_SNAP_LOG WHERE COALESCE(SCOPE_END, RECV_AT) < :cutoff;

-- name: remove_requests
WITH O AS (
    SELECT REQUEST_ID FROM msgx.REQ_TRACK
    WHERE STATE IN ('DONE', 'EXPIRED', 'FAILED') AND CLOSED_AT < :cutoff ORDER BY REQUEST_ID LIMIT :limit
), D AS (
    DELETE FROM msgx.REQ_TRACK R USING O
    WHERE R.REQUEST_ID = O.REQUEST_ID AND R.STATE IN ('DONE', 'EXPIRED', 'FAILED') AND R.CLOSED_AT < :cutoff
    RETURNING 1
)
SELECT count(*) AS N FROM D;

-- name: preview_requests
SELECT CASE WHEN STATE IN ('PENDING', 'SENT') THEN 'open' ELSE 'go' END AS REASON, count(*) AS N
FROM msgx.REQ_TRACK
WHERE CASE WHEN STATE IN ('PENDING', 'SENT') THEN CREATED_AT ELSE CLOSED_AT END < :cutoff GROUP BY 1;

-- name: remove_ledger
SELECT msgx.REMOVE_LEDGER(:cutoff, :late_since, :limit) AS N;

-- name: preview_ledger
SELECT REASON, count(*) AS N FROM msgx.LEDGER_DAYS(:cutoff, :late_since) GROUP BY 1;
