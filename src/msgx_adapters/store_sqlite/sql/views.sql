-- Reads for people.

-- name: count_messages
SELECT STATE, ERROR_CODE, COUNT(*) AS N FROM PROC_STATE GROUP BY STATE, ERROR_CODE;

-- name: count_flights
SELECT 'ACTIVE' AS STATE, COUNT(*) AS N FROM FLIGHT_SCHD WHERE STATE = 'ACTIVE'
UNION ALL
SELECT 'DELETED' AS STATE, COUNT(*) AS N FROM FLIGHT_SCHD WHERE STATE = 'DELETED';

-- name: count_owed
SELECT COUNT(*) FROM PROC_STATE
WHERE STATE IN ('SUCCEEDED', 'SKIPPED', 'DEAD') AND BACKFILL_AT IS NULL AND BACKFILL_ABANDONED_AT IS NULL;

-- name: count_abandoned
SELECT COUNT(*) FROM PROC_STATE WHERE BACKFILL_ABANDONED_AT IS NOT NULL AND BACKFILL_AT IS NULL;

-- name: count_events
SELECT 'KAFKA:msg' AS TARGET, STATUS, COUNT(*) AS N FROM MSG_EVENT INDEXED BY MSG_EVENT_FLIGHT
WHERE TARGET = 'KAFKA:msg' GROUP BY STATUS
UNION ALL
SELECT 'KAFKA:schd' AS TARGET, STATUS, COUNT(*) AS N FROM MSG_EVENT WHERE TARGET = 'KAFKA:schd' GROUP BY STATUS;

-- name: oldest_events
SELECT TARGET, MIN(CREATED_AT) AS OLDEST_AT FROM MSG_EVENT WHERE STATUS = 'PENDING' GROUP BY TARGET;

-- name: count_alerts
SELECT COUNT(*) FROM OPS_ALERT WHERE ACKED_AT IS NULL;

-- name: count_requests
SELECT COUNT(*) FROM REQ_TRACK WHERE STATE IN ('PENDING', 'SENT');

-- A reason matches whole, or up to its colon.
-- name: messages
SELECT * FROM PROC_STATE
WHERE MSG_ID > :after
    AND (:state IS NULL OR STATE = :state)
    AND (:reason IS NULL OR REASON = :reason OR substr(REASON, 1, length(:reason) + 1) = :reason || ':')
    AND (:type IS NULL OR TYPE = :type)
    AND (:styp IS NULL OR STYP = :styp)
    AND (:since IS NULL OR ENQUEUED_AT >= :since)
    AND (:flid IS NULL
        OR MSG_ID IN (SELECT F.LAST_MSG_ID FROM FLIGHT_SCHD F WHERE F.FLID = :flid)
        OR MSG_ID IN (SELECT E.MSG_ID FROM MSG_EVENT E WHERE E.TARGET = 'KAFKA:msg' AND E.FLID = :flid))
ORDER BY MSG_ID LIMIT :limit;

-- The same from the other end.
-- name: messages_newest
SELECT * FROM PROC_STATE
WHERE MSG_ID < :after
    AND (:state IS NULL OR STATE = :state)
    AND (:reason IS NULL OR REASON = :reason OR substr(REASON, 1, length(:reason) + 1) = :reason || ':')
    AND (:type IS NULL OR TYPE = :type)
    AND (:styp IS NULL OR STYP = :styp)
    AND (:since IS NULL OR ENQUEUED_AT >= :since)
    AND (:flid IS NULL
        OR MSG_ID IN (SELECT F.LAST_MSG_ID FROM FLIGHT_SCHD F WHERE F.FLID = :flid)
        OR MSG_ID IN (SELECT E.MSG_ID FROM MSG_EVENT E WHERE E.TARGET = 'KAFKA:msg' AND E.FLID = :flid))
ORDER BY MSG_ID DESC LIMIT :limit;

-- name: failures
SELECT STATE, ERROR_CODE, KIND AS REASON, COUNT(*) AS N,
    MIN(MSG_ID) AS OLDEST_MSG_ID, MAX(MSG_ID) AS NEWEST_MSG_ID, MAX(ENQUEUED_AT) AS NEWEST_AT
FROM (
    SELECT STATE, ERROR_CODE, MSG_ID, ENQUEUED_AT,
        CASE WHEN instr(REASON, ':') > 0 THEN substr(REASON, 1, instr(REASON, ':') - 1) ELSE REASON END AS KIND
    -- Who failed has a code, and codes have an index.
    FROM PROC_STATE WHERE ERROR_CODE > '' AND STATE IN ('FAILED', 'DEAD')
)
GROUP BY STATE, ERROR_CODE, KIND ORDER BY NEWEST_MSG_ID DESC LIMIT :limit;

-- name: message
SELECT * FROM PROC_STATE WHERE MSG_ID = :msg_id;

-- name: message_events
SELECT * FROM MSG_EVENT WHERE TARGET = 'KAFKA:msg' AND MSG_ID = :msg_id ORDER BY EVENT_ID;

-- name: flight_events
SELECT * FROM MSG_EVENT WHERE TARGET = 'KAFKA:msg' AND FLID = :flid ORDER BY EVENT_ID;

-- Each topic has an index of its own.
-- name: flight_full_events
SELECT * FROM MSG_EVENT WHERE TARGET = 'KAFKA:schd' AND FLID = :flid ORDER BY EVENT_ID;

-- name: events
SELECT * FROM MSG_EVENT
WHERE (:status IS NULL OR STATUS = :status) AND (:target IS NULL OR TARGET = :target)
    AND (EVENT_ID, TARGET) > (:after, :topic)
ORDER BY EVENT_ID, TARGET LIMIT :limit;

-- Few among many: they have an index of their own.
-- name: events_stuck
SELECT * FROM MSG_EVENT
WHERE STATUS IN ('DEAD', 'DISCARDED') AND STATUS = :status AND (:target IS NULL OR TARGET = :target)
    AND (EVENT_ID, TARGET) > (:after, :topic)
ORDER BY EVENT_ID, TARGET LIMIT :limit;

-- name: raw_sections
SELECT TAG, XML FROM FLIGHT_RAW_SECTION WHERE FLID = :flid ORDER BY TAG;

-- name: references
SELECT RTYPE, RKEY, PAYLOAD, MSG_ID, UPDATED_AT FROM REF_RECORD
WHERE RTYPE = :rtype AND (:rkey IS NULL OR RKEY = :rkey) ORDER BY RKEY;

-- name: reference_page
SELECT RTYPE, RKEY, PAYLOAD, MSG_ID, UPDATED_AT FROM REF_RECORD
WHERE RTYPE = :rtype AND (:after IS NULL OR RKEY > :after)
    AND (:text IS NULL OR instr(lower(PAYLOAD), lower(:text)) > 0)
ORDER BY RKEY LIMIT :limit;

-- name: reference_sizes
SELECT RTYPE, COUNT(*) AS N, MAX(MSG_ID) AS MSG_ID, MAX(UPDATED_AT) AS UPDATED_AT
FROM REF_RECORD GROUP BY RTYPE ORDER BY RTYPE;

-- name: roster_days
SELECT OPERATION_DAY FROM SCHD_GEN UNION SELECT OPERATION_DAY FROM SCHD_GEN_FLID ORDER BY OPERATION_DAY;

-- name: writebacks_owed
SELECT * FROM PROC_STATE INDEXED BY PROC_STATE_OWED
WHERE STATE IN ('SUCCEEDED', 'SKIPPED', 'DEAD') AND BACKFILL_AT IS NULL AND BACKFILL_ABANDONED_AT IS NULL
    AND MSG_ID > :after
ORDER BY MSG_ID LIMIT :limit;

-- name: writebacks_abandoned
SELECT * FROM PROC_STATE WHERE BACKFILL_ABANDONED_AT IS NOT NULL AND BACKFILL_AT IS NULL AND MSG_ID > :after
ORDER BY MSG_ID LIMIT :limit;

-- name: snapshots
SELECT * FROM SCHD_SNAP_LOG WHERE LOG_ID < :before AND (:msg_id IS NULL OR MSG_ID = :msg_id)
    AND (:start IS NULL OR (SCOPE_START < :end AND (SCOPE_END > :start
        OR (SCOPE_END = :start AND OPERATION_DAY IS NULL)))) -- that of a day ends before its end
    AND (:flag IS NULL OR EXISTS (SELECT 1 FROM json_each(FLAGS) WHERE value = :flag))
ORDER BY LOG_ID DESC LIMIT :limit;

-- name: alerts_open
SELECT * FROM OPS_ALERT
WHERE ACKED_AT IS NULL AND ALERT_ID > :after AND (:msg_id IS NULL OR MSG_ID = :msg_id)
ORDER BY ALERT_ID LIMIT :limit;

-- name: alerts_all
SELECT * FROM OPS_ALERT WHERE ALERT_ID > :after AND (:msg_id IS NULL OR MSG_ID = :msg_id)
ORDER BY ALERT_ID LIMIT :limit;

-- name: requests
SELECT * FROM REQ_TRACK WHERE REQUEST_ID < :before ORDER BY REQUEST_ID DESC LIMIT :limit;

-- name: audit
SELECT * FROM OPS_AUDIT WHERE AUDIT_ID < :before AND (:target IS NULL OR TARGET = :target)
ORDER BY AUDIT_ID DESC LIMIT :limit;
