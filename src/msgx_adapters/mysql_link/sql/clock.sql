-- What the server's clock shows.
SELECT UTC_TIMESTAMP(6)
