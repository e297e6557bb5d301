-- Requests on their way out (D-32). Each is for the lease holder, and conditional on the state that it finds.

-- A request of msgx's own; no row where the slot is taken.
CREATE FUNCTION msgx.ASK_REQUEST(
    p_epoch bigint, p_slot text, p_rtype text, p_first_day date, p_last_day date, p_created_at timestamptz,
    p_actor text, p_why text, p_now timestamptz
) RETURNS SETOF msgx.REQ_TRACK LANGUAGE plpgsql AS $$
DECLARE
    v_row msgx.REQ_TRACK;
BEGIN
    PERFORM msgx.FENCE(p_epoch);
    INSERT INTO msgx.REQ_TRACK (SLOT, STATE, RTYPE, FIRST_DAY, LAST_DAY, CREATED_AT, UPDATED_AT, EPOCH)
    VALUES (p_slot, 'PENDING', p_rtype, p_first_day, p_last_day, p_created_at, p_now, p_epoch)
    ON CONFLICT (SLOT) WHERE STATE IN ('PENDING', 'SENT') DO NOTHING
    RETURNING * INTO v_row;
    IF FOUND THEN
        PERFORM msgx.AUDIT('ask_request', v_row.REQUEST_ID, p_actor, p_why, NULL, p_now);
        RETURN NEXT v_row;
    END IF;
END
$$;

-- The number of a request is taken with it: one that is not begun takes none.
CREATE FUNCTION msgx.BEGIN_SEND(p_epoch bigint, p_request_id bigint, p_now timestamptz)
RETURNS SETOF msgx.REQ_TRACK LANGUAGE plpgsql AS $$
DECLARE
    v_seqn bigint;
BEGIN
    PERFORM msgx.FENCE(p_epoch);
    PERFORM 1 FROM msgx.REQ_TRACK
    WHERE REQUEST_ID = p_request_id AND STATE = 'PENDING' AND SEND_STARTED_AT IS NULL FOR UPDATE;
    IF FOUND THEN
        UPDATE msgx.COUNTERS SET VALUE = VALUE + 1 WHERE NAME = 'outbound_seqn' RETURNING VALUE INTO STRICT v_seqn;
        RETURN QUERY UPDATE msgx.REQ_TRACK SET SEND_STARTED_AT = p_now, SEQN = v_seqn::text, UPDATED_AT = p_now,
            EPOCH = p_epoch
        WHERE REQUEST_ID = p_request_id
        RETURNING *;
    END IF;
END
$$;

CREATE FUNCTION msgx.CONFIRM_SENT(p_epoch bigint, p_request_id bigint, p_now timestamptz)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM msgx.FENCE(p_epoch);
    UPDATE msgx.REQ_TRACK SET STATE = 'SENT', SENT_AT = p_now, UPDATED_AT = p_now, EPOCH = p_epoch
    WHERE REQUEST_ID = p_request_id AND STATE = 'PENDING' AND SEND_STARTED_AT IS NOT NULL;
    RETURN FOUND;
END
$$;

CREATE FUNCTION msgx.LOSE_SEND(p_epoch bigint, p_request_id bigint, p_alerts jsonb, p_now timestamptz)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM msgx.FENCE(p_epoch);
    UPDATE msgx.REQ_TRACK SET STATE = 'FAILED', REASON = 'send-lost', CLOSED_AT = p_now, UPDATED_AT = p_now,
        EPOCH = p_epoch
    WHERE REQUEST_ID = p_request_id AND STATE = 'PENDING' AND SEND_STARTED_AT IS NOT NULL;
    IF NOT FOUND THEN
        RETURN FALSE;
    END IF;
    PERFORM msgx.INSERT_ALERTS(p_alerts, p_now);
    RETURN TRUE;
END
$$;

-- A request that is being answered stays.
CREATE FUNCTION msgx.EXPIRE_REQUESTS(p_epoch bigint, p_sent_before timestamptz, p_now timestamptz)
RETURNS SETOF bigint LANGUAGE plpgsql AS $$
BEGIN
    PERFORM msgx.FENCE(p_epoch);
    RETURN QUERY UPDATE msgx.REQ_TRACK SET STATE = 'EXPIRED', REASON = 'timeout', CLOSED_AT = p_now,
        UPDATED_AT = p_now, EPOCH = p_epoch
    WHERE STATE = 'SENT' AND RESP_MSG_ID IS NULL AND SENT_AT <= p_sent_before
    RETURNING REQUEST_ID;
END
$$;
