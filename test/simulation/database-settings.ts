/** What stands before pg_catalog on the search path: the world's time and chance. */
export const ENVIRONMENT = `
  create schema world;
  create function world.now() returns timestamptz language sql stable as 'select statement_timestamp()';
  create function world.clock_timestamp() returns timestamptz language sql volatile as 'select statement_timestamp()';
  create function world.gen_random_uuid() returns uuid language sql immutable
    as $$ select '6f1d6a7e-52f4-4b0c-9d53-0a8f6c1d2e3b'::uuid $$;
  create function world.random() returns double precision language plpgsql as
    $$ begin raise exception 'chance within SQL does not follow from the seed'; end $$`;

/** Of the session. */
export const SETTINGS = `
  set timezone = 'UTC'; set jit = off; set enable_seqscan = off; set plan_cache_mode = force_generic_plan;
  set synchronous_commit = off; set client_min_messages = error`;

/** Nothing here outlives the process, and nobody looks at statistics. */
export const CONFIGURATION = [
  'wal_level = minimal',
  'max_wal_senders = 0',
  'full_page_writes = off',
  'track_activities = off',
  'track_counts = off',
  'compute_query_id = off',
];
