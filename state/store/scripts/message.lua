-- KEYS run, messages
-- ARGV message key, record
if redis.call('EXISTS', KEYS[1]) == 0 then return {'NONE'} end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
return {'OK'}
