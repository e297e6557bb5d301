-- Intake, identity and fate of messages; each function is one transaction and one round trip.

CREATE FUNCTION msgx.INSERT_ALERTS(p_alerts jsonb, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO msgx.OPS_ALERT (CODE, MSG_ID, FLID, DETAIL, CREATED_AT)
    SELECT code, msg_id, flid, detail, p_now
    FROM ROWS FROM (jsonb_to_recordset(p_alerts) AS (code text, msg_id bigint, flid bigint, detail text))
        WITH ORDINALITY AS A (code, msg_id, flid, detail, n)
    ORDER BY n;
END
$$;

CREATE FUNCTION msgx.UNKNOWN(p_ids bigint[]) RETURNS SETOF bigint LANGUAGE plpgsql STABLE {{plans}} AS $$
BEGIN
    RETURN QUERY SELECT A.id FROM unnest(p_ids) WITH ORDINALITY AS A (id, n)
    WHERE NOT EXISTS (SELECT 1 FROM msgx.PROC_STATE P WHERE P.MSG_ID = A.id)
    ORDER BY A.n;
END
$$;

CREATE FUNCTION msgx.HEAD() RETURNS SETOF msgx.PROC_STATE LANGUAGE plpgsql STABLE ROWS 1 {{plans}} AS $$
BEGIN
    RETURN QUERY SELECT * FROM msgx.PROC_STATE WHERE STATE IN ('PENDING', 'FAILED') ORDER BY MSG_ID LIMIT 1;
END
$$;

CREATE FUNCTION msgx.HEADS(p_limit bigint) RETURNS SETOF msgx.PROC_STATE LANGUAGE plpgsql STABLE ROWS 10 {{plans}} AS $$
BEGIN
    RETURN QUERY SELECT * FROM msgx.PROC_STATE WHERE STATE IN ('PENDING', 'FAILED') ORDER BY MSG_ID LIMIT p_limit;
END
$$;

CREATE FUNCTION msgx.ENQUEUE(p_epoch bigint, p_ids bigint[], p_received timestamptz[], p_now timestamptz)
RETURNS integer LANGUAGE plpgsql {{plans}} AS $$
DECLARE
    v_new integer;
BEGIN
    PERFORM msgx.FENCE(p_epoch);
    INSERT INTO msgx.PROC_STATE (MSG_ID, STATE, RECEIVED_AT, ENQUEUED_AT, UPDATED_AT, EPOCH)
    SELECT id, 'PENDING', received_at, p_now, p_now, p_epoch FROM unnest(p_ids, p_received) AS R (id, received_at)
    ON CONFLICT (MSG_ID) DO NOTHING;
    GET DIAGNOSTICS v_new = ROW_COUNT;
    RETURN v_new;
END
$$;

CREATE FUNCTION msgx.BIND(
    p_epoch bigint, p_msg_id bigint, p_identity_key text, p_sndr text, p_type text, p_styp text, p_seqn text,
    p_dttm text, p_raw_digest text, p_as_head boolean, p_now timestamptz
) RETURNS TABLE (MSG_ID bigint, RAW_DIGEST text) LANGUAGE plpgsql {{plans}} AS $$
#variable_conflict use_column
DECLARE
    v_epoch bigint;
    v_head bigint;
BEGIN
    SELECT EPOCH INTO v_epoch FROM msgx.PIPELINE_LOCK FOR UPDATE;
    IF v_epoch <> p_epoch THEN
        PERFORM msgx.FENCED(v_epoch);
    END IF;
    IF p_as_head THEN
        SELECT U.MSG_ID INTO v_head FROM msgx.PROC_STATE U WHERE U.STATE IN ('PENDING', 'FAILED')
        ORDER BY U.MSG_ID LIMIT 1;
        IF v_head IS DISTINCT FROM p_msg_id THEN
            PERFORM msgx.CONFLICT('the message is not the head');
        END IF;
    END IF;
    UPDATE msgx.PROC_STATE P SET IDENTITY_KEY = p_identity_key, SNDR = p_sndr, TYPE = p_type, STYP = p_styp,
        SEQN = p_seqn, DTTM = p_dttm, RAW_DIGEST = p_raw_digest, UPDATED_AT = p_now, EPOCH = p_epoch
    WHERE P.MSG_ID = p_msg_id AND P.IDENTITY_KEY IS NULL
        AND NOT EXISTS (SELECT 1 FROM msgx.PROC_STATE H WHERE H.IDENTITY_KEY = p_identity_key);
    IF NOT FOUND THEN
        RETURN QUERY SELECT H.MSG_ID, H.RAW_DIGEST FROM msgx.PROC_STATE H
        WHERE H.IDENTITY_KEY = p_identity_key AND H.MSG_ID <> p_msg_id
            AND NOT EXISTS (
                SELECT 1 FROM msgx.PROC_STATE P WHERE P.MSG_ID = p_msg_id AND P.IDENTITY_KEY IS NOT NULL
            );
    END IF;
END
$$;

CREATE FUNCTION msgx.CLOSE_UNAPPLIED(
    p_epoch bigint, p_msg_id bigint, p_state text, p_code text, p_reason text, p_detail text, p_alerts jsonb,
    p_now timestamptz, p_sndr text, p_type text, p_styp text, p_seqn text, p_dttm text, p_raw_digest text
) RETURNS boolean LANGUAGE plpgsql {{plans}} AS $$
BEGIN
    PERFORM msgx.FENCE(p_epoch);
    UPDATE msgx.PROC_STATE SET STATE = p_state, ERROR_CODE = p_code, REASON = p_reason, DETAIL = p_detail,
        NEXT_ATTEMPT_AT = NULL, TRYING = FALSE, FINISHED_AT = p_now,
        BACKFILL_NEXT_AT = CASE WHEN BACKFILL_AT IS NULL THEN p_now END, UPDATED_AT = p_now, EPOCH = p_epoch
    WHERE MSG_ID = p_msg_id AND STATE IN ('PENDING', 'FAILED')
        AND (APPLIED_AT IS NULL OR p_code = 'EXHAUSTED');
    IF NOT FOUND THEN
        RETURN FALSE;
    END IF;
    IF p_raw_digest IS NOT NULL THEN
        UPDATE msgx.PROC_STATE SET SNDR = p_sndr, TYPE = p_type, STYP = p_styp, SEQN = p_seqn, DTTM = p_dttm,
            RAW_DIGEST = p_raw_digest
        WHERE MSG_ID = p_msg_id AND IDENTITY_KEY IS NULL;
    END IF;
    UPDATE msgx.REQ_TRACK SET RESP_MSG_ID = NULL, UPDATED_AT = p_now, EPOCH = p_epoch
    WHERE RESP_MSG_ID = p_msg_id AND STATE IN ('PENDING', 'SENT');
    PERFORM msgx.INSERT_ALERTS(p_alerts, p_now);
    RETURN TRUE;
END
$$;

CREATE FUNCTION msgx.FAIL(
    p_epoch bigint, p_msg_id bigint, p_code text, p_reason text, p_detail text, p_next_attempt_at timestamptz,
    p_now timestamptz
) RETURNS void LANGUAGE plpgsql {{plans}} AS $$
BEGIN
    PERFORM msgx.FENCE(p_epoch);
    UPDATE msgx.PROC_STATE SET STATE = 'FAILED', ATTEMPTS = ATTEMPTS + 1, ERROR_CODE = p_code,
        REASON = p_reason, DETAIL = p_detail, NEXT_ATTEMPT_AT = p_next_attempt_at, TRYING = FALSE,
        UPDATED_AT = p_now, EPOCH = p_epoch
    WHERE MSG_ID = p_msg_id AND STATE IN ('PENDING', 'FAILED');
END
$$;

CREATE FUNCTION msgx.SET_TRYING(p_epoch bigint, p_msg_id bigint, p_trying boolean) RETURNS void
LANGUAGE plpgsql {{plans}} AS $$
BEGIN
    PERFORM msgx.FENCE(p_epoch);
    UPDATE msgx.PROC_STATE SET TRYING = p_trying, EPOCH = p_epoch
    WHERE MSG_ID = p_msg_id AND STATE IN ('PENDING', 'FAILED');
END
$$;

CREATE FUNCTION msgx.COUNT_INTERRUPTED(p_epoch bigint, p_now timestamptz) RETURNS SETOF msgx.PROC_STATE
LANGUAGE plpgsql {{plans}} AS $$
BEGIN
    PERFORM msgx.FENCE(p_epoch);
    RETURN QUERY UPDATE msgx.PROC_STATE SET TRYING = FALSE, ATTEMPTS = ATTEMPTS + 1, UPDATED_AT = p_now,
        EPOCH = p_epoch
    WHERE TRYING RETURNING *;
END
$$;
