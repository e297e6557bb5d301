-- The outage of each service that is on, or its last one (D-04).

-- name: outages
SELECT * FROM OPS_OUTAGE ORDER BY SERVICE;

-- name: outage
SELECT * FROM OPS_OUTAGE WHERE SERVICE = :service;

-- name: put_outage
INSERT INTO OPS_OUTAGE (SERVICE, SINCE, DETAIL, ALERT_ID, EPOCH)
VALUES (:service, :since, :detail, :alert_id, :epoch)
ON CONFLICT (SERVICE) DO UPDATE SET SINCE = EXCLUDED.SINCE, DETAIL = EXCLUDED.DETAIL, ENDED_AT = NULL,
    ALERT_ID = EXCLUDED.ALERT_ID, EPOCH = EXCLUDED.EPOCH;

-- An end stays.
-- name: touch_outage
UPDATE OPS_OUTAGE SET DETAIL = :detail, ENDED_AT = :ended_at, EPOCH = :epoch
WHERE SERVICE = :service AND ENDED_AT IS NULL;

-- name: end_alert
UPDATE OPS_ALERT SET ENDED_AT = :at WHERE ALERT_ID = :alert_id AND ENDED_AT IS NULL;
