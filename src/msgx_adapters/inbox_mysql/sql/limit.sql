-- The largest packet that the server takes, in bytes.
SELECT @@max_allowed_packet
