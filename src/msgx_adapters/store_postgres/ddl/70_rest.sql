-- What else step 1 may bring: raw sections, rosters, reference data, the request, the sender, alerts.

CREATE FUNCTION msgx.PUT_RAW_SECTIONS(p_sections jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM msgx.FLIGHT_RAW_SECTION R USING jsonb_to_recordset(p_sections) AS P (flid bigint)
    WHERE R.FLID = P.flid;
    INSERT INTO msgx.FLIGHT_RAW_SECTION (FLID, TAG, XML)
    SELECT P.flid, S.key, S.value
    FROM jsonb_to_recordset(p_sections) AS P (flid bigint, sections jsonb)
    CROSS JOIN LATERAL jsonb_each_text(P.sections) AS S;
END
$$;

-- Old members of all covered days go first, so that a flight may move between them.
CREATE FUNCTION msgx.REPLACE_ROSTERS(p_epoch bigint, p_msg_id bigint, p_at timestamptz, p_rosters jsonb)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_count integer;
BEGIN
    INSERT INTO msgx.SCHD_GEN AS G (OPERATION_DAY, VERSION, LAST_MSG_ID, LAST_RECV_AT, EPOCH)
    SELECT P.day, P.read + 1, p_msg_id, p_at, p_epoch
    FROM jsonb_to_recordset(p_rosters) AS P (day date, read bigint)
    WHERE P.read = 0 OR EXISTS (SELECT 1 FROM msgx.SCHD_GEN S WHERE S.OPERATION_DAY = P.day)
    ON CONFLICT (OPERATION_DAY) DO UPDATE SET VERSION = EXCLUDED.VERSION, LAST_MSG_ID = EXCLUDED.LAST_MSG_ID,
        LAST_RECV_AT = EXCLUDED.LAST_RECV_AT, EPOCH = EXCLUDED.EPOCH
    WHERE G.VERSION = EXCLUDED.VERSION - 1;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count <> jsonb_array_length(p_rosters) THEN
        PERFORM msgx.CONFLICT('a roster is not at the generation that was read');
    END IF;
    DELETE FROM msgx.SCHD_GEN_FLID R USING jsonb_to_recordset(p_rosters) AS P (day date)
    WHERE R.OPERATION_DAY = P.day;
    INSERT INTO msgx.SCHD_GEN_FLID (OPERATION_DAY, FLID)
    SELECT P.day, M.flid::bigint
    FROM jsonb_to_recordset(p_rosters) AS P (day date, flids jsonb)
    CROSS JOIN LATERAL jsonb_array_elements_text(P.flids) AS M (flid);
END
$$;

-- A flight on the roster of another day breaks the unique index: rosters are disjoint.
CREATE FUNCTION msgx.CHANGE_ROSTERS(p_remove jsonb, p_add jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM msgx.SCHD_GEN_FLID
    WHERE FLID IN (SELECT R.flid::bigint FROM jsonb_array_elements_text(p_remove) AS R (flid));
    INSERT INTO msgx.SCHD_GEN_FLID (OPERATION_DAY, FLID)
    SELECT P.day, P.flid FROM jsonb_to_recordset(p_add) AS P (day date, flid bigint)
    ON CONFLICT (OPERATION_DAY, FLID) DO NOTHING;
END
$$;

-- Changes in their order; a record that stays keeps its place in the list. A category without a table is refused.
CREATE FUNCTION msgx.PUT_REFERENCE(p_changes jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_change jsonb;
    v_table text;
BEGIN
    FOR v_change IN SELECT C.change FROM jsonb_array_elements(p_changes) WITH ORDINALITY AS C (change, n) ORDER BY n
    LOOP
        v_table := format('msgx.%I', 'ref_' || lower(v_change ->> 'rtype'));
        IF v_change ? 'remove' THEN
            EXECUTE format('DELETE FROM %s WHERE RKEY = $1', v_table) USING v_change ->> 'remove';
            CONTINUE;
        END IF;
        IF (v_change ->> 'all')::boolean THEN
            EXECUTE format('DELETE FROM %s', v_table);
        END IF;
        EXECUTE format(
            'INSERT INTO %1$s (RKEY, PAYLOAD, ORDINAL, MSG_ID, UPDATED_AT)'
            ' SELECT rkey, payload, (SELECT COALESCE(MAX(ORDINAL), 0) FROM %1$s) + n, msg_id, updated_at'
            ' FROM ROWS FROM (jsonb_to_recordset($1) AS'
            '     (rkey text, payload jsonb, msg_id bigint, updated_at timestamptz)'
            ' ) WITH ORDINALITY AS R (rkey, payload, msg_id, updated_at, n)'
            ' ON CONFLICT (RKEY) DO UPDATE SET PAYLOAD = EXCLUDED.PAYLOAD, MSG_ID = EXCLUDED.MSG_ID,'
            ' UPDATED_AT = EXCLUDED.UPDATED_AT', v_table
        ) USING v_change -> 'records';
    END LOOP;
END
$$;

CREATE FUNCTION msgx.ANSWER_REQUEST(p_epoch bigint, p_msg_id bigint, p_at timestamptz, p_request jsonb)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF p_request ? 'reason' THEN
        UPDATE msgx.REQ_TRACK SET STATE = 'FAILED', REASON = p_request ->> 'reason', CLOSED_AT = p_at,
            UPDATED_AT = p_at, EPOCH = p_epoch
        WHERE REQUEST_ID = (p_request ->> 'id')::bigint AND STATE IN ('PENDING', 'SENT');
    ELSE
        UPDATE msgx.REQ_TRACK SET RESP_MSG_ID = p_msg_id, STATE = 'SENT', SENT_AT = COALESCE(SENT_AT, p_at),
            UPDATED_AT = p_at, EPOCH = p_epoch
        WHERE REQUEST_ID = (p_request ->> 'id')::bigint AND STATE IN ('PENDING', 'SENT') AND RESP_MSG_ID IS NULL;
    END IF;
    IF NOT FOUND THEN
        PERFORM msgx.CONFLICT('the request is closed or bound already');
    END IF;
END
$$;

CREATE FUNCTION msgx.PUT_SENDER(p_sender jsonb, p_at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO msgx.SENDER_MARK (SNDR, SEQN, DTTM, SCHEDULE_DTTM, DNLD_RECS, RESP_RECS, UPDATED_AT)
    SELECT sndr, seqn, dttm, schedule_dttm, dnld_recs, resp_recs, p_at
    FROM jsonb_to_record(p_sender) AS (sndr text, seqn bigint, dttm text, schedule_dttm text, dnld_recs integer,
        resp_recs integer)
    ON CONFLICT (SNDR) DO UPDATE SET SEQN = EXCLUDED.SEQN, DTTM = EXCLUDED.DTTM,
        SCHEDULE_DTTM = EXCLUDED.SCHEDULE_DTTM, DNLD_RECS = EXCLUDED.DNLD_RECS, RESP_RECS = EXCLUDED.RESP_RECS,
        UPDATED_AT = EXCLUDED.UPDATED_AT;
END
$$;

CREATE FUNCTION msgx.APPLY_REST(p_epoch bigint, p_msg_id bigint, p_at timestamptz, p_rest jsonb)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF p_rest ? 'sections' THEN
        PERFORM msgx.PUT_RAW_SECTIONS(p_rest -> 'sections');
    END IF;
    IF p_rest ? 'rosters' THEN
        PERFORM msgx.REPLACE_ROSTERS(p_epoch, p_msg_id, p_at, p_rest -> 'rosters');
    END IF;
    IF p_rest ? 'add' THEN
        PERFORM msgx.CHANGE_ROSTERS(p_rest -> 'remove', p_rest -> 'add');
    END IF;
    IF p_rest ? 'reference' THEN
        PERFORM msgx.PUT_REFERENCE(p_rest -> 'reference');
    END IF;
    IF p_rest ? 'request' THEN
        PERFORM msgx.ANSWER_REQUEST(p_epoch, p_msg_id, p_at, p_rest -> 'request');
    END IF;
    IF p_rest ? 'sender' THEN
        PERFORM msgx.PUT_SENDER(p_rest -> 'sender', p_at);
    END IF;
    IF p_rest ? 'alerts' THEN
        PERFORM msgx.INSERT_ALERTS(p_rest -> 'alerts', p_at);
    END IF;
END
$$;
