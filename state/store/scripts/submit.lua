-- Puts a person's event into a run's inbox, once per event id. What comes after the run's end is kept and wakes nobody.
-- KEYS run, inbox, seen, due, bell, active
-- ARGV run id, event id, event JSON, how many ids are remembered
if redis.call('EXISTS', KEYS[1]) == 0 then return {'NONE'} end
if redis.call('ZADD', KEYS[3], 'NX', text(now_ms()), ARGV[2]) == 0 then return {'AGAIN'} end
redis.call('ZREMRANGEBYRANK', KEYS[3], 0, -1 - tonumber(ARGV[4]))
redis.call('XADD', KEYS[2], '*', 'event', ARGV[3])
if redis.call('SISMEMBER', KEYS[6], ARGV[1]) == 0 then return {'ENDED'} end
redis.call('ZADD', KEYS[4], 0, ARGV[1])
redis.call('XADD', KEYS[5], 'MAXLEN', '~', 1000, '*', 'run', ARGV[1])
return {'OK'}
