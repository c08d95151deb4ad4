-- Puts a person's event into a run's inbox, once per event id. Nothing is kept for a run that has ended: nobody would take it.
-- KEYS run, inbox, seen, due, bell, active
-- ARGV run id, event id, event JSON, how many ids are remembered
if redis.call('EXISTS', KEYS[1]) == 0 then return {'NONE'} end
if redis.call('ZSCORE', KEYS[3], ARGV[2]) then return {'AGAIN'} end
if redis.call('SISMEMBER', KEYS[6], ARGV[1]) == 0 then return {'ENDED'} end
redis.call('ZADD', KEYS[3], text(now_ms()), ARGV[2])
redis.call('ZREMRANGEBYRANK', KEYS[3], 0, -1 - tonumber(ARGV[4]))
redis.call('XADD', KEYS[2], '*', 'event', ARGV[3])
redis.call('ZADD', KEYS[4], 0, ARGV[1])
redis.call('XADD', KEYS[5], 'MAXLEN', '~', 1000, '*', 'run', ARGV[1])
return {'OK'}
