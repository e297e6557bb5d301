-- The next messages read together; an identity is bound only to the head; a short way for one flight.
DROP FUNCTION "{{schema}}".BIND(bigint, bigint, text, text, text, text, text, text, text, timestamptz);

CREATE FUNCTION "{{schema}}".HEADS(p_limit bigint) RETURNS SETOF "{{schema}}".PROC_STATE LANGUAGE plpgsql STABLE ROWS 10 SET plan_cache_mode = force_generic_plan SET jit = off SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off AS $$
BEGIN
    RETURN QUERY SELECT * FROM "{{schema}}".PROC_STATE WHERE STATE IN ('PENDING', 'FAILED') ORDER BY MSG_ID LIMIT p_limit;
END
$$;

CREATE FUNCTION "{{schema}}".BIND(
    p_epoch bigint, p_msg_id bigint, p_identity_key text, p_sndr text, p_type text, p_styp text, p_seqn text,
    p_dttm text, p_raw_digest text, p_as_head boolean, p_now timestamptz
) RETURNS TABLE (MSG_ID bigint, RAW_DIGEST text) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET jit = off SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off AS $$
#variable_conflict use_column
DECLARE
    v_epoch bigint;
    v_head bigint;
BEGIN
    SELECT EPOCH INTO v_epoch FROM "{{schema}}".PIPELINE_LOCK FOR UPDATE;
    IF v_epoch <> p_epoch THEN
        PERFORM "{{schema}}".FENCED(v_epoch);
    END IF;
    IF p_as_head THEN
        SELECT U.MSG_ID INTO v_head FROM "{{schema}}".PROC_STATE U WHERE U.STATE IN ('PENDING', 'FAILED')
        ORDER BY U.MSG_ID LIMIT 1;
        IF v_head IS DISTINCT FROM p_msg_id THEN
            PERFORM "{{schema}}".CONFLICT('the message is not the head');
        END IF;
    END IF;
    UPDATE "{{schema}}".PROC_STATE P SET IDENTITY_KEY = p_identity_key, SNDR = p_sndr, TYPE = p_type, STYP = p_styp,
        SEQN = p_seqn, DTTM = p_dttm, RAW_DIGEST = p_raw_digest, UPDATED_AT = p_now, EPOCH = p_epoch
    WHERE P.MSG_ID = p_msg_id AND P.IDENTITY_KEY IS NULL
        AND NOT EXISTS (SELECT 1 FROM "{{schema}}".PROC_STATE H WHERE H.IDENTITY_KEY = p_identity_key);
    IF NOT FOUND THEN
        RETURN QUERY SELECT H.MSG_ID, H.RAW_DIGEST FROM "{{schema}}".PROC_STATE H
        WHERE H.IDENTITY_KEY = p_identity_key AND H.MSG_ID <> p_msg_id
            AND NOT EXISTS (
                SELECT 1 FROM "{{schema}}".PROC_STATE P WHERE P.MSG_ID = p_msg_id AND P.IDENTITY_KEY IS NOT NULL
            );
    END IF;
END
$$;

CREATE FUNCTION "{{schema}}".APPLY_ONE(
    p_epoch bigint, p_expiry_s double precision, p_msg_id bigint, p_at timestamptz, p_coverage text,
    p_reason text, p_detail text, p_flid bigint, p_read bigint, p_version bigint, p_flight jsonb,
    p_tags text[], p_notice json, p_document json,
    p_sndr text, p_seqn bigint, p_dttm text, p_schedule_dttm text, p_dnld_recs bigint, p_resp_recs bigint
) RETURNS bigint LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET jit = off SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off AS $$
DECLARE
    v_epoch bigint;
    v_apply_no bigint;
    v_msg bigint;
    v_schd bigint;
BEGIN
    SELECT EPOCH INTO v_epoch FROM "{{schema}}".PIPELINE_LOCK FOR UPDATE;
    IF v_epoch <> p_epoch THEN
        PERFORM "{{schema}}".FENCED(v_epoch);
    END IF;
    UPDATE "{{schema}}".COUNTERS SET VALUE = VALUE + 1 WHERE NAME = 'apply_no' RETURNING VALUE INTO v_apply_no;
    UPDATE "{{schema}}".PROC_STATE SET APPLIED_AT = p_at, COVERAGE = p_coverage, REASON = p_reason, DETAIL = p_detail,
        ERROR_CODE = NULL, OUTCOME_REASON = p_reason, OUTCOME_DETAIL = p_detail, APPLY_NO = v_apply_no,
        TOUCHED = ARRAY[p_flid], UPDATED_AT = p_at, EPOCH = p_epoch
    WHERE MSG_ID = p_msg_id AND APPLIED_AT IS NULL AND STATE IN ('PENDING', 'FAILED');
    IF NOT FOUND THEN
        PERFORM "{{schema}}".CONFLICT('the message is applied or finished already');
    END IF;
    UPDATE "{{schema}}".FLIGHT_SCHD F SET STATE = P.state, STATE_VERSION = p_version, OPERATION_DAY = P.day,
        SODT_AT = P.sodt_at, LAST_MSG_ID = P.last, CREATED_AT = P.created, UPDATED_AT = P.updated,
        EPOCH = p_epoch, TAG_ORDER = P.tags, ALCD = P."ALCD", ALSC = P."ALSC", FLNO = P."FLNO", MVIN = P."MVIN", FLTY = P."FLTY", FLIN = P."FLIN", ACFT = P."ACFT", RENO = P."RENO", SODT = P."SODT", TAOP = P."TAOP", TAFL = P."TAFL", TRML = P."TRML", CSOP = P."CSOP", CSFT = P."CSFT", TAID = P."TAID", MAID = P."MAID", ESTT = P."ESTT", ACTT = P."ACTT", BOTM = P."BOTM", LACL = P."LACL", FINT = P."FINT", APPT = P."APPT", EGSR = P."EGSR", EGST = P."EGST", NAAT = P."NAAT", NEAT = P."NEAT", PEDT = P."PEDT", PADT = P."PADT", FTSS = P."FTSS", STND = P."STND", PHAG = P."PHAG", FHAG = P."FHAG", MHAG = P."MHAG", CNCL = P."CNCL", REMC = P."REMC", BDPB = P."BDPB", EXSC = P."EXSC", EXSR = P."EXSR", MAXP = P."MAXP", VIPP = P."VIPP", VIPR = P."VIPR", LBNO = P."LBNO", PAXC = P."PAXC", LBWT = P."LBWT", FDIV_DDES = P."FDIV" ->> 'DDES', FDIV_DDIR = P."FDIV" ->> 'DDIR', FDIV_TEXT = P."FDIV" ->> 'TEXT', FRET_REID = P."FRET" ->> 'REID', FRET_TEXT = P."FRET" ->> 'TEXT'
    FROM jsonb_to_record(p_flight) AS P (state text, day date, sodt_at timestamptz, last bigint,
        created timestamptz, updated timestamptz, tags text, "ALCD" text, "ALSC" text, "FLNO" text, "MVIN" text, "FLTY" text, "FLIN" text, "ACFT" text, "RENO" text, "SODT" text, "TAOP" text, "TAFL" text, "TRML" text, "CSOP" text, "CSFT" text, "TAID" bigint, "MAID" bigint, "ESTT" text, "ACTT" text, "BOTM" text, "LACL" text, "FINT" text, "APPT" text, "EGSR" text, "EGST" text, "NAAT" text, "NEAT" text, "PEDT" text, "PADT" text, "FTSS" text, "STND" text, "PHAG" text, "FHAG" text, "MHAG" text, "CNCL" text, "REMC" text, "BDPB" text, "EXSC" text, "EXSR" text, "MAXP" text, "VIPP" text, "VIPR" text, "LBNO" text, "PAXC" text, "LBWT" text, "FDIV" jsonb, "FRET" jsonb)
    WHERE F.FLID = p_flid AND F.STATE_VERSION = p_read AND F.STATE = 'ACTIVE';
    IF NOT FOUND THEN
        -- Deleted before, or not as it was read.
        PERFORM "{{schema}}".UPDATE_FLIGHTS(p_epoch, jsonb_build_array(p_flight), p_tags);
    ELSIF p_tags <> '{}' THEN
        PERFORM "{{schema}}".REPLACE_DETAILS(jsonb_build_array(p_flight), p_tags);
    END IF;
    IF p_notice IS NOT NULL THEN
        UPDATE "{{schema}}".COUNTERS SET VALUE = VALUE + 1 WHERE NAME = 'event_msg' RETURNING VALUE INTO v_msg;
        INSERT INTO "{{schema}}".MSG_EVENT (EVENT_ID, TARGET, FLID, STATE_VERSION, MSG_ID, STATUS, CREATED_AT, UPDATED_AT,
            EPOCH, PAYLOAD)
        VALUES (v_msg, 'KAFKA:msg', p_flid, p_version, p_msg_id, 'PENDING', p_at, p_at, p_epoch, p_notice);
    END IF;
    UPDATE "{{schema}}".COUNTERS SET VALUE = VALUE + 1 WHERE NAME = 'event_schd' RETURNING VALUE INTO v_schd;
    UPDATE "{{schema}}".MSG_EVENT SET EVENT_ID = v_schd, STATE_VERSION = p_version, MSG_ID = p_msg_id, PAYLOAD = p_document,
        STATUS = 'PENDING', ATTEMPTS = 0, NEXT_ATTEMPT_AT = NULL, LAST_CODE = NULL, SENT_AT = NULL,
        CREATED_AT = p_at, UPDATED_AT = p_at, EPOCH = p_epoch
    WHERE TARGET = 'KAFKA:schd' AND FLID = p_flid;
    IF NOT FOUND THEN
        INSERT INTO "{{schema}}".MSG_EVENT (EVENT_ID, TARGET, FLID, STATE_VERSION, MSG_ID, STATUS, CREATED_AT, UPDATED_AT,
            EPOCH, PAYLOAD)
        VALUES (v_schd, 'KAFKA:schd', p_flid, p_version, p_msg_id, 'PENDING', p_at, p_at, p_epoch, p_document);
    END IF;
    IF p_sndr IS NOT NULL THEN
        UPDATE "{{schema}}".SENDER_MARK SET SEQN = p_seqn, DTTM = p_dttm, SCHEDULE_DTTM = p_schedule_dttm,
            DNLD_RECS = p_dnld_recs, RESP_RECS = p_resp_recs, UPDATED_AT = p_at
        WHERE SNDR = p_sndr;
        IF NOT FOUND THEN
            INSERT INTO "{{schema}}".SENDER_MARK (SNDR, SEQN, DTTM, SCHEDULE_DTTM, DNLD_RECS, RESP_RECS, UPDATED_AT)
            VALUES (p_sndr, p_seqn, p_dttm, p_schedule_dttm, p_dnld_recs, p_resp_recs, p_at);
        END IF;
    END IF;
    -- A holder that has just written is alive.
    UPDATE "{{schema}}".LEASE SET EXPIRES_AT = clock_timestamp() + make_interval(secs => p_expiry_s);
    RETURN v_apply_no;
END
$$;
