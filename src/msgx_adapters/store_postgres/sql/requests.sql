-- Requests on their way out (D-32).

-- name: ask_request
SELECT * FROM msgx.ASK_REQUEST(:epoch, :slot, :rtype, :first_day, :last_day, :created_at, :actor, :why, :now);

-- name: pending_requests
SELECT * FROM msgx.REQ_TRACK WHERE STATE = 'PENDING' ORDER BY REQUEST_ID;

-- name: begin_send
SELECT * FROM msgx.BEGIN_SEND(:epoch, :request_id, :now);

-- name: confirm_sent
SELECT msgx.CONFIRM_SENT(:epoch, :request_id, :now) AS DONE;

-- name: lose_send
SELECT msgx.LOSE_SEND(:epoch, :request_id, :alerts, :now) AS DONE;

-- name: expire_requests
SELECT * FROM msgx.EXPIRE_REQUESTS(:epoch, :sent_before, :now) AS E (REQUEST_ID) ORDER BY REQUEST_ID;
