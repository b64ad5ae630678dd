-- What is prompt, what has never failed nor arrived, and what fails: each claim walks an index of its own, and no claim of
-- what is prompt passes over everybody's failing ones.
create index lanes_prompt on lanes (due_at) where not "full" and proven and failures = 0;
create index lanes_fresh on lanes (due_at) where not "full" and not proven and failures = 0;
create index lanes_failing on lanes (due_at) where not "full" and failures > 0;
drop index lanes_due;
