-- Deletes an ended run for good, when its time is over.
-- KEYS ended, runs, due, owners, active, run, log, inbox, seen, messages
-- ARGV run id, how long ago it must have ended (ms)
local ended = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not ended or tonumber(ended) > now_ms() - tonumber(ARGV[2]) then return {'KEPT'} end
if redis.call('SISMEMBER', KEYS[5], ARGV[1]) == 1 then return {'KEPT'} end
for i = 1, 3 do redis.call('ZREM', KEYS[i], ARGV[1]) end
redis.call('HDEL', KEYS[4], ARGV[1])
redis.call('DEL', unpack(KEYS, 6))
return {'OK'}
