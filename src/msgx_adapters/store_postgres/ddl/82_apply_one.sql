-- Step 1 of by far the most messages: one live flight changes, and what is known of the sender. It writes what
-- APPLY writes, statement by statement, without taking lists apart.

CREATE FUNCTION msgx.APPLY_ONE(
    p_epoch bigint, p_expiry_s double precision, p_msg_id bigint, p_at timestamptz, p_coverage text,
    p_reason text, p_detail text, p_flid bigint, p_read bigint, p_version bigint, p_flight jsonb,
    p_tags text[], p_notice json, p_document json,
    p_sndr text, p_seqn bigint, p_dttm text, p_schedule_dttm text, p_dnld_recs bigint, p_resp_recs bigint
) RETURNS bigint LANGUAGE plpgsql {{plans}} AS $$
DECLARE
    v_epoch bigint;
    v_apply_no bigint;
    v_msg bigint;
    v_schd bigint;
BEGIN
    SELECT EPOCH INTO v_epoch FROM msgx.PIPELINE_LOCK FOR UPDATE;
    IF v_epoch <> p_epoch THEN
        PERFORM msgx.FENCED(v_epoch);
    END IF;
    UPDATE msgx.COUNTERS SET VALUE = VALUE + 1 WHERE NAME = 'apply_no' RETURNING VALUE INTO v_apply_no;
    UPDATE msgx.PROC_STATE SET APPLIED_AT = p_at, COVERAGE = p_coverage, REASON = p_reason, DETAIL = p_detail,
        ERROR_CODE = NULL, OUTCOME_REASON = p_reason, OUTCOME_DETAIL = p_detail, APPLY_NO = v_apply_no,
        TOUCHED = ARRAY[p_flid], UPDATED_AT = p_at, EPOCH = p_epoch
    WHERE MSG_ID = p_msg_id AND APPLIED_AT IS NULL AND STATE IN ('PENDING', 'FAILED');
    IF NOT FOUND THEN
        PERFORM msgx.CONFLICT('the message is applied or finished already');
    END IF;
    UPDATE msgx.FLIGHT_SCHD F SET STATE = P.state, STATE_VERSION = p_version, OPERATION_DAY = P.day,
        SODT_AT = P.sodt_at, LAST_MSG_ID = P.last, CREATED_AT = P.created, UPDATED_AT = P.updated,
        EPOCH = p_epoch, TAG_ORDER = P.tags, {{scalar_sets}}
    FROM jsonb_to_record(p_flight) AS P (state text, day date, sodt_at timestamptz, last bigint,
        created timestamptz, updated timestamptz, tags text, {{scalar_types}})
    WHERE F.FLID = p_flid AND F.STATE_VERSION = p_read AND F.STATE = 'ACTIVE';
    IF NOT FOUND THEN
        -- Deleted before, or not as it was read.
        PERFORM msgx.UPDATE_FLIGHTS(p_epoch, jsonb_build_array(p_flight), p_tags);
    ELSIF p_tags <> '{}' THEN
        PERFORM msgx.REPLACE_DETAILS(jsonb_build_array(p_flight), p_tags);
    END IF;
    IF p_notice IS NOT NULL THEN
        UPDATE msgx.COUNTERS SET VALUE = VALUE + 1 WHERE NAME = 'event_msg' RETURNING VALUE INTO v_msg;
        INSERT INTO msgx.MSG_EVENT (EVENT_ID, TARGET, FLID, STATE_VERSION, MSG_ID, STATUS, CREATED_AT, UPDATED_AT,
            EPOCH, PAYLOAD)
        VALUES (v_msg, 'KAFKA:msg', p_flid, p_version, p_msg_id, 'PENDING', p_at, p_at, p_epoch, p_notice);
    END IF;
    UPDATE msgx.COUNTERS SET VALUE = VALUE + 1 WHERE NAME = 'event_schd' RETURNING VALUE INTO v_schd;
    UPDATE msgx.MSG_EVENT SET EVENT_ID = v_schd, STATE_VERSION = p_version, MSG_ID = p_msg_id, PAYLOAD = p_document,
        STATUS = 'PENDING', ATTEMPTS = 0, NEXT_ATTEMPT_AT = NULL, LAST_CODE = NULL, SENT_AT = NULL,
        CREATED_AT = p_at, UPDATED_AT = p_at, EPOCH = p_epoch
    WHERE TARGET = 'KAFKA:schd' AND FLID = p_flid;
    IF NOT FOUND THEN
        INSERT INTO msgx.MSG_EVENT (EVENT_ID, TARGET, FLID, STATE_VERSION, MSG_ID, STATUS, CREATED_AT, UPDATED_AT,
            EPOCH, PAYLOAD)
        VALUES (v_schd, 'KAFKA:schd', p_flid, p_version, p_msg_id, 'PENDING', p_at, p_at, p_epoch, p_document);
    END IF;
    IF p_sndr IS NOT NULL THEN
        UPDATE msgx.SENDER_MARK SET SEQN = p_seqn, DTTM = p_dttm, SCHEDULE_DTTM = p_schedule_dttm,
            DNLD_RECS = p_dnld_recs, RESP_RECS = p_resp_recs, UPDATED_AT = p_at
        WHERE SNDR = p_sndr;
        IF NOT FOUND THEN
            INSERT INTO msgx.SENDER_MARK (SNDR, SEQN, DTTM, SCHEDULE_DTTM, DNLD_RECS, RESP_RECS, UPDATED_AT)
            VALUES (p_sndr, p_seqn, p_dttm, p_schedule_dttm, p_dnld_recs, p_resp_recs, p_at);
        END IF;
    END IF;
    -- A holder that has just written is alive.
    UPDATE msgx.LEASE SET EXPIRES_AT = clock_timestamp() + make_interval(secs => p_expiry_s);
    RETURN v_apply_no;
END
$$;
