-- The flight board: one page of an operation day by time, and how much there is on it.

-- Only what is shown is made whole. The second branch is not run when there is a day.
-- name: board
SELECT * FROM msgx.FLIGHT_FULL W WHERE W.FLID IN (
    SELECT F.FLID FROM (
        SELECT * FROM msgx.FLIGHT_SCHD WHERE OPERATION_DAY = :day::date
        UNION ALL
        SELECT * FROM msgx.FLIGHT_SCHD WHERE :day::date IS NULL AND OPERATION_DAY IS NULL
    ) F
    WHERE (COALESCE(F.SODT_AT, :never::timestamptz), F.FLID) > (:at::timestamptz, :flid::bigint)
        AND (:mvin::text IS NULL OR F.MVIN = :mvin)
        AND CASE
            WHEN :text::text IS NULL THEN NOT (
                F.STATE = 'ACTIVE' AND F.MAID IS NOT NULL AND F.MAID <> F.FLID
                AND EXISTS (SELECT 1 FROM msgx.FLIGHT_SCHD M WHERE M.FLID = F.MAID AND M.STATE = 'ACTIVE')
            )
            ELSE strpos(lower(F.FLNO COLLATE "C"), :text) > 0
                OR strpos(F.FLID::text, :text) = 1
                OR EXISTS (
                    SELECT 1 FROM msgx.FLIGHT_GATE G
                    WHERE G.FLID = F.FLID AND lower(G.GATE COLLATE "C") = :text
                )
        END
    ORDER BY COALESCE(F.SODT_AT, :never::timestamptz), F.FLID LIMIT :limit
)
ORDER BY COALESCE(W.SODT_AT, :never::timestamptz), W.FLID;

-- name: board_day
SELECT
    COUNT(*) FILTER (WHERE STATE = 'ACTIVE' AND NOT SHARED) AS FLIGHTS,
    COUNT(*) FILTER (WHERE STATE = 'ACTIVE' AND NOT SHARED AND MVIN = 'A') AS ARRIVALS,
    COUNT(*) FILTER (WHERE STATE = 'ACTIVE' AND NOT SHARED AND MVIN = 'D') AS DEPARTURES,
    COUNT(*) FILTER (WHERE STATE = 'ACTIVE' AND NOT SHARED AND CNCL IS NOT NULL) AS CANCELLED,
    COUNT(*) FILTER (WHERE STATE = 'DELETED') AS DELETED,
    MAX(SODT_AT) FILTER (WHERE STATE = 'ACTIVE' AND ACTT IS NOT NULL) AS MOVED_AT,
    (SELECT MAX(OPERATION_DAY) FROM msgx.FLIGHT_SCHD WHERE OPERATION_DAY < COALESCE(:day::date, 'infinity')) AS EARLIER_DAY,
    (SELECT MIN(OPERATION_DAY) FROM msgx.FLIGHT_SCHD WHERE OPERATION_DAY > :day::date) AS LATER_DAY,
    (SELECT COUNT(*) FROM msgx.FLIGHT_SCHD WHERE OPERATION_DAY IS NULL) AS WITHOUT
FROM (
    SELECT F.STATE, F.SODT_AT, F.MVIN, F.CNCL, F.ACTT,
        F.MAID IS NOT NULL AND F.MAID <> F.FLID
        AND EXISTS (SELECT 1 FROM msgx.FLIGHT_SCHD M WHERE M.FLID = F.MAID AND M.STATE = 'ACTIVE') AS SHARED
    FROM (
        SELECT * FROM msgx.FLIGHT_SCHD WHERE OPERATION_DAY = :day::date
        UNION ALL
        SELECT * FROM msgx.FLIGHT_SCHD WHERE :day::date IS NULL AND OPERATION_DAY IS NULL
    ) F
) D;
