-- The fleet's chores have one owner, alive like the owner of a run.
-- KEYS leader, replicas, epochs
-- ARGV name, epoch
local me, now = ARGV[2] .. ' ' .. ARGV[1], now_ms()
if not alive(KEYS[2], KEYS[3], me, now) then return {'LAPSED'} end
local leader = redis.call('GET', KEYS[1])
if leader and leader ~= me and alive(KEYS[2], KEYS[3], leader, now) then return {'HELD', leader} end
redis.call('SET', KEYS[1], me)
return {'OK', me}
