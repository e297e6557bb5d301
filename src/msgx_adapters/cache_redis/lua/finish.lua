-- Ends a rebuild: names the store, unless what the rebuild wrote was lost meanwhile (D-31).
--
-- ARGV: prefix, token of this rebuild, store id. Returns 1, or 0 when the token is no longer there.

local token = ARGV[1] .. 'rebuild'
if redis.call('GET', token) ~= ARGV[2] then
  return 0
end
redis.call('SET', ARGV[1] .. 'store', ARGV[3])
redis.call('DEL', token)
return 1
