-- Makes us the owner of a run when nobody alive is. Each new owner raises the fence, above all that were seen.
-- A run of a newer schema than we know is not taken.
-- KEYS run, owners, replicas, epochs
-- ARGV run id, name, epoch, highest fence that we have seen of this run, newest schema that we know
local me = ARGV[3] .. ' ' .. ARGV[2]
local now = now_ms()
if not alive(KEYS[3], KEYS[4], me, now) then return {'LAPSED'} end
local h = redis.call('HMGET', KEYS[1], 'version', 'fence', 'run', 'schema', 'chain')
if not h[1] then return {'NONE'} end
local owner = redis.call('HGET', KEYS[2], ARGV[1])
if owner and owner ~= me and alive(KEYS[3], KEYS[4], owner, now) then return {'HELD', owner} end
if (tonumber(h[4]) or math.huge) > tonumber(ARGV[5]) then return {'NEWER', h[4]} end
local fence = h[2]
if owner ~= me or tonumber(fence) < tonumber(ARGV[4]) then
  fence = text(math.max(tonumber(fence), tonumber(ARGV[4])) + 1)
  redis.call('HSET', KEYS[1], 'fence', fence)
  redis.call('HSET', KEYS[2], ARGV[1], me)
end
return {'OK', h[1], fence, h[3], h[4], h[5]}
