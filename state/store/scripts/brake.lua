-- Stops the fleet or lets it go on, and notes who did. A brake that is set already stays as it is.
-- KEYS brake, fleet log
-- ARGV op, by, reason, at ('' = lift)
if redis.call('HGET', KEYS[1], 'op') == ARGV[1] then return {'DUP'} end
local set = redis.call('HEXISTS', KEYS[1], 'by') == 1
if set == (ARGV[4] ~= '') then return {'SAME'} end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'op', ARGV[1])
if ARGV[4] ~= '' then
  redis.call('HSET', KEYS[1], 'by', ARGV[2], 'reason', ARGV[3], 'at', ARGV[4])
else
  redis.call('HSET', KEYS[1], 'lifted', text(now_ms()))
end
redis.call('XADD', KEYS[2], 'MAXLEN', '~', 10000, '*', 'event', ARGV[4] ~= '' and 'brake-set' or 'brake-lifted',
  'by', ARGV[2], 'reason', ARGV[3])
return {'OK'}
