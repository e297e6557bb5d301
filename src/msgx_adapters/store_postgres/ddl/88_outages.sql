-- Outages (D-04).

-- An outage has one alert, however often and however late this is executed. p_words are those of a new alert.
CREATE FUNCTION msgx.NOTE_OUTAGE(
    p_epoch bigint, p_service text, p_since timestamptz, p_detail text, p_ended_at timestamptz, p_words text,
    p_now timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_known msgx.OPS_OUTAGE;
    v_alert bigint;
BEGIN
    PERFORM msgx.FENCE(p_epoch);
    -- Holds the row until the end, whether it was there or not. No alert has the number 0.
    INSERT INTO msgx.OPS_OUTAGE AS O (SERVICE, SINCE, DETAIL, ALERT_ID, EPOCH)
    VALUES (p_service, p_since, p_detail, 0, p_epoch)
    ON CONFLICT (SERVICE) DO UPDATE SET SERVICE = O.SERVICE
    RETURNING * INTO STRICT v_known;
    IF v_known.SINCE > p_since AND v_known.EPOCH = p_epoch THEN
        RETURN;
    END IF;
    IF v_known.SINCE <> p_since OR v_known.ALERT_ID = 0 THEN
        UPDATE msgx.OPS_ALERT SET ENDED_AT = p_since WHERE ALERT_ID = v_known.ALERT_ID AND ENDED_AT IS NULL;
        INSERT INTO msgx.OPS_ALERT (CODE, DETAIL, CREATED_AT) VALUES ('OUTAGE', p_words, p_now)
        RETURNING ALERT_ID INTO STRICT v_alert;
        UPDATE msgx.OPS_OUTAGE SET SINCE = p_since, ENDED_AT = NULL, ALERT_ID = v_alert WHERE SERVICE = p_service;
    END IF;
    UPDATE msgx.OPS_OUTAGE SET DETAIL = p_detail, ENDED_AT = p_ended_at, EPOCH = p_epoch
    WHERE SERVICE = p_service AND ENDED_AT IS NULL RETURNING ALERT_ID INTO v_alert;
    UPDATE msgx.OPS_ALERT SET ENDED_AT = p_ended_at WHERE ALERT_ID = v_alert AND ENDED_AT IS NULL;
END
$$;
