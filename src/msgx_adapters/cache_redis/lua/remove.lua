-- Removes what a rebuild does not know, while it is the one that goes on (D-31, D-34).
--
-- ARGV: prefix, token of the rebuild, a set or "", then members of the set, or keys. Returns 1, or 0 when the
-- token is another one; nothing is removed then.

if redis.call('GET', ARGV[1] .. 'rebuild') ~= ARGV[2] then
  return 0
end
for i = 4, #ARGV do
  if ARGV[3] == '' then
    redis.call('UNLINK', ARGV[i])
  else
    redis.call('SREM', ARGV[3], ARGV[i])
  end
end
return 1
