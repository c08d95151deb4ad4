-- What there is to do: our runs that are due, runs that our predecessor of the same name left, runs that nobody alive owns.
-- KEYS active, due, owners, replicas, epochs
-- ARGV name, epoch
local now = now_ms()
local me, name = ARGV[2] .. ' ' .. ARGV[1], ARGV[1]
local owners, verdict = {}, {}
local flat = redis.call('HGETALL', KEYS[3])
for i = 1, #flat, 2 do owners[flat[i]] = flat[i + 1] end

local function free(owner)
  if not owner then return true end
  if verdict[owner] == nil then verdict[owner] = not alive(KEYS[4], KEYS[5], owner, now) end
  return verdict[owner]
end

local active = redis.call('SMEMBERS', KEYS[1])
local mine, due, left, loose, seen = 0, {}, {}, {}, {}
local function sort_in(run)
  if seen[run] then return end
  seen[run] = true
  local owner = owners[run]
  if owner == me or not free(owner) then return end
  if owner and string.match(owner, '^%d+ (.*)$') == name then left[#left + 1] = run else loose[#loose + 1] = run end
end
for _, run in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', text(now))) do
  if owners[run] == me then due[#due + 1] = run else sort_in(run) end
end
for _, run in ipairs(active) do
  if owners[run] == me then mine = mine + 1 end
  sort_in(run)
end
return {mine, #active, redis.call('ZCOUNT', KEYS[4], '(' .. text(now), '+inf'), due, left, loose}
