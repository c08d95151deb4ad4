-- Puts a person's event into a run's inbox, once per event id.
-- KEYS run, inbox, seen, due, bell
-- ARGV run id, event id, event JSON, how many ids are remembered
if redis.call('EXISTS', KEYS[1]) == 0 then return {'NONE'} end
if redis.call('ZADD', KEYS[3], 'NX', text(now_ms()), ARGV[2]) == 0 then return {'AGAIN'} end
redis.call('ZREMRANGEBYRANK', KEYS[3], 0, -1 - tonumber(ARGV[4]))
redis.call('XADD', KEYS[2], '*', 'event', ARGV[3])
redis.call('ZADD', KEYS[4], 0, ARGV[1])
redis.call('XADD', KEYS[5], 'MAXLEN', '~', 1000, '*', 'run', ARGV[1])
return {'OK'}
