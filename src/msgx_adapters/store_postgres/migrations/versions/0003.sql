-- The history sweep and retention: a table, and the functions of both.

-- Cache keys that the history sweep left to be changed (D-33).

CREATE TABLE "{{schema}}".CACHE_PENDING (
    FLID bigint NOT NULL PRIMARY KEY,
    STATE_VERSION bigint NOT NULL,
    CREATED_AT timestamptz NOT NULL
);

-- The history sweep: one call removes flights and steps their main flights (D-33, D-37).

-- Events of flights that were touched by different messages; each element has its payload as text.
CREATE FUNCTION "{{schema}}".PUT_EVENTS(p_epoch bigint, p_at timestamptz, p_target text, p_last_id bigint, p_events jsonb)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "{{schema}}".MSG_EVENT (EVENT_ID, TARGET, FLID, STATE_VERSION, MSG_ID, STATUS, CREATED_AT, UPDATED_AT,
        EPOCH, PAYLOAD)
    SELECT p_last_id + E.n, p_target, E.flid, E.version, E.msg_id, 'PENDING', p_at, p_at, p_epoch,
        E.payload::json
    FROM ROWS FROM (jsonb_to_recordset(p_events) AS (flid bigint, version bigint, msg_id bigint, payload text))
        WITH ORDINALITY AS E (flid, version, msg_id, payload, n)
    ON CONFLICT (FLID) WHERE TARGET = 'KAFKA:schd' DO UPDATE SET EVENT_ID = EXCLUDED.EVENT_ID,
        STATE_VERSION = EXCLUDED.STATE_VERSION, MSG_ID = EXCLUDED.MSG_ID, PAYLOAD = EXCLUDED.PAYLOAD,
        STATUS = 'PENDING', ATTEMPTS = 0, NEXT_ATTEMPT_AT = NULL, LAST_CODE = NULL, SENT_AT = NULL,
        CREATED_AT = EXCLUDED.CREATED_AT, UPDATED_AT = EXCLUDED.UPDATED_AT, EPOCH = EXCLUDED.EPOCH;
END
$$;

CREATE FUNCTION "{{schema}}".REMOVE_FLIGHTS(p_at timestamptz, p_flids bigint[], p_versions bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_count integer;
BEGIN
    DELETE FROM "{{schema}}".FLIGHT_SCHD F USING unnest(p_flids, p_versions) AS P (flid, version)
    WHERE F.FLID = P.flid AND F.STATE_VERSION = P.version;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count <> cardinality(p_flids) THEN
        PERFORM "{{schema}}".CONFLICT('a flight is not at the version that was confirmed');
    END IF;
    PERFORM "{{schema}}".CLEAR_DETAILS(p_flids);
    DELETE FROM "{{schema}}".FLIGHT_RAW_SECTION WHERE FLID = ANY (p_flids);
    DELETE FROM "{{schema}}".SCHD_GEN_FLID WHERE FLID = ANY (p_flids);
    DELETE FROM "{{schema}}".MSG_EVENT WHERE TARGET = 'KAFKA:schd' AND FLID = ANY (p_flids);
    INSERT INTO "{{schema}}".FLIGHT_VERSION_FLOOR AS V (FLID, STATE_VERSION, UPDATED_AT)
    SELECT P.flid, P.version + 1, p_at FROM unnest(p_flids, p_versions) AS P (flid, version)
    ON CONFLICT (FLID) DO UPDATE SET STATE_VERSION = GREATEST(V.STATE_VERSION, EXCLUDED.STATE_VERSION),
        UPDATED_AT = EXCLUDED.UPDATED_AT;
END
$$;

CREATE FUNCTION "{{schema}}".ARCHIVE_FLIGHTS(
    p_epoch bigint, p_at timestamptz, p_flids bigint[], p_versions bigint[], p_old jsonb, p_old_tags text[],
    p_notices jsonb, p_documents jsonb
) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET jit = off SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off AS $$
DECLARE
    v_msg bigint;
    v_schd bigint;
BEGIN
    PERFORM "{{schema}}".FENCE_ALONE(p_epoch);
    PERFORM "{{schema}}".REMOVE_FLIGHTS(p_at, p_flids, p_versions);
    IF p_old IS NOT NULL THEN
        PERFORM "{{schema}}".UPDATE_FLIGHTS(p_epoch, p_old, p_old_tags);
    END IF;
    WITH C AS (
        UPDATE "{{schema}}".COUNTERS SET VALUE = VALUE + CASE NAME WHEN 'event_msg' THEN jsonb_array_length(p_notices)
            ELSE jsonb_array_length(p_documents) END
        WHERE NAME IN ('event_msg', 'event_schd')
        RETURNING NAME, VALUE
    )
    SELECT MAX(VALUE) FILTER (WHERE NAME = 'event_msg'), MAX(VALUE) FILTER (WHERE NAME = 'event_schd')
    INTO v_msg, v_schd FROM C;
    PERFORM "{{schema}}".PUT_EVENTS(p_epoch, p_at, 'KAFKA:msg', v_msg - jsonb_array_length(p_notices), p_notices);
    PERFORM "{{schema}}".PUT_EVENTS(p_epoch, p_at, 'KAFKA:schd', v_schd - jsonb_array_length(p_documents), p_documents);
    INSERT INTO "{{schema}}".CACHE_PENDING AS K (FLID, STATE_VERSION, CREATED_AT)
    SELECT P.flid, P.version + 1, p_at FROM unnest(p_flids, p_versions) AS P (flid, version)
    UNION ALL
    SELECT P.flid, P.version, p_at FROM jsonb_to_recordset(p_old) AS P (flid bigint, version bigint)
    ON CONFLICT (FLID) DO UPDATE SET STATE_VERSION = GREATEST(K.STATE_VERSION, EXCLUDED.STATE_VERSION);
END
$$;

CREATE FUNCTION "{{schema}}".CACHE_SETTLED(p_epoch bigint, p_flids bigint[]) RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET jit = off SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off AS $$
BEGIN
    PERFORM "{{schema}}".FENCE(p_epoch);
    DELETE FROM "{{schema}}".CACHE_PENDING WHERE FLID = ANY (p_flids);
END
$$;

-- Removal by age, where one statement is not enough (FST §8.3).

-- Days of the ledger before the cut-off, and why each stays: the first reason that holds, or 'go'.
CREATE FUNCTION "{{schema}}".LEDGER_DAYS(p_cutoff date, p_late_since timestamptz)
RETURNS TABLE (OPERATION_DAY date, REASON text) LANGUAGE sql STABLE AS $$
    SELECT G.OPERATION_DAY, CASE
        WHEN EXISTS (SELECT 1 FROM "{{schema}}".PROC_STATE P WHERE P.STATE IN ('PENDING', 'FAILED')) THEN 'unfinished'
        WHEN EXISTS (
            SELECT 1 FROM "{{schema}}".PROC_STATE P WHERE P.BACKFILL_AT IS NULL AND (
                P.MSG_ID = G.LAST_MSG_ID OR P.MSG_ID IN (
                    SELECT L.MSG_ID FROM "{{schema}}".SCHD_SNAP_LOG L WHERE L.OPERATION_DAY = G.OPERATION_DAY
                )
            )
        ) THEN 'not-written-back'
        WHEN EXISTS (SELECT 1 FROM "{{schema}}".FLIGHT_SCHD F WHERE F.OPERATION_DAY = G.OPERATION_DAY) OR EXISTS (
            SELECT 1 FROM "{{schema}}".SCHD_GEN_FLID R JOIN "{{schema}}".FLIGHT_SCHD F ON F.FLID = R.FLID
            WHERE R.OPERATION_DAY = G.OPERATION_DAY
        ) THEN 'flights'
        WHEN EXISTS (
            SELECT 1 FROM "{{schema}}".REQ_TRACK Q
            WHERE G.OPERATION_DAY BETWEEN Q.FIRST_DAY AND Q.LAST_DAY AND (
                Q.STATE IN ('PENDING', 'SENT')
                OR (Q.STATE = 'EXPIRED' AND Q.RESP_MSG_ID IS NULL AND Q.CLOSED_AT >= p_late_since)
            )
        ) THEN 'requests'
        ELSE 'go' END
    FROM "{{schema}}".SCHD_GEN G WHERE G.OPERATION_DAY < p_cutoff ORDER BY G.OPERATION_DAY
$$;

-- Beside no step 1, which would change what is looked at: the lock is held for these few days only.
CREATE FUNCTION "{{schema}}".REMOVE_LEDGER(p_cutoff date, p_late_since timestamptz, p_limit bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_days date[];
BEGIN
    PERFORM 1 FROM "{{schema}}".PIPELINE_LOCK FOR SHARE;
    v_days := ARRAY(
        SELECT L.OPERATION_DAY FROM "{{schema}}".LEDGER_DAYS(p_cutoff, p_late_since) L WHERE L.REASON = 'go' LIMIT p_limit
    );
    DELETE FROM "{{schema}}".SCHD_GEN_FLID WHERE OPERATION_DAY = ANY (v_days);
    DELETE FROM "{{schema}}".SCHD_GEN WHERE OPERATION_DAY = ANY (v_days);
    RETURN cardinality(v_days);
END
$$;

-- What the tables of the history sweep mean.

COMMENT ON TABLE "{{schema}}".CACHE_PENDING IS
    'Cache keys that the history sweep left to be changed, before the next message of any instance (D-33).';
COMMENT ON COLUMN "{{schema}}".CACHE_PENDING.FLID IS 'Flight.';
COMMENT ON COLUMN "{{schema}}".CACHE_PENDING.STATE_VERSION IS 'The version to leave in the cache at least.';
COMMENT ON COLUMN "{{schema}}".CACHE_PENDING.CREATED_AT IS 'When it was left.';
