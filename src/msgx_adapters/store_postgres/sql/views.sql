-- Reads for people; each is one statement, so one consistent state.

-- What succeeded or was sent is the most by far: all less the rest, so that small indexes do.
-- name: counts
SELECT
    (SELECT COUNT(*) FROM msgx.PROC_STATE) AS MESSAGES,
    (SELECT json_agg(json_build_array(C.STATE, C.ERROR_CODE, C.N)) FROM (
        SELECT STATE, ERROR_CODE, COUNT(*) AS N FROM msgx.PROC_STATE WHERE STATE <> 'SUCCEEDED'
        GROUP BY STATE, ERROR_CODE
    ) C) AS UNSUCCESSFUL,
    (SELECT json_agg(json_build_array(C.STATE, C.N)) FROM (
        SELECT 'ACTIVE' AS STATE, COUNT(*) AS N FROM msgx.FLIGHT_SCHD WHERE STATE = 'ACTIVE'
        UNION ALL
        SELECT 'DELETED', COUNT(*) FROM msgx.FLIGHT_SCHD WHERE STATE = 'DELETED'
    ) C) AS FLIGHTS,
    (SELECT COUNT(*) FROM msgx.PROC_STATE
        WHERE STATE IN ('SUCCEEDED', 'SKIPPED', 'DEAD') AND BACKFILL_AT IS NULL AND BACKFILL_ABANDONED_AT IS NULL
    ) AS OWED,
    (SELECT COUNT(*) FROM msgx.PROC_STATE WHERE BACKFILL_ABANDONED_AT IS NOT NULL AND BACKFILL_AT IS NULL
    ) AS ABANDONED,
    (SELECT COUNT(*) FROM msgx.MSG_EVENT WHERE TARGET = 'KAFKA:msg') AS ALL_MSG,
    (SELECT COUNT(*) FROM msgx.MSG_EVENT WHERE TARGET = 'KAFKA:schd') AS ALL_SCHD,
    (SELECT json_agg(json_build_array(C.TARGET, C.STATUS, C.N)) FROM (
        SELECT TARGET, STATUS, COUNT(*) AS N FROM msgx.MSG_EVENT WHERE STATUS = 'PENDING' GROUP BY TARGET, STATUS
        UNION ALL
        SELECT TARGET, STATUS, COUNT(*) FROM msgx.MSG_EVENT WHERE STATUS IN ('DEAD', 'DISCARDED')
        GROUP BY TARGET, STATUS
    ) C) AS UNSENT,
    (SELECT MIN(CREATED_AT) FROM msgx.MSG_EVENT WHERE STATUS = 'PENDING' AND TARGET = 'KAFKA:msg') AS OLDEST_MSG,
    (SELECT MIN(CREATED_AT) FROM msgx.MSG_EVENT WHERE STATUS = 'PENDING' AND TARGET = 'KAFKA:schd') AS OLDEST_SCHD,
    (SELECT COUNT(*) FROM msgx.OPS_ALERT WHERE ACKED_AT IS NULL) AS ALERTS,
    (SELECT COUNT(*) FROM msgx.REQ_TRACK WHERE STATE IN ('PENDING', 'SENT')) AS REQUESTS;

-- A reason matches whole, or up to its colon.
-- name: messages
SELECT P.* FROM msgx.PROC_STATE P
WHERE P.MSG_ID > :after
    AND (:state::text IS NULL OR P.STATE = :state)
    AND (:reason::text IS NULL OR P.REASON = :reason OR starts_with(P.REASON, :reason || ':'))
    AND (:type::text IS NULL OR P.TYPE = :type)
    AND (:styp::text IS NULL OR P.STYP = :styp)
    AND (:since::timestamptz IS NULL OR P.ENQUEUED_AT >= :since)
    AND (:flid::bigint IS NULL OR P.MSG_ID = ANY (ARRAY(
        SELECT F.LAST_MSG_ID FROM msgx.FLIGHT_SCHD F WHERE F.FLID = :flid
        UNION
        SELECT E.MSG_ID FROM msgx.MSG_EVENT E WHERE E.TARGET = 'KAFKA:msg' AND E.FLID = :flid
    )))
ORDER BY P.MSG_ID LIMIT :limit;

-- The same from the other end.
-- name: messages_newest
SELECT P.* FROM msgx.PROC_STATE P
WHERE P.MSG_ID < :after
    AND (:state::text IS NULL OR P.STATE = :state)
    AND (:reason::text IS NULL OR P.REASON = :reason OR starts_with(P.REASON, :reason || ':'))
    AND (:type::text IS NULL OR P.TYPE = :type)
    AND (:styp::text IS NULL OR P.STYP = :styp)
    AND (:since::timestamptz IS NULL OR P.ENQUEUED_AT >= :since)
    AND (:flid::bigint IS NULL OR P.MSG_ID = ANY (ARRAY(
        SELECT F.LAST_MSG_ID FROM msgx.FLIGHT_SCHD F WHERE F.FLID = :flid
        UNION
        SELECT E.MSG_ID FROM msgx.MSG_EVENT E WHERE E.TARGET = 'KAFKA:msg' AND E.FLID = :flid
    )))
ORDER BY P.MSG_ID DESC LIMIT :limit;

-- name: failures
SELECT P.STATE, P.ERROR_CODE, split_part(P.REASON, ':', 1) AS REASON, COUNT(*) AS N,
    MIN(P.MSG_ID) AS OLDEST_MSG_ID, MAX(P.MSG_ID) AS NEWEST_MSG_ID, MAX(P.ENQUEUED_AT) AS NEWEST_AT
FROM msgx.PROC_STATE P
WHERE P.STATE IN ('FAILED', 'DEAD') AND P.STATE <> 'SUCCEEDED' -- as the small index says it
GROUP BY 1, 2, 3 ORDER BY NEWEST_MSG_ID DESC LIMIT :limit;

-- name: message
SELECT * FROM msgx.PROC_STATE WHERE MSG_ID = :msg_id;

-- name: message_events
SELECT * FROM msgx.MSG_EVENT WHERE TARGET = 'KAFKA:msg' AND MSG_ID = :msg_id ORDER BY EVENT_ID;

-- name: flight_events
SELECT * FROM msgx.MSG_EVENT WHERE TARGET = 'KAFKA:msg' AND FLID = :flid ORDER BY EVENT_ID;

-- Each topic has an index of its own.
-- name: flight_full_events
SELECT * FROM msgx.MSG_EVENT WHERE TARGET = 'KAFKA:schd' AND FLID = :flid ORDER BY EVENT_ID;

-- name: events
SELECT * FROM msgx.MSG_EVENT
WHERE (:status::text IS NULL OR STATUS = :status) AND (:target::text IS NULL OR TARGET = :target)
    AND (EVENT_ID, TARGET) > (:after, :topic)
ORDER BY EVENT_ID, TARGET LIMIT :limit;

-- Few among many: they have an index of their own.
-- name: events_stuck
SELECT * FROM msgx.MSG_EVENT
WHERE STATUS IN ('DEAD', 'DISCARDED') AND STATUS = :status AND (:target::text IS NULL OR TARGET = :target)
    AND (EVENT_ID, TARGET) > (:after, :topic)
ORDER BY EVENT_ID, TARGET LIMIT :limit;

-- name: flights
SELECT * FROM msgx.FLIGHT_FULL
WHERE FLID > :after AND (:day::date IS NULL OR OPERATION_DAY = :day) AND (:state::text IS NULL OR STATE = :state)
ORDER BY FLID LIMIT :limit;

-- name: flights_of_day
SELECT * FROM msgx.FLIGHT_FULL
WHERE OPERATION_DAY = :day AND FLID > :after AND (:state::text IS NULL OR STATE = :state)
ORDER BY FLID LIMIT :limit;

-- name: flight
SELECT * FROM msgx.FLIGHT_FULL WHERE FLID = :flid;

-- name: raw_sections
SELECT TAG, XML FROM msgx.FLIGHT_RAW_SECTION WHERE FLID = :flid ORDER BY TAG;

-- name: references
SELECT RTYPE, RKEY, PAYLOAD, MSG_ID, UPDATED_AT FROM msgx.REF_MASTER
WHERE RTYPE = :rtype AND (:rkey::text IS NULL OR RKEY = :rkey) ORDER BY RKEY;

-- name: reference_page
SELECT RTYPE, RKEY, PAYLOAD, MSG_ID, UPDATED_AT FROM msgx.REF_MASTER
WHERE RTYPE = :rtype AND (:after::text IS NULL OR RKEY > :after)
    AND (:text::text IS NULL OR position(lower(:text COLLATE "C") IN lower(PAYLOAD::text COLLATE "C")) > 0)
ORDER BY RKEY LIMIT :limit;

-- name: reference_sizes
SELECT RTYPE, COUNT(*) AS N, MAX(MSG_ID) AS MSG_ID, MAX(UPDATED_AT) AS UPDATED_AT
FROM msgx.REF_MASTER GROUP BY RTYPE ORDER BY RTYPE;

-- name: rosters
SELECT D.OPERATION_DAY, COALESCE(G.VERSION, 0) AS VERSION,
    ARRAY(SELECT R.FLID FROM msgx.SCHD_GEN_FLID R WHERE R.OPERATION_DAY = D.OPERATION_DAY) AS FLIDS
FROM (SELECT OPERATION_DAY FROM msgx.SCHD_GEN UNION SELECT OPERATION_DAY FROM msgx.SCHD_GEN_FLID) D
LEFT JOIN msgx.SCHD_GEN G ON G.OPERATION_DAY = D.OPERATION_DAY
WHERE :day::date IS NULL OR D.OPERATION_DAY = :day
ORDER BY D.OPERATION_DAY;

-- name: writebacks_owed
SELECT * FROM msgx.PROC_STATE
WHERE STATE IN ('SUCCEEDED', 'SKIPPED', 'DEAD') AND BACKFILL_AT IS NULL AND BACKFILL_ABANDONED_AT IS NULL
    AND MSG_ID > :after
ORDER BY MSG_ID LIMIT :limit;

-- name: writebacks_abandoned
SELECT * FROM msgx.PROC_STATE WHERE BACKFILL_ABANDONED_AT IS NOT NULL AND BACKFILL_AT IS NULL AND MSG_ID > :after
ORDER BY MSG_ID LIMIT :limit;

-- name: snapshots
SELECT * FROM msgx.SCHD_SNAP_LOG WHERE LOG_ID < :before AND (:msg_id::bigint IS NULL OR MSG_ID = :msg_id)
    AND (:start::timestamptz IS NULL OR (SCOPE_START < :end::timestamptz AND (SCOPE_END > :start::timestamptz
        OR (SCOPE_END = :start::timestamptz AND OPERATION_DAY IS NULL)))) -- that of a day ends before its end
    AND (:flag::text IS NULL OR FLAGS @> to_jsonb(:flag::text))
ORDER BY LOG_ID DESC LIMIT :limit;

-- name: alerts_open
SELECT * FROM msgx.OPS_ALERT
WHERE ACKED_AT IS NULL AND ALERT_ID > :after AND (:msg_id::bigint IS NULL OR MSG_ID = :msg_id)
ORDER BY ALERT_ID LIMIT :limit;

-- name: alerts_all
SELECT * FROM msgx.OPS_ALERT WHERE ALERT_ID > :after AND (:msg_id::bigint IS NULL OR MSG_ID = :msg_id)
ORDER BY ALERT_ID LIMIT :limit;

-- name: requests
SELECT * FROM msgx.REQ_TRACK WHERE REQUEST_ID < :before ORDER BY REQUEST_ID DESC LIMIT :limit;

-- name: audit
SELECT * FROM msgx.OPS_AUDIT WHERE AUDIT_ID < :before AND (:target::bigint IS NULL OR TARGET = :target)
ORDER BY AUDIT_ID DESC LIMIT :limit;
