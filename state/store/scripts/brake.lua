-- Stops the fleet or lets it go on, and adds who did to the fleet's log, whose entries carry the hash of the one before.
-- A brake that is set already stays as it is. What the log ends with stands in the brake's hash, so that a lost end shows.
-- KEYS brake, fleet log
-- ARGV op, by, reason, at ('' = lift), hash of the log's last entry as the caller knows it, number of the new entry, entry, its hash
local h = redis.call('HMGET', KEYS[1], 'op', 'by', 'chain', 'version')
if h[1] == ARGV[1] then return {'DUP'} end
local set = h[2] ~= false
if set == (ARGV[4] ~= '') then return {'SAME'} end
if (h[3] or '') ~= ARGV[5] then return {'CHAIN', h[4], h[3]} end
local now = text(now_ms())
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'op', ARGV[1], 'chain', ARGV[8], 'version', ARGV[6])
if ARGV[4] ~= '' then
  redis.call('HSET', KEYS[1], 'by', ARGV[2], 'reason', ARGV[3], 'at', ARGV[4])
else
  redis.call('HSET', KEYS[1], 'lifted', now)
end
redis.call('XADD', KEYS[2], 'MAXLEN', '~', 10000, '*', 'entry', ARGV[7], 'hash', ARGV[8], 'at', now)
return {'OK', ARGV[6], ARGV[8]}
