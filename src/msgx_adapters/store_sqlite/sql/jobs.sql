-- What people leave for the lease holder (D-34).

-- name: ask_job
INSERT INTO OPS_JOB (KIND, STATE, CREATED_AT, UPDATED_AT) VALUES (:kind, 'PENDING', :now, :now)
ON CONFLICT (KIND) WHERE STATE = 'PENDING' DO NOTHING
RETURNING *;

-- name: pending_job
SELECT * FROM OPS_JOB WHERE KIND = :kind AND STATE = 'PENDING';

-- name: job
SELECT * FROM OPS_JOB WHERE JOB_ID = :job_id;

-- name: jobs
SELECT * FROM OPS_JOB WHERE JOB_ID < :before ORDER BY JOB_ID DESC LIMIT :limit;

-- name: open_jobs
SELECT * FROM OPS_JOB WHERE STATE IN ('PENDING', 'RUNNING') ORDER BY JOB_ID;

-- name: start_job
UPDATE OPS_JOB SET STATE = 'RUNNING', STARTED_AT = COALESCE(STARTED_AT, :now), UPDATED_AT = :now, EPOCH = :epoch
WHERE JOB_ID = :job_id AND STATE IN ('PENDING', 'RUNNING')
RETURNING *;

-- name: note_job
UPDATE OPS_JOB SET DETAIL = :detail, COUNTS = :counts, UPDATED_AT = :now
WHERE JOB_ID = :job_id AND STATE = 'RUNNING' AND EPOCH = :epoch;

-- name: end_job
UPDATE OPS_JOB SET STATE = :state, DETAIL = :detail, COUNTS = :counts, ENDED_AT = :now, UPDATED_AT = :now
WHERE JOB_ID = :job_id AND STATE = 'RUNNING' AND EPOCH = :epoch;
