-- What there is to do: our runs that are due, runs that our predecessor of the same name left, runs that nobody alive owns;
-- and how many runs each other replica has. Ours come with their moment, 0 = somebody spoke to it. Changes nothing.
-- KEYS active, due, owners, replicas, epochs
-- ARGV name, epoch
local now = text(now_ms())
local me, name = ARGV[2] .. ' ' .. ARGV[1], ARGV[1]
local living = {} -- owner -> number of its runs
for _, replica in ipairs(redis.call('ZRANGEBYSCORE', KEYS[4], '(' .. now, '+inf')) do
  local epoch = redis.call('HGET', KEYS[5], replica)
  if epoch then living[epoch .. ' ' .. replica] = 0 end
end
living[me] = 0
local owners = {}
local flat = redis.call('HGETALL', KEYS[3])
for i = 1, #flat, 2 do owners[flat[i]] = flat[i + 1] end

local due, left, loose, seen = {}, {}, {}, {}
local function sort_in(run)
  local owner = owners[run]
  if seen[run] or (owner and living[owner]) then return end
  seen[run] = true
  if owner and string.match(owner, '^%d+ (.*)$') == name then left[#left + 1] = run else loose[#loose + 1] = run end
end
local passed = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'WITHSCORES')
for i = 1, #passed, 2 do
  local run = passed[i]
  if owners[run] == me then due[#due + 1] = {run, passed[i + 1]} else sort_in(run) end
end
local active = redis.call('SMEMBERS', KEYS[1])
for _, run in ipairs(active) do
  local owner = owners[run]
  if owner and living[owner] then living[owner] = living[owner] + 1 end
  sort_in(run)
end
local others = {}
for owner, runs in pairs(living) do
  if owner ~= me then others[#others + 1] = {owner, runs} end
end
return {living[me], #active, others, due, left, loose}
