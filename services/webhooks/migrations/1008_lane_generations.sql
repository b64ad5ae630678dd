-- Which lane an attempt belongs to: another one when its endpoint has been given a new URL, or was disabled and enabled,
-- while the attempt was under way. What an old address answers says nothing of the new one: a 410 does not disable it.
create sequence lane_generations;
alter table lanes add column generation bigint not null default nextval('lane_generations');
alter sequence lane_generations owned by lanes.generation;
