-- The outage of each service that is on, or its last one (D-04).

-- name: note_outage
SELECT msgx.NOTE_OUTAGE(:epoch, :service, :since, :detail, :ended_at, :words, :now);

-- name: outages
SELECT * FROM msgx.OPS_OUTAGE ORDER BY SERVICE;
