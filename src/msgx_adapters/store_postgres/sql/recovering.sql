-- Recovery (D-31). When a floor was set stays what it was.

-- name: raise_versions
WITH L AS MATERIALIZED (
    SELECT msgx.FENCE_ALONE(:epoch)::text AS OK
), C AS (
    UPDATE msgx.COUNTERS SET VALUE = VALUE + :by::bigint FROM L
    WHERE NAME IN ('event_msg', 'event_schd', 'outbound_seqn')
), N AS (
    SELECT C.VALUE FROM msgx.COUNTERS C, L WHERE C.NAME = 'apply_no'
), F AS (
    UPDATE msgx.FLIGHT_SCHD SET STATE_VERSION = STATE_VERSION + :by::bigint, EPOCH = :epoch::bigint FROM L
    RETURNING 1
), V AS (
    UPDATE msgx.FLIGHT_VERSION_FLOOR SET STATE_VERSION = STATE_VERSION + :by::bigint FROM L RETURNING 1
), A AS (
    INSERT INTO msgx.OPS_AUDIT (ACTION, TARGET, ACTOR, REASON, DETAIL, CREATED_AT)
    SELECT :action::text, :by::bigint, :actor::text, :why::text, 'after APPLY_NO ' || N.VALUE, :now::timestamptz
    FROM N
)
SELECT (SELECT COUNT(*) FROM F) AS FLIGHTS, (SELECT COUNT(*) FROM V) AS FLOORS, N.VALUE AS APPLY_NO FROM N;

-- name: republish
WITH L AS MATERIALIZED (
    SELECT msgx.FENCE_ALONE(:epoch)::text AS OK
), C AS (
    UPDATE msgx.COUNTERS SET VALUE = VALUE + CASE NAME WHEN 'event_msg'
        THEN cardinality(:notice_flids::bigint[]) ELSE cardinality(:document_flids::bigint[]) END
    FROM L WHERE NAME IN ('event_msg', 'event_schd')
    RETURNING NAME, VALUE
), M AS (
    INSERT INTO msgx.MSG_EVENT (EVENT_ID, TARGET, FLID, STATE_VERSION, MSG_ID, STATUS, CREATED_AT, UPDATED_AT,
        EPOCH, PAYLOAD)
    SELECT C.VALUE - cardinality(:notice_flids::bigint[]) + E.n, 'KAFKA:msg', E.flid, E.version, E.msg_id, 'PENDING',
        :now::timestamptz, :now::timestamptz, :epoch::bigint, E.payload
    FROM C, unnest(:notice_flids::bigint[], :notice_versions::bigint[], :notice_msgs::bigint[], :notices::json[])
        WITH ORDINALITY AS E (flid, version, msg_id, payload, n)
    WHERE C.NAME = 'event_msg'
), D AS (
    INSERT INTO msgx.MSG_EVENT (EVENT_ID, TARGET, FLID, STATE_VERSION, MSG_ID, STATUS, CREATED_AT, UPDATED_AT,
        EPOCH, PAYLOAD)
    SELECT C.VALUE - cardinality(:document_flids::bigint[]) + E.n, 'KAFKA:schd', E.flid, E.version, E.msg_id,
        'PENDING', :now::timestamptz, :now::timestamptz, :epoch::bigint, E.payload
    FROM C, unnest(:document_flids::bigint[], :document_versions::bigint[], :document_msgs::bigint[],
        :documents::json[]) WITH ORDINALITY AS E (flid, version, msg_id, payload, n)
    WHERE C.NAME = 'event_schd'
    ON CONFLICT (FLID) WHERE TARGET = 'KAFKA:schd' DO UPDATE SET EVENT_ID = EXCLUDED.EVENT_ID,
        STATE_VERSION = EXCLUDED.STATE_VERSION, MSG_ID = EXCLUDED.MSG_ID, PAYLOAD = EXCLUDED.PAYLOAD,
        STATUS = 'PENDING', ATTEMPTS = 0, NEXT_ATTEMPT_AT = NULL, LAST_CODE = NULL, SENT_AT = NULL,
        CREATED_AT = EXCLUDED.CREATED_AT, UPDATED_AT = EXCLUDED.UPDATED_AT, EPOCH = EXCLUDED.EPOCH
)
SELECT COUNT(*) AS COUNTERS FROM C;

-- name: record
WITH L AS MATERIALIZED (
    SELECT msgx.FENCE(:epoch)::text AS OK
)
INSERT INTO msgx.OPS_AUDIT (ACTION, TARGET, ACTOR, REASON, DETAIL, CREATED_AT)
SELECT :action::text, :target::bigint, :actor::text, :why::text, :detail::text, :now::timestamptz FROM L;
