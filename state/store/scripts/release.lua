-- Lets others have a run at once, and rings for them: for the one that it is left to, or for everybody but us.
-- KEYS owners, active, bell
-- ARGV run id, name, epoch, owner that it is left to ('' = anybody else)
local me = ARGV[3] .. ' ' .. ARGV[2]
if redis.call('HGET', KEYS[1], ARGV[1]) ~= me then return {'OK'} end
redis.call('HDEL', KEYS[1], ARGV[1])
if redis.call('SISMEMBER', KEYS[2], ARGV[1]) == 1 then
  redis.call('XADD', KEYS[3], 'MAXLEN', '~', 1000, '*', 'run', ARGV[1], 'from', me, 'to', ARGV[4])
end
return {'OK'}
