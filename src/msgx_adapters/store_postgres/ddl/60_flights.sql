-- The flights of step 1, set-wise for one flight or thousands. Each element of the JSON arrays is a flight: its
-- fields by tag beside its columns in small letters. A collection that is absent there stays as it is.

CREATE FUNCTION msgx.INSERT_DETAILS(p_flights jsonb, p_tags text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
{{detail_insert}}
END
$$;

CREATE FUNCTION msgx.REPLACE_DETAILS(p_flights jsonb, p_tags text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
{{detail_replace}}
END
$$;

CREATE FUNCTION msgx.CLEAR_DETAILS(p_flids bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
{{detail_clear}}
END
$$;

CREATE FUNCTION msgx.INSERT_FLIGHTS(p_epoch bigint, p_flights jsonb, p_tags text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_count integer;
BEGIN
    INSERT INTO msgx.FLIGHT_SCHD (FLID, STATE, STATE_VERSION, OPERATION_DAY, SODT_AT, LAST_MSG_ID, CREATED_AT,
        UPDATED_AT, EPOCH, TAG_ORDER, {{scalar_names}})
    SELECT P.flid, P.state, P.version, P.day, P.sodt_at, P.last, P.created, P.updated, p_epoch, P.tags,
        {{scalar_values}}
    FROM jsonb_to_recordset(p_flights) AS P (flid bigint, state text, version bigint, day date,
        sodt_at timestamptz, last bigint, created timestamptz, updated timestamptz, tags text, {{scalar_types}})
    ON CONFLICT (FLID) DO NOTHING;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count <> jsonb_array_length(p_flights) THEN
        PERFORM msgx.CONFLICT('a flight that was not there has appeared');
    END IF;
    IF EXISTS (
        SELECT 1 FROM jsonb_to_recordset(p_flights) AS P (flid bigint, version bigint)
        JOIN msgx.FLIGHT_VERSION_FLOOR V ON V.FLID = P.flid AND V.STATE_VERSION >= P.version
    ) THEN
        RAISE EXCEPTION 'STATE_VERSION of a flight that comes back starts above its floor'
            USING ERRCODE = '23514';
    END IF;
    PERFORM msgx.INSERT_DETAILS(p_flights, p_tags);
END
$$;

CREATE FUNCTION msgx.UPDATE_FLIGHTS(p_epoch bigint, p_flights jsonb, p_tags text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_count integer;
    v_rebuilt bigint[];
BEGIN
    WITH U AS (
        UPDATE msgx.FLIGHT_SCHD F SET STATE = P.state, STATE_VERSION = P.version, OPERATION_DAY = P.day,
            SODT_AT = P.sodt_at, LAST_MSG_ID = P.last, CREATED_AT = P.created, UPDATED_AT = P.updated,
            EPOCH = p_epoch, TAG_ORDER = P.tags, {{scalar_sets}}
        FROM jsonb_to_recordset(p_flights) AS P (flid bigint, read bigint, state text, version bigint, day date,
            sodt_at timestamptz, last bigint, created timestamptz, updated timestamptz, tags text,
            {{scalar_types}})
        JOIN msgx.FLIGHT_SCHD O ON O.FLID = P.flid
        WHERE F.FLID = P.flid AND F.STATE_VERSION = P.read
        RETURNING F.FLID, O.STATE
    )
    SELECT count(*), array_agg(FLID) FILTER (WHERE STATE = 'DELETED') INTO v_count, v_rebuilt FROM U;
    IF v_count <> jsonb_array_length(p_flights) THEN
        PERFORM msgx.CONFLICT('a flight is not at the version that was read');
    END IF;
    -- A rebuild starts from an empty state (D-07).
    IF v_rebuilt IS NOT NULL THEN
        PERFORM msgx.CLEAR_DETAILS(v_rebuilt);
    END IF;
    PERFORM msgx.REPLACE_DETAILS(p_flights, p_tags);
END
$$;

CREATE FUNCTION msgx.TOUCH_FLIGHTS(p_epoch bigint, p_flids bigint[], p_versions bigint[], p_last bigint[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_count integer;
BEGIN
    UPDATE msgx.FLIGHT_SCHD F SET LAST_MSG_ID = P.last, EPOCH = p_epoch
    FROM unnest(p_flids, p_versions, p_last) AS P (flid, version, last)
    WHERE F.FLID = P.flid AND F.STATE_VERSION = P.version;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count <> cardinality(p_flids) THEN
        PERFORM msgx.CONFLICT('a flight is not at the version that was read');
    END IF;
END
$$;

-- One notice each, with the ids after p_last_id in the order given (D-27).
CREATE FUNCTION msgx.INSERT_NOTICES(
    p_epoch bigint, p_msg_id bigint, p_at timestamptz, p_last_id bigint, p_flids bigint[], p_versions bigint[],
    p_payloads json[]
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO msgx.MSG_EVENT (EVENT_ID, TARGET, FLID, STATE_VERSION, MSG_ID, STATUS, CREATED_AT, UPDATED_AT,
        EPOCH, PAYLOAD)
    SELECT p_last_id + E.n, 'KAFKA:msg', E.flid, E.version, p_msg_id, 'PENDING', p_at, p_at, p_epoch, E.payload
    FROM unnest(p_flids, p_versions, p_payloads) WITH ORDINALITY AS E (flid, version, payload, n);
END
$$;

-- The one full-state row of each flight, replaced with a new id (D-29).
CREATE FUNCTION msgx.PUT_DOCUMENTS(
    p_epoch bigint, p_msg_id bigint, p_at timestamptz, p_last_id bigint, p_flids bigint[], p_versions bigint[],
    p_payloads json[]
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO msgx.MSG_EVENT (EVENT_ID, TARGET, FLID, STATE_VERSION, MSG_ID, STATUS, CREATED_AT, UPDATED_AT,
        EPOCH, PAYLOAD)
    SELECT p_last_id + E.n, 'KAFKA:schd', E.flid, E.version, p_msg_id, 'PENDING', p_at, p_at, p_epoch, E.payload
    FROM unnest(p_flids, p_versions, p_payloads) WITH ORDINALITY AS E (flid, version, payload, n)
    ON CONFLICT (FLID) WHERE TARGET = 'KAFKA:schd' DO UPDATE SET EVENT_ID = EXCLUDED.EVENT_ID,
        STATE_VERSION = EXCLUDED.STATE_VERSION, MSG_ID = EXCLUDED.MSG_ID, PAYLOAD = EXCLUDED.PAYLOAD,
        STATUS = 'PENDING', ATTEMPTS = 0, NEXT_ATTEMPT_AT = NULL, LAST_CODE = NULL, SENT_AT = NULL,
        CREATED_AT = EXCLUDED.CREATED_AT, UPDATED_AT = EXCLUDED.UPDATED_AT, EPOCH = EXCLUDED.EPOCH;
END
$$;
