-- Writes flights; guarded: never over a newer version (D-31). All of one call is done at once.
--
-- ARGV: prefix, "guarded" or the token of a rebuild, then for each flight: FLID, version, day or "", document or
-- "" when the flight is gone. Keys are made here: the day that a flight leaves is known to the server alone.
-- Returns 1, or 0 when the rebuild is no longer the one that goes on: another one has begun or ended, or the
-- server was emptied. Nothing is written then (D-34).
--
-- version:FLID is "VERSION" or "VERSION DAY", the companion of flight:FLID. The guard reads these few bytes
-- and not the document, which is a consumer's plain JSON.
--
-- The first change of a call is one that Redis refuses when its memory is full (SET, SADD), or else nothing
-- after it is refused: a call that fails for memory has changed nothing.

local DAY_IN_SECONDS = 86400
local prefix, guarded = ARGV[1], ARGV[2] == 'guarded'

if not guarded and redis.call('GET', prefix .. 'rebuild') ~= ARGV[2] then
  return 0
end

local function add_to_day(day, flid)
  local key = prefix .. 'day:' .. day
  if not guarded and redis.call('TYPE', key).ok ~= 'set' then
    redis.call('DEL', key) -- a foreign value: a rebuild puts it right
  end
  redis.call('SADD', key, flid)
end

for i = 3, #ARGV, 4 do
  local flid, version, day, document = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  local flight, companion, gone = prefix .. 'flight:' .. flid, prefix .. 'version:' .. flid, prefix .. 'gone:' .. flid
  local held = redis.call('MGET', companion, gone)
  local held_version, held_day = string.match(held[1] or '', '^(%d+) ?(.*)$')
  local newest = math.max(tonumber(held_version) or 0, tonumber(held[2] or '') or 0)

  if not guarded or newest <= tonumber(version) then
    if document ~= '' then
      if day ~= '' then
        add_to_day(day, flid)
      end
      redis.call('SET', flight, document)
      redis.call('SET', companion, day == '' and version or version .. ' ' .. day)
      if held[2] then
        redis.call('DEL', gone)
      end
    else
      redis.call('SET', gone, version, 'EX', DAY_IN_SECONDS)
      redis.call('DEL', flight, companion)
      if day ~= '' then
        redis.call('SREM', prefix .. 'day:' .. day, flid)
      end
    end
    if held_day and held_day ~= '' and (held_day ~= day or document == '') then
      redis.call('SREM', prefix .. 'day:' .. held_day, flid)
    end
  end
end
return 1
