-- Its lane is gone, and what still waits for it is cancelled bit by bit: there may be hundreds of thousands, and nobody
-- is to wait for them. Claims go by lanes, so that nothing of it is sent meanwhile. An endpoint has a lane again only
-- when nothing waits from before.
alter table endpoints add column cancelling boolean not null default false;
create index endpoints_cancelling on endpoints (key) where cancelling;
