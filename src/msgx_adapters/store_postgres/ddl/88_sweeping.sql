-- The history sweep: one call removes flights and steps their main flights (D-33, D-37).

-- Events of flights that were touched by different messages; each element has its payload as text.
CREATE FUNCTION msgx.PUT_EVENTS(p_epoch bigint, p_at timestamptz, p_target text, p_last_id bigint, p_events jsonb)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO msgx.MSG_EVENT (EVENT_ID, TARGET, FLID, STATE_VERSION, MSG_ID, STATUS, CREATED_AT, UPDATED_AT,
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

CREATE FUNCTION msgx.REMOVE_FLIGHTS(p_at timestamptz, p_flids bigint[], p_versions bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_count integer;
BEGIN
    DELETE FROM msgx.FLIGHT_SCHD F USING unnest(p_flids, p_versions) AS P (flid, version)
    WHERE F.FLID = P.flid AND F.STATE_VERSION = P.version;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count <> cardinality(p_flids) THEN
        PERFORM msgx.CONFLICT('a flight is not at the version that was confirmed');
    END IF;
    PERFORM msgx.CLEAR_DETAILS(p_flids);
    DELETE FROM msgx.FLIGHT_RAW_SECTION WHERE FLID = ANY (p_flids);
    DELETE FROM msgx.SCHD_GEN_FLID WHERE FLID = ANY (p_flids);
    DELETE FROM msgx.MSG_EVENT WHERE TARGET = 'KAFKA:schd' AND FLID = ANY (p_flids);
    INSERT INTO msgx.FLIGHT_VERSION_FLOOR AS V (FLID, STATE_VERSION, UPDATED_AT)
    SELECT P.flid, P.version + 1, p_at FROM unnest(p_flids, p_versions) AS P (flid, version)
    ON CONFLICT (FLID) DO UPDATE SET STATE_VERSION = GREATEST(V.STATE_VERSION, EXCLUDED.STATE_VERSION),
        UPDATED_AT = EXCLUDED.UPDATED_AT;
END
$$;

CREATE FUNCTION msgx.ARCHIVE_FLIGHTS(
    p_epoch bigint, p_at timestamptz, p_flids bigint[], p_versions bigint[], p_old jsonb, p_old_tags text[],
    p_notices jsonb, p_documents jsonb
) RETURNS void LANGUAGE plpgsql {{plans}} AS $$
DECLARE
    v_msg bigint;
    v_schd bigint;
BEGIN
    PERFORM msgx.FENCE_ALONE(p_epoch);
    PERFORM msgx.REMOVE_FLIGHTS(p_at, p_flids, p_versions);
    IF p_old IS NOT NULL THEN
        PERFORM msgx.UPDATE_FLIGHTS(p_epoch, p_old, p_old_tags);
    END IF;
    WITH C AS (
        UPDATE msgx.COUNTERS SET VALUE = VALUE + CASE NAME WHEN 'event_msg' THEN jsonb_array_length(p_notices)
            ELSE jsonb_array_length(p_documents) END
        WHERE NAME IN ('event_msg', 'event_schd')
        RETURNING NAME, VALUE
    )
    SELECT MAX(VALUE) FILTER (WHERE NAME = 'event_msg'), MAX(VALUE) FILTER (WHERE NAME = 'event_schd')
    INTO v_msg, v_schd FROM C;
    PERFORM msgx.PUT_EVENTS(p_epoch, p_at, 'KAFKA:msg', v_msg - jsonb_array_length(p_notices), p_notices);
    PERFORM msgx.PUT_EVENTS(p_epoch, p_at, 'KAFKA:schd', v_schd - jsonb_array_length(p_documents), p_documents);
    INSERT INTO msgx.CACHE_PENDING AS K (FLID, STATE_VERSION, CREATED_AT)
    SELECT P.flid, P.version + 1, p_at FROM unnest(p_flids, p_versions) AS P (flid, version)
    UNION ALL
    SELECT P.flid, P.version, p_at FROM jsonb_to_recordset(p_old) AS P (flid bigint, version bigint)
    ON CONFLICT (FLID) DO UPDATE SET STATE_VERSION = GREATEST(K.STATE_VERSION, EXCLUDED.STATE_VERSION);
END
$$;

CREATE FUNCTION msgx.CACHE_SETTLED(p_epoch bigint, p_flids bigint[]) RETURNS void
LANGUAGE plpgsql {{plans}} AS $$
BEGIN
    PERFORM msgx.FENCE(p_epoch);
    DELETE FROM msgx.CACHE_PENDING WHERE FLID = ANY (p_flids);
END
$$;
